"""Slots: the thing and the attribute that a value belongs to, and other values that the user gives them.

Slots are read from the messages alone, without a ledger:

- The clause of the gold that says the value names a thing, behind its last `of` or `for`, and an attribute of it.
- The core of the slot is made of the thing's words that the cited messages have, too. A word weighs the more the rarer
  it is in the conversation.
- A sentence of the user gives the slot a new value if the sentence has the core, a word of the attribute, and another
  value of the same kind and unit.
- Without a word of the attribute, the unit (`outings`) or a word of change (`now`) may stand in for it. They do so only
  where the thing had one value of that kind before: a thing with two dates has two attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from longbeam.schemas import Message, Probe, Value, ValueKind
from longbeam.text import ASKING_WORDS, content_words, normalize_values, says_equivalent, sentences, values_in
from longbeam.validation.index import ConversationIndex

MIN_CORE = 0.75
"""Share of the core's weight that the words of a sentence must have."""
MAX_COMMON = 0.3
"""Words in a larger share of the user's messages than this name nothing."""
TYPES = content_words("date day time number total amount value")
"""Stems of words that name a value of any thing."""
_BEGIN = content_words("start begin began begun kick opening launch")
_END = content_words("finish complete completion end close final deadline due deliver done")
_PLANNED = content_words("goal target aim budget limit hope estimate expect allowance")
"""Stems that tell one attribute of a thing from another: its first day from its last, an aim from a result."""
_WRITTEN_DOWN = re.compile(r"\b(?:have|has|had|having)(?: \w+){0,3}? down (?:for|as)\b", re.IGNORECASE)
"""Words of a plan that the stems do not tell: `the day you had down for having the tests done`."""
_MOVED = re.compile(r"\b(?:mov|shift|push|reschedul|postpon|delay)\w*\b", re.IGNORECASE)
"""Words that change a plan without naming it as one."""
_THING = re.compile(r"^.*\b(?:of|for)\s+(.*)$", re.DOTALL)
_CHANGE = re.compile(
    r"\b(?:now|new|instead|no longer|any ?more|by now|since then|becom(?:e|es|ing)|became|went (?:up|down)|"
    r"(?:chang|mov|shift|correct|updat|revis|adjust|extend|shorten|rais|lower|reduc|increas|reschedul|postpon|replac|"
    r"switch)\w*)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:used to|originally|initially|formerly|back then|at first|instead of|rather than|was once|from)"
    r"\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
"""Words in front of a value that is recalled, not given."""


@dataclass(frozen=True)
class Slot:
    """The thing and the attribute that a value belongs to."""

    value: Value
    core: dict[str, float]
    """Stems that name the thing, with their weights."""
    attribute: frozenset[str]
    """Stems that name the attribute."""
    is_planned: bool
    """Whether the value is an aim or an estimate, and no result."""
    known: str
    """Texts whose values are not new: gold, rubric, old value, cited messages."""


@dataclass(frozen=True)
class Mention:
    """A later sentence that gives the slot another value."""

    message: Message
    value: Value
    sentence: str


def slot_of(index: ConversationIndex, probe: Probe, value: Value, clause: str) -> Slot | None:
    """Return the slot of a value of the gold; None where too little names it."""
    cited = [m for m in index.cited(probe) if index.speaks_as_user(m)]
    said = frozenset().union(*(index.words(m) for m in cited))
    own = content_words(value.text) | ASKING_WORDS
    # The clause of the gold that says the value names its thing best; a bare value leaves that to the question.
    for text in (clause, probe.question):
        thing = _THING.search(text)
        for named in (thing[1] if thing else "", text):
            words = content_words(named) - own - TYPES
            # Words that the user says all the time tell nothing of the slot.
            core = {w: index.rarity(w) for w in sorted(words & said) if index.share_of_user(w) < MAX_COMMON}
            if core:
                known = (probe.gold_answer, probe.details.old_value, *(n.text for n in probe.rubric))
                attribute = content_words(text) - own - TYPES - core.keys()
                told = "\n".join((*known, *(m.content for m in cited)))
                is_planned = _is_planned(f"{clause}\n{probe.question}")
                return Slot(value, core, attribute, is_planned, told)
    return None


def _is_planned(text: str) -> bool:
    return bool(content_words(text) & _PLANNED) or _WRITTEN_DOWN.search(text) is not None


def is_other_end(words: frozenset[str], said: frozenset[str]) -> bool:
    """Return whether a text speaks of the end of a thing where others name its beginning, or the other way round."""
    if words & _BEGIN:
        return not said & _BEGIN
    return bool(words & _END and said & _BEGIN and not said & _END)


def is_recalled(sentence: str, value: Value) -> bool:
    """Return whether a sentence says a value as an old one: `moved from March 1`, `instead of $40`."""
    return _PAST.search(sentence[: sentence.find(value.text)]) is not None


def later_mentions(index: ConversationIndex, slot: Slot, after: int) -> Iterator[Mention]:
    """Yield sentences of the user, after a message, that give the slot a value that nobody gave it before."""
    has_one_attribute = True
    for place, message in index.user_messages_with(slot.core, _least(slot)):
        for sentence, others in _other_values(slot, message.content):
            words = content_words(sentence)
            is_of_plan = _is_planned(sentence) or (slot.is_planned and _MOVED.search(sentence) is not None)
            if is_of_plan != slot.is_planned:
                continue
            names_attribute = bool(slot.attribute & words)
            if place <= after:
                # A second value without a word of the attribute shows that the thing has two attributes.
                has_one_attribute &= names_attribute
            elif names_attribute or (has_one_attribute and (_has_unit(slot.value) or _CHANGE.search(sentence))):
                for other in others:
                    if not is_recalled(sentence, other):
                        yield Mention(message, other, sentence)


def _other_values(slot: Slot, text: str) -> Iterator[tuple[str, list[Value]]]:
    """Yield the sentences of a text that hold the slot's core, with the new values that they say."""
    for start, end in sentences(text):
        sentence = normalize_values(text[start:end])
        others = [v for v in values_in(sentence) if _is_new(slot, v)]
        if others and _holds_core(slot, content_words(sentence)):
            yield sentence, others


def _holds_core(slot: Slot, words: Iterable[str]) -> bool:
    return sum(slot.core.get(w, 0.0) for w in words) >= _least(slot)


def _least(slot: Slot) -> float:
    """Return the weight of the core's words that must stand together."""
    # Less than by the letter, as sums of fractions depend on their order.
    return MIN_CORE * sum(slot.core.values()) - 1e-9


def _has_unit(value: Value) -> bool:
    """Return whether the unit tells one attribute of a thing from another."""
    return value.kind in (ValueKind.NUMBER, ValueKind.DURATION) and bool(value.unit)


def _is_new(slot: Slot, other: Value) -> bool:
    """Return whether a value is comparable with the slot's and known from no text of the probe."""
    value = slot.value
    if (
        other.kind is not value.kind
        or content_words(other.unit) != content_words(value.unit)
        or says_equivalent(other.text, value)
    ):
        return False
    return not says_equivalent(slot.known, other)
