"""A memory server on 127.0.0.1 that speaks the three routes, and what is made of its answers."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from longbeam.errors import MemorySystemError
from longbeam.evaluation import arms_of
from longbeam.memory import MemorySystem, exchanges_of, find_system, settings_of
from longbeam.serving import LOOPBACK, open_listener, serving
from tests.memory.test_systems import asked, messages, tools


@dataclass
class Server:
    """Keeps what it is told, a memory a message, and finds what shares a word."""

    results: Any = None
    status: int = 200
    told: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    async def add(self, request: Request) -> dict[str, Any]:
        self.told.append(await request.json())
        return {"results": [{"id": "m"}]}

    async def delete(self, user_id: str) -> Response:
        self.deleted.append(user_id)
        self.told.clear()
        return Response(status_code=204)

    async def search(self, request: Request, response: Response) -> dict[str, Any]:
        self.asked.append(await request.json())
        response.status_code = self.status
        return {"results": self.results}


@asynccontextmanager
async def served(server: Server) -> AsyncIterator[str]:
    app = FastAPI()
    app.add_api_route("/memories", server.add, methods=["POST"])
    app.add_api_route("/memories", server.delete, methods=["DELETE"])
    app.add_api_route("/search", server.search, methods=["POST"])
    async with serving(app, open_listener(LOOPBACK, 0)) as url:
        yield url


async def told(url: str, **values: object) -> MemorySystem:
    found = find_system(url)
    system = found.make(settings_of(url, found, values), tools())
    for exchange in exchanges_of(messages()):
        await system.add(exchange)
    await system.finish()
    return system


async def test_a_server_is_emptied_then_told_every_exchange_in_order() -> None:
    server = Server()
    async with served(server) as url:
        await told(url)
        await told(url)
    assert server.deleted == ["1/c000", "1/c000"]
    assert [t["messages"][0]["content"] for t in server.told] == [m.content for m in messages()[::2]]
    assert server.told[0]["metadata"] == {"message_keys": ["p0.s0.t0.n0", "p0.s0.t0.n1"]}
    assert server.told[0]["timestamp"] == 1678093200  # 2023-03-06 09:00 UTC


async def test_memories_are_traced_by_their_keys_or_their_words() -> None:
    server = Server(
        results=[
            {"memory": "The opening was moved.", "metadata": {"message_keys": ["p0.s0.t2.n0", "gone"]}},
            {"memory": "He said: Gunnar wants to see the lease. Twice.", "score": 0.4, "id": "m7"},
            {"memory": "Something about a kiln."},
        ]
    )
    async with served(server) as url:
        found = await (await told(url)).retrieve(asked("What about the opening?"), k=3)
    assert server.asked == [{"query": "What about the opening?", "user_id": "1/c000", "limit": 3}]
    assert [p.message_keys for p in found] == [("p0.s0.t2.n0",), ("p0.s0.t1.n0",), ()]
    assert (found[1].passage_id, found[1].score) == ("m7", 0.4)


async def test_context_is_the_best_that_fit_in_the_order_of_time() -> None:
    results = [
        {"memory": "third day", "created_at": "2023-03-08T10:00:00Z"},
        {"memory": "first day", "created_at": "2023-03-06T10:00:00+00:00"},
        {"memory": "left out, because five words more do not fit", "created_at": "no date"},
    ]
    async with served(Server(results=results)) as url:
        context = await (await told(url)).context(asked("When?"), budget=10)
    assert context.text == "[March 6, 2023] first day\n\n[March 8, 2023] third day"
    assert context.tokens <= 10


async def test_a_server_that_ignores_timestamps_gets_the_dates_of_the_messages() -> None:
    results = [
        {"memory": "The opening was moved.", "created_at": "2026-11-22T09:00:00Z",
         "metadata": {"message_keys": ["p0.s0.t2.n0"]}},
        {"memory": "Something about a kiln.", "created_at": "2026-11-22T09:00:00Z"},
    ]  # fmt: skip
    async with served(Server(results=results)) as url:
        context = await (await told(url)).context(asked("When?"), budget=100)
    assert context.text == "Something about a kiln.\n\n[March 8, 2023] The opening was moved."


@pytest.mark.parametrize(
    ("server", "line"),
    [
        (Server(results=[], status=500), r"POST http.*/search: HTTP 500"),
        (Server(results=[{"text": "x"}]), r"/search: results\.0\.memory: Field required; the answer is"),
    ],
)
async def test_a_server_that_speaks_otherwise_is_one_line(server: Server, line: str) -> None:
    async with served(server) as url:
        system = await told(url, attempts=1)
        with pytest.raises(MemorySystemError, match=line):
            await system.retrieve(asked("When?"), k=1)


async def test_a_server_that_is_not_there_is_one_line() -> None:
    with pytest.raises(MemorySystemError, match=r"DELETE http://127\.0\.0\.1:9/memories: .*is it running"):
        await told("http://127.0.0.1:9", attempts=1)


def test_a_server_has_settings_and_grids_as_others_have() -> None:
    arms = arms_of("http://127.0.0.1:9", [], ["http://127.0.0.1:9.k=5,10"])
    assert [a.name for a in arms] == ["http://127.0.0.1:9[k=5]", "http://127.0.0.1:9[k=10]"]


async def _answered(reply: Response | StreamingResponse) -> None:
    """Search on a server that answers a search so."""
    app = FastAPI()
    server = Server()
    app.add_api_route("/memories", server.add, methods=["POST"])
    app.add_api_route("/memories", server.delete, methods=["DELETE"])
    app.add_api_route("/search", lambda: reply, methods=["POST"], response_model=None)
    async with serving(app, open_listener(LOOPBACK, 0)) as url:
        system = await told(url, attempts=1)
        await system.retrieve(asked("When?"), k=1)


async def test_a_long_answer_is_stopped_at_its_limit() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 2**20

    with pytest.raises(MemorySystemError, match="/search: the answer is longer than 16 MiB"):
        await _answered(StreamingResponse(pieces()))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "gzip, identity", "unknown"])
async def test_a_compressed_answer_is_never_unpacked(coding: str) -> None:
    bomb = gzip.compress(b"0" * 2**24)  # 16 KiB that become 16 MiB
    reply = Response(bomb, headers={"content-encoding": coding})
    with pytest.raises(MemorySystemError, match=r"the answer is compressed .*send it plain"):
        await _answered(reply)


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_an_errors_text_reaches_the_terminal_without_its_escapes(status: int) -> None:
    body = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eno\r\nsecond line" + "x" * 10_000
    with pytest.raises(MemorySystemError) as caught:
        await _answered(Response(body, status_code=status))
    line = str(caught.value)
    assert f"HTTP {status}: " in line
    assert line.isprintable()
    assert len(line) < 400
