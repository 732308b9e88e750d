"""The pace at which an endpoint is asked: calls in flight, learnt from its answers, and calls and tokens a minute.

The limit grows by half for every round of answers, as long as calls are waiting for it and answers come faster
for it. Refusals (429) bring it down to what the endpoint holds at that moment; from there single calls beyond
it find out when there is more. Nothing pauses: calls already in flight and those of other endpoints go on. Why
so, and what it measures: docs/design/0012-transport-and-limits.md.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from longbeam.models.tuning import CALLING
from longbeam.schemas import EndpointLimits

Clock = Callable[[], float]


class AdaptiveWindow:
    """Lets calls through to one endpoint, first come first served. For one event loop.

    `clock` is monotonic, in seconds. An `is_fixed` window stays at `most`.
    """

    def __init__(self, most: int, clock: Clock, *, is_fixed: bool = False) -> None:
        self.most = most
        self.limit = float(most if is_fixed else min(CALLING.pace_start, most))
        self.in_flight = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_fast = True
        self._cut_at = float("-inf")
        self._floor = 1.0
        self._probe_s = CALLING.first_probe_s
        self._rest_s = CALLING.first_rest_s
        self._hold_until = float("-inf")
        self._before: tuple[float, float, float] | None = None
        self._begin_round()

    async def enter(self) -> float:
        """Wait for a place and take it; returns the time at which the call may go, for `leave`."""
        if self._waiting or self.in_flight >= int(self.limit):
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            self._is_full = True
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():  # it was given away in the same moment
                    self.in_flight -= 1
                    self._admit()
                raise
        else:
            self.in_flight += 1
        return self._clock()

    def leave(self, entered_at: float, *, is_refused: bool = False, is_answered: bool = False, tokens: int = 0) -> None:
        """Free a place and report the outcome of the call; `tokens` are those of its reply."""
        self.in_flight -= 1
        if is_refused:
            self._cut(entered_at)
        elif is_answered and entered_at >= self._began_at:
            self._calls += 1
            self._tokens += tokens
            self._seconds += self._clock() - entered_at
            if self._calls >= self._round:
                self._end_round()
        self._admit()

    def open(self) -> None:
        """Let all calls through: the run is stopped, and the waiting calls must learn that."""
        self.limit = self.most = 1_000_000
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self.in_flight < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                self.in_flight += 1

    def _begin_round(self) -> None:
        self._began_at, self._round = self._clock(), max(1, int(self.limit))
        self._calls, self._tokens, self._seconds = 0, 0, 0.0
        self._is_full = bool(self._waiting)  # whether anybody had to wait in this round

    def _end_round(self) -> None:
        now = self._clock()
        if self._is_full and self.limit < self.most and now >= self._hold_until:
            # By Little's law: answers per second = calls in flight / seconds that each took. To count the answers of a
            # short round would measure how they happen to come in bursts.
            calls_per_s = int(self.limit) * self._calls / max(self._seconds, 1e-6)
            self._grow(now, calls_per_s, calls_per_s * self._tokens / self._calls)
        self._begin_round()

    def _grow(self, now: float, calls_per_s: float, tokens_per_s: float) -> None:
        # A greater limit is kept only if more came back per second: otherwise the calls merely wait at the endpoint.
        if self._before is not None:
            limit, calls_before, tokens_before = self._before
            needed = 1 + CALLING.pace_worthwhile * (self.limit / limit - 1)
            is_no_faster = calls_per_s < needed * calls_before and tokens_per_s <= needed * tokens_before
            if self.limit >= CALLING.pace_telling * limit and is_no_faster:
                self.limit, self._before, self._is_fast = limit, None, False
                # Each vain attempt makes the next one later.
                self._hold_until = now + self._rest_s
                self._rest_s = min(2 * self._rest_s, CALLING.longest_rest_s)
                return
        self._before = self.limit, calls_per_s, tokens_per_s
        self.limit = min(
            float(self.most), max(self.limit + 1, self.limit * (CALLING.pace_growth if self._is_fast else 1))
        )
        self._is_fast = True

    def _cut(self, entered_at: float) -> None:
        now = self._clock()
        if entered_at > self._cut_at:  # it was sent after the last cut: this is news
            # The refusals of one burst must not cut the limit one by one.
            self._floor = max(1.0, self.limit * CALLING.pace_cut)
            self._cut_at = now
            self._hold_until = now + self._probe_s
            self._probe_s = min(2 * self._probe_s, CALLING.longest_probe_s)
        # The calls in flight, this one left out, are what the endpoint still bears.
        self.limit = max(self._floor, min(self.limit, float(self.in_flight)))
        self._is_fast, self._before = False, None
        self._begin_round()


WINDOW_S = 60.0

Sleep = Callable[[float], Awaitable[None]]


class Bucket:
    """Holds at most a burst, and is filled evenly; amounts are requests or tokens. For one event loop."""

    def __init__(self, per_minute: int, clock: Clock, sleep: Sleep) -> None:
        """`clock` is monotonic, in seconds; `sleep` may raise to end the waiting."""
        self._burst = max(1.0, per_minute * CALLING.burst_share)
        # A burst and what then flows in within the same minute (without its last moment) are the allowance.
        self._per_s = (per_minute - self._burst + 1) / WINDOW_S
        self._level, self._filled_at = self._burst, clock()
        self._clock, self._sleep = clock, sleep
        self._turn = asyncio.Lock()  # first come, first served

    async def take(self, amount: float) -> None:
        """Wait until the amount is there, or the bucket is full where it never holds so much; then take it."""
        async with self._turn:
            while (short := min(amount, self._burst) - self._fill()) > 1e-9:
                await self._sleep(short / self._per_s)
            self._level -= amount

    def give_back(self, amount: float) -> None:
        """Put back what was not used after all; a negative amount takes more."""
        self._level = min(self._burst, self._fill() + amount)

    def _fill(self) -> float:
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._per_s)
        self._filled_at = now
        return self._level


@dataclass
class Rates:
    """Requests and tokens per minute of one endpoint; sizes of prompts and replies are learnt from its answers."""

    limits: EndpointLimits
    clock: Clock
    sleep: Sleep
    _requests: Bucket | None = field(init=False)
    _tokens: Bucket | None = field(init=False)
    _output: float = CALLING.first_output_tokens
    _characters: float = CALLING.first_characters_per_token

    def __post_init__(self) -> None:
        rpm, tpm = self.limits.requests_per_minute, self.limits.tokens_per_minute
        self._requests = None if rpm is None else Bucket(rpm, self.clock, self.sleep)
        self._tokens = None if tpm is None else Bucket(tpm, self.clock, self.sleep)

    @property
    def counts_tokens(self) -> bool:
        """Whether prompts must be measured."""
        return self._tokens is not None

    async def wait(self, characters: int) -> float:
        """Wait until a prompt of so many characters may be sent; returns the tokens that were set aside for it."""
        guess = characters / self._characters + self._output
        if self._tokens is not None:
            await self._tokens.take(guess)
        if self._requests is not None:
            await self._requests.take(1)
        return guess

    def settle(self, guess: float, characters: int, prompt_tokens: int, output_tokens: int) -> None:
        """Put what was used in place of the guess."""
        if self._tokens is None or prompt_tokens + output_tokens == 0:
            return
        self._tokens.give_back(guess - prompt_tokens - output_tokens)
        self._output += CALLING.learning * (output_tokens - self._output)
        if prompt_tokens and characters:
            self._characters += CALLING.learning * (characters / prompt_tokens - self._characters)
