"""Offline plans as graphs: for any seed the order holds, what changes is alive, and wishes have their uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.pipeline import PlannedStory, read_stories
from longbeam.pipeline.run import RunContext, Schedule, conversations_of, open_run
from longbeam.schemas import BenchmarkSpec, BulletKind, Stance
from longbeam.store import create_benchmark
from tests.wired import offline


async def _planned(seed: int, out: Path) -> PlannedStory:
    spec = BenchmarkSpec.model_validate({"name": "planned", "seed": seed, "length": "16K"})
    benchmark = create_benchmark(spec, out)
    ((conversation_id, own),) = conversations_of(benchmark)
    async with open_run(RunContext(benchmark, offline(), Schedule(16)), conversation_id, own) as run:
        await run.plan(0)
    (story,) = read_stories(benchmark, conversation_id)
    return story


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


def _wishes_have_uses(story: PlannedStory) -> None:
    told = [bullet for bullet in story.ledger.bullets if bullet.kind in {BulletKind.EVENT, BulletKind.RELATIONSHIP}]
    position = {bullet.bullet_id: i for i, bullet in enumerate(story.ledger.bullets)}
    for wish in story.wishes:
        later = [b for b in told if position[b.bullet_id] > position[wish.bullet_id] and b.narrative == wish.narrative]
        assert len(later) >= 2, wish


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))])
async def test_a_plan_of_any_seed_has_an_order_without_a_contradiction(seed: int, tmp_path: Path) -> None:
    story = await _planned(seed, tmp_path)
    assert story.graph.events()
    assert not story.graph.open_matters()
    _order_holds(story)
    _changes_are_alive(story)
    _wishes_have_uses(story)
