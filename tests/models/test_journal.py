from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import BaseModel

from longbeam.errors import ProviderError, RunStopped
from longbeam.models import JournalledModel, ModelCall, Sampling
from longbeam.prompts.calls import QuestionDetectorInputs
from longbeam.schemas import ChatMessage, ModelReply, PromptInputs, Retry, Role
from longbeam.store import WorkLog
from tests.store.journal_entries import request_of


@dataclass(frozen=True)
class Prompt:
    prompt_id: str = "question_detector"
    version: int = 2
    output: type[BaseModel] | None = None

    def render(self, inputs: PromptInputs, retry: Retry | None = None) -> tuple[ChatMessage, ...]:
        assert isinstance(inputs, QuestionDetectorInputs)
        return (ChatMessage(role="system", content="Does it ask?"), ChatMessage(role="user", content=inputs.reply))


@dataclass
class Model:
    """Answers with the number of the question, once `gate` is open."""

    faults: list[Exception] = field(default_factory=list)
    finish_reason: str = "stop"
    text: str = "reply"
    asked: list[str] = field(default_factory=list)
    gate: asyncio.Event | None = None

    async def complete(self, call: ModelCall) -> ModelReply:
        self.asked.append(call.unit_key)
        if self.gate is not None:
            await self.gate.wait()
        if self.faults:
            raise self.faults.pop(0)
        return ModelReply(text=f"{self.text} {len(self.asked)}", finish_reason=self.finish_reason, output_tokens=3)


def call(unit_key: str = "c000/dialogue/p0.s2/t5.n1", generation: int = 0, max_tokens: int | None = None) -> ModelCall:
    return ModelCall(
        prompt=Prompt(),
        inputs=QuestionDetectorInputs(reply="Which hotel?"),
        role=Role.DETECTOR,
        model="offline",
        benchmark_seed=1,
        unit_key=unit_key,
        generation=generation,
        sampling=Sampling(max_tokens=max_tokens),
    )


@pytest.fixture
def log(tmp_path: Path) -> Iterator[WorkLog]:
    with WorkLog.open(tmp_path / "c000.sqlite") as opened:
        yield opened


async def texts_of(model: JournalledModel, calls: Sequence[ModelCall]) -> list[str]:
    return [reply.text for reply in await asyncio.gather(*(model.complete(c) for c in calls))]


async def test_a_reply_is_asked_for_once(log: WorkLog) -> None:
    inner = Model()
    model = JournalledModel(inner, log.journal)

    assert await texts_of(model, [call()]) == ["reply 1"]
    assert await texts_of(model, [call()]) == ["reply 1"]
    assert (model.asks, model.hits, len(inner.asked)) == (1, 1, 1)


async def test_another_run_continues_from_the_journal(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c.sqlite") as log:
        await JournalledModel(Model(), log.journal).complete(call())
    with WorkLog.open(tmp_path / "c.sqlite") as log:
        model = JournalledModel(Model(faults=[AssertionError("asked again")]), log.journal)

        assert await texts_of(model, [call()]) == ["reply 1"]


async def test_the_request_is_recorded_with_its_stage(log: WorkLog) -> None:
    await JournalledModel(Model(), log.journal).complete(call())

    assert request_of(log, call().key) == tuple(call().messages())
    (totals,) = log.journal.usage()
    assert (totals.stage, totals.role, totals.model, totals.output_tokens) == ("dialogue", "detector", "offline", 3)


async def test_a_new_generation_is_asked_anew(log: WorkLog) -> None:
    model = JournalledModel(Model(), log.journal)

    assert await texts_of(model, [call(generation=0), call(generation=1)]) == ["reply 1", "reply 2"]


async def test_the_second_of_two_equal_calls_waits_for_the_first(log: WorkLog) -> None:
    inner = Model(gate=asyncio.Event())
    model = JournalledModel(inner, log.journal)
    waiting = asyncio.gather(*(model.complete(call()) for _ in range(5)))
    await asyncio.sleep(0)
    assert inner.gate is not None
    inner.gate.set()

    assert {reply.text for reply in await waiting} == {"reply 1"}
    assert (model.asks, model.hits) == (1, 4)


async def test_different_calls_do_not_wait_for_each_other(log: WorkLog) -> None:
    inner = Model(gate=asyncio.Event())
    model = JournalledModel(inner, log.journal)
    waiting = asyncio.gather(*(model.complete(call(f"c000/dialogue/p0.s{i}")) for i in range(5)))
    await asyncio.sleep(0)

    assert len(inner.asked) == 5
    assert inner.gate is not None
    inner.gate.set()
    await waiting


async def test_a_failed_call_is_not_recorded_and_the_next_one_asks(log: WorkLog) -> None:
    fault = ProviderError("503", kind="server", is_retryable=True)
    inner = Model(faults=[fault], gate=asyncio.Event())
    model = JournalledModel(inner, log.journal)
    waiting = asyncio.gather(*(model.complete(call()) for _ in range(3)), return_exceptions=True)
    await asyncio.sleep(0)
    assert inner.gate is not None
    inner.gate.set()
    first, *others = await waiting

    assert first is fault
    assert {reply.text for reply in others if isinstance(reply, ModelReply)} == {"reply 2"}
    assert (model.asks, model.hits) == (2, 1)


async def test_a_cancelled_call_leaves_the_others_a_reply(log: WorkLog) -> None:
    inner = Model(gate=asyncio.Event())
    model = JournalledModel(inner, log.journal)
    first, second = (asyncio.ensure_future(model.complete(call())) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    assert inner.gate is not None
    inner.gate.set()

    assert (await second).text == "reply 2"
    assert first.cancelled()


async def test_a_reply_that_cannot_be_kept_is_not_used(log: WorkLog) -> None:
    pages = log._db._db.execute("PRAGMA page_count").fetchone()[0]
    log._db._db.execute(f"PRAGMA max_page_count = {pages}")
    model = JournalledModel(Model(text="long " * 10_000), log.journal)

    with pytest.raises(RunStopped, match="the disk is full"):
        await model.complete(call())

    assert log.journal.reply_of(call().key) is None


async def test_a_unit_key_without_a_stage_costs_nothing(log: WorkLog) -> None:
    model = JournalledModel(Model(), log.journal)

    with pytest.raises(ValueError, match="unit key 'c000' names no stage"):
        await model.complete(call("c000"))

    assert model.asks == 0


@pytest.mark.parametrize(
    ("before", "now", "asks"),
    [(100, 100, 1), (100, 50, 1), (100, 200, 2), (100, None, 2), (None, None, 1), (None, 50, 1)],
)
async def test_a_reply_that_was_cut_is_asked_for_again_when_there_is_more_room(
    log: WorkLog, before: int | None, now: int | None, asks: int
) -> None:
    model = JournalledModel(Model(finish_reason="length"), log.journal)
    await model.complete(call(max_tokens=before))
    await model.complete(call(max_tokens=now))

    assert model.asks == asks


async def test_a_reply_that_ended_by_itself_outlives_a_higher_limit(log: WorkLog) -> None:
    model = JournalledModel(Model(), log.journal)
    await model.complete(call(max_tokens=100))
    await model.complete(call(max_tokens=200))

    assert (model.asks, model.hits) == (1, 1)


async def test_no_call_is_sent_once_a_reply_could_not_be_kept(log: WorkLog) -> None:
    inner, reasons = Model(text="long " * 10_000), []
    model = JournalledModel(inner, log.journal, on_stop=reasons.append)
    pages = log._db._db.execute("PRAGMA page_count").fetchone()[0]
    log._db._db.execute(f"PRAGMA max_page_count = {pages + 2}")

    for i in range(3):
        with pytest.raises(RunStopped, match="the disk is full"):
            await model.complete(call(f"c000/dialogue/p0.s2/t{i}.n1"))

    assert len(inner.asked) == 1
    assert len(reasons) == 1
    assert "the disk is full" in reasons[0]
