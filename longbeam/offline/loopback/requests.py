"""A request to the loopback server, as bare ASGI.

Read, delayed, answered whole or streamed, or broken by a fault.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qs

from pydantic_core import to_json

from longbeam.offline.loopback.settings import FAULTS, ServerSettings
from longbeam.serving import Receive, Scope, Send

MAX_BODY = 64 * 1024**2


class Refusal(Exception):
    """A request that gets an error; `status` is HTTP's."""

    def __init__(
        self, status: int, code: str | None, message: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers or {}


class CutOff(ConnectionError):
    """The connection was ended on purpose, in the middle of a reply."""


class ClientGone(ConnectionError):
    """The client hung up before it had its answer."""


class Request:
    """One request, in the task that handles it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send

    @property
    def query(self) -> Mapping[str, list[str]]:
        """The parameters after `?`."""
        return parse_qs(self._scope["query_string"].decode())

    @property
    def path(self) -> str:
        """The path of the address."""
        path: str = self._scope["path"]
        return path

    def header(self, name: bytes) -> str:
        """Return the header of this name, which is in small letters; empty if there is none."""
        return next((value.decode("latin-1") for key, value in self._scope["headers"] if key == name), "")

    async def read(self) -> bytes:
        """Return the body. Raises Refusal for one that is too long, ClientGone for half of one."""
        pieces: list[bytes] = []
        size = 0
        is_whole = False
        while not is_whole:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientGone
            pieces.append(event["body"])
            size += len(event["body"])
            if size > MAX_BODY:
                raise Refusal(413, "too_large", f"the request's body is longer than {MAX_BODY:,} bytes")
            is_whole = not event["more_body"]
        return b"".join(pieces)

    async def wait(self, seconds: float | None) -> None:
        """Wait, without an end if `seconds` is None; the body has been read. Raises ClientGone when the client goes."""
        # After the body there is nothing to receive but that the client has gone.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._receive()
            raise ClientGone

    async def answer(self, payload: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send a JSON answer."""
        await self._start(len(payload), status, headers or {})
        await self._send({"type": "http.response.body", "body": payload})

    async def cut_off(self, payload: bytes) -> None:
        """Send the first half of a JSON answer. Raises CutOff, upon which the connection is ended."""
        await self._start(len(payload), 200, {})
        await self._send({"type": "http.response.body", "body": payload[: len(payload) // 2], "more_body": True})
        raise CutOff

    async def stream(self, events: Sequence[bytes], wait_s: float) -> None:
        """Send a stream of events; `wait_s` lies between two. Raises ClientGone when the client goes meanwhile."""
        await self._start_stream()
        if not wait_s:
            events = [b"".join(events)]
        for event in events[:-1]:
            await self._send({"type": "http.response.body", "body": event, "more_body": True})
            await self.wait(wait_s)
        await self._send({"type": "http.response.body", "body": events[-1]})

    async def stream_and_leave(self, events: Iterable[bytes], *, is_cut: bool) -> None:
        """Send events and no end; the connection stays open until the client goes, or is ended if `is_cut`.

        Raises ClientGone or CutOff.
        """
        await self._start_stream()
        for event in events:
            await self._send({"type": "http.response.body", "body": event, "more_body": True})
            await asyncio.sleep(0)
        if is_cut:
            raise CutOff
        await self.wait(None)

    async def handle(self, work: Callable[[Request], Awaitable[None]]) -> None:
        """Run a handler to its end; one whose client has gone, or is not to hear the rest, leaves quietly."""
        try:
            await work(self)
        except ConnectionError:
            pass
        except Exception:
            logging.getLogger(__name__).exception("a request to the loopback server failed")
            raise  # uvicorn answers 500, and is told to log nothing

    async def _start_stream(self) -> None:
        listed = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await self._send({"type": "http.response.start", "status": 200, "headers": listed})

    async def _start(self, length: int, status: int, headers: Mapping[str, str]) -> None:
        listed = [(b"content-type", b"application/json"), (b"content-length", b"%d" % length)]
        listed += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": listed})


def draw_fault(settings: ServerSettings, key: str, attempt: int) -> str | None:
    """Return the name of the fault that a call's nth request meets, one of FAULTS, or None."""
    drawn = random.Random(f"{key}/{attempt}/fault").random()
    for name in FAULTS:
        drawn -= getattr(settings, name)
        if drawn < 0:
            return name
    return None


def latency_s(settings: ServerSettings, key: str, attempt: int) -> float:
    """Return the seconds from a request's arrival to its reply."""
    jitter = settings.jitter_ms and settings.jitter_ms * random.Random(f"{key}/{attempt}/latency").random()
    return (settings.latency_ms + jitter) / 1000


_REFUSALS = {
    "filter": (400, "content_policy_violation", "the request of {unit} is poisoned"),
    "plain": (400, None, "the request of {unit} is poisoned"),
    "unprocessable": (422, "invalid_request_error", "the request of {unit} is poisoned"),
    "too_long": (400, "context_length_exceeded", "the request of {unit} is poisoned: longer than the maximum context"),
    "too_large": (413, None, "the request of {unit} is poisoned: it is too large"),
}
"""Status, code and words of the forms of `poison_as`."""


def refuse_poisoned(settings: ServerSettings, unit_key: str) -> None:
    """Raise Refusal if a request of this unit is refused for ever."""
    if any(fnmatchcase(unit_key, pattern) for pattern in settings.poison):
        status, code, words = _REFUSALS[settings.poison_as]
        raise Refusal(status, code, words.format(unit=unit_key))


def break_json(text: str, draw: str) -> str:
    """Return JSON text with one of the faults that models make, chosen by `draw`; it no longer parses."""
    damaged = (
        text.replace('"', "", 1),
        text.replace(":", "", 1),
        text[:-1],
        f"Here it is: {text[: len(text) // 2]} ...",
    )
    return random.Random(f"{draw}/malformed").choice(damaged)


LOOP_TOKENS = 4_000
"""Length of a reply that repeats itself where the request names no limit."""
THOUGHT = "First, what does {the reader} ask for? A reply in the form that the prompt names, and nothing else. So:\n"
"""Thoughts of a model that thinks aloud; the braces are no JSON."""
_STRUCTURED = {"none": set[str](), "json_object": {"json_object"}, "json_schema": {"json_object", "json_schema"}}


@dataclass(frozen=True)
class Said:
    """A reply as it is sent."""

    text: str
    thought: str = ""
    """Sent as `reasoning_content`."""
    finish_reason: str = "stop"
    usage: dict[str, Any] = field(default_factory=dict)


def check_members(body: dict[str, Any], settings: ServerSettings) -> None:
    """Raise the Refusal of a request with a member that the server does not take."""
    asked = (body.get("response_format") or {}).get("type", "text")
    if asked != "text" and asked not in _STRUCTURED[settings.structured]:
        raise Refusal(400, "unsupported_parameter", f"response_format of type {asked!r} is not supported")
    streams = bool(body.get("stream"))
    refused = set(settings.refuses)
    if settings.streaming == "no":
        refused.add("stream")
    if not settings.counts_streams:
        refused.add("stream_options")
    for name in sorted(refused & body.keys()):
        raise Refusal(400, "unsupported_parameter", f"Unrecognized request argument supplied: {name}")
    if settings.streaming == "only" and not streams:
        raise Refusal(400, "unsupported_value", "this model is only served with stream = true")


def looping(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """Return the text with its last hundred characters repeated up to a length in tokens."""
    piece = " " + text[-100:].strip()
    more = max(2, (tokens - count(text)) // max(1, count(piece)))
    return text + piece * more


async def send_said(
    request: Request, body: dict[str, Any], said: Said, settings: ServerSettings, fault: str | None
) -> None:
    """Send a reply, whole or streamed as the request and the settings have it. Raises as the request does."""
    if not body.get("stream") or settings.streaming == "ignored":
        whole = to_json(envelope(body, said))
        if fault == "cut_off":
            await request.cut_off(whole)
        if fault == "endless":
            await request.stream_and_leave(itertools.repeat(b" " * 65_536), is_cut=False)
        if fault == "stalling":
            await request.wait(None)
        await request.answer(whole)
        return
    events = list(_events(body, said, settings.piece_characters))
    match fault:
        case "cut_off" | "stalling":
            await request.stream_and_leave(events[: max(1, len(events) // 2)], is_cut=fault == "cut_off")
        case "endless":
            await request.stream_and_leave(itertools.cycle(events[:-3] or events[:1]), is_cut=False)
    await request.stream(events, settings.piece_ms / 1000)


def envelope(body: dict[str, Any], said: Said) -> dict[str, Any]:
    """Return a reply as a chat completion."""
    message = {"role": "assistant", "content": said.text, "refusal": None}
    if said.thought:
        message["reasoning_content"] = said.thought
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": said.finish_reason}
    return {**_named(body, "chat.completion"), "choices": [choice], "usage": said.usage}


def _events(body: dict[str, Any], said: Said, characters: int) -> Iterator[bytes]:
    named = _named(body, "chat.completion.chunk")

    def event(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return b"data: " + to_json({**named, "choices": [choice]}) + b"\n\n"

    yield event({"role": "assistant", "content": ""})
    for start in range(0, len(said.thought), characters):
        yield event({"reasoning_content": said.thought[start : start + characters]})
    for start in range(0, len(said.text), characters):
        yield event({"content": said.text[start : start + characters]})
    yield event({}, said.finish_reason)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield b"data: " + to_json({**named, "choices": [], "usage": said.usage}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _named(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-offline", "object": kind, "created": 0, "model": body.get("model", "offline")}
