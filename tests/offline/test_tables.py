"""Tables of replies: the user's own values, what follows from them, and nothing else."""

from __future__ import annotations

import datetime as dt
import random

from longbeam.offline import Frame, Thread, pack_for, tables
from longbeam.prompts.calls import BulletBrief, LedgerLine
from longbeam.schemas import Bullet, BulletKind, Value
from longbeam.text import values
from tests.builders import good_conversation

TODAY = dt.date(2024, 3, 4)
RNG = random.Random(1)


def _line(attribute: str, value: Value | None) -> LedgerLine:
    return LedgerLine(
        fact_id="p0.f0",
        subject="the shed",
        attribute=attribute,
        kind=value.kind if value else values.number(1).kind,
        is_fixed=False,
        value=value,
    )


def _thread() -> Thread:
    return next(t for t in pack_for(good_conversation().head.seed).threads if t.things)


def _fields() -> dict[str, str]:
    thing = _thread().things[0]
    return {"it": thing, "matter": thing}


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")][2:]


def test_known_table_says_what_follows_from_each_value() -> None:
    known = (
        _line("target date", values.date_value(dt.date(2024, 3, 18))),
        _line("start date", values.date_value(dt.date(2024, 3, 3))),
        _line("weekly time", values.duration(90, "minutes")),
        _line("monthly fee", values.money(20, "USD")),
        _line("share done", values.ratio(0.42)),
    )
    rows = _rows(tables.known_table(known, "the shed", TODAY, "", RNG))
    # March 18, 2024 is a Monday, 14 days on; 4 × 90 minutes are 6 hours; 12 × $20 = $240; 0.42 is about 4 in 10
    assert rows == [
        "| Target date | March 18, 2024 | in 14 days, a Monday |",
        "| Start date | March 3, 2024 | 1 day ago, a Sunday |",
        "| Weekly time | 90 minutes | 6 hours in four weeks |",
        "| Monthly fee | $20 | $240 in a year |",
        "| Share done | 42% | about 4 in 10 |",
    ]


def test_known_table_needs_two_values_and_does_not_come_twice() -> None:
    known = (_line("size", values.number(12, "feet")), _line("price", values.money(300, "USD")))
    first = tables.known_table(known, "the shed", TODAY, "", RNG)
    assert len(_rows(first)) == 2
    assert tables.known_table(known, "the shed", TODAY, first, RNG) == ""
    assert tables.known_table((*known[:1], _line("colour", None)), "the shed", TODAY, "", RNG) == ""


def _brief(*changes: tuple[str, Value, Value | None]) -> BulletBrief:
    bullet = Bullet(
        bullet_id="p0.s0.b0",
        kind=BulletKind.UPDATE,
        narrative="x",
        topic="the shed",
        text="It is different now.",
        happens_on=TODAY,
    )
    lines = tuple(_line(attribute, new) for attribute, new, _ in changes)
    return BulletBrief(bullet=bullet, facts=lines, old_values=tuple(old for *_, old in changes))


def test_change_table_computes_the_difference() -> None:
    brief = _brief(
        ("budget", values.money(300, "USD"), values.money(240, "USD")),
        ("due date", values.date_value(dt.date(2024, 4, 1)), values.date_value(dt.date(2024, 4, 11))),
        ("colour", values.name("green"), values.name("red")),
        ("size", values.number(5, "feet"), None),
    )
    # 60 of 240 is a quarter; April 1 is ten days before April 11; what was not known before has not changed
    assert _rows(tables.change_table(brief, "the shed", RNG)) == [
        "| Budget | $240 | $300 | 25% more |",
        "| Due date | April 11, 2024 | April 1, 2024 | 10 days earlier |",
        "| Colour | red | green | another choice |",
    ]
    assert tables.change_table(_brief(), "the shed", RNG) == ""


def test_next_date_is_the_first_to_come() -> None:
    days = (dt.date(2024, 3, 4), dt.date(2024, 5, 1), dt.date(2024, 3, 9))
    lines = [_line("date", values.date_value(day)) for day in days]
    assert tables.next_date([*lines, _line("size", values.number(3))], TODAY) == dt.date(2024, 3, 9)
    assert tables.next_date(lines[:1], TODAY) is None


def test_schedule_and_milestones_end_before_the_date() -> None:
    due = TODAY + dt.timedelta(days=12)
    thread, frame = _thread(), Frame(_fields(), "", RNG)
    schedule = tables.schedule_block(thread.cards[0], frame, TODAY, due)
    days = [TODAY + dt.timedelta(days=i) for i in range(1, 12)]
    assert 4 <= len(_rows(schedule)) <= 5
    assert all(any(tables.day_of(day) in row for day in days) for row in _rows(schedule))
    stops = tables.milestones(thread, frame, TODAY, due)
    # 12 days: a third is March 8, two thirds March 12, the day before March 15
    assert [row.split(" | ")[0] for row in _rows(stops)] == [
        "| Friday, March 8",
        "| Tuesday, March 12",
        "| Friday, March 15",
    ]
    assert tables.milestones(thread, frame, TODAY, None) == ""


def test_recap_holds_only_what_was_said() -> None:
    thread, fields = _thread(), _fields()
    card = thread.cards[0]
    said = "\n".join(p.how.format(**fields) for p in card.points)
    rows = _rows(tables.recap_table(thread, fields, said, RNG))
    steps = {p.do.format(**fields).casefold() for p in card.points}
    assert len(rows) >= 3
    assert {row.split(" | ")[1].casefold() for row in rows} <= steps
    assert tables.recap_table(thread, fields, "", RNG) == ""
