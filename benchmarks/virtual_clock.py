"""An event loop whose clock jumps to the next thing that is due, so that hours of latency pass in no time."""

from __future__ import annotations

import asyncio
import selectors
import zlib
from collections import defaultdict
from dataclasses import dataclass, field

from longbeam.keys import UnitKey
from longbeam.models import ChatModel, ModelCall
from longbeam.schemas import ModelReply


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: what would have been waited for is added to the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Look at once, and let the time pass."""
        ready = super().select(0)
        if not ready and timeout is not None and timeout > 0:
            self.now += timeout
        return ready


class VirtualClockLoop(asyncio.SelectorEventLoop):
    """An event loop in which `asyncio.sleep` takes no time but on its own clock."""

    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        """Seconds since the loop was made, on its own clock."""
        return self._clock.now


@dataclass
class DelayedModel:
    """Answers as `inner` does, after a latency between `least_s` and ten times that, which follows from the call."""

    inner: ChatModel
    least_s: float = 0.5
    total_s: float = 0.0
    calls: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    of_unit: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Sum of latencies by unit: calls within a unit of dialogue are a chain."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """Beginning and end of each call, on the loop's clock."""
    prompt_ids: list[str] = field(default_factory=list)
    """Prompt of each call, in the order of `spans`."""

    def latency_of(self, call: ModelCall) -> float:
        """Seconds: log-uniform over a factor of ten, the same for the same call."""
        share = zlib.crc32(f"{call.unit_key}/{call.generation}".encode()) / 2**32
        return float(self.least_s * 10**share)

    async def complete(self, call: ModelCall) -> ModelReply:
        """Let the latency pass, then answer."""
        latency = self.latency_of(call)
        self.calls += 1
        self.total_s += latency
        self.of_unit[str(UnitKey.parse(call.unit_key).without_place)] += latency
        begun = asyncio.get_running_loop().time()
        self.spans.append((begun, begun + latency))
        self.prompt_ids.append(call.prompt.prompt_id)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(latency)
            return await self.inner.complete(call)
        finally:
            self.in_flight -= 1
