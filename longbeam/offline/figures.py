"""Parts of a reply besides advice: a message to send, code, worked problems."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator

from longbeam.offline.arithmetic import evaluate
from longbeam.offline.language import fill, fill_low, identifier, lower_first
from longbeam.offline.packs import Problem, Snippet, Thread
from longbeam.offline.turns import filled_code, shown_values
from longbeam.prompts.calls import BulletBrief
from longbeam.text import times

_NAMED = re.compile(r"\bmy (?:friend|colleague|partner|mother|father|son|daughter) ([A-Z][a-z]+)")
_DRAFT_LEADS = (
    "If you want to write to {name} about {it}, something like this would do:",
    "A few lines to {name} on {it}, if you like:", "You could tell {name} about {it} in three sentences:",
    "To bring {name} in on {it}, this would be enough:", "A message to {name} on {it} that is quickly answered:",
    "For {name}, {it} fits into a short message:",
)  # fmt: skip
_DRAFTS = (
    "> Hi {name}, a quick word about {it}: I plan to {do}. Could you tell me by {day} whether that fits with {it}?",
    "> Dear {name}, I have thought about {it} again and would like to {do}. What do you think, is that wise with {it}?",
    "> {name}, you asked about {it}. My next step is to {do}, and on {day} I will know more about {it}.",
    "> Hello {name}, with {it} I am about to {do}. If you see a snag in {it}, please say so before {day}.",
)


def message_draft(
    thread: Thread, fields: dict[str, str], brief: BulletBrief | None, today: dt.date, rng: random.Random
) -> str:
    """Return a short message that the user can send to the person involved."""
    named = _NAMED.search(brief.bullet.text) if brief is not None else None
    if named is None or named[1] in fields["it"]:
        return ""
    do = fill_low(rng.choice(rng.choice(thread.cards).points).do, fields)
    day = times.weekday(today + dt.timedelta(days=rng.randint(2, 5)))
    names = {"name": named[1], "it": fields["it"], "do": do, "day": day}
    return f"{rng.choice(_DRAFT_LEADS).format(**names)}\n\n{rng.choice(_DRAFTS).format(**names)}"


def code_answer(snippet: Snippet, thing: str, rng: random.Random) -> Iterator[str]:
    """Yield the fault of the user's code, and the corrected code."""
    fixed = code_of(snippet, thing)
    lead = {
        "bug": (
            "I see it.",
            "Found it.",
            "The cause is in the code you sent.",
            "That symptom has one cause here.",
            f"So {snippet.fault}, and I can see why.",
            "One line of it does not do what it seems to do.",
            "Reading it slowly is enough to find the fault.",
            "Your description fits what the code does.",
            "It is a small slip with a large effect.",
            "The rest is sound; one spot is not.",
        ),
        "slow": (
            "The result is right, the way to it is long.",
            "This does more work than it needs.",
            "It can be faster.",
            f"No wonder that {snippet.fault}.",
            "Nothing is wrong with it but the time it takes.",
        ),
        "wanted": (
            "Here is a version to start from.",
            "This does what you describe.",
            "Something like this:",
            "A short one, to be changed as you like:",
            "Try this one first.",
        ),
    }[snippet.kind]
    yield f"{rng.choice(lead)} {snippet.why.format(ident=identifier(thing))}"
    yield f"```{snippet.lang}\n{fixed}\n```"


def code_of(snippet: Snippet, thing: str) -> str:
    """Return the corrected code."""
    return filled_code(snippet.fixed, thing)


_CODE_LEADS = (
    "A pattern that comes up around {it} sooner or later, when {fault}:",
    "Should it ever happen that {fault}, this is the shape of the answer for {it}:",
    "For reference, here is how I would write the part of {it} where {fault}:",
    "In case {fault}, here is what I would put into {it}:",
    "If you meet it in {it} one day that {fault}, begin with this:",
    "Code that {it} may need, namely when {fault}:",
    "For the day when {fault}, keep this beside {it}:",
    "Something to compare {it} with, in case {fault}:",
)


_WANTED_LEADS = (
    "Code for {it} with which {fault}:", "A piece that {it} may need sooner or later; with it, {fault}:",
    "For {it} I would keep this at hand, so that {fault}:", "Something that {it} can use, so that {fault}:",
)  # fmt: skip


def code_example(snippet: Snippet, thing: str, rng: random.Random) -> str:
    """Return an example of code on the subject."""
    names = {"it": thing, "fault": lower_first(snippet.fault.format(ident=identifier(thing)))}
    lead = fill(rng.choice(_WANTED_LEADS if snippet.kind == "wanted" else _CODE_LEADS), names)
    return f"{lead}\n\n```{snippet.lang}\n{code_of(snippet, thing)}\n```"


_ATTEMPT_LEADS = (
    "", "", "Your attempt first:", "First to your attempt at this one from {it}:",
    "What went wrong with this one from {it}:",
    "Your work on this one from {it} is close.", "Where your attempt at {it} leaves the road:",
)  # fmt: skip


def worked_problem(problem: Problem, known: dict[str, str], thing: str, rng: random.Random) -> Iterator[str]:
    """Yield the mistake, the steps and the result."""
    whole = shown_values(evaluate(problem.let, rng, given=known))
    lead = rng.choice(_ATTEMPT_LEADS).format(it=thing)
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
    """Return a problem of the same kind with its solution."""
    whole = shown_values(evaluate(problem.let, rng))
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    lead = rng.choice(_PRACTICE).format(it=thing, text=problem.text.format(**whole))
    return f"{lead}\n\n{steps}\n\n{problem.answer.format(**whole)}"
