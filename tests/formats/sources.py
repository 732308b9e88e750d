"""Somebody else's benchmarks, made by hand: small, and odd in the ways in which the released ones are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from longbeam.formats import Exporter, Importer, ImportOptions
from longbeam.schemas import BenchmarkSpec, ConversationReader
from tests.builders import MemoryReader

SHARED = Path(__file__).parents[3] / "shared" / "data"
SPEC = BenchmarkSpec(name="tiny", licence="CC-BY-4.0")


def read(importer: Importer, path: Path, **options: Any) -> list[MemoryReader]:
    """What an importer gives, held in memory."""
    conversations = importer(path, ImportOptions(**options))
    return [MemoryReader(c.head, tuple(c.messages()), c.probes) for c in conversations]


def write(exporter: Exporter, readers: Iterable[ConversationReader], target: Path) -> Path:
    """Export and return the folder."""
    return exporter(readers, SPEC, target).target


def notes_of(reader: MemoryReader) -> list[tuple[str, str]]:
    """Kind and subject of what an import noted."""
    return [(note.kind.value, note.subject) for note in reader.head.import_notes]


# --- BEAM -------------------------------------------------------------------------------------------------


def message(role: str, number: int, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "id": number, **more, "content": content}


def beam_chat() -> list[dict[str, Any]]:
    """Two sub-plans; markers copied by a follow-up and a reply; an index in words; a fence of free text."""
    main = {"question_type": "main_question"}
    return [
        {
            "batch_number": 1,
            "turns": [
                [
                    message("user", 0, "Hi, I'm Ada. ->-> 1,1", time_anchor="March-15-2024", index="1,1", **main),
                    message("assistant", 1, "Hello Ada."),
                    message("user", 2, "Is it far?\n ->-> 1,2", question_type="followup_question"),
                    message("assistant", 3, "No. ->-> 1,2"),
                ],
                [
                    message("user", 4, "My budget is $50. ->-> 1,2)", index="1,2)", **main),
                    message("assistant", 5, "Noted.\n"),
                    message("user", 6, "Yes.", question_type="answer_ai_question"),
                    message("assistant", 7, "Good."),
                ],
            ],
            "time_anchor": None,
        },
        {
            "batch_number": 2,
            "turns": [
                [
                    message("user", 8, "It is $60 now. ->-> 2,2", time_anchor="April-05-2024", index="2,2", **main),
                    message("assistant", 9, "Updated."),
                ],
                [
                    message(
                        "user", 10, "I have never set a budget. ->-> 2,(N/A, but related)",
                        index="2,(N/A, but related)", **main,
                    ),
                    message("assistant", 11, "Understood."),
                ],
            ],
            "time_anchor": None,
        },
    ]  # fmt: skip


def beam_questions() -> dict[str, list[dict[str, Any]]]:
    """One of each shape that evidence has; a difficulty of BEAM's own; a probe that lacks keys."""
    return {
        "abstention": [
            {"question": "Who is Bob?", "ideal_response": "Nothing is said.", "difficulty": "hard",
             "abstention_type": "missing_detail", "why_unanswerable": "not in the plan", "rubric": ["Nothing is said"]},
        ],
        "contradiction_resolution": [
            {"question": "Did I set a budget?", "ideal_answer": "You said both.", "difficulty": "clear",
             "contradiction_type": "never_statement_violation", "topic_questioned": "budget",
             "conversation_references": ["chat_id: 10", "chat_id: 4"], "tests_for": "both",
             "source_chat_ids": {"first_statement": [10], "second_statement": [4]}, "rubric": ["says both", "asks"]},
        ],
        "event_ordering": [
            {"question": "In which order?", "answer": "1) Ada 2) budget", "difficulty": "medium",
             "ordering_type": "mention_sequence", "total_mentions": 2, "conversation_references": [],
             "ordering_tested": ["1st: Ada", "2nd: budget"], "source_chat_ids": [0, [4, 8]],
             "rubric": ["Ada", "budget"]},
        ],
        "knowledge_update": [
            {"question": "What is my budget?", "answer": "$60", "difficulty": "moderate", "update_type": "amount",
             "tests_retention_of": "budget", "conversation_references": [], "potential_confusion": "old",
             "source_chat_ids": {"original_info": [4], "updated_info": []}, "rubric": ["$60"]},
        ],
        "preference_following": [
            {"question": "Which?", "preference_being_tested": "near", "expected_compliance": "names a near one",
             "compliance_indicators": ["near"], "non_compliance_signs": [], "difficulty": "medium",
             "preference_type": "place", "source_chat_ids": [], "rubric": ["near"]},
        ],
        "summarization": [
            {"question": "Sum up.", "ideal_summary": "A budget.", "difficulty": "easy", "rubric": ["budget"],
             "summarization_type": "progress", "bullet_points_covered": 2, "key_elements_tested": ["budget"],
             "synthesis_required": "yes", "source_chat_ids": [99, "8"]},
        ],
    }  # fmt: skip


BEAM_TEXTS = {
    "main_spec.txt": "USER PROFILE:\n    • Name: Ada Byron\n    • Age: 36 years old\n    • Gender: Female\n"
    "    • Location: London, United Kingdom\n    • Profession: Analyst\n\n    PERSONALITY OVERVIEW:\n    She counts.",
    "relationships.txt": "CHILDREN:\n• Anne (female, age 13)\n\nCLOSE FRIENDS:\n• Charles (male, age 44)",
    "labels.txt": "1. LABEL CATEOGRY: Money Labels\n   LABEL DESCRIPTION: \n   Focus Areas: Budget, Savings",
    "plan.txt": "BATCH 1 PLAN",
    "plan_new.txt": "BATCH 1 PLAN\n• **Time Anchor:** March 15, 2024\n• **Money Labels:Budget:** It is $50.\n\n"
    "**BATCH 2 PLAN**\n**\n- • **Time Anchor:** April 5, 2024\n- • **Information Update:** It is $60.\n"
    "- • **User Instruction:** Always show sums when I ask about costs.\n"
    "- • **Logical Contradiction:** Never a budget.",
}


def beam_user_messages() -> list[dict[str, Any]]:
    return [
        {
            "batch": number,
            "time_anchor": batch["turns"][0][0]["time_anchor"],
            "messages": [{"role": "user", "content": turn[0]["content"]} for turn in batch["turns"]],
        }
        for number, batch in enumerate(beam_chat(), start=1)
    ]


def beam_folder(root: Path, name: str = "7", change: Callable[[dict[str, Any]], None] | None = None) -> Path:
    """Write `root/100K/<name>`; `change` may alter the files before, given as JSON values and texts by name."""
    files: dict[str, Any] = {
        "chat.json": beam_chat(),
        "probing_questions/probing_questions.json": beam_questions(),
        "topic.json": {
            "id": 7,
            "category": "Financial Investment",
            "title": "A budget",
            "theme": "Money",
            "subtopics": [],
        },
        "user_messages.json": beam_user_messages(),
        **BEAM_TEXTS,
    }
    if change is not None:
        change(files)
    folder = root / "100K" / name
    for file, value in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        text = value if isinstance(value, str) else json.dumps(value)
        (folder / file).write_text(text, encoding="utf-8")
    return folder


def many_plans(files: dict[str, Any]) -> None:
    """The same chat twice, as the two plans of a 10M chat."""
    chat = files["chat.json"]
    again = [{**b, "turns": [[{**m, "id": m["id"] + 12} for m in turn] for turn in b["turns"]]} for b in chat]
    files["chat.json"] = [{"plan-1": chat}, {"plan-2": again}]
    files["core_relationships.txt"] = files.pop("relationships.txt")
    for name in ("plan.txt", "plan_new.txt", "labels.txt", "user_messages.json"):
        value = files.pop(name)
        files |= {f"plan-0/{name}": value, f"plan-1/{name}": value}
    files["plan-1/new_relationships.txt"] = "CLOSE FRIENDS:\n• Mary (female, age 51)"
    files["plan_cutoff.txt"] = "2"
    for i, days in enumerate(("2024-03-15 to 2024-04-30", "2024-05-01 to 2024-06-30")):
        files[f"plan-{i}/topic.json"] = {
            "id": i,
            "category": "CORE ACTION",
            "title": f"Part {i}",
            "theme": "Money",
            "subtopics": ["saving"],
            "timeline": days,
            "phase_type": "core_action",
            "phase_boundaries": {"can_mention": ["a"], "cannot_mention": ["b"], "tense_for_main_action": "present"},
        }


def json_files(folder: Path) -> dict[str, Any]:
    """All files below a folder by name, the JSON ones as values."""
    return {
        path.relative_to(folder).as_posix(): json.loads(text) if path.suffix == ".json" else text
        for path in sorted(p for p in folder.rglob("*") if p.is_file())
        for text in [path.read_text(encoding="utf-8")]
    }


# --- LoCoMo -----------------------------------------------------------------------------------------------


def locomo_sample(name: str = "conv-1") -> dict[str, Any]:
    """Two sessions, an image, an adversarial question with an answer, evidence in one string."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I ran a race."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "img_url": ["u"],
                 "blip_caption": "a photo of a dog", "query": "dog", "re-download": True},
            ],
            "session_2_date_time": "12:09 am on 9 May, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Well done.", "mood": "glad"}],
            "session_3_date_time": "1:00 am on 10 May, 2023",
        },
        "qa": [
            {"question": "What did Ann run?", "answer": "A race", "evidence": ["D1:1"], "category": 4},
            {"question": "When?", "answer": 2023, "evidence": ["D1:1; D2:1"], "category": 2},
            {"question": "What did Ben run?", "evidence": ["D1:1"], "category": 5, "adversarial_answer": "A race"},
            {"question": "Why?", "answer": "For fun", "adversarial_answer": "x", "evidence": ["D9:9"], "category": 5},
            {"question": "Is Ann fit?", "answer": "Likely yes", "evidence": [], "category": 3},
            {"question": "Who talks?", "answer": "Ann, Ben", "evidence": ["D2:1", "D1:1"], "category": 1},
        ],
        "event_summary": {"events_session_1": {"Ann": ["race"], "date": "8 May, 2023"}},
    }  # fmt: skip


# --- LongMemEval ------------------------------------------------------------------------------------------


def longmemeval_items() -> list[dict[str, Any]]:
    """Three questions on two haystacks; a repeated haystack; an abstention; an answer that is a number."""

    def item(question_id: str, kind: str, answer: Any, flags: dict[int, bool], **more: Any) -> dict[str, Any]:
        sessions = [
            [{"role": "user", "content": "I have 3 cats."}, {"role": "assistant", "content": "Nice."}],
            [{"role": "user", "content": "Now it is 4."}, {"role": "assistant", "content": "More cats!"}],
        ]
        flat = [m for session in sessions for m in session]
        for i, flag in flags.items():
            flat[i]["has_answer"] = flag  # type: ignore[assignment]
        return {
            "question_id": question_id,
            "question_type": kind,
            "question": f"Question {question_id}?",
            "answer": answer,
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_session_ids": ["answer_1", "ultra_2"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
            "haystack_sessions": sessions,
            "answer_session_ids": ["answer_1"],
            **more,
        }

    last = item("q3", "temporal-reasoning", "1 day", {})
    last["haystack_dates"] = ["2023/05/20 (Sat) 02:21", "2023/05/01 (Mon) 10:00"]
    return [
        item("q1", "knowledge-update", 4, {0: True, 1: False, 2: True}),
        item("q2_abs", "multi-session", "Not said", {}, answer_session_ids=["lost"]),
        last,
    ]


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
