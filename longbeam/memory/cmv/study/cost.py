"""Cost of trimming under prompt caching, in closed form.

With a cache hit rate h, a token of the prompt costs c(h) = read·h + write·(1 - h) of the input price. Trimming from T
to T' tokens misses the cache once (write·T') and then saves c·(T - T') a turn, so that it pays from turn
N = ⌈(write - c)(1 - ρ) / (c·ρ)⌉ on, ρ = 1 - T'/T: no price and no size enters. Uncensored: the paper cuts N off at 60,
which 31 of its 76 sessions exceed.

Derived from the released code of the paper (arXiv 2602.22402); the cache prices are Anthropic's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from pydantic import Field

from longbeam.schemas.base import Record

WRITE, READ = Fraction("1.25"), Fraction("0.1")
"""Factors of the input price: to write a token into the cache, to read one from it."""
USD_PER_MILLION = {"sonnet-4": 3.0, "opus-4.6": 5.0, "opus-4": 15.0, "haiku-4.5": 1.0}
"""Input price by model, as in the paper."""
PROJECTED_TURNS = (5, 10, 20, 50)
OVERHEAD_TOKENS = 20_000
"""System prompt and tools, which no trim shortens."""
MOST_REDUCTION = 0.95


class Outlook(Record):
    """Costs and savings of a trim."""

    tokens_before: int
    tokens_after: int
    hit_rate: float = Field(ge=0, le=1)
    reduction: float
    """Share of the context's tokens that the trim removes."""
    penalty_usd: float
    """Extra cost of the first turn, which misses the cache."""
    saved_usd_per_turn: float
    break_even_turns: int | None
    """Turns from which the trim is cheaper; None if nothing was removed."""
    saved_usd: dict[int, float]
    """Savings by number of turns; negative before the trim has paid for itself."""


def cost_factor(hit_rate: float) -> Fraction:
    """Return c(h), the price of a prompt token as a factor of the input price."""
    hit = Fraction(str(hit_rate))
    return READ * hit + WRITE * (1 - hit)


def break_even(reduction: float, hit_rate: float = 0.9) -> int | None:
    """Return the turns after which a trim by this share has paid for itself; None for a trim that removes nothing.

    Uses fractions: at a whole number of turns, binary floats would give one more or one less.
    """
    share, factor = Fraction(str(reduction)), cost_factor(hit_rate)
    if share <= 0:
        return None
    return max(math.ceil((WRITE - factor) * (1 - share) / (factor * share)), 0)


def outlook(before: int, after: int, *, hit_rate: float = 0.9, model: str = "sonnet-4") -> Outlook:
    """Return costs and savings of trimming a context from `before` to `after` tokens."""
    usd_per_token = USD_PER_MILLION[model] / 1e6
    reduction = 1 - after / before if before else 0.0
    factor = float(cost_factor(hit_rate))
    penalty = (float(WRITE) * after - factor * before) * usd_per_token
    saved = factor * (before - after) * usd_per_token
    return Outlook(
        tokens_before=before,
        tokens_after=after,
        hit_rate=hit_rate,
        reduction=reduction,
        penalty_usd=penalty,
        saved_usd_per_turn=saved,
        break_even_turns=break_even(reduction, hit_rate),
        saved_usd={turns: saved * (turns - 1) - penalty for turns in PROJECTED_TURNS},
    )


def trimmed_tokens(before: int, byte_reduction: float) -> int:
    """Return the tokens of a context whose session lost this share of its *live* bytes; the overhead stays.

    The paper divides by all bytes, those before the last compaction among them, which the model no longer reads.
    """
    if before <= OVERHEAD_TOKENS:
        return before
    return min(before, round((before - OVERHEAD_TOKENS) * (1 - byte_reduction)) + OVERHEAD_TOKENS)


@dataclass(frozen=True, kw_only=True)
class TrimmableBytes:
    """Bytes of a session that a trim shortens or removes, and the number of tool results."""

    tool_results: int
    results_count: int
    signatures: int
    file_history: int
    tool_calls: int

    def expected_reduction(self, active: int) -> float:
        """Return the share of the `active` bytes that a trim is expected to take, 0 to 0.95, without making it.

        Seven tenths of tool results, all signatures and file histories, three tenths of tool calls, less 35 bytes for
        each stub.
        """
        if not active:
            return 0.0
        stubs = 35 * self.results_count
        removed = self.file_history + self.signatures + 0.7 * self.tool_results - stubs + 0.3 * self.tool_calls
        return min(max(removed / active, 0.0), MOST_REDUCTION)
