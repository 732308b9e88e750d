"""Counts of the loopback server's requests and their outcomes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from longbeam.keys import UnitKey


@dataclass
class Counts:
    """Counts since the server's start or the last reset; `in_flight` outlives a reset."""

    received: int = 0
    """Requests to the chat route."""
    answered: int = 0
    """Replies written in full to a connection that was still there."""
    abandoned: int = 0
    """Requests whose client went away before the reply."""
    asked_again: set[str] = field(default_factory=set)
    """Calls that were asked although they had been answered: a client with a journal has none, unless it was killed."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests answered with an error, by status."""
    in_flight: int = 0
    most_in_flight: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    first_at: float | None = None
    last_at: float | None = None
    asked: Counter[str] = field(default_factory=Counter)
    """Number of requests of each call, by its key; requests beyond `max_in_flight` do not count."""
    answered_calls: dict[str, str] = field(default_factory=dict)
    """Key of each answered call to `unit_key#generation`, in the order of the first answers."""
    latencies_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds from arrival to reply, as drawn, of the answered requests of each unit key without its place."""

    def begin(self) -> None:
        """A request came."""
        self.received += 1
        self.first_at = self.first_at or time.monotonic()

    def enter(self) -> None:
        """A request is being served."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def ask(self, key: str) -> int:
        """A call was asked; returns how often it was asked before."""
        before = self.asked[key]
        self.asked[key] += 1
        if key in self.answered_calls:
            self.asked_again.add(key)
        return before

    def answer(self, key: str, unit_key: str, generation: int, latency_s: float) -> None:
        """A call was answered, after a latency that was drawn for it."""
        self.answered += 1
        self.last_at = time.monotonic()
        self.answered_calls.setdefault(key, f"{unit_key}#{generation}")
        self.latencies_s[str(UnitKey.parse(unit_key).without_place)] += latency_s

    def as_json(self) -> dict[str, Any]:
        """The numbers, without the list of calls."""
        span = self.last_at - self.first_at if self.last_at is not None and self.first_at is not None else None
        return {
            "received": self.received,
            "answered": self.answered,
            "abandoned": self.abandoned,
            "asked_again": len(self.asked_again),
            "refused": dict(sorted(self.refused.items())),
            "calls": len(self.asked),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "span_s": span,
            "cpu_s": time.process_time(),
        }
