"""BEAM's own `src/beam/download_dataset.py` on our tables: what it looks at, written anew, after the real `datasets`.

On the tables of 6761678 it ended with KeyError '500K' at a benchmark of one size, with TypeError at `user_questions`
(texts where it wants lists of texts), and with KeyError 'chat' at the plans of a chat of 10M.
docs/official-scripts.md runs the real one.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import duckdb

from longbeam.formats import export_huggingface, import_beam
from longbeam.schemas import ABILITIES
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import SPEC, beam_folder, many_plans, read, write
from tests.formats.test_datasets import run_python

OWN = good_conversation()
LOAD = """
import datasets, json
datasets.disable_progress_bars()
found = {}
for config in datasets.get_dataset_config_names("out"):
    datasets.load_dataset("out", config).save_to_disk("stored/" + config)
    found |= {size: list(rows) for size, rows in datasets.load_from_disk("stored/" + config).items()}
print(json.dumps(found))
"""
REFUSED = """
import datasets, json
datasets.disable_progress_bars()
try:
    datasets.load_dataset("out")
except ValueError as exc:
    print(json.dumps(str(exc)))
"""
SIZES = ("100K", "500K", "1M")


def user_messages(batches: list[dict[str, Any]]) -> list[str]:
    """Planned messages, the first list of each sub-plan; what has no marker is left out."""
    return [text.strip() for batch in batches for text in batch["messages"][0] if "->->" in text]


def turns(chat: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    for batch in chat:
        found.append([])
        for message in batch:
            if message["question_type"] == "main_question" and found[-1]:
                found.append([])
            found[-1].append(message)
    return found


def texts(row: dict[str, Any]) -> list[str]:
    """What is written to files as it is; anything but text would fail there."""
    profile = row["user_profile"]
    return [row["narratives"], profile["user_info"], profile["user_relationships"], row["conversation_plan"]]


def test_a_benchmark_of_all_sizes_becomes_folders(tmp_path: Path) -> None:
    readers = [
        good_conversation(f"c00{i}").with_head(target_tokens=tokens)
        for i, tokens in enumerate((128_000, 512_000, 1_000_000))
    ]
    (many,) = read(import_beam, beam_folder(tmp_path / "in", change=many_plans))
    readers.append(MemoryReader(many.head.model_copy(update={"details": {}}), many.said, ()))
    report = export_huggingface(readers, SPEC, tmp_path / "out")
    splits = run_python(LOAD, tmp_path)

    assert report.warnings == ()
    assert len(splits.pop("10M")) == 1
    assert tuple(splits) == SIZES
    for size in SIZES:
        (row,) = splits[size]
        assert_becomes_a_folder(row)


def assert_becomes_a_folder(row: dict[str, Any]) -> None:
    assert all(isinstance(text, str) for text in (*texts(row), row["conversation_id"]))
    planned = user_messages(row["user_questions"])
    assert [text.partition(" ->-> ")[0] for text in planned] == [turn.text for turn in OWN.head.user_turns]
    assert [turn[0]["content"] for turn in turns(row["chat"])] == [turn.text for turn in OWN.head.user_turns]
    assert list(ast.literal_eval(row["probing_questions"])) == list(ABILITIES)


def test_a_benchmark_of_one_size_says_what_the_script_lacks_and_is_read_without_it(tmp_path: Path) -> None:
    report = export_huggingface([OWN.with_head(target_tokens=128_000)], SPEC, tmp_path / "out")
    splits = run_python(LOAD, tmp_path)

    assert report.warnings == (
        "there is no conversation of 500K and 1M, and BEAM's download_dataset.py asks for every size; "
        "take the others off its list, or export its folders with --format beam",
    )
    assert [size for size in SIZES if size in splits] == ["100K"]  # the script's `sizes`, as our page writes it
    (row,) = splits["100K"]
    assert_becomes_a_folder(row)


def test_a_size_without_conversations_cannot_be_an_empty_split(tmp_path: Path) -> None:
    # Why the export warns: with such a split `datasets` loads none of the others either.
    write(export_huggingface, [OWN.with_head(target_tokens=128_000)], tmp_path / "out")
    (file,) = (tmp_path / "out" / "data").iterdir()
    duckdb.sql(f"COPY (FROM '{file}' WHERE false) TO '{file.with_name('500K-00000-of-00001.parquet')}'")
    card = tmp_path / "out" / "README.md"
    one = "  - split: 100K\n    path: data/100K-*.parquet\n"
    text = card.read_text()
    assert one in text
    card.write_text(text.replace(one, one + one.replace("100K", "500K")))

    said = run_python(REFUSED, tmp_path)
    assert said == 'Instruction "500K" corresponds to no data!'


def test_a_chat_of_several_plans_becomes_folders(tmp_path: Path) -> None:
    (chat,) = read(import_beam, beam_folder(tmp_path / "in", change=many_plans))
    own = MemoryReader(chat.head.model_copy(update={"details": {}}), chat.said, ())
    write(export_huggingface, [own], tmp_path / "out")
    (row,) = run_python(LOAD, tmp_path)["10M"]

    whole = [next((key, value) for key, value in plan.items() if value is not None) for plan in row["chat"]]
    assert [key for key, _ in whole] == ["plan-1", "plan-2"]
    last = 0
    for (_, batches), plan in zip(whole, row["plans"], strict=True):
        listed = [m for turn in turns(plan["chat"]) for m in turn]
        assert [m["content"] for m in listed] == [m["content"] for b in batches for t in b["turns"] for m in t]
        # Its ids begin at 0, and the script adds the last id of the plan before.
        shifted = [m["id"] + (last + 1 if last else 0) for m in listed]
        assert shifted == [m["id"] for b in batches for t in b["turns"] for m in t]
        last = shifted[-1]
        assert user_messages(plan["user_questions"])
        assert all(isinstance(plan[key], str) for key in ("conversation_plan", "narratives"))
        assert isinstance(plan["user_profile"]["user_relationships"], str)
    assert isinstance(row["user_profile"]["user_info"], str)


def test_our_tables_come_back(tmp_path: Path) -> None:
    (back,) = read(import_beam, write(export_huggingface, [OWN], tmp_path / "out"))
    assert [m.content for m in back.said] == [m.content for m in OWN.said]
    assert [t.text for t in back.head.user_turns] == [t.text for t in OWN.head.user_turns]
    assert len(back.asked) == len(OWN.asked)
