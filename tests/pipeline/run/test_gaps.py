"""Runs that never stall: what no reply can be used for is left out, said, and allowed up to a share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from longbeam.errors import ReplyError, RunStopped
from longbeam.formats import making_section
from longbeam.models import Asker, ModelCall
from longbeam.offline import OfflineWriter
from longbeam.pipeline import benchmark_status, describe_making, render_status
from longbeam.pipeline.run import Blocked, Gaps, RunSummary, Units, UnitSpec, close_gaps, gaps_of, open_gaps, run_inline
from longbeam.prompts import default_registry
from longbeam.schemas import (
    BenchmarkSpec,
    Checks,
    Incident,
    IncidentKind,
    Making,
    ModelReply,
    Role,
    TurnWriting,
    as_row,
    prompt_lines,
)
from longbeam.store import Benchmark, SealedConversation, WorkLog, create_benchmark
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by

NONSENSE = {"": "", "{}": "{}", "prose": "I like trains, and so does everybody."}


@dataclass
class Spoiling:
    """The offline writer, whose replies are replaced where `spoils` says so; it stops at call number `stop_at`."""

    spoils: Callable[[ModelCall], bool]
    text: str = ""
    stop_at: int | None = None
    calls: list[str] = field(default_factory=list)

    async def complete(self, call: ModelCall) -> ModelReply:
        if len(self.calls) == self.stop_at:
            raise RunStopped("stopped by the test")
        self.calls.append(call.unit_key)
        if self.spoils(call):
            return ModelReply(text=self.text, model="spoiled", output_tokens=7)
        return await OfflineWriter().complete(call)


class Inquiring(Spoiling):
    """Its assistant ends three replies with a question: the detector is asked of no reply without one."""

    async def complete(self, call: ModelCall) -> ModelReply:
        reply = await super().complete(call)
        if re.search(r"/p0\.s1\.t[1-3]/reply", call.unit_key) is None:
            return reply
        return reply.model_copy(update={"text": f"{reply.text}\n\nWhich of these matters most to you?"})


def of_prompts(*prompt_ids: str) -> Callable[[ModelCall], bool]:
    return lambda call: call.prompt.prompt_id in prompt_ids


def one_in(n: int) -> Callable[[ModelCall], bool]:
    """One reply in n fails, the same ones in every run."""
    return lambda call: int(hashlib.sha256(call.key.encode()).hexdigest(), 16) % n == 0


def incidents_of(benchmark: Benchmark) -> list[Incident]:
    with WorkLog.open_read_only(benchmark.work_path("c000")) as log:
        return log.units.incidents()


def allowing(spec: BenchmarkSpec, share: float) -> BenchmarkSpec:
    return spec.model_copy(update={"checks": Checks(gap_share=share)})


async def made(benchmark: Benchmark, model: Spoiling) -> RunSummary:
    return await run_inline(benchmark, answered_by(model))


@pytest.mark.parametrize("text", NONSENSE.values(), ids=NONSENSE)
async def test_detectors_that_answer_nonsense_mean_no_and_stop_nothing(
    spec: BenchmarkSpec, out: Path, text: str
) -> None:
    """Found 8: three unparsable verdicts failed the sub-plan, and the conversation got no probes and no seal."""
    benchmark = create_benchmark(spec, out)
    summary = await made(benchmark, Inquiring(of_prompts("question_detector"), text))
    assert (summary.finished, summary.failures) == (1, ())
    assert gaps_of(benchmark) == {}
    defaulted = [i for i in incidents_of(benchmark) if i.kind is IncidentKind.DEFAULTED]
    assert defaulted
    assert {i.prompt_id for i in defaulted} == {"question_detector"}


async def test_a_turn_without_a_reply_is_left_out_with_its_bullets(spec: BenchmarkSpec, out: Path) -> None:
    benchmark = create_benchmark(allowing(spec, 0.1), out)
    summary = await made(benchmark, Spoiling(lambda call: "/dialogue/p0.s1/p0.s1.t2/reply" in call.unit_key))
    assert (summary.finished, summary.failures) == (1, ())
    (skipped,) = [i for i in incidents_of(benchmark) if i.kind is IncidentKind.SKIPPED]
    assert skipped.place == "c000/dialogue/p0.s1/p0.s1.t2"
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        own = [m.turn_index for m in sealed.messages() if m.sub_plan_index == 1]
        making = sealed.head.making
    # What was left out is told by prompt, in `stats` and in the dataset card.
    (line,) = [line for line in prompt_lines([making]) if line.skipped or line.ended]
    assert (line.prompt_id, line.replies - line.requests, line.refused, line.skipped) == ("assistant_reply", 2, 1, 1)
    assert f"| {' | '.join(as_row(line))} |" in making_section([making])
    assert "1 skipped" in describe_making([making])
    assert sorted(set(own)) == list(range(len(set(own))))  # turns are numbered as they were asked
    assert "of its parts missing" in render_status(benchmark_status(benchmark), ("plan",))


def test_the_card_says_that_a_checker_was_unfit() -> None:
    (made_with_it, fine) = (
        Making(incidents=(Incident(kind=kind),)) for kind in (IncidentKind.UNFIT, IncidentKind.SHORT)
    )
    assert "The checker failed its calibration: 1 objection of it refused nothing." in making_section([made_with_it])
    assert "calibration" not in making_section([fine])


async def test_more_gaps_than_allowed_leave_a_conversation_unsealed_until_the_next_run(
    spec: BenchmarkSpec, out: Path
) -> None:
    benchmark = create_benchmark(spec, out)
    broken = Spoiling(lambda call: "/plan/p0.s1" in call.unit_key, "{}")
    summary = await made(benchmark, broken)
    assert summary.finished == 0
    assert [u.unit_key for _, u in summary.failures] == ["p0.s1.events"]
    assert gaps_of(benchmark)["c000"] > 0.02
    assert not benchmark.sealed_path("c000").exists()
    # the other sub-plan was talked, and nothing waited
    assert any("/dialogue/p0.s0/" in key for key in broken.calls)

    summary = await run_inline(benchmark, answered_by(CountingModel()))
    assert (summary.finished, summary.failures, gaps_of(benchmark)) == (1, (), {})


async def test_lines_of_a_plan_that_are_left_out_are_parts_of_the_text(spec: BenchmarkSpec, out: Path) -> None:
    """A line left out counted as missing but not as a part: 25 of 40 lines made 100 % of a conversation."""
    share = []
    spec = spec.model_copy(update={"limits": spec.limits.model_copy(update={"unusable_in_a_row": 0})})
    for seed, fails in enumerate((r"/plan/p0\.s0/e\d", r"/plan/p0\.s[01]/e\d")):
        benchmark = create_benchmark(allowing(spec.model_copy(update={"name": f"b{seed}"}), 1.0), out)
        await made(benchmark, Spoiling(lambda call, fails=fails: re.search(fails, call.unit_key) is not None, "{}"))
        share.append(gaps_of(benchmark)["c000"])
    assert 0 < share[0] < share[1] < 1


async def test_a_higher_share_seals_what_is_there_without_a_call_for_the_text(spec: BenchmarkSpec, out: Path) -> None:
    broken = Spoiling(lambda call: "/plan/p0.s1" in call.unit_key, "{}")
    await made(create_benchmark(spec, out), broken)
    benchmark = create_benchmark(allowing(spec, 1.0), out)
    again = CountingModel()
    summary = await run_inline(benchmark, answered_by(again))
    assert summary.finished == 1
    assert {stage for stage, _ in again.calls} == {"probes"}
    (conversation,) = benchmark_status(benchmark).conversations
    assert conversation.is_finished

    # A sealed conversation keeps its gaps: nothing is asked, and the file has the same bytes.
    sealed = benchmark.sealed_path("c000").read_bytes()
    third = CountingModel()
    await run_inline(benchmark, answered_by(third))
    assert (third.calls, benchmark.sealed_path("c000").read_bytes()) == ({}, sealed)


async def test_a_model_whose_replies_never_fit_seals_an_empty_conversation_where_that_is_allowed(
    spec: BenchmarkSpec, out: Path
) -> None:
    patient = spec.model_copy(update={"limits": spec.limits.model_copy(update={"unusable_in_a_row": 0})})
    benchmark = create_benchmark(allowing(patient, 1.0), out)
    summary = await made(benchmark, Spoiling(lambda call: True, "{}"))
    assert (summary.finished, summary.stopped) == (1, "")
    assert gaps_of(benchmark)["c000"] > 0.9


async def test_units_that_a_silent_model_failed_are_no_gaps_once_the_model_speaks(
    spec: BenchmarkSpec, out: Path
) -> None:
    benchmark = create_benchmark(allowing(spec, 1.0), out)
    silent = Spoiling(lambda call: True)
    summary = await made(benchmark, silent)
    assert (summary.finished, len(silent.calls)) == (0, 12)
    assert "has given no usable reply since this run began" in summary.stopped

    summary = await made(benchmark, Spoiling(lambda call: False))
    assert (summary.finished, summary.failures, gaps_of(benchmark)) == (1, (), {})


async def test_advice_without_a_line_is_no_gap_and_advice_without_a_reply_is_a_small_one(
    spec: BenchmarkSpec, out: Path
) -> None:
    """Rules alone write advice: a line that they leave out is not asked for again."""
    benchmark = create_benchmark(spec, out / "no line")
    model = Spoiling(of_prompts("advise"), '{"advice": []}')
    summary = await made(benchmark, model)
    assert (summary.finished, summary.failures, gaps_of(benchmark)) == (1, (), {})
    assert incidents_of(benchmark) == []
    assert sum(key.endswith(".advice") for key in model.calls) == 2

    benchmark = create_benchmark(allowing(spec, 0.05), out / "nothing")
    summary = await made(benchmark, Spoiling(of_prompts("advise"), ""))
    assert (summary.finished, [u.unit_key for _, u in summary.failures]) == (1, ["p0.s0.advice", "p0.s1.advice"])
    assert 0 < gaps_of(benchmark)["c000"] <= 0.05


def _contents(benchmark: Benchmark) -> list[str]:
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        parts = [*sealed.head.plans, *sealed.messages(), *sealed.probes()]
        return [p.model_dump_json() for p in parts] + [i.model_dump_json() for i in incidents_of(benchmark)]


@pytest.mark.parametrize(("n", "turns"), [(2, TurnWriting.BATCHED), (3, TurnWriting.IN_DIALOGUE)])
async def test_a_run_that_fails_at_every_nth_reply_seals_the_same_bytes_however_it_is_stopped(
    spec: BenchmarkSpec, out: Path, n: int, turns: TurnWriting
) -> None:
    """The run is stopped again and again, also in the middle of a unit's tries, and resumed."""
    spec = allowing(spec, 1.0).model_copy(update={"turns": turns})
    whole = create_benchmark(spec, out / "whole")
    model = Spoiling(one_in(n))
    assert (await made(whole, model)).finished == 1
    assert incidents_of(whole)
    assert any("/word" in place for place in model.calls) == (turns is TurnWriting.IN_DIALOGUE)

    stopped, finished, calls = create_benchmark(spec, out / "stopped"), 0, 0
    while not finished:
        part = Spoiling(one_in(n), stop_at=37)
        finished, calls = (await made(stopped, part)).finished, calls + len(part.calls)
    assert calls == len(model.calls)  # no reply is paid for twice
    assert _contents(stopped) == _contents(whole)

    slow = create_benchmark(
        spec.model_copy(update={"limits": spec.limits.model_copy(update={"concurrency": 1})}), out / "slow"
    )
    await made(slow, Spoiling(one_in(n)))
    assert _contents(slow) == _contents(whole)


def three_of_ten() -> Gaps:
    gaps = Gaps()
    for parts in (4, 10):  # a stage that is tried again counts once
        gaps.expect("dialogue p0.s0", parts)
        gaps.miss("dialogue p0.s0", 3)
    return gaps


def test_gaps_are_reopened_only_after_a_run_that_ended_with_too_many(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        assert open_gaps(log, 0.02) == Gaps(0)
        assert open_gaps(log, 0.02) == Gaps(0)  # the first run was killed
        assert three_of_ten().share == 0.3
        close_gaps(log, three_of_ten())
        assert open_gaps(log, 0.5) == Gaps(0)  # allowed
        close_gaps(log, three_of_ten())
        assert open_gaps(log, 0.02) == Gaps(1)
        assert open_gaps(log, 0.02) == Gaps(1)  # killed


async def test_unit_that_is_asked_for_twice_is_reported_once(spec: BenchmarkSpec, tmp_path: Path) -> None:
    async def fails(asker: Asker) -> list[Incident]:
        raise ReplyError("no reply could be used")

    kind = UnitSpec("probes", Incident)
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        units = Units("c000", spec, log, answered_by(OfflineWriter()), default_registry())
        for _ in range(2):
            with pytest.raises(Blocked):
                await units.run(kind, "abstention.candidates", work=fails)
    assert [unit.unit_key for unit in units.failed] == ["abstention.candidates"]


async def test_turns_that_were_left_out_are_asked_for_again_where_too_many_are_missing(
    spec: BenchmarkSpec, out: Path
) -> None:
    benchmark = create_benchmark(spec, out)
    mute = Spoiling(lambda call: "/dialogue/p0.s1/" in call.unit_key and call.role is Role.ASSISTANT, "")
    assert (await made(benchmark, mute)).finished == 0
    assert gaps_of(benchmark)["c000"] > 0.02

    summary = await run_inline(benchmark, answered_by(CountingModel()))
    assert (summary.finished, summary.failures, gaps_of(benchmark)) == (1, (), {})
