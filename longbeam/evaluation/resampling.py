"""Uncertainty of scores, by resampling conversations: the probes of one conversation are not independent.

Intervals: percentile bootstrap over conversations, paired where two systems are compared. P-values: the exact
sign-flip test over conversations (both signs of each conversation's difference are equally likely if the systems do
not differ), so that few conversations cannot look like proof: with n of them p is never below 2 / 2^n. Source: Efron
and Tibshirani (1993), "An Introduction to the Bootstrap", chapters 13 and 15.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from longbeam.schemas.evaluation import Result

DRAWS = 4_000
EXACT_UP_TO = 14
"""Conversations up to which all sign patterns are tried; beyond, `DRAWS` of them are drawn."""
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


def interval_of(results: Sequence[Result], measure: Callable[[Result], float | None]) -> Interval | None:
    """Return the interval of one system's mean over abilities; None with fewer than two conversations."""
    scores = {(r.conversation_id, r.ability, r.probe_id): v for r in results if (v := measure(r)) is not None}
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
        difference=float(_macro(grid[None])[0]),
        conversations=len(grid),
        probes=len(shared),
        interval=_interval(grid) if len(grid) > 1 else None,
        p_value=_sign_flip(grid) if len(grid) > 1 else None,
    )


def _grid(values: Mapping[tuple[str, str, str], float]) -> Grid:
    conversations = sorted({c for c, _, _ in values})
    abilities = sorted({a for _, a, _ in values})
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (conversation, ability, _), value in values.items():
        cells[conversation, ability].append(value)
    grid = [[fmean(cells[c, a]) if (c, a) in cells else np.nan for a in abilities] for c in conversations]
    return np.array(grid, dtype=np.float64).reshape(len(conversations), len(abilities))


def _macro(grids: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means over conversations, then abilities, of grids of shape (draws, conversations, abilities)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an ability that no drawn conversation has is left out
        found: NDArray[np.float64] = np.nanmean(np.nanmean(grids, axis=1), axis=1)
    return found


def _interval(grid: Grid) -> Interval:
    draw = np.random.default_rng(_SEED)
    drawn = draw.integers(0, len(grid), size=(DRAWS, len(grid)))
    low, high = np.percentile(_macro(grid[drawn]), [2.5, 97.5])
    return Interval(float(low), float(high))


def _sign_flip(grid: Grid) -> float:
    count = len(grid)
    if count <= EXACT_UP_TO:
        patterns = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    else:
        drawn = np.random.default_rng(_SEED).integers(0, 2, size=(DRAWS, count))
        patterns = np.vstack([np.ones((1, count), dtype=drawn.dtype), drawn])  # what was observed is one of them
    signs = (2 * patterns - 1).astype(np.float64)
    observed = abs(float(_macro(grid[None])[0]))
    flipped = np.concatenate(
        [_macro(part[:, :, None] * grid) for part in np.array_split(signs, max(1, len(signs) // 512))]
    )
    return float(np.mean(np.abs(flipped) >= observed - 1e-12))
