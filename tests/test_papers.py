"""docs/papers.md says what the four papers have and where; its commands run: quick ones here, the others nightly.

`python -m tests.test_papers` writes the page from tests/papers.toml.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from longbeam.abilities import Trait, abilities
from longbeam.cli import OK, run
from longbeam.memory.cmv import lines_of
from longbeam.pipeline import sealed_conversations
from longbeam.schemas import ABILITIES, Domain, WholeConversation
from longbeam.store import open_benchmark
from tests.memory.cmv.lines import write_session
from tests.plugins.installed import write_examples
from tests.test_docs_commands import unknown_part

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "papers.md"
LISTED: dict[str, Any] = tomllib.loads((REPOSITORY / "tests" / "papers.toml").read_text("utf-8"))
ROWS: list[dict[str, str]] = LISTED["row"]
INITIALS = {
    "IE": "information_extraction", "MR": "multi_session_reasoning", "KU": "knowledge_update",
    "TR": "temporal_reasoning", "ABS": "abstention", "CR": "contradiction_resolution", "EO": "event_ordering",
    "IF": "instruction_following", "PF": "preference_following", "SUM": "summarization",
}  # fmt: skip
COLUMNS = ("paper", "section", "what", "command", "where", "standing", "figure", "run")
RUN = ("quick", "nightly")
HEAD = """# What the four papers have, and where it is

BEAM and LIGHT (arXiv 2510.27246), CogCanvas (2601.00821), cooperative paging (2604.12376) and CMV (2602.22402).
`python -m tests.test_papers` writes this page from `tests/papers.toml`, and a test compares them. *faithful*: as the
paper or its code has it (*in form*: with what is named in place of a part); *better*: a fault of it is mended, and
named; *interpretation*: the paper leaves it open, contradicts itself, or what decides is not here.

A figure is of its row's own command: what stands there as code stands in what the command prints (runs of blanks and
bars as one blank), or the test fails. `quick` commands run with every test, `nightly` ones with `make nightly`; where
none runs here, the reason stands in place of the figure. Rows of an evaluation begin with system and score, or with
system and evidence recall where the judge cannot score, as rules cannot on `home16`, which a language model wrote. So
the papers' tables of scores are on benchmarks of the offline writer. Reader and judge are rules there: the figures show
the machinery, and rank no published system.

Sections and tables of BEAM and CogCanvas are those of the papers' text. Of paging and CMV only abstracts were at hand:
the numbers of paging's sections and tables are from notes on its first version, since withdrawn.

The commands stand on these, in this order. `sessions` holds the conversations of `agents` as session files of a coding
agent (`longbeam.memory.cmv.lines_of`), and `quoter` is the [model of the plug-ins](plugins.md#model), installed.

"""


def page() -> str:
    """Return the text of docs/papers.md."""
    files = [f"`{name}`:\n\n```toml\n{text.strip()}\n```\n" for name, text in LISTED["files"].items()]
    lines = [
        "```sh", *LISTED["quick"], *LISTED["nightly"], "```", "", *files,
        f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS),
    ]  # fmt: skip
    for row in ROWS:
        runs = row["run"] in RUN
        shown = {
            **row,
            "command": f"`{row['command']}`" if row["command"] else "–",
            "where": _link(row["where"]),
            "figure": row["figure"] if runs else row["run"],
            "run": row["run"] if runs else "–",
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


def printed_parts(figure: str) -> list[str]:
    """Return the parts of a figure that its command prints."""
    return re.findall(r"`([^`]+)`", figure)


def test_the_page_is_as_the_list_says() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it with: python -m tests.test_papers"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['paper']} {row['section']}")
def test_a_row_names_code_that_exists_and_a_command_with_its_options(row: dict[str, str]) -> None:
    assert set(row) == set(COLUMNS)
    assert (REPOSITORY / row["where"]).exists()
    assert unknown_part(row["command"].removeprefix("longbeam ")) == ""
    assert row["run"]
    assert bool(printed_parts(row["figure"])) == (row["run"] in RUN)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files and the quick benchmarks that the commands name."""
    folder = tmp_path_factory.mktemp("papers")
    for name, text in LISTED["files"].items():
        (folder / name).write_text(text, encoding="utf-8")
    write_examples(folder, "longbeam.models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert [run(shlex.split(made)[1:]) for made in LISTED["quick"]] == [OK] * len(LISTED["quick"])
    with sealed_conversations(open_benchmark(folder / "output", "agents")) as readers:
        for told in map(WholeConversation.of, readers):
            session = list(lines_of(told.messages, told.conversation_id))
            write_session(folder / "sessions" / f"{told.conversation_id}.jsonl", session)
    return folder


def unlike(kind: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Run the commands of a kind, each once; return what those printed in which a part of a figure does not stand."""
    wrong = {}
    commands = dict.fromkeys(row["command"] for row in ROWS if row["run"] == kind)
    for command in sorted(commands, key=lambda command: " report " in command):  # reports are on what was evaluated
        capsys.readouterr()
        assert run(shlex.split(command)[1:]) == OK, command
        printed = " ".join(re.sub(r"[|│]", " ", "".join(capsys.readouterr())).split())
        for row in ROWS:
            parts = printed_parts(row["figure"]) if row["command"] == command else []
            if any(f" {part} " not in f" {printed} " for part in parts):
                wrong[f"{command}: {row['figure']}"] = printed
    return wrong


def test_quick_commands_print_their_figures(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(site)
    assert unlike("quick", capsys) == {}


@pytest.mark.slow
def test_nightly_commands_print_their_figures(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(site)
    monkeypatch.syspath_prepend(site)
    assert [run(shlex.split(made)[1:]) for made in LISTED["nightly"]] == [OK] * len(LISTED["nightly"])
    assert unlike("nightly", capsys) == {}
    sizes = {path.name.partition("-")[0] for path in Path("tables/data").iterdir()}
    assert sizes == {"100K", "500K", "1M", "10M"}  # BEAM's downloader finds each of its splits
    assert len(re.findall('aria-label="light( by k|.k=5.: score of the whole)', Path("figures.html").read_text())) == 2


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
