"""Gold that a later message changes, read from the messages alone.

A later message of the user gives another value of the same kind, next to the words that stand next to the value in the
gold, and says that something changed. Changes that the ledger has are left to `stale_gold`: a value that a bullet of
the message asserts is none of this check's findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.abilities import Trait
from longbeam.schemas import Message, Probe, Value, ValueKind
from longbeam.text import (
    content_words,
    distinct_values,
    is_day_named,
    parse_value,
    says,
    says_equivalent,
    sentences,
    spell_out,
    value_keys,
    values_in,
)
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.slots import is_other_end, is_recalled, later_mentions, slot_of
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
CUES = re.compile(
    r"\b(?:now|instead|after all|no longer|any ?more|new (?:date|day|time|deadline)|slipped|re-?schedul\w*|"
    r"postpon\w*|moved|pushed|shifted|delayed|brought forward)\b",
    re.IGNORECASE,
)
"""Words near a day that may say that it is a new one."""
_CHANGE_WORDS = re.compile(rf"^(?:{_VERBS})")
_GENERIC = content_words("date target number total amount value figure")
"""Stems of words that name a value of any thing."""
MIN_SHARED, MIN_WORDS = 0.6, 2
"""Share and number of the words naming a value that must stand near the other value."""
WINDOW = 90
"""Characters on either side of a value in which the words naming it are looked for."""
_CLAUSE = re.compile(r"[.;!?\n]\s|,\s(?=(?:and|but|so|can)\b)|\b(?:and|but|or|before|after|until|between)\b")
_PARTS = re.compile(r"[.;!?\n]\s|,\s(?!\d{4}\b)")
"""Ends of the clauses of a message; no comma within a date."""
MIN_RETOLD, MIN_RETOLD_SHARE = 3, 0.75
"""Number and share of the words of a cited clause that must stand near another day to tell the clause again."""
_CORRECTS = re.compile(r"\b(?:correction|misspoke|correct (?:myself|what I said)|(?:date|day) wrong)\b", re.IGNORECASE)
"""Words that announce a correction; with them, `MIN_WORDS` are enough."""
_SPANS = content_words("day week month year")
_KINDS = frozenset({ValueKind.DATE, ValueKind.MONEY, ValueKind.RATIO, ValueKind.NUMBER, ValueKind.DURATION})


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of the gold to which a later message gives another one."""
    if not has_trait(probe, Trait.RECALLS) or _wants_old_value(probe):
        return
    cited = [m for m in index.cited(probe) if index.speaks_as_user(m)]
    for value in distinct_values(probe.gold_answer):
        saying = [m for m in cited if says_equivalent(m.content, value) or is_day_named(m, value)]
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
    if found is not None and found.kind != "other_later":
        return found
    # Where values are added up or compared, the gold names the thing of each too briefly to track a slot.
    tracked = _tracked(index, probe, value, cited) if has_trait(probe, Trait.ASKS_NEWEST_VALUE) else None
    return tracked or _retold(index, probe, value, cited) or found


def _changed(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later message with another value beside most of the words that name this one."""
    words = _words_of_value(probe, value)
    if len(words) < MIN_WORDS:
        return None
    # Other values that the probe itself says are parts of its answer, not changes.
    answer = answer_text(probe)
    after = index.position[cited.message_key]
    for place, message in index.user_messages_with(dict.fromkeys(words, 1.0), _least(words)):
        if place <= after:
            continue
        other = _other_value(message.content, value, words, answer)
        if other is not None and not _is_recorded(index, message, other):
            kind = _kind_of_change(probe, words, message.content, other)
            text = f"{message.message_key} says {other.text!r} of {_named(words)}, and the gold {value.text!r}"
            return Problem(kind, probe.probe_id, text, (cited.message_key, message.message_key))
    return None


def _retold(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later message that tells the cited clause again, with another day, as changed.

    The gold may name the thing in other words than the user: here the user's own words are looked for.
    """
    clause = next((c for c in _PARTS.split(_spelled(cited)) if says_equivalent(c, value)), "")
    words = (
        _without_changes(content_words(clause)) - content_words(" ".join(v.text for v in values_in(clause))) - _SPANS
    )
    if value.kind is not ValueKind.DATE or len(words) < MIN_WORDS:
        return None
    answer, after = answer_text(probe), index.position[cited.message_key]
    for place, message in index.user_messages_with(dict.fromkeys(words, 1.0), MIN_WORDS):
        if place <= after or not CUES.search(message.content):
            continue
        told, key = _spelled(message), message.message_key
        for other in values_in(told):
            if other.kind is not ValueKind.DATE or says(answer, other) or _is_recorded(index, message, other):
                continue
            near = _around(told, other)
            said = content_words(near)
            least = max(MIN_WORDS if _CORRECTS.search(near) else MIN_RETOLD, MIN_RETOLD_SHARE * len(words))
            is_retold = len(said & words) >= least and not is_other_end(words, said)
            if is_retold and CUES.search(near) and not is_recalled(near, other):
                text = f"{key} says {other.text!r} of {_named(words)}, and the gold {value.text!r}"
                return Problem("maybe_changed", probe.probe_id, text, (cited.message_key, key))
    return None


def _spelled(message: Message) -> str:
    """Return the text of a message with days as dates: `the 12th` is a value, too."""
    return spell_out(message.content, message.sent_at.date())


def _kind_of_change(probe: Probe, words: frozenset[str], text: str, other: Value) -> str:
    """Return how sure it is that a message changes the value that these words name to another one."""
    sentence = next((s for a, b in sentences(text) if other.text in (s := text[a:b])), text)
    if is_other_end(words, content_words(sentence)):
        return "other_later"
    if CHANGES.search(_before(text, other)):
        return "third_value" if has_trait(probe, Trait.ASKS_UPDATED_VALUE) else "changed_later"
    at = sentence.find(other.text)
    near = sentence[max(at - WINDOW, 0) : at + len(other.text) + WINDOW]
    is_cued = CUES.search(near) is not None and not is_recalled(sentence, other)
    is_named = len(content_words(sentence) & words) >= _least(words)
    return "maybe_changed" if other.kind is ValueKind.DATE and is_cued and is_named else "other_later"


def _is_recorded(index: ConversationIndex, message: Message, other: Value) -> bool:
    """Return whether a bullet of a message asserts a value, or whether the value is the day of the message.

    `stale_gold` knows changes in the ledger.
    """
    day = message.sent_at.date()
    told = (a.value for bullet_id in message.bullet_ids for a in index.by_bullet.of(bullet_id) if a.value is not None)
    recorded = {("date", day), *(key for value in told for key in value_keys(value, day))}
    return other.date == day or not recorded.isdisjoint(value_keys(other, day))


def _tracked(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later sentence that gives the slot of this value another value."""
    slot = slot_of(index, probe, value, _clause(probe, value))
    if slot is None:
        return None
    for mention in later_mentions(index, slot, index.position[cited.message_key]):
        if _is_recorded(index, mention.message, mention.value):
            continue
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
    for other in values_in(text):
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
    doc="No later message of the user gives what the gold says a value that no bullet has; read from the messages.",
    severities={"changed_later": ERROR, "third_value": ERROR, "maybe_changed": WARNING, "other_later": INFO},
    english_only=dict.fromkeys(
        ("changed_later", "third_value", "maybe_changed", "other_later"), "reads English dates, amounts and words"
    ),
    on_probe=find_problems,
)
