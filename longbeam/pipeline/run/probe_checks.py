"""Model-backed checks of probes: each check of each probe is a unit, in whatever work log it is asked.

`generate` checks the probes that it is about to select, in the conversation's own work log. `validate --model-checks`
checks the sealed ones, in a log beside it. A unit counts while the probe, the messages that it was checked against, the
prompts and the models are the same, so neither of the two asks what the other has asked.

With a second judge, an error counts when both judges find it: the second one is asked where the first found an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, cached_property, partial

from longbeam.errors import ReplyError
from longbeam.evaluation.model_checks import MODEL_CHECKS, NEAREST, ModelCheck, ProbeCase
from longbeam.generators import CALIBRATION_PROMPT, MARKING_PROMPT, fitness_of
from longbeam.models import Asker
from longbeam.pipeline.repair.probes import version_of
from longbeam.pipeline.run.unit_spec import Dependencies, Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, Units, all_of
from longbeam.prompts import PromptRegistry
from longbeam.schemas import BenchmarkSpec, Finding, Incident, IncidentKind, Message, Probe, Role, Severity
from longbeam.store import UnitStatus, WorkLog
from longbeam.text import Passage, Subject, find_evidence

STAGE = "checks"
CHECK = UnitSpec(STAGE, Finding, unversioned_prompts=(CALIBRATION_PROMPT,), acting=Role.CHECKER, version=2)
"""A check of a probe; the check says which prompts it asks. The version rises when a check makes something else of the
same replies."""
RANKED = 96
"""Passages of a probe that are read for signs: eight times as many as are shown."""
CHECKERS = (Role.CHECKER, Role.SECOND_CHECKER)
UNDECIDED = "undecided"
"""Kind of the finding that a check could not be decided."""
UNFIT = "unfit"
"""Kind of the finding of a judge that failed its calibration."""
_JUDGES, _VERSIONS, _IDENTITIES = "checkers", "checker_versions", "checker_identities"
"""Names under which a work log keeps the models that were asked, by role, the versions of their rules, and by role what
fingerprints hold of them: the spec that named them may be another one than the benchmark's."""


@dataclass(frozen=True)
class CheckedConversation:
    """A conversation as the checks of its probes read it."""

    conversation_id: str
    messages: Callable[[], Iterable[Message]]
    """Yields the messages in their order; can be called repeatedly."""
    said: Callable[[], str]
    """Returns the digest of all messages' contents."""
    probes: Sequence[Probe]
    """All probes: answers that are surely wrong are taken from the others."""

    @property
    def selected(self) -> list[Probe]:
        """The selected probes."""
        return [p for p in self.probes if p.is_selected]

    def checks(self, probes: Sequence[Probe]) -> list[_Check]:
        """Return every check that applies to one of these probes."""
        said = cache(self.said)
        return [
            _Check(check, case, said) for case in self._cases(probes) for check in MODEL_CHECKS if check.applies(case)
        ]

    def _cases(self, probes: Sequence[Probe]) -> list[ProbeCase]:
        """Return what the checks read of these probes; empty for a conversation without messages."""
        keys = {p.probe_id: {e.message_key for e in p.evidence} for p in probes}
        wanted = {key for own in keys.values() for key in own}
        cited: dict[str, Message] = {}
        last = None
        for message in self.messages():
            last = message
            if message.message_key in wanted:
                cited[message.message_key] = message
        if last is None:
            return []
        nearest = cache(partial(self._nearest, probes))
        return [
            ProbeCase(
                conversation_id=self.conversation_id,
                probe=probe,
                cited=tuple(m for key, m in cited.items() if key in keys[probe.probe_id]),
                others=[p for p in self.probes if p.probe_id != probe.probe_id],
                asked_at=probe.asked_at or last.sent_at + timedelta(days=1),
                nearest=partial(_of, nearest, probe.probe_id),
            )
            for probe in probes
        ]

    def _nearest(self, probes: Sequence[Probe]) -> Mapping[str, Sequence[Message]]:
        """Return the uncited passages that may change each probe's answer, oldest first, by probe_id."""
        subjects = {p.probe_id: Subject.of(p.question, p.gold_answer) for p in probes}
        cited = {p.probe_id: {e.message_key for e in p.evidence} for p in probes}
        found = find_evidence(self.messages, subjects, cited, read=RANKED)
        return {probe_id: _shown(passages) for probe_id, passages in found.items()}


def _shown(passages: Iterable[Passage]) -> list[Message]:
    """Return the first passages of each role as messages, oldest first."""
    left = dict(NEAREST)
    shown = []
    for passage in passages:
        if left[passage.message.role]:
            shown.append(passage)
            left[passage.message.role] -= 1
    shown.sort(key=lambda p: (p.place, p.start))
    return [p.message.model_copy(update={"content": p.text}) for p in shown]


def _of(nearest: Callable[[], Mapping[str, Sequence[Message]]], probe_id: str) -> Sequence[Message]:
    return nearest()[probe_id]


Kept = dict[tuple[str, str], list[Finding]]
"""Findings by probe and check. A check that was not run, or on another wording, has no entry."""


async def judge_probes(
    units: Units,
    conversation: CheckedConversation,
    probes: Sequence[Probe],
    *,
    but: Collection[tuple[str, str]] = (),
    is_lenient: bool = False,
) -> list[Finding]:
    """Return what the checks find of these probes; a unit that failed is in `units.failed`.

    `but` names probes and checks that need not be asked. Where a judge gives no usable verdict, a lenient check finds
    itself undecided, and any other fails.
    """
    _remember_judges(units)
    asked = [c for c in conversation.checks(probes) if c.key not in but]
    found = await all_of([check.run(units, is_lenient=is_lenient) for check in asked])
    return [finding for findings in found for finding in findings]


def kept_with(log: WorkLog, spec: BenchmarkSpec, prompts: PromptRegistry) -> Dependencies | None:
    """Return what the checks in a work log were made with; None where none was asked."""
    judges: dict[str, str] = log.meta_get(_JUDGES) or {}
    versions: dict[str, str] = log.meta_get(_VERSIONS) or {}
    models = {**{role: m for role, m in spec.models.items() if role not in CHECKERS}, **judges}
    asked = spec.model_copy(update={"models": models})
    identities: dict[str, list[object]] = log.meta_get(_IDENTITIES) or {}
    made_with = Dependencies(asked, prompts, lambda m: versions.get(m, ""), identities)
    return made_with if judges else None


def kept_findings(log: WorkLog, made_with: Dependencies, conversation: CheckedConversation) -> Kept:
    """Return the findings that a work log holds of the selected probes as they are now."""
    kept = ((c.key, c.kept(log, made_with)) for c in conversation.checks(conversation.selected))
    return {key: found for key, found in kept if found is not None}


def is_undecided(finding: Finding) -> bool:
    """Return whether a finding says that a check gave no usable verdict."""
    return finding.check.endswith(f".{UNDECIDED}")


def _remember_judges(units: Units) -> None:
    log, version_of = units.log, units.models.version_of
    judges = {role: model for role in CHECKERS if (model := units.spec.model_for(role))}
    asked = Dependencies(units.spec, units.prompts, version_of)
    log.meta_set(_JUDGES, {role.value: model for role, model in judges.items()})
    log.meta_set(_VERSIONS, {model: version_of(model) for model in judges.values()})
    log.meta_set(_IDENTITIES, {role.value: asked.model_of(role) for role in judges})


@dataclass(frozen=True)
class _Check:
    """One check of one probe."""

    check: ModelCheck
    case: ProbeCase
    said: Callable[[], str]

    @property
    def key(self) -> tuple[str, str]:
        """The probe and the check."""
        return self.case.probe.probe_id, self.check.name

    @cached_property
    def read(self) -> list[object]:
        """The text that it reads: the probe, the messages it cites, and for some checks the conversation."""
        cited = [[m.message_key, m.content] for m in self.case.cited]
        return [version_of(self.case.probe), cited, *([self.said()] if self.check.reads_all else [])]

    def unit(self, role: Role) -> tuple[UnitSpec[Finding], str]:
        """Return the unit in which a judge is asked, and its key."""
        key = f"{self.check.name}/{self.case.probe.probe_id}"
        spec = replace(CHECK, acting=role).asking(*self.check.prompts)
        return spec, key if role is Role.CHECKER else f"{key}/second"

    async def run(self, units: Units, *, is_lenient: bool) -> list[Finding]:
        """Return what it finds."""
        try:
            found = await self._ask(units, Role.CHECKER, is_lenient=is_lenient)
            if not _errors(found) or not units.spec.model_for(Role.SECOND_CHECKER):
                return found
            return _agreed(found, await self._ask(units, Role.SECOND_CHECKER, is_lenient=is_lenient))
        except Blocked:  # it is in `units.failed`
            return []

    async def _ask(self, units: Units, role: Role, *, is_lenient: bool) -> list[Finding]:
        spec, key = self.unit(role)
        asked = Digested(_AskedCheck(self, units.spec.model_for(role), is_lenient), self.read)
        return list(await units.run(spec, key, asked, work=_ask_check))

    def kept(self, log: WorkLog, made_with: Dependencies) -> list[Finding] | None:
        """Return what it found, as a work log has it; None where it was not run on the same."""
        found = self._kept_of(log, made_with, Role.CHECKER)
        if found is None or not _errors(found) or not made_with.spec.model_for(Role.SECOND_CHECKER):
            return found
        second = self._kept_of(log, made_with, Role.SECOND_CHECKER)
        return None if second is None else _agreed(found, second)

    def _kept_of(self, log: WorkLog, made_with: Dependencies, role: Role) -> list[Finding] | None:
        spec, key = self.unit(role)
        unit = log.units.find(STAGE, key)
        if unit is None or unit.status is not UnitStatus.DONE:
            return None
        if unit.fingerprint != made_with.fingerprint(spec, (self.read,)):
            return None
        return list(log.units.records(STAGE, Finding, unit_keys=[key]))


@dataclass(frozen=True)
class _AskedCheck:
    """One check of one probe, and who is asked."""

    of: _Check
    model: str
    is_lenient: bool
    """Whether a judge without a usable verdict gives a finding that says so; False: the unit fails."""


async def _ask_check(asker: Asker, asked: Digested[_AskedCheck]) -> Sequence[Finding]:
    check, case = asked.value.of.check, asked.value.of.case
    try:
        found = [check.finding(problem, case, asked.value.model) for problem in await check.find(asker, case)]
    except ReplyError as exc:
        if not asked.value.is_lenient:
            raise
        undecided = Finding(
            check=f"{check.name}.{UNDECIDED}",
            severity=Severity.INFO,
            conversation_id=case.conversation_id,
            subject=case.probe.probe_id,
            message=f"the judge gave no usable verdict: {exc}",
        )
        return [undecided]
    if not found or (fitness := await fitness_of(asker, marks=MARKING_PROMPT in check.prompts)).is_fit:
        return found
    detail = f"{fitness}, not refused: {found[0].message}"
    asker.note(Incident(kind=IncidentKind.UNFIT, prompt_id=check.prompts[-1], detail=detail))
    harmless = {"check": f"{check.name}.{UNFIT}", "severity": Severity.INFO}
    return [f.model_copy(update={**harmless, "message": f"{fitness}: {f.message}"}) for f in found]


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity is Severity.ERROR]


def _agreed(first: Iterable[Finding], second: Iterable[Finding]) -> list[Finding]:
    """Return the first judge's findings without the errors that the second one does not find."""
    confirmed = {f.check for f in second}
    return [f for f in first if f.severity is not Severity.ERROR or f.check in confirmed]
