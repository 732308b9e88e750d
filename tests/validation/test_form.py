"""`validate --form`: classifiers that see no values, on conversations whose form is known."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from longbeam.cli import USER_ERROR, run
from longbeam.schemas import BenchmarkSpec, FormFigure, FormTask, Message
from longbeam.store import create_benchmark, seal_conversation
from longbeam.validation import build_index, measure_form
from tests.tiny import TinyConversation, message, probe, tiny_conversation

WORDS = [
    "we",
    "they",
    "bread",
    "oven",
    "table",
    "rent",
    "door",
    "letter",
    "plan",
    "morning",
    "cold",
    "long",
    "short",
    "asks",
    "gives",
    "keeps",
    "finds",
    "opens",
]


def spoken(number: int, told: Callable[[str], str]) -> TinyConversation:
    """Thirty questions of drawn words, of which every third is cited; `told` gives the cited ones their form."""
    rng = random.Random(number)
    said: list[Message] = []
    for turn in range(30):
        text = " ".join(rng.choices(WORDS, k=rng.randint(6, 14)))
        text = told(text) if turn % 3 == 0 else text
        said.append(message(turn, f"p0.s0.t{turn}.n0", "question", f"{text} on May {turn % 28 + 1}.", 9))
    cited = [m for m in said if m.turn_index % 3 == 0]
    tiny = tiny_conversation(f"c{number:03}")
    asked = tuple(
        probe(f"information_extraction.{i}", "information_extraction", (m,), selected=True) for i, m in enumerate(cited)
    )
    return TinyConversation(tiny.head.model_copy(update={"plans": ()}), said, asked)


def figure_of(told: Callable[[str], str], task: FormTask = FormTask.EVIDENCE, count: int = 4) -> FormFigure | None:
    figures = measure_form(build_index(spoken(n, told)) for n in range(count))
    return next((f for f in figures if f.task is task), None)


def test_a_stock_phrase_is_found_in_conversations_that_were_not_learnt_from() -> None:
    found = figure_of(lambda text: f"By the by, {text}")
    assert found is not None
    assert (found.auc, found.told, found.others, found.conversations) == (1.0, 40, 80, 4)
    assert found.is_given_away
    assert any("by the by" in phrase for phrase in found.phrases)


def test_form_that_all_messages_share_gives_nothing_away() -> None:
    found = figure_of(lambda text: text)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.62
    assert not found.is_given_away


def test_values_are_no_form() -> None:
    """Cited messages have other numbers, days and names: masked, they are as the others."""
    found = figure_of(lambda text: text.replace("bread", "the Anselm of 1921", 1))
    assert found is not None
    assert not any("anselm" in phrase or "1921" in phrase for phrase in found.phrases)


def test_one_conversation_teaches_nothing() -> None:
    assert measure_form([build_index(spoken(0, lambda text: text))]) == ()


@pytest.fixture
def benchmark(tmp_path: Path) -> str:
    made = create_benchmark(BenchmarkSpec(name="tellers", conversations=3), tmp_path)
    for number in range(3):
        c = spoken(number, lambda text: f"By the by, {text}")
        seal_conversation(made.sealed_path(c.head.conversation_id), c.head, c.said, c.asked)
    return str(tmp_path)


def test_the_command_prints_stores_and_the_card_has_it(
    benchmark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", "tellers", "--form", "--out", benchmark]) == 0
    text = capsys.readouterr().out
    assert "warning: form tells evidence (AUC 1.000, at most 0.75)" in text
    assert "by the by" in text

    assert run(["validate", "tellers", "--form", "--json", "--out", benchmark]) == 0
    (figure, *_) = json.loads(capsys.readouterr().out)
    assert (figure["task"], figure["auc"]) == ("evidence", 1.0)

    run(["validate", "tellers", "--out", benchmark])  # the checks keep what was measured
    run(["stats", "tellers", "--out", benchmark])
    assert run(["export", "tellers", "--to", str(tmp_path / "to"), "--out", benchmark]) == 0
    card = (tmp_path / "to" / "README.md").read_text(encoding="utf-8")
    assert "## What its form gives away" in card
    assert "| evidence | 30 of 90 | 1.000 | 1.000 to 1.000 |" in card


def test_without_the_extra_one_line_says_what_to_install(
    benchmark: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert run(["validate", "tellers", "--form", "--out", benchmark]) == USER_ERROR
    assert "pip install 'longbeam[form]'" in capsys.readouterr().err
