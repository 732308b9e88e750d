"""How fast calls get through to an endpoint of which nothing is known: `python -m benchmarks.bench_limits`.

A server of our own takes 32 requests at once, 50 ms each, and answers 429 beyond; 1,000 calls are made, 64 wanted
at once. Ideal: 1,000 / 32 x 50 ms = 1.56 s. Then the server's limit rises to 64 in the middle of a longer run, and
falls back. Nothing is asserted; the numbers are in docs/design/0012-transport-and-limits.md.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from benchmarks.bench_http import get_json
from longbeam.errors import ProviderError
from longbeam.models import LimitedModel, ModelCall, OpenAIModel
from longbeam.offline.loopback import Request
from longbeam.prompts.calls import QuestionDetectorInputs
from longbeam.schemas import BenchmarkSpec, ChatMessage, Endpoint, PromptInputs, Role, Tool
from longbeam.serving import LOOPBACK, Receive, Scope, Send, open_listener, serving

LATENCY_S = 0.05
CALLS, WANTED = 1_000, 64
MODEL = "openai:measured"


@dataclass
class Server:
    """Answers after LATENCY_S; refuses with 429 what goes beyond `takes`, or lets it queue where `queues` is set."""

    takes: int
    queues: bool
    in_flight: int = 0
    refused: int = 0
    most: int = 0
    times: list[float] = field(default_factory=list)
    """When each reply was sent, by the clock that all processes share."""
    gate: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.gate = asyncio.Semaphore(self.takes)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; an ASGI app."""
        await Request(scope, receive, send).handle(self.counts if scope["path"] == "/counts" else self.chat)

    async def chat(self, request: Request) -> None:
        """Give one reply, or refuse the request."""
        await request.read()
        if not self.queues and self.in_flight >= self.takes:
            self.refused += 1
            await request.answer(REFUSAL, 429)
            return
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        async with self.gate if self.queues else nullcontext():
            await asyncio.sleep(LATENCY_S)
        self.in_flight -= 1
        self.times.append(time.monotonic())
        await request.answer(REPLY)

    async def counts(self, request: Request) -> None:
        """Answer with the counts so far; `?takes=N` changes the limit."""
        self.takes = int(request.query.get("takes", [str(self.takes)])[0])
        await request.answer(to_json({"refused": self.refused, "most": self.most, "times": self.times}))


def serve(port: Connection, takes: int, queues: bool) -> None:
    """Serve until the process is ended; sends the base URL when it is ready."""

    async def forever() -> None:
        server = Server(takes, queues)
        async with serving(server.app, open_listener(LOOPBACK, 0)) as base_url:
            port.send(base_url)
            await asyncio.Event().wait()

    asyncio.run(forever())


@contextmanager
def server_process(takes: int, *, queues: bool = False) -> Iterator[str]:
    """Give the address of a server in a process of its own."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, takes, queues), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


async def counts_of(address: str, takes: int | None = None) -> dict[str, Any]:
    """Return the server's counts; change its limit first if `takes` is given."""
    query = "" if takes is None else f"?takes={takes}"
    return dict(await asyncio.to_thread(get_json, f"{address}/counts{query}"))


REFUSAL = to_json({"error": {"message": "too many at once"}})
REPLY = to_json(
    {
        "model": "measured",
        "choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 1},
    }
)


@dataclass(frozen=True)
class Prompt:
    """A prompt of one message."""

    prompt_id: str = "measured"
    version: int = 1
    output: type[BaseModel] | None = None
    tool: Tool | None = None

    def schema(self, inputs: PromptInputs | None = None) -> None:
        """It asks for prose."""

    def render(self, inputs: PromptInputs) -> tuple[ChatMessage, ...]:
        """The message."""
        assert isinstance(inputs, QuestionDetectorInputs)
        return (ChatMessage(role="user", content=inputs.reply),)


async def ask(model: LimitedModel, calls: int, wanted: int) -> tuple[float, int]:
    """Make calls, at most `wanted` at a time; returns seconds and how many failed."""
    gate = asyncio.Semaphore(wanted)
    failed = 0

    async def one(number: int) -> None:
        nonlocal failed
        call = ModelCall(Prompt(), QuestionDetectorInputs(reply=str(number)), Role.DETECTOR, MODEL, 0, f"c/b/{number}")
        async with gate:
            try:
                await model.complete(call)
            except ProviderError:
                failed += 1

    began = time.perf_counter()
    await asyncio.gather(*(one(i) for i in range(calls)))
    return time.perf_counter() - began, failed


def stack(base_url: str) -> tuple[LimitedModel, OpenAIModel]:
    """The client and the limits around it."""
    endpoint = Endpoint(base_url=base_url)
    spec = BenchmarkSpec.model_validate(
        {
            "name": "measured",
            "models": {"default": MODEL},
            "endpoints": {MODEL: endpoint},
            "limits": {"concurrency": WANTED},
        }
    )
    client = OpenAIModel(MODEL, endpoint, key="", notice=print)
    return LimitedModel(client, spec), client


async def measure_refusing(address: str) -> None:
    """1,000 calls to a server that takes 32 at once."""
    model, client = stack(f"{address}/v1")
    took, failed = await ask(model, CALLS, WANTED)
    counts = await counts_of(address)
    print(
        f"32 at once, 429 beyond: {CALLS} calls in {took:.2f} s (ideal 1.56), refused {counts['refused']} "
        f"({counts['refused'] / CALLS:.1%} of the calls), failed {failed}, most in flight {counts['most']}"
    )
    await client.aclose()


async def measure_rising(address: str) -> None:
    """A limit that rises to 64 and falls back."""
    model, client = stack(f"{address}/v1")
    running = asyncio.create_task(ask(model, 6_000, WANTED))
    await asyncio.sleep(3)
    before, rose_at = (await counts_of(address, 64))["refused"], time.monotonic()
    await asyncio.sleep(3)
    high, fell_at = (await counts_of(address, 32))["refused"], time.monotonic()
    took, _ = await running
    counts = await counts_of(address)
    times = counts["times"]
    full = _rate(times, fell_at - 1, 1)
    starts = [rose_at + 0.05 * i for i in range(50)]
    follows = next((t - rose_at for t in starts if _rate(times, t, 0.25) >= 0.9 * full), None)
    print(
        f"limit 32 to 64: {_rate(times, rose_at - 1, 1):.0f} replies/s before, {full:.0f} after (ideal 640, 1280); "
        f"nine tenths of that {'never' if follows is None else f'{follows:.2f} s'} after the rise; "
        f"refused {before} before, {high - before} at 64, {counts['refused'] - high} after the fall ({took:.1f} s)"
    )
    await client.aclose()


async def measure_queueing(address: str) -> None:
    """1,000 calls to a server that works on 16 at once and lets the rest wait."""
    model, client = stack(f"{address}/v1")
    took, _ = await ask(model, CALLS, WANTED)
    counts = await counts_of(address)
    print(
        f"16 at once, the rest queues: {CALLS} calls in {took:.2f} s (ideal {CALLS / 16 * LATENCY_S:.2f}), most in the "
        f"server {counts['most']} of {WANTED} wanted"
    )
    await client.aclose()


def _rate(times: list[float], begin: float, over_s: float) -> float:
    return sum(begin <= t < begin + over_s for t in times) / over_s


def main() -> None:
    """Print what was measured."""
    for _ in range(3):
        with server_process(32) as address:
            asyncio.run(measure_refusing(address))
    with server_process(32) as address:
        asyncio.run(measure_rising(address))
    with server_process(16, queues=True) as address:
        asyncio.run(measure_queueing(address))


if __name__ == "__main__":
    main()
