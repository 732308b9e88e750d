"""LoCoMo's own scripts on our export: what they look at, written anew; docs/official-scripts.md runs the real ones.

`task_eval/evaluate_gpts.py` and `task_eval/evaluation_stats.py` count sessions from 1 to 49. Of the 128K demo of
6761678 (57 sessions) they dropped 40 messages and the evidence of 4 of 20 questions without a word.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from longbeam.formats import ExportOptions, export_locomo, import_locomo
from longbeam.formats.locomo import FILE
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import SPEC, read, write
from tests.tiny import tiny_conversation

OWN = good_conversation()


def sample_of(folder: Path) -> Any:
    (sample,) = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return sample


def read_by_the_script(conversation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The messages that the script puts before its model, by dia_id, each with the date of its session."""
    last = [i for i in range(1, 50) if conversation.get(f"session_{i}", []) != []][-1]
    return {
        said["dia_id"]: {**said, "date": conversation[f"session_{i}_date_time"]}
        for i in range(1, last + 1)
        for said in conversation.get(f"session_{i}", [])
    }


def recall(sample: dict[str, Any], retrieved: set[str]) -> float:
    """Mean share of a question's evidence among what was retrieved, as `task_eval/evaluation.py` counts it."""
    shares = [len(retrieved.intersection(q["evidence"])) / len(q["evidence"]) for q in sample["qa"] if q["evidence"]]
    return sum(shares) / len(shares)


def stretched(days: int) -> MemoryReader:
    """A conversation with a question on each of so many days; its first and last messages are evidence."""
    start, opening = OWN.said[0].sent_at, OWN.said[0]
    said = [
        opening.model_copy(
            update={"message_key": f"p0.s0.t{i}.n{n}", "message_id": 2 * i + n, "turn_index": i, "role": role.role,
                    "kind": role.kind, "speaker": role.speaker, "session": 0,
                    "sent_at": start + dt.timedelta(days=i + 30 * (i >= days // 2))}
        )
        for i in range(days)
        for n, role in enumerate(OWN.said[:2])
    ]  # fmt: skip
    probe = OWN.probe("knowledge_update")
    ends = (said[0].message_key, said[-2].message_key)
    evidence = tuple(e.model_copy(update={"message_key": key}) for e, key in zip(probe.evidence, ends, strict=True))
    return replace(OWN, said=tuple(said), asked=(probe.model_copy(update={"evidence": evidence}),))


@pytest.mark.parametrize("own", [OWN, tiny_conversation(), stretched(57), stretched(400)])
def test_every_message_and_all_evidence_is_read(tmp_path: Path, own: MemoryReader) -> None:
    sample = sample_of(write(export_locomo, [own], tmp_path / "out"))
    seen = read_by_the_script(sample["conversation"])

    assert [said["text"] for said in seen.values()] == [message.content for message in own.said]
    assert recall(sample, set(seen)) == 1.0


def test_merged_sessions_are_as_many_as_fit_and_break_where_nobody_wrote(tmp_path: Path) -> None:
    report = export_locomo([stretched(57)], SPEC, tmp_path / "out")
    conversation = sample_of(tmp_path / "out")["conversation"]
    dates = [
        dt.datetime.strptime(conversation[f"session_{n}_date_time"], "%I:%M %p on %d %B, %Y") for n in range(1, 50)
    ]

    assert "session_50" not in conversation
    assert dates == sorted(set(dates))
    breaks = [later - earlier for earlier, later in pairwise(dates) if (later - earlier).days > 20]
    assert len(breaks) == 1  # the month in which nobody wrote
    assert report.warnings == (
        "conversation c000: 57 days are 49 sessions, each with the date of its first day; "
        "--most-sessions sets how many",
    )  # fmt: skip


def test_who_wants_a_session_for_each_day_is_told_what_is_not_read(tmp_path: Path) -> None:
    report = export_locomo([stretched(57)], SPEC, tmp_path / "out", ExportOptions(most_sessions=0))

    assert len(read_by_the_script(sample_of(tmp_path / "out")["conversation"])) == 2 * 49
    assert report.warnings == ("conversation c000: 57 sessions, of which LoCoMo's own scripts read the first 49",)


def test_one_session_holds_everything(tmp_path: Path) -> None:
    export_locomo([stretched(57)], SPEC, tmp_path / "out", ExportOptions(most_sessions=1))
    sessions = [k for k in sample_of(tmp_path / "out")["conversation"] if k.endswith("_date_time")]
    assert sessions == ["session_1_date_time"]


def test_every_question_has_the_answer_that_the_script_reads(tmp_path: Path) -> None:
    """It reads `answer` of every category, the adversarial one too, also after we have read the file and written it."""
    target = write(export_locomo, [OWN], tmp_path / "out")
    (back,) = read(import_locomo, target / FILE)
    for sample in (sample_of(target), sample_of(write(export_locomo, [back], tmp_path / "again"))):
        assert all(str(question["answer"]) for question in sample["qa"])
        assert {question["category"] for question in sample["qa"]} == {1, 2, 3, 4, 5}
