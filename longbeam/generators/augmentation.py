"""Augmentation: each stage of a plan gets updates, contradictions and standing instructions.

`choices` chooses what the special bullets are about, and where they stand. A model then words them, stage after
stage in the order of the story: it sees the bullets and days around each place, and what was added before.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from longbeam.generators.augmented import Augmented, Target, Targets, augmented_plan
from longbeam.generators.bullets import SETTLED, is_cut, typed_value
from longbeam.generators.entailment import RuleAnswer, Ruling, rule_on_contradiction, rule_on_update
from longbeam.generators.entailment_judge import (
    CONTRADICTION_PROMPTS,
    ENTAILMENT_PROMPTS,
    contradiction_fault,
    unsaid_claims,
)
from longbeam.generators.layout import SHORT
from longbeam.generators.ledger import Ledger, standing_bullets
from longbeam.generators.plans import Frame
from longbeam.generators.tuning import PLANNING
from longbeam.keys import SubPlanKey
from longbeam.models import Asker, ListTask, Sifted
from longbeam.prompts.calls import (
    UNSAID,
    AugmentInputs,
    AugmentReply,
    ContradictionDraft,
    ContradictionTarget,
    LedgerLine,
    Place,
    Stage,
    StoryLine,
    ToldRemark,
    UpdateDraft,
    UpdateTarget,
    WishDraft,
    WishTarget,
)
from longbeam.schemas import (
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
_Draft = UpdateDraft | ContradictionDraft | WishDraft
EVOLVED = "evolved"
"""Variety of a preference that replaces an earlier one."""
_VOW = re.compile(
    r"\b(?:no more|never again|not (?:another|one more)|for good(?=[^\w\s]|$| and\b)|from now on|once and for all)\b",
    re.IGNORECASE,
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
    length: int
    """Tokens of the conversation; up to SHORT it has no preference to spare that another could replace."""
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
        """The user's other wishes so far, those of earlier plans included."""
        earlier = self.frame.chapter.standing if self.frame.chapter else ()
        return standing_bullets((*earlier, *self.plan.bullets()))

    @cached_property
    def replaceable(self) -> tuple[Bullet, ...]:
        """Preferences that one told in the stage may replace."""
        if self.length <= SHORT or not any(t.kind is BulletKind.PREFERENCE for t in self.targets.wishes):
            return ()
        before = self.stage.first_day - dt.timedelta(days=PLANNING.evolves_after_days)
        return tuple(b for b in self.wishes if b.kind is BulletKind.PREFERENCE and b.happens_on <= before)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all parts."""
        return digest_of(self.frame, self.base.digest, self.stage, self.targets, self.before, self.length > SHORT)


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
        wishes=tuple(_with_lines(t, task.sub_plan) for t in targets.wishes),
        replaceable=task.replaceable,
        taken_conditions=tuple(dict.fromkeys(b.condition for b in task.wishes if b.condition)),
        put_before=tuple(b.text for b in task.wishes),
    )
    remarks = _Remarks(asker, task)

    def rest(kept: tuple[_Draft, ...]) -> AugmentInputs:
        written = {draft.target_id for draft in kept}
        wishes = [draft for draft in kept if isinstance(draft, WishDraft)]
        conditions = (draft.condition for draft in wishes)
        return inputs.model_copy(
            update={
                "updates": tuple(t for t in targets.updates if t.target_id not in written),
                "contradictions": tuple(t for t in targets.contradictions if t.target_id not in written),
                "wishes": tuple(t for t in inputs.wishes if t.target_id not in written),
                "taken_conditions": tuple(dict.fromkeys((*inputs.taken_conditions, *conditions))),
                "put_before": (*inputs.put_before, *(draft.text for draft in wishes)),
            }
        )

    items = ListTask(
        inputs,
        remarks.sift,
        rest,
        show=lambda item: f"{item.target_id}: {item.text}",
        least=0,
        confirm=remarks.judge,
    )
    written = await asker.listed("augment", items)
    remarks.note_left_out(written)
    return _assemble([draft for draft in written if not is_declined(draft)], task, remarks)


def is_declined(draft: _Draft) -> bool:
    """Return whether the writer finds an update or a slip better left unsaid."""
    return not isinstance(draft, WishDraft) and draft.text.strip().casefold() == UNSAID


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

    def sift(self, kept: tuple[_Draft, ...], reply: AugmentReply) -> Sifted[_Draft]:
        """Join the remarks kept so far with the good ones of a reply, in the order of the targets."""
        targets = self.task.targets
        every = targets.by_id()
        good: dict[str, _Draft] = {draft.target_id: draft for draft in kept}
        faults: dict[str, str] = {}
        told: Iterable[tuple[_Draft, type[Target]]] = (
            *((draft, UpdateTarget) for draft in reply.updates),
            *((draft, ContradictionTarget) for draft in reply.contradictions),
            *((draft, WishTarget) for draft in reply.wishes),
        )
        drafts: dict[str, _Draft] = {}
        for one, kind in told:
            if isinstance(every.get(one.target_id), kind):
                drafts.setdefault(one.target_id, one)
        for target_id, target in every.items():
            if target_id in good:
                continue
            if (draft := drafts.get(target_id)) is None:
                faults[target_id] = f"{target_id} is missing"
                continue
            wishes = [draft for draft in good.values() if isinstance(draft, WishDraft)]
            if is_declined(draft):
                declined = sum(is_declined(other) and type(other) is type(draft) for other in good.values())
                if 2 * declined < sum(type(t) is type(target) for t in every.values()):
                    good[target_id] = draft
                else:
                    faults[target_id] = f"{target_id} may not stay unsaid as well; at most half of a kind may"
                continue
            if found := list(self._faults(draft, target, wishes)):
                faults[target_id] = f"{target_id} {'; it '.join(found)}"
            else:
                good[target_id] = draft
        return Sifted(tuple(good[i] for i in every if i in good), tuple(faults.values()))

    def value_of(self, draft: _Draft, target: Target) -> Value | None:
        """Return the typed value of a remark, None if it has none; raises ValueError for words that cannot be read."""
        if isinstance(draft, WishDraft) or isinstance(target, WishTarget):
            return None
        if target.fact is None or not draft.value.strip():
            return None
        if target.fact.kind is ValueKind.DATE and not self.asker.language.reads_days:
            return Value(kind=ValueKind.DATE, text=draft.value.strip())  # code reads English days only
        return typed_value(draft.value, target.fact.kind, target.place.day)

    async def judge(self, item: _Draft) -> str:
        """Return what the checker says against a remark of which rules cannot tell; empty if it has nothing."""
        draft, target = item, self.task.targets.by_id()[item.target_id]
        if is_declined(draft):
            return ""
        is_open = self._ruling(draft, target).answer is RuleAnswer.UNSURE
        if not is_open or not (reason := await self._judged(draft, target)):
            return ""
        self.denied[target.target_id] = reason
        return f"{target.target_id} must be worded anew: {reason}"

    def note_left_out(self, written: Sequence[_Draft]) -> None:
        """Note the remarks that are left out because they did not say what they must, or because nobody would."""
        there = {draft.target_id for draft in written if not is_declined(draft)}
        declined = {draft.target_id: "its writer leaves it unsaid" for draft in written if is_declined(draft)}
        for target_id, reason in (self.denied | declined).items():
            if target_id not in there:
                detail = f"{target_id} is left out: {reason}"
                self.asker.note(Incident(kind=IncidentKind.NOT_ENTAILED, prompt_id="augment", detail=detail))

    def _faults(self, draft: _Draft, target: Target, wishes: Sequence[WishDraft]) -> Iterator[str]:
        """Yield what is wrong with a remark by rules."""
        if is_cut(draft.text):
            yield f"breaks off in a sentence, {draft.text[:40]!r}...; write one or two whole ones of at most 30 words"
        if isinstance(draft, WishDraft):
            is_preference = isinstance(target, WishTarget) and target.kind is BulletKind.PREFERENCE
            replaced = _replaced_by(draft, self.task.replaceable) if is_preference else None
            yield from _wish_faults(draft, (b for b in self.task.wishes if b is not replaced), wishes)
            return
        try:
            value = self.value_of(draft, target)
        except ValueError as exc:
            yield f"has a value that cannot be read: {exc}"
            return
        if isinstance(target, UpdateTarget):
            yield from _update_faults(draft.text, target, value)
        elif isinstance(target, ContradictionTarget):
            yield from _contradiction_faults(draft.text, target, value)
        ruling = self._ruling(draft, target)
        if ruling.answer is RuleAnswer.NO:
            self.denied[target.target_id] = ruling.reason
            yield f"must be worded anew: {ruling.reason}"

    def _ruling(self, draft: _Draft, target: Target) -> Ruling:
        language, value = self.asker.language, self.value_of(draft, target)
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
    if target.slip.variety == "other_value":
        if value is None or not says(text, value):
            yield "must state another value, in `value` and in its text"
        elif target.fact and target.fact.value and value.means_same_as(target.fact.value):
            yield f"states the same value {value.text!r}"


def _wish_faults(draft: WishDraft, told: Iterable[Bullet], written: Iterable[WishDraft]) -> Iterator[str]:
    """Yield what a wish lacks, and the wish with whose condition its own overlaps."""
    if not draft.condition or not draft.requirement:
        yield "lacks its condition or its requirement"
        return
    # The same wish may be said again after years, and not within a stage.
    others = (b for b in told if b.condition and b.requirement != draft.requirement)
    wishes: list[Bullet | WishDraft] = [*others, *written]
    for wish in wishes:
        if overlapping(draft.condition, wish.condition):
            yield (
                f"has the condition {draft.condition!r}, which overlaps with {wish.condition!r}, another wish;"
                " find one of its own"
            )


def _replaced_by(draft: WishDraft, replaceable: Iterable[Bullet]) -> Bullet | None:
    """Return the preference that a wish replaces: the one with its condition, where it asks for something else."""
    own = draft.condition.strip().casefold()
    same = (b for b in replaceable if b.condition.strip().casefold() == own)
    return next((b for b in same if b.requirement != draft.requirement), None)


# --- records of the reply ---------------------------------------------------------------------------------------


def _assemble(written: Sequence[_Draft], task: StageToAugment, remarks: _Remarks) -> Augmented:
    """Return the remarks as bullets, numbered after those of their sub-plan, with the assertions they make."""
    targets, sub_plan = task.targets, task.sub_plan
    key = SubPlanKey(sub_plan.plan_index, sub_plan.sub_plan_index)
    ids = (str(key.bullet(ordinal)) for ordinal in count(len(sub_plan.bullets)))
    target_of = targets.by_id()
    made: list[tuple[Place, Bullet]] = []
    assertions: list[Assertion] = []
    for draft in written:
        target = target_of[draft.target_id]
        place = target.place
        if isinstance(target, UpdateTarget):
            bullet = _referring_to(target, BulletKind.UPDATE, next(ids), draft.text)
            assertions.append(_assertion(bullet, target.fact.fact_id, Stance.UPDATES, remarks.value_of(draft, target)))
        elif isinstance(target, ContradictionTarget):
            bullet = _referring_to(target, BulletKind.CONTRADICTION, next(ids), draft.text)
            bullet = bullet.model_copy(update={"variety": target.slip.variety})
            if target.fact is not None:
                value = remarks.value_of(draft, target) if target.slip.variety == "other_value" else None
                assertions.append(_assertion(bullet, target.fact.fact_id, Stance.DENIES, value))
        else:
            assert isinstance(draft, WishDraft)
            place = _moment(draft, target, sub_plan)
            bullet = _wish(draft, target, next(ids), task.replaceable, place.day)
        made.append((place, bullet))
    told = {b.bullet_id: i for i, b in enumerate(sub_plan.bullets)}
    made.sort(key=lambda one: told[one[0].after])
    return Augmented(
        stage_index=targets.stage_index,
        bullets=tuple(bullet for _, bullet in made),
        after=tuple(place.after for place, _ in made),
        assertions=tuple(assertions),
        refused=targets.refused,
    )


def _with_lines(target: WishTarget, sub_plan: SubPlan) -> WishTarget:
    own = (*target.moments, target.place.after)
    return target.model_copy(
        update={"lines": tuple(i for i, b in enumerate(sub_plan.bullets, 1) if b.bullet_id in own)}
    )


def _moment(draft: WishDraft, target: WishTarget, sub_plan: SubPlan) -> Place:
    """Return the place of a wish that its writer chose; the first one that fits for a line that does not."""
    chosen = sub_plan.bullets[draft.line - 1] if 0 < draft.line <= len(sub_plan.bullets) else None
    if chosen is None or chosen.bullet_id not in target.moments:
        return target.place
    return Place(after=chosen.bullet_id, day=chosen.happens_on)


def _wish(draft: WishDraft, target: WishTarget, bullet_id: str, replaceable: Iterable[Bullet], day: dt.date) -> Bullet:
    former = _replaced_by(draft, replaceable) if target.kind is BulletKind.PREFERENCE else None
    return Bullet(
        bullet_id=bullet_id,
        kind=target.kind,
        narrative=target.narrative,
        topic=former.topic if former else draft.topic,
        text=draft.text,
        happens_on=day,
        condition=former.condition if former else draft.condition,
        requirement=draft.requirement,
        variety=EVOLVED if former else "",
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
