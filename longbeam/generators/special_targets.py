"""Targets of special bullets: which facts each stage updates, and which statements it contradicts.

Code chooses the targets before any wording is asked for, so that no two special bullets supersede the same fact and no
later bullet still states the old value.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress

from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import CHANGING, PlanHistory
from longbeam.prompts.calls.plans import ContradictionTarget, LedgerLine, UpdateTarget
from longbeam.schemas.base import Record
from longbeam.schemas.plans import CLOSING, Assertion, Bullet, BulletKind, Plan, Stance, SubPlan, Value, ValueKind
from longbeam.text.matching import says

VARIETIES = ("never_statement", "other_value", "not_yet")
"""Varieties of contradictions."""
POSTPONED_BY_AT_MOST = dt.timedelta(days=14)
SETTLED_DATES = 11
"""Dates that nothing changes or denies: temporal reasoning asks for the days between two of them."""
SUMMABLE_ATTRIBUTES = 5
"""Attributes of most things, whose amounts are left alone: multi-session reasoning adds these up."""
_TYPED = frozenset(ValueKind) - {ValueKind.TEXT, ValueKind.EXPRESSION}

Option = tuple[Bullet, Assertion]
"""A bullet that a special bullet may refer to, and the assertion in it that would be changed or denied."""


class Targets(Record):
    """The targets of one stage's special bullets."""

    stage_index: int
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]


def choose_targets(plan: Plan, per_kind: int, rng_key: str, history: PlanHistory) -> tuple[Targets, ...]:
    """Give every stage `per_kind` facts to change and statements to contradict, all different.

    Every second stage looks back into an earlier plan, each further than the one before: evidence that lies years back
    is the hardest to find.

    A fact to change is typed, was set once before the end of the stage, is changed or mentioned by no other
    bullet, and its value is stated by no later bullet of the same topic. A statement to contradict is an event with
    a fixed fact, or with any fact that no other bullet touches. Facts of one topic serve only one purpose.
    A stage gets fewer targets where the plan has no more: a check of the pool reports it.
    """
    plans_behind = [_plan_behind(history.plans, i) for i in range(len(plan.sub_plans))]
    ledger = history.around(plan, [p for p in plans_behind if p is not None])
    choice = _Choice(plan, ledger)
    result = []
    for stage_index, behind in enumerate(plans_behind):
        rng = random.Random(f"{rng_key}/{stage_index}")
        updates = choice.draw(choice.update_groups(stage_index, behind), per_kind, rng)
        contradictions = choice.draw(choice.denial_groups(stage_index, behind), per_kind, rng)
        result.append(
            Targets(
                stage_index=stage_index,
                updates=tuple(
                    UpdateTarget(target_id=f"u{i}", fact=_line(ledger, a), bullet=b) for i, (b, a) in enumerate(updates)
                ),
                contradictions=tuple(
                    ContradictionTarget(
                        target_id=f"c{i}",
                        variety=VARIETIES[(stage_index * per_kind + i) % len(VARIETIES)],
                        fact=_line(ledger, a),
                        bullet=b,
                    )
                    for i, (b, a) in enumerate(contradictions)
                ),
            )
        )
    return tuple(result)


def first_place(sub_plan: SubPlan) -> int:
    """Return the first place of special bullets that refer to a bullet of their own sub-plan: after three fifths."""
    return max(1, len(sub_plan.bullets) * 3 // 5)


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


@dataclass
class _Choice:
    """A plan's targets while they are chosen, stage by stage."""

    plan: Plan
    ledger: Ledger
    taken: set[str] = field(default_factory=set)
    """Facts of the bullets chosen so far."""

    def __post_init__(self) -> None:
        # Of the plan alone, before anything is taken: looking for stated values reads every bullet of a topic.
        self._changeable_facts = {a.fact_id for _, a in self._changeable(self.plan.bullets())}

    # --- options, in groups: the best first -----------------------------------------------------------------------

    def update_groups(self, stage_index: int, behind: Plan | None) -> list[list[Option]]:
        """Return what the stage can update: values of years ago first, then the plan's own."""
        groups: list[list[Option]] = []
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
        lone = self._lone_assertions(self._reachable(stage_index))
        every = [(b, a) for b, a in lone if a.fact_id in self._changeable_facts]
        current = [(b, a) for b, a in every if a.value and not self._is_over(stage_index, b, a.value)]
        # Best is a topic that later stages go on with: within this stage its end may come before the update.
        lasting = [(b, a) for b, a in current if self._goes_on_after(stage_index, b)]
        undated = [(b, a) for b, a in every if a.value and a.value.date is None]
        return groups + self._earlier_first([lasting, current, undated], stage_index)

    def denial_groups(self, stage_index: int, behind: Plan | None) -> list[list[Option]]:
        """Return what the stage can contradict: events that happened once; where these are too few, any event."""
        groups: list[list[Option]] = []
        if behind is not None:  # what happened years ago is easily misremembered
            lone = self._lone_assertions(behind.bullets())
            groups.append([(b, a) for b, a in lone if self.ledger.fact[a.fact_id].is_fixed])
        lone = self._lone_assertions(self._reachable(stage_index))
        fixed = [(b, a) for b, a in lone if self.ledger.fact[a.fact_id].is_fixed]
        events = [(b, a) for b, a in lone if b.kind is BulletKind.EVENT]
        return groups + self._earlier_first([fixed, events], stage_index)

    def _earlier_first(self, groups: Sequence[list[Option]], stage_index: int) -> list[list[Option]]:
        """Put each group's options of earlier stages before those of the stage itself: distant evidence is harder."""
        own = {b.bullet_id for b in self.plan.sub_plans[stage_index].bullets}
        earlier = [[(b, a) for b, a in group if b.bullet_id not in own] for group in groups]
        return earlier + [[(b, a) for b, a in group if b.bullet_id in own] for group in groups]

    def _reachable(self, stage_index: int) -> list[Bullet]:
        """Return the bullets of earlier stages, and of the first part of the stage: special bullets come after it."""
        own = self.plan.sub_plans[stage_index]
        earlier = [b for s in self.plan.sub_plans[:stage_index] for b in s.bullets]
        return earlier + list(own.bullets[: first_place(own)])

    def _lone_assertions(self, bullets: Iterable[Bullet]) -> list[Option]:
        """Return the assertions that set a fact which no other assertion touches."""
        options = []
        for bullet in bullets:
            if bullet.kind not in CHANGING:
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

    def draw(self, groups: Iterable[list[Option]], count: int, rng: random.Random) -> list[Option]:
        """Draw up to `count` options, as many as possible of each group in turn; their bullets' facts become taken."""
        drawn: list[Option] = []
        for options in groups:
            drawn += self._draw_from(options, count - len(drawn), rng)
        return drawn

    def _draw_from(self, options: list[Option], count: int, rng: random.Random) -> list[Option]:
        """Draw options of different bullets, spread over the story, and return them in its order."""
        drawn: list[Option] = []
        for part in range(count):
            free = [(b, a) for b, a in options if a.fact_id not in self.taken]
            if not free:
                break
            # One from each stretch of the story, so that evidence does not crowd at its beginning.
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
            drawn.append((bullet, assertion))
            self.taken.update(a.fact_id for a in self.ledger.by_bullet[bullet.bullet_id])
        return sorted(drawn, key=lambda option: self.ledger.position[option[0].bullet_id])

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
            if fact.kind in {ValueKind.MONEY, ValueKind.NUMBER, ValueKind.DURATION}:
                by_attribute.setdefault(fact.attribute.casefold(), []).append(fact.fact_id)
        summable = sorted((ids for ids in by_attribute.values() if len(ids) >= 2), key=len, reverse=True)
        spared.update(i for ids in summable[:SUMMABLE_ATTRIBUTES] for i in ids)
        return spared
