"""The one chooser: which facts a plan changes, what its user misremembers, and what they wish from then on, and where.

Every option is a fact (or an aspect of the story) and a place. Conditions with a name rule options out, and the reason
is kept for whoever asks (`longbeam show NAME --plan`); of the others the one with the highest score is taken, again and
again. Places are drawn before anything is worded, so a writer knows the day and the bullets around each remark.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from longbeam.generators.augmented import PassedOver, Targets
from longbeam.generators.layout import Layout, Pace, SpecialCounts, start_of_ending
from longbeam.generators.ledger import Ledger
from longbeam.generators.mentions import Mentions
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.plan_seeds import SELF
from longbeam.generators.quotas import UNTOUCHED, Quotas
from longbeam.generators.tuning import PLANNING
from longbeam.keys import plan_index_of
from longbeam.prompts.calls import (
    ContradictionKind,
    ContradictionTarget,
    Figure,
    LedgerLine,
    Place,
    StoryEvent,
    UpdateTarget,
    Weight,
    WishTarget,
)
from longbeam.schemas import (
    AMOUNT_KINDS,
    CLOSING,
    TELLING_KINDS,
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Plan,
    Stance,
    Value,
    ValueKind,
)
from longbeam.text import says

POSTPONED_BY_AT_MOST = dt.timedelta(days=14)
DENIABLE = {
    ValueKind.DATE: ContradictionKind.DAY,
    ValueKind.DURATION: ContradictionKind.LENGTH,
    ValueKind.NUMBER: ContradictionKind.COUNT,
    ValueKind.MONEY: ContradictionKind.PRICE,
    ValueKind.RATIO: ContradictionKind.SHARE,
    ValueKind.NAME: ContradictionKind.NAME,
    ValueKind.VERSION: ContradictionKind.NAME,
}
"""Slips about a value."""
_TYPED = frozenset(ValueKind) - {ValueKind.TEXT, ValueKind.EXPRESSION}
_NAMED = frozenset({ValueKind.NAME, ValueKind.VERSION, ValueKind.TEXT})
"""Kinds of values that say which one a thing is or who does it."""
UPDATE, CONTRADICTION, WISH = "update", "slip", "wish"


@dataclass(frozen=True)
class Choices:
    """Everything that targets are chosen from."""

    plan: Plan
    """The plan without special bullets."""
    layout: Layout
    history: PlanHistory
    event_of: Mapping[str, StoryEvent]
    """Event that each of the plan's bullets tells."""
    ends: Mapping[str, StoryEvent]
    """Event that ended the matter of each fact."""
    quotas: Quotas
    rng_key: str


@dataclass(frozen=True)
class _Option:
    """One use of a fact at a place."""

    bullet: Bullet
    assertion: Assertion
    place: Place
    kind: ContradictionKind | None
    score: float
    is_back: bool
    """Whether the statement is one of an earlier plan."""
    share: float
    """Part of the story that lies before the statement."""


@dataclass(frozen=True)
class _Weights:
    """Points that depend on the options chosen so far."""

    part: float
    """Share of the options that is chosen."""
    of_a_back: float
    of_a_denial: float
    of_a_stage: Mapping[int, float]


def choose_targets(given: Choices) -> tuple[Targets, ...]:
    """Return the targets of each stage that has bullets: all different, each at a place of its own.

    A plan with too few options gets fewer targets, and a check of the pool reports it.
    """
    return _Chooser(given).chosen()


@dataclass
class _Chooser:
    given: Choices
    taken: set[str] = field(default_factory=set)
    """Facts of the bullets chosen so far."""
    used: set[str] = field(default_factory=set)
    """Bullets behind which something is said already."""
    refused: dict[tuple[str, str], str] = field(default_factory=dict)
    changed: list[tuple[str, Place]] = field(default_factory=list)
    """Topics of the updates so far that change a name, and their places."""
    denied: list[tuple[Bullet, Place]] = field(default_factory=list)

    def __post_init__(self) -> None:
        plan, history = self.given.plan, self.given.history
        self.rng = random.Random(f"{self.given.rng_key}/choices")
        self.pace = Pace(plan, self.given.layout)
        self.behind = {i: p for i in range(len(plan.sub_plans)) if (p := _plan_behind(history.plans, i)) is not None}
        self.ledger = history.around(plan, list({p.plan_index: p for p in self.behind.values()}.values()))
        self.mentions = Mentions(self.ledger)
        self.places = {i: self._places_of(i) for i in range(len(plan.sub_plans)) if plan.sub_plans[i].bullets}
        self.stage_of = {p.after: i for i, places in self.places.items() for p in places}
        self.kept_for_others = self._kept_for_others()

    def chosen(self) -> tuple[Targets, ...]:
        counts = self.given.layout.counts
        # Slips first: they need the greatest distance. Wishes begin at one place; updates can wait.
        contradictions = self._choose(CONTRADICTION, counts.contradictions)
        wishes = self._wishes(counts)
        updates = self._choose(UPDATE, counts.updates)
        refused = tuple(PassedOver(use=use, of=of, reason=reason) for (use, of), reason in self.refused.items())
        targets: list[Targets] = []
        for stage_index in self.places:
            own_updates = [o for o in updates if self.stage_of[o.place.after] == stage_index]
            own_contradictions = [o for o in contradictions if self.stage_of[o.place.after] == stage_index]
            targets.append(
                Targets(
                    stage_index=stage_index,
                    updates=tuple(self._update(i, o) for i, o in enumerate(own_updates)),
                    contradictions=tuple(self._contradiction(i, o) for i, o in enumerate(own_contradictions)),
                    wishes=tuple(w for w in wishes if self.stage_of[w.place.after] == stage_index),
                    refused=() if targets else refused,
                )
            )
        return tuple(targets)

    # --- places -----------------------------------------------------------------------------------------------------

    def _places_of(self, stage_index: int) -> list[Place]:
        """Return places behind bullets of a stage, spread evenly; none is behind its first bullet or in the ending."""
        sub_plan = self.given.plan.sub_plans[stage_index]
        going_on = sub_plan.bullets[1 : start_of_ending(sub_plan)] or sub_plan.bullets[:1]
        count = min(PLANNING.places_per_special * 4 * max(self.given.layout.specials_in(stage_index), 1), len(going_on))
        ordinals = dict.fromkeys(i * len(going_on) // count for i in range(count))
        return [Place(after=going_on[i].bullet_id, day=going_on[i].happens_on) for i in ordinals]

    def _position(self, place: Place) -> int:
        return self.ledger.position[place.after]

    # --- updates and contradictions ---------------------------------------------------------------------------------

    def _choose(self, use: str, count: int) -> list[_Option]:
        """Return `count` options of a use, each the best one left when it is taken."""
        options = self._options(use)
        chosen: list[_Option] = []
        while len(chosen) < count:
            options = [o for o in options if self._is_free(o, use)]
            if not options:
                break
            back = sum(o.is_back for o in chosen)
            flat = sum(o.kind is ContradictionKind.ONCE for o in chosen)
            weights = _Weights(
                part=len(chosen) / count,
                of_a_back=3.0 * (back < PLANNING.looking_back * (len(chosen) + 1)),
                of_a_denial=2.0 * (flat * PLANNING.flat_denials <= len(chosen)),
                of_a_stage={
                    i: len(self.places) / count * sum(self.stage_of[o.place.after] == i for o in chosen)
                    for i in self.places
                },
            )
            best = max(options, key=lambda o: o.score + self._weighed(o, weights))
            chosen.append(best)
            self._take(best, use)
        return chosen

    def _weighed(self, option: _Option, weights: _Weights) -> float:
        """Return the points of an option that follow from what was chosen before it."""
        return (
            weights.of_a_back * option.is_back
            + weights.of_a_denial * (option.kind is ContradictionKind.ONCE)
            # Evidence and remarks are spread over the story.
            - abs(option.share - weights.part)
            - weights.of_a_stage[self.stage_of[option.place.after]]
        )

    def _is_free(self, option: _Option, use: str) -> bool:
        is_taken = option.assertion.fact_id in self.taken or option.place.after in self.used
        return not is_taken and self._goes_with(option, use)

    def _take(self, option: _Option, use: str) -> None:
        self.taken.update(a.fact_id for a in self.ledger.by_bullet[option.bullet.bullet_id])
        self.used.add(option.place.after)
        if use == CONTRADICTION:
            self.denied.append((option.bullet, option.place))
        elif self.ledger.fact[option.assertion.fact_id].kind in _NAMED:
            self.changed.append((option.bullet.topic, option.place))

    def _goes_with(self, option: _Option, use: str) -> bool:
        """Return whether no name changes between a statement and its contradiction: another firm has another price."""
        if use == CONTRADICTION or self.ledger.fact[option.assertion.fact_id].kind not in _NAMED:
            return True
        at = self._position(option.place)
        return not any(
            bullet.topic == option.bullet.topic and self.ledger.position[bullet.bullet_id] < at <= self._position(place)
            for bullet, place in self.denied
        )

    def _options(self, use: str) -> list[_Option]:
        """Return the options of a use; of a fact without any, the reason is kept."""
        options: list[_Option] = []
        for bullet, assertion, places in self._pool():
            reason = self._fact_reason(use, bullet, assertion)
            found: list[_Option] = []
            is_back = plan_index_of(bullet.bullet_id) != self.given.plan.plan_index
            share = self.ledger.position[bullet.bullet_id] / len(self.ledger.bullets)
            for place in places if not reason else ():
                for kind in self._contradictions_at(bullet, assertion, place) if use == CONTRADICTION else (None,):
                    if not (reason := self._place_reason(use, bullet, assertion, place, kind)):
                        score = self._score(use, bullet, assertion, place, kind)
                        found.append(_Option(bullet, assertion, place, kind, score, is_back, share))
            if not found:
                self.refused[use, assertion.fact_id] = reason or "no place of the plan lies behind it"
            options += found
        return options

    def _pool(self) -> Iterator[tuple[Bullet, Assertion, list[Place]]]:
        """Yield the statements that may be changed or denied, with the places that may do so."""
        every = [p for places in self.places.values() for p in places]
        of_plan: dict[int, list[Place]] = defaultdict(list)
        for stage_index, plan in self.behind.items():
            of_plan[plan.plan_index] += self.places.get(stage_index, [])
        for bullet in self.ledger.bullets:
            plan_index = plan_index_of(bullet.bullet_id)
            places = every if plan_index == self.given.plan.plan_index else of_plan.get(plan_index, [])
            if bullet.kind not in TELLING_KINDS or not places:
                continue
            first = self.ledger.position[bullet.bullet_id]
            behind = [p for p in places if self._position(p) > first]
            for assertion in self.ledger.by_bullet.get(bullet.bullet_id, ()):
                yield bullet, assertion, behind

    def _fact_reason(self, use: str, bullet: Bullet, assertion: Assertion) -> str:
        """Return the condition that rules a fact out wherever it would be used; empty if none does."""
        fact, value = self.ledger.fact[assertion.fact_id], assertion.value
        event = self.given.event_of.get(bullet.bullet_id)
        if value is None or assertion.stance is not Stance.SETS or len(self.ledger.by_fact[fact.fact_id]) > 1:
            return "told or changed by other bullets, too"
        if fact.side_story or fact.subject.casefold() in SELF:
            return "no matter of the story"
        if bullet.variety == CLOSING:
            return "part of the ending"
        if fact.kind not in _TYPED or (use == CONTRADICTION and fact.kind not in DENIABLE):
            return f"a {fact.kind.value}, which is not compared"
        if self._is_said_again(use, bullet, value):
            return "its value is said again"
        if event is not None and event.figure is Figure.NONE and value.date is None:
            return "its writer has no figure in it"
        if use == UPDATE:
            if fact.is_fixed:
                return "happened once"
            if event is not None and event.figure is Figure.STAYS and value.date is None:
                return "its writer says that it stays"
            if depending := self._reckoned_with(bullet, fact, value):
                return f"{depending} is reckoned with it"
        elif event is not None and event.weight is Weight.UNFORGETTABLE:
            return "nobody forgets it"
        return ""

    def _place_reason(
        self, use: str, bullet: Bullet, assertion: Assertion, place: Place, kind: ContradictionKind | None
    ) -> str:
        """Return the condition that rules a fact out at a place; empty if none does."""
        value = assertion.value
        assert value is not None
        days = (place.day - bullet.happens_on).days
        end = self._end_of(assertion.fact_id)
        if use == UPDATE:
            if days < PLANNING.settled_days:
                return f"changes less than {PLANNING.settled_days} days behind it"
            if self._position(place) >= end:
                return "its matter is over by then"
            if plan_index_of(bullet.bullet_id) != self.given.plan.plan_index and value.date is not None:
                return "a day of an earlier plan"
            return self._day_reason(bullet, value, place)
        if kind is None:
            return "it may have changed by then"
        apart = PLANNING.flat_apart_days if kind is ContradictionKind.ONCE else PLANNING.apart_days
        if days < apart or self.pace.messages_between(place.after, bullet.bullet_id) < PLANNING.apart_messages:
            return f"nearer than {apart} days or {PLANNING.apart_messages} messages"
        at = self._position(place)
        if any(b.topic == bullet.topic for b in self.ledger.bullets[max(at + 1 - PLANNING.just_told, 0) : at + 1]):
            return "its thing was just told of"
        if self._is_replaced(bullet, at):
            return "it is another one by then"
        return ""

    def _day_reason(self, bullet: Bullet, value: Value, place: Place) -> str:
        """Return why an announced day cannot move at a place: it is past, or what follows it is told already."""
        if value.date is None:
            return ""
        if value.date <= place.day:
            return "the day is past by then"
        latest = value.date + POSTPONED_BY_AT_MOST
        later = (
            b for b in self.ledger.by_topic[bullet.topic] if self.ledger.position[b.bullet_id] > self._position(place)
        )
        if any(b.happens_on <= latest for b in later) or latest > self.ledger.bullets[-1].happens_on:
            return "what follows the day could not wait"
        return ""

    def _contradictions_at(
        self, bullet: Bullet, assertion: Assertion, place: Place
    ) -> Iterator[ContradictionKind | None]:
        """Yield the contradictions of a statement at a place; None alone where another value could be true by then."""
        fact, value = self.ledger.fact[assertion.fact_id], assertion.value
        event = self.given.event_of.get(bullet.bullet_id)
        is_small = event is not None and self._is_small(bullet, event)
        if is_small:
            yield ContradictionKind.ONCE
        ended = self._end_of(fact.fact_id)
        is_past = value is not None and value.date is not None and value.date < place.day
        if fact.is_fixed or is_past or ended <= self._position(place):
            yield DENIABLE[fact.kind]
        elif not is_small:
            yield None

    def _is_small(self, bullet: Bullet, event: StoryEvent) -> bool:
        """Return whether an event is a trifle of the user's own, of which nothing else tells: no money is in it."""
        if event.weight is not Weight.TRIFLE or event.opens or event.kind is not BulletKind.EVENT:
            return False
        own = self.ledger.by_bullet[bullet.bullet_id]
        is_alone = all(len(self.ledger.by_fact[a.fact_id]) == 1 for a in own)
        return is_alone and all(self.ledger.fact[a.fact_id].kind is not ValueKind.MONEY for a in own)

    def _end_of(self, fact_id: str) -> int:
        """Return the position at which the matter of a fact is over: behind all bullets if it goes on.

        An event that has no bullet, because nobody could word it, ends it all the same on its day.
        """
        event, bullets = self.given.ends.get(fact_id), self.ledger.bullets
        if event is None:
            return len(bullets)
        if (bullet_id := self._bullet_of.get(event.event_id)) is not None:
            return self.ledger.position[bullet_id]
        return next((i for i, b in enumerate(bullets) if event.day and b.happens_on >= event.day), len(bullets))

    @cached_property
    def _bullet_of(self) -> dict[str, str]:
        return {event.event_id: bullet_id for bullet_id, event in self.given.event_of.items()}

    def _is_said_again(self, use: str, bullet: Bullet, value: Value) -> bool:
        """Return whether another bullet about a thing, or that names it, says its value: for an update a later one.

        Nobody gets wrong what they have told twice.
        """
        first = self.ledger.position[bullet.bullet_id]
        about = (*self.mentions.of(bullet.topic), *self._closing.get(bullet.topic, ()))
        others = (b for b in about if b.bullet_id != bullet.bullet_id)
        return any(
            (use == CONTRADICTION or self.ledger.position[b.bullet_id] > first) and says(b.text, value) for b in others
        )

    @cached_property
    def _closing(self) -> dict[str, list[Bullet]]:
        """Bullets that close each matter: they pay or return what it was about, whatever their own thing is."""
        found: dict[str, list[Bullet]] = defaultdict(list)
        for bullet in self.given.plan.bullets():
            if (event := self.given.event_of.get(bullet.bullet_id)) is not None:
                for matter in event.closes:
                    found[matter].append(bullet)
        return found

    def _is_replaced(self, bullet: Bullet, at: int) -> bool:
        """Return whether a thing becomes another one between a statement and a position."""
        first = self.ledger.position[bullet.bullet_id]
        for other in self.ledger.by_topic[bullet.topic]:
            changes = (a for a in self.ledger.by_bullet.get(other.bullet_id, ()) if a.stance is Stance.UPDATES)
            is_between = first < self.ledger.position[other.bullet_id] <= at
            if is_between and any(self.ledger.fact[a.fact_id].kind in _NAMED for a in changes):
                return True
        return any(topic == bullet.topic and first < self._position(p) <= at for topic, p in self.changed)

    def _reckoned_with(self, bullet: Bullet, fact: Fact, value: Value) -> str:
        """Return a value of the same thing that is a share, a sum or a difference of an amount; empty if none is."""
        if fact.kind not in AMOUNT_KINDS or value.number is None:
            return ""
        told = [
            a.value
            for b in self.mentions.of(bullet.topic)
            for a in self.ledger.by_bullet.get(b.bullet_id, ())
            if a.value is not None and a.fact_id != fact.fact_id
        ]
        if share := next((v for v in told if v.kind is ValueKind.RATIO), None):
            return share.text
        amounts = [v for v in told if (v.kind, v.unit) == (value.kind, value.unit) and v.number is not None]
        for one in amounts:
            for other in amounts:
                whole = value.number + (other.number or 0), abs(value.number - (other.number or 0))
                if other is not one and one.number in whole:
                    return one.text
        return ""

    def _score(
        self, use: str, bullet: Bullet, assertion: Assertion, place: Place, kind: ContradictionKind | None
    ) -> float:
        """Return how good an option is: points for what makes a question hard, and against what others need."""
        fact = self.ledger.fact[assertion.fact_id]
        own = {a.fact_id for a in self.ledger.by_bullet[bullet.bullet_id]}
        is_earlier = self.stage_of[place.after] != self._stage_of_bullet(bullet)
        at = self._position(place)
        goes_on = any(
            self.ledger.position[b.bullet_id] > at and b.variety != CLOSING for b in self.ledger.by_topic[bullet.topic]
        )
        return (
            1.0 * is_earlier
            + (1.5 if use == UPDATE else 0.0) * goes_on
            + (1.0 if use == CONTRADICTION else 0.0) * (fact.is_fixed or kind is ContradictionKind.ONCE)
            - 2.0 * (assertion.fact_id in self.kept_for_others)
            - 1.0 * bool(own & self.kept_for_others)
            + self.rng.random() / 4  # equal options take turns
        )

    def _stage_of_bullet(self, bullet: Bullet) -> int:
        own = plan_index_of(bullet.bullet_id) == self.given.plan.plan_index
        return int(bullet.bullet_id.split(".")[1][1:]) if own else -1

    def _kept_for_others(self) -> frozenset[str]:
        """Return the facts that the other abilities need: of sorts of which the plan has hardly more than it needs."""
        ledger, quotas = Ledger.of(self.given.plan), self.given.quotas
        wanted, sorts = quotas.wanted(), quotas.sorts(ledger)
        scarce = (ids for sort, ids in sorts.items() if sort in UNTOUCHED and len(ids) <= wanted[sort] * 3 // 2)
        return frozenset(fact_id for ids in scarce for fact_id in ids)

    def _related(self, bullet: Bullet, stage_index: int) -> tuple[Bullet, ...]:
        """Return the bullets about the same thing outside of a stage, the newest ones if there are many."""
        own = {b.bullet_id for b in self.given.plan.sub_plans[stage_index].bullets}
        others = [b for b in self.ledger.by_topic[bullet.topic] if b.bullet_id not in {*own, bullet.bullet_id}]
        return tuple(others[-PLANNING.most_related :])

    def _update(self, ordinal: int, option: _Option) -> UpdateTarget:
        related = self._related(option.bullet, self.stage_of[option.place.after])
        return UpdateTarget(
            target_id=f"u{ordinal}",
            fact=self._line(option.assertion),
            bullet=option.bullet,
            place=option.place,
            related=related,
        )

    def _contradiction(self, ordinal: int, option: _Option) -> ContradictionTarget:
        assert option.kind is not None
        return ContradictionTarget(
            target_id=f"c{ordinal}",
            slip=option.kind,
            fact=self._line(option.assertion),
            bullet=option.bullet,
            place=option.place,
            related=self._related(option.bullet, self.stage_of[option.place.after]),
        )

    def _line(self, assertion: Assertion) -> LedgerLine:
        bullet = self.ledger.bullet[assertion.bullet_id]
        return next(f for f in self.ledger.briefs([bullet])[0].facts if f.fact_id == assertion.fact_id)

    # --- wishes -----------------------------------------------------------------------------------------------------

    def _wishes(self, counts: SpecialCounts) -> list[WishTarget]:
        """Return the wishes of a plan, preferences and instructions in turn, each with its uses.

        An aspect fits if it begins at the place and not before, comes again at least twice, and shares at most half of
        its events with each of those of other wishes. Where no such aspect is left, one that overlaps gets as many uses
        among the events that it shares with no wish.
        """
        fitting, spare = dict[str, frozenset[int]](), dict[str, frozenset[int]]()
        kinds = _in_turn(counts.preferences, counts.instructions)
        count = len(kinds)
        for aspect, its in self._aspects().items():
            if len(its) > PLANNING.wish_uses:
                fitting[aspect] = its
            else:
                self.refused[WISH, aspect] = "fewer than two later events come back to it"
        last = max(len(self.ledger.bullets) - 1, 1)
        found: list[WishTarget] = []
        while len(found) < count and (fitting or spare):
            if not fitting:
                fitting, spare = spare, {}
            # Four events are used well, and more of them leave less room to other wishes; wishes come all along.
            room = {a: min(0.08 * len(own), 0.4 - 0.02 * len(own)) for a, own in fitting.items()}
            scores = {a: room[a] - 2 * abs(min(own) / last - len(found) / count) for a, own in fitting.items()}
            aspect = max(sorted(scores), key=scores.__getitem__)
            own = fitting.pop(aspect)
            place = self._free_place(*sorted(own)[:2])
            if place is None:
                self.refused[WISH, aspect] = "no place is free where it begins"
                continue
            self.used.add(place.after)
            self.refused.pop((WISH, aspect), None)
            found.append(self._wish(len(found), kinds[len(found)], aspect, own, place))
            for other in [a for a, its in fitting.items() if 2 * len(own & its) > min(len(own), len(its))]:
                self.refused[WISH, other] = f"overlaps with the wish about {aspect}"
                spare[other] = fitting.pop(other)
            spare = {a: its - own for a, its in spare.items() if len(its - own) > PLANNING.wish_uses}
        return found

    def _aspects(self) -> dict[str, frozenset[int]]:
        """Return narratives, things, people, and people in a narrative, with the positions of their bullets."""
        aspects: dict[str, set[int]] = defaultdict(set)
        for bullet in self.given.plan.bullets():
            event = self.given.event_of.get(bullet.bullet_id)
            if event is None or bullet.kind not in TELLING_KINDS:
                continue
            together = (f"{name} and {event.narrative}" for name in event.people)
            for aspect in dict.fromkeys((event.narrative, event.thing, *event.people, *together)):
                aspects[aspect].add(self.ledger.position[bullet.bullet_id])
        return {aspect: frozenset(own) for aspect, own in aspects.items() if aspect}

    def _free_place(self, first: int, before: int) -> Place | None:
        """Return the first place from a position on, and before another, behind which nothing is said yet."""
        for bullet in self.ledger.bullets[first:before]:
            is_own = plan_index_of(bullet.bullet_id) == self.given.plan.plan_index
            if is_own and bullet.bullet_id not in self.used and bullet.variety != CLOSING:
                stage_index = self._stage_of_bullet(bullet)
                self.stage_of[bullet.bullet_id] = stage_index
                return Place(after=bullet.bullet_id, day=bullet.happens_on)
        return None

    def _moments(self, first: int, before: int) -> tuple[str, ...]:
        """Return the bullets from a position on, and before another, behind which the same stage may say a wish."""
        bullets = self.ledger.bullets[first:before]
        stage_index = self._stage_of_bullet(bullets[0])
        own = (b for b in bullets if self._stage_of_bullet(b) == stage_index and b.variety != CLOSING)
        return tuple(b.bullet_id for b in own)

    def _wish(self, ordinal: int, kind: BulletKind, aspect: str, own: frozenset[int], place: Place) -> WishTarget:
        at = self._position(place)
        told = {self.ledger.position[b]: e for b, e in self.given.event_of.items()}
        later = [position for position in sorted(told) if position > at and told[position].what]
        uses = tuple(told[i].what for i in later if i in own)
        unlike = next((told[i].what for i in later if i not in own), "")
        return WishTarget(
            target_id=f"w{ordinal}",
            kind=kind,
            aspect=aspect,
            narrative=told[min(own)].narrative,
            place=place,
            uses=uses[: PLANNING.wish_uses + 1],
            unlike=unlike,
            moments=self._moments(at, sorted(own)[-PLANNING.wish_uses]),
        )


def _in_turn(preferences: int, instructions: int) -> list[BulletKind]:
    """Return the kinds of wishes in turn; those of which there are more come last."""
    both = [BulletKind.PREFERENCE, BulletKind.INSTRUCTION] * min(preferences, instructions)
    more = BulletKind.PREFERENCE if preferences > instructions else BulletKind.INSTRUCTION
    return both + [more] * abs(preferences - instructions)


def _plan_behind(earlier: Sequence[Plan], stage_index: int) -> Plan | None:
    """Return the earlier plan that a stage's special bullets may look back to; the stages reach further and further."""
    if not earlier:
        return None
    back = 1 + (stage_index // 2 + 1) * len(earlier) // 5 if len(earlier) > 1 else 1
    return earlier[-min(back, len(earlier))]
