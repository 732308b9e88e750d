"""Uncertainty of scores, by resampling conversations: the probes of one conversation are not independent.

Intervals: BCa bootstrap over conversations, the percentile bootstrap where BCa has no answer, paired where two systems
are compared. P-values: the sign-flip test over conversations (both signs of each conversation's difference are equally
likely if the systems do not differ), so that few conversations cannot look like proof: with n of them p is never below
2 / 2^n. Source: Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapters 14 and 15.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from longbeam.schemas.evaluation import Result

DRAWS = 4_000
PATTERNS = 2**14
"""Patterns of signs that are tried; with more conversations than 14, so many are drawn."""
FEW = 6
"""Conversations below which no difference can reach p < 0.05, and intervals are too narrow."""
_SEED = 20_251_027
"""Any fixed number: the same results give the same intervals."""

Grid = NDArray[np.float64]
"""Shape (conversations, abilities); NaN where a conversation has no scored probe of an ability."""


@dataclass(frozen=True)
class Interval:
    """Interval that holds 95 % of the resamples."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Difference of two systems on the probes for which both have a score."""

    system: str
    against: str
    difference: float
    conversations: int
    probes: int
    interval: Interval | None
    """None with one conversation, which leaves nothing to resample."""
    p_value: float | None


def interval_of(
    results: Sequence[Result], measure: Callable[[Result], float | None], *, ability: str = ""
) -> Interval | None:
    """Return the interval of one system's mean over abilities, or of one ability; None with fewer than two
    conversations.
    """
    scores = {
        (r.conversation_id, r.ability, r.probe_id): v
        for r in results
        if (not ability or r.ability == ability) and (v := measure(r)) is not None
    }
    grid = _grid(scores)
    return _interval(grid) if len(grid) > 1 else None


def compare(
    results: Sequence[Result], system: str, against: str, measure: Callable[[Result], float | None]
) -> Comparison | None:
    """Return the difference of two systems; None if no probe has a score under both."""
    scores = {
        name: {
            (r.conversation_id, r.ability, r.probe_id): v
            for r in results
            if r.system == name and (v := measure(r)) is not None
        }
        for name in (system, against)
    }
    shared = scores[system].keys() & scores[against].keys()
    if not shared:
        return None
    grid = _grid({key: scores[system][key] - scores[against][key] for key in sorted(shared)})
    return Comparison(
        system=system,
        against=against,
        difference=float(_macro(grid)),
        conversations=len(grid),
        probes=len(shared),
        interval=_interval(grid) if len(grid) > 1 else None,
        p_value=_sign_flip(grid) if len(grid) > 1 else None,
    )


def holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with p-values corrected for their number, in the same order.

    Source: Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    tested = sorted((c.p_value, i) for i, c in enumerate(comparisons) if c.p_value is not None)
    corrected: dict[int, float] = {}
    highest = 0.0
    for rank, (p_value, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p_value))
        corrected[place] = highest
    return [replace(c, p_value=corrected.get(i)) for i, c in enumerate(comparisons)]


def _grid(values: Mapping[tuple[str, str, str], float]) -> Grid:
    conversations = sorted({c for c, _, _ in values})
    abilities = sorted({a for _, a, _ in values})
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (conversation, ability, _), value in values.items():
        cells[conversation, ability].append(value)
    grid = [[fmean(cells[c, a]) if (c, a) in cells else np.nan for a in abilities] for c in conversations]
    return np.array(grid, dtype=np.float64).reshape(len(conversations), len(abilities))


def _macro(grids: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means over conversations, then abilities, of grids of shape (..., conversations, abilities)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an ability that no drawn conversation has is left out
        found: NDArray[np.float64] = np.nanmean(np.nanmean(grids, axis=-2), axis=-1)
    return found


def _interval(grid: Grid) -> Interval:
    # Imported here because scipy.stats takes half a second and 70 MB, and most users of this package score nothing.
    from scipy import stats

    def statistic(drawn: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
        return _macro(grid[np.moveaxis(drawn, axis, -1)])

    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # equal conversations leave BCa without an answer
            found = stats.bootstrap(
                (np.arange(len(grid)),), statistic, n_resamples=DRAWS, method=method, vectorized=True,
                rng=np.random.default_rng(_SEED),
            ).confidence_interval  # fmt: skip
        if not np.isnan(found.low + found.high):
            break
    return Interval(float(found.low), float(found.high))


def _sign_flip(grid: Grid) -> float:
    from scipy import stats

    ones = np.ones(len(grid))

    def statistic(signs: NDArray[np.float64], _: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return _macro(np.moveaxis(signs, axis, -1)[..., None] * grid)

    # Swapping the elements of a pair (1, -1) flips the sign of its conversation; up to 2^14 patterns are tried, all of
    # them where there are no more.
    found = stats.permutation_test(
        (ones, -ones), statistic, permutation_type="samples", vectorized=True, n_resamples=PATTERNS, batch=1_024,
        rng=np.random.default_rng(_SEED),
    )  # fmt: skip
    return float(found.pvalue)
