"""Both scoring rules, by hand: BEAM's published behaviour to three digits, and the paper's rule."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest
from scipy.stats import kendalltau

from longbeam.evaluation import nugget_mean, paper_order_score, released_order_score, score_of
from longbeam.schemas import Difficulty, Judgement, Nugget, NuggetJudgement, Probe
from tests.formats.sources import SHARED

SEVEN = list(range(7))


@pytest.mark.parametrize(
    ("lines", "score"),
    [
        (SEVEN, 1.00),
        (["You said this:", *SEVEN, ""], 0.80),
        (["one line of prose that matches nothing"], 0.25),
        ([0], 0.77),
        ([0, 1, 2], 0.92),
        ([4, 5, 6], 0.25),
        ([f"wrong {i}" for i in range(7)], 0.15),
        (["I don't know"], 0.25),
        (list(reversed(SEVEN)), 0.00),
    ],
)
def test_released_order_score_equals_what_beams_code_gives_for_seven_items(
    lines: list[int | str], score: float
) -> None:
    # reference/beam.md, section 4.4.
    assert released_order_score(lines, 7) == pytest.approx(score, abs=0.005)


@pytest.mark.parametrize(("size", "floor"), [(3, 0.146), (5, 0.211), (7, 0.250), (10, 0.287), (20, 0.346)])
def test_a_blank_answer_has_a_floor_that_rises_with_the_list(size: int, floor: float) -> None:
    assert released_order_score([""], size) == pytest.approx(floor, abs=0.0005)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (lambda n: [""], 0.223),
        (lambda n: [f"junk {i}" for i in range(n)], 0.145),
        (lambda n: list(range(0, n, 2)), 0.677),
        (lambda n: list(reversed(range(n))), 0.0),
        (lambda n: list(range(n)), 1.0),
    ],
)
def test_floors_on_beams_own_rubrics(answer: Callable[[int], list[int | str]], score: float) -> None:
    # memory-systems.md, section 5: .215, .143 to .154, .68 and 0 for all twenty conversations of 100K; here are ten.
    sizes = [[len(p["rubric"]) for p in probes] for probes in _released_orderings()]
    mean = fmean(fmean(released_order_score(answer(n), n) for n in of) for of in sizes)
    assert mean == pytest.approx(score, abs=0.0005)


def _released_orderings() -> list[list[dict[str, Any]]]:
    files = sorted((SHARED / "beam" / "100K").glob("*/**/probing_questions.json"))
    if not files:
        pytest.skip("BEAM's conversations are not beside the repository")
    return [json.loads(f.read_text(encoding="utf-8"))["event_ordering"] for f in files]


def test_paper_order_score_is_tau_times_recall() -> None:
    assert paper_order_score(SEVEN, 7) == 1
    assert paper_order_score([None, *SEVEN, None], 7) == 1  # remarks cost nothing
    assert paper_order_score([0, 1, 2], 7) == pytest.approx(3 / 7)
    assert paper_order_score([1, 0, 2], 3) == pytest.approx(1 / 3)  # two pairs of three in order
    assert paper_order_score(list(reversed(SEVEN)), 7) == 0
    assert paper_order_score([None], 7) == 0
    assert paper_order_score([4], 7) == 0  # one event has no order
    assert paper_order_score([0], 1) == 1


def test_paper_order_score_agrees_with_scipy_on_random_orders() -> None:
    draw = random.Random(7)
    for _ in range(50):
        size = draw.randint(2, 12)
        order = draw.sample(range(size), draw.randint(2, size))
        ranks = [order.index(event) for event in sorted(order)]
        tau = kendalltau(sorted(order), ranks, variant="b").statistic
        assert paper_order_score(order, size) == pytest.approx(max(0.0, tau) * len(order) / size, abs=1e-9)


def test_released_order_score_agrees_with_scipy_on_ties() -> None:
    draw = random.Random(8)
    for _ in range(50):
        size = draw.randint(1, 8)
        answered = [draw.choice([*range(size), "a remark"]) for _ in range(draw.randint(1, 12))]
        union = list(dict.fromkeys([*range(size), *answered]))
        absent = len(union) + 1
        asked = [e + 1 if isinstance(e, int) else absent for e in union]
        said = [answered.index(e) + 1 if e in answered else absent for e in union]
        tau = kendalltau(asked, said, variant="b").statistic
        assert released_order_score(answered, size) == pytest.approx(
            0.5 if math.isnan(tau) else (tau + 1) / 2, abs=1e-9
        )


def test_half_credit_counts_half_in_the_paper_and_nothing_in_the_released_code() -> None:
    nuggets = [NuggetJudgement(nugget_id=str(i), score=s) for i, s in enumerate((1, 0.5, 0, 0.5))]
    assert nugget_mean(nuggets) == 0.5
    assert nugget_mean(nuggets, truncated=True) == 0.25


def test_a_failed_verdict_leaves_no_score() -> None:
    nuggets = (NuggetJudgement(nugget_id="a", score=1), NuggetJudgement(nugget_id="b", score=None, error="no JSON"))
    probe = Probe(
        probe_id="summarization.0",
        ability="summarization",
        question="?",
        gold_answer="a",
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id="a", text="A"), Nugget(nugget_id="b", text="B")),
        evidence=(),
    )
    judgement = Judgement(conversation_id="c000", probe_id="x", system="s", judge="j", nuggets=nuggets)
    assert [s.score for s in score_of(probe, judgement, "text")] == [None, None]
