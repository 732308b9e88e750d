"""Plan of a repair: the turns and probes to make again, derived from error findings and reviewers' rejections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from longbeam.generators import turn_key
from longbeam.pipeline.run.mending import TurnFault
from longbeam.schemas import Finding, IncidentKind, Message, Probe, Severity
from longbeam.store import Benchmark, SealedConversation

TEXT_CHECKS = ("leaks", "degenerate", "duplicates")
"""Checks whose error findings on a message are repaired by regenerating its turn."""
NOT_SAID = ("voicing.fact_not_voiced", "voicing.special_not_voiced")
SAID_BADLY = "voicing.value_not_said"
TOO_FEW = ("probe_set.number", "probe_set.fewer")

Rejections = Mapping[str, Mapping[str, str]]
"""Reasons of reviewers' rejections, by conversation and probe."""


@dataclass
class Repairs:
    """The turns and probes of one conversation to make again."""

    turns: dict[str, TurnFault] = field(default_factory=dict)
    """Faults by turn key, or by the id of a bullet that no turn voices."""
    probes: dict[str, str] = field(default_factory=dict)
    """Selected probes to replace, each with the reason."""
    spares_rejected: dict[str, str] = field(default_factory=dict)
    """Rejected spare probes, which must not replace a selected one, each with the reason."""
    short: dict[str, str] = field(default_factory=dict)
    """Abilities with fewer selected probes than asked for, each with the finding's message."""
    spares: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Probes that may replace a selected one, by ability, best first."""

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.turns or self.probes or self.short)

    def concerns(self, subject: str) -> bool:
        """Whether the repair covers a finding's subject: a probe, an ability, a message or a bullet."""
        turns = (self.turns.get(subject), self.turns.get(subject.rpartition(".")[0]))
        said = any(t is not None and subject in t.problems for t in turns)
        return said or subject in self.probes or subject in self.short


def repairs_of(benchmark: Benchmark, findings: Sequence[Finding], rejected: Rejections) -> dict[str, Repairs]:
    """Return the repairs by conversation; conversations without repairs are left out.

    Findings that no repair can resolve (people, plans, times, lengths, across conversations) are ignored.
    """
    errors: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.severity is Severity.ERROR or finding.check in TOO_FEW:
            errors.setdefault(finding.conversation_id, []).append(finding)
    found = {i: _repairs(benchmark, i, errors.get(i, ()), rejected.get(i, {})) for i in benchmark.sealed_ids}
    return {i: repairs for i, repairs in found.items() if repairs}


def _repairs(
    benchmark: Benchmark, conversation_id: str, errors: Sequence[Finding], rejected: Mapping[str, str]
) -> Repairs:
    repairs = Repairs()
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        probes = list(sealed.probes())
        selected = {p.probe_id for p in probes if p.is_selected}
        for probe_id, reason in rejected.items():
            (repairs.probes if probe_id in selected else repairs.spares_rejected)[probe_id] = reason
        for lost in sealed.head.making.incidents:
            if lost.kind is IncidentKind.DROPPED:
                repairs.turns[lost.place] = TurnFault(bullet_id=lost.place, problems={lost.place: lost.detail})
        problems: dict[str, str] = {}
        for finding in errors:
            if finding.subject in selected:
                # A reviewer's reason comes first: it was put in above.
                repairs.probes.setdefault(finding.subject, finding.message)
            elif finding.check in TOO_FEW:
                repairs.short[finding.subject] = finding.message
            elif finding.check in NOT_SAID:
                fault = TurnFault(bullet_id=finding.subject, problems={finding.subject: finding.message})
                repairs.turns[finding.subject] = fault
            elif finding.check == SAID_BADLY:
                problems.setdefault(finding.evidence[0], finding.message)
            elif finding.check_name in TEXT_CHECKS:
                problems.setdefault(finding.subject, finding.message)
        if problems:
            repairs.turns |= _faults(sealed.messages(), problems)
    repairs.spares = _spares(probes, {**repairs.probes, **repairs.spares_rejected})
    return repairs


def _faults(messages: Iterable[Message], problems: Mapping[str, str]) -> dict[str, TurnFault]:
    wanted = {key.rpartition(".")[0] for key in problems}
    turns: dict[str, list[Message]] = {}
    for message in messages:
        if (key := turn_key(message)) in wanted:
            turns.setdefault(key, []).append(message.model_copy(update={"message_id": None}))
    return {
        key: TurnFault(tuple(turn), {m.message_key: problems[m.message_key] for m in turn if m.message_key in problems})
        for key, turn in turns.items()
    }


def _spares(probes: Iterable[Probe], refused: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    spares: dict[str, list[str]] = {}
    for probe in probes:
        if not probe.is_selected and probe.probe_id not in refused:
            spares.setdefault(probe.ability, []).append(probe.probe_id)
    return {ability: tuple(ids) for ability, ids in spares.items()}
