"""Augmentation: each stage of a plan gets updates, contradictions and standing instructions.

`special_targets` chooses what the special bullets are about, and where they stand. A model then words them, stage after
stage in the order of the story: it sees the bullets and days around each place, what depends on a changed value, and
what was added to the stages before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.generators.bullets import SETTLED, is_cut, typed_value
from longbeam.generators.dependents import stale_words
from longbeam.generators.entailment import RuleAnswer, Ruling, rule_on_contradiction, rule_on_update
from longbeam.generators.entailment_judge import (
    CONTRADICTION_PROMPTS,
    ENTAILMENT_PROMPTS,
    contradiction_fault,
    unsaid_claims,
)
from longbeam.generators.ledger import Ledger, standing_bullets
from longbeam.generators.plans import Frame
from longbeam.generators.special_targets import Target, Targets
from longbeam.keys import SubPlanKey
from longbeam.models import Asker, ListTask, Sifted
from longbeam.prompts.calls import (
    AugmentInputs,
    AugmentReply,
    ContradictionDraft,
    ContradictionTarget,
    InstructionDraft,
    InstructionTarget,
    LedgerLine,
    Place,
    RevisionDraft,
    Stage,
    StoryLine,
    ToldRemark,
    UpdateDraft,
    UpdateTarget,
)
from longbeam.schemas import (
    ENGLISH,
    Assertion,
    Bullet,
    BulletKind,
    Incident,
    IncidentKind,
    Plan,
    Stance,
    SubPlan,
    Value,
    ValueKind,
    digest_of,
)
from longbeam.text import overlapping, says

AUGMENT_PROMPTS = ("augment", *ENTAILMENT_PROMPTS, *CONTRADICTION_PROMPTS)
_Draft = UpdateDraft | ContradictionDraft | InstructionDraft
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


_Item = tuple[_Draft, *tuple[RevisionDraft, ...]]
"""A remark of a reply; behind an update, the bullets that depend on it in their new words."""


async def write_special_bullets(asker: Asker, task: StageToAugment) -> Augmented:
    """Return the special bullets of one stage; remarks that stay faulty are left out, and noted.

    Good remarks are kept, and only the others are asked for again.
    """
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
    remarks = _Remarks(asker, task)

    def rest(kept: tuple[_Item, ...]) -> AugmentInputs:
        written = {draft.target_id for draft, *_ in kept}
        conditions = (draft.condition for draft, *_ in kept if isinstance(draft, InstructionDraft))
        return inputs.model_copy(
            update={
                "updates": tuple(t for t in targets.updates if t.target_id not in written),
                "contradictions": tuple(t for t in targets.contradictions if t.target_id not in written),
                "instructions": tuple(t for t in targets.instructions if t.target_id not in written),
                "taken_conditions": tuple(dict.fromkeys((*inputs.taken_conditions, *conditions))),
            }
        )

    items = ListTask(
        inputs,
        remarks.sift,
        rest,
        show=lambda item: f"{item[0].target_id}: {item[0].text}",
        least=0,
        confirm=remarks.judge,
    )
    written = await asker.listed("augment", items)
    remarks.note_left_out(written)
    return _assemble(written, task, remarks)


def _lines(task: StageToAugment) -> tuple[StoryLine, ...]:
    """Return the bullets of the stage, each with the targets that follow it."""
    then: dict[str, list[str]] = {}
    for target_id, place in task.targets.places().items():
        then.setdefault(place.after, []).append(target_id)
    return tuple(StoryLine(bullet=b, then=tuple(then.get(b.bullet_id, ()))) for b in task.sub_plan.bullets)


# --- what a remark must have ------------------------------------------------------------------------------------


@dataclass
class _Remarks:
    """The checks of a reply's remarks on their own, by rules first; where rules cannot tell, by the checker."""

    asker: Asker
    task: StageToAugment
    denied: dict[str, str] = field(default_factory=dict)
    """By target, what rules or checker said last against the remark: it does not say what it must."""

    def sift(self, kept: tuple[_Item, ...], reply: AugmentReply) -> Sifted[_Item]:
        """Join the remarks kept so far with the good ones of a reply, in the order of the targets."""
        targets = self.task.targets
        every = targets.by_id()
        good: dict[str, _Item] = {item[0].target_id: item for item in kept}
        faults: dict[str, str] = {}
        revisions = {draft.bullet_id: draft for draft in reply.revisions}
        drafts = (
            _by_target(reply.updates, targets.updates, good)
            | _by_target(reply.contradictions, targets.contradictions, good)
            | _by_target(reply.instructions, targets.instructions, good)
        )
        for target_id, target in every.items():
            if target_id in good:
                continue
            draft = drafts.get(target_id)
            if draft is None:
                faults[target_id] = f"{target_id} is missing"
                continue
            dependents = target.dependents if isinstance(target, UpdateTarget) else ()
            reworded = tuple(revisions[i] for d in dependents if (i := d.bullet.bullet_id) in revisions)
            wishes = [draft for draft, *_ in good.values() if isinstance(draft, InstructionDraft)]
            if found := list(self._faults(draft, target, reworded, wishes)):
                faults[target_id] = f"{target_id} {'; it '.join(found)}"
            else:
                good[target_id] = (draft, *reworded)
        return Sifted(tuple(good[i] for i in every if i in good), tuple(faults.values()))

    def value_of(self, draft: _Draft, target: Target) -> Value | None:
        """Return the typed value of a remark, None if it has none; raises ValueError for words that cannot be read."""
        if isinstance(draft, InstructionDraft) or isinstance(target, InstructionTarget):
            return None
        if target.fact is None or not draft.value.strip():
            return None
        if target.fact.kind is ValueKind.DATE and self.asker.spec.language != ENGLISH:
            return Value(kind=ValueKind.DATE, text=draft.value.strip())  # code reads English days only
        return typed_value(draft.value, target.fact.kind, target.place.day)

    async def judge(self, item: _Item) -> str:
        """Return what the checker says against a remark of which rules cannot tell; empty if it has nothing."""
        draft, target = item[0], self.task.targets.by_id()[item[0].target_id]
        ruling = self._ruling(draft, target)
        # Rules tell what excludes a statement; whether somebody would say it is for the checker alone.
        is_open = ruling.answer is RuleAnswer.UNSURE or (
            isinstance(draft, ContradictionDraft) and ruling.answer is RuleAnswer.YES
        )
        if not is_open or not (reason := await self._judged(draft, target)):
            return ""
        self.denied[target.target_id] = reason
        return f"{target.target_id} must be worded anew: {reason}"

    def note_left_out(self, written: Sequence[_Item]) -> None:
        """Note the remarks that are left out because they did not say what they must."""
        there = {draft.target_id for draft, *_ in written}
        for target_id, reason in self.denied.items():
            if target_id not in there:
                detail = f"{target_id} is left out: {reason}"
                self.asker.note(Incident(kind=IncidentKind.NOT_ENTAILED, prompt_id="augment", detail=detail))

    def _faults(
        self, draft: _Draft, target: Target, reworded: Sequence[RevisionDraft], wishes: Sequence[InstructionDraft]
    ) -> Iterator[str]:
        """Yield what is wrong with a remark by rules."""
        if text := next((d.text for d in (draft, *reworded) if is_cut(d.text)), ""):
            yield f"breaks off within a sentence, {text[:40]!r}...; write one or two whole ones of at most 30 words"
        if isinstance(draft, InstructionDraft):
            yield from _instruction_faults(draft, self.task.wishes, wishes)
            return
        try:
            value = self.value_of(draft, target)
        except ValueError as exc:
            yield f"has a value that cannot be read: {exc}"
            return
        if isinstance(target, UpdateTarget):
            yield from _update_faults(draft.text, target, value)
            yield from _revision_faults(reworded, target)
        elif isinstance(target, ContradictionTarget):
            yield from _contradiction_faults(draft.text, target, value)
        ruling = self._ruling(draft, target)
        if ruling.answer is RuleAnswer.NO:
            self.denied[target.target_id] = ruling.reason
            yield f"must be worded anew: {ruling.reason}"

    def _ruling(self, draft: _Draft, target: Target) -> Ruling:
        language, value = self.asker.spec.language, self.value_of(draft, target)
        if isinstance(target, UpdateTarget) and value is not None:
            return rule_on_update(draft.text, value, target, language)
        if isinstance(target, ContradictionTarget):
            return rule_on_contradiction(draft.text, value, target, language)
        return Ruling(RuleAnswer.YES)

    async def _judged(self, draft: _Draft, target: Target) -> str:
        """Return the checker's reason against a draft; empty if it has none."""
        if isinstance(draft, UpdateDraft) and isinstance(target, UpdateTarget):
            claim = f"{target.fact.subject}, {target.fact.attribute}: {draft.value} by now"
            missed = await unsaid_claims(self.asker, f"says.{draft.target_id}", draft.text, (claim,))
            return missed.get(claim, "")
        assert isinstance(target, ContradictionTarget)
        told = ToldRemark(text=target.bullet.text, day=target.bullet.happens_on)
        slip = ToldRemark(text=draft.text, day=target.place.day)
        return await contradiction_fault(self.asker, f"denies.{draft.target_id}", told, slip)


def _by_target(drafts: Sequence[_Draft], targets: Sequence[Target], kept: Mapping[str, _Item]) -> dict[str, _Draft]:
    """Return the first draft of each target; drafts that name none, as older replies do, have the targets left over.

    `kept`: remarks of earlier replies. A draft that only says one of them again has no target.
    """
    told = {draft.text for draft, *_ in kept.values()}
    named = {d.target_id: d for d in reversed(drafts) if d.target_id}
    free = (t.target_id for t in targets if t.target_id not in named and t.target_id not in kept)
    unnamed = (d for d in drafts if not d.target_id and d.text not in told)
    return named | {i: d.model_copy(update={"target_id": i}) for i, d in zip(free, unnamed, strict=False)}


def _update_faults(text: str, target: UpdateTarget, value: Value | None) -> Iterator[str]:
    old, kind = target.fact.value, target.fact.kind
    if value is None:
        yield "must state the new value, in `value` and in its text"
        return
    if old is not None and value.means_same_as(old):
        yield f"keeps the old value {old.text!r}"
    if value.kind is not kind:
        yield f"is a {value.kind.value}; the fact is a {kind.value}"
    if not says(text, value):
        yield f"asserts {value.text!r} and its text does not say it"
    if found := _VOW.search(text) or SETTLED.search(text):
        yield f"says {found[0]!r}, and later bullets need not keep to that; leave it out"


def _contradiction_faults(text: str, target: ContradictionTarget, value: Value | None) -> Iterator[str]:
    if target.variety == "other_value":
        if value is None or not says(text, value):
            yield "must state another value, in `value` and in its text"
        elif target.fact and target.fact.value and value.means_same_as(target.fact.value):
            yield f"states the same value {value.text!r}"


def _instruction_faults(
    draft: InstructionDraft, told: Iterable[Bullet], written: Iterable[InstructionDraft]
) -> Iterator[str]:
    """Yield what an instruction lacks, and the wish with whose condition its own overlaps."""
    if not draft.condition or not draft.requirement:
        yield "lacks its condition or its requirement"
        return
    # The same wish may be said again after years, and not within a stage.
    others = (b for b in told if b.condition and b.requirement != draft.requirement)
    wishes: list[Bullet | InstructionDraft] = [*others, *written]
    for wish in wishes:
        if overlapping(draft.condition, wish.condition):
            yield (
                f"has the condition {draft.condition!r}, which overlaps with {wish.condition!r}, another wish;"
                " find one of its own"
            )


def _revision_faults(reworded: Sequence[RevisionDraft], target: UpdateTarget) -> Iterator[str]:
    texts = {draft.bullet_id: draft.text for draft in reworded}
    for dependent in target.dependents:
        bullet_id = dependent.bullet.bullet_id
        if bullet_id not in texts:
            yield f"changes what {bullet_id} depends on ({dependent.reason}), and that is not reworded"
        elif stale := stale_words(texts[bullet_id], dependent, target.fact.value):
            yield f"makes wrong that {bullet_id} still says {stale!r}"
        elif missing := [v.text for line in dependent.kept if (v := line.value) and not says(texts[bullet_id], v)]:
            yield f"leaves as it is what {bullet_id} must go on saying, {missing[0]!r}"


# --- records of the reply ---------------------------------------------------------------------------------------


def _assemble(written: Sequence[_Item], task: StageToAugment, remarks: _Remarks) -> Augmented:
    """Return the remarks as bullets, numbered after those of their sub-plan, with the assertions they make."""
    targets, sub_plan = task.targets, task.sub_plan
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    ids = (str(key.bullet(ordinal)) for ordinal in count(len(sub_plan.bullets)))
    target_of = targets.by_id()
    made: list[tuple[Place, Bullet]] = []
    assertions: list[Assertion] = []
    for draft, *_ in written:
        target = target_of[draft.target_id]
        if isinstance(target, UpdateTarget):
            bullet = _referring_to(target, BulletKind.UPDATE, next(ids), draft.text)
            assertions.append(_assertion(bullet, target.fact.fact_id, Stance.UPDATES, remarks.value_of(draft, target)))
        elif isinstance(target, ContradictionTarget):
            bullet = _referring_to(target, BulletKind.CONTRADICTION, next(ids), draft.text)
            bullet = bullet.model_copy(update={"variety": target.variety})
            if target.fact is not None:
                value = remarks.value_of(draft, target) if target.variety == "other_value" else None
                assertions.append(_assertion(bullet, target.fact.fact_id, Stance.DENIES, value))
        else:
            assert isinstance(draft, InstructionDraft)
            bullet = _instruction(draft, target.area, next(ids), target.place)
        made.append((target.place, bullet))
    told = {b.bullet_id: i for i, b in enumerate(sub_plan.bullets)}
    made.sort(key=lambda one: told[one[0].after])
    texts = {draft.bullet_id: draft.text.strip() for _, *reworded in written for draft in reworded}
    updates = [t for draft, *_ in written if isinstance(t := target_of[draft.target_id], UpdateTarget)]
    dependents = [d for target in updates for d in target.dependents]
    return Augmented(
        stage_index=targets.stage_index,
        bullets=tuple(bullet for _, bullet in made),
        after=tuple(place.after for place, _ in made),
        assertions=tuple(assertions),
        revised=tuple(d.bullet.model_copy(update={"text": texts[d.bullet.bullet_id]}) for d in dependents),
        stale=tuple(line.fact_id for d in dependents for line in d.stale),
    )


def _instruction(draft: InstructionDraft, area: str, bullet_id: str, place: Place) -> Bullet:
    return Bullet(
        bullet_id=bullet_id,
        kind=BulletKind.INSTRUCTION,
        narrative=area,
        topic=draft.topic,
        text=draft.text,
        happens_on=place.day,
        condition=draft.condition,
        requirement=draft.requirement,
    )


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
