"""Numbers that are tuning stand in the record of their stage, with unit and reason; docs/tuning.md lists them.

`python -m tests.test_tuning` writes the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "tuning.md"
HEAD = """# Tuning

A number that decides what is written, asked, flagged, ranked or given up is tuning and stands in the record of its
stage. A number that states a format, the layout of a page, the size of a buffer, or what a paper or a service
prescribes stays with the code that has it, as do tables, texts and patterns. The first word of each row is the unit.
No command and no spec sets these numbers: to change one is to change the code, and other bytes come out.

This page is written by `python -m tests.test_tuning`.
"""
TABLE = "| name | value | unit and reason |\n|---|---|---|\n"


FIELD = re.compile(r"^    (\w+): [^=#]+ = ([^#]+?)  # (.+)$")


def records() -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the path and the class of each record of tuning."""
    for path in sorted(REPOSITORY.glob("longbeam/*/tuning.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield str(path.relative_to(REPOSITORY)), node


def fields(path: str, record: ast.ClassDef) -> list[tuple[str, str, str]]:
    """Return name, value and comment of each field of a record; the comment is empty where there is none."""
    lines = (REPOSITORY / path).read_text(encoding="utf-8").splitlines()
    nodes = [node for node in record.body if isinstance(node, ast.AnnAssign)]
    found = [(ast.unparse(node.target), FIELD.match(lines[node.lineno - 1])) for node in nodes]
    return [(match[1], match[2], match[3]) if match else (name, "", "") for name, match in found]


def page() -> str:
    """Return the page that lists all fields."""
    parts = [HEAD]
    for path, record in records():
        parts.append(f"\n## {record.name}\n\n{ast.get_docstring(record)} (`{path}`)\n\n{TABLE}")
        parts += [
            f"| `{name}` | {value} | {told.replace('|', chr(92) + '|')} |\n"
            for name, value, told in fields(path, record)
        ]
    return "".join(parts)


def test_the_page_lists_every_number_that_is_tuning() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


UNITS = """
Amount Amounts Answers Batches Bullets Bytes Calls Candidates Cards Characters Competitors Contradictions
Conversations Corrections Critiques Days Deaths Degree Difference Dimensions Divisor Draws Entries Events Exchanges
Factor Facts Faults Fields Files Findings Groups Items Levels Likelihood Lists Messages Money Narratives Numbers
Options Pairs Part Passages People Personas Pieces Places Probes Questions Reactions Refusals Remarks Repetitions
Replies Requests Rounds Runs Score Seconds Seeds Sentences Share Similarity Stages Statements Steps Sums
Temperature Terms Texts Things Times Tokens Tries Turns Units Updates Values Weight Wishes Words Years
"""


def test_each_number_has_a_unit_and_a_reason() -> None:
    assert [
        f"{path}: {record.name}.{name}: begin with a unit and give the reason behind a colon: {told!r}"
        for path, record in records()
        for name, _, told in fields(path, record)
        if told.split(" ")[0] not in UNITS.split() or ": " not in told
    ] == []


PRESCRIBED = frozenset(
    """
    evaluation/comparing.py:_SEEN evaluation/controlled.py:LEAST_COVERED generators/own_people.py:_GOLDEN
    memory/cmv/analyze.py:MOST_REDUCTION memory/cogcanvas/artifacts.py:_MOST_DUPLICATE
    memory/cogcanvas/linking.py:_WITH_WORDS pipeline/distributed/worker.py:COPY_SHARE
    """.split()  # noqa: SIM905 - a list of names reads better as words
)
"""Shares that a paper or the shape of a page prescribes, and one that saves work of the disk."""


def test_a_share_at_module_level_stands_in_a_record() -> None:
    found = set[str]()
    for package in {Path(path).parent for path, _ in records()}:
        for path in (REPOSITORY / package).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                    name = f"{path.relative_to(REPOSITORY / 'longbeam')}:{ast.unparse(node.targets[0])}"
                    value = node.value.value
                    found |= {name} if isinstance(value, float) and 1e-6 < value < 1 else set()
    assert found == PRESCRIBED


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
