"""The client against a real server on the loopback interface: what is sent, what is made of what comes back."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from longbeam.errors import ProviderError
from longbeam.models import OpenAIModel, Sampling
from longbeam.offline import WriterExtras
from longbeam.prompts.calls import QuestionDetectorReply, RecallStepReply
from longbeam.schemas import Endpoint, ModelReply, Tool
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
            "stream": True,
            "stream_options": {"include_usage": True},
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
    assert {
        k: v for k, v in fake.bodies[0].items() if k not in {"model", "messages", "stream", "stream_options"}
    } == sent


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


@pytest.mark.parametrize(
    ("count", "kept"), [(2**63, 0), (10**30, 0), (-1, 0), (1.5, 0), ("12", 0), (float("nan"), 0), (10**9, 10**9)]
)
async def test_a_count_of_tokens_that_no_reply_has_counts_as_none(count: Any, kept: int) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count}
    reply, _ = await reply_to(Answer(completion(usage=usage)))
    assert (reply.prompt_tokens, reply.output_tokens) == (kept, kept)


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("nested", [b"[" * 200_000, b'{"error":' * 200_000, b'{"a":"\\ud83d","b":' + b"[" * 200_000])
async def test_json_nested_deeply_is_one_line(nested: bytes, status: int) -> None:
    error = await error_of(Answer(nested, status))
    assert error.kind in {"server_error", "bad_request"}
    assert len(str(error)) < 500


async def test_arguments_nested_deeply_are_text() -> None:
    asked = call(output=RecallStepReply, tool=RECALL)
    async with endpoint(Answer(_called("[" * 200_000))) as (_, base_url), client_of(base_url) as client:
        assert (await client.complete(asked)).text.startswith("[[[")


async def test_what_steers_a_terminal_is_neither_kept_nor_shown() -> None:
    steering = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
    reply, _ = await reply_to(Answer(completion(f"a\tb\n{steering}", model=steering)))
    assert not {"\x1b", "\x07", "\x9b"} & {*reply.text, *reply.model}
    assert reply.text.startswith("a\tb\n")
    for answer in (Answer({"error": {"message": steering}}, 400), Answer({"error": {"message": steering}})):
        assert str(await error_of(answer)).isprintable()


async def test_half_a_surrogate_pair_in_an_error_can_be_stored() -> None:
    for status in (200, 400):
        str(await error_of(Answer(b'{"error": {"message": "half \\ud83d"}}', status))).encode()


@pytest.mark.parametrize("form", [CANARY.replace("k-", "k\\u002d"), "".join(f"\\u{ord(c):04x}" for c in CANARY)])
async def test_a_key_that_is_escaped_in_json_is_not_kept(form: str) -> None:
    body = json.dumps(completion("FORM")).replace("FORM", f"Your key is {form}.")
    assert "canary" not in body or "\\u002d" in body
    reply, _ = await reply_to(Answer(body), key=CANARY)
    assert reply.text == "Your key is ***."
    for status in (200, 401):
        error = await error_of(Answer('{"error": {"message": "bad key ' + form + '"}}', status), key=CANARY)
        assert "canary" not in str(error)
    twice = completion(json.dumps({"key": CANARY}).replace("canary", "c\\u0061nary"))
    reply, _ = await reply_to(Answer(twice), key=CANARY)
    assert "nary" not in reply.text


async def test_a_header_repeated_in_base64_is_not_kept() -> None:
    header = base64.b64encode(f"Bearer {CANARY}".encode()).decode()
    error = await error_of(Answer({"error": {"message": f"you sent {header}"}}, 400), key=CANARY)
    assert base64.b64encode(CANARY.encode()).decode()[4:20] not in str(error)
    assert "***" in str(error)


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
        (Answer({"error": {"message": "slow", "code": 429.0}}), "rate_limit", True, "HTTP 200 with an error: slow"),
        (Answer({"error": {"message": "odd", "code": "²"}}), "not_an_api", True, "HTTP 200 with an error: odd"),
        (Answer({"error": {"message": "odd", "code": "9" * 5_000}}), "not_an_api", True, "with an error: odd"),
        (Answer({"error": {"message": "odd", "code": ["429"]}}), "not_an_api", True, "with an error: odd"),
        (
            Answer({"choices": [{"error": {"code": 502, "message": "upstream"}, "finish_reason": "error"}]}),
            "server_error", True, "HTTP 200 with an error: upstream",
        ),
        (
            Answer({"choices": [{"error": {"code": 429, "message": "slow"}, "message": {"content": ""}}]}),
            "rate_limit", True, "HTTP 200 with an error: slow",
        ),
        (Answer({"choices": [None]}), "not_an_api", True, "no choices"),
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
        (
            Answer({"error": {"message": "ContentPolicyViolationError: m", "code": "400"}}, 400),
            "content_filter", False, "HTTP 400: ContentPolicy",
        ),
        (
            Answer({"error": {"message": "triggered Azure OpenAI's content management policy"}}, 400),
            "content_filter", False, "policy",
        ),
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


async def test_a_byte_order_mark_before_a_reply_is_passed_over() -> None:
    reply, _ = await reply_to(Answer("\ufeff" + json.dumps(completion("yes"))))
    assert reply.text == "yes"


KIND_OF_STATUS = {
    **dict.fromkeys((400, 406, 412, 415, 422, 451), "bad_request"),
    **dict.fromkeys((401, 403), "authentication"),
    402: "quota",
    **dict.fromkeys((404, 405, 410), "not_found"),
    413: "context_length",
    **dict.fromkeys((408, 504), "timeout"),
    **dict.fromkeys((420, 429, 529), "rate_limit"),
    **dict.fromkeys(
        (409, 421, 423, 424, 425, 449, 460, 499, 500, 502, 503, 507, 520, 522, 524, 530, 599), "server_error"
    ),
}


@pytest.mark.parametrize("status", KIND_OF_STATUS)
async def test_each_status_has_its_kind_and_passing_ones_are_asked_again(status: int) -> None:
    error = await error_of(Answer({"error": {"message": "no"}}, status, {"Retry-After": "2"}))
    assert error.kind == KIND_OF_STATUS[status]
    assert error.is_retryable == (error.kind in {"timeout", "rate_limit", "server_error"})
    assert error.retry_after_s == 2.0
    inside = await error_of(Answer({"error": {"message": "no", "code": status}}))  # as gateways pass them on
    assert inside.kind == error.kind


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("check your billing details.", "HTTP 429: check your billing details. Top up the account"),
        ("no credit", "HTTP 429: no credit. Top up the account"),
    ],
)
async def test_an_endpoint_s_words_and_the_remedy_have_one_full_stop_between_them(said: str, words: str) -> None:
    answer = Answer({"error": {"message": said, "code": "insufficient_quota"}}, 429)
    assert words in str(await error_of(answer))


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


GATEWAY = "upstream " + "/region/account/deployment" * 40


def accepting(*kinds: str | None) -> Any:
    """Answers requests whose response_format is of these kinds; refuses others as vendors do."""

    def answer(body: dict[str, Any]) -> Answer:
        kind = (body.get("response_format") or {}).get("type")
        if kind in kinds:
            return Answer(completion('{"reason": "a", "asks_user": true}'))
        # Gateways name the request first, and what they refuse last.
        return Answer({"error": {"message": f"{GATEWAY}: response_format of type {kind} is not supported"}}, 400)

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


class Bounded(BaseModel):
    """A reply whose text has a length."""

    said: str = Field(max_length=40)


def _without_lengths(body: dict[str, Any]) -> Answer:
    """Answers as an endpoint that refuses `maxLength`, as OpenAI does."""
    if "maxLength" in json.dumps(body.get("response_format")):
        text = "Invalid schema for response_format 'p': In context=('said',), 'maxLength' is not permitted."
        return Answer({"error": {"message": text}}, 400)
    return Answer(completion('{"said": "a"}'))


async def test_lengths_of_texts_are_sent_to_an_endpoint_that_takes_them() -> None:
    reply = Answer(completion('{"said": "a"}'))
    async with endpoint(lambda _: reply) as (fake, base_url), client_of(base_url) as client:
        await client.complete(call(output=Bounded))
    schema = fake.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["said"] == {"type": "string", "maxLength": 40}


@pytest.mark.parametrize("structured", ["auto", "json_schema"])
async def test_lengths_of_texts_are_not_sent_again_where_they_are_refused(structured: str) -> None:
    notices: list[str] = []
    async with (
        endpoint(_without_lengths) as (fake, base_url),
        client_of(base_url, notices=notices, structured=structured) as client,
    ):
        for prompt_id in ("one", "other"):
            await client.complete(call(output=Bounded, prompt_id=prompt_id))
    schemas = [b["response_format"]["json_schema"]["schema"]["properties"]["said"] for b in fake.bodies]
    assert schemas == [{"type": "string", "maxLength": 40}, {"type": "string"}, {"type": "string"}]
    assert len(notices) == 1
    assert "has no schemas with bounded texts; a plainer schema is used" in notices[0]


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


STREAM_HEADERS = {"Content-Type": "text/event-stream"}


def events(*parts: dict[str, Any], end: str = "data: [DONE]\n\n") -> str:
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + end


def delta(said: str, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"model": "m-1", "choices": [{"delta": {"content": said, **more}, "finish_reason": finish_reason}]}


async def test_a_streamed_reply_is_the_reply() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}
    reply, _ = await reply_to(Answer(events(delta("Ye"), delta("s.", "stop"), usage), headers=STREAM_HEADERS))
    assert reply == ModelReply(text="Yes.", model="m-1", prompt_tokens=9, output_tokens=4)


async def test_tokens_of_a_stream_without_usage_are_estimated() -> None:
    reply, _ = await reply_to(Answer(events(delta("Yes, it does.", "stop")), headers=STREAM_HEADERS))
    # "Does it ask?" and "Which hotel?" have 24 characters, the reply has 13: four to a token
    assert (reply.prompt_tokens, reply.output_tokens) == (6, 4)


async def test_thoughts_of_a_stream_are_counted_and_not_kept() -> None:
    parts = delta("", reasoning_content="x" * 300), delta("y" * 100, "stop"), {"usage": {"completion_tokens": 100}}
    reply, _ = await reply_to(Answer(events(*parts), headers=STREAM_HEADERS))
    assert (reply.text, reply.reasoning_tokens) == ("y" * 100, 75)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (events(delta("Yes"), end=""), "connection", "the stream ended without an end of the reply"),
        ("data: {nonsense\n\n", "server_error", "an event of the stream is not whole JSON"),
        (f"data: {{nonsense{'x' * 20_000}\n\n", "server_error", "an event of the stream is not whole JSON"),
        (events(delta("Yes"), {"error": {"message": "overloaded", "code": 502}}), "server_error", "overloaded"),
    ],
)
async def test_a_stream_that_is_no_reply_is_one_clear_line(answer: str, kind: str, words: str) -> None:
    error = await error_of(Answer(answer, headers=STREAM_HEADERS))
    assert (error.kind, error.is_retryable) == (kind, True)
    assert words in str(error)


async def test_a_loop_is_an_outcome_of_its_own_streamed_or_not() -> None:
    loop = "I will ask her again. " * 300
    reply, _ = await reply_to(Answer(events(delta(loop), delta("more")), headers=STREAM_HEADERS))
    assert reply.finish_reason == "loop"
    choice = {"message": {"content": loop}, "finish_reason": "length"}
    assert (await reply_to(Answer(completion(choices=[choice]))))[0].finish_reason == "loop"
    choice["finish_reason"] = "stop"
    assert (await reply_to(Answer(completion(choices=[choice]))))[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        ("stream", "Streaming is not supported"),
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("min_p", "min_p: extra fields not permitted"),
    ],
)
async def test_a_refused_member_is_not_sent_again(refused: str, message: str) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return Answer({"error": {"message": message}}, 400) if refused in body else Answer()

    notices: list[str] = []
    asked = call(sampling=Sampling(min_p=0.1))
    async with endpoint(answer) as (fake, base_url), client_of(base_url, notices=notices) as client:
        for _ in range(2):
            assert (await client.complete(asked)).text == "yes"
    assert [refused in body for body in fake.bodies] == [True, False, False]
    assert len(notices) == 1


async def test_a_limit_that_does_not_fit_the_context_is_left_to_the_endpoint() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        if "max_tokens" in body:
            text = "This model's maximum context length is 4096 tokens; you requested 5000 (4000 in the completion)"
            return Answer({"error": {"message": text}}, 400)
        return Answer()

    asked = call(sampling=Sampling(max_tokens=4_000))
    async with endpoint(answer) as (fake, base_url), client_of(base_url) as client:
        assert (await client.complete(asked)).text == "yes"
    assert ["max_tokens" in body for body in fake.bodies] == [True, False]


async def test_the_length_limit_leaves_room_for_thoughts_that_were_seen() -> None:
    thinking = completion(
        "<think>So.</think>Yes",
        usage={"completion_tokens": 500, "completion_tokens_details": {"reasoning_tokens": 400}},
    )
    asked = call(sampling=Sampling(max_tokens=100))
    async with endpoint(Answer(thinking)) as (fake, base_url), client_of(base_url) as client:
        for _ in range(2):
            await client.complete(asked)
    assert [body["max_tokens"] for body in fake.bodies] == [100, 900]


async def test_calls_that_are_refused_together_are_all_sent_again() -> None:
    def answer(body: dict[str, Any]) -> Answer:
        refused = [name for name in ("min_p", "top_p", "response_format", "stream") if name in body]
        return Answer({"error": {"message": f"{refused[0]} is not supported"}}, 400) if refused else Answer()

    asked = call(sampling=Sampling(min_p=0.1, top_p=0.9), output=QuestionDetectorReply)
    async with endpoint(answer) as (_, base_url), client_of(base_url) as client:
        replies = await asyncio.gather(*(client.complete(asked) for _ in range(8)))
    assert [reply.text for reply in replies] == ["yes"] * 8


THOUGHTS = "All of the answer stands here."
CALLED = [{"index": 0, "type": "function", "function": {"name": "json_tool_call", "arguments": THOUGHTS}}]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"content": None, "reasoning_content": THOUGHTS}, "reasoning_content"),
        ({"content": "", "reasoning": THOUGHTS}, "reasoning"),
        ({"content": " \n", "thinking": THOUGHTS}, "thinking"),
        ({"content": None, "tool_calls": CALLED}, "tool_calls"),
        ({"content": None, "function_call": {"name": "answer", "arguments": THOUGHTS}}, "function_call"),
        ({"content": None, "audio": {"id": "a", "transcript": THOUGHTS}}, "audio"),
        ({"content": "Yes.", "reasoning_content": THOUGHTS}, ""),
        ({"content": None, "reasoning_content": None, "tool_calls": [], "refusal": None, "annotations": []}, ""),
    ],
)
@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_reply_without_content_names_the_field_that_held_the_text(
    message: dict[str, Any], field: str, is_streamed: bool
) -> None:
    whole = Answer(completion(choices=[{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]))
    deltas = [{"model": "m", "choices": [{"delta": {name: value}}]} for name, value in message.items()]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    streamed = Answer(events(*deltas, end), headers=STREAM_HEADERS)
    reply, _ = await reply_to(streamed if is_streamed else whole)
    assert reply.text_field == field


TOO_LONG = (
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    (400, "Unable to submit request because the input token count is 1100000 but model only supports up to 1048576."),
    (400, "Input is too long for requested model."),
    (400, "Too many input tokens. Max input tokens: 8192, request input token count: 9000"),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens"),
    (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"),
    (400, "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"),
    (400, "max_tokens must be at least 1, got -123."),
    (400, "max_completion_tokens must be at least 1, got 0."),
    (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
    (400, "the request exceeds the available context size, try increasing it"),
    (400, "Requested token count exceeds the model's maximum context length of 8192 tokens."),
    (400, "Please reduce the length of the messages or completion."),
    (400, "Range of input length should be [1, 30720]"),
)


@pytest.mark.parametrize(("status", "message"), TOO_LONG)
async def test_a_prompt_that_is_too_long_is_known_whoever_says_so(status: int, message: str) -> None:
    for said in (message, f"{GATEWAY}: {message}"):
        error = await error_of(Answer({"error": {"message": said, "code": status}}, status))
        assert (error.kind, error.is_retryable) == ("context_length", False)
        assert "Name a model with a longer context for this role" in str(error)


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 32768. This model supports at most 16384 completion tokens",
        "temperature must be at least 0",
        "response_format: schema name is too long",
        "Invalid 'messages': expected an array",
    ],
)
async def test_another_bad_request_is_no_long_prompt(message: str) -> None:
    assert (await error_of(Answer({"error": {"message": message}}, 400))).kind == "bad_request"
