"""Augmentation: each stage of a plan gets updates, contradictions and standing instructions.

`special_targets` chooses what the special bullets are about, and where they stand. A model then words them, stage after
stage in the order of the story: it sees the bullets and days around each place, what depends on a changed value, and
what was added to the stages before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TypeVar

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.generators.bullets import SETTLED, is_cut, typed_value
from longbeam.generators.dependents import stale_words
from longbeam.generators.entailment import Answer, Ruling, rule_on_contradiction, rule_on_update
from longbeam.generators.entailment_judge import (
    CONTRADICTION_PROMPTS,
    ENTAILMENT_PROMPTS,
    contradiction_fault,
    unsaid_claims,
)
from longbeam.generators.ledger import Ledger, standing_bullets
from longbeam.generators.plans import Frame
from longbeam.generators.special_targets import Targets
from longbeam.keys import SubPlanKey
from longbeam.models.asking import Acceptance, Asker
from longbeam.prompts.calls.checks import ToldRemark
from longbeam.prompts.calls.plans import (
    AugmentInputs,
    AugmentReply,
    ContradictionDraft,
    ContradictionTarget,
    Dependent,
    InstructionDraft,
    LedgerLine,
    Place,
    RevisionDraft,
    Stage,
    StoryLine,
    UpdateDraft,
    UpdateTarget,
)
from longbeam.schemas.base import digest_of
from longbeam.schemas.incidents import Incident, IncidentKind
from longbeam.schemas.plans import Assertion, Bullet, BulletKind, Plan, Stance, SubPlan, Value, ValueKind
from longbeam.schemas.spec import ENGLISH
from longbeam.text.conditions import overlapping
from longbeam.text.matching import says

AUGMENT_PROMPTS = ("augment", *ENTAILMENT_PROMPTS, *CONTRADICTION_PROMPTS)
D = TypeVar("D", UpdateDraft, ContradictionDraft, InstructionDraft)
_Remark = UpdateDraft | ContradictionDraft | InstructionDraft | RevisionDraft
_VOW = re.compile(
    r"\b(?:no more|never again|not (?:another|one more)|for good|from now on|once and for all)\b", re.IGNORECASE
)
"""Words of a vow, which the bullets planned for later would break."""


@dataclass(frozen=True)
class StageToAugment:
    """Inputs of the special bullets of one stage."""

    frame: Frame
    base: Plan
    """The plan without special bullets."""
    stage: Stage
    targets: Targets
    before: tuple[Augmented, ...] = ()
    """Special bullets of the stages before."""

    @cached_property
    def plan(self) -> Plan:
        """The plan with the special bullets of the stages before."""
        return augmented_plan(self.base, self.before)

    @cached_property
    def sub_plan(self) -> SubPlan:
        """The bullets of the stage."""
        return self.plan.sub_plans[self.targets.stage_index]

    @cached_property
    def changed(self) -> tuple[LedgerLine, ...]:
        """The plan's facts that were changed before the stage, with their values as it begins."""
        own = {f.fact_id for f in self.plan.facts}
        assertions = tuple(a for a in self.plan.assertions if a.fact_id in own)
        ledger = Ledger(self.plan.sub_plans, self.plan.facts, assertions)
        return ledger.changed_lines(self.sub_plan.bullets[0].bullet_id)

    @cached_property
    def wishes(self) -> tuple[Bullet, ...]:
        """The user's other wishes: those of earlier plans, preferences of all stages, and instructions so far."""
        earlier = self.frame.chapter.standing if self.frame.chapter else ()
        return standing_bullets((*earlier, *self.plan.bullets()))

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all parts."""
        return digest_of(self.frame, self.base.digest, self.stage, self.targets, self.before)


async def write_special_bullets(asker: Asker, task: StageToAugment) -> Augmented:
    """Return the special bullets of one stage; a reply that misses a target is asked for again."""
    frame, stage, targets = task.frame, task.stage, task.targets
    inputs = AugmentInputs(
        seed=frame.seed,
        profile=frame.profile,
        stage=stage,
        people=tuple(p for p in frame.relationships.people if p.first_name in stage.cast),
        changed=task.changed,
        lines=_lines(task),
        updates=targets.updates,
        contradictions=targets.contradictions,
        instructions=targets.instructions,
        taken_conditions=tuple(dict.fromkeys(b.condition for b in task.wishes if b.condition)),
    )
    values = _Values(targets, asker.spec.language)
    wording = _Wording(asker, task, values)

    def check(reply: AugmentReply) -> Iterator[str]:
        yield from values.faults(reply)
        readable = values.readable(reply)
        yield from _problems(readable, task, values)
        yield from wording.faults(readable)

    reply = await asker.structured(
        "augment",
        inputs,
        accept=Acceptance(
            check=check,
            confirm=wording.judge,
            mend=lambda r: wording.kept(_mended(values.readable(r), task)),
        ),
    )
    return _assemble(reply, task, values)


def _lines(task: StageToAugment) -> tuple[StoryLine, ...]:
    """Return the bullets of the stage, each with the targets that follow it."""
    then: dict[str, list[str]] = {}
    for target_id, place in task.targets.places().items():
        then.setdefault(place.after, []).append(target_id)
    return tuple(StoryLine(bullet=b, then=tuple(then.get(b.bullet_id, ()))) for b in task.sub_plan.bullets)


# --- values -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Values:
    """The typed values of a reply's drafts, read out of their words."""

    targets: Targets
    language: str

    def of(self, draft: UpdateDraft | ContradictionDraft) -> Value | None:
        """Return the value of a draft, None if it has none; raises ValueError for words that cannot be read."""
        of_kind = self.targets.updates if isinstance(draft, UpdateDraft) else self.targets.contradictions
        target = next((t for t in of_kind if t.target_id == draft.target_id), None)
        if target is None or target.fact is None or not draft.value.strip():
            return None
        if target.fact.kind is ValueKind.DATE and self.language != ENGLISH:
            return Value(kind=ValueKind.DATE, text=draft.value.strip())  # code reads English days only
        return typed_value(draft.value, target.fact.kind, target.place.day)

    def faults(self, reply: AugmentReply) -> Iterator[str]:
        """Yield the values whose words cannot be read."""
        drafts: list[UpdateDraft | ContradictionDraft] = [*reply.updates, *reply.contradictions]
        for draft in drafts:
            try:
                self.of(draft)
            except ValueError as exc:
                yield f"{_name_of(draft)}: {exc}"

    def readable(self, reply: AugmentReply) -> AugmentReply:
        """Return a reply without the drafts that have faults: their gold would be a guess."""
        wrong = {fault.partition(":")[0] for fault in self.faults(reply)}
        return reply.model_copy(
            update={
                "updates": [d for d in reply.updates if _name_of(d) not in wrong],
                "contradictions": [d for d in reply.contradictions if _name_of(d) not in wrong],
            }
        )


# --- what a reply must have -------------------------------------------------------------------------------------


def _problems(reply: AugmentReply, task: StageToAugment, values: _Values) -> Iterator[str]:
    targets = task.targets
    updates = {t.target_id: t for t in targets.updates}
    contradictions = {t.target_id: t for t in targets.contradictions}
    wishes = [t.target_id for t in targets.instructions]
    yield from _wrong_targets("updates", [d.target_id for d in reply.updates], updates)
    yield from _wrong_targets("contradictions", [d.target_id for d in reply.contradictions], contradictions)
    named = [d.target_id for d in reply.instructions]
    # Replies to earlier versions of the prompt name no targets of instructions.
    yield from _wrong_targets("instructions", named if any(named) else wishes[: len(named)], wishes)
    for draft in reply.updates:
        if draft.target_id in updates:
            yield from _update_problems(draft, updates[draft.target_id], values.of(draft))
    for denial in reply.contradictions:
        if denial.target_id in contradictions:
            yield from _contradiction_problems(denial, contradictions[denial.target_id], values.of(denial))
    remarks: list[_Remark] = [*reply.updates, *reply.contradictions, *reply.instructions, *reply.revisions]
    for text in (remark.text for remark in remarks if is_cut(remark.text)):
        yield f"{text[:40]!r}... breaks off within a sentence; write one or two whole ones of at most 30 words"
    for _, fault in _faulty_instructions(reply.instructions, task.wishes):
        yield fault
    yield from _revision_problems(reply, targets)


def _wrong_targets(name: str, named: Sequence[str], wanted: Iterable[str]) -> Iterator[str]:
    if sorted(named) != sorted(wanted):
        yield f"{name} are for {sorted(named)}; exactly {sorted(wanted)} are asked for"


def _update_problems(draft: UpdateDraft, target: UpdateTarget, value: Value | None) -> Iterator[str]:
    old, kind = target.fact.value, target.fact.kind
    if value is None:
        return  # a reply's drafts have values
    if old is not None and value.means_same_as(old):
        yield f"update {draft.target_id} keeps the old value {old.text!r}"
    if value.kind is not kind:
        yield f"update {draft.target_id} is a {value.kind.value}; the fact is a {kind.value}"
    if not says(draft.text, value):
        yield f"update {draft.target_id} asserts {value.text!r} and its text does not say it"
    if found := _VOW.search(draft.text) or SETTLED.search(draft.text):
        yield f"update {draft.target_id} says {found[0]!r}, and later bullets need not keep to that; leave it out"


def _contradiction_problems(
    draft: ContradictionDraft, target: ContradictionTarget, value: Value | None
) -> Iterator[str]:
    if target.variety == "other_value":
        if value is None or not says(draft.text, value):
            yield f"contradiction {draft.target_id} must state another value, in `value` and in its text"
        elif target.fact and target.fact.value and value.means_same_as(target.fact.value):
            yield f"contradiction {draft.target_id} states the same value {value.text!r}"


def _faulty_instructions(
    drafts: Sequence[InstructionDraft], wishes: Sequence[Bullet]
) -> Iterator[tuple[InstructionDraft, str]]:
    """Yield the instructions that lack a part, or whose condition overlaps with that of another wish."""
    standing = [(b.condition, b.requirement) for b in wishes if b.condition]
    for draft in drafts:
        if not draft.condition or not draft.requirement:
            yield draft, "an instruction lacks its condition or its requirement"
            continue
        # The same wish may be said again after years.
        clash = next((c for c, r in standing if r != draft.requirement and overlapping(draft.condition, c)), "")
        if clash:
            yield draft, f"the condition {draft.condition!r} overlaps with {clash!r}, another wish; find one of its own"
        standing.append((draft.condition, draft.requirement))


def _revision_problems(reply: AugmentReply, targets: Targets) -> Iterator[str]:
    texts = {draft.bullet_id: draft.text for draft in reply.revisions}
    for target in targets.updates:
        for dependent in target.dependents:
            bullet_id = dependent.bullet.bullet_id
            if bullet_id not in texts:
                yield f"{bullet_id} depends on update {target.target_id} ({dependent.reason}) and is not reworded"
            elif fault := _revision_fault(texts[bullet_id], dependent, target):
                yield f"{bullet_id} {fault}"


def _revision_fault(text: str, dependent: Dependent, target: UpdateTarget) -> str:
    if stale := stale_words(text, dependent, target.fact.value):
        return f"still says {stale!r}, which update {target.target_id} makes wrong"
    missing = [line.value.text for line in dependent.kept if line.value and not says(text, line.value)]
    return f"must go on saying {missing[0]!r}" if missing else ""


@dataclass
class _Wording:
    """The check that updates name what changes and that contradictions cannot be true beside their statements."""

    asker: Asker
    task: StageToAugment
    values: _Values
    refused: set[str] = field(default_factory=set)
    """Texts that the checker refused."""

    def faults(self, reply: AugmentReply) -> Iterator[str]:
        """Yield what the rules refuse."""
        for draft, ruling in self._rulings(reply):
            if ruling.answer is Answer.NO:
                yield f"{_name_of(draft)} must be worded anew: {ruling.reason}"

    async def judge(self, reply: AugmentReply) -> Sequence[str]:
        """Return what the checker refuses of that which rules cannot tell."""
        faults = []
        for draft, ruling in self._rulings(reply):
            # Rules tell what excludes a statement; whether somebody would say it is for the checker alone.
            is_open = ruling.answer is Answer.UNSURE or (
                isinstance(draft, ContradictionDraft) and ruling.answer is Answer.YES
            )
            if is_open and (reason := await self._judged(draft)):
                self.refused.add(draft.text)
                faults.append(f"{_name_of(draft)} must be worded anew: {reason}")
        return faults

    def kept(self, reply: AugmentReply) -> AugmentReply:
        """Return a reply without the drafts that were refused: a wrong one would be the gold of a probe."""
        wrong = set(self.refused)
        for draft, ruling in self._rulings(reply):
            if ruling.answer is Answer.NO:
                wrong.add(draft.text)
            if draft.text in wrong:
                detail = f"{_name_of(draft)} is left out: {ruling.reason or draft.text}"
                self.asker.note(Incident(kind=IncidentKind.NOT_ENTAILED, prompt_id="augment", detail=detail))
        return reply.model_copy(
            update={
                "updates": [d for d in reply.updates if d.text not in wrong],
                "contradictions": [d for d in reply.contradictions if d.text not in wrong],
            }
        )

    def _rulings(self, reply: AugmentReply) -> Iterator[tuple[UpdateDraft | ContradictionDraft, Ruling]]:
        language = self.asker.spec.language
        updates = {t.target_id: t for t in self.task.targets.updates}
        for update in reply.updates:
            target, value = updates.get(update.target_id), self.values.of(update)
            if target is not None and value is not None:
                yield update, rule_on_update(update.text, value, target, language)
        contradictions = {t.target_id: t for t in self.task.targets.contradictions}
        for denial in reply.contradictions:
            if (against := contradictions.get(denial.target_id)) is not None:
                yield denial, rule_on_contradiction(denial.text, self.values.of(denial), against, language)

    async def _judged(self, draft: UpdateDraft | ContradictionDraft) -> str:
        """Return the checker's reason against a draft; empty if it has none."""
        if isinstance(draft, UpdateDraft):
            fact = next(t.fact for t in self.task.targets.updates if t.target_id == draft.target_id)
            claim = f"{fact.subject}, {fact.attribute}: {draft.value} by now"
            missed = await unsaid_claims(self.asker, f"says.{draft.target_id}", draft.text, (claim,))
            return missed.get(claim, "")
        target = next(t for t in self.task.targets.contradictions if t.target_id == draft.target_id)
        told = ToldRemark(text=target.bullet.text, day=target.bullet.happens_on)
        slip = ToldRemark(text=draft.text, day=target.place.day)
        return await contradiction_fault(self.asker, f"denies.{draft.target_id}", told, slip)


def _name_of(draft: UpdateDraft | ContradictionDraft) -> str:
    return f"{'update' if isinstance(draft, UpdateDraft) else 'contradiction'} {draft.target_id}"


def _mended(reply: AugmentReply, task: StageToAugment) -> AugmentReply:
    """Give each draft a target of its own, as far as there are any, and leave out what would be wrong.

    An update whose dependents are not worded anew is left out, and so are an instruction that overlaps with another
    wish, and a text that breaks off. A text that does not state its value stays: validation finds it.
    """
    targets = task.targets
    reply = AugmentReply(**{name: [d for d in drafts if not is_cut(d.text)] for name, drafts in reply})
    updates = _with_own_targets(reply.updates, [t.target_id for t in targets.updates])
    texts = {draft.bullet_id: draft.text for draft in reply.revisions}
    broken = {
        t.target_id
        for t in targets.updates
        for d in t.dependents
        if d.bullet.bullet_id not in texts or _revision_fault(texts[d.bullet.bullet_id], d, t)
    }
    denials = _with_own_targets(reply.contradictions, [t.target_id for t in targets.contradictions])
    valued = {t.target_id for t in targets.contradictions if t.variety == "other_value"}
    clashing = [draft for draft, _ in _faulty_instructions(reply.instructions, task.wishes)]
    wishes = [d for d in reply.instructions if d not in clashing]
    return AugmentReply(
        updates=[draft for draft in updates if draft.target_id not in broken],
        contradictions=[d for d in denials if d.value.strip() or d.target_id not in valued],
        instructions=_with_own_targets(wishes, [t.target_id for t in targets.instructions]),
        revisions=reply.revisions,
    )


def _with_own_targets(drafts: Sequence[D], target_ids: Sequence[str]) -> list[D]:
    # Reversed, so that the first of several drafts keeps the target that they all name.
    named = {d.target_id: d for d in reversed(drafts)}
    free = [i for i in target_ids if i not in named]
    made = []
    for draft in drafts:
        if draft.target_id in target_ids and named[draft.target_id] is draft:
            made.append(draft)
        elif free:
            made.append(draft.model_copy(update={"target_id": free.pop(0)}))
    return made


# --- records of the reply ---------------------------------------------------------------------------------------


def _assemble(reply: AugmentReply, task: StageToAugment, values: _Values) -> Augmented:
    """Return the drafts as bullets, numbered after those of their sub-plan, with the assertions they make."""
    targets, sub_plan = task.targets, task.sub_plan
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    ids = (str(key.bullet(ordinal)) for ordinal in count(len(sub_plan.bullets)))
    update_of = {t.target_id: t for t in targets.updates}
    denial_of = {t.target_id: t for t in targets.contradictions}
    made: list[tuple[Place, Bullet]] = []
    assertions: list[Assertion] = []
    for draft in reply.updates:
        target = update_of[draft.target_id]
        bullet = _referring_to(target, BulletKind.UPDATE, next(ids), draft.text)
        made.append((target.place, bullet))
        assertions.append(_assertion(bullet, target.fact.fact_id, Stance.UPDATES, values.of(draft)))
    for denial in reply.contradictions:
        against = denial_of[denial.target_id]
        bullet = _referring_to(against, BulletKind.CONTRADICTION, next(ids), denial.text)
        made.append((against.place, bullet.model_copy(update={"variety": against.variety})))
        if against.fact is not None:
            value = values.of(denial) if against.variety == "other_value" else None
            assertions.append(_assertion(bullet, against.fact.fact_id, Stance.DENIES, value))
    place_of = {t.target_id: t.place for t in targets.instructions}
    for instruction in _with_own_targets(reply.instructions, list(place_of)):
        place = place_of[instruction.target_id]
        made.append((place, _instruction(instruction, task.frame, next(ids), place)))
    told = {b.bullet_id: i for i, b in enumerate(sub_plan.bullets)}
    made.sort(key=lambda one: told[one[0].after])
    revised, stale = _revised(reply.revisions, [update_of[d.target_id] for d in reply.updates])
    return Augmented(
        stage_index=targets.stage_index,
        bullets=tuple(bullet for _, bullet in made),
        after=tuple(place.after for place, _ in made),
        assertions=tuple(assertions),
        revised=revised,
        stale=stale,
    )


def _instruction(draft: InstructionDraft, frame: Frame, bullet_id: str, place: Place) -> Bullet:
    return Bullet(
        bullet_id=bullet_id,
        kind=BulletKind.INSTRUCTION,
        narrative=frame.narratives[0].label,
        topic=draft.topic,
        text=draft.text,
        happens_on=place.day,
        condition=draft.condition,
        requirement=draft.requirement,
    )


def _revised(
    drafts: Sequence[RevisionDraft], changed: Sequence[UpdateTarget]
) -> tuple[tuple[Bullet, ...], tuple[str, ...]]:
    """Return the dependents of the changed facts in their new words, and the ids of the facts that they lose."""
    texts = {draft.bullet_id: draft.text.strip() for draft in drafts}
    dependents = [d for target in changed for d in target.dependents]
    bullets = (d.bullet.model_copy(update={"text": texts[d.bullet.bullet_id]}) for d in dependents)
    return tuple(bullets), tuple(line.fact_id for d in dependents for line in d.stale)


def _referring_to(target: UpdateTarget | ContradictionTarget, kind: BulletKind, bullet_id: str, text: str) -> Bullet:
    """Return a special bullet that refers to another one."""
    return Bullet(
        bullet_id=bullet_id,
        kind=kind,
        narrative=target.bullet.narrative,
        topic=target.bullet.topic,
        text=text,
        happens_on=target.place.day,
        target_bullet_id=target.bullet.bullet_id,
    )


def _assertion(bullet: Bullet, fact_id: str, stance: Stance, value: Value | None) -> Assertion:
    return Assertion(bullet_id=bullet.bullet_id, fact_id=fact_id, stance=stance, value=value)
