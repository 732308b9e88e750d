"""Uncertainty of scores, by resampling conversations: the probes of one conversation are not independent.

Intervals: BCa bootstrap over conversations, the percentile bootstrap where BCa has no answer, paired where two systems
are compared. P-values: the sign-flip test over conversations (both signs of each conversation's difference are equally
likely if the systems do not differ), so that few conversations cannot look like proof: with n of them p is never below
2 / 2^n. Source: Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapters 14 and 15.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean

import numpy as np
from numpy.typing import NDArray

from longbeam.evaluation.tuning import MEASURING
from longbeam.schemas import Result

_SEED = 20_251_027
"""Any fixed number: the same results give the same intervals."""

_ROUNDING = 1e-12
"""Difference below which two means are equal."""

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
    """Of the sign-flip test; corrected where several comparisons are shown."""
    bootstrap_p: float | None = None
    """p of the paired bootstrap, as the paging paper tests, not corrected; None for `few_conversations`."""

    @property
    def verdict(self) -> str:
        """Whether the first system is better or worse, by the corrected sign-flip test alone."""
        if self.p_value is None or self.p_value >= MEASURING.alpha:
            return "cannot tell"
        return "better" if self.difference > 0 else "worse"


def proof_line(comparisons: Sequence[Comparison]) -> str:
    """Return that so many comparisons of so few conversations can prove nothing; empty where they can."""
    count = min((c.conversations for c in comparisons), default=0)
    least = min(1.0, 2 / 2**count * len(comparisons))
    if count < 2 or least < MEASURING.alpha:
        return ""
    return (
        f"With {count} conversations and {len(comparisons)} comparisons no p can fall below {least:.3g}, so nothing "
        "can be told apart: compare fewer systems, or measure more conversations."
    )


def few_conversations(count: int) -> str:
    """Return what intervals over so few conversations cannot show, in one line; empty where there are enough."""
    if count >= MEASURING.few_conversations:
        return ""
    if count == 1:
        return "One conversation: there is no interval, no ranking, and no difference can be told from chance."
    proof = f"; p cannot fall below {2 / 2**count:.3g}, so no difference can be called significant"
    unproved = proof if count < MEASURING.no_proof else ""
    return f"{count} conversations: intervals are too narrow; no ranking below {MEASURING.few_conversations}{unproved}."


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
        difference=float(_macro(grid, np.ones(len(grid)))),
        conversations=len(grid),
        probes=len(shared),
        interval=_interval(grid) if len(grid) > 1 else None,
        p_value=_sign_flip(grid) if len(grid) > 1 else None,
        bootstrap_p=_bootstrap_p(grid) if len(grid) >= MEASURING.few_conversations else None,
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


def _macro(grid: Grid, draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means over conversations, then abilities, one for each draw.

    `draws` has shape (..., conversations): how often each conversation is in a draw. An ability that no drawn
    conversation has is left out of its mean; NaN if none is left.
    """
    counts = draws @ ~np.isnan(grid)
    sums = draws @ np.nan_to_num(grid)
    there = counts > 0
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=there)
    with np.errstate(invalid="ignore"):
        found: NDArray[np.float64] = means.sum(axis=-1) / there.sum(axis=-1)
    return found


def _bootstrap_p(grid: Grid) -> float:
    """Return the two-sided p-value: twice the smaller share of resamples on one side of 0; at least 2 / draws."""
    resampled = _resampled(grid)
    smaller = min(np.count_nonzero(resampled <= _ROUNDING), np.count_nonzero(resampled >= -_ROUNDING))
    return min(1.0, 2 * max(1, int(smaller)) / MEASURING.draws)


def _resampled(grid: Grid) -> NDArray[np.float64]:
    size = len(grid)
    drawn = np.random.default_rng(_SEED).integers(0, size, size=(MEASURING.draws, size))
    draws = np.zeros((MEASURING.draws, size))
    np.add.at(draws, (np.arange(MEASURING.draws)[:, None], drawn), 1)
    return _macro(grid, draws)


def _interval(grid: Grid) -> Interval:
    resampled = _resampled(grid)
    tails = (MEASURING.tail, 1 - MEASURING.tail)
    low, high = np.percentile(resampled, [100 * tail for tail in _bca_tails(grid, resampled, tails) or tails])
    return Interval(float(low), float(high))


def _bca_tails(grid: Grid, resampled: NDArray[np.float64], tails: Sequence[float]) -> list[float] | None:
    """Return the percentiles of the resamples that BCa puts in place of `tails`; None where it has no answer."""
    normal = NormalDist()
    size = len(grid)
    observed = _macro(grid, np.ones(size))
    below = (np.mean(resampled < observed - _ROUNDING) + np.mean(resampled <= observed + _ROUNDING)) / 2
    left_out = _macro(grid, 1 - np.eye(size))
    influence = left_out.mean() - left_out
    spread = np.sum(influence**2)
    if not 0 < below < 1 or not spread > 0:  # equal conversations
        return None
    bias = normal.inv_cdf(float(below))
    acceleration = float(np.sum(influence**3) / (6 * spread**1.5))
    shifted = [bias + normal.inv_cdf(tail) for tail in tails]
    return [normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted]


def _sign_flip(grid: Grid) -> float:
    """Return the two-sided p-value of the mean: the share of sign patterns under which it is as far from 0.

    All patterns are tried where there are no more than `MEASURING.patterns`; else as many are drawn, with the observed.
    """
    size = len(grid)
    # The mean is linear in the signs: each conversation has a weight.
    weights = np.nan_to_num(grid / np.count_nonzero(~np.isnan(grid), axis=0)).mean(axis=1)
    is_exact = 2**size <= MEASURING.patterns
    if is_exact:
        bits = np.arange(2**size)[:, None] >> np.arange(size) & 1
    else:
        bits = np.random.default_rng(_SEED).integers(0, 2, size=(MEASURING.patterns, size), dtype=np.int8)
    means = np.abs((2.0 * bits - 1) @ weights)
    extreme = np.count_nonzero(means >= abs(weights.sum()) - _ROUNDING)
    return float(extreme / len(means) if is_exact else (extreme + 1) / (len(means) + 1))
