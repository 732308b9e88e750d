"""Agreement coefficients on published and hand-counted tables."""

from __future__ import annotations

import pytest

from longbeam.evaluation import cohen_kappa
from longbeam.review import agreement_over, percent_agreement

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section D: four observers, twelve units.
OBSERVERS = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}


def units_of(observers: dict[str, str]) -> list[dict[str, str]]:
    rows = {name: labels.split() for name, labels in observers.items()}
    count = len(next(iter(rows.values())))
    return [{name: row[i] for name, row in rows.items() if row[i] != "."} for i in range(count)]


def test_alpha_is_that_of_the_published_example() -> None:
    assert agreement_over("all", units_of(OBSERVERS)).alpha == pytest.approx(0.743, abs=5e-4)
    assert agreement_over("all", units_of(OBSERVERS), "ordinal").alpha == pytest.approx(0.815, abs=5e-4)


def test_alpha_of_two_observers_and_two_values_is_that_of_the_published_example() -> None:
    # The same paper, section A: Meg and Owen, ten units.
    pairs = {"Meg": "0 1 0 0 0 0 0 0 1 0", "Owen": "1 1 1 0 0 1 0 0 0 0"}
    assert agreement_over("all", units_of(pairs)).alpha == pytest.approx(0.095, abs=5e-4)


def test_kappa_equals_a_table_counted_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 35/50 equal; by chance 25/50 x 30/50 + 25/50 x 20/50 = 0.5
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert cohen_kappa(pairs) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_total_disagreement_is_below_chance() -> None:
    units = [{"a": "accept", "b": "reject"}, {"a": "reject", "b": "accept"}]
    found = agreement_over("all", units)
    # kappa: 0 equal, 1/2 by chance; alpha: 1 - (n - 1) x 4 / (2 x 2 x 2) with n = 4 labels
    assert (found.percent, found.kappa, found.alpha) == (0.0, -1.0, pytest.approx(-0.5))


def test_one_label_only_leaves_kappa_and_alpha_open() -> None:
    found = agreement_over("all", [{"a": "accept", "b": "accept"}] * 5)
    assert (found.percent, found.kappa, found.alpha, found.alpha_low) == (1.0, None, None, None)


def test_units_of_one_label_do_not_count() -> None:
    found = agreement_over("all", [{"a": "accept"}, {"a": "accept", "b": "reject"}])
    assert (found.units, found.labels) == (1, {"accept": 1, "reject": 1})
    assert percent_agreement([{"a": "accept"}]) is None


def test_the_interval_holds_alpha_and_is_the_same_every_time() -> None:
    units = units_of(OBSERVERS)
    found = agreement_over("all", units)
    assert found.alpha is not None
    assert found.alpha_low is not None
    assert found.alpha_high is not None
    assert found.alpha_low < found.alpha < found.alpha_high <= 1
    assert agreement_over("all", units) == found
