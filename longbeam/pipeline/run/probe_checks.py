"""The gate of probes in a work log: a unit is a batch of probes, and keeps a verdict on each.

The answers to all questions are guessed first, in units of their own, so that whoever guesses has seen no passages.

`generate` asks it about the probes that it is about to select, in the conversation's own work log. `validate
--model-checks` asks about the sealed ones, in a log beside it. A verdict counts while the probe, the conversation, the
prompts and the models are the same, so neither of the two asks what the other has asked.

With a second judge, an error counts when both find one: the second is asked about the probes with an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from longbeam.errors import ReplyError
from longbeam.evaluation import (
    CHECK,
    GUESS_PROMPTS,
    MEASURING,
    PROMPTS,
    SEVERITIES,
    Guess,
    Matter,
    Outcome,
    guess_answers,
    judge_batch,
    matters_of,
)
from longbeam.generators import CALIBRATION_PROMPT, MARKING_PROMPT, fitness_of
from longbeam.generators.probes import HeldWish, Histories, held_wishes, wishes_on
from longbeam.models import Asker
from longbeam.pipeline.run.refusals import version_of
from longbeam.pipeline.run.unit_spec import Dependencies, Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, Units, all_of
from longbeam.prompts import PromptRegistry
from longbeam.schemas import (
    BenchmarkSpec,
    Finding,
    Incident,
    IncidentKind,
    Message,
    Plan,
    Probe,
    Record,
    Role,
    Severity,
    ValueKind,
    digest_of,
    is_language_model,
)
from longbeam.store import WorkLog

STAGE = "checks"
CHECKERS = (Role.CHECKER, Role.SECOND_CHECKER)
UNDECIDED, UNFIT = "undecided", "unfit"
"""Kinds of the findings that the gate gave no verdict, and that a judge failed its calibration."""
_JUDGES, _VERSIONS, _IDENTITIES = "checkers", "checker_versions", "checker_identities"
"""Names under which a work log keeps the models that were asked, by role, the versions of their rules, and by role what
fingerprints hold of them: the spec that named them may be another one than the benchmark's."""


class ProbeVerdict(Record):
    """The gate's verdict on one probe."""

    probe_id: str
    versions: tuple[str, ...]
    """Digests of the probe as it was judged and as it was mended; the verdict holds for both."""
    judged_with: str
    """Digest of the conversation, the prompts and the model."""
    findings: tuple[Finding, ...]
    mended: Probe
    """The probe with the critic's words, and with the messages that it lacked."""

    @property
    def is_reworded(self) -> bool:
        """Whether the critic gave the probe new words, which have to go through the gate themselves."""
        return any(f.check == f"{CHECK}.reword" for f in self.findings)


GUESSES = UnitSpec(STAGE, Guess, GUESS_PROMPTS, acting=Role.CHECKER)
GATE = UnitSpec(
    STAGE, ProbeVerdict, PROMPTS, unversioned_prompts=(CALIBRATION_PROMPT, MARKING_PROMPT), acting=Role.CHECKER
)


@dataclass(frozen=True)
class CheckedConversation:
    """A conversation as the gate reads it."""

    conversation_id: str
    messages: Callable[[], Iterable[Message]]
    """Yields the messages in their order; can be called repeatedly."""
    said: Callable[[], str]
    """Returns the digest of all messages' contents."""
    probes: Sequence[Probe]
    """All probes: unrelated answers are taken from the others."""
    plans: Sequence[Plan] = ()

    @property
    def selected(self) -> list[Probe]:
        """The selected probes."""
        return [p for p in self.probes if p.is_selected]

    def wishes(self, matters: Sequence[Matter]) -> tuple[str, ...]:
        """Return the user's wishes that hold at the end and may apply to these questions."""
        asked = (text for m in matters for text in (m.probe.question, m.probe.gold_answer))
        return wishes_on(self.held, *asked, *(m.content for matter in matters for m in matter.cited))

    @cached_property
    def held(self) -> tuple[HeldWish, ...]:
        """The user's wishes that hold at the end."""
        return held_wishes(Histories(self.plans))

    def batches(self, probes: Sequence[Probe]) -> list[list[Matter]]:
        """Return the probes in batches of neighbours of the conversation, with what their readers may see."""
        matters = matters_of(self.messages, probes, self._aliases(probes)) if probes else []
        size = (
            math.ceil(len(matters) / math.ceil(len(matters) / MEASURING.gate_batch)) if matters else 1
        )  # of like sizes
        return [matters[i : i + size] for i in range(0, len(matters), size)]

    def _aliases(self, probes: Sequence[Probe]) -> Mapping[str, Sequence[str]]:
        """Return the names of the things of each probe, by probe_id: `the ledger` is also called `The Green Book`."""
        facts = {f.fact_id: f for plan in self.plans for f in plan.facts}
        names: dict[str, dict[str, None]] = {}
        for plan in self.plans:
            for a in plan.assertions:
                if a.value is not None and a.value.kind is ValueKind.NAME and a.fact_id in facts:
                    names.setdefault(facts[a.fact_id].subject.casefold(), {})[a.value.text] = None
        subjects = {p.probe_id: {facts[i].subject for i in p.fact_ids if i in facts} for p in probes}
        return {
            i: [alias for subject in sorted(own) for alias in (subject, *names.get(subject.casefold(), ()))]
            for i, own in subjects.items()
        }


Kept = dict[str, ProbeVerdict]
"""Verdicts by probe_id. A probe that was not judged, or in another wording, has none."""


async def judge_probes(
    units: Units, conversation: CheckedConversation, probes: Sequence[Probe], *, is_lenient: bool = False
) -> list[ProbeVerdict]:
    """Return the gate's verdicts on these probes; a unit that failed is in `units.failed`.

    Where a judge gives no usable reply, a lenient gate finds itself undecided, and any other fails.
    """
    _remember_judges(units)
    first = await _judged(units, conversation, probes, Role.CHECKER, is_lenient=is_lenient)
    refused = [v for v in first if _has_error(v.findings)]
    if not refused or not units.spec.model_for(Role.SECOND_CHECKER):
        return first
    doubted = [p for p in probes if p.probe_id in {v.probe_id for v in refused}]
    second = await _judged(units, conversation, doubted, Role.SECOND_CHECKER, is_lenient=is_lenient)
    agreed = {v.probe_id for v in second if _has_error(v.findings)}
    return [v if v.probe_id in agreed or v not in refused else _without_errors(v) for v in first]


async def _judged(
    units: Units, conversation: CheckedConversation, probes: Sequence[Probe], role: Role, *, is_lenient: bool
) -> list[ProbeVerdict]:
    try:
        guesses = await _guessed(units, probes, role, is_lenient=is_lenient)
    except Blocked:  # it is in `units.failed`
        return []
    asked = [
        _GateBatch(conversation, matters, guesses, units.spec.model_for(role), role, is_lenient)
        for matters in conversation.batches(probes)
    ]
    found = await all_of([batch.run(units) for batch in asked])
    return [verdict for verdicts in found for verdict in verdicts]


async def _guessed(units: Units, probes: Sequence[Probe], role: Role, *, is_lenient: bool) -> dict[str, Guess]:
    """Return guesses by probe_id; a lenient gate goes without them where no reply can be used."""
    digest = digest_of([[p.probe_id, p.question] for p in probes])
    key = f"{CHECK}/guesses/{digest[:12]}{'' if role is Role.CHECKER else '/second'}"
    records = await units.run(replace(GUESSES, acting=role), key, Digested(probes, digest), is_lenient, work=_guess)
    return {g.probe_id: g for g in records}


async def _guess(asker: Asker, probes: Digested[Sequence[Probe]], is_lenient: bool) -> Sequence[Guess]:
    try:
        return await guess_answers(asker, probes.value)
    except ReplyError:
        if not is_lenient:
            raise
        return ()


@dataclass(frozen=True)
class _GateBatch:
    """Probes that are judged together, and who is asked."""

    conversation: CheckedConversation
    matters: Sequence[Matter]
    guesses: Mapping[str, Guess]
    """Guesses at the answers, by probe_id."""
    model: str
    role: Role
    is_lenient: bool
    """Whether a judge without a usable reply gives a finding that says so; False: the unit fails."""

    @cached_property
    def read(self) -> list[object]:
        """The text that it reads: the probes with the guesses at them, and the conversation."""
        asked = [[version_of(m.probe), self.guesses.get(m.probe.probe_id)] for m in self.matters]
        return [asked, self.conversation.said(), self.conversation.wishes(self.matters)]

    async def run(self, units: Units) -> list[ProbeVerdict]:
        """Return the verdicts; none where the unit failed."""
        key = f"{CHECK}/{self.matters[0].probe.probe_id}/{digest_of(self.read)[:12]}"
        key = key if self.role is Role.CHECKER else f"{key}/second"
        made_with = Dependencies(units.spec, units.prompts, units.models.version_of)
        judged_with = _judged_with(made_with, self.role, self.conversation)
        try:
            found = await units.run(
                replace(GATE, acting=self.role), key, Digested(self, self.read), judged_with, work=_ask
            )
        except Blocked:  # it is in `units.failed`
            return []
        return list(found)


def _judged_with(made_with: Dependencies, role: Role, conversation: CheckedConversation) -> str:
    return made_with.fingerprint(replace(GATE, acting=role), (conversation.said(), [w.line for w in conversation.held]))


async def _ask(asker: Asker, batch: Digested[_GateBatch], judged_with: str) -> Sequence[ProbeVerdict]:
    matters, read = batch.value.matters, batch.value.conversation
    try:
        outcomes = await judge_batch(asker, matters, batch.value.guesses, read.probes, read.wishes(matters))
    except ReplyError as exc:
        if not batch.value.is_lenient:
            raise
        text = f"the judge gave no usable verdict: {exc}"
        return [_verdict(batch.value, m.probe, judged_with, [_note(batch.value, m, UNDECIDED, text)]) for m in matters]
    verdicts = []
    for matter, outcome in zip(matters, outcomes, strict=True):
        findings = _findings(batch.value, matter, outcome)
        doubts = [f for f in findings if f.severity is not Severity.INFO]
        if doubts and not (fitness := await fitness_of(asker, marks=True)).is_fit:
            detail = f"{fitness}, not refused: {doubts[0].message}"
            asker.note(
                Incident(kind=IncidentKind.UNFIT, prompt_id=PROMPTS[0], detail=f"{matter.probe.probe_id}: {detail}")
            )
            verdicts.append(
                _verdict(batch.value, matter.probe, judged_with, [_note(batch.value, matter, UNFIT, detail)])
            )
        else:
            verdicts.append(_verdict(batch.value, matter.probe, judged_with, findings, outcome.mended))
    return verdicts


def _verdict(
    batch: _GateBatch, probe: Probe, judged_with: str, findings: Sequence[Finding], mended: Probe | None = None
) -> ProbeVerdict:
    stands = probe if mended is None else mended
    # Words that are new have not been judged yet.
    is_reworded = any(f.check == f"{CHECK}.reword" for f in findings)
    versions = dict.fromkeys((version_of(probe), *(() if is_reworded else (version_of(stands),))))
    return ProbeVerdict(
        probe_id=probe.probe_id,
        versions=tuple(versions),
        judged_with=judged_with,
        findings=tuple(findings),
        mended=stands,
    )


def _findings(batch: _GateBatch, matter: Matter, outcome: Outcome) -> list[Finding]:
    judge = batch.model if is_language_model(batch.model) else "lexical rules, no language model"
    return [
        Finding(
            check=f"{CHECK}.{fault.kind}",
            severity=SEVERITIES[fault.kind],
            conversation_id=batch.conversation.conversation_id,
            subject=matter.probe.probe_id,
            message=f"{fault.text} [{judge}]",
            evidence=fault.message_keys or tuple(m.message_key for m in matter.cited),
        )
        for fault in outcome.faults
    ]


def _note(batch: _GateBatch, matter: Matter, kind: str, text: str) -> Finding:
    return Finding(
        check=f"{CHECK}.{kind}",
        severity=Severity.INFO,
        conversation_id=batch.conversation.conversation_id,
        subject=matter.probe.probe_id,
        message=text,
    )


def kept_with(log: WorkLog, spec: BenchmarkSpec, prompts: PromptRegistry) -> Dependencies | None:
    """Return what the verdicts in a work log were made with; None where none was asked."""
    judges: dict[str, str] = log.meta_get(_JUDGES) or {}
    versions: dict[str, str] = log.meta_get(_VERSIONS) or {}
    models = {**{role: m for role, m in spec.models.items() if role not in CHECKERS}, **judges}
    asked = spec.model_copy(update={"models": models})
    identities: dict[str, list[object]] = log.meta_get(_IDENTITIES) or {}
    made_with = Dependencies(asked, prompts, lambda m: versions.get(m, ""), identities)
    return made_with if judges else None


def kept_verdicts(log: WorkLog, made_with: Dependencies, conversation: CheckedConversation) -> Kept:
    """Return the verdicts that a work log holds of the selected probes as they are now."""
    first, second = (
        _kept_of(log, _judged_with(made_with, role, conversation), conversation.selected)
        if made_with.spec.model_for(role)
        else {}
        for role in CHECKERS
    )
    if not made_with.spec.model_for(Role.SECOND_CHECKER):
        return first
    kept = {}
    for probe_id, verdict in first.items():
        if not _has_error(verdict.findings):
            kept[probe_id] = verdict
        elif probe_id in second:
            kept[probe_id] = verdict if _has_error(second[probe_id].findings) else _without_errors(verdict)
    return kept


def _kept_of(log: WorkLog, judged_with: str, probes: Collection[Probe]) -> Kept:
    versions = {p.probe_id: version_of(p) for p in probes}
    return {
        v.probe_id: v
        for v in log.units.records(STAGE, ProbeVerdict)
        if v.judged_with == judged_with and versions.get(v.probe_id) in v.versions
    }


def is_undecided(verdict: ProbeVerdict) -> bool:
    """Return whether the gate gave no usable verdict."""
    return any(f.check == f"{CHECK}.{UNDECIDED}" for f in verdict.findings)


def _remember_judges(units: Units) -> None:
    log, version = units.log, units.models.version_of
    judges = {role: model for role in CHECKERS if (model := units.spec.model_for(role))}
    asked = Dependencies(units.spec, units.prompts, version)
    log.meta_set(_JUDGES, {role.value: model for role, model in judges.items()})
    log.meta_set(_VERSIONS, {model: version(model) for model in judges.values()})
    log.meta_set(_IDENTITIES, {role.value: asked.model_of(role) for role in judges})


def _has_error(findings: Iterable[Finding]) -> bool:
    return any(f.severity is Severity.ERROR for f in findings)


def _without_errors(verdict: ProbeVerdict) -> ProbeVerdict:
    kept = tuple(f for f in verdict.findings if f.severity is not Severity.ERROR)
    return verdict.model_copy(update={"findings": kept})
