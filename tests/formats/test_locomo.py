from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import UserError
from longbeam.formats import CATEGORIES, export_locomo, import_locomo
from longbeam.formats.locomo import FILE, UNSAID
from longbeam.schemas import MessageRole, PartKind
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import SHARED, locomo_sample, notes_of, read, write, write_json


@pytest.fixture
def imported(tmp_path: Path) -> MemoryReader:
    """The hand-made sample."""
    (reader,) = read(import_locomo, write_json(tmp_path / "l.json", [locomo_sample()]))
    return reader


def exported(folder: Path) -> Any:
    return json.loads((folder / FILE).read_text(encoding="utf-8"))


def test_speakers_sessions_and_times_are_those_of_the_file(imported: MemoryReader) -> None:
    assert [(m.message_key, m.speaker, m.role, m.session) for m in imported.said] == [
        ("D1:1", "Ann", MessageRole.USER, 0),
        ("D1:2", "Ben", MessageRole.ASSISTANT, 0),
        ("D2:1", "Ben", MessageRole.ASSISTANT, 1),
    ]
    assert [m.sent_at.isoformat() for m in imported.said] == [
        "2023-05-08T13:56:00",
        "2023-05-08T13:56:00",
        "2023-05-09T00:09:00",
    ]


def test_an_image_is_said_in_the_content_and_kept_as_a_part(imported: MemoryReader) -> None:
    shared = imported.said[1]
    assert shared.content == "Look! [shares a photo of a dog]"
    text, image = shared.parts
    assert (text.kind, text.text) == (PartKind.TEXT, "Look!")
    assert (image.kind, image.text) == (PartKind.IMAGE_STUB, "a photo of a dog")
    assert image.data["img_url"] == ["u"]
    assert imported.said[2].details == {"locomo": {"mood": "glad"}}


def test_categories_have_their_right_names() -> None:
    # Snap's own evaluation: 1 multi-hop (282), 2 temporal (321), 3 open-domain (96), 4 single-hop (841), 5 adversarial.
    assert CATEGORIES == {
        1: "multi-hop",
        2: "temporal",
        3: "open-domain",
        4: "single-hop",
        5: "adversarial",
    }


def test_a_question_of_an_unlisted_category_is_kept_with_it(tmp_path: Path) -> None:
    sample = locomo_sample()
    sample["qa"][0]["category"], sample["qa"][1]["category"] = 6, "Guessing games"
    (reader,) = read(import_locomo, write_json(tmp_path / "l.json", [sample]))

    assert [(p.ability, p.source_category) for p in reader.asked[:2]] == [
        ("category_6", "6"),
        ("guessing_games", "Guessing games"),
    ]
    qa = exported(write(export_locomo, [reader], tmp_path / "out"))[0]["qa"]
    assert [question["category"] for question in qa[:2]] == [6, "Guessing games"]


def test_questions_become_probes(imported: MemoryReader) -> None:
    assert [(p.probe_id, p.source_category, p.gold_answer) for p in imported.asked] == [
        ("information_extraction.0", "single-hop", "A race"),
        ("temporal_reasoning.1", "temporal", "2023"),
        ("abstention.2", "adversarial", UNSAID),
        ("abstention.3", "adversarial", UNSAID),
        ("information_extraction.4", "open-domain", "Likely yes"),
        ("multi_session_reasoning.5", "multi-hop", "Ann, Ben"),
    ]
    assert [[e.message_key for e in p.evidence] for p in imported.asked] == [
        ["D1:1"], ["D1:1", "D2:1"], ["D1:1"], [], [], ["D1:1", "D2:1"],
    ]  # fmt: skip


def test_oddities_are_noted(imported: MemoryReader) -> None:
    assert notes_of(imported) == [
        ("evidence_shape", "temporal_reasoning.1"),
        ("adversarial_answer", "abstention.3"),
        ("evidence_id", "abstention.3"),
        ("evidence_missing", "information_extraction.4"),
    ]


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    samples = [locomo_sample("a"), locomo_sample("b")]
    target = write(export_locomo, read(import_locomo, write_json(tmp_path / "l.json", samples)), tmp_path / "out")
    assert exported(target) == samples


def test_what_was_changed_since_is_written(tmp_path: Path, imported: MemoryReader) -> None:
    changed = imported.with_probe("temporal_reasoning", evidence=imported.asked[0].evidence, question="In what year?")
    question = exported(write(export_locomo, [changed], tmp_path / "out"))[0]["qa"][1]
    assert (question["question"], question["evidence"], question["answer"]) == ("In what year?", ["D1:1"], 2023)


@pytest.mark.skipif(not (SHARED / "locomo").is_dir(), reason="LoCoMo's conversations are not beside the repository")
def test_published_conversations_come_back_as_they_were(tmp_path: Path) -> None:
    (file,) = (SHARED / "locomo").glob("*.json")
    target = write(export_locomo, read(import_locomo, file), tmp_path / "out")
    assert exported(target) == json.loads(file.read_text(encoding="utf-8"))


def test_our_own_conversation_comes_back_as_far_as_the_format_holds_it(tmp_path: Path) -> None:
    own = good_conversation()
    (back,) = read(import_locomo, write(export_locomo, [own], tmp_path / "out") / FILE)

    assert [(m.role, m.content) for m in back.said] == [(m.role, m.content) for m in own.said]
    # A session ends with its day: the first message of each turn keeps its own.
    opening = [i for i, m in enumerate(own.said) if m.kind == "question"]
    assert [back.said[i].sent_at.date() for i in opening] == [own.said[i].sent_at.date() for i in opening]
    assert {m.speaker for m in back.said} == {"Maya", "Assistant"}
    assert asked(back) == asked(own)


def asked(reader: MemoryReader) -> list[Any]:
    place = {m.message_key: i for i, m in enumerate(reader.said)}
    return sorted(
        (p.probe_id, p.ability, p.question, p.gold_answer, p.difficulty, [n.text for n in p.rubric],
         sorted({place[e.message_key] for e in p.evidence}))
        for p in reader.asked
    )  # fmt: skip


# --- wrong input ------------------------------------------------------------------------------------------


def no_speaker(sample: dict[str, Any]) -> None:
    del sample["conversation"]["speaker_b"]


def stranger(sample: dict[str, Any]) -> None:
    sample["conversation"]["session_2"][0]["speaker"] = "Eve"


def same_id(sample: dict[str, Any]) -> None:
    sample["conversation"]["session_2"][0]["dia_id"] = "D1:1"


def no_category(sample: dict[str, Any]) -> None:
    del sample["qa"][0]["category"]


def no_session(sample: dict[str, Any]) -> None:
    del sample["conversation"]["session_1"], sample["conversation"]["session_2"]


def no_text(sample: dict[str, Any]) -> None:
    del sample["conversation"]["session_1"][0]["text"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (no_speaker, r"l\.json: sample 1: speaker_b: found nothing; a speaker's name is needed"),
        (stranger, r"session_2\[0\]: speaker the text \"Eve\"; allowed: Ann, Ben"),
        (same_id, r"session_2\[0\]: dia_id 'D1:1' occurs twice"),
        (no_category, r"qa\[0\]: category nothing; a number or a name is needed"),
        (no_session, r"conversation: there is no session_1, a list of messages"),
        (no_text, r"session_1\[0\]: text: found nothing; what is said is needed"),
    ],
)
def test_wrong_input_is_one_clear_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], complaint: str
) -> None:
    sample = locomo_sample()
    change(sample)
    with pytest.raises(UserError, match=complaint):
        read(import_locomo, write_json(tmp_path / "l.json", [sample]))


def test_a_sample_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sample_id 'conv-1' occurs twice"):
        read(import_locomo, write_json(tmp_path / "l.json", [locomo_sample(), locomo_sample()]))
