"""Dates and lengths of time of a probe and its evidence, counted without and with the first day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import combinations

from longbeam.review.archive import OpenConversation
from longbeam.review.tuning import REVIEWING
from longbeam.schemas import Probe, Record, Value, ValueKind
from longbeam.text import CALENDAR_UNITS, months_between, normalize_values, values_in, weekday
from longbeam.validation import fault_of_length


class DateMention(Record):
    """A date, and the text that says it."""

    text: str
    date: dt.date
    weekday: str
    where: str
    """`question`, `gold_answer`, `nugget/ID`, `message/KEY`, or `sent/KEY`: the day a cited message was sent."""
    is_year_guessed: bool
    """Whether the text has no year: the nearest to the cited message was taken, or that of a date beside it."""


class DateSpan(Record):
    """Distance between two dates."""

    first: dt.date
    second: dt.date
    days: int
    """Days without the first one: March 1 to March 5 are 4."""
    days_inclusive: int
    weeks: float
    months: float


class LengthMention(Record):
    """A length of time as a text states it, compared with the spans."""

    text: str
    where: str
    verdict: str
    """`right`, `both_ends` (counted with the first day), `rounded`, `wrong`, or `unknown` without two dates."""
    span: DateSpan | None
    """The span that fits best; None without two dates."""


class DatesView(Record):
    """Dates, spans and lengths of a probe; all times are local times without zones."""

    dates: tuple[DateMention, ...]
    spans: tuple[DateSpan, ...]
    lengths: tuple[LengthMention, ...]
    computation: str
    computed_value: str


def dates_view(conversation: OpenConversation, probe: Probe) -> DatesView:
    """Return the dates and lengths of time in a probe and its evidence."""
    ids = conversation.ids
    cited = [conversation.lines[ids[e.message_key]] for e in probe.evidence if e.message_key in ids]
    first = (cited or conversation.lines)[0].sent_at.date()
    said = list(_said(probe, first, {line.message_key: line.sent_at.date() for line in cited}))
    sent = [
        DateMention(
            text=line.sent_at.date().isoformat(),
            date=line.sent_at.date(),
            weekday=weekday(line.sent_at.date()),
            where=f"sent/{line.message_key}",
            is_year_guessed=False,
        )
        for line in dict.fromkeys(cited)
    ]
    days = sorted({d.date for d in said})[: REVIEWING.most_dates]
    spans = [_span(a, b) for a, b in combinations(days, 2)]
    return DatesView(
        dates=(*said, *sent),
        spans=tuple(spans),
        lengths=tuple(_length(value, where, spans) for where, value in _lengths(probe)),
        computation=probe.details.computation,
        computed_value=probe.details.computed_value,
    )


def _texts(probe: Probe) -> Iterator[tuple[str, str]]:
    yield "question", probe.question
    yield "gold_answer", probe.gold_answer
    for nugget in probe.rubric:
        yield f"nugget/{nugget.nugget_id}", nugget.text
    for evidence in probe.evidence:
        yield f"message/{evidence.message_key}", evidence.quote


def _said(probe: Probe, first: dt.date, days: dict[str, dt.date]) -> Iterator[DateMention]:
    for where, text in _texts(probe):
        sent = days.get(where.removeprefix("message/"), first)
        # A date without a year takes the year of another date in the text, else the year nearest to the message.
        written = [v.date.year for v in values_in(text) if v.kind is ValueKind.DATE and v.date is not None]
        guess = written[0] if written else sent.year
        certain = {v.text for v in values_in(text) if v.kind is ValueKind.DATE and v.date is not None}
        for value in values_in(text, year=guess):
            if value.kind is ValueKind.DATE and value.date is not None:
                is_guessed = value.text not in certain
                day = _nearest(value.date, sent) if is_guessed and not written else value.date
                yield DateMention(
                    text=value.text, date=day, weekday=weekday(day), where=where, is_year_guessed=is_guessed
                )


def _nearest(day: dt.date, sent: dt.date) -> dt.date:
    """Return the day in the year in which it is nearest to the message: January 6, written in December, is to come."""
    if (day.month, day.day) == (2, 29):
        return day
    return min((day.replace(year=day.year + by) for by in (-1, 0, 1)), key=lambda near: abs(near - sent))


def _lengths(probe: Probe) -> Iterator[tuple[str, Value]]:
    for where, text in _texts(probe):
        if not where.startswith(("question", "message/")):
            for value in values_in(normalize_values(text)):  # in numerals, or "fifty-seven days" would be seven
                if value.kind is ValueKind.DURATION and value.unit in CALENDAR_UNITS:
                    yield where, value


def _length(value: Value, where: str, spans: list[DateSpan]) -> LengthMention:
    order = ("", "both_ends", "rounded", "wrong_duration")
    faults = [(order.index(fault_of_length(value, s.first, s.second)), i) for i, s in enumerate(spans)]
    if not faults:
        return LengthMention(text=value.text, where=where, verdict="unknown", span=None)
    fault, best = min(faults)
    verdict = ("right", "both_ends", "rounded", "wrong")[fault]
    return LengthMention(text=value.text, where=where, verdict=verdict, span=spans[best])


def _span(first: dt.date, second: dt.date) -> DateSpan:
    days = (second - first).days
    return DateSpan(
        first=first,
        second=second,
        days=days,
        days_inclusive=days + 1,
        weeks=round(days / 7, 2),
        months=round(months_between(first, second), 2),
    )
