"""Tables of a reply: the user's values, changes, options, schedules, milestones, recaps.

Figures are computed from the current values of the ledger. A table says only what the user has said, and what follows
from it.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Sequence

from longbeam.offline.blocks import Frame
from longbeam.offline.language import fill, fill_low, has_word, is_new, upper_first
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

_KNOWN_LEADS = (
    "What you have told me about {it} so far:", "Where {it} stands today, in your own figures:",
    "Your figures for {it} in one place:", "This is what I have noted for {it}:", "{it} at a glance:",
    "Before going on, the state of {it}:", "What is settled for {it} so far:", "My notes on {it} as of today:",
    "The facts on {it}, so that neither of us has to search:", "To keep {it} in view:",
    "All that I know of {it}, in a few rows:", "Let me put together what there is on {it}:",
    "So that we mean the same thing by {it}:", "The numbers behind {it}, as you gave them:",
    "How things stand with {it}:", "First, {it} as you have described it:", "A short record of {it}:",
    "From your messages on {it}:", "What I go by with {it}:", "Here is {it} in a nutshell:",
    "The groundwork for {it}:", "A look at {it} in figures:", "Collected from what you wrote about {it}:",
)  # fmt: skip
_KNOWN_COLUMNS = ("What | Value | What it means", "Point | As you said | In other words", "Item | Figure | Note")
_KNOWN_ENDS = (
    "If one of these has changed, tell me, because the plan for {it} hangs on them.",
    "Of these, the {attribute} decides most about {it}.",
    "I would check the {attribute} of {it} once more before anything else.",
    "The {attribute} is the figure I would watch with {it}.",
    "For the next step with {it}, the {attribute} matters most.",
    "Everything I suggest for {it} has to fit the {attribute} in that table.",
    "The one that can still move is the {attribute}, as far as I can see for {it}.",
)


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

_CHANGE_LEADS = (
    "The change for {it} in figures:", "Before and after, for {it}:", "What that changes for {it}:",
    "The {attribute} of {it}, old and new:", "Put side by side for {it}:",
    "So the {attribute} of {it} has moved like this:",
    "In numbers, the change to {it}:", "What was and what is, for {it}:", "The step in {it}, measured:",
    "How far the {attribute} of {it} has moved:", "{it} before and after:",
)  # fmt: skip


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
_MONEY = (
    "In figures for {it}: {all} comes to about {week} a week over four weeks.",
    "If {it} has {all}, I would act as if it were {half} until the first half of the work is done.",
    "Of {all} for {it}, {half} is the first half; beyond it every order deserves a second look.",
    "The sum for {it}: {all} in four equal parts makes {week} each.",
    "With {all} as the {attribute}, {it} can cost {week} a week for a month.",
)


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

_OPTION_LEADS = (
    "Your options for {it} side by side:", "To compare the ways you have with {it}:",
    "Here is how the ways differ for {it}:", "A small comparison for {it}:", "The ways to go about {it}, weighed:",
    "What speaks for and against each way with {it}:", "For {it}, the choice looks like this:",
    "There is more than one way with {it}:", "If you want to choose between ways for {it}:",
    "Side by side, the ways with {it}:", "Before you settle on a way for {it}:", "What {it} could look like instead:",
    "With {it} you can go about it in these ways:", "The alternatives for {it}, fairly compared:",
    "Each way with {it} has its price:", "So that you can weigh the ways for {it} yourself:",
    "How you could go about {it}:", "A few routes lead to {it}:", "Compared in short, for {it}:",
    "Good and bad sides of each way with {it}:", "To decide on {it}, look at these:",
    "I see these choices with {it}:", "The candidates for {it}:", "{it} can be done in more than one way:",
    "Set against each other for {it}:", "What you gain and give up with {it}:",
    "Which way to take with {it}, seen soberly:", "The options with {it}, without any favourites yet:",
)  # fmt: skip
_VERDICTS = (
    "For {it} I lean towards {name}, {fits}.", "With {it} I would take {name}, {fits}.",
    "{Name} is right for {it} {fits}.", "My pick for {it} is {name}, {fits}.",
    "For {it} I would go with {name} {fits}.",
    "With {it} my choice would be {name}, {fits}.", "{Name} suits {it} best {fits}.",
    "If you want one recommendation for {it}: {name}, {fits}.",
)  # fmt: skip
_VERDICTS_WITHOUT_THING = (
    "I lean towards {name}, {fits}.", "I would take {name}, {fits}.", "My pick is {name}, {fits}.",
    "{Name} is the one I would choose {fits}.", "My vote goes to {name}, {fits}.", "If it were me: {name}, {fits}.",
    "{Name} is where I would begin {fits}.", "Asked for one of them, I say {name}, {fits}.",
    "I would put my money on {name}, {fits}.", "{Name} wins for me {fits}.", "Of these I favour {name}, {fits}.",
    "The one I would try first is {name}, {fits}.", "{Name} it would be for me, {fits}.",
    "Weighing all of it, I come down on the side of {name}, {fits}.",
)  # fmt: skip


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

_SCHEDULE_LEADS = (
    "{it} as a schedule:", "Spread over the time you have for {it}:", "On the calendar, {it} could be:",
    "In dates, for {it}:", "If you want days for {it}:", "A possible order for {it}:",
    "Week by week, {it} might go like this:", "So that {it} does not pile up:", "A plan with dates for {it}:",
    "Laid over the calendar, {it} comes to this:", "With a day for each step, {it} could go like this:",
    "{it}, step by step and with dates:", "What to do on which day for {it}:", "If each step of {it} gets its day:",
    "One way to divide {it} over the coming days:", "Dates that would work for {it}:",
    "A timetable for {it}:", "{it}, divided into days:", "Here is how I would space out {it}:",
    "When to do what for {it}:", "The next days, seen from {it}:", "A realistic pace for {it}:",
    "In what order, and when, for {it}:", "{it}, without hurry:", "Put in the diary, {it} looks like this:",
    "Small steps for {it}, each with its day:", "My proposal for the calendar of {it}:",
    "So much for what; now when, for {it}:",
)  # fmt: skip
_SCHEDULE_ENDS = (
    "That leaves {it} a little air before {date}.",
    "With that, {it} is done some days before {date}.",
    "The days between the last step and {date} are the reserve for {it}.",
    "Anything that slips on {it} still fits in before {date}.",
    "If a step on {it} falls out, move the others and leave {date} where it is.",
    "I kept the last days before {date} free on purpose, as {it} will need them.",
    "What is left between the last step on {it} and {date} is for surprises.",
    "So {it} has some slack before {date}.",
    "Should a day go wrong, {it} can still be ready by {date}.",
    "Seen like this, {date} is no threat to {it}.",
    "Done in this order, {it} is through before {date} without a late night.",
    "Cross the steps of {it} off as you go, and {date} comes at its own pace.",
)


def schedule_block(card: Card, frame: Frame, today: dt.date, due: dt.date | None) -> str:
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


_MILESTONE_LEADS = (
    "Three points at which to look at {it} again before {date}:", "So that {date} comes as no surprise for {it}:",
    "How you will notice in time whether {it} makes it to {date}:", "Milestones for {it} on the way to {date}:",
    "On the way to {date}, I would check {it} three times:", "What should be true of {it}, and when:",
    "Three looks at {it} on the way to {date}:", "Whether {it} is on course for {date} shows at three points:",
    "Between today and {date}, {it} can be judged by this:", "Stops on the way to {date}, for {it}:",
)  # fmt: skip
_STOPS = ((1, 3, "a third of the time"), (2, 3, "two thirds"), (1, 1, "the day before"))


def milestones(thread: Thread, frame: Frame, today: dt.date, due: dt.date | None) -> str:
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

_RECAP_LEADS = (
    "To pull together what we have for {it} so far:", "The plan for {it} up to now, on one page:",
    "Put together, your list for {it} reads like this:", "What we said about {it}, to copy:",
    "A summary for {it}, so that you need not scroll back:", "The steps for {it} that are on the table already:",
    "So far, then, for {it}:", "If you print one thing about {it}, print this:",
    "Taken together, for {it}:", "To keep beside you while you work on {it}:", "{it} on one page, as it stands:",
    "What is on the list for {it}, and why:", "From the last answers on {it}, the part worth keeping:",
    "{it} in short, from what I wrote before:", "Gathered from my last answers, for {it}:",
    "All the steps for {it} side by side:", "A page for the wall, on {it}:", "Where my advice on {it} stands:",
    "The last messages on {it}, boiled down:", "So that it is all in one place for {it}:",
    "What to do for {it}, without the talk around it:", "My suggestions for {it}, collected:",
    "A checklist out of what I said on {it}:", "Before more is added to {it}, the list as it is:",
)  # fmt: skip


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
