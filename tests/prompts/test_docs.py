"""The pages in docs/prompts: up to date, about every prompt, and in step with what is claimed of BEAM's listings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longbeam.prompts import docs
from longbeam.prompts.declarations import PROMPTS

LISTINGS = (docs.PAGES / "listings.md").read_text(encoding="utf-8")
ROOT = docs.PAGES.parents[1]


def test_pages_are_up_to_date() -> None:
    assert docs.find_stale() == [], f"run `{docs.COMMAND}`"


def test_every_prompt_has_captured_inputs_and_a_page() -> None:
    captured = docs.read_captured(docs.PAGES)
    ids = [p.prompt_id for p in PROMPTS]

    assert sorted(captured) == sorted(ids)
    assert all((docs.PAGES / f"{i}.md").exists() for i in ids)


def test_a_page_shows_exactly_what_a_model_is_asked() -> None:
    captured = docs.read_captured(docs.PAGES)
    for prompt in PROMPTS:
        page = (docs.PAGES / f"{prompt.prompt_id}.md").read_text(encoding="utf-8")
        inputs = prompt.inputs.model_validate(captured[prompt.prompt_id].inputs)
        assert all(message.content in page for message in prompt.render(inputs))
        assert f"Version {prompt.version} " in page


def test_pages_show_what_was_told_before() -> None:
    inputs = docs.read_captured(docs.PAGES)["user_turns"].inputs
    page = (docs.PAGES / "user_turns.md").read_text(encoding="utf-8")

    assert inputs["context"]
    assert all(bullet["text"] in page for bullet in inputs["context"])


def test_stale_missing_and_left_over_pages_are_found_and_written(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    (folder / "inputs").mkdir(parents=True)
    for file in (docs.PAGES / "inputs").glob("*.json"):
        (folder / "inputs" / file.name).write_bytes(file.read_bytes())
    assert len(docs.write_pages(folder)) == len(PROMPTS) + 1
    assert docs.find_stale(folder) == []
    (folder / "outline.md").write_text("old")
    (folder / "gone.md").write_text("of a prompt that is no more")
    (folder / "augment.md").unlink()

    assert docs.write_pages(folder) == ["augment.md", "gone.md", "outline.md"]
    assert not (folder / "gone.md").exists()


def test_inputs_that_no_longer_fit_say_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"prompt 'seeds' has no inputs that fit it; run `python -m longbeam"):
        docs.pages_of(docs.read_captured(tmp_path))


def test_all_listings_and_all_prompts_stand_in_the_table() -> None:
    rows = re.findall(r"^\| ([\d–, ]+) \| [^|]+ \| ([^|]+) \|", LISTINGS, re.MULTILINE)
    numbers = [n for row, _ in rows for n in _numbers(row)]
    named = {name for _, cell in rows for name in re.findall(r"\[(\w+)\]", cell)}

    assert sorted(numbers) == list(range(1, 45))
    assert named == {p.prompt_id for p in PROMPTS}


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
