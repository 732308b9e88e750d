"""The memory server under the requests that mem0's memory-benchmarks sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest

from longbeam.errors import MemorySystemError
from longbeam.evaluation import arm_of
from longbeam.memory import LongContext, LongContextSettings, Registered, Tools
from longbeam.pipeline.evaluate import MemoryServer, listening
from longbeam.schemas import BenchmarkSpec, Context, Exchange, Question
from tests.wired import offline

Client = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]
PAIRS = [
    ("I moved the launch to 14 May because of the audit.", "Noted: the launch is on 14 May."),
    ("My cat Minka is ill.", "I am sorry to hear that."),
    ("Which knife is best for onions?", "A chef's knife."),
]


@asynccontextmanager
async def serving(system: str, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    arm = arm_of(system, {})
    assert arm.registered is not None
    assert arm.settings is not None
    spec = BenchmarkSpec(name="served", length=16_000)
    server = MemoryServer(system, arm.registered, arm.settings, offline(), spec, **options)
    async with listening(server) as url, httpx.AsyncClient(base_url=url) as session:
        yield session


def body_of(i: int, user_id: str = "beam_0") -> dict[str, Any]:
    """As the harness adds a pair: role and content, seconds since 1970, and what it sends besides."""
    said, reply = PAIRS[i]
    return {
        "messages": [{"role": "user", "content": said}, {"role": "assistant", "content": reply}],
        "user_id": user_id,
        "timestamp": 1_710_460_800 + 86_400 * i,
        "custom_instructions": "Extract what matters.",
        "metadata": {"chunk": i},
    }


async def found(client: httpx.AsyncClient, query: str, user_id: str = "beam_0", limit: int = 5) -> list[Any]:
    reply = await client.post("/search", json={"query": query, "user_id": user_id, "limit": limit})
    assert reply.status_code == 200
    return list(reply.json()["results"])


async def test_add_search_and_delete_as_the_harness_does() -> None:
    async with serving("rag") as client:
        for i in range(3):
            reply = await client.post("/memories", json=body_of(i))
            assert reply.status_code == 200
            assert [m["event"] for m in reply.json()["results"]] == ["ADD", "ADD"]
        (best, *_) = await found(client, "When is the launch?", limit=1)
        assert set(best) == {"id", "memory", "score", "created_at"}
        assert "14 May" in best["memory"]
        assert best["created_at"] == "2024-03-15T00:00:00"
        assert await found(client, "launch", user_id="somebody else") == []
        reply = await client.delete("/memories", params={"user_id": "beam_0"})
        assert reply.status_code == 200
        assert await found(client, "launch") == []


async def test_what_is_added_after_a_search_is_found() -> None:
    async with serving("rag") as client:
        await client.post("/memories", json=body_of(1))
        assert await found(client, "launch audit") == []  # a word of it was never said
        await client.post("/memories", json=body_of(0))
        assert len(await found(client, "launch audit")) == 1


class Clock(LongContext):
    """Its context is the time of the question."""

    async def context(self, question: Question, *, budget: int) -> Context:
        return Context(text=f"{question.asked_at:%Y-%m-%d}", tokens=1)


async def test_a_question_is_asked_at_the_last_message_or_at_its_own_time() -> None:
    registered = Registered(LongContextSettings, Clock, "tells the time", prompts=())
    spec = BenchmarkSpec(name="served", length=16_000)
    server = MemoryServer("clock", registered, LongContextSettings(), offline(), spec)
    async with listening(server) as url, httpx.AsyncClient(base_url=url) as client:
        await client.post("/memories", json=body_of(1))  # 16 March 2024
        asked = {"query": "What day is it?", "user_id": "beam_0"}
        days = [
            (await client.post("/search", json=asked | time)).json()["results"][0]["memory"]
            for time in ({}, {"timestamp": "2024-05-01T10:00:00Z"})
        ]
    assert days == ["2024-03-16", "2024-05-01"]


class Open(LongContext):
    """A system that holds something open; it cannot read messages with the word `unreadable`."""

    def __init__(self, settings: LongContextSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self.closed = 0

    async def add(self, exchange: Exchange) -> None:
        await super().add(exchange)
        if any("unreadable" in m.content for m in exchange.messages):
            raise MemorySystemError("unreadable")

    async def close(self) -> None:
        self.closed += 1


@asynccontextmanager
async def serving_open(made: list[Open]) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a system of which each instance is added to `made`."""

    def make(settings: LongContextSettings, tools: Tools) -> Open:
        made.append(Open(settings, tools))
        return made[-1]

    registered = Registered(LongContextSettings, make, "is open", prompts=())
    server = MemoryServer("open", registered, LongContextSettings(), offline(), BenchmarkSpec(name="s", length=16_000))
    async with listening(server) as url, httpx.AsyncClient(base_url=url) as client:
        yield client


async def test_a_system_is_closed_once_when_it_is_replaced_forgotten_or_the_server_ends() -> None:
    made: list[Open] = []
    async with serving_open(made) as client:
        for user_id in ("a", "b", "c"):
            await client.post("/memories", json=body_of(0, user_id))
            await found(client, "launch", user_id)
        assert [s.closed for s in made] == [0, 0, 0]
        await client.post("/memories", json=body_of(1, "a"))
        assert [s.closed for s in made] == [1, 0, 0]
        await client.delete("/memories", params={"user_id": "b"})
        assert [s.closed for s in made] == [1, 1, 0]
        await found(client, "launch", "a")
    assert [s.closed for s in made] == [1, 1, 1, 1]


async def test_a_system_that_fails_to_read_is_closed() -> None:
    made: list[Open] = []
    async with serving_open(made) as client:
        said = {"messages": [{"role": "user", "content": "unreadable"}], "user_id": "a"}
        await client.post("/memories", json=said)
        reply = await client.post("/search", json={"query": "launch", "user_id": "a"})
        assert reply.status_code == 500
        assert [s.closed for s in made] == [1]
    assert [s.closed for s in made] == [1]


@pytest.mark.parametrize("system", ["long_context", "light", "summary", "truncation", "bm25"])
async def test_every_system_gives_something(system: str) -> None:
    async with serving(system) as client:
        for i in range(3):
            await client.post("/memories", json=body_of(i))
        results = await found(client, "When is the launch?")
        assert "14 May" in " ".join(r["memory"] for r in results)


async def test_a_context_is_one_memory_within_its_budget() -> None:
    async with serving("rag", gives="context", budget=100) as client:
        await client.post("/memories", json=body_of(0))
        (whole,) = await found(client, "launch")
        assert whole["id"] == "context"
        assert "Friday, 15 March 2024" in whole["memory"]


@pytest.mark.parametrize(
    ("route", "body", "named"),
    [
        ("/memories", {"messages": [], "user_id": "a"}, "messages"),
        ("/memories", {"messages": [{"role": "user"}], "user_id": "a"}, "messages.0.content"),
        ("/search", {"query": "q"}, "user_id"),
        ("/search", {"query": "q", "user_id": "a", "limit": 0}, "limit"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(route: str, body: dict[str, Any], named: str) -> None:
    async with serving("rag") as client:
        reply = await client.post(route, json=body)
    assert reply.status_code == 400
    assert named in reply.json()["detail"]


async def test_deleting_needs_a_user() -> None:
    async with serving("rag") as client:
        assert (await client.delete("/memories")).status_code == 400
