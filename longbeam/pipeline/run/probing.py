"""The probe pool of one conversation: candidates, wording, checks, selection; a unit per ability and per probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from longbeam.errors import ReplyError
from longbeam.evaluation import count_competitors, count_restatements, overlap_of
from longbeam.generators.probes import (
    Interference,
    Moments,
    Places,
    ProbeCandidate,
    ProbeMaterial,
    ask_on_the_way,
    further_candidates,
    plan_candidates,
    planning_prompts,
    select_probes,
    write_probe,
    writing_prompts,
)
from longbeam.keys import PROBES, ProbeId
from longbeam.models import Asker, answers_by_rule, has_model_checks
from longbeam.pipeline.run.probe_checks import CheckedConversation, ProbeVerdict, judge_probes
from longbeam.pipeline.run.refusals import (
    on_what_is_said,
    reason_of,
    refusals,
    remember_reason,
    remembered_order,
    select_as_before,
)
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, Units, all_of
from longbeam.pipeline.tuning import RUNNING
from longbeam.schemas import ConversationHead, Finding, Message, Probe, Role, Severity, digest_of
from longbeam.store import Failure, FoldedTexts, SpilledSequence, UnitStatus, digest_of_said
from longbeam.text import language_of
from longbeam.validation import ConversationIndex, check_probes

CANDIDATES = UnitSpec(PROBES, ProbeCandidate, tries=1)
"""Candidates of an ability; the ability says which prompts they ask."""
PROBE = UnitSpec(PROBES, Probe, tries=1)
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


@dataclass(frozen=True)
class WordedProbes:
    """The probes of a conversation that are worded and pass the rules, and a first selection of them."""

    pool: _ProbePool
    selected: list[Probe]


async def word_probes(units: Units, text: ConversationText) -> WordedProbes:
    """Have candidates put into words, and select among those that pass the rules.

    A probe that cannot be worded is a recorded failure and leaves its place to the next. A probe with an error finding
    leaves the pool; a probe with a warning is selected last.
    """
    spooled = SpilledSequence(text.messages)
    pool = _ProbePool(units, text, spooled, FoldedTexts(m.content for m in spooled))
    pool.add(await _worded(pool, units.spec.abilities))
    return WordedProbes(pool, pool.select())


async def check_worded(worded: WordedProbes) -> ProbePool:
    """Return the pool and its selection, with the difficulty of each probe measured.

    Where models check probes, those that are about to be selected are checked, and the next of the pool takes the place
    of one with an error.
    """
    pool, selected = worded.pool, worded.selected
    if has_model_checks(pool.units.spec):
        selected = await _checked_selection(pool, selected)
    return ProbePool(tuple(pool.completed(selected)), pool.refused)


@dataclass
class _ProbePool:
    """The probes of a conversation while they are worded, checked and selected."""

    units: Units
    text: ConversationText
    messages: Sequence[Message]
    texts: FoldedTexts
    probes: list[Probe] = field(default_factory=list)
    """Probes that no check refuses."""
    refused: dict[str, str] = field(default_factory=dict)
    doubted: set[str] = field(default_factory=set)
    judged: set[str] = field(default_factory=set)
    """Probes that the gate has read; those of them that are still in the pool passed it, or have its words."""
    positions: dict[str, int] = field(default_factory=dict)
    """Ordinals of the cited messages, by key."""
    _restated: dict[str, int] = field(default_factory=dict)

    def add(self, worded: Sequence[tuple[ProbeCandidate, Probe]]) -> None:
        """Add worded probes, without those that a rule refuses."""
        moved = [(probe.probe_id, on_what_is_said(c, probe, self.text.said_anew)) for c, probe in worded]
        self.refused |= {probe_id: gone for probe_id, gone in moved if not isinstance(gone, Probe)}
        probes = [*self.probes, *(probe for _, probe in moved if isinstance(probe, Probe))]
        index = ConversationIndex(head=self.text.head, messages=self.messages, texts=self.texts)
        self.weigh(check_probes(index, probes, language=language_of(self.units.spec.language)))
        self.probes = [p for p in probes if p.probe_id not in self.refused]

    def weigh(self, findings: Iterable[Finding]) -> None:
        """Refuse the probes that errors name, and doubt those that warnings name."""
        for finding in findings:
            if finding.severity is Severity.ERROR:
                self.refused.setdefault(finding.subject, finding.message)
            elif finding.severity is Severity.WARNING:
                self.doubted.add(finding.subject)
        self.probes = [p for p in self.probes if p.probe_id not in self.refused]

    def heed(self, verdict: ProbeVerdict, *, is_final: bool) -> None:
        """Refuse a probe, or take it with the gate's words and evidence; `is_final` refuses new words."""
        self.weigh(f for f in verdict.findings if f.severity is Severity.ERROR)
        if verdict.is_reworded and is_final:
            self.refused.setdefault(verdict.probe_id, f"reworded again: {verdict.findings[0].message}")
        known = {p.probe_id for p in self.probes}
        self.probes = [p for p in self.probes if p.probe_id not in self.refused]
        if verdict.probe_id not in known - self.refused.keys():
            return
        (probe,) = [p for p in self.probes if p.probe_id == verdict.probe_id]
        given = {"rank": probe.rank, "is_selected": probe.is_selected, "asked_at": probe.asked_at}
        mended = verdict.mended.model_copy(update=given)
        if mended == probe:
            return
        index = ConversationIndex(head=self.text.head, messages=self.messages, texts=self.texts)
        self.weigh(check_probes(index, [mended], language=language_of(self.units.spec.language)))
        self.probes = [mended if p.probe_id == mended.probe_id else p for p in self.probes]
        self._restated.pop(mended.probe_id, None)
        cited = {e.message_key for e in mended.evidence} - self.positions.keys()
        if cited:
            places = ((m.message_key, i) for i, m in enumerate(self.messages))
            self.positions |= {key: i for key, i in places if key in cited}

    def select(self) -> list[Probe]:
        """Return the probes by ability and rank, the asked number of each selected."""
        per_ability = self.units.spec.probes_per_ability
        if (order := remembered_order(self.units.log)) is not None:
            self.refused |= (left := refusals(self.units.log, self.probes))
            return select_as_before(self.probes, order, left, per_ability)
        answered = (
            {p.probe_id: p.details.difficulty.answered for p in self._measured(self.probes)}
            if self.units.spec.probes.hard
            else {}
        )
        places = Places(
            self.positions,
            len(self.messages),
            prefers_wide=len(self.text.head.plans) > 1,
            answered=answered,
            interference=self._interference(),
            restated=self.restated(),
            assistant_share=self.units.spec.probes.assistant_share,
            kinds_share=self.units.spec.probes.kinds_share,
            ordinal=int(self.units.conversation_id[1:]),
        )
        return select_probes(self.probes, per_ability, places, self.doubted, self.judged)

    def restated(self) -> Mapping[str, int]:
        """Return how many uncited messages say each probe's answer again, by probe_id."""
        if new := [p for p in self.probes if p.probe_id not in self._restated]:
            keys = [m.message_key for m in self.messages]
            self._restated |= count_restatements(self.text.head.plans, self.texts, keys, new)
        return self._restated

    def _interference(self) -> dict[str, Interference]:
        competitors = count_competitors(self.text.head.plans, self.probes)
        return {
            i: Interference(n, overlap_of(p) or 0.0)
            for p in self.probes
            if (n := competitors.get(i := p.probe_id)) is not None
        }

    def completed(self, selected: Sequence[Probe]) -> list[Probe]:
        """Return the probes, a share of the selected ones with a time on the way, all with measured difficulty."""
        cited = {e.message_key for p in selected if p.is_selected for e in p.evidence}
        moments = Moments.of(self.messages, cited)
        return self._measured(ask_on_the_way(selected, moments, self.units.spec.probes.on_the_way, self._key))

    def _measured(self, probes: Sequence[Probe]) -> list[Probe]:
        # Imported here because commands that measure nothing import this module, and BM25 takes long to load.
        from longbeam.evaluation import DifficultyMeter

        meter = DifficultyMeter(self.messages, probes, self.text.head.plans, self._key)
        restated = self.restated()
        measured = (meter.of(p).model_copy(update={"restated": restated.get(p.probe_id)}) for p in probes)
        details = (p.details.model_copy(update={"difficulty": m}) for p, m in zip(probes, measured, strict=True))
        return [p.model_copy(update={"details": d}) for p, d in zip(probes, details, strict=True)]

    @property
    def _key(self) -> str:
        return f"{self.units.spec.seed}/{self.text.head.conversation_id}"

    def short(self, selected: Iterable[Probe]) -> list[str]:
        """Return the abilities of which fewer probes are selected than asked for."""
        counts = Counter(p.ability for p in selected if p.is_selected)
        return [a for a in self.units.spec.abilities if counts[a] < self.units.spec.probes_per_ability]


async def _checked_selection(pool: _ProbePool, selected: list[Probe]) -> list[Probe]:
    """Return a selection that passed the gate; more candidates are worded for an ability that has too few left.

    A probe that the critic reworded goes through the gate once more, with the words of a second critique once again.
    """
    # The same all the time, so that an unrelated answer does not depend on what was refused before.
    every = tuple(pool.probes)
    said = cache(lambda: digest_of_said(m.content for m in pool.messages))
    head = pool.text.head
    read = CheckedConversation(head.conversation_id, lambda: pool.messages, said, every, head.plans)
    passed, reworded, extended = set[str](), Counter[str](), set[str]()
    while True:
        if new := [p for p in selected if p.is_selected and p.probe_id not in passed]:
            verdicts = await judge_probes(pool.units, read, new, is_lenient=True)
            pool.judged |= {p.probe_id for p in new}
            passed |= {p.probe_id for p in new} - {v.probe_id for v in verdicts if v.is_reworded}
            for verdict in verdicts:
                pool.heed(verdict, is_final=reworded[verdict.probe_id] >= RUNNING.rewordings)
            reworded.update({v.probe_id for v in verdicts if v.is_reworded})
        elif short := [a for a in pool.short(selected) if a not in extended]:
            extended |= set(short)
            pool.add(await _worded(pool, short, further=True))
        else:
            return selected
        selected = pool.select()


async def _worded(
    pool: _ProbePool, abilities: Sequence[str], *, further: bool = False
) -> list[tuple[ProbeCandidate, Probe]]:
    """Return the worded probes of these abilities: of the first candidates, or of those behind them.

    What they are made from goes when they are: the checks have look-ups of their own.
    """
    units, head = pool.units, pool.text.head
    material = ProbeMaterial.from_messages(
        head,
        pool.messages,
        texts=pool.texts,
        language=language_of(units.spec.language),
        on_contradiction=units.spec.on_contradiction,
    )
    told = Digested(material, digest_of(list(head.parts()), pool.text.first_digest))
    pools = await all_of([_ability_pool(units, told, ability, further=further) for ability in abilities])
    found = [pair for pairs in pools for pair in pairs]
    pool.positions |= material.voices.places_of({e.message_key for _, probe in found for e in probe.evidence})
    return found


async def _ability_pool(
    units: Units, material: Digested[ProbeMaterial], ability: str, *, further: bool
) -> list[tuple[ProbeCandidate, Probe]]:
    spec = CANDIDATES.asking(*planning_prompts(ability))
    try:
        candidates = await units.run(spec, f"{ability}.candidates", material, ability, work=_plan_candidates)
        if further:
            candidates = await units.run(
                CANDIDATES, f"{ability}.further", material, ability, tuple(candidates), work=_further_candidates
            )
    except Blocked:
        return []
    written = await all_of([_probe(units, material.value.head, c) for c in candidates])
    return [(c, p) for c, p in zip(candidates, written, strict=True) if p is not None]


async def _plan_candidates(asker: Asker, material: Digested[ProbeMaterial], ability: str) -> Sequence[ProbeCandidate]:
    return await plan_candidates(asker, material.value, ability)


async def _further_candidates(
    _: Asker, material: Digested[ProbeMaterial], ability: str, known: tuple[ProbeCandidate, ...]
) -> Sequence[ProbeCandidate]:
    return further_candidates(material.value, ability, known)


async def _probe(units: Units, head: ConversationHead, candidate: ProbeCandidate) -> Probe | None:
    spec = PROBE.asking(*writing_prompts(candidate.ability))
    # A wording reads only the seed of the head, so a regenerated message does not invalidate it.
    about = Digested(head, digest_of(head.seed, str(head.seed.category)))
    problem = refused_wording(units, candidate.candidate_id)
    try:
        records = await units.run(spec, candidate.candidate_id, about, candidate, problem, work=_write_probe)
    except Blocked:
        return None
    return records[0] if records else None


async def _write_probe(
    asker: Asker, head: Digested[ConversationHead], candidate: ProbeCandidate, problem: str
) -> Sequence[Probe]:
    """Return the probe; none where rules have no words that fit, since they would have none at the next try either."""
    try:
        return (await write_probe(asker, head.value, candidate, problem),)
    except ReplyError:
        if answers_by_rule(asker.spec, asker.spec.model_for(Role.PROBER)):
            return ()
        raise


def ask_for_new_wording(units: Units, probe_id: str, reason: str) -> bool:
    """Open a new generation for a probe that was refused; False when it was worded often enough, or needs no words."""
    unit = units.log.units.find(PROBES, probe_id)
    has_words = bool(writing_prompts(ProbeId.parse(probe_id).ability))
    if unit is None or unit.status is not UnitStatus.DONE or unit.generation + 1 >= RUNNING.wordings or not has_words:
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
