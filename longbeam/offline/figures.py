"""Parts of a reply besides advice: a message to send, code, worked problems."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator

from longbeam.offline.arithmetic import evaluate
from longbeam.offline.language import fill, fill_low, identifier, lower_first, phrases
from longbeam.offline.packs import Snippet, Thread, WorkedProblem
from longbeam.offline.turns import filled_code, shown_values
from longbeam.prompts.calls import BulletBrief
from longbeam.text import times

_NAMED = re.compile(r"\bmy (?:friend|colleague|partner|mother|father|son|daughter) ([A-Z][a-z]+)")
_DRAFT_LEADS = phrases("figures", "draft_leads")
_DRAFTS = phrases("figures", "drafts")


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


_CODE_LEADS = phrases("figures", "code_leads")


_WANTED_LEADS = phrases("figures", "wanted_leads")


def code_example(snippet: Snippet, thing: str, rng: random.Random) -> str:
    """Return an example of code on the subject."""
    names = {"it": thing, "fault": lower_first(snippet.fault.format(ident=identifier(thing)))}
    lead = fill(rng.choice(_WANTED_LEADS if snippet.kind == "wanted" else _CODE_LEADS), names)
    return f"{lead}\n\n```{snippet.lang}\n{code_of(snippet, thing)}\n```"


_ATTEMPT_LEADS = phrases("figures", "attempt_leads")


def worked_problem(problem: WorkedProblem, known: dict[str, str], thing: str, rng: random.Random) -> Iterator[str]:
    """Yield the mistake, the steps and the result."""
    whole = shown_values(evaluate(problem.let, rng, given=known))
    lead = rng.choice(_ATTEMPT_LEADS).format(it=thing)
    yield f"{lead} {problem.mistake.format(**whole)}".strip()
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    yield f"{rng.choice(('Step by step:', 'The way through:', 'Worked out:'))}\n\n{steps}"
    yield f"{rng.choice(('**Result:**', 'So the answer is:', '**Answer:**'))} {problem.answer.format(**whole)}"


_PRACTICE = phrases("figures", "practice")


def practice_problem(problem: WorkedProblem, thing: str, rng: random.Random) -> str:
    """Return a problem of the same kind with its solution."""
    whole = shown_values(evaluate(problem.let, rng))
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    lead = rng.choice(_PRACTICE).format(it=thing, text=problem.text.format(**whole))
    return f"{lead}\n\n{steps}\n\n{problem.answer.format(**whole)}"
