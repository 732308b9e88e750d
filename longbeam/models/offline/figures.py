"""Figures of a reply: tables, schedules, calculations, drafts, code, worked problems.

They say the user's own dates and amounts, and the pack's code and problems.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator

from longbeam.models.offline.arithmetic import evaluate
from longbeam.models.offline.language import capital, fill, fill_low, identifier, is_new, lower_first, upper_first
from longbeam.models.offline.packs import Card, Option, Problem, Snippet, Thread
from longbeam.models.offline.turns import filled_code, shown_values
from longbeam.schemas import values
from longbeam.schemas.calls import BulletBrief
from longbeam.schemas.plans import ValueKind

_OPTION_LEADS = (
    "Your options for {it} side by side:", "To compare the ways you have with {it}:",
    "Here is how the ways differ for {it}:", "A small comparison for {it}:", "Three columns on {it}:",
    "What speaks for and against each way with {it}:", "The ways to go about {it}, weighed:",
    "For {it}, the choice looks like this:",
)  # fmt: skip
_SCHEDULE_LEADS = (
    "{it} as a schedule:", "Spread over the time you have for {it}:", "On the calendar, {it} could be:",
    "In dates, for {it}:", "If you want days for {it}:", "A possible order for {it}:",
    "Week by week, {it} might go like this:", "So that {it} does not pile up:",
)  # fmt: skip


_MONEY = (
    "In figures for {it}: of the {all}, keep {kept} back for surprises and plan with {left}, about {week} a week "
    "over four weeks.",
    "If {it} has {all}, I would act as if it were {left} and leave {kept} untouched.",
    "Of {all} for {it}, {kept} should stay in the drawer; {left} is what you really have, or {week} in each of "
    "four weeks.",
    "The sum for {it}: {all} less a reserve of {kept} makes {left}.",
)
_PLANNED = re.compile(r"budget|pot\b|limit|set aside|allowance|planned sum|target sum")
"""Amounts that are there to be spent; a price or a debt is not divided up."""


def options_table(thread: Thread, fields: dict[str, str], said: str, rng: random.Random) -> str:
    """The thread's ways compared, unless that was done a short while ago."""
    options: list[Option] = list(thread.options)
    if not is_new(fill_low(options[0].good, fields), said):
        return ""
    rng.shuffle(options)
    lead = fill(rng.choice(_OPTION_LEADS), fields)
    rows = [
        f"| {upper_first(fill_low(o.name, fields))} | {fill_low(o.good, fields)} | {fill_low(o.bad, fields)} |"
        for o in options
    ]
    pick = rng.choice(options)
    verdict = rng.choice(
        ("I lean towards {name}, {fits}.", "For you I would take {name}, {fits}.", "{Name} is right {fits}.")
    )
    name = fill_low(pick.name, fields)
    closing_ = verdict.format(name=name, Name=upper_first(name), fits=fill_low(pick.fits, fields).rstrip("."))
    columns = rng.choice(("Way | In its favour | Against it", "Option | Good | Bad", "What | For it | Against it"))
    table = "\n".join([f"| {columns} |", "| --- | --- | --- |", *rows])
    return f"{lead}\n\n{table}\n\n{closing_}"


def schedule_block(
    card: Card, fields: dict[str, str], today: dt.date, brief: BulletBrief | None, said: str, rng: random.Random
) -> str:
    """A card's points laid over the days that are left."""
    due = next(
        (f.value.date for f in (brief.facts if brief else ()) if f.value and f.value.date and f.value.date > today),
        None,
    )
    room = (due - today).days if due else rng.randint(9, 24)
    points = list(card.points)
    if room < len(points) or not is_new(f"| {capital(points[0].do, fields)} |", said):
        return ""
    rows = []
    for i, point in enumerate(points):
        day = today + dt.timedelta(days=max(1, room * (i + 1) // (len(points) + 1)))
        date = f"{values.weekday(day)}, {values.format_date(day, with_year=False)}"
        rows.append(f"| {date} | {capital(point.do, fields)} |")
    columns = rng.choice(("Day | What", "When | Step", "Date | To do"))
    table = "\n".join([f"| {columns} |", "| --- | --- |", *rows])
    end = f"\n\nThat leaves {fields['it']} a little air before {values.format_date(due)}." if due and room > 6 else ""
    return f"{fill(rng.choice(_SCHEDULE_LEADS), fields)}\n\n{table}{end}"


def numbers_block(brief: BulletBrief | None, thing: str, rng: random.Random) -> str:
    """A calculation with a sum of money that the user means to spend."""
    for line in brief.facts if brief else ():
        value = line.value
        if value is None or line.is_fixed or value.kind is not ValueKind.MONEY or not value.number:
            continue
        if _PLANNED.search(line.attribute):
            # The same share whenever it is worked out again.
            share = random.Random(f"{thing}/{line.attribute}").choice((0.1, 0.15, 0.2))
            reserve = round(value.number * share)
            rest = value.number - reserve
            kept, left = values.money(reserve, value.unit).text, values.money(rest, value.unit).text
            week = values.money(round(rest / 4), value.unit).text
            return fill(rng.choice(_MONEY), {"it": thing, "all": value.text, "kept": kept, "left": left, "week": week})
    return ""


def message_draft(
    thread: Thread, fields: dict[str, str], brief: BulletBrief | None, today: dt.date, rng: random.Random
) -> str:
    """A short message the user can send, when somebody else is part of it."""
    if brief is None or rng.random() < 0.5:
        return ""
    names = re.findall(r"\bmy (?:friend|colleague|partner|mother|father|son|daughter) ([A-Z][a-z]+)", brief.bullet.text)
    if not names:
        return ""
    ask = fill_low(rng.choice(rng.choice(thread.cards).points).do, fields)
    day = values.weekday(today + dt.timedelta(days=rng.randint(2, 5)))
    return (
        f"If you want to write to {names[0]}, something like this would do:\n\n"
        f"> Hi {names[0]}, a quick word about {fields['it']}. I plan to {ask}. "
        f"Could you tell me by {day} whether that suits you? Thank you!"
    )


def code_answer(snippet: Snippet, thing: str, rng: random.Random) -> Iterator[str]:
    """What is wrong with the code shown, and the code without the fault."""
    fixed = code_of(snippet, thing)
    lead = {
        "bug": ("I see it.", "Found it.", "The cause is in the code you sent.", "That symptom has one cause here."),
        "slow": (
            "The result is right, the way to it is long.",
            "This does more work than it needs.",
            "It can be faster.",
        ),
        "wanted": ("Here is a version to start from.", "This does what you describe.", "Something like this:"),
    }[snippet.kind]
    yield f"{rng.choice(lead)} {snippet.why.format(ident=identifier(thing))}"
    yield f"```{snippet.lang}\n{fixed}\n```"


def code_of(snippet: Snippet, thing: str) -> str:
    """The code without the fault."""
    return filled_code(snippet.fixed, thing)


def code_example(snippet: Snippet, thing: str, rng: random.Random) -> str:
    """A piece of code that belongs to the subject."""
    lead = rng.choice(
        (
            "A pattern that comes up around {it} sooner or later, when {fault}:",
            "Should it ever happen that {fault}, this is the shape of the answer for {it}:",
            "For reference, here is how I would write the part of {it} where {fault}:",
        )
    )
    fault = lower_first(snippet.fault.format(ident=identifier(thing)))
    return f"{fill(lead, {'it': thing, 'fault': fault})}\n\n```{snippet.lang}\n{code_of(snippet, thing)}\n```"


def worked_problem(problem: Problem, known: dict[str, str], rng: random.Random) -> Iterator[str]:
    """The mistake, the way, the result."""
    whole = shown_values(evaluate(problem.let, rng, given=known))
    lead = rng.choice(("Your attempt first.", "Let us look at your attempt.", ""))
    yield f"{lead} {problem.mistake.format(**whole)}".strip()
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    yield f"{rng.choice(('Step by step:', 'The way through:', 'Worked out:'))}\n\n{steps}"
    yield f"{rng.choice(('**Result:**', 'So the answer is:', '**Answer:**'))} {problem.answer.format(**whole)}"


_PRACTICE = (
    "One more to practise on, close to {it}: {text}", "For comparison with {it}, a similar one: {text}",
    "Try this one on {it} before you read on: {text}", "The same idea as in {it}: {text}",
    "If {it} is to stick, take this as well: {text}", "Another of the kind, for {it}: {text}",
)  # fmt: skip


def practice_problem(problem: Problem, thing: str, rng: random.Random) -> str:
    """A problem of the same kind with its solution."""
    whole = shown_values(evaluate(problem.let, rng))
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    lead = rng.choice(_PRACTICE).format(it=thing, text=problem.text.format(**whole))
    return f"{lead}\n\n{steps}\n\n{problem.answer.format(**whole)}"
