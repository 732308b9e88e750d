"""Model-backed checks: silent on a clean benchmark, each shown to fire, asked once, durable, repaired."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, USER_ERROR, run
from longbeam.evaluation import SEVERITIES
from longbeam.pipeline import benchmark_status, check_and_store
from longbeam.pipeline.evaluate import checking_spec, run_model_checks, stored_model_findings
from longbeam.pipeline.repair import repair
from longbeam.pipeline.run import run_inline
from longbeam.schemas import BenchmarkSpec, Message, Nugget, Probe
from longbeam.store import Benchmark, SealedConversation, create_benchmark, seal_conversation, write_spec
from tests.pipeline.conftest import CountingModel
from tests.wired import answered_by, offline

Planted = tuple[Probe, list[Message]]
Fault = Callable[[Probe, list[Message]], Planted]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A benchmark without a fault; to be copied before anything is planted."""
    spec = BenchmarkSpec.model_validate({"name": "short", "seed": 5, "length": "16K", "domains": ["cooking"]})
    benchmark = create_benchmark(spec, tmp_path_factory.mktemp("clean"))
    asyncio.run(run_inline(benchmark, offline()))
    return benchmark


@pytest.fixture
def benchmark(clean: Benchmark, out: Path) -> Benchmark:
    """A copy of it."""
    shutil.copytree(clean.root, out / "short")
    return Benchmark(clean.spec, out / "short")


def plant(benchmark: Benchmark, faults: dict[str, Fault]) -> None:
    """Put faults into probes, or into what is said about them."""
    path = benchmark.sealed_path("c000")
    with SealedConversation(path) as sealed:
        messages, probes = list(sealed.messages()), list(sealed.probes())
        for i, probe in enumerate(probes):
            if probe.probe_id in faults:
                probes[i], messages = faults[probe.probe_id](probe, messages)
        seal_conversation(path, sealed.head, messages, probes)


def selected(benchmark: Benchmark) -> list[str]:
    """The selected probes, by ability."""
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        return [p.probe_id for p in sealed.probes() if p.is_selected]


def other_evidence(probe: Probe, messages: list[Message]) -> Planted:
    """Cite what has nothing to do with the answer."""
    said = next(m for m in messages if m.role == "user" and not m.bullet_ids)
    moved = tuple(e.model_copy(update={"message_key": said.message_key, "quote": said.content}) for e in probe.evidence)
    return probe.model_copy(update={"evidence": moved}), messages


def given_away(probe: Probe, messages: list[Message]) -> Planted:
    """Say the answer in the question."""
    return probe.model_copy(update={"question": f"{probe.gold_answer} Is that so?"}), messages


def changed_later(probe: Probe, messages: list[Message]) -> Planted:
    """Let the user say at the end that it is another value now."""
    question = "What is the budget of the garden party?"
    gold = "The budget of the garden party is $300."
    late = next(m for m in reversed(messages) if m.role == "user")
    said = late.model_copy(update={"content": "We moved the budget of the garden party to $450 last night."})
    planted = probe.model_copy(
        update={"question": question, "gold_answer": gold, "rubric": (Nugget(nugget_id="x", text=gold),)}
    )
    return planted, [said if m.message_key == late.message_key else m for m in messages]


async def found_by(benchmark: Benchmark, model: CountingModel) -> list[tuple[str, str]]:
    spec = checking_spec(benchmark.spec, "offline")
    assert (await run_model_checks(benchmark, spec, answered_by(model))).failures == ()
    return [(f.check, f.subject) for f in stored_model_findings(benchmark)]


async def test_a_clean_benchmark_is_asked_once_with_one_request_a_probe(benchmark: Benchmark) -> None:
    first = CountingModel()
    found = await found_by(benchmark, first)
    # The rule-based reader errs on four of twenty: it retells no event of a summary, and finds one side of two alone.
    assert {subject.rpartition(".")[0] for _, subject in found} <= {"summarization", "contradiction_resolution"}
    assert len({subject for _, subject in found}) <= 4
    assert sum(first.calls.values()) == 13
    again = CountingModel()
    assert (await found_by(benchmark, again), again.calls) == (found, {})


async def test_planted_faults_are_found(benchmark: Benchmark) -> None:
    probes = selected(benchmark)  # two of each of the ten abilities, in the order of their names
    extraction, second, update = (probes[i] for i in (6, 7, 10))
    plant(benchmark, {extraction: other_evidence, second: given_away, update: changed_later})
    found = set(await found_by(benchmark, CountingModel()))
    assert found >= {("gate.guessed", second), ("gate.nothing", update)}
    assert {("gate.nothing", extraction), ("gate.evidence", extraction)} & found


async def test_findings_stay_with_the_probe_and_repair_mends_them(benchmark: Benchmark) -> None:
    probe_id = selected(benchmark)[6]
    plant(benchmark, {probe_id: given_away})
    await found_by(benchmark, CountingModel())
    # a plain `validate` lists them again, beside what rules find
    assert ("gate.guessed", probe_id) in {(f.check, f.subject) for f in check_and_store(benchmark)}
    assert all("[lexical rules, no language model]" in f.message for f in stored_model_findings(benchmark))
    usage = [row.calls for row in benchmark_status(benchmark).used if row.stage == "checks"]
    assert sum(usage) >= 13
    report = await repair(benchmark, answered_by(CountingModel()))
    assert report.left == ()
    assert stored_model_findings(benchmark) == []


async def test_repair_acts_on_a_probe_that_another_message_changes(benchmark: Benchmark) -> None:
    probe_id = selected(benchmark)[10]
    plant(benchmark, {probe_id: changed_later})
    assert ("gate.nothing", probe_id) in await found_by(benchmark, CountingModel())
    report = await repair(benchmark, answered_by(CountingModel()))
    assert [line for line in report.done if probe_id in line] != []
    assert report.conversations == ("c000",)
    assert stored_model_findings(benchmark) == []


async def test_a_failed_batch_is_reported_and_asked_again(benchmark: Benchmark) -> None:
    spec = checking_spec(benchmark.spec, "offline")
    spoilt = CountingModel(spoil="/checks/gate/")
    ended = await run_model_checks(benchmark, spec, answered_by(spoilt))
    assert len(ended.failures) == 1, "without guesses nothing is read"
    model = CountingModel()
    assert (await run_model_checks(benchmark, spec, answered_by(model))).failures == ()
    assert sum(model.calls.values()) == 13


def test_the_command_asks_once_and_refuses_to_judge_what_it_did_not_write(
    benchmark: Benchmark, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(benchmark, {selected(benchmark)[6]: given_away})
    assert run(["validate", "short", "--model-checks", "--out", str(out)]) == INCOMPLETE
    printed = capsys.readouterr()
    units, calls = re.findall(r"(\d+) units, (\d+) calls\n", printed.err)[-1]
    assert f"model-backed checks: {calls} model calls" in printed.err
    assert (int(units), int(calls)) == (4, 13), "guesses, and three batches of four requests for twenty probes"
    assert "gate.guessed" in printed.out
    assert run(["validate", "short", "--model-checks", "--out", str(out)]) == INCOMPLETE
    assert "model-backed checks: 0 model calls" in capsys.readouterr().err
    spec = benchmark.spec.model_copy(update={"models": {"default": "vllm:small"}})
    write_spec(benchmark.root, spec)
    assert run(["validate", "short", "--model-checks", "--model", "offline", "--out", str(out)]) == USER_ERROR
    assert "its lexical rules can judge nothing else; name a language model" in capsys.readouterr().err


def test_every_kind_of_fault_is_documented_with_its_severity() -> None:
    page = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
    for kind, severity in SEVERITIES.items():
        assert f"| `gate.{kind}` | {severity.value} |" in page
