"""Tables of a reply: the user's values, changes, options, schedules, milestones, recaps.

Figures are computed from the current values of the ledger. A table says only what the user has said, and what follows
from it.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Sequence

from longbeam.offline.blocks import ReplyFrame
from longbeam.offline.language import fill, fill_low, has_word, is_new, phrases, upper_first
from longbeam.offline.packs import Card, Option, Thread
from longbeam.offline.phrasing import piece_of
from longbeam.prompts.calls import BulletBrief, LedgerLine
from longbeam.schemas import Value, ValueKind
from longbeam.text import times, values

PLANNED = re.compile(r"budget|pot\b|limit|set aside|set-aside|allowance|planned sum|planned amount|target sum|allotted")
"""Attributes of amounts to be spent; a price or a debt is not divided up."""


def table(columns: str, rows: Sequence[str]) -> str:
    """Return a Markdown table; each row is `a | b | c`."""
    rule = " | ".join("---" for _ in columns.split(" | "))
    return "\n".join(f"| {row} |" for row in (columns, rule, *rows))


def day_of(date: dt.date) -> str:
    """Return a date as `Monday, March 4`."""
    return f"{times.weekday(date)}, {times.format_date(date, with_year=False)}"


def days_text(count: int) -> str:
    """Return `1 day`, `12 days`."""
    return "1 day" if count == 1 else f"{count} days"


# --- what is known ------------------------------------------------------------------------------------------

_KNOWN_LEADS = phrases("tables", "known_leads")
_KNOWN_COLUMNS = ("What | Value | What it means", "Point | As you said | In other words", "Item | Figure | Note")
_KNOWN_ENDS = phrases("tables", "known_ends")


def known_table(known: Sequence[LedgerLine], it: str, today: dt.date, said: str, rng: random.Random) -> str:
    """Return a table of the user's values of the thing, with what follows from each; empty for fewer than two."""
    lines = [line for line in known if line.value is not None]
    if len(lines) < 2 or not is_new(f"{upper_first(lines[0].attribute)} | {_text(lines[0])}", said):
        return ""
    rows = [f"{upper_first(line.attribute)} | {_text(line)} | {_meaning(line, today)}" for line in lines[-7:]]
    if not any(_meaning(line, today) for line in lines):
        columns, rows = "What | Value", [row.rpartition(" | ")[0] for row in rows]
    else:
        columns = rng.choice(_KNOWN_COLUMNS)
    open_ = [line for line in lines if not line.is_fixed]
    end = ""
    if open_ and rng.random() < 0.7:
        end = "\n\n" + fill(rng.choice(_KNOWN_ENDS), {"it": it, "attribute": rng.choice(open_).attribute})
    return f"{fill(rng.choice(_KNOWN_LEADS), {'it': it})}\n\n{table(columns, rows)}{end}"


def _text(line: LedgerLine) -> str:
    assert line.value is not None
    return line.value.text


def _meaning(line: LedgerLine, today: dt.date) -> str:
    """Return what follows from a value, in a few words; empty if nothing does."""
    value = line.value
    assert value is not None
    if value.date is not None:
        days = (value.date - today).days
        if days == 0:
            return f"today, a {times.weekday(value.date)}"
        when = f"in {days_text(days)}" if days > 0 else f"{days_text(-days)} ago"
        return f"{when}, a {times.weekday(value.date)}"
    if value.number is None:
        return ""
    if value.kind is ValueKind.RATIO:
        tenths = round(value.number * 10)
        return f"about {tenths} in 10" if 0 < tenths < 10 else ""
    word = line.attribute.split(" ", 1)[0]
    if word in _PERIODS and value.kind in {ValueKind.MONEY, ValueKind.DURATION}:
        factor, period = _PERIODS[word]
        return f"{_multiplied(value, factor).text} {period}"
    if value.kind is ValueKind.MONEY and PLANNED.search(line.attribute):
        return f"{values.money(round(value.number / 4), value.unit).text} in each of four weeks"
    if value.kind is ValueKind.DURATION and value.unit == "minutes" and value.number > 60:
        return f"{values.duration(round(value.number / 60, 1), 'hours').text}"
    if value.kind is ValueKind.DURATION and value.unit == "weeks":
        return days_text(round(value.number * 7))
    return ""


_PERIODS = {"weekly": (4, "in four weeks"), "daily": (7, "in a week"), "monthly": (12, "in a year")}


def _multiplied(value: Value, factor: int) -> Value:
    assert value.number is not None
    amount = value.number * factor
    if value.kind is ValueKind.MONEY:
        return values.money(amount, value.unit)
    if value.unit == "minutes" and amount >= 120:
        return values.duration(round(amount / 60, 1), "hours")
    return values.duration(amount, value.unit)


# --- what a change comes to ---------------------------------------------------------------------------------

_CHANGE_LEADS = phrases("tables", "change_leads")


def change_table(brief: BulletBrief | None, it: str, rng: random.Random) -> str:
    """Return a table of the values that a message has changed: before, after and the difference."""
    rows, attribute = [], ""
    for line, old in zip(brief.facts, brief.old_values, strict=True) if brief else ():
        if line.value is None or old is None or old.text == line.value.text:
            continue
        attribute = line.attribute
        rows.append(f"{upper_first(attribute)} | {old.text} | {line.value.text} | {_difference(old, line.value)}")
    if not rows:
        return ""
    lead = fill(rng.choice(_CHANGE_LEADS), {"it": it, "attribute": attribute})
    return f"{lead}\n\n{table('What | Before | Now | Difference', rows)}"


def _difference(old: Value, new: Value) -> str:
    if old.date is not None and new.date is not None:
        days = (new.date - old.date).days
        return f"{days_text(abs(days))} {'later' if days > 0 else 'earlier'}"
    if old.number is None or new.number is None or old.unit != new.unit or not old.number:
        return "another choice"
    share = round(100 * abs(new.number - old.number) / old.number)
    return f"{share}% {'more' if new.number > old.number else 'less'}"


# --- money --------------------------------------------------------------------------------------------------

# None of them speaks of a reserve: what the user is to keep back is a figure of the advice, which probes ask for.
_MONEY = phrases("tables", "money")


def numbers_block(brief: BulletBrief | None, thing: str, rng: random.Random) -> str:
    """Return a calculation with a sum of money that the user plans to spend."""
    for line in brief.facts if brief else ():
        value = line.value
        if value is None or line.is_fixed or value.kind is not ValueKind.MONEY or not value.number:
            continue
        if PLANNED.search(line.attribute):
            sums = {
                "all": value.text,
                "half": values.money(round(value.number / 2), value.unit).text,
                "week": values.money(round(value.number / 4), value.unit).text,
            }
            return fill(rng.choice(_MONEY), {"it": thing, "attribute": line.attribute, **sums})
    return ""


# --- ways compared ------------------------------------------------------------------------------------------

_OPTION_LEADS = phrases("tables", "option_leads")
_VERDICTS = phrases("tables", "verdicts")
_VERDICTS_WITHOUT_THING = phrases("tables", "verdicts_without_thing")


def options_table(thread: Thread, fields: dict[str, str], said: str, rng: random.Random) -> str:
    """Return a comparison of the thread's options; empty if one was given recently."""
    options: list[Option] = list(thread.options)
    if not is_new(fill_low(options[0].good, fields), said):
        return ""
    rng.shuffle(options)
    rows = [
        f"{upper_first(fill_low(o.name, fields))} | {fill_low(o.good, fields)} | {fill_low(o.bad, fields)}"
        for o in options
    ]
    pick = rng.choice(options)
    name, fits = fill_low(pick.name, fields), fill_low(pick.fits, fields).rstrip(".")
    verdicts = _VERDICTS_WITHOUT_THING if has_word(name + fits, fields["matter"]) else _VERDICTS
    names = {"it": fields["matter"], "name": name, "Name": upper_first(name), "fits": fits}
    columns = rng.choice(("Way | In its favour | Against it", "Option | Good | Bad", "What | For it | Against it"))
    lead = fill(rng.choice(_OPTION_LEADS), {"it": fields["matter"]})
    return f"{lead}\n\n{table(columns, rows)}\n\n{upper_first(rng.choice(verdicts).format(**names))}"


# --- dates --------------------------------------------------------------------------------------------------

_SCHEDULE_LEADS = phrases("tables", "schedule_leads")
_SCHEDULE_ENDS = phrases("tables", "schedule_ends")


def schedule_block(card: Card, frame: ReplyFrame, today: dt.date, due: dt.date | None) -> str:
    """Return a table of a card's points, at most five, spread over the days that are left."""
    fields, rng = frame.fields, frame.rng
    room = (due - today).days if due else rng.randint(9, 24)
    pieces = [piece_of(p, fields) for p in card.points[:5]]
    if room <= len(pieces) or not is_new(f"| {upper_first(pieces[0].do)} |", frame.said):
        return ""
    rows = []
    for i, piece in enumerate(pieces):
        day = today + dt.timedelta(days=max(1, room * (i + 1) // (len(pieces) + 1)))
        rows.append(f"{day_of(day)} | {upper_first(piece.do)}")
    columns = rng.choice(("Day | What", "When | Step", "Date | To do"))
    end = ""
    if due and room > 6:
        end = "\n\n" + fill(rng.choice(_SCHEDULE_ENDS), {"it": fields["matter"], "date": times.format_date(due)})
    return f"{fill(rng.choice(_SCHEDULE_LEADS), {'it': fields['matter']})}\n\n{table(columns, rows)}{end}"


def next_date(lines: Sequence[LedgerLine], today: dt.date) -> dt.date | None:
    """Return the next date after today among the values of these facts; None if there is none."""
    dates = [f.value.date for f in lines if f.value and f.value.date and f.value.date > today]
    return min(dates, default=None)


_MILESTONE_LEADS = phrases("tables", "milestone_leads")
_STOPS = ((1, 3, "a third of the time"), (2, 3, "two thirds"), (1, 1, "the day before"))


def milestones(thread: Thread, frame: ReplyFrame, today: dt.date, due: dt.date | None) -> str:
    """Return a table of signs of success on three days before the due date; empty if it is near or there is none."""
    fields, rng = frame.fields, frame.rng
    checks = [text for c in thread.cards for t in c.check if is_new(text := fill(t, fields), frame.said)]
    if due is None or (due - today).days < 8 or len(checks) < len(_STOPS):
        return ""
    rows = []
    for (part, of, name), check in zip(_STOPS, rng.sample(checks, len(_STOPS)), strict=True):
        day = today + dt.timedelta(days=(due - today).days * part // of - (part == of))
        rows.append(f"{day_of(day)} | {name} | {check}")
    lead = fill(rng.choice(_MILESTONE_LEADS), {"it": fields["matter"], "date": times.format_date(due)})
    return f"{lead}\n\n{table('Date | When | What should be true', rows)}"


# --- what was said a short while ago ------------------------------------------------------------------------

_RECAP_LEADS = phrases("tables", "recap_leads")


def recap_table(thread: Thread, fields: dict[str, str], said: str, rng: random.Random) -> str:
    """Return a table of points of the thread that were said recently; empty for fewer than three."""
    made = [
        (upper_first(fill(card.about, fields)), piece_of(p, fields))
        for card in thread.cards
        for p in card.points
        if not is_new(fill(p.how, fields), said) or not is_new(fill_low(p.do, fields), said)
    ]
    if len(made) < 3 or any("|" in p.do + p.why for _, p in made):
        return ""
    kept = sorted(rng.sample(range(len(made)), min(len(made), rng.randint(4, 6))))
    rows = [f"{about} | {upper_first(piece.do)} | {upper_first(piece.why)}" for about, piece in (made[i] for i in kept)]
    if not is_new(f"| {rows[0]} |", said):
        return ""
    columns = rng.choice(("Topic | Step | Why", "On | Do this | Because", "Question | What to do | Reason"))
    return f"{fill(rng.choice(_RECAP_LEADS), {'it': fields['matter']})}\n\n{table(columns, rows)}"
