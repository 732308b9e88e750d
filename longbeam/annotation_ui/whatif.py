"""What would the rubric say (X8): the lexical judge on gold, empty, echoed and wrong answers; and rubric lint.

The lexical judge is a stand-in that knows no synonyms: what it says of the gold is a question to the reviewer, not a
finding. It bars acceptance only where the rubric was changed by hand here, and a note opens that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from longbeam.abilities.record import Trait
from longbeam.abilities.registry import ability_of
from longbeam.evaluation.judging import CREDIT
from longbeam.offline.judging import judge
from longbeam.prompts.calls.evaluation import JudgeInputs
from longbeam.schemas.base import Record
from longbeam.schemas.probes import Probe
from longbeam.text.words import content_words
from longbeam.validation.nuggets import MAX_WORDS
from longbeam.validation.wording import claim

NO_INFORMATION = "I have no information about that."
OVERLAP = 0.8
_FIGURE = re.compile(r"\d+")


class WhatIfVerdict(Record):
    """One nugget on one answer."""

    nugget_id: str
    verdict: str
    """`met`, `partly met` or `not met`."""
    reason: str


class WhatIfRow(Record):
    """One answer, judged."""

    answer_kind: str
    """`gold`, `empty`, `echo`, `no_information`, `old_value`, `other_gold`, `other_figures`."""
    answer: str
    is_right: bool
    """Whether it should get full marks."""
    verdicts: tuple[WhatIfVerdict, ...]
    score: float
    is_as_expected: bool


class LintRow(Record):
    """What is odd about the rubric as a whole."""

    nugget_ids: tuple[str, ...]
    message: str


class WhatIfView(Record):
    """The rubric tried out."""

    judge: str
    rows: tuple[WhatIfRow, ...]
    lint: tuple[LintRow, ...]
    is_sound: bool
    """The gold gets full marks, and nothing else does."""


def what_if(probe: Probe, others: Iterable[Probe] = ()) -> WhatIfView:
    """Return how the rubric scores its own gold and wrong answers; `others` lend their gold for one."""
    rows = tuple(_row(probe, *case) for case in _cases(probe, others))
    return WhatIfView(
        judge="lexical",
        rows=rows,
        lint=tuple(_lint(probe)),
        is_sound=all(row.is_as_expected for row in rows),
    )


def _cases(probe: Probe, others: Iterable[Probe]) -> Iterator[tuple[str, str, bool]]:
    yield "gold", probe.gold_answer, True
    yield "empty", "", False
    yield "echo", probe.question, False
    abstains = ability_of(probe.ability).has(Trait.ABSTAINS)
    if not abstains:
        yield "no_information", NO_INFORMATION, False
    if probe.details.old_value:
        yield "old_value", probe.details.old_value, False
    other = next((o for o in others if o.probe_id != probe.probe_id and o.ability == probe.ability), None)
    if other is not None and not abstains:
        yield "other_gold", other.gold_answer, False
    if _FIGURE.search(probe.gold_answer):
        yield "other_figures", _FIGURE.sub(lambda m: str(int(m.group()) + 3), probe.gold_answer), False


def _row(probe: Probe, kind: str, answer: str, is_right: bool) -> WhatIfRow:
    verdicts = tuple(_verdict(probe, n.nugget_id, n.text, answer) for n in probe.rubric)
    score = sum(CREDIT[v.verdict] for v in verdicts) / len(verdicts)
    return WhatIfRow(
        answer_kind=kind,
        answer=answer,
        is_right=is_right,
        verdicts=verdicts,
        score=score,
        is_as_expected=(score == 1.0) == is_right,
    )


def _verdict(probe: Probe, nugget_id: str, text: str, answer: str) -> WhatIfVerdict:
    if not answer.strip():
        return WhatIfVerdict(nugget_id=nugget_id, verdict="not met", reason="the answer is blank")
    reply = judge(JudgeInputs(question=probe.question, nugget=text, answer=answer, is_strict=True))
    return WhatIfVerdict(nugget_id=nugget_id, verdict=reply.verdict, reason=reply.reason)


def _lint(probe: Probe) -> Iterator[LintRow]:
    for first, second in combinations(probe.rubric, 2):
        a, b = content_words(claim(first.text)), content_words(claim(second.text))
        is_alike = a == b or (bool(a and b) and len(a & b) >= OVERLAP * min(len(a), len(b)))
        if is_alike and _figures(first.text) == _figures(second.text):
            yield LintRow(nugget_ids=(first.nugget_id, second.nugget_id), message="these two ask for the same")
    for nugget in probe.rubric:
        if len(nugget.text.split()) > MAX_WORDS:
            yield LintRow(nugget_ids=(nugget.nugget_id,), message="long: is it one fact?")


def _figures(text: str) -> list[str]:
    return _FIGURE.findall(text)
