"""Streamed replies, event by event: they are the reply that was not streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longbeam.models import LOOP, StreamedReply, TooLarge


def event(delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return json.dumps({"model": "m-1", "choices": [choice], **more})


WHOLE = (
    event({"role": "assistant", "content": ""}),
    event({"reasoning_content": "Let me see. "}),
    event({"content": "Yes, "}),
    event({"content": "it d\u00f6es \U0001f600."}),
    event({}, "stop"),
    '{"choices": [], "usage": {"completion_tokens": 9}}',
    "[DONE]",
)


def read(*events: str, most: int = 10_000) -> tuple[dict[str, Any], StreamedReply]:
    stream = StreamedReply(most_characters=most)
    for data in events:
        if stream.add(data):
            break
    return stream.finish(), stream


@pytest.mark.parametrize("events", [WHOLE, ("\n".join(WHOLE),)])
def test_a_stream_is_the_reply_also_where_no_empty_line_parts_its_events(events: tuple[str, ...]) -> None:
    found, stream = read(*events)
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
    assert read(event({"content": "Yes."}), "[DONE]")[1].has_ended


def test_a_loop_ends_the_stream() -> None:
    stream = StreamedReply(most_characters=10**6)
    said = next(n for n in range(20_000) if stream.add(event({"content": "I will ask her again. "})))
    assert stream.finish()["choices"][0]["finish_reason"] == LOOP
    assert said < 1_000  # 22 characters each: a thousand events are 5,500 tokens


@pytest.mark.parametrize("name", ["content", "reasoning_content", "refusal"])
def test_a_reply_beyond_its_limit_is_refused_while_it_streams(name: str) -> None:
    with pytest.raises(TooLarge, match="a reply of more than 10,000 characters"):
        read(*(event({"role": "assistant", name: f"{i} " * 100}) for i in range(1_000)))


def test_an_error_in_a_choice_is_the_stream_s_error() -> None:
    failed = {
        "choices": [{"delta": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "up"}}]
    }
    assert read(event({"content": "Yes, "}), json.dumps(failed))[0]["error"] == {"code": 502, "message": "up"}


def test_an_event_that_is_no_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="key must be a string"):
        read("{nonsense")


def test_each_event_is_a_sign_of_the_model() -> None:
    heard: list[int] = []
    stream = StreamedReply(most_characters=100, on_heard=lambda: heard.append(1))
    for data in WHOLE[:3]:
        stream.add(data)
    assert heard == [1, 1, 1]  # of comments, which gateways send, nothing is an event
