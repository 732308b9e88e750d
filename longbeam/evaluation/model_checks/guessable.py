"""The question cannot be answered without the conversation: a probe that can be guessed measures no memory.

Abstention probes are left out: a guess of "I do not know" is right there.
"""

from __future__ import annotations

from longbeam.abilities import Trait, ability_of
from longbeam.evaluation.model_checks.base import ModelCheck, ProbeCase, first_unmet
from longbeam.models import Asker
from longbeam.prompts.calls import GuessInputs
from longbeam.validation import ERROR, Problem, shorten


async def find_problems(asker: Asker, case: ProbeCase) -> list[Problem]:
    """Return a problem if a guess meets the whole rubric."""
    inputs = GuessInputs(question=case.probe.question)
    guess = await asker.prose("guess_answer", inputs, place="guess")
    if await first_unmet(asker.within("guess"), case, guess) is not None:
        return []
    text = f"without the conversation a reader guesses {shorten(guess, 90)!r}, which meets the whole rubric"
    return [Problem("answered", case.probe.probe_id, text)]


CHECK = ModelCheck(
    name="guessable",
    doc="A reader who sees nothing of the conversation does not meet the whole rubric.",
    severities={"answered": ERROR},
    prompts=("guess_answer", "judge_nugget"),
    applies=lambda case: not ability_of(case.probe.ability).has(Trait.ABSTAINS),
    find=find_problems,
)
