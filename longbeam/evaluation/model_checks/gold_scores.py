"""The rubric tells right from wrong: the gold answer gets full marks, the echoed question and a wrong answer do not.

A blank answer needs no check: it scores 0 by rule, without a judge.
"""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.evaluation.fixed_answers import with_other_values
from longbeam.evaluation.judging import all_judged
from longbeam.evaluation.model_checks.base import ModelCheck, ProbeCase, first_unmet
from longbeam.models import Asker
from longbeam.schemas import Probe
from longbeam.text import values_in, words_of
from longbeam.validation import ERROR, Problem, shorten


async def find_problems(asker: Asker, case: ProbeCase) -> list[Problem]:
    """Return a problem for each of the three answers with a wrong score."""
    probe = case.probe
    answers = {"gold": probe.gold_answer, "echo": probe.question, "wrong": wrong_answer(probe, case.others)}
    judged = await all_judged(first_unmet(asker.within(name), case, text) for name, text in answers.items())
    unmet = dict(zip(answers, judged, strict=True))
    problems = []
    if (missed := unmet["gold"]) is not None:
        text = f"the gold answer does not meet its own rubric: {shorten(missed.text)}"
        problems.append(Problem("gold_not_full", probe.probe_id, text))
    if unmet["echo"] is None:
        problems.append(Problem("echo_full", probe.probe_id, "repeating the question gets full marks"))
    if unmet["wrong"] is None:
        text = f"a wrong answer gets full marks: {shorten(answers['wrong'], 90)!r}"
        problems.append(Problem("wrong_full", probe.probe_id, text))
    return problems


def wrong_answer(probe: Probe, others: Sequence[Probe]) -> str:
    """Return an answer that is surely wrong.

    If the rubric asks for values, the gold answer with every value changed; else, of the gold answers of other
    probes, the one that shares the fewest words with this one.
    """
    changed = with_other_values(probe.gold_answer)
    if changed != probe.gold_answer and any(values_in(nugget.text) for nugget in probe.rubric):
        return changed
    own = set(words_of(probe.gold_answer)) | {w for n in probe.rubric for w in words_of(n.text)}

    def shared(other: Probe) -> tuple[int, str]:
        return len(own & set(words_of(other.gold_answer))), other.probe_id

    rest = [o for o in others if o.ability != probe.ability and o.gold_answer.strip()]
    return min(rest, key=shared).gold_answer if rest else "It was a purple bicycle, as far as anybody remembers."


CHECK = ModelCheck(
    name="gold_scores",
    doc="The gold answer gets full marks under its own rubric; the echoed question and a wrong answer do not.",
    severities={"gold_not_full": ERROR, "echo_full": ERROR, "wrong_full": ERROR},
    prompts=("judge_nugget",),
    applies=lambda case: True,
    find=find_problems,
    calls=lambda probe: len(probe.rubric) + 2,
)
