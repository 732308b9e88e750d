"""Gold that a later message overtakes, read from the messages alone: for probes that no ledger knows.

A later message of the user gives another value of the same kind, next to the words that the gold has next to its own,
and says that something changed. Where the ledger knows the fact, `stale_gold` decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from longbeam.abilities.record import Trait
from longbeam.schemas.dialogue import Message
from longbeam.schemas.plans import Value, ValueKind
from longbeam.schemas.probes import Probe
from longbeam.text.extraction import distinct_values, extract_values, parse_value
from longbeam.text.matching import says, says_equivalent
from longbeam.text.words import content_words
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.slots import later_mentions, slot_of

_VERBS = (
    r"(?:re-?schedul|mov|postpon|chang|extend|increas|push|updat|adjust|revis|shift|rais|lower|reduc|delay|grow|grew|"
    r"upgrad|bring|brought|switch|bump|cut)"
)
CHANGES = re.compile(
    rf"(?:\b{_VERBS}\w*\b[^.,;!?\n]{{0,70}}?\b(?:to|until|till)|\bnow\b[^.,;!?\n]{{0,50}}?\b(?:to|by|for|at|is|are|on|has|reached|costs?|takes?))"
    r"(?: (?:the|a|an|about|around|only))?\s*$",
    re.IGNORECASE,
)
"""What stands in front of a value that something was changed to."""
_CHANGE_WORDS = re.compile(rf"^(?:{_VERBS})")
ASKS_FOR_THE_PAST = re.compile(
    r"\b(?:original(?:ly)?|initial(?:ly)?|at first|before|previous(?:ly)?|earlier|formerly|old|used to|"
    r"beginning|started (?:out|with)|change[ds]?|difference|increase[ds]?|decrease[ds]?|history|improve\w*)\b",
    re.IGNORECASE,
)
_GENERIC = content_words("date target number total amount value figure")
"""Words that name a value of any thing."""
MIN_SHARED, MIN_WORDS = 0.6, 2
WINDOW = 90
"""Characters on either side of a value that say what it is of."""
_CLAUSE = re.compile(r"[.;!?\n]\s|,\s(?=(?:and|but|so|can)\b)|\b(?:and|but|or|before|after|until|between)\b")
_KINDS = frozenset({ValueKind.DATE, ValueKind.MONEY, ValueKind.RATIO, ValueKind.NUMBER, ValueKind.DURATION})


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of the gold to which a later message gives another one."""
    is_current = bool(probe.details.new_value) and says(probe.gold_answer, parse_value(probe.details.new_value))
    if not has_trait(probe, Trait.RECALLS) or (ASKS_FOR_THE_PAST.search(probe.question) and not is_current):
        return
    if any(fact_id in index.facts for fact_id in probe.fact_ids):
        return
    cited = [m for m in index.cited(probe) if index.speaks_as_user(m)]
    told = "\n".join((probe.gold_answer, *(n.text for n in probe.rubric)))
    for value in distinct_values(probe.gold_answer):
        says_it = [m for m in cited if says_equivalent(m.content, value)]
        if value.kind not in _KINDS or not says_it:
            continue
        found = _changed(index, probe, value, says_it[-1], told)
        if has_trait(probe, Trait.ASKS_NEWEST_VALUE) and (found is None or found.kind == "other_later"):
            found = _tracked(index, probe, value, says_it[-1]) or found
        if found is not None:
            yield found


def _changed(index: ConversationIndex, probe: Probe, value: Value, cited: Message, told: str) -> Problem | None:
    """The first later message with another value beside most of the words that name this one."""
    slot = _slot(probe, value)
    if len(slot) < MIN_WORDS:
        return None
    for message in islice(index.messages, index.position[cited.message_key] + 1, None):
        if index.speaks_as_user(message) and (other := _other_value(index, message, value, slot, told)):
            is_change = CHANGES.search(_before(message.content, other)) is not None
            is_third = has_trait(probe, Trait.ASKS_UPDATED_VALUE)
            kind = "other_later" if not is_change else "third_value" if is_third else "changed_later"
            text = f"{message.message_key} says {other.text!r} of {_named(slot)}, and the gold {value.text!r}"
            return Problem(kind, probe.probe_id, text, (cited.message_key, message.message_key))
    return None


def _tracked(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """The first later sentence that gives the same slot another value."""
    slot = slot_of(index, probe, value, _clause(probe, value))
    if slot is None:
        return None
    for mention in later_mentions(index, slot, index.position[cited.message_key]):
        key = mention.message.message_key
        text = f"{key} says {mention.value.text!r} of {_named(frozenset(slot.core))}, and the gold {value.text!r}"
        return Problem("maybe_changed", probe.probe_id, text, (cited.message_key, key))
    return None


def _clause(probe: Probe, value: Value) -> str:
    """The part of the gold that says a value."""
    return next((c for c in _CLAUSE.split(probe.gold_answer) if says_equivalent(c, value)), "")


def _slot(probe: Probe, value: Value) -> frozenset[str]:
    """Return the words that tell what the value is of: its clause in the gold, or the question."""
    clauses = [c for c in _CLAUSE.split(probe.gold_answer) if says(c, value)]
    near = content_words(clauses[0].replace(value.text, " ")) if clauses else frozenset()
    near, asked = (
        _without_changes(words) - content_words(value.text) for words in (near, content_words(probe.question))
    )
    return near if len(near) >= MIN_WORDS else asked


def _without_changes(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if not _CHANGE_WORDS.match(w) and w not in _GENERIC)


def _other_value(
    index: ConversationIndex, message: Message, value: Value, slot: frozenset[str], told: str
) -> Value | None:
    folded = message.content
    if len(index.words(message) & slot) < max(MIN_WORDS, MIN_SHARED * len(slot)):
        return None
    if says(folded, value):
        return None
    for other in extract_values(folded):
        if other.kind is not value.kind or not _is_comparable(value, other) or says(told, other):
            continue
        near = content_words(_around(folded, other)) & slot
        if len(near) >= max(MIN_WORDS, MIN_SHARED * len(slot)):
            return other
    return None


def _is_comparable(value: Value, other: Value) -> bool:
    if value.kind is ValueKind.NUMBER:
        return bool(value.unit) and value.unit == other.unit
    return value.kind is not ValueKind.DURATION or value.unit == other.unit


def _around(text: str, value: Value) -> str:
    at = text.find(value.text)
    return text[max(at - WINDOW, 0) : at + len(value.text) + WINDOW]


def _before(text: str, value: Value) -> str:
    at = text.find(value.text)
    return text[max(at - 2 * WINDOW, 0) : at]


def _named(slot: frozenset[str]) -> str:
    return shorten(repr(" ".join(sorted(slot))), 60)


CHECK = Check(
    name="later_values",
    doc="No later message of the user gives what the gold says another value; read from the messages, without ledger.",
    severities={"changed_later": ERROR, "third_value": ERROR, "maybe_changed": WARNING, "other_later": INFO},
    english_only=dict.fromkeys(
        ("changed_later", "third_value", "maybe_changed", "other_later"), "reads English dates, amounts and words"
    ),
    on_probe=find_problems,
)
