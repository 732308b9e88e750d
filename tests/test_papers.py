"""docs/papers.md says what the four papers have and where; its commands run: quick ones here, the others nightly.

`python -m tests.test_papers` writes the page from tests/papers.toml.
"""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from longbeam.abilities import Trait, abilities
from longbeam.cli import OK, run
from longbeam.schemas import ABILITIES, Domain
from tests.memory.cmv.lines import call, line, result, write_session
from tests.test_docs_commands import unknown_part

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "papers.md"
LISTED: dict[str, list[dict[str, str]]] = tomllib.loads((REPOSITORY / "tests" / "papers.toml").read_text("utf-8"))
ROWS = LISTED["row"]
INITIALS = {
    "IE": "information_extraction", "MR": "multi_session_reasoning", "KU": "knowledge_update",
    "TR": "temporal_reasoning", "ABS": "abstention", "CR": "contradiction_resolution", "EO": "event_ordering",
    "IF": "instruction_following", "PF": "preference_following", "SUM": "summarization",
}  # fmt: skip
COLUMNS = ("paper", "section", "what", "command", "where", "standing", "figure", "run")
HEAD = """# What the four papers have, and where it is

BEAM and LIGHT (arXiv 2510.27246), CogCanvas (2601.00821), cooperative paging (2604.12376) and CMV (2602.22402).
`python -m tests.test_papers` writes this page from `tests/papers.toml`, and a test compares them. *faithful*: as the
paper or its code has it; *better*: a fault of it is mended, and named. Commands marked `quick` run with every test,
`nightly` ones with `make nightly`, others say why not. In the commands `home16` is a [sample](samples.md); `facts`,
`canvas` and `agents` are [suites](suites.md); `ours16k` is that of [evaluation](evaluation.md#measured-offline);
`sessions` is a folder of session files; `beam.toml` has the name `beam` and a table `[composition]`.

"""


def page() -> str:
    """Return the text of docs/papers.md."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    for row in ROWS:
        shown = {
            **row,
            "command": f"`{row['command']}`" if row["command"] else "–",
            "where": _link(row["where"]),
            "figure": _link(row["figure"]) if row["figure"].startswith("docs/") else row["figure"] or "–",
        }
        lines.append(f"| {' | '.join(shown[column] for column in COLUMNS)} |")
    return HEAD + "\n".join([*lines, "", *table_2()]) + "\n"


def table_2() -> list[str]:
    """Return BEAM's Table 2 with a line for longbeam; the abilities of imported benchmarks are what its readers map."""
    read = {
        "LoCoMo": {a.name for a in abilities() if a.reads_locomo},
        "LongMemEval": {a.name for a in abilities() if a.reads_longmemeval or a.has(Trait.ABSTAINS)},
        "BEAM": set(ABILITIES),
    }
    own = {"name": "longbeam", "domain": f"{len(Domain) - 1}, or your own", "length": "16K to 64M, any"}
    lines = [
        "## BEAM's Table 2",
        "",
        "Domain and length as the paper has them. The copy that was read lacks the marks of abilities: those",
        "of benchmarks that longbeam [imports](imports.md) are what its readers map, the others are left out (–).",
        "",
        f"| benchmark | domain | tokens of a conversation | {' | '.join(INITIALS)} |",
        "|" + "---|" * (3 + len(INITIALS)),
    ]
    for of in [*LISTED["benchmark"], own]:
        known = set(ABILITIES) if of is own else read.get(of["name"])
        marks = ["–" if known is None else "✓" if name in known else "" for name in INITIALS.values()]
        lines.append(f"| {of['name']} | {of['domain']} | {of['length']} | {' | '.join(marks)} |")
    return lines


def _link(path: str) -> str:
    below = path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}"
    return f"[{path}]({below})"


def test_the_page_is_as_the_list_says() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it with: python -m tests.test_papers"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['paper']} {row['section']}")
def test_a_row_names_code_that_exists_and_a_command_with_its_options(row: dict[str, str]) -> None:
    assert set(row) == set(COLUMNS)
    assert (REPOSITORY / row["where"]).exists()
    assert not row["figure"].startswith("docs/") or (REPOSITORY / row["figure"]).exists()
    assert unknown_part(row["command"].removeprefix("longbeam ")) == ""
    assert row["run"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the benchmarks and the session that the commands name."""
    folder = tmp_path_factory.mktemp("papers")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["sample", "home16"]) == OK
        assert run(["suite", "paging", "--name", "facts"]) == OK
        assert run(["suite", "canvas_standard", "--name", "canvas"]) == OK
        assert run(["evaluate", "canvas", "--system", "rag"]) == OK
    session = [line("user", "a"), call("Bash", {}), result("r" * 9_000)]
    write_session(folder / "sessions" / "s1.jsonl", session)
    return folder


def test_quick_commands_run(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(site)
    quick = dict.fromkeys(row["command"] for row in ROWS if row["run"] == "quick")
    for command in sorted(quick, key=lambda command: " report " in command):  # reports are on what was evaluated
        assert run(shlex.split(command)[1:]) == OK, command
        if "controlled" in command:  # rules answered: causal figures are no system's
            assert "no language model answered" in capsys.readouterr().err


@pytest.mark.slow
def test_nightly_commands_run(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(site)
    assert run(["suite", "agentic", "--name", "agents"]) == OK
    Path("beam.toml").write_text('name = "beam"\n[composition]\n"100K" = 1\n"500K" = 1\n"1M" = 1\n"2M" = 1\n')
    judges = 'judges = ["offline", "similarity", "offline"]\nbenchmarks = ["facts"]\n[[systems]]\nsystem = "rag"\n'
    Path("judges.toml").write_text(judges)
    for command in (row["command"] for row in ROWS if row["run"] == "nightly"):
        capsys.readouterr()
        assert run(shlex.split(command)[1:]) == OK, command
        if "--to tables" in command:  # BEAM's downloader finds each of its splits
            assert "warning" not in capsys.readouterr().err
            sizes = {path.name.partition("-")[0] for path in Path("tables/data").iterdir()}
            assert sizes == {"100K", "500K", "1M", "10M"}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
