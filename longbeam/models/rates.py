"""Requests and tokens per minute: when the next call may be sent so that no 60 seconds hold more than allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from longbeam.schemas import EndpointLimits

WINDOW_S = 60.0
BURST_SHARE = 0.1
"""Share of a minute's allowance that may go out at once; endpoints that count by the second refuse larger bursts."""
OUTPUT_TOKENS = 300.0
"""Assumed tokens of a reply, before any has come."""
CHARACTERS_PER_TOKEN = 4.0
"""Assumed tokens of a prompt, before any has been counted."""
LEARNING = 0.05
"""Weight of one more answer in what is known of their sizes."""

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class Bucket:
    """Holds at most a burst, and is filled evenly; amounts are requests or tokens. For one event loop."""

    def __init__(self, per_minute: int, clock: Clock, sleep: Sleep) -> None:
        """`clock` is monotonic, in seconds; `sleep` may raise to end the waiting."""
        self._burst = max(1.0, per_minute * BURST_SHARE)
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
    _output: float = OUTPUT_TOKENS
    _characters: float = CHARACTERS_PER_TOKEN

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
        self._output += LEARNING * (output_tokens - self._output)
        if prompt_tokens and characters:
            self._characters += LEARNING * (characters / prompt_tokens - self._characters)
