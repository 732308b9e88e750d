"""Checks whether a probe tests the ability that it is named after, on a day and an answer that stand.

Rules see a part of what a strict reader of the conversation objects to: an order within one message, a summary that is
a list of look-ups, a day of two readings, an answer that one message says which nobody cites, a look-up called hard.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from longbeam.abilities import EVENT_ORDERING, SUMMARIZATION, Trait, is_kind
from longbeam.schemas import Difficulty, Probe, Value, ValueKind
from longbeam.text import WEEKDAYS, content_words, says, values_in
from longbeam.validation.base import WARNING, Check, Problem, answer_text, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_SLOT = re.compile(
    r"\b(?:how (?:many|much|long|often)|which (?!order\b)\w+|what (?:day|date|time|price|share|number|amount)|"
    r"the (?:day|date|number|price|share|cost|time|amount|place) (?:that|of|when|for|he|she|it|I|we|they|planned))\b",
    re.IGNORECASE,
)
"""Words that ask for one value."""
_LAST_WEEKDAY = re.compile(rf"\b(?:last|past) ({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield reasons for which a probe tests something else than its ability, or rests on what does not stand."""
    cited = {m.message_key for m in index.cited(probe)}
    if cited and probe.ability in (EVENT_ORDERING.name, SUMMARIZATION.name) and len(cited) < CHECKING.fit_messages:
        kind = "order_of_few" if probe.ability == EVENT_ORDERING.name else "summary_of_few"
        text = f"it rests on {len(cited)} message{'s' * (len(cited) > 1)}; {CHECKING.fit_messages} are the least"
        yield Problem(kind, probe.probe_id, text, tuple(sorted(cited)))
    if probe.ability == SUMMARIZATION.name and len(slots := _slots(index, probe)) > 1:
        yield Problem("summary_of_slots", probe.probe_id, f"the question of a summary asks for {', '.join(slots)}")
    if has_trait(probe, Trait.RECALLS) and not is_kind(probe.details.variety):
        if len(cited) == 1 and probe.difficulty is Difficulty.HARD:
            yield Problem("hard_look_up", probe.probe_id, "one cited message gives the answer, and it is called hard")
        if not has_trait(probe, Trait.ASKS_NEWEST_VALUE):  # what holds last is mostly said again
            yield from _said_elsewhere(index, probe, cited)
    yield from _two_readings(index, probe)


def _slots(index: ConversationIndex, probe: Probe) -> list[str]:
    """Return the single values that a question asks for: attributes of its facts, else words that ask for one."""
    asked = content_words(probe.question)
    facts = [index.facts[i] for i in probe.fact_ids if i in index.facts]
    things = content_words(" ".join(f.subject for f in facts))
    named = {f.attribute for f in facts if (words := content_words(f.attribute)) and words <= asked and words - things}
    return sorted(named) or [shorten(m[0]) for m in _SLOT.finditer(probe.question)]


def _said_elsewhere(index: ConversationIndex, probe: Probe, cited: set[str]) -> Iterator[Problem]:
    """Yield a message that nobody cites and that gives the whole answer of a probe on several messages."""
    values = [v for v in values_in(probe.gold_answer) if not says(probe.question, v) and _is_telling(v)]
    subject = content_words(probe.question)
    if len(cited) < 2 or not values or not subject:
        return
    first = re.findall(r"\w+", values[0].text.casefold())[0]
    for place in index.places_with(dict.fromkeys(subject, 1.0), CHECKING.fit_named * len(subject)):
        message = index.messages[place]
        if message.message_key in cited or first not in message.content.casefold():
            continue
        if all(says(message.content, v, message.sent_at.date()) for v in values):
            text = f"{message.message_key}, which is not cited, says {', '.join(v.text for v in values)}"
            yield Problem("said_elsewhere", probe.probe_id, text, (message.message_key,))
            return


def _is_telling(value: Value) -> bool:
    """Return whether a value is not in many messages by chance."""
    return value.kind is not ValueKind.NUMBER or bool(value.unit) or (value.number or 0) > 12


def _two_readings(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield a day of the answer that rests on `last Wednesday` alone, said on another day of the week."""
    given = [v.date for v in values_in("\n".join((answer_text(probe), *probe.details.computed_from))) if v.date]
    for evidence in probe.evidence:
        message = index.message(evidence.message_key)
        said = _LAST_WEEKDAY.search(evidence.quote)
        if said is None or message is None:
            continue
        sent = message.sent_at.date()
        back = (sent.weekday() - [w.casefold() for w in WEEKDAYS].index(said[1].casefold())) % 7
        readings = [sent - dt.timedelta(back + week) for week in (0, 7)]
        named = {v.date for m in index.cited(probe) for v in values_in(m.content)}
        if back and any(day in given and day not in named for day in readings):
            text = f"{said[0]!r}, said on a {WEEKDAYS[sent.weekday()]}, is {back} or {back + 7} days before"
            yield Problem("two_readings", probe.probe_id, text, (message.message_key,))
            return


CHECK = Check(
    name="ability_fit",
    doc="Orders and summaries rest on several messages, no look-up is called hard, days have one reading.",
    severities={
        "order_of_few": WARNING,
        "summary_of_few": WARNING,
        "summary_of_slots": WARNING,
        "hard_look_up": WARNING,
        "said_elsewhere": WARNING,
        "two_readings": WARNING,
    },
    english_only={
        "summary_of_slots": "reads English words that ask for a value",
        "said_elsewhere": "reads dates, amounts and lengths of time as English writes them",
        "two_readings": "reads English days",
    },
    on_probe=find_problems,
)
