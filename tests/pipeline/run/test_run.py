"""Whole runs, in this process: what is made, what a second run pays for, what a failure stops."""

from __future__ import annotations

import gc
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.errors import ProviderError, RunStopped, StoreError
from longbeam.models import ModelCall
from longbeam.pipeline import benchmark_status
from longbeam.pipeline.run import (
    PlanResult,
    RunContext,
    Schedule,
    SilentProgress,
    open_run,
    run_inline,
    seeds_of,
    talk_conversation,
)
from longbeam.prompts import default_registry
from longbeam.schemas import (
    ABILITIES,
    Author,
    BenchmarkSpec,
    Message,
    MessageKind,
    ModelReply,
    Position,
    Probe,
    ProbeSettings,
    UserTurn,
)
from longbeam.store import SealedConversation, create_benchmark
from longbeam.validation import check_conversation
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by, offline


async def test_run_makes_a_conversation_that_passes_every_check(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    summary = await run_inline(benchmark, offline())
    assert (summary.finished, summary.failures) == (1, ())
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        asked = dict.fromkeys(ABILITIES, 2)
        assert [f for f in check_conversation(sealed, asked=asked) if f.severity == "error"] == []
        tokens = sum(m.tokens for m in sealed.messages())
        # the larger of 2 % and one exchange, which is no longer than 1,500 tokens
        assert abs(tokens - 16_000) <= 1_500
        # A detector only where a reply asks within its text: the offline assistant mostly ends with its question.
        roles = ("planner", "writer", "assistant", "user", "prober")
        detector = Author(role="detector", model="offline")
        assert set(sealed.head.authors) - {detector} == {Author(role=role, model="offline") for role in roles}
        asked_by_user = [m.content for m in sealed.messages() if m.kind is MessageKind.QUESTION]
        assert [t.text for t in sealed.head.user_turns] == asked_by_user
        pool = [p.ability for p in sealed.probes()]
        # Two probes are asked for: up to 64K, one or two candidates more are planned, but of wishes none.
        wishes = {"instruction_following", "preference_following"}
        assert [a for a in ABILITIES if pool.count(a) < (2 if a in wishes else 3)] == []


class ModelWithoutWords(CountingModel):
    """The offline writer, which cannot word the first summary."""

    async def complete(self, call: ModelCall) -> ModelReply:
        reply = await super().complete(call)
        return ModelReply(text="{}") if "/probes/summarization.0/" in call.unit_key else reply


async def test_a_candidate_that_rules_cannot_word_is_passed_over(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec.model_copy(update={"name": "worded"}), out)
    summary = await run_inline(benchmark, answered_by(ModelWithoutWords()))
    assert (summary.finished, summary.failures) == (1, ())
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        summaries = [p for p in sealed.probes() if p.ability == "summarization"]
    assert "summarization.0" not in {p.probe_id for p in summaries}
    assert sum(p.is_selected for p in summaries) == 2


async def test_progress_moves_with_every_reply_and_names_what_was_restored(spec: BenchmarkSpec, out: Path) -> None:
    benchmark, progress = create_benchmark(spec.model_copy(update={"name": "moving"}), out), Positions()
    summary = await run_inline(benchmark, answered_by(ModelWithUsage()), progress=progress)
    dialogue = [p for p in progress.seen if p.stage == "dialogue"]
    assert max(p.calls for p in progress.seen) == summary.calls
    # Tokens of replies count before the sub-plan that they belong to has ended.
    assert len({p.tokens for p in dialogue if p.units_done == 0}) > 10
    assert [p.restored for p in progress.seen] == [0] * len(progress.seen)

    again = Positions()
    await run_inline(benchmark, offline(), progress=again)
    assert all(p.restored == p.units_done and p.calls == 0 for p in again.seen)


class ModelWithUsage(CountingModel):
    async def complete(self, call: ModelCall) -> ModelReply:
        reply = await super().complete(call)
        return reply.model_copy(update={"output_tokens": len(reply.text) // 4})


class Positions(SilentProgress):
    def __init__(self) -> None:
        self.seen: list[Position] = []

    def update(self, conversation_id: str, position: Position) -> None:
        self.seen.append(position)


async def test_nothing_of_what_was_said_is_held_once_a_plan_is_talked(spec: BenchmarkSpec, out: Path) -> None:
    def held() -> int:
        gc.collect()
        return sum(type(o) in (Message, UserTurn, PlanResult) for o in gc.get_objects())

    benchmark, before = create_benchmark(spec, out), held()
    (seed,) = seeds_of(benchmark)
    async with open_run(RunContext(benchmark, offline(), Schedule(16)), "c000", seed) as run:
        talked = await talk_conversation(run)
        assert talked is not None
        assert held() - before == 0
        # and it is all there for who reads it
        asked = [m.content for m in talked.messages() if m.kind is MessageKind.QUESTION]
        assert len(asked) > 5
        assert [t.text for t in talked.user_turns()] == asked


async def test_second_run_makes_no_call(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    await run_inline(benchmark, offline())
    again = CountingModel()
    summary = await run_inline(benchmark, answered_by(again))
    assert (summary.finished, again.calls) == (1, {})


async def test_probes_are_measured_and_hard_ones_cost_no_call(spec: BenchmarkSpec, out: Path) -> None:
    async def made(changes: dict[str, object]) -> list[Probe]:
        changed = spec.model_copy(update={"probes": ProbeSettings.model_validate(changes)})
        benchmark = create_benchmark(changed, out)
        assert (await run_inline(benchmark, answered_by(model))).failures == ()
        with SealedConversation(benchmark.sealed_path("c000")) as sealed:
            return list(sealed.probes())

    model = CountingModel()
    probes = await made({})
    assert sum(p.asked_at is not None for p in probes) == 2  # a tenth of the twenty selected
    assert all(p.is_selected for p in probes if p.asked_at is not None)
    assert all(p.details.difficulty.tokens_to_question is not None for p in probes if p.evidence)
    before = model.calls.total()
    hard = await made({"hard": True, "on_the_way": 0})
    assert model.calls.total() == before
    assert {p.asked_at for p in hard} == {None}

    def answered(of: list[Probe]) -> float:
        return sum(sum(p.details.difficulty.answered) for p in of if p.is_selected)

    assert answered(hard) < answered(probes)


async def test_more_conversations_cost_their_own_calls_only(spec: BenchmarkSpec, out: Path) -> None:
    first = CountingModel()
    await run_inline(create_benchmark(spec, out), answered_by(first))
    more = CountingModel()
    larger = create_benchmark(spec.model_copy(update={"conversations": 2}), out)
    summary = await run_inline(larger, answered_by(more))
    assert summary.finished == 2
    assert set(first.keys).isdisjoint(more.keys)
    fresh = CountingModel()
    await run_inline(create_benchmark(spec.model_copy(update={"conversations": 2}), out / "fresh"), answered_by(fresh))
    assert sorted(fresh.keys) == sorted(first.keys + more.keys)


async def test_changed_probe_prompt_costs_the_probes_of_its_ability_only(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    first = CountingModel()
    await run_inline(benchmark, answered_by(first))
    registry = default_registry()
    old = registry["probe_temporal_reasoning"]
    changed = registry.replaced(replace(old, version=old.version + 1))
    again = CountingModel()
    await run_inline(benchmark, answered_by(again), prompts=changed)
    key = ("probes", "probe_temporal_reasoning")
    assert again.calls == {key: first.calls[key]}


async def test_failed_probe_does_not_stop_its_siblings(spec: BenchmarkSpec, out: Path) -> None:
    # A language model may word it at the next try, and rules would not.
    models = {"default": "offline", "prober": "openai:stand-in"}
    benchmark = create_benchmark(spec.model_copy(update={"models": models}), out)
    model = CountingModel(spoil="/probes/information_extraction.0")
    summary = await run_inline(benchmark, answered_by(model))
    assert [u.unit_key for _, u in summary.failures] == ["information_extraction.0"]
    assert summary.finished == 1
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        selected = [p for p in sealed.probes() if p.is_selected]
    # the next candidate takes the place of the one that failed
    assert [p.ability for p in selected].count("information_extraction") == 2
    assert "information_extraction.0" not in {p.probe_id for p in selected}


async def test_failed_plan_is_recorded_and_paid_for_once_when_it_works(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    broken = CountingModel(spoil="/plan/p0.s1")
    summary = await run_inline(benchmark, answered_by(broken))
    assert (summary.finished, [u.unit_key for _, u in summary.failures]) == (0, ["p0.s1.events"])
    assert not benchmark.sealed_path("c000").exists()
    mended = CountingModel()
    summary = await run_inline(benchmark, answered_by(mended))
    assert (summary.finished, summary.failures) == (1, ())
    # persona, outline and the first sub-plan were done
    assert ("persona", "personality") not in mended.calls
    assert mended.calls["plan", "outline"] == 0
    assert mended.calls["plan", "sub_plan"] == 4  # the groups of the second one, each asked once


async def test_damaged_or_missing_sealed_file_is_made_again_without_a_call(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    await run_inline(benchmark, offline())
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        first = [m.content for m in sealed.messages()]
    for damage in (lambda path: path.write_bytes(b"junk"), lambda path: path.unlink()):
        damage(benchmark.sealed_path("c000"))
        again = CountingModel()
        await run_inline(benchmark, answered_by(again))
        assert again.calls == {}
        with SealedConversation(benchmark.sealed_path("c000")) as sealed:
            assert [m.content for m in sealed.messages()] == first


def _poison() -> ProviderError:
    """Return an error of one run: a module's own would keep that run's talk in its traceback."""
    return ProviderError("500: this call fails however often it is asked", kind="server_error", is_retryable=False)


async def test_poisoned_call_fails_its_unit_and_costs_only_that_call_when_lifted(
    spec: BenchmarkSpec, out: Path
) -> None:
    benchmark = create_benchmark(spec, out)
    poisoned = CountingModel(refuse="/dialogue/p0.s1/p0.s1.t2/", error=_poison())
    summary = await run_inline(benchmark, answered_by(poisoned))
    assert [(u.stage, u.unit_key, u.error_kind, u.error, u.attempts) for _, u in summary.failures] == [
        ("dialogue", "p0.s1", "server_error", str(_poison()), 1)
    ]
    (conversation,) = benchmark_status(benchmark).conversations
    assert conversation.done["dialogue"] == 1  # its sibling

    lifted = CountingModel()
    summary = await run_inline(benchmark, answered_by(lifted))
    assert (summary.finished, summary.failures) == (1, ())
    # The unit's replies from before the poison are replayed: nothing is asked twice but the poisoned call.
    assert len(set(poisoned.keys) & set(lifted.keys)) == 1
    stages = {stage for stage, _ in lifted.calls}
    assert stages == {"dialogue", "probes"}
    dialogues = {key.split("/")[2] for key in lifted.unit_keys if "/dialogue/" in key}
    assert {d for d in dialogues if "settle" not in d} == {"p0.s1"}


async def test_stopped_run_leaves_units_pending_and_is_resumed(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec.model_copy(update={"conversations": 2}), out)
    stopping = CountingModel(refuse="c000/dialogue/", error=RunStopped("the budget is used up"))
    summary = await run_inline(benchmark, answered_by(stopping))
    assert (summary.finished, summary.failures, summary.stopped) == (1, (), "the budget is used up")
    assert benchmark_status(benchmark).failed_units == 0

    summary = await run_inline(benchmark, answered_by(CountingModel()))
    assert (summary.finished, summary.stopped) == (2, "")


async def test_the_call_that_stopped_a_run_is_recorded(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    refused = ProviderError("401: no such key", kind="authentication", is_retryable=False)
    model = CountingModel(refuse="/plan/", error=RunStopped("the key was refused", failure=refused))
    summary = await run_inline(benchmark, answered_by(model))
    assert (summary.failures, summary.stopped) == ((), "the key was refused")
    (conversation,) = benchmark_status(benchmark).conversations
    assert [(u.unit_key, u.error_kind, u.error) for u in conversation.failures] == [
        ("p0.outline", "authentication", "401: no such key")
    ]
    assert (await run_inline(benchmark, answered_by(CountingModel()))).finished == 1


class RemovingModel(CountingModel):
    """The offline writer; the benchmark's folder is gone from the 20th call on."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    async def complete(self, call: ModelCall) -> ModelReply:
        if len(self.keys) == 20:
            shutil.rmtree(self._folder)
        return await super().complete(call)


async def test_a_folder_that_is_removed_during_a_run_is_noticed(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(spec, out)
    model = RemovingModel(benchmark.root)

    with pytest.raises(StoreError, match=r"c000\.sqlite: was removed or replaced while a run was writing it"):
        await run_inline(benchmark, answered_by(model))

    assert len(model.keys) < 60
    assert not benchmark.root.exists()
