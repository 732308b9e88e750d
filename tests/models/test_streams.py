"""Streamed replies, piece by piece: however they are cut, they are the reply that was not streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_core import from_json

from longbeam.models import LOOP, ReplyStream, TooLarge


def event(delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return f"data: {json.dumps({'model': 'm-1', 'choices': [choice], **more})}\n\n".encode()


WHOLE = (
    b": OPENROUTER PROCESSING\n\n"
    + event({"role": "assistant", "content": ""})
    + event({"reasoning_content": "Let me see. "})
    + event({"content": "Yes, "})
    + event({"content": "it d\u00f6es \U0001f600."})
    + event({}, "stop")
    + b'data: {"choices": [], "usage": {"completion_tokens": 9}}\r\n\r\n'
    + b"data: [DONE]\n\n"
)


def read(*pieces: bytes, most: int = 10_000) -> tuple[dict[str, Any], ReplyStream]:
    stream = ReplyStream(most_characters=most, parse=from_json)
    for piece in pieces:
        if stream.feed(piece):
            break
    return stream.finish(), stream


@pytest.mark.parametrize("size", [1, 2, 7, 100, 10_000])
def test_a_stream_is_read_however_it_is_cut(size: int) -> None:
    found, stream = read(*(WHOLE[i : i + size] for i in range(0, len(WHOLE), size)))
    assert found == {
        "model": "m-1",
        "usage": {"completion_tokens": 9},
        "choices": [
            {
                "message": {
                    "content": "Yes, it d\u00f6es \U0001f600.",
                    "refusal": "",
                    "reasoning_content": "Let me see. ",
                },
                "finish_reason": "stop",
            }
        ],
    }
    assert stream.has_ended


def test_tool_calls_are_joined_by_their_index() -> None:
    parts = [("recall", '{"pa'), ("", 'ges": '), ("", "[3]}")]
    events = [
        event({"role": "assistant", "tool_calls": [{"index": 0, "function": {"name": n, "arguments": a}}]})
        for n, a in parts
    ]
    message = read(*events, event({}, "tool_calls"))[0]["choices"][0]["message"]
    assert message["tool_calls"] == [
        {"type": "function", "function": {"name": "recall", "arguments": '{"pages": [3]}'}}
    ]


def test_a_stream_that_breaks_off_has_not_ended() -> None:
    assert not read(event({"content": "Yes, "}))[1].has_ended
    assert read(event({"content": "Yes."}, "stop"))[1].has_ended
    assert read(event({"content": "Yes."}), b"data: [DONE]\n\n")[1].has_ended


def test_a_loop_ends_the_stream() -> None:
    stream = ReplyStream(most_characters=10**6, parse=from_json)
    said = next(n for n in range(20_000) if stream.feed(event({"content": "I will ask her again. "})))
    assert stream.finish()["choices"][0]["finish_reason"] == LOOP
    assert said < 1_000  # 22 characters each: a thousand events are 5,500 tokens


@pytest.mark.parametrize("name", ["content", "reasoning_content", "refusal"])
def test_a_reply_beyond_its_limit_is_refused_while_it_streams(name: str) -> None:
    with pytest.raises(TooLarge, match="a reply of more than 10,000 characters"):
        read(*(event({"role": "assistant", name: f"{i} " * 100}) for i in range(1_000)))


def test_an_event_without_an_end_is_refused() -> None:
    with pytest.raises(TooLarge, match="an event of more than 10,000 bytes"):
        read(b"data: ", *([b"x" * 1_000] * 100))


def test_an_event_that_is_no_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="key must be a string"):
        read(b"data: {nonsense\n\n")


def test_keep_alive_comments_are_no_sign_of_the_model() -> None:
    heard: list[int] = []
    stream = ReplyStream(most_characters=100, parse=from_json, on_heard=lambda: heard.append(1))
    stream.feed(b": ping\n\n")
    assert heard == []
    stream.feed(event({"content": "Yes"}))
    assert heard == [1]
