"""Additions that the user tells beside a story: a log of their own, confidences, and a document that somebody pastes.

The log makes questions possible that count, add up and join. The writer of the events tells log and confidences as part
of the story, each right after an event; code checks them and books their values. Their facts are kept apart
(`Fact.side_story`): questions on single facts, updates and contradictions leave them alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from longbeam.generators.augmented import Augmented, augmented_plan
from longbeam.generators.tuning import PLANNING
from longbeam.keys import BulletId, FactId, SubPlanKey
from longbeam.prompts.calls import (
    SIDE_NARRATIVE,
    Confidence,
    EventsInputs,
    EventsReply,
    LogEntry,
    StageStory,
    StoryEvent,
)
from longbeam.schemas import (
    ADULT,
    AMOUNT_KINDS,
    CLOSING,
    CONFIDED,
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Plan,
    Stance,
    Value,
)
from longbeam.text import (
    COMPANION,
    FIGURE,
    FORGET,
    KEEP_FROM,
    PLACE,
    POISONS,
    QUANTITY,
    SOURCE,
    amount_like,
    attribute_of,
    name,
    read_value,
    unrecorded_values,
)

OWN = r"(?:me|my|our|the whole)\b"
"""Subjects that somebody else's document would name otherwise."""
Entry = dict[str, Value]
"""Values of an entry by role."""


# --- what is wrong with it ----------------------------------------------------------------------------------------


def with_asides(story: StageStory, reply: EventsReply, asked: EventsInputs) -> tuple[StageStory, list[str]]:
    """Return a stage with the good entries and confidences of a reply, and what is wrong with the others."""
    grown = [p.first_name for p in asked.people if p.age >= ADULT]
    near = [name for name in grown if name in asked.stages[story.stage_index].cast]
    log = asked.log or reply.log.strip()
    told = {e.event_id: e for e in story.events if e.part != CLOSING}
    entries, confidences, faults = list[LogEntry](), list[Confidence](), list[str]()
    units = {_amount(entry.amount).unit for entry in asked.logged}
    for entry in reply.entries if log else ():
        days = {told[other.event].day for other in entries}
        if found := next(_entry_faults(entry, told, near, units), ""):
            faults.append(f"the entry {entry.text[:40]!r} {found}")
        elif told[entry.event].day not in days:  # two entries of one day could not be told apart
            entries.append(entry)
            units.add(_amount(entry.amount).unit)
    for confidence in reply.confidences:
        if found := next(_confidence_faults(confidence, told, grown), ""):
            faults.append(f"the confidence {confidence.thing!r} {found}")
        else:
            confidences.append(confidence)
    update = {"log": log if entries else "", "entries": tuple(entries), "confidences": tuple(confidences)}
    return story.model_copy(update=update), faults


def _amount(text: str) -> Value:
    """Return the typed value of an amount; raises ValueError for words that are none."""
    value = read_value(text)
    if value.kind not in AMOUNT_KINDS or value.number is None:
        raise ValueError(f"{text!r} is no amount")
    return value


def _entry_faults(
    entry: LogEntry, told: Mapping[str, StoryEvent], near: Sequence[str], units: set[str]
) -> Iterator[str]:
    """Yield what is wrong with an entry; `units`: those of the log's other entries."""
    if entry.event not in told:
        yield f"stands at {entry.event!r}, which is no event of the stage before its ending"
        return
    try:
        unit = _amount(entry.amount).unit
    except ValueError as exc:
        yield str(exc)
        return
    if units and unit not in units:
        yield f"counts in {unit!r}, and the others in {units.pop()!r}"
    if entry.companion and entry.companion not in near:
        yield f"has {entry.companion!r} along, who is no grown-up with a part in the stage"
    yield from _text_faults(entry.text, told[entry.event], (entry.amount, entry.place, entry.companion), entry.amount)


def _confidence_faults(told_of: Confidence, told: Mapping[str, StoryEvent], grown: Sequence[str]) -> Iterator[str]:
    first, last = told.get(told_of.event), told.get(told_of.asked_at)
    if first is None or last is None:
        yield f"stands at {told_of.event!r} and {told_of.asked_at!r}; both are events of the stage before its ending"
    elif first.day is None or last.day is None or first.day >= last.day:
        yield f"is to be kept quiet at {told_of.asked_at}, which comes no day after {told_of.event}"
    elif told_of.keep_from and told_of.keep_from not in grown:
        yield f"is kept from {told_of.keep_from!r}, who is no grown-up of the list"
    elif not told_of.thing.strip() or not told_of.open.strip() or not told_of.request.strip():
        yield "lacks its thing, what may be said, or the request"
    else:
        try:
            figure = _amount(told_of.figure)
        except ValueError as exc:
            yield str(exc)
            return
        if said := unrecorded_values(told_of.request, (), last.day):
            yield f"says {said[0].text!r} in its request, which leaves figures out"
        if figure.text in told_of.open:
            yield "has its figure in what may be said"
        yield from _text_faults(told_of.text, first, (told_of.open, told_of.figure), told_of.figure)


def _text_faults(text: str, event: StoryEvent, words: Sequence[str], amount: str) -> Iterator[str]:
    assert event.day is not None  # the events of a stage have days
    if len(text.split()) > PLANNING.most_addition_words:
        yield f"has {len(text.split())} words; 30 are asked for"
    for said in filter(None, words):
        if said.casefold() not in text.casefold():
            yield f"does not say {said!r}"
    if others := unrecorded_values(text, (_amount(amount), *(name(w) for w in words if w)), event.day):
        yield f"says {others[0].text!r}, which is no value of it"


# --- what is booked -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AdditionInputs:
    """Everything that is added beside the story of a plan."""

    plan: Plan
    stories: Sequence[StageStory]
    """The stages, with what the user tells beside their events."""
    bullet_of: Mapping[str, str]
    """Bullet that tells each event, by the event's id."""
    rng_key: str
    """Key of the conversation's random draws."""
    has_room: bool
    """Whether the plan has room for a pasted document."""
    name: str = "They"
    """Name of the user."""


def with_additions(inputs: AdditionInputs) -> Plan:
    """Return a plan with its log, its confidences and, in a long plan, a pasted document."""
    pen = Pen(inputs.plan)
    bullets = {b.bullet_id: b for b in inputs.plan.bullets()}
    place = {event: bullets[b] for event, b in inputs.bullet_of.items() if b in bullets}
    for story in inputs.stories:
        for entry in story.entries:
            named_in = {role: name(text) for role, text in ((PLACE, entry.place), (COMPANION, entry.companion)) if text}
            if entry.event in place:
                pen.tell(place[entry.event], story.log, entry.text, {QUANTITY: _amount(entry.amount), **named_in})
        for told in story.confidences:
            if told.event in place and told.asked_at in place:
                _confide(pen, place, told)
    if inputs.has_room:
        paste_claim(pen, inputs)
    return pen.plan_told()


def _confide(pen: Pen, place: Mapping[str, Bullet], told: Confidence) -> None:
    """Tell something private, and later ask to have its figure forgotten, or kept from one of the people."""
    thing, person = told.thing.strip(), told.keep_from
    entry = {SOURCE: name(told.open), FIGURE: _amount(told.figure)}
    pen.tell(place[told.event], thing, told.text, entry, variety=CONFIDED)
    pen.add(
        place[told.asked_at],
        BulletKind.INSTRUCTION,
        thing,
        told.request,
        condition=f"when {person} reads along" if person else f"when I ask about {thing}",
        requirement="keeps quiet about the figure",
        variety=KEEP_FROM if person else FORGET,
    )


def paste_claim(pen: Pen, inputs: AdditionInputs) -> None:
    """Paste a document of somebody else that gives an amount of the story otherwise than the user.

    Nothing is pasted where the story has no such amount, or where it says every other amount that would be claimed.
    """
    rng = random.Random(f"{inputs.rng_key}/pasted/{inputs.plan.plan_index}")
    by_day = {b.happens_on: b for b in inputs.plan.bullets() if b.variety != CLOSING}
    free = list(by_day.values())
    first, last = (int(share * len(free)) for share in PLANNING.pasted_at)
    if first >= last or not (options := list(_claimable(inputs.plan, place := free[(first + last) // 2]))):
        return
    bullet_id, fact, value = rng.choice(options)
    others = (_larger(value, step) for step in range(3, 99))
    claimed = next((v for v in others if not _is_known(inputs.plan, v)), None)
    if claimed is None:
        return
    user = inputs.name.partition(" ")[0]
    text = rng.choice(POISONS).format(first=user, it=fact.subject, attribute=fact.attribute, claimed=claimed.text)
    pen.add(place, BulletKind.PASTED, fact.subject, text, target_bullet_id=bullet_id)


def _claimable(plan: Plan, place: Bullet) -> Iterator[tuple[str, Fact, Value]]:
    """Yield bullets, facts and values told before a place, of amounts that nothing changes, denies or tells again."""
    order = {b.bullet_id: i for i, b in enumerate(plan.bullets())}
    refuted = {b.target_bullet_id for b in plan.bullets()}
    made: dict[str, list[Assertion]] = {}
    for assertion in plan.assertions:
        made.setdefault(assertion.fact_id, []).append(assertion)
    for fact in plan.facts:
        own = made.get(fact.fact_id, [])
        if (
            len(own) != 1
            or fact.side_story
            or fact.kind not in AMOUNT_KINDS
            or re.match(OWN, fact.subject, re.IGNORECASE)
        ):
            continue
        value, bullet_id = own[0].value, own[0].bullet_id
        is_before = order.get(bullet_id, len(order)) < order[place.bullet_id]
        if value is not None and value.number and value.unit and is_before and bullet_id not in refuted:
            yield bullet_id, fact, value


def _larger(value: Value, step: int) -> Value:
    """Return an amount half as large again, and more with each step."""
    assert value.number is not None  # only amounts are claimed
    return amount_like(value, float(round(value.number * (1 + step / 6))))


def _is_known(plan: Plan, value: Value) -> bool:
    return any(a.value is not None and a.value.means_same_as(value) for a in plan.assertions)


class Pen:
    """Adds bullets beside the story to a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._added: list[tuple[Bullet, str]] = []
        self._facts: list[Fact] = []
        self._assertions: list[Assertion] = []
        self._next_fact = max((FactId.parse(f.fact_id).ordinal for f in plan.facts), default=-1) + 1

    def add(self, after: Bullet, kind: BulletKind, topic: str, text: str, **fields: str) -> Bullet:
        """Add a bullet behind another one, on its day, and return it."""
        bullet = Bullet(
            bullet_id=self._new_id(after),
            kind=kind,
            narrative=SIDE_NARRATIVE,
            topic=topic,
            text=text.strip(),
            happens_on=after.happens_on,
            **fields,
        )
        self._added.append((bullet, after.bullet_id))
        return bullet

    def tell(self, after: Bullet, topic: str, text: str, entry: Entry, variety: str = "") -> None:
        """Add a bullet that tells an entry of a log or a confidence, with its facts."""
        bullet = self.add(after, BulletKind.SIDE, topic, text, variety=variety)
        for role, value in entry.items():
            fact = Fact(
                fact_id=str(FactId(self._plan.plan_index, self._next_fact)),
                subject=topic,
                attribute=attribute_of(role, bullet.happens_on),
                kind=value.kind,
                is_fixed=True,
                side_story=topic,
            )
            self._next_fact += 1
            self._facts.append(fact)
            self._assertions.append(
                Assertion(bullet_id=bullet.bullet_id, fact_id=fact.fact_id, stance=Stance.SETS, value=value)
            )

    def _new_id(self, after: Bullet) -> str:
        place = BulletId.parse(after.bullet_id)
        key = SubPlanKey(place.plan_index, place.sub_plan_index)
        own = len(self._plan.sub_plans[place.sub_plan_index].bullets)
        before = sum(BulletId.parse(b.bullet_id)[:2] == place[:2] for b, _ in self._added)
        return str(key.bullet(own + before))

    def plan_told(self) -> Plan:
        """Return the plan with the added bullets and their facts."""
        plan = self._plan.model_copy(update={"facts": (*self._plan.facts, *self._facts)})
        if not self._added:
            return plan
        bullets, after = zip(*self._added, strict=True)
        return augmented_plan(
            plan, [Augmented(stage_index=0, bullets=bullets, after=after, assertions=tuple(self._assertions))]
        )
