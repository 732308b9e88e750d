"""One plug-in of each kind, as docs/plugins.md has them: found by its entry point and used by the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from longbeam.evaluation import last_results

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "plugins.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's modules, installed as one package, and a benchmark that its domain seeds."""
    folder = tmp_path_factory.mktemp("site")
    for name, code in re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE, re.DOTALL):
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    (seeds,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (folder / "beekeeping.json").write_text(seeds, encoding="utf-8")
    info = folder / "longbeam_example-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: longbeam-example\nVersion: 1.0\n")
    points = re.findall(r'\[project\.entry-points\."([\w.]+)"\]\n(\w+) = "([\w:]+)"', PAGE)
    assert {group for group, _, _ in points} == set(re.findall(r"`(longbeam\.\w+)` \|", PAGE))
    lines = [f"[{group}]\n{name} = {value}\n" for group, name, value in points if group != "longbeam.abilities"]
    (info / "entry_points.txt").write_text("".join(lines))
    done(folder, "generate", "--domain", "beekeeping", "--name", "bees", "--length", "16K", "--runner", "inline")
    return folder


def longbeam(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(site)])}
    line = [sys.executable, "-m", "longbeam", *arguments]
    return subprocess.run(line, cwd=site, env=environment, capture_output=True, text=True, check=False)


def done(site: Path, *arguments: str) -> str:
    ran = longbeam(site, *arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_page_names_the_ability_that_is_tested() -> None:
    points = (Path(__file__).parent / "longbeam_first_value-1.0.dist-info" / "entry_points.txt").read_text()
    (named,) = re.findall(r'\[project\.entry-points\."longbeam\.abilities"\]\n(\w+) = "([\w:]+)"', PAGE)
    assert "[longbeam.abilities]\n{} = {}".format(*named) in points


def test_a_domain_seeds_a_benchmark(site: Path) -> None:
    assert "First year with two hives" in done(site, "show", "bees")


def test_a_domain_stands_alone(site: Path) -> None:
    ran = longbeam(site, "generate", "--domain", "beekeeping", "--domain", "cooking", "--name", "both")
    assert ran.returncode == 2
    assert "domains: 'beekeeping' is of another package; name no other domain" in ran.stderr


def test_a_format_writes_an_export(site: Path) -> None:
    done(site, "export", "bees", "--format", "questions", "--to", "questions")
    assert (site / "questions" / "questions.txt").read_text().count("\t") == 20
    assert json.loads((site / "questions" / "manifest.json").read_text())["format"] == "questions"
    ran = longbeam(site, "import", "questions", "questions", "--name", "back")
    assert (ran.returncode, "format 'questions' cannot be imported" in ran.stderr) == (2, True)


@pytest.mark.parametrize("command", ["export", "import"])
def test_help_lists_the_formats_of_plug_ins(site: Path, command: str) -> None:
    assert "of other packages: questions." in " ".join(done(site, command, "--help").split())


def test_a_check_runs(site: Path) -> None:
    found = json.loads(done(site, "validate", "bees", "--json"))
    assert {f["severity"] for f in found if f["check"] == "long_question.long"} == {"warning"}


def test_a_memory_and_a_model_are_evaluated(site: Path) -> None:
    options = ["--system", "newest", "--reader", "parrot:small"]
    told = json.loads(done(site, "evaluate", "bees", *options, "--json"))
    assert told["run"]["reader"] == "parrot:small"
    assert "newest" in {row["system"] for row in told["rows"]}
    answers = last_results(site / "output" / "bees" / "evaluation").read_text()
    assert "the budget is 900 euros" in answers


def test_a_retriever_is_a_setting_of_a_system(site: Path) -> None:
    told = json.loads(done(site, "evaluate", "bees", "--system", "rag", "--set", "rag.retriever=trigrams", "--json"))
    (row,) = (row for row in told["rows"] if row["system"] == "rag[retriever=trigrams]")
    assert row["recall"] > 0
    ran = longbeam(site, "evaluate", "bees", "--system", "rag", "--set", "rag.retriever=nothing")
    assert ran.returncode == 2
    assert "there are bm25, dense, hybrid, splade:NAME, trigrams" in ran.stderr


def test_a_reranker_is_a_setting_of_a_system(site: Path) -> None:
    options = ["--system", "cogcanvas", "--set", "cogcanvas.reranker=shortest"]
    told = json.loads(done(site, "evaluate", "bees", *options, "--json"))
    assert "cogcanvas[reranker=shortest]" in {row["system"] for row in told["rows"]}


def test_a_name_that_longbeam_has_is_refused(site: Path, tmp_path: Path) -> None:
    info = tmp_path / "longbeam_twice-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: longbeam-twice\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[longbeam.formats]\njsonl = example_format:FORMAT\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(tmp_path), str(site)])}
    line = [sys.executable, "-m", "longbeam", "export", "bees", "--to", str(tmp_path / "x"), "--format", "beam"]
    ran = subprocess.run(line, cwd=site, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "formats: 'jsonl' is built in, and example_format:FORMAT registers it again; rename it" in ran.stderr
