"""Drafted bullets: what is wrong with a draft, and the records that good ones become.

A model gives a bullet's words, its slots and the text of each value. Code reads number, unit, currency and day out of
that text, and derives from the ledger whether a slot is set, changed or only mentioned.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.tuning import PLANNING
from longbeam.keys import FactId, SubPlanKey
from longbeam.prompts.calls import LONGEST_TEXT, ONCE, BulletDraft, FactDraft, NewSlot, Stage, StoryEvent
from longbeam.schemas import (
    CLOSING,
    OUTCOME,
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Person,
    Profile,
    Record,
    Stance,
    SubPlan,
    Value,
    ValueKind,
    slot_key,
)
from longbeam.text import (
    ENGLISH,
    MONTH,
    WEEKDAY,
    Language,
    content_words,
    date_value,
    duration,
    format_date,
    number,
    read_value,
    says,
    unrecorded_values,
    weekday,
)

SELF = "me"
"""Subject of the facts of an introduction."""
SENTENCE_ENDS = ".!?…:;)]\"'”’`"
WORDED = frozenset({ValueKind.NAME, ValueKind.TEXT, ValueKind.EXPRESSION, ValueKind.VERSION})
"""Kinds of values that are only their words."""
_OF_THE_USER = re.compile(r"the user\b(?! (?:stor|inter|manual|guide|table|group))", re.IGNORECASE)
"""Beginning of a line that speaks of the user in the third person, and of no `user story` or `user interface`."""
SETTLED = re.compile(
    r"\b(?:once and for all|for good(?=[^\w\s]|$| and\b)|set in stone|my last word|"
    r"(?:is|are|was|were|stays?|now) final|"
    r"(?:will|won['’]t|does not|doesn['’]t) (?:not )?change (?:again|any ?more)|"
    r"final (?:figure|price|number|sum|limit|amount|offer|count|date|day|word|total|budget|size|length))\b",
    re.IGNORECASE,
)
"""Words that call a value final, which later lines may overtake."""
_WEEKDAY_OF = re.compile(rf"(?<!\w)(?P<weekday>{WEEKDAY}),?\s+(?P<day>{MONTH}\s+\d{{1,2}}(?:,?\s+\d{{4}})?)", re.I)


class Drafted(Record):
    """One sub-plan with the facts it adds and the assertions it makes."""

    sub_plan: SubPlan
    facts: tuple[Fact, ...]
    assertions: tuple[Assertion, ...]
    group: int = 0
    """Lines that the next group may have, learnt from the acceptance of those before; 0: nothing is learnt."""
    events: tuple[str, ...] = ()
    """Id of the event that each bullet tells."""


@dataclass(frozen=True)
class Known:
    """Knowledge at the time when a group of lines is written."""

    stage: Stage
    profile: Profile
    ledger: Ledger
    """Facts of the plan so far, and those of earlier plans that it touched."""
    history: PlanHistory
    values: Mapping[str, Value | None]
    """Present value of each fact, those of earlier plans included, as far as it is known."""
    over: Mapping[str, str] = field(default_factory=dict)
    """Event that ended the matter of a fact, by the fact's id: the fact keeps its value."""
    people: Sequence[Person] = ()
    language: Language = ENGLISH

    @cached_property
    def told(self) -> tuple[Value, ...]:
        """Present values of all facts."""
        return tuple(value for value in self.values.values() if value is not None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Values that are only their words and have digits in them."""
        return tuple(v.text for v in self.told if v.kind in WORDED and any(c.isdigit() for c in v.text))

    @cached_property
    def slots(self) -> dict[str, Fact]:
        """The plan's own facts by name."""
        return {f.slot: f for f in self.ledger.facts if f.fact_id not in self.history.facts}

    def present(self, fact_id: str) -> Value | None:
        """Return the present value of a fact; None for one that is unknown or denied."""
        return self.values[fact_id] if fact_id in self.values else self.history.value_of(fact_id)

    def fact(self, fact_id: str) -> Fact | None:
        """Return the fact with an id; None if there is none."""
        return self.ledger.fact.get(fact_id) or self.history.facts.get(fact_id)


# --- values -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def typed_value(text: str, kind: ValueKind, told: dt.date) -> Value:
    """Return the typed value of a text; the year of a day that has none is the one nearest to the day of telling.

    A text that is no value of the kind, but of another typed one, keeps what it is. A day gets its year. Raises
    ValueError with a sentence.
    """
    try:
        value = read_value(text, kind, on=told)
    except ValueError:
        value = read_value(text, on=told)
        if value.kind in WORDED:
            raise
    return value if value.date is None else date_value(value.date)


# --- faults -----------------------------------------------------------------------------------------------------


def faults_of(draft: BulletDraft, event: StoryEvent, known: Known) -> Iterator[str]:
    """Yield everything that is wrong with the draft of an event, each in a sentence that a model can act on."""
    place, told = event.event_id, told_on(event)
    if fault := length_fault(draft.text, event):
        yield f"{place} {fault}"
        return
    if known.language.reads_words and _OF_THE_USER.match(draft.text):
        yield f"{place} speaks of the user; the user speaks, so write I, my or we"
    may_change = any(ONCE not in fact.slot for fact in draft.facts)
    if event.part != CLOSING and may_change and (found := SETTLED.search(draft.text)):
        yield f"{place} says {found[0]!r} of what may still change later; leave that out"
    read: list[Value] = []
    for fact in draft.facts:
        try:
            value = value_of(fact, event, known)
        except ValueError as exc:
            yield f"{place}: {exc}"
            continue
        read.append(value)
        yield from (f"{place}: {fault}" for fault in _fact_faults(fact, value, draft, event, known))
    yield from (f"{place}: {fault}" for fault in wrong_weekdays(draft.text, told))
    for value in values_without_fact(draft, event, known, read):
        yield f"{place}: the text says {value.text!r}, and no fact of it does; add the fact or leave it out"


def faults_in_group(
    draft: BulletDraft, event: StoryEvent, written: Iterable[tuple[StoryEvent, BulletDraft]]
) -> Iterator[str]:
    """Yield the changes of values that an event worded in the same request sets once, or whose matter one ends.

    The ledger does not have these values yet: their thing and name say that they are one fact.
    """
    before = [(e, d) for e, d in written if e is not event and told_on(e) <= told_on(event)]
    ends = {matter.casefold(): e.event_id for e, _ in before for matter in e.closes}
    told = {slot_key(e.thing, f.name): (e, f) for e, d in before for f in d.facts}
    for fact in draft.facts:
        setting, set_ = told.get(slot_key(event.thing, fact.name), (event, fact))
        if set_.value.strip() == fact.value.strip():
            continue
        it = f"{event.event_id}: {fact.name} of {event.thing} is {set_.value!r}"
        if ONCE in set_.slot:
            yield f"{it} with {setting.event_id}, where it happened once, and cannot become {fact.value!r}"
        elif (end := ends.get(event.thing.casefold())) is not None:
            yield f"{it}; its matter was over with {end}, so it does not become {fact.value!r}"


def told_on(event: StoryEvent) -> dt.date:
    """Return the day on which an event is told; raises ValueError for one that has no day yet."""
    if event.day is None:
        raise ValueError(f"{event.event_id} has no day yet")
    return event.day


def length_fault(text: str, event: StoryEvent) -> str:
    """Return what is wrong with the length of an event's text; empty if nothing is."""
    if not text.strip():
        return "has no text"
    most = 2 * PLANNING.most_event_words if event.part else PLANNING.most_event_words
    if (words := len(text.split())) > most:
        return f"has {words} words; write one or two sentences of at most 35"
    if is_cut(text):
        return "breaks off in the middle of a sentence; write one or two whole ones of at most 35 words"
    return ""


def ended(text: str) -> str:
    """Return a text without blanks around it, and with a full stop where it has no end; empty for a blank one."""
    text = text.strip()
    return text if not text or text[-1] in SENTENCE_ENDS else f"{text}."


def is_cut(text: str, longest: int = LONGEST_TEXT) -> bool:
    """Return whether the form of the reply, which allows so many characters, cut a text within a sentence."""
    return len(text) >= longest - PLANNING.cut_margin and not text.rstrip().endswith(tuple(SENTENCE_ENDS))


def repeated(draft: BulletDraft, others: Iterable[BulletDraft]) -> str:
    """Return the event of which a draft repeats nearly all words; empty if it repeats none of the others."""
    own = content_words(draft.text)
    return next((other.event for other in others if same_words(own, content_words(other.text))), "")


def same_words(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two texts say the same, by their content words."""
    shorter = min(len(words), len(others))
    return shorter >= PLANNING.least_compared and len(words & others) >= PLANNING.repeated * shorter


def _fact_faults(fact: FactDraft, value: Value, draft: BulletDraft, event: StoryEvent, known: Known) -> Iterator[str]:
    if not says(draft.text, value):
        yield f"the fact {fact.value!r} does not stand in the text; write the same words in both"
    told = told_on(event)
    known_fact = known.fact(fact.slot)
    if known_fact is None:
        if new_slot(fact.slot) is None:
            yield f"slot {fact.slot!r} is neither an id of the list nor a kind of value"
        elif not fact.name.strip():
            yield f"the fact {fact.value!r} has no name"
        elif value.date is not None and fact.slot.endswith(ONCE) and value.date > told:
            yield f"{value.text} has happened once, and it is told on {format_date(told)}, before it"
        known_fact = known.slots.get(slot_key(event.thing, fact.name))
        if known_fact is None:
            return
    present = known.present(known_fact.fact_id)
    if present is None or value.means_same_as(present):
        return
    it = f"{known_fact.attribute} of {known_fact.subject}"
    if known_fact.is_fixed:
        yield f"{it} has happened once, as {present.text!r}, and cannot become {value.text!r}"
    elif (end := known.over.get(known_fact.fact_id)) is not None:
        yield f"{it} is {present.text!r}; its matter was over with {end}, so it does not become {value.text!r}"


def wrong_weekdays(text: str, told: dt.date) -> Iterator[str]:
    """Yield what is wrong with the days of a text that are named with their weekday."""
    for match in _WEEKDAY_OF.finditer(text):
        try:
            day = typed_value(match["day"], ValueKind.DATE, told).date
        except ValueError:
            continue
        if day and weekday(day).casefold() != match["weekday"].casefold():
            yield f"{match['day']} is a {weekday(day)}, not a {match['weekday']}"


def values_without_fact(draft: BulletDraft, event: StoryEvent, known: Known, read: Sequence[Value]) -> list[Value]:
    """Return the values in digits that a text says and nothing gives: no fact of the line or ledger, age or topic."""
    text = draft.text
    for given in (event.thing, *(fact.value.strip() for fact in draft.facts), *known.names):
        if any(c.isdigit() for c in given):  # `file 18-204` is a name: its digits are no value of their own
            text = re.sub(rf"(?<!\w){re.escape(given)}(?!\w)", " ", text)
    ages = {known.profile.age, *(person.age for person in known.people)}
    own = (*read, *(value for age in ages for value in (number(age), duration(age, "years"))))
    # The ledger of a long story is large, and most lines say their own values only.
    new = _in_digits(text, unrecorded_values(text, own, told_on(event)))
    return _in_digits(text, unrecorded_values(text, (*own, *known.told), told_on(event))) if new else new


def _in_digits(text: str, values: Iterable[Value]) -> list[Value]:
    """Return the values that the text itself writes in digits: `out of a hundred` is a way of speaking."""
    return [value for value in values if any(c.isdigit() for c in value.text) and value.text in text]


def new_slot(code: str) -> NewSlot | None:
    """Return the new slot that a reply names by its code; None if it is no code."""
    kind, _, mark = code.partition(",")
    if kind not in set(ValueKind) or mark.strip() not in {"", ONCE}:
        return None
    return NewSlot(kind=ValueKind(kind), is_fixed=bool(mark))


def value_of(fact: FactDraft, event: StoryEvent, known: Known, told: Fact | None = None) -> Value:
    """Return the typed value of a drafted fact; raises ValueError with a sentence for a text that cannot be read.

    `told`: the fact that its slot names, where the ledger does not have it yet.
    """
    known_fact, slot = told or known.fact(fact.slot), new_slot(fact.slot)
    kind = known_fact.kind if known_fact else slot.kind if slot else ValueKind.TEXT
    if kind is ValueKind.NAME and len(fact.value.split()) > PLANNING.most_value_words:
        raise ValueError(f"{fact.value!r} is no name; a name has at most {PLANNING.most_value_words} words")
    if kind is not ValueKind.DATE or known.language.reads_days:
        return typed_value(fact.value, kind, told_on(event))
    try:  # code reads English dates only
        return Value(kind=ValueKind.DATE, text=fact.value.strip(), date=dt.date.fromisoformat(fact.day))
    except ValueError:
        raise ValueError(f"`day` of {fact.value!r} is {fact.day!r}; write it as 2024-03-05") from None


# --- records ----------------------------------------------------------------------------------------------------


def assembled(drafts: Sequence[tuple[StoryEvent, BulletDraft]], known: Known, plan_index: int) -> Drafted:
    """Return the records of one stage from its drafts, in the order of its events; `known`: before the stage.

    A fact whose value cannot be read is left out.
    """
    maker = _Maker(known, SubPlanKey(plan_index, known.stage.stage_index))
    for event, draft in drafts:
        maker.add(event, draft)
    sub_plan = SubPlan(
        plan_index=plan_index,
        sub_plan_index=known.stage.stage_index,
        anchor=known.stage.first_day,
        bullets=tuple(maker.bullets),
    )
    return Drafted(
        sub_plan=sub_plan,
        facts=tuple(maker.facts),
        assertions=tuple(maker.assertions),
        events=tuple(event.event_id for event, _ in drafts),
    )


class _Maker:
    """Gives the drafts of a stage their ids, and derives the stance of every value from those before it."""

    def __init__(self, known: Known, key: SubPlanKey) -> None:
        self._known, self._key = known, key
        self._slots = dict(known.slots)
        self._first_ordinal = len(self._slots)
        self._values = dict(known.values)
        self.bullets: list[Bullet] = []
        self.facts: list[Fact] = []
        self.assertions: list[Assertion] = []

    def add(self, event: StoryEvent, draft: BulletDraft) -> None:
        """Append the bullet of an event with its facts."""
        bullet = Bullet(
            bullet_id=str(self._key.bullet(len(self.bullets))),
            kind=event.kind,
            narrative=event.narrative,
            topic=event.thing,
            text=draft.text.strip(),
            happens_on=told_on(event),
            variety=CLOSING if event.part == CLOSING else "",
        )
        if event.kind is BulletKind.INTRODUCTION:
            for attribute, value in _introduced(self._known.profile):
                if says(bullet.text, value):
                    slot = NewSlot(kind=value.kind, is_fixed=attribute == "full name")
                    self._assert(bullet, self._new_fact(SELF, attribute, slot), value)
        said = [self._add_fact(bullet, event, fact) for fact in draft.facts]
        if not bullet.variety and any(said):
            bullet = bullet.model_copy(update={"variety": OUTCOME})
        self.bullets.append(bullet)

    def _add_fact(self, bullet: Bullet, event: StoryEvent, draft: FactDraft) -> bool:
        """Add what a draft says of a fact; return whether it is an announced day that is past by now."""
        fact = self._known.fact(draft.slot) or next((f for f in self.facts if f.fact_id == draft.slot), None)
        try:
            value = value_of(draft, event, self._known, fact)
        except ValueError:
            return False
        if fact is None:
            slot = new_slot(draft.slot) or NewSlot(kind=value.kind, is_fixed=False)
            slot = slot.model_copy(update={"kind": value.kind})
            fact = self._told(bullet.topic, draft.name, slot, value) or self._new_fact(bullet.topic, draft.name, slot)
        stance = self._assert(bullet, fact, value)
        is_past = value.date is not None and value.date < bullet.happens_on
        return is_past and stance is Stance.MENTIONS and not fact.is_fixed

    def _told(self, subject: str, attribute: str, slot: NewSlot, value: Value) -> Fact | None:
        """Return the fact that is told again under its name; None if it is another one of the same name."""
        key = slot_key(subject, attribute)
        if (own := self._slots.get(key)) is not None:
            return own
        earlier = self._known.history.slots.get(key)
        if earlier is None or earlier.kind is not slot.kind:
            return None
        present = self._present(earlier)
        is_same = present is not None and value.means_same_as(present)
        return None if earlier.is_fixed and not is_same else earlier

    def _present(self, fact: Fact) -> Value | None:
        return self._values[fact.fact_id] if fact.fact_id in self._values else self._known.present(fact.fact_id)

    def _new_fact(self, subject: str, attribute: str, slot: NewSlot) -> Fact:
        fact = Fact(
            fact_id=str(FactId(self._key.plan_index, self._first_ordinal + len(self.facts))),
            subject=subject,
            attribute=attribute,
            kind=slot.kind,
            is_fixed=slot.is_fixed,
        )
        self.facts.append(fact)
        self._slots[fact.slot] = fact
        return fact

    def _assert(self, bullet: Bullet, fact: Fact, value: Value) -> Stance:
        stance = Stance.SETS
        if fact.fact_id in self._values or fact.fact_id in self._known.history.facts:
            present = self._present(fact)
            stance = Stance.MENTIONS if present and value.means_same_as(present) else Stance.UPDATES
        self._values[fact.fact_id] = value
        self.assertions.append(Assertion(bullet_id=bullet.bullet_id, fact_id=fact.fact_id, stance=stance, value=value))
        return stance


def _introduced(profile: Profile) -> tuple[tuple[str, Value], ...]:
    """Return what an introduction may say of the user, as attributes and values."""
    profession = profile.profession.lower() if profile.profession.istitle() else profile.profession
    return (
        ("full name", Value(kind=ValueKind.NAME, text=profile.name)),
        ("age", number(profile.age)),
        ("profession", Value(kind=ValueKind.NAME, text=profession)),
        ("home city", Value(kind=ValueKind.NAME, text=profile.city)),
    )
