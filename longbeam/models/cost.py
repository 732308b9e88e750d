"""Tokens and money: the cost of calls, the usage so far, and a cap that stops a run before it is exceeded.

The meter stands below the journal, so a reply that is replayed costs nothing, and above everything that asks again.
Prices come from the spec. A model without a price is counted in tokens alone.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from longbeam.errors import RunStopped, SpecError
from longbeam.models.base import ChatModel, ModelCall, close_model
from longbeam.models.kinds import is_free
from longbeam.models.tuning import CALLING
from longbeam.schemas import COUNTS, BenchmarkSpec, ModelReply, Price, Usage, UsageKey, summed

FREE = Price()
MILLION = 1_000_000
BYTES_PER_MESSAGE = 16
"""Room for what a chat template puts around a message."""


class Prices(dict[str, Price | None]):
    """Prices by model, and the share of them that calls cost which are sent in batches."""

    def __init__(self, spec: BenchmarkSpec, models: Iterable[str]) -> None:
        super().__init__((model, price_of(spec, model)) for model in models)
        self._spec = spec

    def share(self, stage: str, prompt_id: str, model: str) -> float:
        """Return what calls cost as a share of the model's price."""
        return self._spec.batch.price_share if self._spec.is_batched(stage, prompt_id, model) else 1.0


def price_of(spec: BenchmarkSpec, model: str) -> Price | None:
    """Return the price of a model as `models` names it; None where the spec has none and it is not free."""
    price = spec.endpoint_for(model).price
    return FREE if price is None and is_free(spec, model) else price


def prices_of(spec: BenchmarkSpec) -> Prices:
    """Return the prices of all models of the spec, by their names in the spec and in journals."""
    prices = Prices(spec, [*spec.endpoints, *spec.models.values()])
    for model in tuple(prices):
        prices[spec.identity_of(model)] = prices[model]
    return prices


def unpriced_models(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the models in use that cost money and have no price in the spec."""
    return tuple(m for m in sorted(spec.models_in_use) if price_of(spec, m) is None)


def cost_usd(price: Price, *, prompt_tokens: int, cached_tokens: int, output_tokens: int) -> float:
    """Return the USD of one or more calls; `prompt_tokens` include the cached ones."""
    cached = price.input if price.cached is None else price.cached
    fresh = prompt_tokens - cached_tokens
    return (fresh * price.input + cached_tokens * cached + output_tokens * price.output) / MILLION


def cost_of(prices: Prices, rows: Iterable[Usage]) -> float | None:
    """Return the USD of all rows; None if one of them has no price."""
    total = 0.0
    for row in rows:
        price = prices.get(row.model)
        if price is None:
            return None
        total += prices.share(row.stage, row.prompt_id, row.model) * cost_usd(
            price,
            prompt_tokens=row.prompt_tokens,
            cached_tokens=row.cached_tokens,
            output_tokens=row.output_tokens,
        )
    return total


@dataclass
class _Seen:
    """Extremes of a model's replies, of which bounds of its next calls are made."""

    density: float = 1.0
    """Most tokens per byte of a prompt: at first 1, which no vocabulary passes."""
    output_tokens: int = 0
    thought_tokens: int = 0
    _densest: float = 0.0

    def add(self, reply: ModelReply, size: int) -> None:
        """Count a reply to a prompt of `size` bytes."""
        self._densest = max(self._densest, reply.prompt_tokens / size)
        self.density = min(1.0, CALLING.denser * self._densest) if reply.prompt_tokens else self.density
        self.output_tokens = max(self.output_tokens, reply.output_tokens)
        self.thought_tokens = max(self.thought_tokens, reply.reasoning_tokens)


def _bytes_of(call: ModelCall) -> int:
    """Return the size of a prompt with the schema of its reply."""
    schema = call.prompt.schema(call.inputs)
    said = sum(len(m.content.encode(errors="surrogatepass")) + BYTES_PER_MESSAGE for m in call.messages())
    return said + (len(json.dumps(schema)) if schema else 0)


@dataclass
class CostMeter:
    """A ChatModel that counts what passes through it. For one event loop."""

    inner: ChatModel
    spec: BenchmarkSpec
    before: Sequence[Usage] = ()
    """Usage in the journals when the run began; it counts toward the cap."""
    now: dict[UsageKey, dict[str, int]] = field(default_factory=dict)
    """Usage of this run."""
    _stopped: str = ""
    _reserved: float = 0.0
    _in_flight: int = 0
    _seen: dict[str, _Seen] = field(default_factory=lambda: defaultdict(_Seen))
    """Extremes of the replies so far, by model."""

    def __post_init__(self) -> None:
        self._door, self._freed = asyncio.Lock(), asyncio.Event()
        self.prices = prices_of(self.spec)
        cap = self.spec.limits.max_cost_usd
        if cap is not None and (unpriced := unpriced_models(self.spec)):
            raise SpecError(
                f"limits.max_cost_usd = {cap:g}: {unpriced[0]!r} has no price, so nobody can tell when that is spent; "
                f'set price in [endpoints."{unpriced[0]}"], as in price = {{ input = 0.40, output = 1.60 }}'
            )
        self._spent = cost_of(self.prices, self.before) or 0.0

    @property
    def spent_usd(self) -> float:
        """USD of the journals and of this run, as far as prices are known."""
        return self._spent

    @property
    def spent_line(self) -> str:
        """The cost of this run, and of all runs with it, as far as prices are known, in one line."""
        now = cost_of(self.prices, [Usage.of(key, counts) for key, counts in self.now.items()])
        calls = sum(counts["calls"] for counts in self.now.values())
        told = "an unknown price" if now is None else f"${now:.4f}"
        return f"spent: {told} for {calls:,} calls now, ${self._spent:.4f} with earlier runs"

    def usage(self) -> list[Usage]:
        """Return the usage of the journals and of this run, by stage, role, prompt and model, in this order."""
        return summed([*self.before, *(Usage.of(key, counts) for key, counts in self.now.items())])

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer and count; raises RunStopped when the call might exceed the cap."""
        if self.spec.limits.max_cost_usd is None:
            reply = await self.inner.complete(call)
            self._count(call, reply)
            return reply
        size = _bytes_of(call)
        with call.progress.held():
            aside = await self._set_aside(call, size, self.spec.limits.max_cost_usd)
        try:
            reply = await self.inner.complete(call)
            self._count(call, reply)
            self._seen[call.model].add(reply, size)
        finally:
            self._reserved -= aside
            self._in_flight -= 1
            self._freed.set()
        return reply

    @property
    def is_capped(self) -> bool:
        """Whether the cap has stopped a call."""
        return bool(self._stopped)

    def add(self, rows: Iterable[Usage]) -> None:
        """Add the usage of another process of this run."""
        for row in rows:
            counts = self._counts(row.key)
            for name, more in row.counts().items():
                counts[name] += more
            self._spent += cost_of(self.prices, [row]) or 0.0

    async def aclose(self) -> None:
        """Close the connections of the inner model."""
        await close_model(self.inner)

    async def _set_aside(self, call: ModelCall, size: int, cap: float) -> float:
        """Reserve the most that a call can cost; wait for calls in flight, whose own costs leave money over."""
        async with self._door:  # the first to wait is the first to go on
            while not self._stopped:
                most = self._most_cost(call, size)
                if self._spent + self._reserved + most <= cap:
                    self._reserved += most
                    self._in_flight += 1
                    return most
                if not self._in_flight:
                    self._stopped = (
                        f"limits.max_cost_usd = {cap:g} is reached: ${self._spent:.4f} is spent, and the next call may"
                        f" cost ${most:.4f}; give --max-cost a higher value to go on"
                    )
                    break
                self._freed.clear()
                await self._freed.wait()
        raise RunStopped(self._stopped)

    def _most_cost(self, call: ModelCall, size: int) -> float:
        """Return the USD that a call costs at most: all of its prompt uncached, and a reply of `max_tokens`."""
        seen = self._seen[call.model]
        limit = call.sampling.max_tokens or self.spec.sampling_for(call.role).max_tokens
        unlimited = max(CALLING.unseen_output, 2 * seen.output_tokens)
        most = cost_usd(
            self.prices.get(call.model) or FREE,
            prompt_tokens=math.ceil(size * seen.density),
            cached_tokens=0,
            # A client adds twice the longest thought to the limit (`OpenAIModel.complete`).
            output_tokens=limit + 2 * seen.thought_tokens if limit else unlimited,
        )
        return most * self.prices.share(call.stage, call.prompt.prompt_id, call.model)

    def _counts(self, key: UsageKey) -> dict[str, int]:
        counts = self.now.get(key)
        if counts is None:
            counts = self.now[key] = dict.fromkeys(COUNTS, 0)
        return counts

    def _count(self, call: ModelCall, reply: ModelReply) -> None:
        prompt_id = call.prompt.prompt_id
        key = call.stage, call.role.value, prompt_id, call.model
        counts = self._counts(key)
        counts["calls"] += 1
        counts["prompt_tokens"] += reply.prompt_tokens
        counts["cached_tokens"] += reply.cached_tokens
        counts["output_tokens"] += reply.output_tokens
        counts["reasoning_tokens"] += reply.reasoning_tokens
        if (price := self.prices.get(call.model)) is not None:
            self._spent += self.prices.share(call.stage, prompt_id, call.model) * cost_usd(
                price,
                prompt_tokens=reply.prompt_tokens,
                cached_tokens=reply.cached_tokens,
                output_tokens=reply.output_tokens,
            )
