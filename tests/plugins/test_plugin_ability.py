"""An eleventh ability from another package: every command handles it, and no module of longbeam names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.installed import REPOSITORY, run_with

PLUGINS = Path(__file__).parent
SPEC = """
name = "made"
length = "16K"
abilities = ["first_value", "knowledge_update"]
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a benchmark that is generated with the ability."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "spec.toml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def told(out: Path) -> dict[str, str]:
    """What commands with the package printed: generated, exported in each format, validated and evaluated."""
    formats = ("jsonl", "beam", "locomo", "longmemeval")
    commands = [
        ["generate", str(out / "spec.toml"), "--runner", "inline"],
        *(["export", "made", "--format", name, "--to", str(out / name)] for name in formats),
        ["validate", "made", "--json"],
        ["evaluate", "made", "--system", "long_context", "--json"],
    ]
    ran = run_with([PLUGINS], *([*command, "--out", str(out)] for command in commands))
    assert [r.code for r in ran] == [0] * len(commands), ran
    return {"validate": ran[-2].out, "evaluate": ran[-1].out}


def probes(out: Path) -> list[dict[str, Any]]:
    """Return the probes of the ability, as the JSONL export has them."""
    lines = (out / "jsonl" / "probes.jsonl").read_text().splitlines()
    return [probe for probe in map(json.loads, lines) if probe["ability"] == "first_value"]


def test_its_probes_are_generated_and_exported(out: Path, told: dict[str, str]) -> None:
    first, second = probes(out)

    assert {first["probe_id"].partition(".")[0], second["probe_id"].partition(".")[0]} == {"first_value"}
    assert first["question"].startswith("What was the ")
    assert {e["part"] for e in first["evidence"]} == {"original", "updated"}
    (file,) = (out / "beam").rglob("probing_questions.json")
    assert [item["question"] for item in json.loads(file.read_text())["first_value"]] == [
        first["question"],
        second["question"],
    ]


def test_it_has_its_own_name_in_formats_for_which_its_record_names_none(out: Path, told: dict[str, str]) -> None:
    asked = json.loads((out / "locomo" / "locomo10.json").read_text())[0]["qa"]
    assert [q["category"] for q in asked if q["longbeam"]["ability"] == "first_value"] == ["first_value"] * 2
    listed = json.loads((out / "longmemeval" / "longmemeval_s_cleaned.json").read_text())
    types = [q["question_type"] for q in listed if q["longbeam"]["ability"] == "first_value"]
    assert types == ["knowledge-update"] * 2


def test_its_own_check_runs_and_no_check_finds_an_error(told: dict[str, str]) -> None:
    found = json.loads(told["validate"])

    assert [f for f in found if f["severity"] == "error"] == []
    assert sum(f["check"] == "first_value.changed_to" for f in found) == 2


def test_its_review_item_has_its_panel(out: Path, told: dict[str, str]) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(PLUGINS)])}
    line = [sys.executable, "-m", "longbeam", "review", "made", "--port", "0", "--out", str(out)]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as server:
        try:
            assert server.stdout is not None
            base = server.stdout.readline().split()[1].rstrip("/")
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            who = json.dumps({"reviewer_id": "ann", "role": "annotator"}).encode()
            browser.open(urllib.request.Request(f"{base}/api/session", who, {"Content-Type": "application/json"}))
            queue = json.load(browser.open(f"{base}/queue.json?ability=first_value"))
            item = json.load(browser.open(f"{base}/items/{queue['rows'][0]['item_id']}.json"))
            panel = json.load(browser.open(f"{base}/items/{item['item_id']}/panel.json"))
        finally:
            server.terminate()

    assert (queue["total"], item["ability"], item["ability_title"]) == (2, "first_value", "first value")
    assert (item["panel"]["name"], panel["ability"]) == ("first_value", "first_value")
    assert [piece["role"] for piece in item["evidence"]] == ["old value", "new value"]


def test_its_answers_are_judged_by_its_scorer(told: dict[str, str]) -> None:
    scores = {row["system"]: row["by_ability"]["first_value"] for row in json.loads(told["evaluate"])["rows"]}

    assert (scores["gold"], scores["blank"]) == (1.0, 0.0)
    assert scores["long_context"] in {0.0, 0.5, 1.0}  # two probes, each right or wrong as a whole


def test_without_its_package_a_spec_is_refused_and_a_finished_benchmark_still_opens(
    out: Path, told: dict[str, str], tmp_path: Path
) -> None:
    generate = ["generate", str(out / "spec.toml"), "--out", str(tmp_path)]
    refused, validated = run_with([], generate, ["validate", "made", "--json", "--out", str(out)])

    assert refused.code == 2
    assert "abilities: 'first_value' is unknown; there are abstention, contradiction_resolution, " in refused.err
    assert len(refused.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []  # nothing is asked
    assert [f for f in json.loads(validated.out) if f["severity"] == "error"] == []
