"""Conversations that `resume` leaves as they are, and those that it goes on with."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longbeam.pipeline.run import finished_conversations, open_meter, run_inline
from longbeam.prompts import PromptRegistry, default_registry
from longbeam.schemas import BenchmarkSpec
from longbeam.store import Benchmark, Failure, WorkLog, create_benchmark
from longbeam.wiring import services

PROMPTS = default_registry()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A benchmark of one finished conversation."""
    benchmark = create_benchmark(BenchmarkSpec(name="made", length=16_000), tmp_path_factory.mktemp("finished"))
    given = services()
    asyncio.run(run_inline(benchmark, given.models(open_meter(benchmark, given))))
    return benchmark


@pytest.fixture
def made(finished: Benchmark, tmp_path: Path) -> Benchmark:
    """A copy of the finished benchmark."""
    shutil.copytree(finished.root, tmp_path / "made")
    return replace(finished, root=tmp_path / "made")


def with_spec(benchmark: Benchmark, **changed: Any) -> Benchmark:
    return replace(benchmark, spec=BenchmarkSpec.model_validate({**benchmark.spec.model_dump(), **changed}))


def other_prompts() -> PromptRegistry:
    """Return the prompts of a version in which one has changed."""
    first, *others = PROMPTS
    return PromptRegistry([replace(first, version=first.version + 1), *others])


@pytest.mark.parametrize(
    "changed",
    [{}, {"limits": {"concurrency": 3}}, {"endpoints": {"openai:x": {"base_url": "http://127.0.0.1:9/v1"}}}],
    ids=["nothing", "limits", "an address"],
)
def test_a_finished_conversation_is_left_alone(made: Benchmark, changed: dict[str, Any]) -> None:
    assert finished_conversations(with_spec(made, **changed), PROMPTS) == {"c000"}
    assert finished_conversations(with_spec(made, **changed), other_prompts()) == {"c000"}


@pytest.mark.parametrize(
    "changed",
    [
        {"models": {"default": "openai:x"}},
        {"sampling": {"default": {"temperature": 0.1}}},
        {"abilities": ["abstention"]},
        {"checks": {"gap_share": 0.5}},
    ],
    ids=["a model", "a temperature", "the abilities", "the gaps that are allowed"],
)
def test_a_changed_spec_goes_on_with_it(made: Benchmark, changed: dict[str, Any]) -> None:
    assert finished_conversations(with_spec(made, **changed), PROMPTS) == frozenset()


def test_nothing_that_the_offline_writer_plans_is_refused(finished: Benchmark) -> None:
    with WorkLog.open(finished.work_path("c000")) as log:
        assert list(log.units.incidents()) == []


def test_a_conversation_with_a_failed_unit_goes_on_with_the_prompts_that_it_was_made_with(made: Benchmark) -> None:
    with WorkLog.open(made.work_path("c000")) as log:
        log.units.fail(
            "probes", "abstention.0", Failure(fingerprint="-", error_kind="timeout", error="no reply", attempts=3)
        )
    assert finished_conversations(made, PROMPTS) == frozenset()
    assert finished_conversations(made, other_prompts()) == {"c000"}


def test_a_conversation_that_an_earlier_version_finished_is_left_alone(made: Benchmark) -> None:
    with WorkLog.open(made.work_path("c000")) as log:
        log.meta_set("made_with", None)
    assert finished_conversations(made, PROMPTS) == {"c000"}


@pytest.mark.parametrize("file", ["sealed_path", "work_path"])
def test_a_damaged_file_is_no_finished_conversation(made: Benchmark, file: str) -> None:
    path: Path = getattr(made, file)("c000")
    path.write_bytes(b"damaged" * 1000)
    assert finished_conversations(made, PROMPTS) == frozenset()
