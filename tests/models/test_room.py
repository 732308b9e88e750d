"""Length limits against the replies of a very good model: generous, and far below what a loop would fill."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from longbeam.models import CALLING, load_tokenizer, room_of, room_of_schema
from longbeam.prompts import default_registry
from longbeam.prompts.calls import QuestionDetectorInputs
from tests.models.calls import SimplePrompt
from tests.prompts.samples import SAMPLES

RECORDED = Path(__file__).parents[1] / "recorded" / "frontier16.sqlite.gz"


class Item(BaseModel):
    name: str = Field(max_length=40)
    count: int


class Items(BaseModel):
    items: list[Item] = Field(max_length=30)


def test_the_limit_grows_with_the_form() -> None:
    # an item: braces 4, two names of 4 + 1, text 1 + 40 / 4, number 6, separator 2: 33 tokens; 30 of them, and around
    # them braces 4, name 5, brackets 2
    assert room_of_schema(Items.model_json_schema()) == CALLING.room_factor * (30 * (2 + 4 + 5 + 11 + 5 + 6) + 11)
    assert room_of_schema(Item.model_json_schema()) == CALLING.least_room


def test_prose_has_the_room_of_the_length_asked_for() -> None:
    inputs = QuestionDetectorInputs(reply="Which hotel?")
    assert room_of(SimplePrompt(), inputs) == CALLING.room_factor * QuestionDetectorInputs.usual_tokens
    assert room_of(SimplePrompt(output=Item), inputs) == CALLING.least_room


def test_a_paragraph_or_an_answer_of_a_sentence_has_little_room() -> None:
    prompts = default_registry()
    # The recorded paragraph has 166 tokens, the recorded follow-up 31.
    assert room_of(prompts["personality"], SAMPLES["personality"]) == CALLING.room_factor * 250
    assert room_of(prompts["user_answer"], SAMPLES["user_answer"]) == CALLING.least_room


@pytest.mark.parametrize(
    ("prompt_id", "most"), [("narratives", 17_000), ("outline", 12_000), ("probe_abstention", 20_000)]
)
def test_texts_without_an_end_do_not_fill_a_list(prompt_id: str, most: int) -> None:
    assert room_of(default_registry()[prompt_id], SAMPLES[prompt_id]) <= most


def test_a_schema_that_refers_to_itself_has_an_end() -> None:
    class Tree(BaseModel):
        parts: list[Tree]

    Tree.model_rebuild(_types_namespace={"Tree": Tree})
    assert CALLING.least_room <= room_of_schema(Tree.model_json_schema()) <= CALLING.most_room


def test_longest_recorded_reply_has_a_quarter_of_its_room(tmp_path: Path) -> None:
    file = tmp_path / "recorded.sqlite"
    file.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    prompts, count = {prompt.prompt_id: prompt for prompt in default_registry()}, load_tokenizer("o200k_base").count
    with closing(sqlite3.connect(file)) as db:
        rows = db.execute("SELECT prompt_id, content FROM replies JOIN texts ON text_id = reply").fetchall()
    shares = [
        count(text) / room_of_schema(prompts[prompt_id].schema() or {})
        for prompt_id, text in rows
        if prompt_id in prompts and prompts[prompt_id].output is not None
    ]
    assert len(shares) > 100
    # a sub-plan of 8,606 tokens, whose form has room for 32,768; docs/models.md says 26 %
    assert max(shares) == pytest.approx(0.263, abs=0.001)
