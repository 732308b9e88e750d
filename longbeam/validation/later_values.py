"""Gold that a later message changes, read from the messages alone: for probes whose facts no ledger knows.

A later message of the user gives another value of the same kind, next to the words that stand next to the value in the
gold, and says that something changed. Where the ledger knows the fact, `stale_gold` decides.
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
from longbeam.validation.wording import answer_text, asks_for_past

_VERBS = (
    r"(?:re-?schedul|mov|postpon|chang|extend|increas|push|updat|adjust|revis|shift|rais|lower|reduc|delay|grow|grew|"
    r"upgrad|bring|brought|switch|bump|cut)"
)
CHANGES = re.compile(
    rf"(?:\b{_VERBS}\w*\b[^.,;!?\n]{{0,70}}?\b(?:to|until|till)|\bnow\b[^.,;!?\n]{{0,50}}?\b(?:to|by|for|at|is|are|on|has|reached|costs?|takes?))"
    r"(?: (?:the|a|an|about|around|only))?\s*$",
    re.IGNORECASE,
)
"""Words directly in front of the value that something was changed to."""
_CHANGE_WORDS = re.compile(rf"^(?:{_VERBS})")
_GENERIC = content_words("date target number total amount value figure")
"""Stems of words that name a value of any thing."""
MIN_SHARED, MIN_WORDS = 0.6, 2
"""Share and number of the words naming a value that must stand near the other value."""
WINDOW = 90
"""Characters on either side of a value in which the words naming it are looked for."""
_CLAUSE = re.compile(r"[.;!?\n]\s|,\s(?=(?:and|but|so|can)\b)|\b(?:and|but|or|before|after|until|between)\b")
_KINDS = frozenset({ValueKind.DATE, ValueKind.MONEY, ValueKind.RATIO, ValueKind.NUMBER, ValueKind.DURATION})


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of the gold to which a later message gives another one."""
    if not has_trait(probe, Trait.RECALLS) or _wants_old_value(probe):
        return
    if any(fact_id in index.facts for fact_id in probe.fact_ids):
        return
    cited = [m for m in index.cited(probe) if index.speaks_as_user(m)]
    for value in distinct_values(probe.gold_answer):
        saying = [m for m in cited if says_equivalent(m.content, value)]
        if value.kind in _KINDS and saying and (found := _change_of(index, probe, value, saying[-1])) is not None:
            yield found


def _wants_old_value(probe: Probe) -> bool:
    """Return whether the question asks for what was before, and the gold does not say the newest value."""
    newest = probe.details.new_value
    is_newest = bool(newest) and says(probe.gold_answer, parse_value(newest))
    return not is_newest and asks_for_past(probe.question)


def _change_of(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later message that changes a value; None if none does."""
    found = _changed(index, probe, value, cited)
    # Where values are added up or compared, the gold names the thing of each too briefly to track a slot.
    if has_trait(probe, Trait.ASKS_NEWEST_VALUE) and (found is None or found.kind == "other_later"):
        return _tracked(index, probe, value, cited) or found
    return found


def _changed(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later message with another value beside most of the words that name this one."""
    words = _words_of_value(probe, value)
    if len(words) < MIN_WORDS:
        return None
    # Other values that the probe itself says are parts of its answer, not changes.
    answer = answer_text(probe)
    for message in islice(index.messages, index.position[cited.message_key] + 1, None):
        if not index.speaks_as_user(message) or len(index.words(message) & words) < _least(words):
            continue
        if (other := _other_value(message.content, value, words, answer)) is not None:
            is_change = CHANGES.search(_before(message.content, other)) is not None
            is_third = has_trait(probe, Trait.ASKS_UPDATED_VALUE)
            kind = "other_later" if not is_change else "third_value" if is_third else "changed_later"
            text = f"{message.message_key} says {other.text!r} of {_named(words)}, and the gold {value.text!r}"
            return Problem(kind, probe.probe_id, text, (cited.message_key, message.message_key))
    return None


def _tracked(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later sentence that gives the slot of this value another value."""
    slot = slot_of(index, probe, value, _clause(probe, value))
    if slot is None:
        return None
    for mention in later_mentions(index, slot, index.position[cited.message_key]):
        key = mention.message.message_key
        text = f"{key} says {mention.value.text!r} of {_named(frozenset(slot.core))}, and the gold {value.text!r}"
        return Problem("maybe_changed", probe.probe_id, text, (cited.message_key, key))
    return None


def _clause(probe: Probe, value: Value) -> str:
    """Return the part of the gold that says a value."""
    return next((c for c in _CLAUSE.split(probe.gold_answer) if says_equivalent(c, value)), "")


def _words_of_value(probe: Probe, value: Value) -> frozenset[str]:
    """Return the stems that name the thing whose value this is: those of its clause in the gold, or the question's."""
    clauses = [c for c in _CLAUSE.split(probe.gold_answer) if says(c, value)]
    near = content_words(clauses[0].replace(value.text, " ")) if clauses else frozenset()
    near, asked = (
        _without_changes(words) - content_words(value.text) for words in (near, content_words(probe.question))
    )
    return near if len(near) >= MIN_WORDS else asked


def _without_changes(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if not _CHANGE_WORDS.match(w) and w not in _GENERIC)


def _least(words: frozenset[str]) -> float:
    """Return how many of these words must stand in a message, and near its value."""
    return max(MIN_WORDS, MIN_SHARED * len(words))


def _other_value(text: str, value: Value, words: frozenset[str], answer: str) -> Value | None:
    """Return the first value of a text near most of these words that is neither this one nor in the answer."""
    if says(text, value):
        return None
    for other in extract_values(text):
        if other.kind is not value.kind or not _is_comparable(value, other) or says(answer, other):
            continue
        if len(content_words(_around(text, other)) & words) >= _least(words):
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
