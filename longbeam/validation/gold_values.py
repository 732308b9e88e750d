"""Gold that can be proved: each typed value of gold answer and nuggets stands in the evidence, or is computed.

Gold that guides answers (preferences, instructions) describes what an answer does and not what was said, so it may
hold other values. Of these probes only the nuggets are read, and only for a warning.

Values with one fault are one finding. Ids of messages (`chat_id: 12, 14`) are no values: they have a finding of their
own.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator

from longbeam.abilities import Trait
from longbeam.schemas import Message, Probe, Value, ValueKind
from longbeam.text import (
    date_value,
    distinct_values,
    in_days,
    is_day_meant,
    is_day_named,
    parse_value,
    says,
    says_equivalent,
    spell_out,
    values_in,
)
from longbeam.validation.arithmetic import has_own_span, is_computed
from longbeam.validation.base import ERROR, WARNING, Check, Problem, asks_assistant, claim, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_WHERE = {
    "wrong_year": "the evidence, which gives that day another year",
    "vague_day": "the evidence, which only names a time of about then",
    "not_in_guidance": "the quotes",
    "not_in_quote": "the quotes, only elsewhere in the cited messages",
    "only_in_reply": "what the user says in the cited messages, only in a cited reply",
    "not_in_evidence": "the evidence, and nothing computes it",
    "nowhere": "any message of the user, and nothing computes it",
}
"""Place where a value is missing, by the kind of the problem."""


_CHAT_IDS = re.compile(
    r"\b(?:(?:source[_ ])?(?:chat|message|msg|turn)[_ ]?ids?|(?:messages?|chats?) (?:nos?\.?|numbers?)|"
    r"messages(?= \d+\b(?![.)] \w)))"
    r"\s*[:=#]?\s*[\[(]?\s*\d+(?:\s*(?:,|;|and|&|,\s*and|to|[-–])\s*\d+)*\s*[\])]?|"
    r"[\[(]\s*\d+(?:\s*,\s*\d+){2,}\s*[\])]",
    re.IGNORECASE,
)
"""Ids of messages: `chat_id: 12`, `messages 12, 14 and 16`, `[12, 14, 18]`; not `2. the messages 3. the bill`."""
MOST_NAMED = 4
"""Values of one fault that its finding names; the others are only counted."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of gold and nuggets that no evidence says and nothing computes."""
    if has_trait(probe, Trait.ABSTAINS) or not probe.evidence:
        return
    keys = tuple(m.message_key for m in index.cited(probe))
    if ids := next((m for text in _texts_of(probe) if (m := _CHAT_IDS.search(text))), None):
        yield Problem("chat_ids", probe.probe_id, f"the gold names messages by their ids: {shorten(ids[0])!r}", keys)
    faults: dict[str, list[str]] = {}
    for value in _values_of(probe):
        kind = _kind_of_fault(index, probe, value)
        if kind is not None:
            faults.setdefault(kind, []).append(value.text)
    for kind, said in faults.items():
        listed = ", ".join(map(repr, said[:MOST_NAMED])) + (
            f" and {n} more" if (n := len(said) - MOST_NAMED) > 0 else ""
        )
        verb = "is" if len(said) == 1 else "are"
        yield Problem(kind, probe.probe_id, f"the gold says {listed}, which {verb} not in {_WHERE[kind]}", keys)


def _texts_of(probe: Probe) -> list[str]:
    """Return the texts whose values the evidence must prove."""
    texts = [claim(n.text) for n in probe.rubric]
    if not has_trait(probe, Trait.GUIDES_ANSWERS):
        texts.insert(0, probe.gold_answer)
    return texts


def _values_of(probe: Probe) -> list[Value]:
    """Return the typed values that the evidence must prove, each once."""
    found: dict[tuple[str, str], Value] = {}
    for text in _texts_of(probe):
        for value in distinct_values(_CHAT_IDS.sub(" ", text)):
            found.setdefault((value.kind, value.text.casefold()), value)
    return list(found.values())


def _kind_of_fault(index: ConversationIndex, probe: Probe, value: Value) -> str | None:
    """Return how a value of the gold lacks proof, or None if it is proved."""
    if has_trait(probe, Trait.RECALLS) and _has_wrong_year(index, probe, value):
        return "wrong_year"
    if _is_given(index, probe, value) or _is_given_by_day(index, probe, value, is_day_named):
        return None
    proving = [m for m in index.cited(probe) if index.speaks_as_user(m) or _is_about_replies(probe)]
    is_cited = any(says_equivalent(m.content, value) for m in proving)
    # An import without quotes has no quote that could lack the value.
    if is_cited and not any(e.quote for e in probe.evidence):
        return None
    if has_trait(probe, Trait.GUIDES_ANSWERS):
        return None if _is_given_by_day(index, probe, value, is_day_meant) else "not_in_guidance"
    if is_cited:
        return None if _is_given_by_day(index, probe, value, is_day_meant) else "not_in_quote"
    if _is_given_by_day(index, probe, value, is_day_meant):
        return "vague_day" if value.kind is ValueKind.DATE and has_trait(probe, Trait.RECALLS) else None
    if is_computed(index, probe, value, [m.content for m in proving]):
        return None
    if in_days(value) and has_own_span(index, probe):
        return None  # `arithmetic` reports a wrong length of a span whose days the gold names
    if any(says_equivalent(m.content, value) for m in index.cited(probe)):
        return "only_in_reply"
    return "not_in_evidence" if _is_anywhere(index, value) else "nowhere"


def _is_about_replies(probe: Probe) -> bool:
    """Return whether the question is about what the assistant said, or the gold retells a conversation."""
    return has_trait(probe, Trait.RETELLS_HISTORY) or asks_assistant(probe.question)


def _is_anywhere(index: ConversationIndex, value: Value) -> bool:
    return any(says_equivalent(m.content, value) for m in index.messages if index.speaks_as_user(m))


def _is_given(index: ConversationIndex, probe: Probe, value: Value) -> bool:
    """Return whether quotes, question or details of the probe give a value."""
    details = probe.details
    quotes = index.quotes(probe.evidence)
    given = (quotes, probe.question, details.instruction, details.preference, "\n".join(details.items))
    if any(says_equivalent(text, value) for text in given if text):
        return True
    return bool(details.computed_value) and _is_same_result(details.computed_value, value)


def _is_given_by_day(
    index: ConversationIndex, probe: Probe, value: Value, is_day: Callable[[Message, Value], bool]
) -> bool:
    """Return whether the day of a cited message, or a phrase relative to that day, gives a value."""
    cited = index.cited(probe)
    if value.kind is not ValueKind.DATE:
        return any(is_day(m, value) for m in cited)
    undated = [m for m in cited if not _names_day(m)]
    if any(is_day(m, value) for m in undated):
        return True
    # Beside a written date, "the 22nd" and "on Monday" mean the one day that they spell out.
    dated = (spell_out(m.content, m.sent_at.date()) for m in cited if m not in undated)
    if any(says_equivalent(text, value) for text in dated):
        return True
    # "You told me on March 5": the day a cited message was sent is known without being said.
    sent = (date_value(m.sent_at.date()) for m in (undated if has_trait(probe, Trait.GIVES_STATED_DAYS) else cited))
    return any(says(value.text, day) for day in sent)


def _has_wrong_year(index: ConversationIndex, probe: Probe, value: Value) -> bool:
    """Return whether the user says the day of a date, and its year cannot be that of the gold.

    A year that is written decides. Without one, the day is meant in the year in which it lies nearest to its message.
    """
    if value.kind is not ValueKind.DATE or value.date is None or _says_year(probe.question, value.date):
        return False
    saying = [m for m in index.cited(probe) if index.speaks_as_user(m) and _days_like(m.content, value.date)]
    if not saying:
        return False
    return not any(_can_mean(m, value.date) for m in saying)


def _says_year(text: str, day: dt.date) -> bool:
    return any(v.date == day for v in values_in(text) if v.kind is ValueKind.DATE)


def _days_like(text: str, day: dt.date) -> list[Value]:
    """Return the dates of a text with this month and day, whatever their year."""
    dates = ((v, v.date or parse_value(v.text, year=2000).date) for v in values_in(text) if v.kind is ValueKind.DATE)
    return [v for v, read in dates if read is not None and (read.month, read.day) == (day.month, day.day)]


def _can_mean(message: Message, day: dt.date) -> bool:
    written = [v.date for v in _days_like(message.content, day)]
    if any(written):
        return day in written
    sent = message.sent_at.date()
    nearest = min(abs(day.replace(year=sent.year + n, day=min(day.day, 28)) - sent).days for n in (-1, 0, 1))
    return abs((day - sent).days) < nearest + CHECKING.year_apart


def _names_day(message: Message) -> bool:
    """Return whether a message writes a day out: then a check must not take all days that `on Monday` can mean."""
    return any(v.kind is ValueKind.DATE for v in values_in(message.content))


def _is_same_result(computed: str, value: Value) -> bool:
    result = parse_value(computed)
    same_days = in_days(value) is not None and in_days(value) == in_days(result)
    return same_days or says(computed, value) or (result.number is not None and result.number == value.number)


CHECK = Check(
    name="gold_values",
    doc="Dates, amounts, durations, versions and numbers of gold and nuggets stand in the evidence or are computed.",
    severities={
        "chat_ids": ERROR,
        "wrong_year": ERROR,
        "vague_day": WARNING,
        "nowhere": ERROR,
        "not_in_evidence": ERROR,
        "only_in_reply": WARNING,
        "not_in_quote": WARNING,
        "not_in_guidance": WARNING,
    },
    english_only=dict.fromkeys(
        (
            "chat_ids",
            "wrong_year",
            "vague_day",
            "nowhere",
            "not_in_evidence",
            "only_in_reply",
            "not_in_quote",
            "not_in_guidance",
        ),
        "reads dates, amounts and lengths of time as English writes them",
    ),
    on_probe=find_problems,
)
