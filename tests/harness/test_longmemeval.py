"""LongMemEval's own scripts on our export: what they look at, written anew; the real ones: docs/official-scripts.md.

On the export of 6761678, without marks in the ids, `src/retrieval/run_retrieval.py` (flat-bm25, session) printed
recall_any@5 0.0, recall_all@5 1.0, ndcg_any@10 0.0 without an error, and `src/evaluation/print_qa_metrics.py` nan.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from longbeam.formats import export_longmemeval, import_longmemeval
from longbeam.formats.longmemeval import FILE
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import SPEC, read, write
from tests.tiny import tiny_conversation

OWN = good_conversation()
Entry = dict[str, Any]
Documents = list[tuple[str, str]]
"""Ids and texts."""


def entries_of(folder: Path) -> list[Entry]:
    return json.loads((folder / FILE).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


# --- src/retrieval/run_retrieval.py, src/retrieval/eval_utils.py --------------------------------------------


def documents_of(entry: Entry, *, by_turn: bool) -> Documents:
    """A session, or a user turn, is a document; its id has the word `answer` where it is gold.

    A session counts only where one of its user turns says `has_answer`; the key is read of every such turn.
    """
    found: Documents = []
    for session_id, session in zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True):
        says = [(n, turn["content"], turn) for n, turn in enumerate(session, start=1) if turn["role"] == "user"]
        if by_turn:
            for n, text, turn in says:
                is_gold = "answer" not in session_id or turn["has_answer"]
                found.append((f"{session_id if is_gold else session_id.replace('answer', 'noans')}_{n}", text))
        else:
            is_gold = "answer" not in session_id or any(turn["has_answer"] for _, _, turn in says)
            name = session_id if is_gold else session_id.replace("answer", "noans")
            found.append((name, " ".join(text for _, text, _ in says)))
    return found


def by_shared_words(question: str, documents: Documents) -> list[str]:
    words = set(question.lower().split())
    ranked = sorted(documents, key=lambda d: -len(words & set(d[1].lower().split())))
    return [name for name, _ in ranked]


def gold_first(question: str, documents: Documents) -> list[str]:
    """The script's `oracle`."""
    return sorted((name for name, _ in documents), key=lambda name: "answer" not in name)


def retrieval(
    entries: list[Entry], rank: Callable[[str, Documents], list[str]], k: int, *, by_turn: bool
) -> dict[str, float]:
    """Means over the questions that are no abstention: any gold document among the first k, all of them, and nDCG."""
    shown: list[tuple[float, float, float]] = []
    for entry in entries:
        if "_abs" in entry["question_id"]:
            continue
        documents = documents_of(entry, by_turn=by_turn)
        gold = {name for name, _ in documents if "answer" in name}
        first = rank(entry["question"], documents)[:k]
        gain = [1 / max(1.0, math.log2(place)) if name in gold else 0.0 for place, name in enumerate(first, start=1)]
        best = sum(1 / max(1.0, math.log2(place)) for place in range(1, min(k, len(gold)) + 1))
        shown.append((float(bool(gold & set(first))), float(gold <= set(first)), sum(gain) / best if best else 0.0))
    return dict(zip(("any", "all", "ndcg"), map(fmean, zip(*shown, strict=True)), strict=True))


CONVERSATIONS = pytest.mark.parametrize("own", [OWN, tiny_conversation()], ids=["hand-made", "generated"])


@CONVERSATIONS
@pytest.mark.parametrize("by_turn", [False, True], ids=["session", "turn"])
def test_retrieval_finds_the_gold_of_every_question(tmp_path: Path, own: MemoryReader, by_turn: bool) -> None:
    entries = entries_of(write(export_longmemeval, [own], tmp_path / "out"))

    # Whoever ranks the gold first has all of it: no question is without gold, and none of it is elsewhere.
    assert retrieval(entries, gold_first, k=50, by_turn=by_turn) == {"any": 1.0, "all": 1.0, "ndcg": 1.0}
    found = retrieval(entries, by_shared_words, k=5, by_turn=by_turn)
    assert all(0 < figure <= 1 for figure in found.values())


def test_the_gold_of_a_question_is_its_own_evidence(tmp_path: Path) -> None:
    for entry in entries_of(write(export_longmemeval, [OWN], tmp_path / "out")):
        gold = [name for name in entry["haystack_session_ids"] if "answer" in name]
        assert gold == entry["answer_session_ids"]
        assert bool(gold) is not entry["question_id"].endswith("_abs")


# --- src/evaluation/print_qa_metrics.py ---------------------------------------------------------------------

TYPES = (
    "single-session-user", "single-session-preference", "single-session-assistant", "multi-session",
    "temporal-reasoning", "knowledge-update",
)  # fmt: skip


def qa_metrics(entries: list[Entry]) -> dict[str, float]:
    """Accuracies if every answer is right; a mean over nothing is nan. A type that is none of the six fails there."""
    right: dict[str, list[float]] = {kind: [] for kind in (*TYPES, "abstention")}
    for entry in entries:
        right[entry["question_type"]].append(1.0)
        if "_abs" in entry["question_id"]:
            right["abstention"].append(1.0)
    return {kind: fmean(values) if values else math.nan for kind, values in right.items()}


def test_every_mean_is_over_something(tmp_path: Path) -> None:
    said = OWN.probe("information_extraction")
    of_assistant = said.model_copy(update={"probe_id": "information_extraction.a", "bullet_ids": ("p0.s0.a0",)})
    every = MemoryReader(OWN.head, OWN.said, (*OWN.asked, of_assistant))
    report = export_longmemeval([every], SPEC, tmp_path / "out")
    assert qa_metrics(entries_of(tmp_path / "out")) == dict.fromkeys((*TYPES, "abstention"), 1.0)
    assert report.warnings == ()


def test_a_mean_over_nothing_is_announced(tmp_path: Path) -> None:
    few = MemoryReader(OWN.head, OWN.said, (OWN.probe("knowledge_update"), OWN.probe("abstention")))
    report = export_longmemeval([few], SPEC, tmp_path / "out")

    assert [warning.split(":")[0] for warning in report.warnings] == [
        "there are no questions of type multi-session",
        "there are no questions of type single-session-assistant",
        "there are no questions of type single-session-preference",
        "there are no questions of type temporal-reasoning",
    ]


def test_our_questions_share_their_haystack_when_they_are_read_back(tmp_path: Path) -> None:
    target = write(export_longmemeval, [OWN], tmp_path / "out")
    (back,) = read(import_longmemeval, target / FILE)
    assert len(back.asked) == len(OWN.asked)
    assert entries_of(write(export_longmemeval, [back], tmp_path / "again")) == entries_of(target)
