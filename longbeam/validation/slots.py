"""What a value is the value of, and where else the user gives that thing a value: read from the messages alone.

The gold's clause names a thing (what follows its last `of` or `for`, else all of it) and an attribute of the thing. The
thing's words that the cited messages have too are the core of the slot; each weighs as much as it is rare in the
conversation. A sentence of the user with the core and another value of the same kind and unit gives the slot a new
value, if it has a word of the attribute. Without one it does so only where the unit (`outings`) or a word of change
(`now`) stands in for it, and where nobody gave the thing a second value of that kind before: a thing with two dates has
two attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from longbeam.schemas.dialogue import Message
from longbeam.schemas.plans import Value, ValueKind
from longbeam.schemas.probes import Probe
from longbeam.text.extraction import extract_values
from longbeam.text.matching import says_equivalent
from longbeam.text.normalizing import normalize_values
from longbeam.text.sentences import sentences
from longbeam.text.words import ASKING_WORDS, content_words
from longbeam.validation.index import ConversationIndex

MIN_CORE = 0.75
"""Weight of the thing's words that a sentence must have."""
MAX_COMMON = 0.3
"""Words in more of the user's messages than this name nothing."""
TYPES = content_words("date day time number total amount value")
"""Words that name a value of any thing."""
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
"""In front of a value that is recalled, not given."""


@dataclass(frozen=True)
class Slot:
    """What a value is of: stems with their weights, and the stems of the attribute."""

    value: Value
    core: dict[str, float]
    attribute: frozenset[str]
    known: str
    """Texts whose values are no news: gold, rubric, old value, cited messages."""


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
    for text in (clause, probe.question):
        thing = _THING.search(text)
        for named in (thing[1] if thing else "", text):
            words = content_words(named) - own - TYPES
            core = {w: index.rarity(w) for w in sorted(words & said) if index.share_of_user(w) < MAX_COMMON}
            if core:
                known = (probe.gold_answer, probe.details.old_value, *(n.text for n in probe.rubric))
                attribute = content_words(text) - own - TYPES - core.keys()
                return Slot(value, core, attribute, "\n".join((*known, *(m.content for m in cited))))
    return None


def later_mentions(index: ConversationIndex, slot: Slot, after: int) -> Iterator[Mention]:
    """Yield sentences of the user, after a message, that give the slot a value that nobody gave it before."""
    least = MIN_CORE * sum(slot.core.values())
    is_only = True
    for place, message in enumerate(index.messages):
        if not index.speaks_as_user(message) or _weight(slot, index.words(message)) < least:
            continue
        for start, end in sentences(message.content):
            sentence = normalize_values(message.content[start:end])
            words = content_words(sentence)
            others = [v for v in extract_values(sentence) if _is_news(slot, v)]
            if not others or _weight(slot, words) < least:
                continue
            of_attribute = bool(slot.attribute & words)
            if place <= after:
                is_only &= of_attribute
                continue
            if not of_attribute and not (is_only and (_has_unit(slot.value) or _CHANGE.search(sentence))):
                continue
            for other in others:
                if not _PAST.search(sentence[: sentence.find(other.text)]):
                    yield Mention(message, other, sentence)


def _weight(slot: Slot, words: Iterable[str]) -> float:
    return sum(slot.core.get(w, 0.0) for w in words)


def _has_unit(value: Value) -> bool:
    """Whether the unit tells one attribute of a thing from another."""
    return value.kind in (ValueKind.NUMBER, ValueKind.DURATION) and bool(value.unit)


def _is_news(slot: Slot, other: Value) -> bool:
    value = slot.value
    if (
        other.kind is not value.kind
        or content_words(other.unit) != content_words(value.unit)
        or says_equivalent(other.text, value)
    ):
        return False
    return not says_equivalent(slot.known, other)
