"""A recording tells again what the models of a benchmark said, to who asks with the same messages."""

from __future__ import annotations

from pathlib import Path

import openai
import pytest

from longbeam.errors import UserError
from longbeam.offline.loopback import LoopbackServer, ServerSettings, listening
from longbeam.pipeline import Recording
from longbeam.prompts import default_registry
from longbeam.schemas import BenchmarkSpec, ChatMessage, JournalEntry, ModelReply
from longbeam.store import Benchmark, WorkLog, create_benchmark
from tests.store.journal_entries import ASKED

HI = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi?"})


def _benchmark(tmp_path: Path, *replies: ModelReply) -> Benchmark:
    benchmark = create_benchmark(BenchmarkSpec(name="told", length="16K"), tmp_path)
    with WorkLog.open(benchmark.work_path("c000")) as log:
        for i, reply in enumerate(replies):
            asked = {**ASKED, "unit_key": f"c000/dialogue/p0.s0/t{i}"}
            log.journal.record(
                JournalEntry(key=f"k{i}", request=[ChatMessage.model_validate(m) for m in HI], reply=reply, **asked)
            )
    return benchmark


async def _said(recording: Recording, messages: object, **settings: object) -> openai.types.chat.ChatCompletion:
    server = LoopbackServer(default_registry(), ServerSettings.model_validate(settings), recording)
    async with (
        listening(server) as base_url,
        openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0, timeout=5) as client,
    ):
        found = await client.chat.completions.create(model="m", messages=messages)  # type: ignore[arg-type]
    assert isinstance(found, openai.types.chat.ChatCompletion)
    return found


async def test_reply_comes_with_how_it_ended_and_what_it_cost(tmp_path: Path) -> None:
    reply = ModelReply(text="Hel", finish_reason="length", prompt_tokens=70, cached_tokens=64, output_tokens=3)
    with Recording(_benchmark(tmp_path, reply)) as recording:
        found = await _said(recording, HI)
    assert found.choices[0].message.content == "Hel"
    assert found.choices[0].finish_reason == "length"
    assert found.usage is not None
    assert found.usage.prompt_tokens_details is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (70, 3)
    assert found.usage.prompt_tokens_details.cached_tokens == 64


async def test_several_replies_to_one_request_come_in_turn(tmp_path: Path) -> None:
    with Recording(_benchmark(tmp_path, ModelReply(text="one"), ModelReply(text="two"))) as recording:
        texts = [(await _said(recording, HI)).choices[0].message.content for _ in range(3)]
    assert texts == ["one", "two", "one"]


async def test_what_nobody_asked_is_refused_with_the_benchmark(tmp_path: Path) -> None:
    with (
        Recording(_benchmark(tmp_path, ModelReply(text="one"))) as recording,
        pytest.raises(openai.BadRequestError, match="'told' has no reply to these messages"),
    ):
        await _said(recording, HI[1:])


async def test_faults_meet_recorded_replies_too(tmp_path: Path) -> None:
    with (
        Recording(_benchmark(tmp_path, ModelReply(text="one"))) as recording,
        pytest.raises(openai.BadRequestError, match=r"c000/dialogue/p0\.s0/t0 is poisoned"),
    ):
        await _said(recording, HI, poison=("*/t0",))


def test_benchmark_that_was_not_begun_is_refused(tmp_path: Path) -> None:
    benchmark = create_benchmark(BenchmarkSpec(name="told", length="16K"), tmp_path)
    with pytest.raises(UserError, match="'told' has no recorded replies; generate it first"):
        Recording(benchmark)
