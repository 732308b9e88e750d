"""Scores from judgements: the paper's rule and the rule of BEAM's released code, from the same verdicts.

`paper`: the mean over nuggets, half credit kept; event ordering is Kendall's tau-b between the order asked for and
the order answered, over the events that both have, not below 0, times the recall of events. `released`: what the
code at mohammadtavakoli78/BEAM@b2a3ee8 does: each nugget's score cut to an integer, so that 0.5 counts 0; event
ordering by lines, as `released_order_score` says. Its value for a blank answer is not 0; reports print it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from longbeam.abilities import ability_of, resolve
from longbeam.errors import SpecError
from longbeam.plugins import require_returned
from longbeam.schemas import Judgement, NuggetJudgement, Probe, Scoring


@dataclass(frozen=True)
class Scorer:
    """Scores the answers to an ability's probes; the ability's record names it."""

    score: Callable[[Probe, Judgement, str], tuple[float | None, float | None]]
    """Returns the scores by the paper's rule and by the released one, 0 to 1; None where a verdict is missing."""
    needs_alignment: bool = False
    """Whether the judge also says which of the probe's items each item and line of the answer is about."""


@cache
def scorer_of(ability: str) -> Scorer:
    """Return the scorer of an ability; raises SpecError for a record that names none."""
    name = ability_of(ability).scorer
    scorer = resolve(name)
    if not isinstance(scorer, Scorer):
        raise SpecError(f"abilities: {name} is no Scorer")
    return scorer


def score_of(probe: Probe, judgement: Judgement, answer: str) -> tuple[Scoring, ...]:
    """Return the probe's score under both rules."""
    found = scorer_of(probe.ability).score(probe, judgement, answer)
    require_returned(
        found, _are_scores, f"abilities: the scorer of {probe.ability!r}", "two scores from 0 to 1, or None"
    )
    paper, released = found
    return (Scoring(rule="paper", score=paper), Scoring(rule="released", score=released))


def _are_scores(found: tuple[float | None, ...]) -> bool:
    return len(found) == 2 and all(score is None or 0 <= score <= 1 for score in found)


def _score_nuggets(_probe: Probe, judgement: Judgement, _answer: str) -> tuple[float | None, float | None]:
    return nugget_mean(judgement.nuggets), nugget_mean(judgement.nuggets, truncated=True)


def _score_order(probe: Probe, judgement: Judgement, answer: str) -> tuple[float | None, float | None]:
    size = len(probe.rubric)
    lines = zip(answer.split("\n"), judgement.aligned_lines, strict=True)
    answered = [text if event is None else event for text, event in lines]
    return paper_order_score(judgement.aligned_items, size), released_order_score(answered, size)


NUGGETS = Scorer(_score_nuggets)
ORDER = Scorer(_score_order, needs_alignment=True)


def nugget_mean(nuggets: Sequence[NuggetJudgement], *, truncated: bool = False) -> float | None:
    """Return the mean verdict, half credits cut to 0 where `truncated`; None if a verdict is missing."""
    verdicts = [n.score for n in nuggets]
    if not verdicts or any(v is None for v in verdicts):
        return None
    return math.fsum(int(v) if truncated else v for v in verdicts if v is not None) / len(verdicts)


def paper_order_score(aligned: Sequence[int | None], size: int) -> float:
    """Return max(0, tau-b) × recall over the `size` reference events; `aligned` are the answer's, in its order.

    One aligned event has no order: tau-b counts as 1 when one was asked for, else as 0.
    """
    found = [event for event in dict.fromkeys(aligned) if event is not None]
    recall = len(found) / size
    if len(found) < 2:
        return recall if size == 1 else 0.0
    return max(0.0, _tau(range(len(found)), found)) * recall


def released_order_score(answered: Sequence[int | str], size: int) -> float:
    """Return (tau-b + 1) / 2 over the union of reference events and lines, as BEAM's released code reports it.

    `answered`: one element per line of the answer, the reference event that it was aligned with, else its text.
    The rank of an element is its first place in a list, or one more than the union's size where it is absent.
    """
    reference: list[int | str] = list(range(size))
    union = list(dict.fromkeys([*reference, *answered]))
    absent = len(union) + 1
    places = [{event: rank for rank, event in reversed(list(enumerate(order, 1)))} for order in (reference, answered)]
    ranks = [[place.get(event, absent) for event in union] for place in places]
    tau = _tau(*ranks)
    return (0.0 if math.isnan(tau) else tau) / 2 + 0.5


def _tau(first: Sequence[int], second: Sequence[int]) -> float:
    """Return Kendall's tau-b of two rankings; NaN where all ranks of one are equal.

    Source: Kendall (1945), "The Treatment of Ties in Ranking Problems".
    """
    agreeing = untied_first = untied_second = 0
    ranks = np.array([first, second], dtype=np.int64)
    for place in range(len(first) - 1):  # row by row: an answer may have thousands of lines
        signs = np.sign(ranks[:, place + 1 :] - ranks[:, place, None])
        agreeing += int(signs[0] @ signs[1])
        untied_first += int(np.count_nonzero(signs[0]))
        untied_second += int(np.count_nonzero(signs[1]))
    pairs = math.sqrt(untied_first * untied_second)
    return agreeing / pairs if pairs else math.nan
