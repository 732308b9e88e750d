"""An HTTP server on 127.0.0.1 that answers as a test tells it to, byte for byte."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from longbeam.serving import LOOPBACK, Receive, Scope, Send, open_listener, serving


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

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw, is_whole = b"", False
        while not is_whole:
            event = await receive()
            raw, is_whole = raw + event["body"], not event["more_body"]
        self.bodies.append(json.loads(raw))
        self.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        answer = self.answer(self.bodies[-1])
        body = answer.body
        raw = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
        headers = {"Content-Type": "application/json", "Content-Length": str(len(raw)), **answer.headers}
        listed = [(k.lower().encode(), v.encode()) for k, v in headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": listed})
        # An answer that the app leaves unfinished makes the server end the connection.
        is_cut = answer.cut_at is not None
        await send({"type": "http.response.body", "body": raw[: answer.cut_at], "more_body": is_cut})


@asynccontextmanager
async def endpoint(answer: Answer | Callable[[dict[str, Any]], Answer]) -> AsyncIterator[tuple[FakeEndpoint, str]]:
    """Give the server and its base URL."""
    fake = FakeEndpoint(answer if callable(answer) else lambda body: answer)
    async with serving(fake.app, open_listener(LOOPBACK, 0), log_level="critical") as base_url:
        yield fake, f"{base_url}/v1"
