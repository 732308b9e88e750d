"""Offline plans as graphs: for any seed the order holds, what changes is alive, and wishes have their uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter
from longbeam.pipeline import PlannedStory, read_stories
from longbeam.pipeline.run import RunContext, Schedule, conversations_of, open_run
from longbeam.prompts.calls import AugmentInputs, WishTarget
from longbeam.schemas import BenchmarkSpec, ModelReply, Stance
from longbeam.store import create_benchmark
from tests.wired import answered_by


class _Planner(OfflineWriter):
    """The offline writer, which keeps the wishes that it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.wishes: list[WishTarget] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        if isinstance(call.inputs, AugmentInputs):
            self.wishes += call.inputs.wishes
        return await super().complete(call)


async def _planned(seed: int, out: Path) -> tuple[PlannedStory, list[WishTarget]]:
    spec = BenchmarkSpec.model_validate({"name": "planned", "seed": seed, "length": "16K"})
    benchmark = create_benchmark(spec, out)
    ((conversation_id, own),) = conversations_of(benchmark)
    planner = _Planner()
    async with open_run(RunContext(benchmark, answered_by(planner), Schedule(16)), conversation_id, own) as run:
        await run.plan(0)
    (story,) = read_stories(benchmark, conversation_id)
    return story, planner.wishes


def _order_holds(story: PlannedStory) -> None:
    day = {event.event_id: event.day for event in story.graph.events()}
    for event in story.graph.events():
        for link in event.after:
            before, after = day[link.event], day[event.event_id]
            assert before is not None
            assert after is not None
            assert link.least <= (after - before).days <= (10_000 if link.most is None else link.most)


def _changes_are_alive(story: PlannedStory) -> None:
    for life in story.lives:
        for day, stance, _ in life.told:
            assert day >= life.first
            if stance is Stance.UPDATES and life.last is not None:
                assert day <= life.last


def _wishes_have_uses(story: PlannedStory, wishes: list[WishTarget]) -> None:
    position = {bullet.bullet_id: i for i, bullet in enumerate(story.ledger.bullets)}
    told = {event_id: position[bullet_id] for bullet_id, event_id in story.event_of.items()}
    places = {event.what: told[event.event_id] for event in story.graph.events() if event.event_id in told}
    for wish in wishes:
        begins = position[wish.place.after]
        assert len(wish.uses) >= 2
        assert all(places[use] > begins for use in wish.uses)
        assert not wish.unlike or places[wish.unlike] > begins


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))])
async def test_a_plan_of_any_seed_has_an_order_without_a_contradiction(seed: int, tmp_path: Path) -> None:
    story, wishes = await _planned(seed, tmp_path)
    assert story.graph.events()
    assert not story.graph.open_matters()
    _order_holds(story)
    _changes_are_alive(story)
    _wishes_have_uses(story, wishes)
