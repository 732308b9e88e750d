"""Drafted bullets: what is wrong with a draft, and the records that good ones become.

A model gives a bullet's words, its slots and the text of each value. Code reads number, unit, currency and day out of
that text, and derives from the ledger whether a slot is set, changed or only mentioned.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from longbeam.generators.ledger import Ledger
from longbeam.generators.plan_history import PlanHistory
from longbeam.keys import FactId, SubPlanKey
from longbeam.prompts.calls import LONGEST_TEXT, ONCE, BulletDraft, FactDraft, NewSlot, SheetLine, Stage
from longbeam.schemas import (
    CLOSING,
    ENGLISH,
    OUTCOME,
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Profile,
    Record,
    Stance,
    SubPlan,
    Value,
    ValueKind,
    slot_key,
)
from longbeam.text import (
    MONTH,
    WEEKDAY,
    content_words,
    date_value,
    duration,
    format_date,
    number,
    overlapping,
    read_value,
    says,
    unrecorded_values,
    weekday,
)

SELF = "me"
"""Subject of the facts of an introduction."""
EVOLVED = "evolved"
"""Variety of a preference that replaces an earlier one."""
MOST_WORDS = 60
"""Words of an event's text: twice as many as asked for. A text of more is a loop, or was cut by its form. What
begins or ends a story may have twice as many."""
MOST_WORDS_OF_A_NAME = 8
"""Words of a value that is a name: the title of a book may be long."""
CUT_MARGIN = 10
"""Characters that a text cut by its form may be shorter than the form allows."""
SENTENCE_ENDS = ".!?…:;)]\"'”’`"
REPEATED = 0.8
"""Share of the content words of the shorter of two texts that the other has, where both say the same."""
LEAST_COMPARED = 8
"""Content words of a text that can repeat another one."""
WORDED = frozenset({ValueKind.NAME, ValueKind.TEXT, ValueKind.EXPRESSION, ValueKind.VERSION})
"""Kinds of values that are only their words."""
_OF_THE_USER = re.compile(r"the user\b(?! (?:stor|inter|manual|guide|table|group))", re.IGNORECASE)
"""Beginning of a line that speaks of the user in the third person, and of no `user story` or `user interface`."""
SETTLED = re.compile(
    r"\b(?:once and for all|for good|set in stone|(?:is|are|was|were|stays?|now) final|my last word|"
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
    recalled: tuple[str, ...] = ()
    """Ids of the facts that its lines come back to without their values."""


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
    preferences: tuple[Bullet, ...]
    """Preferences in force."""
    labels: frozenset[str]
    """Labels of the narratives."""
    language: str = ENGLISH

    @cached_property
    def told(self) -> tuple[Value, ...]:
        """Present values of all facts."""
        return tuple(value for value in self.values.values() if value is not None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Values that are only their words and have digits in them."""
        return tuple(v.text for v in self.told if v.kind in WORDED and any(c.isdigit() for c in v.text))

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


def faults_of(draft: BulletDraft, line: SheetLine, known: Known) -> Iterator[str]:
    """Yield everything that is wrong with the draft of a line, each in a sentence that a model can act on."""
    place = f"line {line.line}"
    if fault := length_fault(draft.text, line):
        yield f"{place} {fault}"
        return
    if known.language == ENGLISH and _OF_THE_USER.match(draft.text):
        yield f"{place} speaks of the user; the user speaks, so write I, my or we"
    if draft.narrative and draft.narrative not in known.labels:
        yield f"{place} names narrative {draft.narrative!r}, which is none of those given; leave it empty"
    if line.kind is BulletKind.PREFERENCE:
        if not draft.requirement or not (draft.condition or line.evolves):
            yield f"{place} is a preference without condition or requirement"
        elif not line.evolves and (taken := _taken_condition(draft, known)):
            yield f"{place} has the condition {draft.condition!r}, which overlaps with {taken!r}, another wish"
        return
    may_change = line.changes is not None or any(not slot.is_fixed for slot in line.sets)
    if line.part != CLOSING and may_change and (found := SETTLED.search(draft.text)):
        yield f"{place} says {found[0]!r} of what may still change later; leave that out"
    changed = line.changes if line.changes and any(f.slot == line.changes.fact_id for f in draft.facts) else None
    if not (draft.topic.strip() or changed or line.outcome_of):
        yield f"{place} has no topic"
    read: list[Value] = []
    for fact in draft.facts:
        try:
            value = value_of(fact, line, known)
        except ValueError as exc:
            yield f"{place}: {exc}"
            continue
        read.append(value)
        yield from (f"{place}: {fault}" for fault in _fact_faults(fact, value, draft, line, known))
    yield from (f"{place}: {fault}" for fault in wrong_weekdays(draft.text, line.day))
    for value in values_without_fact(draft, line, known, read):
        yield f"{place}: the text says {value.text!r}, and no fact of the line does; add the fact or leave it out"


def length_fault(text: str, line: SheetLine) -> str:
    """Return what is wrong with the length of a line's text; empty if nothing is."""
    if not text.strip():
        return "has no text"
    most = MOST_WORDS if line.kind is BulletKind.EVENT and not line.part else 2 * MOST_WORDS
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
    return len(text) >= longest - CUT_MARGIN and not text.rstrip().endswith(tuple(SENTENCE_ENDS))


def _taken_condition(draft: BulletDraft, known: Known) -> str:
    """Return the condition of another preference of the plan that one question could meet, too; empty if none."""
    wish = draft.topic.strip(), draft.condition
    own = (b for b in known.preferences if b.bullet_id in known.ledger.bullet and _wish_of(b) != wish)
    return next((b.condition for b in own if overlapping(draft.condition, b.condition)), "")


def repeated_line(draft: BulletDraft, others: Iterable[BulletDraft]) -> int | None:
    """Return the line of which a draft repeats nearly all words, or the wish; None if it repeats none of the others."""
    own = content_words(draft.text)
    for other in others:
        if draft.condition and other.condition and overlapping(draft.condition, other.condition):
            return other.line
        if same_words(own, content_words(other.text)):
            return other.line
    return None


def same_words(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two texts say the same, by their content words."""
    shorter = min(len(words), len(others))
    return shorter >= LEAST_COMPARED and len(words & others) >= REPEATED * shorter


def _fact_faults(fact: FactDraft, value: Value, draft: BulletDraft, line: SheetLine, known: Known) -> Iterator[str]:
    if not says(draft.text, value):
        yield f"the fact {fact.value!r} does not stand in the text; write the same words in both"
    known_fact = known.fact(fact.slot)
    if known_fact is None:
        if new_slot(fact.slot) is None:
            yield f"slot {fact.slot!r} is neither an id of the list nor a kind of value"
        elif not fact.name.strip():
            yield f"the fact {fact.value!r} has no name"
        elif value.date is not None and fact.slot.endswith(ONCE) and value.date > line.day:
            yield f"{value.text} has happened once, and the line is told on {format_date(line.day)}, before it"
        return
    present = known.values.get(fact.slot)
    if line.changes and fact.slot == line.changes.fact_id and present and value.means_same_as(present):
        yield f"{fact.slot} keeps its value {present.text!r}; give it another one"
    if known_fact.is_fixed and present and not value.means_same_as(present):
        yield f"{fact.slot} has happened once, as {present.text!r}, and cannot become {value.text!r}"


def wrong_weekdays(text: str, told: dt.date) -> Iterator[str]:
    """Yield what is wrong with the days of a text that are named with their weekday."""
    for match in _WEEKDAY_OF.finditer(text):
        try:
            day = typed_value(match["day"], ValueKind.DATE, told).date
        except ValueError:
            continue
        if day and weekday(day).casefold() != match["weekday"].casefold():
            yield f"{match['day']} is a {weekday(day)}, not a {match['weekday']}"


def values_without_fact(draft: BulletDraft, line: SheetLine, known: Known, read: Sequence[Value]) -> list[Value]:
    """Return the values in digits that a text says and nothing gives: no fact of the line, ledger, user or topic."""
    text = draft.text
    for given in (draft.topic, *(fact.value.strip() for fact in draft.facts), *known.names):
        if any(c.isdigit() for c in given):  # `file 18-204` is a name: its digits are no value of their own
            text = re.sub(rf"(?<!\w){re.escape(given)}(?!\w)", " ", text)
    age = known.profile.age
    own = (*read, number(age), duration(age, "years"))
    # The ledger of a long story is large, and most lines say their own values only.
    new = _in_digits(text, unrecorded_values(text, own, line.day))
    return _in_digits(text, unrecorded_values(text, (*own, *known.told), line.day)) if new else new


def _in_digits(text: str, values: Iterable[Value]) -> list[Value]:
    """Return the values that the text itself writes in digits: `out of a hundred` is a way of speaking."""
    return [value for value in values if any(c.isdigit() for c in value.text) and value.text in text]


def new_slot(code: str) -> NewSlot | None:
    """Return the new slot that a reply names by its code; None if it is no code."""
    kind, _, mark = code.partition(",")
    if kind not in set(ValueKind) or mark.strip() not in {"", ONCE}:
        return None
    return NewSlot(kind=ValueKind(kind), is_fixed=bool(mark))


def value_of(fact: FactDraft, line: SheetLine, known: Known, told: Fact | None = None) -> Value:
    """Return the typed value of a drafted fact; raises ValueError with a sentence for a text that cannot be read.

    `told`: the fact that its slot names, where the ledger does not have it yet.
    """
    known_fact, slot = told or known.fact(fact.slot), new_slot(fact.slot)
    kind = known_fact.kind if known_fact else slot.kind if slot else ValueKind.TEXT
    if kind is ValueKind.NAME and len(fact.value.split()) > MOST_WORDS_OF_A_NAME:
        raise ValueError(f"{fact.value!r} is no name; a name has at most {MOST_WORDS_OF_A_NAME} words")
    if kind is not ValueKind.DATE or known.language == ENGLISH:
        return typed_value(fact.value, kind, line.day)
    # Code reads English dates only: elsewhere the day is the sheet's.
    day = next((slot.day for slot in line.sets if slot.day is not None), None)
    if day is None:
        raise ValueError(f"the sheet gives no day for {fact.value!r}; leave the day out")
    return Value(kind=ValueKind.DATE, text=fact.value.strip(), date=day)


# --- records ----------------------------------------------------------------------------------------------------


def assembled(drafts: Sequence[tuple[SheetLine, BulletDraft]], known: Known, plan_index: int) -> Drafted:
    """Return the records of one stage from its drafts, in the order of the sheet; `known`: before the stage.

    A fact whose value cannot be read is left out.
    """
    maker = _Maker(known, SubPlanKey(plan_index, known.stage.stage_index))
    for line, draft in drafts:
        maker.add(line, draft)
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
        recalled=tuple(line.recalls.fact_id for line, _ in drafts if line.recalls is not None),
    )


class _Maker:
    """Gives the drafts of a stage their ids, and derives the stance of every value from those before it."""

    def __init__(self, known: Known, key: SubPlanKey) -> None:
        self._known, self._key = known, key
        own = [f for f in known.ledger.facts if f.fact_id not in known.history.facts]
        self._slots = {f.slot: f for f in own}
        self._first_ordinal = len(own)
        self._values = dict(known.values)
        self._preferences = {_wish_of(b): b.requirement for b in known.preferences}
        self.bullets: list[Bullet] = []
        self.facts: list[Fact] = []
        self.assertions: list[Assertion] = []

    def add(self, line: SheetLine, draft: BulletDraft) -> None:
        """Append the bullet of a line with its facts."""
        bullet = self._bullet(line, draft)
        self.bullets.append(bullet)
        if line.kind is BulletKind.INTRODUCTION:
            for attribute, value in _introduced(self._known.profile):
                if says(bullet.text, value):
                    slot = NewSlot(kind=value.kind, is_fixed=attribute == "full name")
                    self._assert(bullet, self._new_fact(SELF, attribute, slot), value)
        for fact in draft.facts:
            self._add_fact(bullet, line, fact)

    def _bullet(self, line: SheetLine, draft: BulletDraft) -> Bullet:
        # A draft leaves empty what its line of the sheet says.
        bullet = Bullet(
            bullet_id=str(self._key.bullet(len(self.bullets))),
            kind=line.kind,
            narrative=draft.narrative if draft.narrative in self._known.labels else line.narrative,
            topic=draft.topic.strip() or line.topic,
            text=draft.text.strip(),
            happens_on=line.day,
            condition=draft.condition or (line.evolves.condition if line.evolves else ""),
            requirement=draft.requirement,
            variety=CLOSING if line.part == CLOSING else OUTCOME if line.outcome_of else "",
        )
        if line.kind is not BulletKind.PREFERENCE:
            return bullet
        former = self._preferences.get(_wish_of(bullet))
        self._preferences[_wish_of(bullet)] = bullet.requirement
        return bullet if former in {None, bullet.requirement} else bullet.model_copy(update={"variety": EVOLVED})

    def _add_fact(self, bullet: Bullet, line: SheetLine, draft: FactDraft) -> None:
        fact = self._known.fact(draft.slot) or next((f for f in self.facts if f.fact_id == draft.slot), None)
        try:
            value = value_of(draft, line, self._known, fact)
        except ValueError:
            return
        if fact is None:
            slot = new_slot(draft.slot) or NewSlot(kind=value.kind, is_fixed=False)
            slot = slot.model_copy(update={"kind": value.kind})
            fact = self._told(bullet.topic, draft.name, slot, value) or self._new_fact(bullet.topic, draft.name, slot)
        self._assert(bullet, fact, value)

    def _told(self, subject: str, attribute: str, slot: NewSlot, value: Value) -> Fact | None:
        """Return the fact that is told again under its name; None if it is another one of the same name."""
        key = slot_key(subject, attribute)
        if (own := self._slots.get(key)) is not None:
            return own
        earlier = self._known.history.slots.get(key)
        if earlier is None or earlier.kind is not slot.kind:
            return None
        present = self._values.get(earlier.fact_id)
        is_same = present is not None and value.means_same_as(present)
        return None if earlier.is_fixed and not is_same else earlier

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

    def _assert(self, bullet: Bullet, fact: Fact, value: Value) -> None:
        stance = Stance.SETS
        if fact.fact_id in self._values or fact.fact_id in self._known.history.facts:
            present = self._values.get(fact.fact_id)
            stance = Stance.MENTIONS if present and value.means_same_as(present) else Stance.UPDATES
        self._values[fact.fact_id] = value
        self.assertions.append(Assertion(bullet_id=bullet.bullet_id, fact_id=fact.fact_id, stance=stance, value=value))


def _wish_of(bullet: Bullet) -> tuple[str, str]:
    return bullet.topic, bullet.condition


def _introduced(profile: Profile) -> tuple[tuple[str, Value], ...]:
    """Return what an introduction may say of the user, as attributes and values."""
    profession = profile.profession.lower() if profile.profession.istitle() else profile.profession
    return (
        ("full name", Value(kind=ValueKind.NAME, text=profile.name)),
        ("age", number(profile.age)),
        ("profession", Value(kind=ValueKind.NAME, text=profession)),
        ("home city", Value(kind=ValueKind.NAME, text=profile.city)),
    )
