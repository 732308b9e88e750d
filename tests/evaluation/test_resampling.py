from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from longbeam.evaluation import MEASURING, compare, interval_of, rule
from tests.evaluation.evaluated import evaluated

PAPER = rule("paper")


def test_one_conversation_has_no_interval_and_no_p() -> None:
    found = compare(evaluated({"a": [[1, 1]], "bm25": [[0, 1]]}).results, "a", "bm25", PAPER)
    assert found is not None
    assert (found.difference, found.probes, found.interval, found.p_value) == (0.5, 2, None, None)


def test_p_of_few_conversations_is_exact() -> None:
    # Six conversations that all differ by 1: of the 64 patterns of signs, two are as extreme.
    found = compare(evaluated({"a": [[1]] * 6, "bm25": [[0]] * 6}).results, "a", "bm25", PAPER)
    assert found is not None
    assert found.p_value == pytest.approx(2 / 64)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (1, 1)


def test_p_counts_patterns_as_extreme_as_the_observed() -> None:
    # Differences 1, 1, -1: mean 1/3. Of the 8 patterns, all have |mean| 1/3 or 1.
    results = evaluated({"a": [[1], [1], [0]], "bm25": [[0], [0], [1]]}).results
    found = compare(results, "a", "bm25", PAPER)
    assert found is not None
    assert found.p_value == 1


def test_conversations_are_drawn_and_not_probes() -> None:
    # Two conversations, one all right and one all wrong, whatever the number of their probes: a mean of two draws
    # is 0, 0.5 or 1, so the interval reaches both ends.
    interval = interval_of(evaluated({"a": [[1] * 50, [0] * 50]}).results, PAPER)
    assert interval is not None
    assert (interval.low, interval.high) == (0, 1)


def test_a_probe_without_a_score_under_one_system_is_in_no_pair() -> None:
    results = evaluated({"a": [[1, None], [1, 1]], "bm25": [[0, 0], [1, 0]]}).results
    found = compare(results, "a", "bm25", PAPER)
    assert found is not None
    assert found.probes == 3
    assert found.difference == pytest.approx((1 + 0.5) / 2)  # mean over conversations of 1 and (0 + 1) / 2


def test_many_conversations_are_sampled_and_say_the_same_again() -> None:
    results = evaluated({"a": [[1]] * 10 + [[0]] * 10, "bm25": [[0]] * 20}).results
    first, again = (compare(results, "a", "bm25", PAPER) for _ in range(2))
    assert first == again
    assert first is not None
    assert first.p_value is not None
    assert 0 < first.p_value < 0.01


def test_nothing_shared_is_no_comparison() -> None:
    assert compare(evaluated({"a": [[None]], "bm25": [[1]]}).results, "a", "bm25", PAPER) is None


@pytest.mark.parametrize("conversations", [3, 5, 12])
def test_interval_and_p_are_those_of_scipy(conversations: int) -> None:
    draw = np.random.default_rng(conversations)
    scores = (
        draw.integers(0, 5, size=(2, conversations, 4)) / 4
    )  # quarters: scipy takes means that round apart for unequal
    first, second = scores.tolist()
    found = compare(evaluated({"a": first, "bm25": second}).results, "a", "bm25", PAPER)
    assert found is not None
    assert found.interval is not None

    means = (scores[0] - scores[1]).mean(axis=1)  # one ability: the mean over conversations
    expected = stats.bootstrap(
        (means,), np.mean, n_resamples=MEASURING.draws, method="BCa", rng=np.random.default_rng(20_251_027)
    ).confidence_interval
    p_value = stats.permutation_test((means, -means), _mean_of_first, permutation_type="samples", n_resamples=2**14)
    assert found.interval.low == pytest.approx(expected.low, abs=1e-9)
    assert found.interval.high == pytest.approx(expected.high, abs=1e-9)
    assert found.p_value == pytest.approx(p_value.pvalue, abs=1e-9)


def test_interval_of_two_abilities_with_gaps_is_that_of_scipy() -> None:
    nan = np.nan
    grid = np.array([[0.25, 1, nan], [0.5, nan, 0], [1, 0.75, nan], [0, 0.5, nan], [0.75, nan, 1]])

    def macro(drawn: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # nobody drawn has the third ability
            means: NDArray[np.float64] = np.nanmean(np.nanmean(grid[np.moveaxis(drawn, axis, -1)], axis=-2), axis=-1)
        return means

    expected = stats.bootstrap(
        (np.arange(5),), macro, n_resamples=MEASURING.draws, vectorized=True, rng=np.random.default_rng(20_251_027)
    ).confidence_interval
    abilities = ("summarization", "abstention", "event_ordering")
    results = [
        result.model_copy(update={"conversation_id": f"c{row:03d}"})
        for column, ability in enumerate(abilities)
        for row, value in enumerate(grid[:, column])
        if not np.isnan(value)
        for result in evaluated({"a": [[float(value)]]}, ability=ability).results
    ]
    found = interval_of(results, PAPER)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def _mean_of_first(signed: NDArray[np.float64], _: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = signed.mean(axis=axis)
    return found


def test_the_paired_bootstrap_is_twice_the_smaller_side_of_its_resamples() -> None:
    made = evaluated({"a": [[1]] * 6 + [[0]] * 2, "b": [[0]] * 6 + [[1]] * 2})
    found = compare(made.results, "a", "b", PAPER)
    # Six differences of 1, two of -1: a resample of eight is at or below 0 if four or more of its draws are of the two,
    # which has probability 1 - (.75^8 + 8 * .25 * .75^7 + 28 * .25^2 * .75^6 + 56 * .25^3 * .75^5) = .114; twice that
    # is .228. Of the 256 patterns of signs 2 * (1 + 8 + 28) are as extreme.
    assert found is not None
    assert found.bootstrap_p == pytest.approx(0.228, abs=0.03)
    assert found.p_value == pytest.approx(74 / 256)


def test_fewer_than_eight_conversations_have_no_p_of_the_bootstrap() -> None:
    found = compare(evaluated({"a": [[1]] * 7, "b": [[0]] * 7}).results, "a", "b", PAPER)
    assert found is not None
    assert (found.bootstrap_p, found.p_value) == (None, pytest.approx(2 / 128))
