from __future__ import annotations

import pytest

from longbeam.evaluation.resampling import compare, interval_of
from longbeam.evaluation.table import rule
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
