"""The loopback server answers as the offline writer does, and fails as it is told to."""

from __future__ import annotations

import asyncio
import json
import time

import openai
import pytest

from longbeam.errors import UserError, is_final
from longbeam.models import HttpAnswer, error_of_status
from longbeam.offline import OfflineWriter
from longbeam.offline.loopback import LoopbackServer, ServerSettings, listening
from longbeam.prompts import PROMPTS, default_registry
from tests.offline.loopback.asking import ask, loopback, sample_call, text_from, typed_inputs


async def test_every_prompt_is_answered_as_in_process() -> None:
    async with loopback() as (_, client):
        for prompt in PROMPTS:
            call = sample_call(prompt.prompt_id)
            assert await text_from(client, call) == (await OfflineWriter().complete(call)).text


async def test_request_without_typed_inputs_is_refused_with_what_to_do() -> None:
    async with loopback() as (_, client):
        with pytest.raises(openai.BadRequestError, match="sends_extras = true"):
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


async def test_request_of_another_version_of_a_prompt_is_refused() -> None:
    extra = typed_inputs(sample_call("personality")) | {"prompt_version": 99}
    async with loopback() as (_, client):
        with pytest.raises(openai.BadRequestError, match="different versions of longbeam"):
            await client.chat.completions.create(model="m", messages=[], extra_body={"longbeam": extra})


async def test_plain_requests_are_answered_when_asked_to() -> None:
    async with loopback(fixed_reply_tokens=7) as (_, client):
        reply = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    assert reply.choices[0].message.content == "word " * 7


async def test_json_is_wrapped_in_prose_unless_a_form_is_asked_for() -> None:
    call = sample_call("narratives")
    async with loopback() as (_, client):
        bare = await text_from(client, call)
        wrapped = await text_from(client, call, structured=False)
    assert json.loads(bare)
    assert wrapped.startswith("Here is")
    assert f"```json\n{bare}\n```" in wrapped


async def test_structured_output_can_be_refused() -> None:
    async with loopback(structured="none") as (_, client):
        with pytest.raises(openai.BadRequestError, match="'json_schema' is not supported"):
            await ask(client, sample_call("narratives"))


async def test_wrong_key_is_refused() -> None:
    async with loopback(key="right") as (_, client):
        with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
            await ask(client, sample_call("personality"))
        await ask(client.with_options(api_key="right"), sample_call("personality"))


@pytest.mark.parametrize(
    ("form", "status", "kind"),
    [
        ("filter", 400, "content_filter"),
        ("plain", 400, "bad_request"),
        ("unprocessable", 422, "bad_request"),
        ("too_long", 400, "context_length"),
        ("too_large", 413, "context_length"),
    ],
)
async def test_poison_comes_in_the_forms_of_real_refusals(form: str, status: int, kind: str) -> None:
    """Each of them is read as final: the call's unit becomes a gap."""
    async with loopback(poison=("*/bad",), poison_as=form) as (_, client):
        with pytest.raises(openai.APIStatusError, match="is poisoned") as refused:
            await ask(client, sample_call("personality", place="bad"))
    answer = HttpAnswer(refused.value.status_code, refused.value.response.content)
    error = error_of_status("here", answer, str)

    assert (answer.status, error.kind, is_final(error)) == (status, kind, True)


async def test_poisoned_units_are_refused_until_the_poison_is_lifted() -> None:
    poisoned, other = sample_call("personality", place="bad"), sample_call("personality", place="good")
    async with loopback(poison=("*/bad",)) as (_, client):
        await ask(client, other)
        for _ in range(2):
            with pytest.raises(openai.BadRequestError, match="c000/stage/unit/bad is poisoned"):
                await ask(client, poisoned)
        await client.post("../control", body={"poison": []}, cast_to=object)
        await ask(client, poisoned)


async def test_more_requests_than_fit_get_429_with_retry_after() -> None:
    calls = [sample_call("personality", place=f"p{i}") for i in range(5)]
    async with loopback(latency_ms=100, max_in_flight=3, retry_after_s=2) as (server, client):
        results = await asyncio.gather(*(ask(client, c) for c in calls), return_exceptions=True)
        refused = [r for r in results if isinstance(r, openai.RateLimitError)]
        assert [r.response.headers["retry-after"] for r in refused] == ["2", "2"]
        assert server.counts.most_in_flight == 3
        assert server.counts.in_flight == 0


async def test_faults_are_the_same_for_the_same_call_asked_as_often() -> None:
    async def outcomes() -> list[str]:
        found = []
        async with loopback(failing=0.3, rate_limited=0.3) as (_, client):
            for i in range(12):
                for _ in range(2):
                    try:
                        await ask(client, sample_call("personality", place=f"p{i}"))
                        found.append("ok")
                    except openai.APIStatusError as exc:
                        found.append(str(exc.status_code))
        return found

    first = await outcomes()
    assert first == await outcomes()
    assert {"ok", "429", "500"} == set(first)
    assert first[::2] != first[1::2], "the second request of a call draws anew"


async def test_malformed_replies_do_not_parse_and_truncated_ones_say_so() -> None:
    async with loopback(malformed=1) as (_, client):
        for i in range(8):
            with pytest.raises(json.JSONDecodeError):
                json.loads(await text_from(client, sample_call("narratives", place=f"p{i}")))
        prose = sample_call("personality")
        assert await text_from(client, prose) == (await OfflineWriter().complete(prose)).text
    async with loopback(truncated=1) as (_, client):
        reply = await ask(client, sample_call("narratives"))
        assert reply.choices[0].finish_reason == "length"


async def test_cut_off_connections_are_connection_errors() -> None:
    async with loopback(cut_off=1) as (server, client):
        with pytest.raises(openai.APIConnectionError):
            await ask(client, sample_call("personality"))
        assert (server.counts.answered, server.counts.refused) == (0, {"cut_off": 1})


async def test_hanging_requests_are_abandoned_by_the_client() -> None:
    async with loopback(hanging=1) as (server, client):
        with pytest.raises(openai.APITimeoutError):
            await ask(client.with_options(timeout=0.2), sample_call("personality"))
        for _ in range(100):
            if server.counts.abandoned:
                break
            await asyncio.sleep(0.01)
        assert (server.counts.abandoned, server.counts.in_flight, server.counts.answered) == (1, 0, 0)


async def test_counts_tell_new_calls_from_those_asked_again() -> None:
    call = sample_call("personality")
    async with loopback() as (server, client):
        await ask(client, call)
        await ask(client, sample_call("personality", generation=1))
        assert server.counts.asked_again == set()
        await ask(client, call)
        counts = await client.get("../counts?calls=1", cast_to=object)
    assert isinstance(counts, dict)
    assert {k: counts[k] for k in ("received", "answered", "calls", "asked_again")} == {
        "received": 3, "answered": 3, "calls": 2, "asked_again": 1,
    }  # fmt: skip
    assert counts["answered_calls"] == ["c000/stage/unit/place#0", "c000/stage/unit/place#1"]
    assert counts["latencies_s"] == {"c000/stage/unit": 0.0}


async def test_usage_counts_what_earlier_requests_began_with_as_cached() -> None:
    call = sample_call("assistant_reply")
    async with loopback() as (_, client):
        first = (await ask(client, call)).usage
        second = (await ask(client, call)).usage
    assert first.prompt_tokens == second.prompt_tokens > 500
    assert first.prompt_tokens_details.cached_tokens == 0
    # All of it is known now, to the block of 16.
    assert second.prompt_tokens_details.cached_tokens == second.prompt_tokens // 16 * 16


async def test_replies_are_as_long_as_the_factor_says() -> None:
    call = sample_call("assistant_reply")
    async with loopback(reply_factor=0.5) as (_, client):
        short = await text_from(client, call)
    async with loopback(reply_factor=2) as (_, client):
        long = await text_from(client, call)
    assert len(long) > 2 * len(short)


async def test_detectors_say_yes_as_often_as_the_factor_says() -> None:
    async def yes(factor: float) -> int:
        async with loopback(detector_factor=factor) as (_, client):
            replies = [await text_from(client, sample_call("question_detector", place=f"p{i}")) for i in range(300)]
        return sum(json.loads(r)["asks_user"] for r in replies)

    usual, half = await yes(1), await yes(0.5)
    assert usual == 300, "the sample ends with a question"
    assert 0.4 * usual < half < 0.6 * usual


async def test_latency_runs_from_the_arrival() -> None:
    async with loopback(latency_ms=80) as (_, client):
        await ask(client, sample_call("personality"))
        begun = time.monotonic()
        await ask(client, sample_call("personality", place="second"))
    assert time.monotonic() - begun >= 0.08


async def test_control_refuses_what_is_no_setting() -> None:
    async with loopback() as (server, client):
        for body, message in (
            ({"latency": 1}, "setting 'latency' is unknown"),
            ({"failing": 2}, "less than or equal to 1"),
            ({"failing": 0.6, "hanging": 0.6}, "more than 1 in all"),
        ):
            with pytest.raises(openai.BadRequestError, match=message):
                await client.post("../control", body=body, cast_to=object)
        assert server.settings == ServerSettings()


async def test_port_that_is_taken_is_a_user_error() -> None:
    async with loopback() as (_, client):
        with pytest.raises(UserError, match="choose another"):
            async with listening(LoopbackServer(default_registry(), ServerSettings()), client.base_url.port or 0):
                pass
