"""A story is stopped when its plan is whole, and only its planning prompts are counted."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from benchmarks.plan_acceptance import TURNS, followed, main, options_of, planning_of, spec_of
from longbeam.cli import OK, run
from longbeam.schemas import BenchmarkSpec, Domain, Making, prompt_lines
from longbeam.store import create_benchmark


def test_a_story_has_its_own_seed_and_the_server_that_is_named() -> None:
    options = options_of(["openai:m", "--server", "http://127.0.0.1:1/v1", "--domains", "sport", "--context", "8192"])
    text = spec_of(options, "plan-sport", Domain.SPORT, 63)
    spec = BenchmarkSpec.model_validate(tomllib.loads(text))
    assert (spec.name, spec.seed, spec.domains) == ("plan-sport", 63, (Domain.SPORT,))
    assert spec.endpoint_for("openai:m").base_url == "http://127.0.0.1:1/v1"
    assert spec.endpoint_for("openai:m").context == 8_192


def test_a_story_is_stopped_at_the_first_word_behind_its_plan() -> None:
    lines = [
        "plan-sport: expected: about 603,869 tokens\n",
        "c000 persona: 2/2 units, 6 calls; all: used 7,912 tokens of about 758,693 tokens\n",
        "c000 plan: 3/3 units, 40 calls; all: used 90,000 tokens of about 758,693 tokens\n",
        "c000 user_turns: 0/2 units, 41 calls; all: used 92,000 tokens of about 758,693 tokens\n",
        "c000 dialogue: 0/2 units, 90 calls; all: used 192,000 tokens of about 758,693 tokens\n",
    ]
    stops: list[str] = []
    assert followed(lines, lambda: stops.append("stop")) == "plan whole (c000 plan: 3/3 units, 40 calls)"
    assert stops == ["stop"]


def test_a_story_whose_time_is_over_says_how_far_it_came() -> None:
    lines = ["c000 plan: 1/3 units, 14 calls; all: used 90,000 tokens\n", "stopped; nothing is lost\n"]
    assert followed(lines, lambda: None) == "c000 plan: 1/3 units, 14 calls"
    assert followed([], lambda: None) == "nothing done"


def test_turns_that_were_begun_are_not_counted(tmp_path: Path) -> None:
    arguments = ["generate", "--name", "plan-sport", "--length", "16K", "--runner", "inline", "--out", str(tmp_path)]
    assert run(arguments) == OK
    prompts = {line.prompt_id for line in prompt_lines([planning_of("plan-sport", tmp_path)])}
    assert {"outline", "sub_plan"} <= prompts
    assert TURNS not in prompts


def test_a_run_that_ends_by_itself_says_where_its_reason_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plans"
    main(["openai:m", "--server", "no address", "--domains", "sport", "--out", str(out)])
    log = out / "plan-sport.log"
    assert f"nothing done; ended by itself, see {log}" in capsys.readouterr().out
    assert "base_url" in log.read_text()


def test_a_story_without_a_call_is_none(tmp_path: Path) -> None:
    create_benchmark(BenchmarkSpec(name="plan-sport", length=16_000, domains=(Domain.SPORT,)), tmp_path)
    assert planning_of("plan-sport", tmp_path) == Making()
