"""One plug-in of each kind, as docs/plugins.md has them: found by its entry point and used by the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.plugins.installed import EXAMPLES, Ran, run_with, write_examples


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's modules, installed as one package, and a benchmark that its domain seeds."""
    folder = tmp_path_factory.mktemp("site")
    groups = set(re.findall(r"`(longbeam\.\w+)` \|", EXAMPLES))
    assert groups == set(re.findall(r'entry-points\."([\w.]+)"', EXAMPLES))
    write_examples(folder, *groups - {"longbeam.abilities"})
    generate = ["generate", "--domain", "beekeeping", "--name", "bees", "--length", "16K", "--runner", "inline"]
    (generated,) = run_with([folder], generate, cwd=folder)
    assert generated.code == 0, generated.err
    return folder


@pytest.fixture(scope="module")
def told(site: Path) -> dict[str, Ran]:
    """What each command of the tests below said; one process imports for all of them."""
    quoted = ["evaluate", "bees", "--system", "newest", "--reader", "quoter:three", "--json"]
    reranked = ["evaluate", "bees", "--system", "cogcanvas", "--set", "cogcanvas.reranker=shortest", "--json"]
    embedded = ["evaluate", "bees", "--system", "rag", "--embedder", "letters:small", "--json"]
    commands = {
        "show": ["show", "bees"],
        "both": ["generate", "--domain", "beekeeping", "--domain", "cooking", "--name", "both"],
        "export": ["export", "bees", "--format", "questions", "--to", "questions"],
        "import": ["import", "questions", "questions", "--name", "back"],
        "export --help": ["export", "--help"],
        "import --help": ["import", "--help"],
        "validate": ["validate", "bees", "--json"],
        "quoted": quoted,
        "reranked": reranked,
        "embedded": embedded,
        "retrieved": ["evaluate", "bees", "--system", "rag", "--set", "rag.retriever=trigrams", "--json"],
        "unknown retriever": ["evaluate", "bees", "--system", "rag", "--set", "rag.retriever=nothing"],
    }
    return dict(zip(commands, run_with([site], *commands.values(), cwd=site), strict=True))


def test_the_page_names_the_ability_that_is_tested() -> None:
    points = (Path(__file__).parent / "longbeam_first_value-1.0.dist-info" / "entry_points.txt").read_text()
    (named,) = re.findall(r'\[project\.entry-points\."longbeam\.abilities"\]\n(\w+) = "([\w:]+)"', EXAMPLES)
    assert "[longbeam.abilities]\n{} = {}".format(*named) in points


def test_a_domain_seeds_a_benchmark(told: dict[str, Ran]) -> None:
    assert "First year with two hives" in told["show"].out


def test_a_domain_stands_alone(told: dict[str, Ran]) -> None:
    assert told["both"].code == 2
    assert "domains: 'beekeeping' is of another package; name no other domain" in told["both"].err


def test_a_format_writes_an_export(site: Path, told: dict[str, Ran]) -> None:
    assert told["export"].code == 0
    assert (site / "questions" / "questions.txt").read_text().count("\t") == 20
    assert json.loads((site / "questions" / "manifest.json").read_text())["format"] == "questions"
    assert told["import"].code == 2
    assert "format 'questions' cannot be imported" in told["import"].err


@pytest.mark.parametrize("command", ["export", "import"])
def test_help_lists_the_formats_of_plug_ins(told: dict[str, Ran], command: str) -> None:
    assert "of other packages: questions." in " ".join(told[f"{command} --help"].out.split())


def test_a_check_runs(told: dict[str, Ran]) -> None:
    found = json.loads(told["validate"].out)
    assert {f["severity"] for f in found if f["check"] == "long_question.long"} == {"warning"}


def test_a_memory_and_a_model_are_evaluated(site: Path, told: dict[str, Ran]) -> None:
    shown = json.loads(told["quoted"].out)
    assert shown["run"]["reader"] == "quoter:three"
    scores = {row["system"]: row["score"] for row in shown["rows"]}
    assert scores["newest"] < scores["evidence"]


def test_a_retriever_is_a_setting_of_a_system(told: dict[str, Ran]) -> None:
    shown = json.loads(told["retrieved"].out)
    (row,) = (row for row in shown["rows"] if row["system"] == "rag[retriever=trigrams]")
    assert row["recall"] > 0
    assert told["unknown retriever"].code == 2
    assert "there are bm25, dense, hybrid, splade:NAME, trigrams" in told["unknown retriever"].err


def test_a_reranker_is_a_setting_of_a_system(told: dict[str, Ran]) -> None:
    shown = json.loads(told["reranked"].out)
    assert "cogcanvas[reranker=shortest]" in {row["system"] for row in shown["rows"]}


def test_an_embedder_makes_the_vectors_of_a_system(told: dict[str, Ran]) -> None:
    shown = json.loads(told["embedded"].out)
    assert shown["run"]["settings"]["embedder"] == "letters:small"
    assert next(row for row in shown["rows"] if row["system"].startswith("rag["))["recall"] > 0


def test_a_name_that_longbeam_has_is_refused(site: Path, tmp_path: Path) -> None:
    info = tmp_path / "longbeam_twice-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: longbeam-twice\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[longbeam.formats]\njsonl = example_format:FORMAT\n")
    export = ["export", "bees", "--to", str(tmp_path / "x"), "--format", "beam"]
    (ran,) = run_with([tmp_path, site], export, cwd=site)
    assert ran.code == 2
    assert "formats: 'jsonl' is built in, and example_format:FORMAT registers it again; rename it" in ran.err
