"""The pages of prompts: one for every prompt, as a model is asked; and their table and the listings in docs/prompts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.prompt_pages import Captured, pages_of, table_of
from longbeam.keys import UnitKey
from longbeam.prompts import PROMPTS
from tests.prompts.samples import SAMPLES

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "prompts" / "README.md").read_text(encoding="utf-8")
LISTINGS = (ROOT / "docs" / "prompts" / "listings.md").read_text(encoding="utf-8")
CAPTURED = {
    p.prompt_id: Captured(UnitKey("c000", "dialogue", "p0.s0"), SAMPLES[p.prompt_id], 3, 1_234, 56) for p in PROMPTS
}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return pages_of(CAPTURED)


def test_every_prompt_has_a_page(pages: dict[str, str]) -> None:
    assert sorted(pages) == sorted(f"{p.prompt_id}.md" for p in PROMPTS)


def test_a_page_shows_exactly_what_a_model_is_asked(pages: dict[str, str]) -> None:
    for prompt in PROMPTS:
        page = pages[f"{prompt.prompt_id}.md"]
        assert all(message.content in page for message in prompt.render(SAMPLES[prompt.prompt_id]))
        assert f"Version {prompt.version} · role `{prompt.role.value}` · stage `dialogue`" in page


def test_pages_show_what_was_told_before(pages: dict[str, str]) -> None:
    told = SAMPLES["user_turns"].model_dump()["context"]

    assert told
    assert all(bullet["text"] in pages["user_turns.md"] for bullet in told)


def test_a_page_shows_what_a_prompt_adds_for_coding_and_for_another_language(pages: dict[str, str]) -> None:
    added = pages["user_turns.md"].partition("## In a coding domain")[2]

    assert "Added, or in the place of other lines" in added
    assert "German" in added.partition("## In another language")[2]


def test_the_table_in_git_names_every_prompt_with_its_version_and_role() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(\S+/(\w+)\.j2\) \| (\d+) \| (\w+) \|", TABLE, re.MULTILINE)

    assert rows == [(p.prompt_id, p.prompt_id, str(p.version), p.role.value) for p in PROMPTS], (
        "run `make docs-prompts`"
    )


def test_the_table_has_the_figures_of_the_calls() -> None:
    assert table_of(CAPTURED).endswith(" | 2 | checker | dialogue | 3 | 1,234 | 56 |\n")
    assert table_of(CAPTURED).partition("| prompt")[0] == TABLE.partition("| prompt")[0]


def test_all_listings_and_all_prompts_stand_in_the_table() -> None:
    rows = re.findall(r"^\| ([\d–, ]+) \| [^|]+ \| ([^|]+) \|", LISTINGS, re.MULTILINE)
    numbers = [n for row, _ in rows for n in _numbers(row)]
    named = {name for _, cell in rows for name in re.findall(r"\[(\w+)\]", cell)}

    assert sorted(numbers) == list(range(1, 45))
    assert named == {p.prompt_id for p in PROMPTS}


def test_the_inputs_and_replies_that_published_prompts_need_are_declared() -> None:
    declared = {prompt.prompt_id: prompt for prompt in PROMPTS}
    rows = re.findall(r"^\| `(\w+)\.j2` \| [\d–]+ \| (.+) \| (.+) \|$", LISTINGS, re.MULTILINE)
    assert len(rows) >= 14
    for name, inputs, reply in rows:
        assert set(re.findall(r"`(\w+)`", inputs)) <= set(declared[name].variables), name
        fields = declared[name].output.model_fields if declared[name].output else ()
        assert set(re.findall(r"`(\w+)`", reply)) == set(fields), name


def _numbers(cell: str) -> list[int]:
    numbers: list[int] = []
    for part in cell.split(","):
        first, _, last = part.strip().partition("–")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def test_every_known_fault_names_a_test_that_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", LISTINGS)

    assert len(named) >= 10
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{test}"
