"""Agreement of reviewers: percent, Cohen's kappa, Krippendorff's alpha with a bootstrap interval. Pure functions.

A unit is a judged probe, nugget or conversation, with one label per reviewer. The krippendorff library computes alpha.
Its interval contains 95 % of the alphas of samples of units drawn with replacement. Hayes and Krippendorff (2007),
"Answering the Call for a Standard Reliability Measure for Coding Data", resample coincidences instead; a review
samples units, so this module resamples units.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal

import krippendorff
import numpy as np
from numpy.typing import NDArray

from longbeam.evaluation.agreement import cohen_kappa
from longbeam.schemas.base import Record

Unit = Mapping[str, str]
"""Label by reviewer."""
Level = Literal["nominal", "ordinal"]
DRAWS = 1_000
FEWEST_UNITS = 3
"""Fewest units for which an interval is computed; with fewer it is meaningless."""
_SEED = 20_251_027


class Agreement(Record):
    """Agreement over some units; only those with at least two labels count."""

    name: str
    """An ability, an aspect, `all`, or two reviewers."""
    units: int
    percent: float | None
    """Share of pairs of labels that are equal; None without a pair."""
    kappa: float | None
    """Cohen's kappa; the mean over pairs for more than two reviewers. None if only one label was given."""
    alpha: float | None
    """Krippendorff's alpha; None if only one label was given."""
    alpha_low: float | None
    alpha_high: float | None
    labels: dict[str, int]
    """Count of each label."""


def agreement_over(name: str, units: Sequence[Unit], level: Level = "nominal") -> Agreement:
    """Return the agreement over units; labels of an ordinal scale are numerals."""
    paired = [u for u in units if len(u) > 1]
    counts, domain = _counts(paired, level)
    low, high = _interval(counts, domain, level)
    return Agreement(
        name=name,
        units=len(paired),
        percent=percent_agreement(paired),
        kappa=_mean_kappa(paired),
        alpha=_alpha(counts, domain, level),
        alpha_low=low,
        alpha_high=high,
        labels=dict(sorted(Counter(label for unit in paired for label in unit.values()).items())),
    )


def percent_agreement(units: Sequence[Unit]) -> float | None:
    """Return the share of pairs of labels on one unit that are equal."""
    pairs = [(a, b) for unit in units for a, b in combinations(unit.values(), 2)]
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def pairs_of(units: Sequence[Unit]) -> Iterator[tuple[tuple[str, str], list[Unit]]]:
    """Yield each pair of reviewers, and the units that both have labelled, with their two labels."""
    shared: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units:
        for first, second in combinations(sorted(unit), 2):
            shared[first, second].append({first: unit[first], second: unit[second]})
    yield from sorted(shared.items())


def _mean_kappa(units: Sequence[Unit]) -> float | None:
    found = []
    for (first, second), shared in pairs_of(units):
        kappa = cohen_kappa([(unit[first], unit[second]) for unit in shared])
        if kappa is not None:
            found.append(kappa)
    return sum(found) / len(found) if found else None


def _counts(units: Sequence[Unit], level: Level) -> tuple[NDArray[np.int64], list[str]]:
    """Return counts of labels by unit and label, and the labels, in their order on an ordinal scale."""
    labels = {label for unit in units for label in unit.values()}
    domain = sorted(labels, key=float) if level == "ordinal" else sorted(labels)
    place = {label: i for i, label in enumerate(domain)}
    counts = np.zeros((len(units), len(domain)), dtype=np.int64)
    for row, unit in enumerate(units):
        for label in unit.values():
            counts[row, place[label]] += 1
    return counts, domain


def _alpha(counts: NDArray[np.int64], domain: Sequence[str], level: Level) -> float | None:
    if (counts.sum(axis=0) > 0).sum() < 2:
        return None
    values = [float(label) for label in domain] if level == "ordinal" else list(range(len(domain)))
    return float(krippendorff.alpha(value_counts=counts, value_domain=values, level_of_measurement=level))


def _interval(
    counts: NDArray[np.int64], domain: Sequence[str], level: Level
) -> tuple[float, float] | tuple[None, None]:
    if len(counts) < FEWEST_UNITS:
        return None, None
    draw = np.random.default_rng(_SEED)
    found = []
    for _ in range(DRAWS):
        alpha = _alpha(counts[draw.integers(0, len(counts), len(counts))], domain, level)
        if alpha is not None:  # a draw with a single label has no alpha
            found.append(alpha)
    if not found:
        return None, None
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)
