"""Rubric trial: a judge scores the gold answer and wrong answers against the rubric; and rubric lint.

The judge of the review is lexical and knows no synonyms. Its verdict on the gold answer is a question to the reviewer,
not a finding. It bars acceptance only where the rubric was changed by hand, and a note overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from longbeam.abilities import Trait, ability_of
from longbeam.evaluation import CREDIT
from longbeam.prompts.calls import JudgeInputs, JudgeReply
from longbeam.review.tuning import REVIEWING
from longbeam.schemas import Nugget, Probe, Record
from longbeam.text import content_words
from longbeam.validation import CHECKING, claim

NO_INFORMATION = "I have no information about that."
_FIGURE = re.compile(r"\d+")


@dataclass(frozen=True)
class RubricJudge:
    """The judge of rubric trials; the command line chooses it when the review starts."""

    name: str
    judge: Callable[[JudgeInputs], JudgeReply]


class TrialVerdict(Record):
    """Verdict on one nugget of one answer."""

    nugget_id: str
    verdict: str
    """`met`, `partly met` or `not met`."""
    reason: str


class TrialRow(Record):
    """One answer and its verdicts."""

    answer_kind: str
    """`gold`, `empty`, `echo`, `no_information`, `old_value`, `other_gold`, `other_figures`."""
    answer: str
    is_right: bool
    """Whether the answer should get full marks."""
    verdicts: tuple[TrialVerdict, ...]
    score: float
    is_as_expected: bool


class LintRow(Record):
    """An oddity of the rubric as a whole."""

    nugget_ids: tuple[str, ...]
    message: str


class RubricTrial(Record):
    """Verdicts on all answers, and the lint of the rubric."""

    judge: str
    rows: tuple[TrialRow, ...]
    lint: tuple[LintRow, ...]
    is_sound: bool
    """Whether the gold answer gets full marks and no other answer does."""


def try_rubric(judge: RubricJudge, probe: Probe, others: Iterable[Probe] = ()) -> RubricTrial:
    """Return how the rubric scores the gold answer and wrong answers, one of them the gold of another probe."""
    rows = tuple(_row(judge, probe, case) for case in _cases(probe, others))
    return RubricTrial(
        judge=judge.name,
        rows=rows,
        lint=tuple(_lint(probe)),
        is_sound=all(row.is_as_expected for row in rows),
    )


def score_of(judge: RubricJudge, probe: Probe, answer: str) -> float:
    """Return the score of an answer by the rubric, 0 to 1."""
    return _row(judge, probe, _Case("own", answer)).score


@dataclass(frozen=True, slots=True)
class _Case:
    kind: str
    answer: str
    is_right: bool = False


def _cases(probe: Probe, others: Iterable[Probe]) -> Iterator[_Case]:
    yield _Case("gold", probe.gold_answer, is_right=True)
    yield _Case("empty", "")
    yield _Case("echo", probe.question)
    abstains = ability_of(probe.ability).has(Trait.ABSTAINS)
    if not abstains:
        yield _Case("no_information", NO_INFORMATION)
    if probe.details.old_value and probe.details.old_value not in probe.gold_answer:
        yield _Case("old_value", probe.details.old_value)
    other = next((o for o in others if o.probe_id != probe.probe_id and o.ability == probe.ability), None)
    if other is not None and not abstains:
        yield _Case("other_gold", other.gold_answer)
    if _FIGURE.search(probe.gold_answer):
        # Other numbers in the right sentence: a rubric that asks for words only would give marks for them.
        yield _Case("other_figures", _FIGURE.sub(lambda m: str(int(m.group()) + 3), probe.gold_answer))


def _row(judge: RubricJudge, probe: Probe, case: _Case) -> TrialRow:
    verdicts = tuple(_verdict(judge, probe.question, nugget, case.answer) for nugget in probe.rubric)
    score = sum(CREDIT[v.verdict] for v in verdicts) / len(verdicts)
    return TrialRow(
        answer_kind=case.kind,
        answer=case.answer,
        is_right=case.is_right,
        verdicts=verdicts,
        score=score,
        is_as_expected=(score == 1.0) == case.is_right,
    )


def _verdict(judge: RubricJudge, question: str, nugget: Nugget, answer: str) -> TrialVerdict:
    if not answer.strip():
        return TrialVerdict(nugget_id=nugget.nugget_id, verdict="not met", reason="the answer is blank")
    reply = judge.judge(JudgeInputs(question=question, nugget=nugget.text, answer=answer, is_strict=True))
    return TrialVerdict(nugget_id=nugget.nugget_id, verdict=reply.verdict, reason=reply.reason)


def _lint(probe: Probe) -> Iterator[LintRow]:
    for first, second in combinations(probe.rubric, 2):
        a, b = content_words(claim(first.text)), content_words(claim(second.text))
        is_alike = a == b or (bool(a and b) and len(a & b) >= REVIEWING.trial_overlap * min(len(a), len(b)))
        if is_alike and _figures(first.text) == _figures(second.text):
            yield LintRow(nugget_ids=(first.nugget_id, second.nugget_id), message="these two ask for the same")
    for nugget in probe.rubric:
        if len(nugget.text.split()) > CHECKING.most_nugget_words:
            yield LintRow(nugget_ids=(nugget.nugget_id,), message="long: is it one fact?")


def _figures(text: str) -> list[str]:
    return _FIGURE.findall(text)
