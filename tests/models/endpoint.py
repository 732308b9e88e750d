"""An HTTP server on 127.0.0.1 that answers as a test tells it to, byte for byte."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


def completion(text: str = "yes", **changes: Any) -> dict[str, Any]:
    """A reply as OpenAI gives it."""
    reply: dict[str, Any] = {
        "model": "m-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }
    return {**reply, **changes}


@dataclass(frozen=True)
class Answer:
    """What is sent back; `cut_at` ends the connection after so many bytes."""

    body: bytes | dict[str, Any] | str = field(default_factory=completion)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut_at: int | None = None


@dataclass
class FakeEndpoint:
    """Keeps what it was sent."""

    answer: Callable[[dict[str, Any]], Answer]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(json.loads(await request.read()))
        self.headers.append({k.lower(): v for k, v in request.headers.items()})
        answer = self.answer(self.bodies[-1])
        body = answer.body
        raw = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
        headers = {"Content-Type": "application/json", **answer.headers}
        if answer.cut_at is None:
            return web.Response(body=raw, status=answer.status, headers=headers)
        response = web.StreamResponse(status=answer.status, headers=headers)
        response.content_length = len(raw)
        await response.prepare(request)
        await response.write(raw[: answer.cut_at])
        assert request.transport is not None
        request.transport.close()
        raise ConnectionError


@asynccontextmanager
async def endpoint(answer: Answer | Callable[[dict[str, Any]], Answer]) -> AsyncIterator[tuple[FakeEndpoint, str]]:
    """Give the server and its base URL."""
    fake = FakeEndpoint(answer if callable(answer) else lambda body: answer)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", fake.handle)
    app.router.add_post("/v1/embeddings", fake.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield fake, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()
