"""Rules that a domain pack keeps beyond its schema. `find_problems` says what is wrong with one.

A rule yields the problems of one part: a beat, a slot, a card, a thread, the pack. The tests hold every pack of the
repository to all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from longbeam.offline import AMOUNTS, Beat, Card, Pack, PackSlot, Thread, fields_of
from longbeam.prompts.calls import MOST_ITEM_WORDS
from longbeam.schemas import ValueKind

WHO = ("friend", "acquaintance", "partner", "parent", "child", "someone")
COMMON_FIELDS = frozenset({"it", "who", "day", "weekday"})
"""Fields that every template may use: the thing, the person, the day of the beat."""
_SECOND_OCCASION = re.compile(
    r"\b(?:comes round|meets?|do \{it\}) again\b|\bagain about\b|\bmeet again\b|\banother (?:round|try)\b|"
    r"\bsecond (?:round|appointment|time)\b|\bthe next (?:date|time|one)\b|\bcontinues on\b|\bnew invitation\b"
)
"""Words by which a day is that of a further occasion, and no new day of the same one."""
_EXCLUSIVE = re.compile(r"\b(?:only|rather than|instead of|nothing else)\b")
_EXCLUDED = re.compile(
    r"\b(?:only|no|not|nothing|none|never|nobody|without|instead|over|before|first|single|one|alone|leaves out|avoids|"
    r"exactly|at most|under)\b"
)
"""Words of a preference for one thing and against another, and of a requirement that leaves the other out."""
_USERS_VOICE = re.compile(r"\b(?:I|me|my|mine|we|us|our)\b", re.IGNORECASE)


def find_problems(pack: Pack) -> list[str]:
    """Return what is wrong with a pack, one sentence each, in the order of its parts."""
    problems = [problem for thread in pack.threads for problem in _problems_of_thread(thread)]
    problems += [problem for rule in PACK_RULES for problem in rule(pack)]
    return [f"{pack.pack}: {problem}" for problem in problems]


def _problems_of_thread(thread: Thread) -> Iterator[str]:
    where = f"thread {thread.thread}"
    known: frozenset[str] = frozenset()
    for beat in thread.beats:
        told = ToldBeat(thread, beat, known)
        known = told.known_after
        for beat_rule in BEAT_RULES:
            yield from (f"{where}, beat {beat.beat}: {problem}" for problem in beat_rule(told))
    for thread_rule in THREAD_RULES:
        yield from (f"{where}: {problem}" for problem in thread_rule(thread))
    for name, slot in thread.slots.items():
        for slot_rule in SLOT_RULES:
            yield from (f"{where}, slot {name}: {problem}" for problem in slot_rule(thread, name, slot))
    for card in thread.cards:
        for card_rule in CARD_RULES:
            yield from (f"{where}, card {card.card}: {problem}" for problem in card_rule(card))


# --- beats ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ToldBeat:
    """A beat of a thread, with the slots that earlier beats have set."""

    thread: Thread
    beat: Beat
    known_before: frozenset[str]

    @cached_property
    def said(self) -> frozenset[str]:
        """Slots whose values the beat says."""
        return frozenset({*self.beat.sets, *self.beat.fixed, *self.beat.updates, *self.beat.recalls})

    @property
    def known_after(self) -> frozenset[str]:
        """Slots that have a value once the beat is told."""
        return self.known_before | self.said


def _slots_exist(told: ToldBeat) -> Iterator[str]:
    if unknown := sorted(told.said - set(told.thread.slots)):
        yield f"unknown slot {unknown[0]!r}"


def _slots_are_set_once(told: ToldBeat) -> Iterator[str]:
    if again := sorted({*told.beat.sets, *told.beat.fixed} & told.known_before):
        yield f"slot {again[0]!r} is set a second time; list it in updates"


def _slots_are_set_before_they_change(told: ToldBeat) -> Iterator[str]:
    if early := sorted(set(told.beat.updates) - told.known_before):
        yield f"slot {early[0]!r} is updated before it is set"
    if early := sorted(set(told.beat.recalls) - told.known_before):
        yield f"slot {early[0]!r} is recalled before it is set"


def _person_is_of_a_known_kind(told: ToldBeat) -> Iterator[str]:
    if told.beat.who is not None and told.beat.who not in WHO:
        yield f"who is {told.beat.who!r}; allowed are {', '.join(WHO)}"


def _tellings_say_all_values_and_no_others(told: ToldBeat) -> Iterator[str]:
    for text in told.beat.tell:
        fields = fields_of(text)
        if missing := sorted(told.said - fields):
            yield f"tell does not say {missing[0]!r}: {text!r}"
        if unsaid := sorted(fields - told.said - COMMON_FIELDS):
            yield f"tell uses {unsaid[0]!r}, which the beat neither sets nor updates: {text!r}"
        if "who" in fields and told.beat.who is None:
            yield "tell uses {who} and the beat names nobody"


def _questions_have_their_card(told: ToldBeat) -> Iterator[str]:
    cards = {c.card for c in told.thread.cards}
    yield from (f"no card {ask.card!r} in this thread" for ask in told.beat.ask if ask.card not in cards)


def _questions_and_denials_use_known_values(told: ToldBeat) -> Iterator[str]:
    for text in (*(a.q for a in told.beat.ask), *told.beat.deny, *told.beat.not_yet):
        if unknown := sorted(fields_of(text) - told.known_after - COMMON_FIELDS):
            yield f"{unknown[0]!r} is not known yet in {text!r}"


def _what_happened_can_be_denied(told: ToldBeat) -> Iterator[str]:
    # Without words of its own, a denial says that nothing was settled, which denies no result.
    if told.beat.fixed and not told.beat.deny:
        yield "has fixed values and no deny"


def _moved_days_are_of_the_same_occasion(told: ToldBeat) -> Iterator[str]:
    slots = [told.thread.slots[name] for name in told.beat.updates if name in told.thread.slots]
    if any(slot.type is ValueKind.DATE for slot in slots):
        yield from (f"tells of a second occasion: {t!r}" for t in told.beat.tell if _SECOND_OCCASION.search(t))


BEAT_RULES: tuple[Callable[[ToldBeat], Iterator[str]], ...] = (
    _slots_exist,
    _slots_are_set_once,
    _slots_are_set_before_they_change,
    _person_is_of_a_known_kind,
    _tellings_say_all_values_and_no_others,
    _questions_have_their_card,
    _questions_and_denials_use_known_values,
    _what_happened_can_be_denied,
    _moved_days_are_of_the_same_occasion,
)


# --- threads ----------------------------------------------------------------------------------------------------


def _outcomes_name_the_thing_and_slots_only(thread: Thread) -> Iterator[str]:
    for text in thread.outcome:
        if unknown := sorted(fields_of(text) - set(thread.slots) - {"it"}):
            yield f"outcome uses {unknown[0]!r}, which is no slot: {text!r}"
        if "it" not in fields_of(text):
            yield f"outcome does not name {{it}}: {text!r}"


def _has_two_outcomes(thread: Thread) -> Iterator[str]:
    if len(thread.outcome) < 2:
        yield "needs two outcomes"


def _some_beat_can_be_denied(thread: Thread) -> Iterator[str]:
    if not any(b.deny or b.not_yet for b in thread.beats):
        yield "no beat has deny or not_yet"


def _questions_back_are_questions(thread: Thread) -> Iterator[str]:
    yield from (f"ask_back is no question: {back.q!r}" for back in thread.ask_back if not back.q.endswith("?"))


THREAD_RULES: tuple[Callable[[Thread], Iterator[str]], ...] = (
    _outcomes_name_the_thing_and_slots_only,
    _has_two_outcomes,
    _some_beat_can_be_denied,
    _questions_back_are_questions,
)


# --- slots ------------------------------------------------------------------------------------------------------


def _told_by_a_beat(thread: Thread, name: str, slot: PackSlot) -> Iterator[str]:
    if slot.told_by and slot.told_by not in {b.beat for b in thread.beats}:
        yield f"told_by names no beat: {slot.told_by!r}"


def _has_a_trend_if_it_changes(thread: Thread, name: str, slot: PackSlot) -> Iterator[str]:
    changes = slot.type in AMOUNTS | {ValueKind.VERSION} and not any(name in b.fixed for b in thread.beats)
    if changes and slot.trend is None:
        yield "say its trend: falls, rises or either"
    if not changes and slot.trend is not None:
        yield "has a trend, and never changes"


def _changes_say_the_other_value(thread: Thread, name: str, slot: PackSlot) -> Iterator[str]:
    for text, field in [*((t, "new") for t in slot.moved), *((t, "other") for t in slot.misremember)]:
        if field not in fields_of(text) or fields_of(text) - {"it", field}:
            yield f"needs {{{field}}} and at most {{it}} beside it: {text!r}"


def _values_are_in_nobodys_voice(thread: Thread, name: str, slot: PackSlot) -> Iterator[str]:
    # The gold answer says a value as it is, and speaks to the user.
    yield from (f"a value speaks as the user: {value!r}" for value in slot.choose if _USERS_VOICE.search(value))


def _moves_to_no_second_occasion(thread: Thread, name: str, slot: PackSlot) -> Iterator[str]:
    if slot.type is ValueKind.DATE:
        yield from (f"tells of a second occasion: {text!r}" for text in slot.moved if _SECOND_OCCASION.search(text))


SLOT_RULES: tuple[Callable[[Thread, str, PackSlot], Iterator[str]], ...] = (
    _told_by_a_beat,
    _has_a_trend_if_it_changes,
    _changes_say_the_other_value,
    _values_are_in_nobodys_voice,
    _moves_to_no_second_occasion,
)


# --- cards ------------------------------------------------------------------------------------------------------


def _cards_name_nothing_but_the_thing(card: Card) -> Iterator[str]:
    texts = (*card.ask, *card.watch, *card.check, *(t for p in card.points for t in (p.do, p.why, p.how)))
    yield from (f"only {{it}} is allowed: {text!r}" for text in texts if fields_of(text) - {"it"})


def _advice_is_a_clause(card: Card) -> Iterator[str]:
    for point in card.points:
        if point.do[:1].isupper() or point.do.endswith("."):
            yield f"`do` is a clause, lower case, no full stop: {point.do!r}"
        if len(point.do.split()) > MOST_ITEM_WORDS:  # with `it` for the thing, as advice says where its name is long
            yield f"`do` has more than {MOST_ITEM_WORDS} words: {point.do!r}"


CARD_RULES: tuple[Callable[[Card], Iterator[str]], ...] = (_cards_name_nothing_but_the_thing, _advice_is_a_clause)


# --- the pack ---------------------------------------------------------------------------------------------------


def _endings_have_no_field(pack: Pack) -> Iterator[str]:
    yield from (f"ending has a field: {text!r}" for text in pack.ending if fields_of(text))


def _conditions_begin_with_when(pack: Pack) -> Iterator[str]:
    for standing in (*pack.instructions, *pack.preferences):
        if not standing.condition.startswith("when"):
            yield f"condition must begin with 'when': {standing.condition!r}"


def _preferred_alone_is_required_alone(pack: Pack) -> Iterator[str]:
    for standing in (s for p in pack.preferences for s in (p, p.later) if s is not None):
        if any(map(_EXCLUSIVE.search, standing.tell)) and not _EXCLUDED.search(standing.requirement):
            yield f"the requirement does not leave out what is not preferred: {standing.requirement!r}"


def _required_alone_is_preferred_alone(pack: Pack) -> Iterator[str]:
    for standing in (s for p in pack.preferences for s in (p, p.later) if s is not None):
        if re.search(r"\bonly\b", standing.requirement) and not all(map(_EXCLUDED.search, standing.tell)):
            yield f"the requirement is stronger than what is preferred: {standing.requirement!r}"


def _requests_have_the_name_in_the_condition(pack: Pack) -> Iterator[str]:
    later = (p.later for p in pack.preferences if p.later is not None)
    for standing in (*pack.instructions, *pack.preferences, *later):
        names = re.findall(r"\b[A-Z][A-Za-z]+\b", standing.condition)
        if names and not all(any(name in request for name in names) for request in standing.probe):
            yield f"a request does not name {names[0]}: {standing.probe}"


def _introductions_have_their_card(pack: Pack) -> Iterator[str]:
    cards = {f"{t.thread}/{c.card}" for t in pack.threads for c in t.cards}
    for ask in pack.intro_ask:
        if ask.card not in cards:
            yield f"intro_ask: no card {ask.card!r}; write thread/card"


def _snippets_have_code(pack: Pack) -> Iterator[str]:
    for snippet in pack.snippets:
        if snippet.kind != "wanted" and not snippet.code:
            yield f"snippet {snippet.snippet}: no code"


PACK_RULES: tuple[Callable[[Pack], Iterator[str]], ...] = (
    _endings_have_no_field,
    _conditions_begin_with_when,
    _preferred_alone_is_required_alone,
    _required_alone_is_preferred_alone,
    _requests_have_the_name_in_the_condition,
    _introductions_have_their_card,
    _snippets_have_code,
)
