"""Limits between a call and its endpoint: concurrency, rates, time-outs, retries, and when to stop the run.

One call's trouble is its own (a poisoned prompt, a 500 among answers); trouble that every call would meet (a
wrong key, no server) stops the run, so that it costs neither hours nor a thousand failed units. All times are the
event loop's, which is monotonic: a change of the wall clock does nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from longbeam.errors import ProviderError, RunStopped
from longbeam.models.adaptive import AdaptiveGate
from longbeam.models.base import ChatModel, ModelCall
from longbeam.models.rates import Rates
from longbeam.schemas.calls import ModelReply
from longbeam.schemas.spec import BenchmarkSpec

TRIES = 6
"""Tries of a call at an endpoint that answers other calls meanwhile."""
FIRST_TRIES = 4
"""Tries of a call at an endpoint that has never answered."""
REFUSALS = 3
"""Refusals in a row of key, quota or model that stop a run, from an endpoint that answered before."""
PATIENCE_S = 300.0
"""Seconds without any answer, from an endpoint that answered before, that stop a run."""
LONGEST_RETRY_AFTER_S = 900.0
"""An endpoint that wants to be left alone for longer stops the run; `resume` is for the hours."""
BACK_OFF_S = 0.25
"""Before the second try: evenly drawn from nothing to this; doubled with each try."""
LONGEST_BACK_OFF_S = 30.0

GRACE_S = 0.25
"""After a call's time-out, for a reply that came before it."""

DEFINITE = frozenset({"authentication", "quota", "not_found", "not_an_api"})
"""Kinds of errors that every other call would meet as well."""


@dataclass
class Lane:
    """The way to one model's endpoint."""

    gate: AdaptiveGate
    rates: Rates
    has_answered: bool = False
    answered_at: float = float("-inf")
    silent_since: float | None = None
    """Time of the first failure after the last answer."""
    refusals: int = 0
    """Definite errors since the last answer."""


@dataclass
class Trouble:
    """The failures that one call has met so far."""

    tries: int = 0
    alone: int = 0
    """Failures between which the endpoint answered other calls."""
    last_at: float = float("-inf")


class LimitedModel:
    """A ChatModel that asks `inner` no more than the spec and the endpoints allow. For one event loop."""

    def __init__(self, inner: ChatModel, spec: BenchmarkSpec, *, rng: random.Random | None = None) -> None:
        self._inner = inner
        self._spec = spec
        self._rng = rng or random.Random()
        self._places = asyncio.Semaphore(spec.limits.concurrency)
        self._lanes: dict[str, Lane] = {}
        self._stopped: str = ""
        self._stop = asyncio.Event()

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply. Raises ProviderError for the call's own failure, RunStopped for everybody's."""
        lane = self._lane(call.model)
        trouble = Trouble()
        while True:
            try:
                return await self._try(lane, call)
            except ProviderError as exc:
                wait_s = self._wait_after(lane, exc, trouble)
            await self._sleep(wait_s)

    async def _try(self, lane: Lane, call: ModelCall) -> ModelReply:
        characters = sum(len(m.content) for m in call.messages()) if lane.rates.counts_tokens else 0
        guess = await lane.rates.wait(characters)
        entered_at = await lane.gate.enter()
        reply: ModelReply | None = None
        is_refused = False
        try:
            async with self._places:
                self._refuse_if_stopped()
                reply = await self._ask(call)
        except ProviderError as exc:
            is_refused = exc.kind == "rate_limit"
            raise
        finally:
            tokens = reply.output_tokens if reply is not None else 0
            lane.gate.leave(entered_at, is_refused=is_refused, is_answered=reply is not None, tokens=tokens)
        lane.has_answered, lane.silent_since, lane.refusals = True, None, 0
        lane.answered_at = asyncio.get_running_loop().time()
        lane.rates.settle(guess, characters, reply.prompt_tokens, reply.output_tokens)
        return reply

    async def _ask(self, call: ModelCall) -> ModelReply:
        timeout_s, loop = self._spec.limits.timeout_s, asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as limit:
                # Where this process was held up, the reply may lie in the socket, paid for: it is read first.
                last_call = loop.call_later(timeout_s, lambda: limit.reschedule(loop.time() + GRACE_S))
                try:
                    return await self._inner.complete(call)
                finally:
                    last_call.cancel()
        except TimeoutError as exc:
            raise ProviderError(
                f"{call.model}: no reply within {timeout_s:g} s", kind="timeout", is_retryable=True
            ) from exc

    def _wait_after(self, lane: Lane, error: ProviderError, trouble: Trouble) -> float:
        """The seconds to wait before the call is tried again; raises the error, or stops the run."""
        now = asyncio.get_running_loop().time()
        is_alone = trouble.tries == 0 or lane.answered_at >= trouble.last_at  # others were answered meanwhile
        trouble.tries, trouble.last_at = trouble.tries + 1, now
        trouble.alone += is_alone
        if lane.silent_since is None:
            lane.silent_since = now
        if error.kind in DEFINITE:
            lane.refusals += 1
            if not lane.has_answered or lane.refusals >= REFUSALS:
                raise self._stop_for(error)
        if not error.is_retryable:
            raise error
        if error.kind == "rate_limit":
            self._look_at_patience(lane, error, now)
        elif not lane.has_answered:
            if trouble.tries >= FIRST_TRIES:
                raise self._stop_for(error)
        elif not is_alone:
            self._look_at_patience(lane, error, now)
        elif trouble.alone >= TRIES:
            raise error
        longest = min(LONGEST_BACK_OFF_S, BACK_OFF_S * 2 ** (trouble.tries - 1))
        return (error.retry_after_s or 0.0) + self._rng.uniform(0, longest)

    def _look_at_patience(self, lane: Lane, error: ProviderError, now: float) -> None:
        is_told_to_leave = (error.retry_after_s or 0.0) > LONGEST_RETRY_AFTER_S
        if is_told_to_leave or (lane.silent_since is not None and now - lane.silent_since > PATIENCE_S):
            raise self._stop_for(error)

    def _stop_for(self, error: ProviderError) -> RunStopped:
        if self._stopped:
            return RunStopped(self._stopped)
        self._stopped = str(error)
        self._stop.set()
        for lane in self._lanes.values():
            lane.gate.open()
        return RunStopped(self._stopped, failure=error)

    def _refuse_if_stopped(self) -> None:
        if self._stopped:
            raise RunStopped(self._stopped)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or end at once when the run is stopped."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return
        self._refuse_if_stopped()

    def _lane(self, model: str) -> Lane:
        lane = self._lanes.get(model)
        if lane is None:
            lane = self._lanes[model] = self._new_lane(model, asyncio.get_running_loop().time)
        return lane

    def _new_lane(self, model: str, clock: Callable[[], float]) -> Lane:
        limits = self._spec.endpoint_for(model).limits
        most = min(self._spec.limits.concurrency, limits.concurrency or self._spec.limits.concurrency)
        # Only an endpoint elsewhere has something to teach.
        gate = AdaptiveGate(most, clock, is_fixed=not model.startswith("openai:"))
        return Lane(gate=gate, rates=Rates(limits, clock, self._sleep))
