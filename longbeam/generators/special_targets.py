"""Targets of special bullets: what each stage updates, contradicts and asks for from then on, and where it says so.

Code chooses targets and places before any wording is asked for. So no two special bullets supersede the same fact, no
later bullet still states the old value, and a writer knows the day and the bullets around each of its remarks.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from itertools import compress

from longbeam.generators.dependents import dependents_of
from longbeam.generators.ledger import Ledger
from longbeam.generators.mentions import Mentions
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.slips import (
    DENIABLE,
    Pace,
    aftermath,
    is_fresh,
    is_settled,
    is_told_again,
    latest_day,
    scenes_against,
    slips_of,
)
from longbeam.generators.wish_forms import wish_forms
from longbeam.keys import plan_index_of
from longbeam.prompts.calls import (
    ContradictionTarget,
    Dependent,
    InstructionTarget,
    LedgerLine,
    Place,
    Slip,
    UpdateTarget,
)
from longbeam.schemas import (
    AMOUNT_KINDS,
    CLOSING,
    TELLING_KINDS,
    Assertion,
    Bullet,
    BulletKind,
    Plan,
    Record,
    Stance,
    SubPlan,
    Value,
    ValueKind,
)
from longbeam.text import says

POSTPONED_BY_AT_MOST = timedelta(days=14)
SETTLED_DAYS = 5
"""Days that a value stands before an update changes it."""
SETTLED_DATES = 11
"""Dates that nothing changes or denies: temporal reasoning asks for the days between two of them."""
GOING_ON_DAYS = 30
"""Days after the last word on a thing in which it is taken to go on."""
JUST_TOLD = 4
"""Bullets before a slip that are still fresh in mind."""
SUMMABLE_ATTRIBUTES = 5
"""Attributes of most things, whose amounts are left alone: multi-session reasoning adds these up."""
MOST_DEPENDENTS = 2
"""Later bullets that one update may have reworded."""
MOST_RELATED = 6
"""Bullets of other stages about a target's thing that its writer sees."""
FLAT_DENIALS = 3
"""One of so many contradictions denies the whole thing, where one can; the others give another value."""
FLAT_APART_DAYS = 30
"""Least age of what is denied altogether."""
_TYPED = frozenset(ValueKind) - {ValueKind.TEXT, ValueKind.EXPRESSION}
_NAMED = frozenset({ValueKind.NAME, ValueKind.VERSION, ValueKind.TEXT})
"""Kinds of values that say which one a thing is or who does it."""

Option = tuple[Bullet, Assertion]
"""A bullet that a special bullet may refer to, and the assertion in it that would be changed or denied."""


Target = UpdateTarget | ContradictionTarget | InstructionTarget
"""What a special bullet is about."""


class Targets(Record):
    """The targets of one stage's special bullets."""

    stage_index: int
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]
    instructions: tuple[InstructionTarget, ...]

    def by_id(self) -> dict[str, Target]:
        """Return the targets by id: updates, contradictions, instructions."""
        every: list[Target] = [*self.updates, *self.contradictions, *self.instructions]
        return {target.target_id: target for target in every}

    def places(self) -> dict[str, Place]:
        """Return the place of each target, by its id."""
        return {target_id: target.place for target_id, target in self.by_id().items()}


def choose_targets(
    pace: Pace,
    rng_key: str,
    history: PlanHistory,
    labels: Sequence[Sequence[str]],
    recalled: frozenset[str] = frozenset(),
) -> tuple[Targets, ...]:
    """Give every stage its facts to change, statements to contradict and instructions, all different, with places.

    Every second stage looks back into an earlier plan, each further than the one before: evidence that lies years back
    is the hardest to find.

    A fact to change is typed, was set once, days before, is changed or mentioned by no other bullet, its value is
    stated by no later bullet of the same topic, and nothing told before the change depends on it. A statement to
    contradict is one that people misremember (`slips.DENIABLE`), far from its slip. Facts of one topic serve only one
    purpose. A stage that has too few targets of a kind leaves them to the next ones; a plan gets fewer where it
    has no more, and a check of the pool reports it. Instructions take turns over the `labels` of the narratives that
    are not over: those of each stage.

    `recalled`: ids of the facts that bullets come back to without their values, of which the ledger knows nothing. What
    these tell is never denied altogether.
    """
    plan, layout = pace.plan, pace.layout
    plans_behind = [_plan_behind(history.plans, i) for i in range(len(plan.sub_plans))]
    ledger = history.around(plan, [p for p in plans_behind if p is not None])
    choice = _Choice(plan, ledger, pace, labels, recalled)
    forms = wish_forms(f"{rng_key}/instructions", layout.specials)
    asked, changed, denied = 0, 0, 0
    result = []
    for stage_index, behind in enumerate(plans_behind):
        sub_plan, count = plan.sub_plans[stage_index], layout.specials_in(stage_index)
        asked += count
        if not sub_plan.bullets:
            continue  # the stage could not be written
        rng = random.Random(f"{rng_key}/{stage_index}")
        places = _places(sub_plan, count + (asked - changed) + (asked - denied))
        contradictions = choice.contradictions(stage_index, behind, places, rng, asked - denied)
        updates = choice.updates(stage_index, behind, places, rng, asked - changed)
        changed, denied = changed + len(updates), denied + len(contradictions)
        areas = [labels[stage_index][i % len(labels[stage_index])] for i in range(asked - count, asked)]
        rng.shuffle(places)
        wishes = _beside_wishes(sub_plan)
        places.sort(key=lambda place: place.after in wishes)  # two wishes on end would sound like a list
        result.append(
            Targets(
                stage_index=stage_index,
                updates=updates,
                contradictions=contradictions,
                instructions=tuple(
                    InstructionTarget(target_id=f"i{i}", area=area, place=place, form=form)
                    for i, (area, place, form) in enumerate(zip(areas, places, forms[asked - count :], strict=False))
                ),
            )
        )
    return tuple(result)


def start_of_ending(sub_plan: SubPlan) -> int:
    """Return the ordinal of the first of the bullets that end the story; their number where there is none."""
    end = len(sub_plan.bullets)
    while end and sub_plan.bullets[end - 1].variety == CLOSING:
        end -= 1
    return end


def _places(sub_plan: SubPlan, count: int) -> list[Place]:
    """Return places behind bullets of a stage, spread evenly; none lies before the first bullet or after the ending."""
    going_on = sub_plan.bullets[: start_of_ending(sub_plan)] or sub_plan.bullets[:1]
    room = max(len(going_on) - 1, 1)
    ordinals = (min(-(-(i + 1) * room // count), len(going_on) - 1) for i in range(count))
    return [Place(after=going_on[i].bullet_id, day=going_on[i].happens_on) for i in ordinals]


def _beside_wishes(sub_plan: SubPlan) -> frozenset[str]:
    """Return the ids of the preferences of a stage, and of the bullets before them."""
    pairs = zip(("", *(b.bullet_id for b in sub_plan.bullets)), sub_plan.bullets, strict=False)
    return frozenset(i for before, b in pairs if b.kind is BulletKind.PREFERENCE for i in (before, b.bullet_id))


def _plan_behind(earlier: Sequence[Plan], stage_index: int) -> Plan | None:
    """Return the earlier plan that a stage's special bullets look back to; None for every second stage.

    The stages of a plan reach further and further back, the last of them to the beginning.
    """
    if not earlier or stage_index % 2:
        return None
    back = 1 + (stage_index // 2 + 1) * len(earlier) // 5 if len(earlier) > 1 else 1
    return earlier[-min(back, len(earlier))]


def _line(ledger: Ledger, assertion: Assertion) -> LedgerLine:
    bullet = ledger.bullets[ledger.position[assertion.bullet_id]]
    return next(f for f in ledger.briefs([bullet])[0].facts if f.fact_id == assertion.fact_id)


@dataclass(frozen=True)
class _Denial:
    """A slip that a stage may have."""

    option: Option
    slip: Slip
    places: tuple[Place, ...]
    """Where it may stand."""
    is_sure: bool
    """Whether the value was told once and for all; others are settled by the time of the slip."""


@dataclass
class _Choice:
    """A plan's targets while they are chosen, stage by stage."""

    plan: Plan
    ledger: Ledger
    pace: Pace
    labels: Sequence[Sequence[str]]
    """Labels of the narratives that go on in each stage."""
    recalled: frozenset[str] = frozenset()
    """Facts that bullets come back to without their values."""
    taken: set[str] = field(default_factory=set)
    """Facts of the bullets chosen so far."""
    changed: list[tuple[str, Place]] = field(default_factory=list)
    """Topics of the updates so far, and their places."""
    replaced: list[tuple[str, Place]] = field(default_factory=list)
    """... and of those that change a name."""
    slipped: list[tuple[Bullet, Place]] = field(default_factory=list)
    """Bullets of which another value was given so far, and the places of the slips."""
    denied: list[tuple[str, Place]] = field(default_factory=list)
    """Topics of the flat denials so far, and their places."""
    reworded: set[str] = field(default_factory=set)
    """Bullets that depend on a fact chosen so far."""

    def __post_init__(self) -> None:
        # Of the plan alone, before anything is taken: looking for stated values reads every bullet of a topic.
        self._changeable_facts = {a.fact_id for _, a in self._changeable(self.plan.bullets())}
        self._dependents: dict[str, tuple[Dependent, ...]] = {}

    @cached_property
    def mentions(self) -> Mentions:
        """Index of the things that bullets speak of."""
        return Mentions(self.ledger)

    # --- contradictions -------------------------------------------------------------------------------------------

    def contradictions(
        self, stage_index: int, behind: Plan | None, places: list[Place], rng: random.Random, count: int
    ) -> tuple[ContradictionTarget, ...]:
        """Choose what the stage contradicts; the places used are taken out of `places`."""
        found: list[ContradictionTarget] = []
        for i in range(count):
            groups = self._denials(stage_index, behind, places, prefer_flat=len(self.denied) * FLAT_DENIALS <= i)
            drawn = self._one_of([[d.option for d in group] for group in groups], i, count, rng)
            if drawn is None:
                break
            denial = next(d for group in groups for d in group if d.option == drawn)
            place = rng.choice(denial.places)
            places.remove(place)
            bullet, assertion = drawn
            if denial.slip.variety == "never_statement":
                self.denied.append((bullet.topic, place))
            else:
                self.slipped.append((bullet, place))
            found.append(
                ContradictionTarget(
                    target_id=f"c{i}",
                    slip=denial.slip,
                    fact=_line(self.ledger, assertion),
                    bullet=bullet,
                    place=place,
                    related=self._related(bullet, stage_index),
                )
            )
        return tuple(found)

    def _denials(
        self, stage_index: int, behind: Plan | None, places: Sequence[Place], *, prefer_flat: bool
    ) -> list[list[_Denial]]:
        """Return the slips that the stage may have, in groups: the best first.

        What happened years ago is easily misremembered, so it comes first.
        """
        pools = [behind.bullets()] if behind is not None else []
        pools.append(tuple(b for s in self.plan.sub_plans[: stage_index + 1] for b in s.bullets))
        groups: list[list[_Denial]] = []
        for pool in pools:
            every = [d for option in self._lone_assertions(pool) for d in self._slips(option, places)]
            for is_flat in (prefer_flat, not prefer_flat):
                groups.append([d for d in every if d.is_sure and (d.slip.variety == "never_statement") is is_flat])
            groups.append([d for d in every if not d.is_sure])
        return groups

    def _slips(self, option: Option, places: Sequence[Place]) -> Iterator[_Denial]:
        bullet, assertion = option
        if bullet.bullet_id in self.reworded:
            return
        fact = self.ledger.fact[assertion.fact_id]
        slips = [(slip, places) for slip in slips_of(bullet, fact)]
        if late := [p for p in places if is_settled(self.ledger, bullet, assertion, p)]:
            slips.append((DENIABLE[fact.kind], late))
        for slip, possible in slips:
            # The statement alone rules out most places, and costs less to look at.
            far = [p for p in possible if self._is_behind(p, bullet) and self.pace.is_apart(p, (bullet,))]
            if far and (slip.variety == "other_value" or self._is_small(bullet)):
                scenes = scenes_against(slip, bullet, assertion, self.mentions)
                if is_told_again(slip, bullet, scenes, self.mentions):
                    continue
                told = (*scenes, *aftermath(bullet, assertion, self.mentions))
                fitting = tuple(p for p in far if self.pace.is_apart(p, told) and self._fits(slip, bullet, p))
                if fitting:
                    yield _Denial(option, slip, fitting, is_sure=fact.is_fixed or slip.variety == "never_statement")

    def _is_small(self, bullet: Bullet) -> bool:
        """Return whether no other bullet touches a fact of this one or comes back to it, and no money is in it.

        Nobody forgets altogether what they paid for.
        """
        facts = [a.fact_id for a in self.ledger.by_bullet[bullet.bullet_id]]
        return not any(
            i in self.recalled or len(self.ledger.by_fact[i]) > 1 or self.ledger.fact[i].kind is ValueKind.MONEY
            for i in facts
        )

    def _fits(self, slip: Slip, bullet: Bullet, place: Place) -> bool:
        """Return whether the bullets just before do not tell the statement, and the thing is the same one still; what
        is denied altogether is old, too, and no update is near.
        """
        end = self.ledger.position[place.after] + 1
        if is_fresh(bullet, self.ledger.bullets[max(end - JUST_TOLD, 0) : end], self.mentions):
            return False
        if slip.variety == "other_value":
            return not any(self._is_between(bullet, self.ledger.position[i], place) for i in self._replacing(bullet))
        is_old = (place.day - bullet.happens_on).days >= FLAT_APART_DAYS
        return is_old and self._is_far_from(self.changed, bullet.topic, place)

    def _replacing(self, bullet: Bullet) -> Iterator[str]:
        """Yield the ids of bullets at which a bullet's thing becomes another one: another firm has another price."""
        for other in self.ledger.by_topic[bullet.topic]:
            changes = (a for a in self.ledger.by_bullet.get(other.bullet_id, ()) if a.stance is Stance.UPDATES)
            if any(self.ledger.fact[a.fact_id].kind in _NAMED for a in changes):
                yield other.bullet_id
        yield from (place.after for topic, place in self.replaced if topic == bullet.topic)

    def _is_between(self, bullet: Bullet, position: int, place: Place) -> bool:
        """Return whether a position lies behind a statement and before the place of a slip about it."""
        return self.ledger.position[bullet.bullet_id] < position <= self.ledger.position[place.after]

    def _is_far_from(self, told: Sequence[tuple[str, Place]], topic: str, place: Place) -> bool:
        return all(self.pace.is_far(place, there.after, there) for other, there in told if other == topic)

    # --- updates --------------------------------------------------------------------------------------------------

    def updates(
        self, stage_index: int, behind: Plan | None, places: list[Place], rng: random.Random, count: int
    ) -> tuple[UpdateTarget, ...]:
        """Choose what the stage updates; the places used are taken out of `places`."""
        found: list[UpdateTarget] = []
        groups = self._update_groups(stage_index, behind, places[-1] if places else None)
        for i in range(count):
            fitting_at = {o[1].fact_id: self._update_places(o, places) for group in groups for o in group}
            live_at = {o[1].fact_id: self._live_places(o, fitting_at) for group in groups for o in group}
            live = [[o for o in group if live_at[o[1].fact_id]] for group in groups]
            fitting = [[o for o in group if fitting_at[o[1].fact_id]] for group in groups]
            lone = [[o for o in group if not self._behind(o)] for group in (*live, *fitting)]
            ordered = [*lone, *live, *fitting]
            # A narrative that is over has no news.
            going_on = [[o for o in group if self._goes_on_in(stage_index, o[0])] for group in ordered]
            drawn = self._one_of([*going_on, *ordered], i, count, rng)
            if drawn is None:
                break
            bullet, assertion = drawn
            place = rng.choice(live_at[assertion.fact_id] or fitting_at[assertion.fact_id])
            places.remove(place)
            self.changed.append((bullet.topic, place))
            if self.ledger.fact[assertion.fact_id].kind in _NAMED:
                self.replaced.append((bullet.topic, place))
            dependents = self._behind(drawn)
            self.reworded.update(d.bullet.bullet_id for d in dependents)
            self.taken.update(line.fact_id for d in dependents for line in (*d.stale, *d.kept))
            found.append(
                UpdateTarget(
                    target_id=f"u{i}",
                    fact=_line(self.ledger, assertion),
                    bullet=bullet,
                    place=place,
                    dependents=dependents,
                    related=self._related(bullet, stage_index),
                )
            )
        return tuple(found)

    def _update_groups(self, stage_index: int, behind: Plan | None, last: Place | None) -> list[list[Option]]:
        """Return what the stage can update: values of years ago first, then the plan's own."""
        groups: list[list[Option]] = []
        if last is None:
            return groups
        if behind is not None:
            # People may still have a value years later; a date of years ago does not change any more.
            every = [
                (b, a)
                for b, a in self._changeable(behind.bullets())
                if self.ledger.fact[a.fact_id].kind is not ValueKind.DATE
            ]
            groups += [
                [(b, a) for b, a in every if b.kind is BulletKind.RELATIONSHIP],
                [(b, a) for b, a in every if b.kind is not BulletKind.RELATIONSHIP],
            ]
        reachable = (b for s in self.plan.sub_plans[: stage_index + 1] for b in s.bullets if self._is_behind(last, b))
        every = [(b, a) for b, a in self._lone_assertions(reachable) if a.fact_id in self._changeable_facts]
        current = [(b, a) for b, a in every if a.value and not self._is_over(stage_index, b, a.value)]
        # Best is a topic that later stages go on with: within this stage its end may come before the update.
        lasting = [(b, a) for b, a in current if self._goes_on_after(stage_index, b)]
        undated = [(b, a) for b, a in every if a.value and a.value.date is None]
        return groups + self._earlier_first([lasting, current, undated], stage_index)

    def _update_places(self, option: Option, places: Sequence[Place]) -> list[Place]:
        """Return where a fact can be changed: some days after it was set, and after nothing that depends on it."""
        bullet, assertion = option
        if assertion.fact_id in self.taken or bullet.bullet_id in self.reworded:
            return []
        if assertion.fact_id not in self._dependents:
            self._dependents[assertion.fact_id] = dependents_of(self.mentions, bullet, assertion)
        dependents = self._dependents[assertion.fact_id]
        if not all(self._can_reword(d) for d in dependents) or len(dependents) > MOST_DEPENDENTS:
            return []
        is_named = self.ledger.fact[assertion.fact_id].kind in _NAMED
        slips = [(said, there) for said, there in self.slipped if is_named and said.topic == bullet.topic]
        return [
            place
            for place in places
            if self._is_behind(place, bullet)
            and not any(self._is_between(said, self.ledger.position[place.after], there) for said, there in slips)
            and (place.day - bullet.happens_on).days >= SETTLED_DAYS
            and not any(self._is_behind(place, d.bullet) for d in dependents)
            and not self.mentions.has_ended(bullet, self.ledger.position[place.after])
            and all(
                self.pace.is_far(place, there.after, there) for topic, there in self.denied if topic == bullet.topic
            )
        ]

    def _live_places(self, option: Option, fitting_at: Mapping[str, list[Place]]) -> list[Place]:
        """Return the fitting places at which a thing goes on.

        It seems over a month after its last word, and behind the last of its days.
        """
        bullet, assertion = option
        end = max(b.happens_on for b in self._scenes(bullet)) + timedelta(days=GOING_ON_DAYS)
        if (latest := latest_day(self.ledger, bullet)) is not None:
            end = min(end, latest)
        return [p for p in fitting_at[assertion.fact_id] if p.day <= end]

    def _scenes(self, bullet: Bullet) -> list[Bullet]:
        """Return the bullets about a bullet's thing, itself included, but for those that end the story."""
        others = [b for b in self.mentions.of(bullet.topic) if b.variety != CLOSING and b.bullet_id != bullet.bullet_id]
        return [bullet, *others]

    def _behind(self, option: Option) -> tuple[Dependent, ...]:
        return self._dependents.get(option[1].fact_id, ())

    def _can_reword(self, dependent: Dependent) -> bool:
        """Return whether a bullet of this plan can lose what a change makes wrong: nothing else touches its facts."""
        bullet, lines = dependent.bullet, (*dependent.stale, *dependent.kept)
        stances = {a.stance for a in self.ledger.by_bullet.get(bullet.bullet_id, ())}
        return (
            bullet.bullet_id not in self.reworded
            and self.plan.plan_index == plan_index_of(bullet.bullet_id)
            and stances <= {Stance.SETS}
            and not any(line.fact_id in self.taken or len(self.ledger.by_fact[line.fact_id]) > 1 for line in lines)
        )

    # --- options --------------------------------------------------------------------------------------------------

    def _is_behind(self, place: Place, bullet: Bullet) -> bool:
        """Return whether a bullet is told before a place."""
        position = self.ledger.position
        return position[bullet.bullet_id] <= position[place.after]

    def _related(self, bullet: Bullet, stage_index: int) -> tuple[Bullet, ...]:
        """Return the bullets about the same thing outside of the stage, the newest ones if there are many."""
        own = {b.bullet_id for b in self.plan.sub_plans[stage_index].bullets}
        others = [b for b in self.mentions.of(bullet.topic) if b.bullet_id not in {*own, bullet.bullet_id}]
        return tuple(others[-MOST_RELATED:])

    def _earlier_first(self, groups: Sequence[list[Option]], stage_index: int) -> list[list[Option]]:
        """Put each group's options of earlier stages before those of the stage itself: distant evidence is harder."""
        own = {b.bullet_id for b in self.plan.sub_plans[stage_index].bullets}
        earlier = [[(b, a) for b, a in group if b.bullet_id not in own] for group in groups]
        return earlier + [[(b, a) for b, a in group if b.bullet_id in own] for group in groups]

    def _lone_assertions(self, bullets: Iterable[Bullet]) -> list[Option]:
        """Return the assertions that set a fact which no other assertion touches."""
        options = []
        for bullet in bullets:
            if bullet.kind not in TELLING_KINDS:
                continue
            for assertion in self.ledger.by_bullet.get(bullet.bullet_id, ()):
                if assertion.fact_id in self.taken or assertion.value is None or assertion.stance is not Stance.SETS:
                    continue
                if len(self.ledger.by_fact[assertion.fact_id]) == 1:
                    options.append((bullet, assertion))
        return options

    def _changeable(self, bullets: Iterable[Bullet]) -> list[Option]:
        """Return typed facts that are not fixed and whose values no later bullet states."""
        return [
            (b, a)
            for b, a in self._lone_assertions(bullets)
            if not self.ledger.fact[a.fact_id].is_fixed
            and self.ledger.fact[a.fact_id].kind in _TYPED
            and a.value is not None
            and not self._is_stated_again(b, a.value)
        ]

    def _is_over(self, stage_index: int, bullet: Bullet, value: Value) -> bool:
        """Return whether a value can no longer change in this stage: its day has passed, or its topic has ended."""
        stage, topic = self.plan.sub_plans[stage_index], self.ledger.by_topic[bullet.topic]
        if value.date is not None:
            # A postponed day must not overtake a later bullet of its topic.
            latest, end = value.date + POSTPONED_BY_AT_MOST, stage.bullets[-1].happens_on
            if value.date <= end or latest > self.ledger.bullets[-1].happens_on:
                return True
            if any(end <= b.happens_on <= latest for b in topic):
                return True
        open_bullets = [b for b in topic if b.variety != CLOSING]
        return stage_index > 0 and open_bullets[-1].happens_on < stage.anchor

    def _goes_on_in(self, stage_index: int, bullet: Bullet) -> bool:
        """Return whether the narrative of a bullet goes on in a stage; those of earlier plans may come back."""
        is_own = plan_index_of(bullet.bullet_id) == self.plan.plan_index
        return not is_own or bullet.narrative in self.labels[stage_index]

    def _goes_on_after(self, stage_index: int, bullet: Bullet) -> bool:
        position = self.ledger.position
        end = position[self.plan.sub_plans[stage_index].bullets[-1].bullet_id]
        topic = self.ledger.by_topic[bullet.topic]
        return any(b.variety != CLOSING and position[b.bullet_id] > end for b in topic)

    def _is_stated_again(self, bullet: Bullet, value: Value) -> bool:
        position = self.ledger.position
        topic = self.ledger.by_topic[bullet.topic]
        return any(position[b.bullet_id] > position[bullet.bullet_id] and says(b.text, value) for b in topic)

    # --- drawing --------------------------------------------------------------------------------------------------

    def _one_of(self, groups: Iterable[Sequence[Option]], part: int, count: int, rng: random.Random) -> Option | None:
        """Draw the next of `count` options from the first group that has any; its bullet's facts become taken.

        Each is of another stretch of the story, so that evidence does not crowd at its beginning.
        """
        for options in groups:
            free = [(b, a) for b, a in options if a.fact_id not in self.taken]
            if not free:
                continue
            start = len(free) * part // count
            end = max(len(free) * (part + 1) // count, start + 1)
            spared = self._spared()
            # A denial of a bullet leaves all its facts in doubt: a bullet without any spared fact is the best.
            harmless = [not spared & {o.fact_id for o in self.ledger.by_bullet[b.bullet_id]} for b, _ in free]
            sparing = [a.fact_id not in spared for _, a in free]
            pools = (
                compress(free[start:end], harmless[start:end]),
                compress(free, harmless),
                compress(free[start:end], sparing[start:end]),
                compress(free, sparing),
                free[start:end],
            )
            bullet, assertion = rng.choice(next(pool for pool in map(list, pools) if pool))
            self.taken.update(a.fact_id for a in self.ledger.by_bullet[bullet.bullet_id])
            return bullet, assertion
        return None

    def _spared(self) -> set[str]:
        """Return the facts that other abilities need: the last untouched dates, and the last summable amounts."""
        lone = [
            f
            for f in self.plan.facts
            if f.fact_id not in self.taken and len(self.ledger.by_fact.get(f.fact_id, ())) == 1
        ]
        dates = [f.fact_id for f in lone if f.kind is ValueKind.DATE]
        spared = set(dates) if len(dates) <= SETTLED_DATES else set()
        by_attribute: dict[str, list[str]] = {}
        for fact in lone:
            if fact.kind in AMOUNT_KINDS:
                by_attribute.setdefault(fact.attribute.casefold(), []).append(fact.fact_id)
        summable = sorted((ids for ids in by_attribute.values() if len(ids) >= 2), key=len, reverse=True)
        spared.update(i for ids in summable[:SUMMABLE_ATTRIBUTES] for i in ids)
        return spared
