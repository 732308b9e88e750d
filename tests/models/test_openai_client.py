"""The client against a real server on the loopback interface: what is sent, what is made of what comes back."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from longbeam.errors import ProviderError
from longbeam.models.base import Sampling
from longbeam.models.openai_client import OpenAIModel
from longbeam.offline.extras import WriterExtras
from longbeam.prompts.calls.dialogue import QuestionDetectorReply
from longbeam.prompts.calls.memory import RecallStepReply
from longbeam.schemas.calls import ModelReply, Tool
from longbeam.schemas.spec import Endpoint
from tests.models.calls import call
from tests.models.endpoint import Answer, FakeEndpoint, completion, endpoint

CANARY = "sk-canary-0123456789"


@asynccontextmanager
async def client_of(
    base_url: str, *, key: str = "", notices: list[str] | None = None, **settings: Any
) -> AsyncIterator[OpenAIModel]:
    said = [] if notices is None else notices
    client = OpenAIModel("openai:m", Endpoint(base_url=base_url, **settings), key=key, notice=said.append)
    try:
        yield client
    finally:
        await client.aclose()


async def reply_to(answer: Answer, **settings: Any) -> tuple[ModelReply, FakeEndpoint]:
    async with endpoint(answer) as (fake, base_url), client_of(base_url, **settings) as client:
        return await client.complete(call()), fake


async def error_of(answer: Answer, **settings: Any) -> ProviderError:
    async with endpoint(answer) as (_, base_url), client_of(base_url, **settings) as client:
        with pytest.raises(ProviderError) as caught:
            await client.complete(call())
    assert "\n" not in str(caught.value)
    return caught.value


async def test_a_reply_comes_back_with_its_tokens() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    reply, fake = await reply_to(Answer(completion("Yes.", usage=usage)))
    assert reply == ModelReply(
        text="Yes.", model="m-2026", prompt_tokens=100, cached_tokens=64, output_tokens=30, reasoning_tokens=20
    )
    assert fake.bodies == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Does it ask?"},
                {"role": "user", "content": "Which hotel?"},
            ],
        }
    ]


async def test_the_key_travels_in_the_header_and_only_where_there_is_one() -> None:
    _, fake = await reply_to(Answer(), key=CANARY)
    assert fake.headers[0]["authorization"] == f"Bearer {CANARY}"
    assert CANARY not in str(fake.bodies)
    _, fake = await reply_to(Answer())
    assert "authorization" not in fake.headers[0]


async def test_a_key_that_the_endpoint_repeats_is_not_kept() -> None:
    reply, _ = await reply_to(Answer(completion(f"Your key is {CANARY}.")), key=CANARY)
    assert reply.text == "Your key is ***."
    error = await error_of(Answer({"error": {"message": f"bad key {CANARY}"}}, status=401), key=CANARY)
    assert "canary" not in str(error)


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {"max_tokens": 50, "temperature": 0.5}),
        ({"reasoning": True}, {"max_completion_tokens": 50}),
    ],
)
async def test_reasoning_models_get_no_temperature(settings: dict[str, Any], sent: dict[str, Any]) -> None:
    async with endpoint(Answer()) as (fake, base_url), client_of(base_url, **settings) as client:
        await client.complete(call(sampling=Sampling(temperature=0.5, max_tokens=50)))
    assert {k: v for k, v in fake.bodies[0].items() if k not in {"model", "messages"}} == sent


async def test_extras_are_sent_as_they_are() -> None:
    extras = WriterExtras(call().inputs)
    async with endpoint(Answer()) as (fake, base_url), client_of(base_url) as client:
        await client.complete(replace(call(), extras=extras))
        await client.complete(call())
    assert "longbeam" not in fake.bodies[1]
    assert fake.bodies[0]["longbeam"] == {
        "prompt_id": "question_detector",
        "prompt_version": 1,
        "extras": {"inputs": call().inputs.model_dump(mode="json"), "state": None},
        "role": "detector",
        "benchmark_seed": 1,
        "unit_key": "c000/dialogue/p0.s0/t0",
        "generation": 0,
    }


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": None, "refusal": "I will not."}, ModelReply(text="", refusal="I will not.")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, ModelReply(text="ab")),
        ({"content": None}, ModelReply(text="")),
        ({"content": "half \ud83d"}, ModelReply(text="half ?")),
        ({}, ModelReply(text="")),
    ],
)
async def test_odd_messages_are_read(message: dict[str, Any], expected: ModelReply) -> None:
    reply, _ = await reply_to(Answer(completion(choices=[{"message": message, "finish_reason": "stop"}], usage=None)))
    assert reply == expected.model_copy(update={"model": "m-2026"})


PAGE = "<!DOCTYPE html><html><body>Sign in</body></html>"


@pytest.mark.parametrize(
    ("answer", "kind", "is_retryable", "words"),
    [
        (Answer({"error": {"message": "Incorrect API key"}}, 401), "authentication", False, "HTTP 401: Incorrect API"),
        (Answer({"error": {"message": "no", "code": "insufficient_quota"}}, 429), "quota", False, "HTTP 429: no"),
        (Answer({"error": {"message": "no model x", "code": "model_not_found"}}, 404), "not_found", False, "no model"),
        (Answer({"detail": "Not Found"}, 404), "not_found", False, "HTTP 404: Not Found"),
        (Answer({"error": {"message": "slow down"}}, 429), "rate_limit", True, "slow down"),
        (Answer({"error": "overloaded"}, 503), "server_error", True, "HTTP 503: overloaded"),
        (Answer(PAGE, 502), "server_error", True, "HTTP 502: a web page"),
        (Answer(PAGE), "not_an_api", True, "answers with a web page"),
        (Answer("", 302, {"Location": "/login"}), "not_an_api", True, "redirection"),
        (Answer(b'{"choices": [{"mess'), "server_error", True, "not whole JSON"),
        (Answer({"error": {"message": "upstream", "code": 502}}), "server_error", True, "HTTP 200 with an error: upst"),
        (Answer({"error": {"message": "slow", "code": 429}}), "rate_limit", True, "HTTP 200 with an error: slow"),
        (Answer({"error": "out of order"}), "not_an_api", True, "HTTP 200 with an error: out of order"),
        (Answer({"object": "list", "data": []}), "not_an_api", True, "no choices"),
        (
            Answer({"error": {"message": "x", "code": "context_length_exceeded"}}, 400),
            "context_length", False, "HTTP 400: x",
        ),
        (
            Answer({"error": {"message": "This model's maximum context length is 4096 tokens"}}, 400),
            "context_length", False, "maximum context",
        ),
        (Answer({"error": {"message": "m", "code": "content_filter"}}, 400), "content_filter", False, "HTTP 400: m"),
        (Answer({"error": {"message": "bad field"}}, 400), "bad_request", False, "bad field"),
        (
            Answer({"error": {"message": "'temperature' does not support 0.5 with this model"}}, 400),
            "bad_request", False, "set `reasoning = true`",
        ),
        (Answer(completion(), cut_at=20), "connection", True, "broke before the reply was whole"),
    ],
)  # fmt: skip
async def test_what_is_no_reply_is_one_clear_line(answer: Answer, kind: str, is_retryable: bool, words: str) -> None:
    error = await error_of(answer)
    assert (error.kind, error.is_retryable) == (kind, is_retryable)
    assert words in str(error)
    assert str(error).startswith("openai:m at http://127.0.0.1:")


async def test_an_endpoint_that_is_down_is_named() -> None:
    with contextlib.closing(socket.socket()) as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        async with client_of(f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as client:
            with pytest.raises(
                ProviderError, match=r"cannot be reached .*is it running, and is base_url right"
            ) as caught:
                await client.complete(call())
    assert (caught.value.kind, caught.value.is_retryable) == ("connection", True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"Date": "Sat, 21 Nov 2026 10:00:00 GMT", "Retry-After": "Sat, 21 Nov 2026 10:01:30 GMT"}, 90.0),
        ({"Date": "Sat, 21 Nov 2026 10:00:00 GMT", "Retry-After": "Sat, 21 Nov 2026 09:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
async def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    error = await error_of(Answer({"error": "wait"}, 429, headers))
    assert error.retry_after_s == seconds


def accepting(*kinds: str | None) -> Any:
    """Answers requests whose response_format is of these kinds; refuses others as vendors do."""

    def answer(body: dict[str, Any]) -> Answer:
        kind = (body.get("response_format") or {}).get("type")
        if kind in kinds:
            return Answer(completion('{"reason": "a", "asks_user": true}'))
        return Answer({"error": {"message": f"response_format of type {kind} is not supported"}}, 400)

    return answer


@pytest.mark.parametrize(
    ("accepted", "asked"),
    [
        (("json_schema",), ["json_schema", "json_schema"]),
        (("json_object",), ["json_schema", "json_object", "json_object"]),
        ((None,), ["json_schema", "json_object", None, None]),
    ],
)
async def test_what_an_endpoint_refuses_is_not_asked_for_again(accepted: Any, asked: list[str | None]) -> None:
    notices: list[str] = []
    async with endpoint(accepting(*accepted)) as (fake, base_url), client_of(base_url, notices=notices) as client:
        for _ in range(2):
            await client.complete(call(output=QuestionDetectorReply))
    assert [(b.get("response_format") or {}).get("type") for b in fake.bodies] == asked
    assert len(notices) == len(asked) - 2  # one line for each step


async def test_one_refused_schema_steps_down_alone() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        given = body.get("response_format") or {}
        if given.get("type") == "json_schema" and given["json_schema"]["name"] == "odd":
            return Answer({"error": {"message": "Invalid schema for response_format 'odd'"}}, 400)
        return Answer()

    notices: list[str] = []
    async with endpoint(answer) as (fake, base_url), client_of(base_url, notices=notices) as client:
        for prompt_id in ("odd", "plain", "odd"):
            await client.complete(call(output=QuestionDetectorReply, prompt_id=prompt_id))
    kinds = [b["response_format"]["type"] for b in fake.bodies]
    assert kinds == ["json_schema", "json_object", "json_schema", "json_object"]
    assert len(notices) == 1
    assert "refused the schema of prompt 'odd'" in notices[0]


async def test_a_kind_that_the_spec_chose_is_not_left() -> None:
    async with (
        endpoint(accepting("json_object")) as (fake, base_url),
        client_of(base_url, structured="json_schema") as client,
    ):
        with pytest.raises(ProviderError, match="response_format of type json_schema is not supported"):
            await client.complete(call(output=QuestionDetectorReply))
    assert len(fake.bodies) == 1


async def test_prose_asks_for_no_format() -> None:
    _, fake = await reply_to(Answer())
    assert "response_format" not in fake.bodies[0]


RECALL = Tool(name="recall", purpose="Brings pages back.", arguments=("page_ids",), otherwise="answer")


def _called(*arguments: str) -> dict[str, Any]:
    calls = [{"id": "1", "type": "function", "function": {"name": "recall", "arguments": a}} for a in arguments]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return completion(choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}])


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (_called('{"page_ids": [3]}'), '{"page_ids": [3], "answer": ""}'),
        (_called('{"page_ids": [3]}', '{"page_ids": [5]}'), '{"page_ids": [3, 5], "answer": ""}'),
        (_called('{"page_ids": [3'), '{"page_ids": [3'),
        (completion("It costs 900 euros."), '{"answer": "It costs 900 euros."}'),
        (completion('{"page_ids": [2], "answer": ""}'), '{"page_ids": [2], "answer": ""}'),
    ],
)
async def test_a_tool_call_is_read_as_the_prompts_json(body: dict[str, Any], text: str) -> None:
    asked = call(output=RecallStepReply, tool=RECALL)
    async with endpoint(Answer(body)) as (fake, base_url), client_of(base_url) as client:
        reply = await client.complete(asked)
    assert (reply.text, reply.finish_reason) == (text, "stop")
    (tool,) = fake.bodies[0]["tools"]
    assert tool["function"]["name"] == "recall"
    assert list(tool["function"]["parameters"]["properties"]) == ["page_ids"]
    assert "response_format" not in fake.bodies[0]


async def test_an_endpoint_without_tools_is_asked_for_structured_output() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        if "tools" in body:
            return Answer({"error": {"message": "tools are not supported"}}, status=400)
        return Answer(completion('{"page_ids": [], "answer": "no"}'))

    notices: list[str] = []
    asked = call(output=RecallStepReply, tool=RECALL)
    async with endpoint(answer) as (fake, base_url), client_of(base_url, notices=notices) as client:
        first, second = await client.complete(asked), await client.complete(asked)
    assert first.text == second.text == '{"page_ids": [], "answer": "no"}'
    assert ["tools" in body for body in fake.bodies] == [True, False, False]
    assert fake.bodies[1]["response_format"]["type"] == "json_schema"
    (notice,) = notices
    assert "has no tool calls; structured output is used" in notice
