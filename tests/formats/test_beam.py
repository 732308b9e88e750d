from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import UserError
from longbeam.formats import export_beam, import_beam, read_index, read_labels, split_marker
from longbeam.schemas import BulletKind, Evidence, MessageKind, Relation
from tests.builders import MemoryReader, good_conversation
from tests.formats.sources import SHARED, beam_folder, json_files, many_plans, notes_of, read, write


@pytest.fixture
def imported(tmp_path: Path) -> MemoryReader:
    """The hand-made chat."""
    (reader,) = read(import_beam, beam_folder(tmp_path))
    return reader


# --- reading ----------------------------------------------------------------------------------------------


def test_messages_come_without_their_markers(imported: MemoryReader) -> None:
    contents = [m.content for m in imported.said]
    assert contents[0] == "Hi, I'm Ada."
    assert contents[2:4] == ["Is it far?", "No."]
    assert contents[5] == "Noted.\n"  # only a marker is taken away
    assert imported.said[2].details["marker"] == "\n ->-> 1,2"


def test_messages_know_kind_place_day_and_bullet(imported: MemoryReader) -> None:
    kinds = [m.kind for m in imported.said[:8:2]]
    assert kinds == [MessageKind.QUESTION, MessageKind.FOLLOW_UP, MessageKind.QUESTION, MessageKind.ANSWER]
    assert [m.message_key for m in imported.said[7:9]] == ["p0.s0.t1.n3", "p0.s1.t0.n0"]
    assert [m.sent_at.date() for m in imported.said[7:9]] == [dt.date(2024, 3, 15), dt.date(2024, 4, 5)]
    assert [m.bullet_ids for m in imported.said[::4]] == [("p0.s0.b0",), ("p0.s0.b1",), ("p0.s1.b1",)]
    assert imported.said[0].tokens == 5  # Hi | , | I'm | Ada | .


def test_head_has_profile_people_plan_and_planned_turns(imported: MemoryReader) -> None:
    head = imported.head
    assert head.profile is not None
    assert (head.profile.first_name, head.profile.age, head.profile.city) == ("Ada", 36, "London")
    assert [(p.first_name, p.relation) for p in head.relationships.people] == [
        ("Anne", Relation.CHILD),
        ("Charles", Relation.FRIEND),
    ]
    assert [n.sub_labels for n in head.narratives] == [("Budget", "Savings")]
    assert [b.kind for b in head.plans[0].sub_plans[1].bullets][1:] == [
        BulletKind.UPDATE,
        BulletKind.INSTRUCTION,
        BulletKind.CONTRADICTION,
    ]
    assert head.plans[0].sub_plans[1].bullets[2].condition == "when I ask about costs"
    assert head.user_turns[1].text == "My budget is $50."
    assert (head.seed.domain.value, head.target_tokens) == ("financial_investment", 0)


def test_evidence_has_the_parts_of_its_ability(imported: MemoryReader) -> None:
    def cited(ability: str) -> list[tuple[str, str, int | None]]:
        return [(e.message_key, e.part, e.group) for e in imported.probe(ability).evidence]

    # The side that says "never" is the denial, whichever BEAM calls the first.
    assert cited("contradiction_resolution") == [
        ("p0.s0.t1.n0", "statement", None),
        ("p0.s1.t1.n0", "denial", None),
    ]
    assert cited("event_ordering") == [
        ("p0.s0.t0.n0", "item", 0),
        ("p0.s0.t1.n0", "item", 1),
        ("p0.s1.t0.n0", "item", 1),
    ]
    assert cited("knowledge_update") == [("p0.s0.t1.n0", "original", None)]
    assert cited("summarization") == [("p0.s1.t0.n0", "support", None)]


def test_gold_answers_come_from_all_five_keys(imported: MemoryReader) -> None:
    assert {p.ability: p.gold_answer for p in imported.asked} == {
        "abstention": "Nothing is said.",
        "contradiction_resolution": "You said both.",
        "event_ordering": "1) Ada 2) budget",
        "knowledge_update": "$60",
        "preference_following": "names a near one",
        "summarization": "A budget.",
    }
    assert imported.probe("knowledge_update").difficulty == "medium"  # BEAM's word is `moderate`


def test_oddities_are_noted(imported: MemoryReader) -> None:
    assert notes_of(imported) == [
        ("copied_marker", "p0.s0.t0.n2"),
        ("copied_marker", "p0.s0.t0.n3"),
        ("bad_index", "p0.s0.t1.n0"),
        ("bad_index", "p0.s1.t1.n0"),
        ("plan_markers", "conversation"),
        ("evidence_shape", "event_ordering.0"),
        ("evidence_missing", "knowledge_update.0"),
        ("evidence_missing", "preference_following.0"),
        ("missing_key", "summarization.0"),
        ("evidence_shape", "summarization.0"),
        ("evidence_id", "summarization.0"),
    ]


def test_the_truncated_chat_is_read_when_asked_for(tmp_path: Path) -> None:
    def shorten(files: dict[str, Any]) -> None:
        files["chat_trunecated.json"] = files["chat.json"][:1]

    folder = beam_folder(tmp_path, change=shorten)
    ((full,), (short,)) = (read(import_beam, folder), read(import_beam, folder, full_chat=False))

    assert (len(full.said), len(short.said)) == (12, 8)
    assert ("other_chat", "chat_trunecated.json") in notes_of(full)
    assert ("other_chat", "chat.json") in notes_of(short)
    assert ("evidence_id", "contradiction_resolution.0") in notes_of(short)  # cites what was cut off


def test_without_chat_text_the_planned_messages_are_read(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path, change=lambda files: files.pop("chat.json"))
    (reader,) = read(import_beam, folder)

    assert [m.content for m in reader.said] == [
        "Hi, I'm Ada.", "My budget is $50.", "It is $60 now.", "I have never set a budget.",
    ]  # fmt: skip
    assert reader.said[2].bullet_ids == ("p0.s1.b1",)
    assert not any(p.evidence for p in reader.asked)
    assert notes_of(reader)[0] == ("no_chat", "conversation")


def test_one_message_as_both_sides_is_noted_where_no_chat_text_is(tmp_path: Path) -> None:
    def share(files: dict[str, Any]) -> None:
        files.pop("chat.json")
        questions = files["probing_questions/probing_questions.json"]
        questions["knowledge_update"][0]["source_chat_ids"] = {"original_info": [4], "updated_info": [6, 4]}
        events = {"source_chat_ids": {"first_event": [2], "second_event": [2]}}
        questions["temporal_reasoning"] = [{"question": "How long?", "answer": "A day", "rubric": ["A day"], **events}]

    (reader,) = read(import_beam, beam_folder(tmp_path, change=share))
    assert {n for n in notes_of(reader) if n[0].startswith("one_")} == {
        ("one_message", "knowledge_update.0"),
        ("one_session", "temporal_reasoning.0"),
    }


def test_several_plans_are_read_and_written(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path / "in", change=many_plans)
    (reader,) = read(import_beam, folder)

    assert [m.message_key for m in reader.said[11:13]] == ["p0.s1.t1.n1", "p1.s0.t0.n0"]
    assert [m.session for m in reader.said[::6]] == [0, 0, 2, 2]
    assert [p.plan_index for p in reader.head.plans] == [0, 1]
    assert [p.first_name for p in reader.head.relationships.people] == ["Anne", "Charles", "Mary"]
    assert json_files(write(export_beam, [reader], tmp_path / "out") / "100K" / "7") == json_files(folder)


def test_seeds_of_several_plans_are_read_and_written(tmp_path: Path) -> None:
    (reader,) = read(import_beam, beam_folder(tmp_path / "in", change=many_plans))
    first, second = reader.head.plan_seeds

    assert (first.topic, first.phase, first.tense) == ("Part 0", "core_action", "present")
    assert (first.can_mention, first.cannot_mention) == (("a",), ("b",))
    assert second.timeline.start == dt.date(2024, 5, 1)
    assert second.domain == reader.head.seed.domain  # the category of a plan names its phase
    own = reader.with_head(details={})
    (back,) = read(import_beam, write(export_beam, [own], tmp_path / "out"))
    assert back.head.plan_seeds == own.head.plan_seeds


def test_plans_without_days_have_no_seeds(tmp_path: Path) -> None:
    def undate(files: dict[str, Any]) -> None:
        many_plans(files)
        files["plan-1/topic.json"]["timeline"] = "N/A"

    (reader,) = read(import_beam, beam_folder(tmp_path, change=undate))
    assert reader.head.plan_seeds == ()
    assert "N/A" in reader.head.details["files"]["plan-1/topic.json"]


def test_chats_of_plans_in_files_of_their_own_are_joined(tmp_path: Path) -> None:
    def split(files: dict[str, Any]) -> None:
        chat = files["chat.json"]
        many_plans(files)
        del files["chat.json"]
        files |= {"plan-0/chat.json": chat, "plan-1/chat.json": chat}

    (reader,) = read(import_beam, beam_folder(tmp_path, change=split))
    assert len(reader.said) == 24
    assert not [kind for kind, _ in notes_of(reader) if kind == "message_id"]


def test_a_folder_of_chats_is_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10", "9", "x"):
        beam_folder(tmp_path, name)

    for root in (tmp_path, tmp_path / "100K"):
        assert [r.head.details["id"] for r in read(import_beam, root)] == ["x", "9", "10"]
    assert [r.head.conversation_id for r in read(import_beam, tmp_path)] == ["c000", "c001", "c002"]


def test_pickles_are_never_read(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path)
    (folder / "chat.pickle").write_bytes(b"cos\nsystem\n(S'false'\ntR.")

    (reader,) = read(import_beam, folder)
    assert ("unread_file", "chat.pickle") in notes_of(reader)


def test_markers_are_split_off_only_at_the_end() -> None:
    assert split_marker("a ->-> 1,2") == ("a", " ->-> 1,2")
    assert split_marker("a\n\n->-> 3,N/A") == ("a", "\n\n->-> 3,N/A")
    assert split_marker("a <-<- 2") == ("a", " <-<- 2")
    assert split_marker("a ->-> 1\nb") == ("a ->-> 1\nb", "")
    assert split_marker(" " * 300_000) == (" " * 300_000, "")  # BEAM has such a reply
    assert [read_index(i) for i in ("1,2", " 5 , 14 ", "5,14)", "2,22, 24", "5,N/A", "2,(N/A, but related)")] == [
        (1, (2,)),
        (5, (14,)),
        (5, (14,)),
        (2, (22, 24)),
        None,
        None,
    ]


def test_labels_of_both_forms_are_read() -> None:
    new = "**Money Labels:**  \n- Central to it  \n- Budget, Savings \n\n**Other:**\n- Because\n- One"
    assert [(n.label, n.description, n.sub_labels) for n in read_labels(new)] == [
        ("Money Labels", "Central to it", ("Budget", "Savings")),
        ("Other", "Because", ("One",)),
    ]


# --- there and back ---------------------------------------------------------------------------------------


def test_a_folder_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path / "in")
    target = write(export_beam, read(import_beam, folder), tmp_path / "out")
    assert json_files(target / "100K" / "7") == json_files(folder)


def unlisted_ability(files: dict[str, Any]) -> None:
    question = {"question": "What am I thinking?", "answer": "Of tea.", "difficulty": "easy", "rubric": ["Says tea"]}
    files["probing_questions/probing_questions.json"]["Mind-Reading"] = [question | {"source_chat_ids": [0]}]


def test_a_probe_of_an_unlisted_ability_is_kept_under_its_name(tmp_path: Path) -> None:
    folder = beam_folder(tmp_path / "in", change=unlisted_ability)
    (reader,) = read(import_beam, folder)

    probe = reader.probe("mind_reading")
    assert (probe.probe_id, probe.source_category, probe.gold_answer) == ("mind_reading.0", "Mind-Reading", "Of tea.")
    assert [e.part for e in probe.evidence] == ["support"]
    target = write(export_beam, [reader], tmp_path / "out")
    assert json_files(target / "100K" / "7") == json_files(folder)


def test_what_was_changed_since_is_written(tmp_path: Path) -> None:
    (reader,) = read(import_beam, beam_folder(tmp_path / "in"))
    update = reader.probe("knowledge_update")
    added = Evidence(message_key="p0.s1.t0.n0", quote="It is $60", part="updated")
    changed = reader.with_probe("knowledge_update", question="How much?", evidence=(*update.evidence, added))

    (found,) = json_files(write(export_beam, [changed], tmp_path / "out") / "100K" / "7")[
        "probing_questions/probing_questions.json"
    ]["knowledge_update"]
    assert found["question"] == "How much?"
    assert found["source_chat_ids"] == {"original_info": [4], "updated_info": [8]}
    assert found["difficulty"] == "moderate"


@pytest.mark.skipif(not (SHARED / "beam").is_dir(), reason="the released chats are not beside the repository")
@pytest.mark.parametrize("size", ["100K", "10M"])
def test_released_chats_come_back_as_they_were(tmp_path: Path, size: str) -> None:
    target = write(export_beam, read(import_beam, SHARED / "beam" / size), tmp_path / "out")

    for folder in (SHARED / "beam" / size).iterdir():
        before, after = json_files(folder), json_files(target / size / folder.name)
        before.pop("chat_trunecated.json", None)  # one version of the chat was imported
        assert after.keys() == before.keys()
        for name in before:
            assert after[name] == before[name], f"{folder.name}/{name}"


def test_our_own_conversation_comes_back_as_far_as_the_format_holds_it(tmp_path: Path) -> None:
    own = good_conversation()
    target = write(export_beam, [own], tmp_path / "out")
    (back,) = read(import_beam, target)

    def said(reader: MemoryReader) -> list[Any]:
        return [(m.role, m.kind, m.content, m.tokens, m.plan_index, m.sub_plan_index) for m in reader.said]

    def asked(reader: MemoryReader) -> list[Any]:
        place = {m.message_key: i for i, m in enumerate(reader.said)}
        return sorted(
            (p.ability, p.question, p.gold_answer, p.difficulty, [n.text for n in p.rubric],
             sorted((place[e.message_key], e.part) for e in p.evidence))
            for p in reader.asked
        )  # fmt: skip

    assert said(back) == said(own)
    assert asked(back) == asked(own)
    assert [s.anchor for s in back.head.plans[0].sub_plans] == [s.anchor for s in own.head.plans[0].sub_plans]
    assert back.head.seed.timeline == own.head.seed.timeline
    assert notes_of(back) == []
    main = [i for i, m in enumerate(own.said) if m.kind is MessageKind.QUESTION]  # only these have an index
    assert [voiced(back, i) for i in main] == [voiced(own, i) for i in main]


def voiced(reader: MemoryReader, position: int) -> list[str]:
    """The texts of the bullets that a message voices."""
    texts = {b.bullet_id: b.text for plan in reader.head.plans for b in plan.bullets()}
    return [texts[bullet_id] for bullet_id in reader.said[position].bullet_ids]


# --- wrong input ------------------------------------------------------------------------------------------


def ability_without_list(files: dict[str, Any]) -> None:
    files["probing_questions/probing_questions.json"]["mind_reading"] = {}


def no_question(files: dict[str, Any]) -> None:
    del files["probing_questions/probing_questions.json"]["abstention"][0]["question"]


def other_role(files: dict[str, Any]) -> None:
    files["chat.json"][0]["turns"][0][0]["role"] = "system"


def no_turns(files: dict[str, Any]) -> None:
    files["chat.json"][1] = {"batch_number": 2, "messages": []}


def broken_json(files: dict[str, Any]) -> None:
    files["chat.json"] = '[{"batch_number": 1, "turns": [['


def no_probes(files: dict[str, Any]) -> None:
    del files["probing_questions/probing_questions.json"]


def nothing_said(files: dict[str, Any]) -> None:
    del files["chat.json"], files["user_messages.json"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            ability_without_list,
            r"7: probing questions: mind_reading: found an object {}; a list of questions is needed",
        ),
        (no_question, r"abstention\[0\]: question: found nothing; the question's text is needed"),
        (other_role, r"7: message 0: role the text \"system\"; allowed: user, assistant"),
        (
            no_turns,
            r"7/chat\.json: element 2: found nothing; a sub-plan with turns, or plan-1, plan-2, \.\.\. is needed",
        ),
        (broken_json, r"chat\.json: element 1: not JSON"),
        (no_probes, r"there is no probing_questions/probing_questions\.json"),
        (nothing_said, r"there is neither chat\.json nor user_messages\.json"),
    ],
)
def test_wrong_input_is_one_clear_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint) as refused:
        read(import_beam, beam_folder(tmp_path, change=change))
    assert "\n" not in str(refused.value)


def test_a_path_without_chats_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder or table here"):
        read(import_beam, tmp_path / "nowhere")
    with pytest.raises(UserError, match="no BEAM chat here"):
        read(import_beam, tmp_path)
