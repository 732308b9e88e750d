"""Estimates against runs: before one begins, while it goes on, and in `status`; the cap stops a run cleanly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import longbeam
from longbeam.generators import CALIBRATION_PROMPT
from longbeam.models import CostMeter, ModelCall, Prices, cost_of, load_tokenizer, prices_of
from longbeam.offline import OfflineWriter
from longbeam.offline.loopback import ServerSettings, answer
from longbeam.pipeline import benchmark_status, render_status
from longbeam.pipeline.cost import (
    Outlook,
    Rehearsal,
    estimate_of,
    forecast,
    is_worth_rehearsing,
    outlook_line,
    rehearsal_of,
    rehearse,
    render_estimate,
    short_contexts,
    stored_outlook,
)
from longbeam.pipeline.run import journalled_usage, run_inline
from longbeam.schemas import BenchmarkSpec, Checks, Endpoint, ModelReply, TurnWriting, Usage
from longbeam.store import create_benchmark
from longbeam.wiring import services
from tests.wired import answered_by

PRICE = {"input": 0.4, "cached": 0.1, "output": 1.6}


@pytest.fixture(scope="module")
def paid() -> BenchmarkSpec:
    return BenchmarkSpec.model_validate(
        {
            "name": "paid",
            "length": 16_000,
            "domains": ["trip_planning"],
            "models": {"default": "openai:m"},
            "endpoints": {"openai:m": {"price": PRICE, "sends_extras": True}},
        }
    )


@pytest.fixture(scope="module")
def rehearsal(paid: BenchmarkSpec) -> Rehearsal:
    return asyncio.run(rehearse(paid, services()))


@dataclass
class Scaled:
    """Answers as the loopback server does, with its token counts."""

    settings: ServerSettings = field(default_factory=ServerSettings)
    writer: OfflineWriter = field(default_factory=OfflineWriter)
    asked: int = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        self.asked += 1
        await asyncio.sleep(0)
        count = load_tokenizer("o200k_base").count
        text = answer(self.writer, call, self.settings)
        prompt = sum(count(m.content) + 4 for m in call.messages())
        return ModelReply(text=text, prompt_tokens=prompt, output_tokens=count(text))


def _sum(rows: Iterable[Usage], name: str) -> int:
    return sum(getattr(row, name) for row in rows)


def test_a_rehearsal_is_the_same_whoever_is_to_answer(rehearsal: Rehearsal) -> None:
    # A language model's text is checked by models, which is priced, too: here it is not.
    values = {"name": "paid", "length": 16_000, "domains": ["trip_planning"], "checks": {"model": False}}
    others = BenchmarkSpec.model_validate({**values, "models": {"default": "offline", "assistant": "vllm:n"}})

    def asked(made: Rehearsal) -> list[tuple[object, ...]]:
        return [(u.stage, u.role, u.prompt_id, u.calls, u.output_tokens) for u in made.usage]

    assert asked(asyncio.run(rehearse(others, services()))) == asked(rehearsal)


def test_the_checks_of_what_language_models_write_are_priced(paid: BenchmarkSpec, rehearsal: Rehearsal) -> None:
    judge = {"openai:judge": Endpoint.model_validate({"price": PRICE})}
    models = {"default": "openai:m", "checker": "openai:judge"}
    changes = {"models": models, "endpoints": {**paid.endpoints, **judge}, "checks": Checks(model=True)}
    checked = asyncio.run(rehearse(paid.model_copy(update=changes), services()))
    rows = [row for row in checked.usage if row.stage == "checks"]
    assert {row.role for row in rows} == {"checker"}
    assert {row.model for row in rows} == {"openai:judge"}
    # 20 probes in batches of seven, and those in whose place another one came: two readings, a critic and marks each
    calls = {row.prompt_id: row.calls for row in rows if row.prompt_id not in (CALIBRATION_PROMPT, "judge_nugget")}
    assert set(calls) == {"guess_answers", "read_passages", "criticise_probes", "mark_answers"}
    assert 3 <= calls["criticise_probes"] <= 8
    assert calls["read_passages"] >= 2 * calls["criticise_probes"]
    assert not [row for row in rehearsal.usage if row.stage == "checks"]
    table = estimate_of(paid.model_copy(update=changes), checked)
    assert [row.cost_usd for row in table.rows if row.stage == "checks" and row.cost_usd] != []


def test_the_judging_of_wordings_is_priced(paid: BenchmarkSpec, rehearsal: Rehearsal) -> None:
    checked = asyncio.run(
        rehearse(paid.model_copy(update={"checks": Checks(model=True, least_accuracy=0)}), services())
    )
    rows = {(row.stage, row.prompt_id): row for row in checked.usage if row.role == "checker"}
    assert ("checks", CALIBRATION_PROMPT) not in rows  # no checker is calibrated that may always object
    judged = rows["user_turns", "check_entailment"]
    turns = next(row.calls for row in rehearsal.usage if row.prompt_id == "assistant_reply")
    assert 1 <= judged.calls <= turns  # one for every eighth message that voices a bullet
    assert 300 < judged.prompt_tokens / judged.calls < 600  # about 417 for a message of the recorded run
    assert not [row for row in rehearsal.usage if row.role == "checker"]


def test_the_judging_of_messages_that_are_worded_in_the_dialogue_is_priced(paid: BenchmarkSpec) -> None:
    changes = {"checks": Checks(model=True, least_accuracy=0), "turns": TurnWriting.IN_DIALOGUE}
    checked = asyncio.run(rehearse(paid.model_copy(update=changes), services()))
    calls = {row.stage: row.calls for row in checked.usage if row.prompt_id == "check_entailment"}
    assert (
        calls["dialogue"] >= calls["user_turns"] > 0
    )  # more where the rules are in doubt about what is said when it is due


async def test_estimate_is_what_a_run_uses_that_is_answered_alike(
    paid: BenchmarkSpec, rehearsal: Rehearsal, tmp_path: Path
) -> None:
    meter = CostMeter(Scaled(), paid)
    await run_inline(create_benchmark(paid, tmp_path), answered_by(meter))
    used = meter.usage()
    assert _sum(rehearsal.usage, "calls") == pytest.approx(_sum(used, "calls"), rel=0.1)
    for name in ("prompt_tokens", "output_tokens"):
        assert _sum(rehearsal.usage, name) == pytest.approx(_sum(used, name), rel=0.15)


async def test_the_outlook_of_a_run_becomes_what_it_used(
    paid: BenchmarkSpec, rehearsal: Rehearsal, tmp_path: Path
) -> None:
    meter = CostMeter(Scaled(ServerSettings(reply_factor=2.0)), paid)
    seen: list[list[Usage]] = []

    class Noting:
        async def complete(self, call: ModelCall) -> ModelReply:
            reply = await meter.complete(call)
            seen.append(meter.usage())
            return reply

    await run_inline(create_benchmark(paid, tmp_path), answered_by(Noting()))
    half = forecast(rehearsal, seen[len(seen) // 2])
    assert all(row.calls >= u.calls for u in seen[len(seen) // 2] for row in half if row.key == u.key)
    assert forecast(rehearsal, []) == tuple(sorted(rehearsal.usage, key=lambda row: row.key))
    ended = {row.key: row for row in forecast(rehearsal, seen[-1])}
    for used in seen[-1]:
        before = next((row.calls for row in rehearsal.usage if row.key == used.key), 0)
        assert ended[used.key].calls == max(before, used.calls)


def test_calls_still_to_come_cost_more_and_more_what_those_of_the_run_did() -> None:
    def row(calls: int, output_tokens: int) -> Usage:
        return Usage(stage="plan", role="planner", prompt_id="p", model="m", calls=calls, output_tokens=output_tokens)

    made = Rehearsal(
        length=16_000, conversations=1, rehearsed=1, tokenizer="o200k_base", usage=(row(10, 1_000),), sizes=()
    )
    # A fifth of the calls took 200 each: the other eight take 0.8 * 100 + 0.2 * 200 = 120.
    assert forecast(made, [row(2, 400)]) == (row(10, 400 + 8 * 120),)
    assert forecast(made, [row(12, 2_400)]) == (row(12, 2_400),)


RECORDED = {"home16": ("home_real_estate", 7, 16_000), "coding32": ("coding", 0, 32_000)}


@pytest.mark.parametrize("name", RECORDED)
def test_what_recorded_runs_cost_lies_in_the_band(name: str) -> None:
    domain, seed, length = RECORDED[name]
    spec = BenchmarkSpec.model_validate(
        {
            "name": name,
            "seed": seed,
            "length": length,
            "domains": [domain],
            "models": {"default": "openai:m"},
            "endpoints": {"openai:m": {"price": {"input": 0.4, "output": 1.6}}},  # nobody counted cached tokens
        }
    )
    journal = json.loads((Path(longbeam.__file__).parent / "samples" / name / "journal.json").read_text("utf-8"))
    cost = sum(row["prompt_tokens"] * 0.4 + row["output_tokens"] * 1.6 for row in journal["used"]) / 1e6
    band = estimate_of(spec, asyncio.run(rehearse(spec, services()))).band
    assert band.low_usd is not None
    assert band.high_usd is not None
    assert band.low_usd < cost < band.high_usd


def test_large_specs_are_rehearsed_in_part_and_scaled(paid: BenchmarkSpec, rehearsal: Rehearsal) -> None:
    many = rehearsal.model_copy(update={"conversations": 100})
    text = render_estimate(estimate_of(paid.model_copy(update={"conversations": 100}), many))
    assert "from an offline rehearsal of the first 1, scaled" in text.splitlines()[0]


def test_estimate_adds_up_and_says_what_has_no_price(paid: BenchmarkSpec, rehearsal: Rehearsal) -> None:
    estimate = estimate_of(paid, rehearsal)
    assert [row.stage for row in estimate.rows][:3] == ["persona", "plan", "user_turns"]
    total = estimate.total
    fresh = total.prompt_tokens - total.cached_tokens
    assert total.calls == sum(row.calls for row in estimate.rows)
    # $0.40, $0.10 and $1.60 per million
    assert total.cost_usd == pytest.approx((fresh * 0.4 + total.cached_tokens * 0.1 + total.output_tokens * 1.6) / 1e6)
    assert estimate.band.low_usd == pytest.approx(0.75 * (total.cost_usd or 0))
    assert f"Expect {estimate.band.text}: " in render_estimate(estimate)
    assert "sealed with at most 2.0% of its parts missing ([checks] gap_share)" in render_estimate(estimate)
    unpriced = estimate_of(paid.model_copy(update={"endpoints": {}}), rehearsal)
    assert (unpriced.total.cost_usd, unpriced.unpriced_models) == (None, ("openai:m",))
    assert "No price is known of openai:m" in render_estimate(unpriced)


async def test_cap_stops_the_run_cleanly_and_raising_it_goes_on(paid: BenchmarkSpec, tmp_path: Path) -> None:
    capped = paid.model_copy(update={"limits": paid.limits.model_copy(update={"max_cost_usd": 0.2})})
    first = Scaled()
    benchmark = create_benchmark(capped, tmp_path)
    summary = await run_inline(benchmark, answered_by(CostMeter(first, capped, before=journalled_usage(benchmark))))
    assert (summary.finished, summary.failures) == (0, ())
    assert summary.stopped.startswith("limits.max_cost_usd = 0.2 is reached")
    status = benchmark_status(benchmark)
    assert status.failed_units == 0
    spent = sum(row.cost_usd or 0.0 for row in status.used)
    assert 0.15 < spent <= 0.2
    assert sum(row.calls for row in status.used) == first.asked

    benchmark = create_benchmark(paid, tmp_path)
    second = Scaled()
    meter = CostMeter(second, paid, before=journalled_usage(benchmark))
    summary = await run_inline(benchmark, answered_by(meter))
    assert (summary.finished, summary.stopped) == (1, "")
    assert meter.spent_usd > 0.2
    assert sum(row.calls for row in benchmark_status(benchmark).used) == first.asked + second.asked


async def test_status_shows_what_was_used_and_what_is_expected(
    paid: BenchmarkSpec, rehearsal: Rehearsal, tmp_path: Path
) -> None:
    from longbeam.pipeline.cost import outlook as module

    cost = cost_of(prices_of(paid), rehearsal.usage)
    assert cost is not None
    cap = 0.8 * cost  # the run stops before its end
    capped = paid.model_copy(update={"limits": paid.limits.model_copy(update={"max_cost_usd": cap})})
    benchmark = create_benchmark(capped, tmp_path)
    kept = await asyncio.to_thread(module.rehearsal_of, benchmark, services())
    outlook = Outlook(benchmark, CostMeter(Scaled(), capped), kept)
    assert "expected: about" in outlook.line()
    assert "about $0." in module.unfit_cap(outlook)
    await run_inline(benchmark, answered_by(outlook.meter))
    outlook.save()
    text = render_status(benchmark_status(benchmark), ("dialogue",))
    assert "used so far" in text
    assert "expected in all: " in text
    assert " left" in text.splitlines()[-1]
    outlook.close()
    ended = render_status(benchmark_status(benchmark), ("dialogue",)).splitlines()[-1]
    assert text.splitlines()[-1].startswith(ended)  # the totals are the same, but nobody works on them
    assert " left" not in ended
    left = outlook.calls_left()
    assert left is not None
    assert sum(left.values()) > 0
    # The second time it is read, not made.
    assert await asyncio.to_thread(module.rehearsal_of, benchmark, services()) == kept


async def test_a_kept_rehearsal_lasts_until_something_changes_that_it_depends_on(
    paid: BenchmarkSpec, tmp_path: Path
) -> None:
    benchmark = create_benchmark(paid, tmp_path)
    kept = await asyncio.to_thread(rehearsal_of, benchmark, services())

    def stored(**changes: object) -> tuple[Usage, ...]:
        endpoint = Endpoint.model_validate({"price": PRICE, "sends_extras": True, **changes})
        spec = paid.model_copy(update={"endpoints": {"openai:m": endpoint}})
        return stored_outlook(replace(benchmark, spec=spec), [])[0]

    # With 16,384 tokens of context a dialogue is folded at 9,000, as without a limit; with 8,192 at 2,827.
    for unrelated in ({"base_url": "http://127.0.0.1:8000/v1"}, {"limits": {"concurrency": 9}}, {"context": 16_384}):
        assert stored(**unrelated) == kept.usage
    assert stored(context=8_192) == ()
    assert stored(sends_extras=False) == ()  # models now check what is written


def test_outlook_line_of_a_run_that_has_not_begun_says_what_is_expected() -> None:
    row = Usage(
        stage="plan", role="planner", prompt_id="p", model="openai:m", calls=2, prompt_tokens=900, output_tokens=100
    )
    assert outlook_line(Prices(BenchmarkSpec(name="x"), ["openai:m"]), [], [row]) == "expected: about 1,000 tokens"


def test_outlook_line_says_tokens_alone_without_a_price() -> None:
    row = Usage(
        stage="plan", role="planner", prompt_id="outline", model="openai:m", prompt_tokens=900, output_tokens=100
    )
    assert outlook_line(Prices(BenchmarkSpec(name="x"), ["openai:m"]), [row], []) == "used 1,000 tokens"
    spec = BenchmarkSpec.model_validate({"name": "x", "endpoints": {"openai:m": {"price": {"input": 1.0}}}})
    assert outlook_line(prices_of(spec), [row], [row]) == "used 1,000 tokens, $0.0009 of about 1,000 tokens, $0.0009"


def test_calls_beyond_a_context_are_told_in_one_line_beforehand(paid: BenchmarkSpec, rehearsal: Rehearsal) -> None:
    assert short_contexts(paid, rehearsal) == []  # nobody says how long the context is
    short = paid.model_copy(update={"endpoints": {"openai:m": Endpoint(context=3_000)}})
    (line,) = short_contexts(short, rehearsal)
    sizes = {s.prompt_id: [round(n * 1.2) for n in s.sizes] for s in rehearsal.sizes}
    beyond = sum(n > 3_000 for found in sizes.values() for n in found)
    calls = sum(map(len, sizes.values()))
    assert line.startswith(f"openai:m: about {beyond} of {calls} calls do not fit into its context of 3,000 tokens: ")
    assert f"assistant_reply (up to {max(sizes['assistant_reply']):,})" in line
    assert line.count(" (up to ") == 3
    assert render_estimate(estimate_of(short, rehearsal)).endswith(f"{line}\n")
    roomy = paid.model_copy(update={"endpoints": {"openai:m": Endpoint(context=32_768)}})
    assert short_contexts(roomy, rehearsal) == []


def test_file_that_is_elsewhere_has_no_known_context(rehearsal: Rehearsal, tmp_path: Path) -> None:
    spec = BenchmarkSpec(name="x", models={"default": f"gguf:{tmp_path}/none.gguf"})
    assert short_contexts(spec, rehearsal) == []


def test_only_what_costs_something_is_rehearsed(paid: BenchmarkSpec) -> None:
    assert is_worth_rehearsing(paid)
    assert not is_worth_rehearsing(BenchmarkSpec(name="x"))
    served = {"openai:m": {"sends_extras": True}}
    spec = BenchmarkSpec.model_validate({"name": "x", "models": {"default": "openai:m"}, "endpoints": served})
    assert not is_worth_rehearsing(spec)
