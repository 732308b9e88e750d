"""The form in which the loopback server sends a reply: whole or streamed, with thoughts, without an end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from longbeam.offline.loopback.requests import Refusal, Request
from longbeam.offline.loopback.settings import ServerSettings

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
