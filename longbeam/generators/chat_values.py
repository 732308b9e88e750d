"""The typed value of a statement in somebody's own chats: read by code from words that a model names.

The words have to stand in the quote, whole: one end of a range, one of two choices and half of `2 hours 5 minutes` are
no value. The sentence that has them has to claim them. English rules; in other languages they find less.
"""

from __future__ import annotations

import datetime as dt
import re

from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.plans import Value, ValueKind
from longbeam.text.currencies import SIGNS
from longbeam.text.extraction import named_value, parse_value, values_in
from longbeam.text.grounding import nearest_day
from longbeam.text.matching import says
from longbeam.text.numbers import NUMBER_WORDS, SMALL_NUMBER
from longbeam.text.plans import side_of_day
from longbeam.text.polarity import is_denied_at, is_supposed_at
from longbeam.text.reading import read_value
from longbeam.text.sentences import sentences
from longbeam.text.times import DAY_WORD, SEASONS, TIME_UNITS, WEEKDAY
from longbeam.text.units import unit_name
from longbeam.text.values import name, number

FURTHEST_DAY = 150
"""Days from a message to a day that it names without a year; a day further off may be of either year."""
LONGEST_NAME = 60
"""Characters of a subject, an attribute or a value."""
_FROM_TODAY = re.compile(
    rf"\b(?:{DAY_WORD}|ago|(?:next|last|this|coming|past) (?:{WEEKDAY}|week(?:end)?|month|year|{'|'.join(SEASONS)}))\b",
    re.IGNORECASE,
)
"""Days that are told from the day of the message: `next Friday` is no answer months later."""
_BOUND = re.compile(
    r"\b(?:(?:less|fewer|more|cheaper|longer|shorter) than|under|below|over|above|up to|at (?:the )?(?:least|most)|"
    r"max(?:imum)?(?: of)?|min(?:imum)?(?: of)?)\s*\Z",
    re.IGNORECASE,
)
"""End of the words in front of a number that bounds an amount and is none: `up to`, `less than`."""
_NEAR = 60
"""Characters in front of a value that are read for what it is a part of."""
_COUNT = rf"(?:[{SIGNS}]?\d[\d.,]*|{SMALL_NUMBER})"
_LENGTH = rf"{_COUNT}[\s-]?(?:{'|'.join(TIME_UNITS.values())})(?!\w)"
_RANGE_BEFORE = re.compile(
    rf"(?:(?P<old>\bfrom\s+)?(?<!\w){_COUNT}(?:\s?[a-z]+)?\s+to\s+|\bbetween\s+|\d\s?[-–]\s?|\d\s+and\s+|[-−])\Z",
    re.IGNORECASE,
)
_RANGE_BEHIND = re.compile(rf"\s*(?:[-–]\s?|to\s+){_COUNT}", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\s+\Z", re.IGNORECASE), re.compile(r"\s+or\b", re.IGNORECASE)
_LENGTH_BEFORE = re.compile(rf"(?<!\w){_LENGTH}(?:\s+and)?\s+\Z", re.IGNORECASE)
_LENGTH_BEHIND = re.compile(rf"\s+(?:and\s+)?{_LENGTH}", re.IGNORECASE)
"""Words around a value that is a part of another one: `€80 to €85`, `3-5 May`, `-5 degrees`, `2 hours 5 minutes`."""


def claimed_value(text: str, quote: str, message: Message, *, is_dated: bool) -> Value | None:
    """Return the typed value of a text that the quote has and the message claims; None if there is none.

    `is_dated`: whether the time of the message is true, so that it gives the year to a day without one.
    """
    value = _value(text, quote, message.sent_at.date() if is_dated else None)
    return value if value is not None and _is_claimed(text, quote, message) else None


def standing(quote: str, content: str) -> str:
    """Return the words of the content that a quote repeats, other spaces allowed; empty if they do not stand there."""
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), content) if words else None
    return found.group() if found else ""


def _value(text: str, quote: str, today: dt.date | None) -> Value | None:
    """Return the typed value of a text that stands in the quote; words that are no typed value are taken as a name.

    A day without its year is that of its name nearest to `today`; None where that is unknown, or another year as near,
    or where the verb tells of the other side of `today`.
    """
    said = standing(text, quote).strip(" .,:;")
    if not said or len(said) > LONGEST_NAME or _is_part(said, quote):
        return None
    value = _typed(said)
    if _FROM_TODAY.search(said):
        return None
    if value.kind is ValueKind.DATE and value.date is None:
        day = nearest_day(said, today) if today is not None else None
        if day is None or today is None or abs((day - today).days) > FURTHEST_DAY:
            return None
        if (day - today).days * side_of_day(*quote.split(said, 1)) < 0:
            return None  # the year that is meant is further off
        value = value.model_copy(update={"date": day})
    if not says(quote, value):
        return None
    # A bound is no amount that can be added up.
    return name(said) if value.number is not None and _BOUND.search(quote.split(said, 1)[0]) else value


def _is_part(said: str, quote: str) -> bool:
    """Return whether a text is one end of a range, one of two choices, or a part of a longer value of the quote."""
    before, behind = quote.split(said, 1)
    before = before[-_NEAR:]
    if _CHOICE[0].search(before) or _CHOICE[1].match(behind):
        return True
    if not re.search(rf"\d|\b(?:{SMALL_NUMBER})\b", said, re.IGNORECASE):
        return False
    found = _RANGE_BEFORE.search(before)
    if _RANGE_BEHIND.match(behind) or (found and not found["old"]):  # `from €80 to €85` tells a change, to €85
        return True
    is_length = re.fullmatch(_LENGTH, said, re.IGNORECASE)
    return bool(is_length and (_LENGTH_BEFORE.search(before) or _LENGTH_BEHIND.match(behind)))


def _is_claimed(said: str, quote: str, message: Message) -> bool:
    """Return whether the sentence that says a value claims it: it is not denied there, nor does the user suppose it."""
    content = message.content
    start = content.find(quote)
    at = start + max(0, quote.find(standing(said, quote)))
    first, end = next((span for span in sentences(content) if span[0] <= at < span[1]), (start, start + len(quote)))
    sentence, place = content[first:end], at - first
    # The assistant advises so: "What if you set €300 aside?"
    is_supposed = message.role is MessageRole.USER and is_supposed_at(sentence, place)
    return not is_supposed and not is_denied_at(sentence, place)


def _typed(said: str) -> Value:
    value = _in_two_units(said) or parse_value(said)
    if value.kind is ValueKind.TEXT:
        value = number(NUMBER_WORDS.index(word)) if (word := said.casefold()) in NUMBER_WORDS else named_value(said)
    if value.kind is ValueKind.TEXT:
        return name(said)
    return value.model_copy(update={"text": said, "unit": unit_name(value.unit)})


def _in_two_units(said: str) -> Value | None:
    """Return a length of time in two units, `2 hours 5 minutes`; None for any other text."""
    found = values_in(said)
    rest = said.replace(found[0].text, "", 1).replace(found[1].text, "", 1) if len(found) == 2 else "-"
    if rest.strip(" ,") not in ("", "and") or any(v.kind is not ValueKind.DURATION for v in found):
        return None
    try:
        return read_value(said, ValueKind.DURATION)
    except ValueError:
        return None  # two lengths of time: `3 weeks and 2 days` can be added, `2 days, 3 days` cannot
