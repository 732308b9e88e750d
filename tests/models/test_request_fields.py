from __future__ import annotations

import json
from typing import Any

import pytest

from longbeam.models import RequestFields, Sampling

ALL = Sampling(
    temperature=0.7, top_p=0.9, min_p=0.05, presence_penalty=0.1, frequency_penalty=0.2, repetition_penalty=1.1
)


def fields(notices: list[str] | None = None, **settings: Any) -> RequestFields:
    given: dict[str, Any] = {"is_reasoning": False, "streams": True, **settings}
    return RequestFields((notices if notices is not None else []).append, "openai:m", **given)


def members(made: RequestFields, sampling: Sampling, most: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b'{"a":1' + made.json(sampling, most) + b"}")
    del found["a"]
    return found


def test_all_that_is_set_is_sent() -> None:
    assert members(fields(), ALL, 50) == {
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 50,
        "temperature": 0.7,
        "top_p": 0.9,
        "min_p": 0.05,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "repetition_penalty": 1.1,
        "repeat_penalty": 1.1,
    }
    assert members(fields(streams=False), Sampling()) == {}
    assert members(fields(streams=False, is_reasoning=True), ALL, 50).keys() >= {"max_completion_tokens"}


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        ("Unrecognized request argument supplied: min_p", "min_p"),
        ("'repetition_penalty' is not permitted", "repetition_penalty"),
        ("stream_options: extra fields not permitted", "stream_options"),
        ("Unsupported value: 'temperature' does not support 0.7", "temperature"),
    ],
)
def test_a_refused_member_is_left_out_from_then_on(message: str, left_out: str) -> None:
    notices: list[str] = []
    made = fields(notices)
    before = members(made, ALL)
    assert made.give_up(ALL, message)
    assert before.keys() - members(made, ALL).keys() == {left_out}
    assert not made.give_up(ALL, message)
    assert len(notices) == 1


def test_a_limit_of_another_name_is_learnt() -> None:
    made = fields()
    assert made.give_up(ALL, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    assert members(made, Sampling(), 7)["max_completion_tokens"] == 7


def test_streaming_is_given_up_only_where_it_is_refused() -> None:
    made = fields()
    assert not made.give_up_streaming("invalid schema")
    assert made.give_up_streaming("Streaming is not supported by this model")
    assert members(made, Sampling()) == {}
    assert not made.give_up_streaming("Streaming is not supported by this model")
