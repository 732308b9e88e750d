"""The probe pool of one conversation: candidates, wording, checks, selection; a unit per ability and per probe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from longbeam.generators.probes.candidates import ProbeCandidate
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.probes.selection import Places, select_probes
from longbeam.generators.probes.writing import plan_candidates, planning_prompts, write_probe, writing_prompts
from longbeam.keys import ProbeId
from longbeam.models.asking import Asker
from longbeam.pipeline.repair.probes import (
    on_what_is_said,
    reason_of,
    refusals,
    remember_reason,
    remembered_order,
    select_as_before,
)
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, Units, all_of
from longbeam.schemas.base import digest_of
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message
from longbeam.schemas.findings import Severity
from longbeam.schemas.probes import Probe
from longbeam.store.folded import FoldedTexts
from longbeam.store.spill import SpilledSequence
from longbeam.store.units import Failure, UnitStatus
from longbeam.validation.index import ConversationIndex
from longbeam.validation.run import check_probes

MOST_WORDINGS = 3
"""Generations of one probe, the first one included."""
PROBES = "probes"
CANDIDATES = UnitSpec(PROBES, ProbeCandidate)
"""Candidates of an ability; the ability says which prompts they ask."""
PROBE = UnitSpec(PROBES, Probe)
"""A candidate put into words; its ability says which prompt that asks."""
REFUSED = "refused"
"""Kind of the failure of a unit whose probe was worded and then refused."""


@dataclass(frozen=True)
class ProbePool:
    """The probes of a conversation, and those that are not among them."""

    probes: tuple[Probe, ...]
    """All that pass the checks, by ability and rank, the asked number of each selected."""
    refused: Mapping[str, str]
    """Why a probe that was worded is not to be used, by probe_id."""


@dataclass(frozen=True)
class ConversationText:
    """A conversation as its probes are made from it."""

    head: ConversationHead
    messages: Iterable[Message]
    first_digest: str
    """Digest of the dialogues' messages. Candidates depend on it and not on regenerated messages."""
    said_anew: Mapping[str, str] = field(default_factory=dict)
    """Contents of regenerated messages, by key."""


async def write_probe_pool(units: Units, text: ConversationText) -> ProbePool:
    """Return the pool and its selection.

    A probe that cannot be worded is a recorded failure and leaves its place to the next. A probe with an error finding
    leaves the pool; a probe with a warning is selected last.
    """
    head, spooled = text.head, SpilledSequence(text.messages)
    texts = FoldedTexts(m.content for m in spooled)
    found, positions = await _worded(units, head, spooled, texts, text.first_digest)
    refused: dict[str, str] = {}
    probes = []
    for candidate, probe in found:
        moved = on_what_is_said(candidate, probe, text.said_anew)
        if isinstance(moved, Probe):
            probes.append(moved)
        else:
            refused[probe.probe_id] = moved
    index = ConversationIndex(head=head, messages=spooled, texts=texts)
    findings = check_probes(index, probes, language=units.spec.language)
    for finding in findings:
        if finding.severity is Severity.ERROR:
            refused.setdefault(finding.subject, finding.message)
    probes = [p for p in probes if p.probe_id not in refused]
    per_ability = units.spec.probes_per_ability
    if (order := remembered_order(units.log)) is not None:
        refused |= (left := refusals(units.log, probes))
        selected = select_as_before(probes, order, left, per_ability)
    else:
        selected = select_probes(
            probes,
            per_ability,
            Places(positions, len(spooled), prefers_wide=len(head.plans) > 1),
            doubted={f.subject for f in findings if f.severity is Severity.WARNING},
        )
    return ProbePool(tuple(selected), refused)


async def _worded(
    units: Units, head: ConversationHead, messages: Sequence[Message], texts: FoldedTexts, said: str
) -> tuple[list[tuple[ProbeCandidate, Probe]], Mapping[str, int]]:
    """Return the worded probes of all abilities, and where the messages stand that they cite.

    What they are made from goes when they are: the checks have look-ups of their own.
    """
    material = ProbeMaterial.from_messages(head, messages, texts=texts, language=units.spec.language)
    told = Digested(material, digest_of(list(head.parts()), said))
    pools = await all_of([_ability_pool(units, told, ability) for ability in units.spec.abilities])
    found = [pair for pool in pools for pair in pool]
    return found, material.voices.places_of({e.message_key for _, probe in found for e in probe.evidence})


async def _ability_pool(
    units: Units, material: Digested[ProbeMaterial], ability: str
) -> list[tuple[ProbeCandidate, Probe]]:
    spec = CANDIDATES.asking(*planning_prompts(ability))
    try:
        candidates = await units.run(spec, f"{ability}.candidates", material, ability, work=_plan_candidates)
    except Blocked:
        return []
    written = await all_of([_probe(units, material.value.head, c) for c in candidates])
    return [(c, p) for c, p in zip(candidates, written, strict=True) if p is not None]


async def _plan_candidates(asker: Asker, material: Digested[ProbeMaterial], ability: str) -> Sequence[ProbeCandidate]:
    return await plan_candidates(asker, material.value, ability)


async def _probe(units: Units, head: ConversationHead, candidate: ProbeCandidate) -> Probe | None:
    spec = PROBE.asking(*writing_prompts(candidate.ability))
    # A wording reads only the seed of the head, so a regenerated message does not invalidate it.
    about = Digested(head, digest_of(head.seed, str(head.seed.category)))
    problem = refused_wording(units, candidate.candidate_id)
    try:
        records = await units.run(spec, candidate.candidate_id, about, candidate, problem, work=_write_probe)
    except Blocked:
        return None
    return records[0]


async def _write_probe(
    asker: Asker, head: Digested[ConversationHead], candidate: ProbeCandidate, problem: str
) -> Sequence[Probe]:
    return (await write_probe(asker, head.value, candidate, problem),)


def ask_for_new_wording(units: Units, probe_id: str, reason: str) -> bool:
    """Open a new generation for a probe that was refused; False when it was worded often enough, or needs no words."""
    unit = units.log.units.find(PROBES, probe_id)
    has_words = bool(writing_prompts(ProbeId.parse(probe_id).ability))
    if unit is None or unit.status is not UnitStatus.DONE or unit.generation + 1 >= MOST_WORDINGS or not has_words:
        return False
    failure = Failure(fingerprint=unit.fingerprint, error_kind=REFUSED, error=reason, attempts=1)
    units.log.units.fail(PROBES, probe_id, failure)
    remember_reason(units.log, probe_id, reason)
    return True


def refused_wording(units: Units, probe_id: str) -> str:
    """Return why the last wording of a probe was refused; empty for one that was not."""
    if reason := reason_of(units.log, probe_id):
        return reason
    unit = units.log.units.find(PROBES, probe_id)
    return unit.error if unit is not None and unit.error_kind == REFUSED else ""
