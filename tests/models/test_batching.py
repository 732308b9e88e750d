"""Calls sent in batches, against a loopback server with a batch API: nothing is paid twice, whatever is interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import ProviderError, RunStopped, SpecError
from longbeam.models import (
    BatchingModel,
    CostMeter,
    LimitedModel,
    ModelCall,
    OpenAIModel,
    Sampling,
    Surroundings,
    make_model,
)
from longbeam.offline import OfflineWriter
from longbeam.offline.loopback import LoopbackServer, ServerSettings, listening
from longbeam.prompts import default_registry
from longbeam.schemas import BatchEntry, BenchmarkSpec, ModelReply
from longbeam.store import BatchFiles
from tests.offline.loopback.asking import sample_call

NAME = "openai:offline"


@asynccontextmanager
async def server_of(**settings: Any) -> AsyncIterator[tuple[LoopbackServer, str]]:
    server = LoopbackServer(default_registry(), ServerSettings(**settings))
    async with listening(server) as base_url:
        yield server, base_url


def spec_of(base_url: str, **endpoint: Any) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate(
        {
            "name": "a",
            "models": {"default": NAME},
            "endpoints": {NAME: {"base_url": base_url, **endpoint}},
            "batch": {"stages": ["probes", "narratives"], "wait_s": 0.05, "poll_s": 0.05},
        }
    )


@asynccontextmanager
async def model_of(spec: BenchmarkSpec, log: BatchFiles, notices: list[str] | None = None) -> AsyncIterator[Any]:
    told = notices if notices is not None else []
    model = make_model(spec, {}, around=Surroundings(batches=log, notice=told.append))
    clients = model._clients  # type: ignore[attr-defined]
    assert isinstance(clients[NAME], BatchingModel)
    try:
        yield LimitedModel(model, spec)
    finally:
        await clients[NAME].aclose()


def asked(number: int, *, stage: str = "probes", prompt_id: str = "outline") -> ModelCall:
    return replace(sample_call(prompt_id), model=NAME, unit_key=f"c000/{stage}/u{number}")


async def replies_of(model: Any, calls: list[ModelCall]) -> list[ModelReply | BaseException]:
    found = await asyncio.gather(*(model.complete(call) for call in calls), return_exceptions=True)
    return list(found)


async def texts_of(calls: list[ModelCall]) -> list[str]:
    return [(await OfflineWriter().complete(call)).text for call in calls]


def texts(found: list[ModelReply | BaseException]) -> list[str]:
    return [reply.text if isinstance(reply, ModelReply) else repr(reply) for reply in found]


async def test_calls_of_a_stage_that_can_wait_are_one_batch_and_others_go_at_once(tmp_path: Path) -> None:
    notices: list[str] = []
    async with server_of(batch_s=0.1) as (server, base_url):
        spec = spec_of(base_url)
        async with model_of(spec, BatchFiles(tmp_path), notices) as model:
            batched = [asked(n) for n in range(40)] + [asked(1, stage="plan", prompt_id="narratives")]
            others = [asked(1, stage="plan"), asked(1, stage="dialogue", prompt_id="question_detector")]
            found = await replies_of(model, batched + others)
        assert server.counts.answered == 43
        assert len(server.batches._batches) == 1
    assert texts(found) == await texts_of(batched + others)
    assert all(isinstance(r, ModelReply) and r.output_tokens > 0 for r in found)
    (notice,) = notices
    assert "batch batch-0 with 41 calls was sent" in notice


async def test_a_killed_run_takes_up_its_batch_and_pays_nothing_twice(tmp_path: Path) -> None:
    calls = [asked(n) for n in range(10)]
    async with server_of(batch_s=0.5) as (server, base_url):
        spec = spec_of(base_url)
        async with model_of(spec, BatchFiles(tmp_path)) as model:
            waiting = asyncio.ensure_future(replies_of(model, calls))
            async with asyncio.timeout(5):
                while not any(entry.batch_id for entry in BatchFiles(tmp_path).entries()):  # noqa: ASYNC110 - of a file
                    await asyncio.sleep(0.02)
            waiting.cancel()
        async with model_of(spec, BatchFiles(tmp_path)) as model:
            found = await replies_of(model, [*calls, asked(10)])
        async with model_of(spec, BatchFiles(tmp_path)) as model:  # killed before the replies were journalled
            again = await replies_of(model, calls[:3])
        assert (server.counts.answered, len(server.counts.asked_again)) == (11, 0)
    assert texts(found) == await texts_of([*calls, asked(10)])
    assert texts(again) == texts(found)[:3]


class Killed(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize("is_received", [True, False])
async def test_a_batch_whose_name_was_lost_is_found_or_sent_anew(tmp_path: Path, is_received: bool) -> None:
    """The process is killed after it recorded the batch, before or after the endpoint received it."""
    calls = [asked(n) for n in range(3)]
    async with server_of() as (server, base_url):
        spec = spec_of(base_url)

        class Dying(BatchFiles):
            def record(self, entry: BatchEntry) -> None:
                if entry.batch_id:
                    raise Killed
                super().record(entry)
                if not is_received:
                    raise Killed

        async with model_of(spec, Dying(tmp_path)) as model:
            assert {type(found) for found in await replies_of(model, calls)} == {Killed}
        assert len(server.batches._batches) == is_received
        async with model_of(spec, BatchFiles(tmp_path)) as model:
            found = await replies_of(model, calls)
        assert len(server.batches._batches) == 1
        assert server.counts.answered == 3
    assert texts(found) == await texts_of(calls)


async def test_a_batch_that_is_gone_is_sent_anew(tmp_path: Path) -> None:
    calls = [asked(n) for n in range(3)]
    async with server_of() as (_, base_url), model_of(spec_of(base_url), BatchFiles(tmp_path)) as model:
        await replies_of(model, calls)
    async with server_of() as (server, base_url):
        async with model_of(spec_of(base_url), BatchFiles(tmp_path)) as model:
            found = await replies_of(model, calls)
        assert server.counts.answered == 3
    assert texts(found) == await texts_of(calls)


async def test_what_a_batch_leaves_out_goes_into_the_next_and_a_refusal_is_the_calls_own(tmp_path: Path) -> None:
    calls = [asked(n) for n in range(20, 36)]
    async with server_of(unanswered=0.1, failing=0.05, poison=["c000/probes/u27"]) as (server, base_url):
        async with model_of(spec_of(base_url), BatchFiles(tmp_path)) as model:
            found = await replies_of(model, calls)
        assert len(server.batches._batches) > 1
        assert len(server.counts.asked_again) == 0
    refused = [n for n, reply in enumerate(found) if not isinstance(reply, ModelReply)]
    assert refused == [7]  # the poisoned one; which faults a call meets is drawn from it
    assert isinstance(found[7], ProviderError)
    assert "poisoned" in str(found[7])


async def test_a_form_that_is_refused_in_a_batch_is_sent_another_way(tmp_path: Path) -> None:
    calls = [replace(asked(n), sampling=Sampling(min_p=0.1)) for n in range(3)]
    async with (
        server_of(structured="json_object", refuses=["min_p"]) as (_, base_url),
        model_of(spec_of(base_url), BatchFiles(tmp_path)) as model,
    ):
        found = await replies_of(model, calls)
    assert texts(found) == await texts_of(calls)


async def test_an_endpoint_without_batches_stops_the_run_with_one_line(tmp_path: Path) -> None:
    async with (
        server_of(batches=False) as (_, base_url),
        model_of(spec_of(base_url), BatchFiles(tmp_path)) as model,
    ):
        found = await replies_of(model, [asked(1), asked(2)])
    assert {type(reply) for reply in found} == {RunStopped}
    assert "batches: HTTP 404" in str(found[0])
    assert "\n" not in str(found[0])


def test_a_command_that_keeps_no_record_refuses_batches() -> None:
    with pytest.raises(SpecError, match=r"batch\.stages: this command keeps no record of batches"):
        make_model(spec_of("http://127.0.0.1:1/v1"), {})


async def test_a_batched_call_costs_half(tmp_path: Path) -> None:
    async with server_of() as (_, base_url):
        spec = spec_of(base_url, price={"input": 100.0, "output": 100.0})
        client = make_model(spec, {}, around=Surroundings(batches=BatchFiles(tmp_path), notice=lambda line: None))
        meter = CostMeter(client, spec)
        at_once = await meter.complete(asked(1, stage="plan"))
        full = meter.spent_usd
        batched = await meter.complete(asked(1))
        await meter.aclose()
    assert full == pytest.approx((at_once.prompt_tokens + at_once.output_tokens) / 10_000)
    assert meter.spent_usd - full == pytest.approx((batched.prompt_tokens + batched.output_tokens) / 20_000)


def test_the_client_of_a_spec_without_batches_is_the_plain_one() -> None:
    spec = spec_of("http://127.0.0.1:1/v1").model_copy(update={"batch": BenchmarkSpec(name="a").batch})
    assert isinstance(make_model(spec, {})._clients[NAME], OpenAIModel)  # type: ignore[attr-defined]
