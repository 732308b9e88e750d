"""Which call goes next, and how many are in flight, on the event loop's own order: nothing waits for a clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from longbeam.errors import RunStopped
from longbeam.keys import UnitKey
from longbeam.models import ModelCall
from longbeam.pipeline import RUNNING
from longbeam.pipeline.run import Schedule
from longbeam.prompts import default_registry
from longbeam.schemas import ModelReply, Role
from tests.prompts.samples import SAMPLES


@dataclass
class Gated:
    """Answers one call each time `release` is called; keeps the order in which calls came in."""

    order: list[str] = field(default_factory=list)
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def complete(self, call: ModelCall) -> ModelReply:
        self.order.append(call.unit_key)
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        await turn
        return ModelReply(text="four letters each" * 100)

    async def release(self) -> None:
        self.waiting.pop(0).set_result(None)
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def call(unit_key: str, prompt_id: str = "assistant_reply") -> ModelCall:
    return ModelCall(
        prompt=default_registry()[prompt_id],
        inputs=SAMPLES[prompt_id],
        role=Role.ASSISTANT,
        model="offline",
        benchmark_seed=0,
        unit_key=unit_key,
    )


async def test_longest_chain_goes_first_and_what_unlocks_others_before_it() -> None:
    schedule, gated = Schedule(concurrency=1), Gated()
    model = schedule.ordered(gated)
    async with (
        schedule.dialogue(UnitKey.parse("c0/dialogue/short"), 100),
        schedule.dialogue(UnitKey.parse("c0/dialogue/long"), 900),
    ):
        keys = ("c0/dialogue/short/a", "c0/dialogue/short/b", "c0/dialogue/long/a", "c0/plan/p1.s0", "c0/probes/x")
        tasks = [asyncio.create_task(model.complete(call(key))) for key in keys]
        await settle()
        for _ in keys:
            await gated.release()
        await asyncio.gather(*tasks)
    # the first found a free place; the others wait, and go by what their chains have left
    assert gated.order == [keys[0], keys[3], keys[2], keys[1], keys[4]]


async def test_what_was_said_shortens_a_chain() -> None:
    schedule, gated = Schedule(concurrency=1), Gated()
    model = schedule.ordered(gated)
    async with (
        schedule.dialogue(UnitKey.parse("c0/dialogue/a"), 900),
        schedule.dialogue(UnitKey.parse("c0/dialogue/b"), 800),
    ):
        first = asyncio.create_task(model.complete(call("c0/dialogue/a/0")))
        await settle()
        await gated.release()  # 1,700 characters: some 425 tokens of the 900 are said
        await first
        blocker = asyncio.create_task(model.complete(call("c0/plan/p0")))
        tasks = [asyncio.create_task(model.complete(call(f"c0/dialogue/{u}/1"))) for u in ("a", "b")]
        await settle()
        for _ in range(3):
            await gated.release()
        await asyncio.gather(blocker, *tasks)
    assert gated.order[2:] == ["c0/dialogue/b/1", "c0/dialogue/a/1"]


async def test_no_more_calls_than_allowed_and_a_cancelled_one_gives_its_place_back() -> None:
    schedule, gated = Schedule(concurrency=2), Gated()
    model = schedule.ordered(gated)
    tasks = [asyncio.create_task(model.complete(call(f"c0/probes/{i}"))) for i in range(4)]
    await settle()
    assert len(gated.order) == 2
    tasks[2].cancel()
    await gated.release()
    assert gated.order == ["c0/probes/0", "c0/probes/1", "c0/probes/3"]
    await gated.release()
    await gated.release()
    await asyncio.gather(tasks[0], tasks[1], tasks[3])


async def test_while_dialogues_wait_for_a_place_the_one_nearest_its_end_goes_first() -> None:
    schedule, gated = Schedule(concurrency=1), Gated()
    model = schedule.ordered(gated)
    opened: list[str] = []

    async def dialogue(key: str, tokens: int) -> None:
        async with schedule.dialogue(UnitKey.parse(f"c0/dialogue/{key}"), tokens):
            opened.append(key)
            await model.complete(call(f"c0/dialogue/{key}/0"))

    # As many as may be open, with ever more to say, and one for which there is no place yet.
    keys = [f"d{i:02}" for i in range(RUNNING.least_open + 1)]
    tasks = [asyncio.create_task(dialogue(key, 1_000 + i)) for i, key in enumerate(keys)]
    await settle()
    assert opened == keys[:-1]
    await gated.release()  # the first, which found a free place, ends; the last one opens
    assert opened == keys
    for _ in keys[1:]:
        await gated.release()
    await asyncio.gather(*tasks)
    # d00 found the way free, d01 was chosen while one was waiting; then the longest chains go first again.
    assert gated.order == [f"c0/dialogue/{key}/0" for key in (keys[0], keys[1], *keys[:1:-1])]


async def test_no_plan_is_begun_while_many_dialogues_wait() -> None:
    schedule = Schedule(concurrency=8)
    over = [asyncio.Event() for _ in range(RUNNING.least_open + 5)]

    async def talk(i: int) -> None:
        async with schedule.dialogue(UnitKey.parse(f"c0/dialogue/p0.s{i}"), 100):
            await over[i].wait()

    talks = [asyncio.create_task(talk(i)) for i in range(len(over))]
    await settle()
    plan = asyncio.create_task(schedule.wait_for_dialogues())
    await settle()
    assert not plan.done()
    over[0].set()  # one place comes free, so that four wait for the eight calls
    await settle()
    assert plan.done()
    for event in over:
        event.set()
    await asyncio.gather(*talks)


async def test_a_stopped_schedule_sends_none_of_the_calls_that_wait() -> None:
    schedule, gated = Schedule(concurrency=1), Gated()
    model = schedule.ordered(gated)
    tasks = [asyncio.create_task(model.complete(call(f"c0/dialogue/s{i}/a"))) for i in range(3)]
    await settle()

    schedule.stop("the disk is full")
    await gated.release()
    ended = await asyncio.gather(*tasks, model.complete(call("c1/dialogue/s0/a")), return_exceptions=True)

    assert gated.order == ["c0/dialogue/s0/a"]
    assert [str(e) for e in ended[1:]] == ["the disk is full"] * 3
    assert all(isinstance(e, RunStopped) for e in ended[1:])
