"""How other people's harnesses read the files they take: the accesses of each, written anew, on our own export.

What is asserted here is what a harness would stumble over: keys, types, date forms, order. The accesses are those that
`reference/memory-systems.md` §9 reports of each harness.
"""

from __future__ import annotations

import ast
import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from longbeam.formats import (
    export_beam,
    export_beam_json,
    export_huggingface,
    export_lmeb,
    export_locomo,
    export_longmemeval,
    import_beam,
    read_parquet,
)
from longbeam.formats.locomo import FILE as LOCOMO_FILE
from longbeam.formats.longmemeval import FILE as LONGMEMEVAL_FILE
from longbeam.schemas import ABILITIES
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import beam_folder, many_plans, read, write

OWN = good_conversation()


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


# --- BEAM -------------------------------------------------------------------------------------------------


def test_beams_own_scripts_read_the_folder(tmp_path: Path) -> None:
    root = write(export_beam, [OWN], tmp_path / "chats")

    (folder,) = (root / "100K").iterdir()  # a closed set of sizes; what is short is filed under 100K
    questions = load(folder / "probing_questions" / "probing_questions.json")
    assert list(questions) == list(ABILITIES)  # evaluated in this order, each name asked for
    for probes in questions.values():
        for probe in probes:
            assert len(probe["rubric"]) > 0  # the score is divided by it
            assert all(isinstance(item, str) for item in probe["rubric"])
            assert isinstance(probe["question"], str)
    pairs = [
        (turn[i]["content"], turn[i + 1]["content"])
        for batch in load(folder / "chat.json")
        for turn in batch["turns"]
        for i in range(0, len(turn), 2)
    ]
    assert len(pairs) == len(OWN.said) // 2


def test_honcho_walks_the_folders_of_a_size(tmp_path: Path) -> None:
    root = write(export_beam, [OWN, good_conversation("c001")], tmp_path / "chats")

    chats = sorted(p.name for p in (root / "100K").iterdir() if (p / "chat.json").is_file())
    assert chats == ["1", "2"]


def mem0_sessions(chat: list[Any]) -> list[list[dict[str, Any]]]:
    """A chat in any of the three shapes that mem0 takes: lists, objects with turns, plans of either."""
    if chat and isinstance(chat[0], dict) and any(key.startswith("plan-") for key in chat[0]):
        batches = [batch for plan in chat for listed in plan.values() if listed for batch in listed]
    else:
        batches = chat
    flat = []
    for batch in batches:
        turns = batch["turns"] if isinstance(batch, dict) else [batch]
        flat.append([m for turn in turns for m in turn])
    return flat


def mem0_day(messages: list[dict[str, Any]]) -> datetime:
    """The day of a session: its first message's anchor with blanks for hyphens."""
    return datetime.strptime(messages[0]["time_anchor"].replace("-", " "), "%B %d %Y")


def test_mem0_reads_beam_from_its_cache_folder(tmp_path: Path) -> None:
    folder = write(export_beam_json, [OWN], tmp_path / "cache")

    (row,) = load(folder / "beam_100K.json")
    assert [mem0_day(session).day for session in mem0_sessions(row["chat"])] == [4, 15]
    assert [m["content"] for s in mem0_sessions(row["chat"]) for m in s] == [m.content for m in OWN.said]
    assert {m["role"] for s in mem0_sessions(row["chat"]) for m in s} == {"user", "assistant"}
    assert isinstance(row["probing_questions"], dict)
    ids = {m["id"] for s in mem0_sessions(row["chat"]) for m in s}
    for ability, probes in row["probing_questions"].items():
        assert ability in ABILITIES
        for probe in probes:
            assert probe["question"]
            assert probe["rubric"]  # an empty one is scored 0
            assert probe["difficulty"] in {"easy", "medium", "hard"}
            assert flat_ids(probe.get("source_chat_ids")) <= ids


def flat_ids(value: Any) -> set[int]:
    if isinstance(value, dict):
        return {i for v in value.values() for i in flat_ids(v)}
    if isinstance(value, list):
        return {i for v in value for i in flat_ids(v)}
    return set() if value is None else {value}


def test_mem0_reads_a_chat_of_several_plans(tmp_path: Path) -> None:
    (chat,) = read(import_beam, beam_folder(tmp_path / "in", change=many_plans))
    own = MemoryReader(chat.head.model_copy(update={"details": {}}), chat.said, ())
    (row,) = load(write(export_beam_json, [own], tmp_path / "cache") / "beam_10M.json")

    assert len(mem0_sessions(row["chat"])) == 4
    assert [m["id"] for s in mem0_sessions(row["chat"]) for m in s] == list(range(24))


def test_amb_reads_beam_rows(tmp_path: Path) -> None:
    (row,) = load(write(export_beam_json, [OWN], tmp_path / "out") / "beam_100K.json")

    assert isinstance(row["conversation_id"], str)
    assert "Maya Okafor" in row["user_profile"]["user_info"]
    questions = row["probing_questions"]
    assert isinstance(ast.literal_eval(questions) if isinstance(questions, str) else questions, dict)


def test_text_survives_the_python_literal(tmp_path: Path) -> None:
    odd = 'He said "it\'s \\n {x}"\nA\ttab, “quotes”, 日本, 🙂, \u2028'
    reader = OWN.with_probe("information_extraction", question=odd)
    (file,) = (write(export_huggingface, [reader], tmp_path / "out") / "data").iterdir()
    (row,) = read_parquet(file)
    assert ast.literal_eval(row["probing_questions"])["information_extraction"][0]["question"] == odd


# --- LoCoMo -----------------------------------------------------------------------------------------------


def locomo_sessions(conversation: dict[str, Any]) -> list[tuple[datetime, list[dict[str, Any]]]]:
    """Sessions counted up from 1 until one is missing, with their times."""
    found, number = [], 1
    while f"session_{number}" in conversation:
        said = conversation[f"session_{number}_date_time"]
        found.append((datetime.strptime(said, "%I:%M %p on %d %B, %Y"), conversation[f"session_{number}"]))
        number += 1
    return found


@pytest.mark.parametrize("harness", ["mem0", "amb", "memorybench", "hindsight"])
def test_locomo_loaders_read_the_file(tmp_path: Path, harness: str) -> None:
    (sample,) = load(write(export_locomo, [OWN], tmp_path / "out") / LOCOMO_FILE)

    conversation = sample["conversation"]
    sessions = locomo_sessions(conversation)
    assert len(sessions) == sum(1 for key in conversation if key.endswith("_date_time"))
    assert [time for time, _ in sessions] == sorted(time for time, _ in sessions)
    speakers = {conversation["speaker_a"], conversation["speaker_b"]}
    ids = []
    for number, (_, messages) in enumerate(sessions, start=1):
        assert [m["dia_id"] for m in messages] == [f"D{number}:{i}" for i in range(1, len(messages) + 1)]
        assert {m["speaker"] for m in messages} <= speakers
        ids += [m["dia_id"] for m in messages]
    for question in sample["qa"]:
        assert type(question["category"]) is int
        assert 1 <= question["category"] <= 5
        assert set(question["evidence"]) <= set(ids)
        if question["category"] == 5:
            assert isinstance(question["adversarial_answer"], str)
        if question["category"] != 5 or harness == "memorybench":  # which prints `undefined` where there is none
            assert isinstance(question["answer"], str)


# --- LongMemEval ------------------------------------------------------------------------------------------

TYPES = {
    "single-session-user", "single-session-assistant", "single-session-preference", "multi-session",
    "temporal-reasoning", "knowledge-update",
}  # fmt: skip


@pytest.mark.parametrize("harness", ["official", "mem0", "amb", "memorybench"])
def test_longmemeval_loaders_read_the_file(tmp_path: Path, harness: str) -> None:
    items = load(write(export_longmemeval, [OWN], tmp_path / "out") / LONGMEMEVAL_FILE)

    assert len({item["question_id"] for item in items}) == len(items) == len(OWN.asked)
    assert [i["longbeam"]["ability"] for i in items if i["question_id"].endswith("_abs")] == ["abstention"]
    for item in items:
        assert item["question_type"] in TYPES
        assert isinstance(item["answer"], str)
        times = [datetime.strptime(d, "%Y/%m/%d (%a) %H:%M") for d in (*item["haystack_dates"], item["question_date"])]
        assert times == sorted(times)
        sessions = dict(zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True))
        for session in sessions.values():
            assert [m["role"] for m in session] == ["user", "assistant"] * (len(session) // 2)
        marked = {i for i, session in sessions.items() if any(m.get("has_answer") for m in session)}
        assert marked == set(item["answer_session_ids"])
        assert bool(marked) is not item["question_id"].endswith("_abs")


def test_the_weekday_of_a_date_is_right(tmp_path: Path) -> None:
    items = load(write(export_longmemeval, [OWN], tmp_path / "out") / LONGMEMEVAL_FILE)
    for text in items[0]["haystack_dates"]:  # strptime takes any weekday
        assert datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").strftime("%a") == text[12:15]


# --- MTEB, LMEB, BEIR -------------------------------------------------------------------------------------


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.mark.parametrize("subset", ["", "knowledge_update/"])
def test_mteb_reads_a_task(tmp_path: Path, subset: str) -> None:
    folder = write(export_lmeb, [OWN], tmp_path / "out")

    corpus = {d["_id"]: f"{d['title']} {d['text']}" for d in lines(folder / "corpus.jsonl")}
    queries = {q["_id"]: q["text"] for q in lines(folder / f"{subset}queries.jsonl")}
    relevant: dict[str, dict[str, int]] = {}
    for row in lines(folder / f"{subset}qrels.jsonl"):
        relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    assert relevant.keys() == queries.keys()  # a query without judgements would score nothing
    for query, candidates in ((r["query-id"], r["corpus-ids"]) for r in lines(folder / f"{subset}top_ranked.jsonl")):
        assert set(relevant[query]) <= set(candidates) <= corpus.keys()
    assert len(queries) == (1 if subset else 9)


def test_beir_reads_the_judgements(tmp_path: Path) -> None:
    folder = write(export_lmeb, [OWN], tmp_path / "out")

    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    assert header == ["query-id", "corpus-id", "score"]
    queries = {q["_id"] for q in lines(folder / "queries.jsonl")}
    assert {row[0] for row in rows} == queries
    assert all(float(row[2]) == 1 for row in rows)
