"""Conversations of many plans, small: three plans of 16K tokens each, by both strategies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from longbeam.errors import ProviderError
from longbeam.generators import turn_key
from longbeam.keys import plan_index_of
from longbeam.offline import OfflineWriter
from longbeam.pipeline.run import (
    ConversationRun,
    RunContext,
    Schedule,
    TurnFault,
    checks_stage,
    mend_turns,
    open_run,
    probes_stage,
    run_conversation,
    seal_stage,
    seeds_of,
    talk_conversation,
)
from longbeam.schemas import ABILITIES, BenchmarkSpec, BulletKind, MessageRole, Stance, Strategy
from longbeam.store import Benchmark, SealedConversation, UnitStatus, create_benchmark
from longbeam.validation import benchmark_statistics, check_conversation, render_text
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

PLANS, EACH = 3, 16_000


@asynccontextmanager
async def opened(
    benchmark: Benchmark, model: CountingModel | OfflineWriter, concurrency: int = 16
) -> AsyncIterator[ConversationRun]:
    """A conversation whose plans are shorter than the million tokens they are in earnest."""
    (seed,) = seeds_of(benchmark)
    async with open_run(RunContext(benchmark, answered_by(model), Schedule(concurrency)), "c000", seed) as run:
        run.conversation = replace(run.conversation, plan_targets=(EACH,) * PLANS)
        yield run


async def made(benchmark: Benchmark, model: CountingModel | OfflineWriter, concurrency: int = 16) -> SealedConversation:
    async with opened(benchmark, model, concurrency) as run:
        await run_conversation(run)
        assert run.conversation.units.failed == []
    return SealedConversation(benchmark.sealed_path("c000"))


def spec_of(strategy: Strategy) -> BenchmarkSpec:
    return BenchmarkSpec.model_validate(
        {"name": "many", "seed": 5, "length": "16K", "domains": ["home_real_estate"], "strategy": strategy}
    )


@pytest.fixture(scope="module", params=list(Strategy))
def made_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SealedConversation]:
    """A conversation of each strategy, made once for the tests that only read it."""
    benchmark = create_benchmark(spec_of(request.param), tmp_path_factory.mktemp("many"))
    with asyncio.run(made(benchmark, OfflineWriter())) as sealed:
        yield sealed


def test_three_plans_pass_every_check_and_keep_time_and_budget(made_once: SealedConversation) -> None:
    head, messages = made_once.head, list(made_once.messages())
    findings = check_conversation(made_once, asked=dict.fromkeys(ABILITIES, 2))
    assert [f for f in findings if f.severity == "error"] == []
    assert all(a.sent_at <= b.sent_at for a, b in pairwise(messages))
    assert [m.session for m in messages] == sorted(m.session for m in messages)
    for plan in range(PLANS):
        tokens = sum(m.tokens for m in messages if m.plan_index == plan)
        # within the larger of 5 % and one exchange of at most 1,500 tokens
        assert abs(tokens - EACH) <= 1_500
    assert [s.timeline.start <= s.timeline.end for s in head.plan_seeds] == [True] * PLANS
    assert all(a.timeline.end < b.timeline.start for a, b in pairwise(head.plan_seeds))


def test_plans_tell_of_different_things_and_look_back(made_once: SealedConversation) -> None:
    plans = made_once.head.plans
    people = {p.first_name for p in made_once.head.relationships.people}
    topics = [{b.topic for b in p.bullets() if b.kind is BulletKind.EVENT} - people for p in plans]
    shared = [len(a & b) for a, b in combinations(topics, 2)]
    # The choice among options that the assistant gave in an earlier plan is an event of the later one.
    assert max(shared) <= 1 or made_once.head.plan_seeds[0].phase == "the idea"  # phases come back to things
    introductions = [sum(b.kind is BulletKind.INTRODUCTION for b in p.bullets()) for p in plans]
    assert introductions == [1, 0, 0]
    later = [(p.plan_index, b) for p in plans[1:] for b in p.bullets() if b.target_bullet_id]
    across = [b.kind for i, b in later if not (b.target_bullet_id or "").startswith(f"p{i}.")]
    assert {BulletKind.UPDATE, BulletKind.CONTRADICTION} <= set(across)
    values = [a for p in plans[1:] for a in p.assertions if not a.fact_id.startswith(f"p{p.plan_index}.")]
    # what an earlier plan set is changed or denied here, never set anew
    assert {a.stance for a in values} <= {Stance.UPDATES, Stance.DENIES, Stance.MENTIONS}


def test_half_of_the_probes_that_put_things_together_rest_on_several_plans(made_once: SealedConversation) -> None:
    together = {
        "multi_session_reasoning", "temporal_reasoning", "event_ordering", "knowledge_update", "summarization"
    }  # fmt: skip
    probes = [p for p in made_once.probes() if p.is_selected and p.ability in together]
    several = [p for p in probes if len(set(map(plan_index_of, p.bullet_ids))) > 1]
    assert 2 * len(several) >= len(probes)


def test_evidence_spans_and_borders_are_counted(made_once: SealedConversation) -> None:
    statistics = benchmark_statistics([made_once])
    assert statistics.median_span is not None
    assert statistics.median_span >= 0.2
    assert [row.plan_index for row in statistics.borders] == [1, 2]
    for row in statistics.borders:
        assert row.people_new
        assert row.people_back
        assert row.facts_changed
        assert row.facts_denied
        assert row.instructions_in_force
    assert "Continuity across plan borders" in render_text(statistics)


@pytest.mark.slow  # tests/e2e/test_kill_and_resume.py has one plan at concurrency 1 and 16 in every `make test`
async def test_same_bytes_at_any_concurrency(out: Path) -> None:
    spec = spec_of(Strategy.SEQUENTIAL)
    contents = []
    for concurrency in (1, 64):
        benchmark = create_benchmark(spec, out / str(concurrency))
        with await made(benchmark, OfflineWriter(), concurrency) as sealed:
            contents.append(
                [sealed.head.digest, [m.digest for m in sealed.messages()], [p.digest for p in sealed.probes()]]
            )
    assert contents[0] == contents[1]


def _poison() -> ProviderError:
    """Return an error of one run: a module's own would keep that run's talk in its traceback."""
    return ProviderError("500: this call fails however often it is asked", kind="server_error", is_retryable=False)


async def test_failed_dialogue_of_one_plan_stops_neither_the_others_nor_the_next_plans(out: Path) -> None:
    benchmark = create_benchmark(spec_of(Strategy.SEQUENTIAL), out)
    async with opened(benchmark, CountingModel(refuse="/dialogue/p0.s0/", error=_poison())) as run:
        await run_conversation(run)
        assert [u.unit_key for u in run.conversation.units.failed] == ["p0.s0"]
        units = run.conversation.units.log.units
        done = [[units.find("dialogue", f"p{plan}.s{i}") for i in range(2)] for plan in (1, 2)]
        assert all(unit is not None and unit.status is UnitStatus.DONE for of_plan in done for unit in of_plan)
        assert run.blocked
    mended = CountingModel()
    async with opened(benchmark, mended) as run:
        await run_conversation(run)
        assert not run.blocked
    # what was done is not asked again
    assert {stage for stage, _ in mended.calls} == {"dialogue", "probes"}


async def test_planning_goes_on_while_a_plan_talks(out: Path) -> None:
    model = CountingModel()
    async with opened(create_benchmark(spec_of(Strategy.SEQUENTIAL), out), model) as run:
        await run_conversation(run)
    seen = [key.split("/")[1:3] for key in model.unit_keys]
    talks = [i for i, (stage, unit) in enumerate(seen) if stage == "dialogue" and unit.startswith("p0")]
    last_plan = max(i for i, (stage, unit) in enumerate(seen) if stage == "plan" and unit.startswith("p2"))
    assert talks[0] < last_plan < talks[-1]


async def test_a_turn_of_an_earlier_plan_is_said_anew_and_no_plan_is_paid_for_again(out: Path) -> None:
    benchmark, key = create_benchmark(spec_of(Strategy.SEQUENTIAL), out), "p1.s0.t1"
    with await made(benchmark, OfflineWriter()) as sealed:
        turn = tuple(m for m in sealed.messages() if turn_key(m) == key)
    reply = next(m for m in turn if m.role is MessageRole.ASSISTANT)
    fault, model = TurnFault(sealed=turn, problems={reply.message_key: "it says too little"}), CountingModel()

    async with opened(benchmark, model) as run:
        talked = await talk_conversation(run)
        assert talked is not None
        talked, failures = await mend_turns(talked, [fault])
        assert failures == []
        await seal_stage(*await checks_stage(await probes_stage(talked.without_indexes())))
        anew = {m.message_key: m.content for m in talked.messages() if turn_key(m) == key}
    assert anew[reply.message_key] != reply.content
    assert {stage for stage, _ in model.calls} == {"repair"}
