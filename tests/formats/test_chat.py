from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.errors import UserError
from longbeam.formats import ImportOptions, import_chat
from longbeam.schemas import GivenConversation
from longbeam.text import Redaction

PAIR = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
SHAREGPT = {"id": "x", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
CHATGPT = {
    "title": "Greeting",
    "create_time": 1_700_000_000.0,
    "current_node": "d",
    "mapping": {
        "r": {"message": None, "parent": None, "children": ["a"]},
        "a": {
            "message": {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}},
            "parent": "r",
            "children": ["b"],
        },
        "b": {
            "message": {
                "author": {"role": "user"},
                "create_time": 1_700_000_010.5,
                "content": {
                    "content_type": "multimodal_text",
                    "parts": ["Hi", {"content_type": "image_asset_pointer"}],
                },
            },
            "parent": "a",
            "children": ["c", "d"],
        },
        "c": {
            "message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Old branch"]}},
            "parent": "b",
            "children": [],
        },
        "d": {
            "message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Hello"]}},
            "parent": "b",
            "children": [],
        },
    },
}
CLAUDE = {
    "uuid": "u",
    "name": "Greeting",
    "created_at": "2023-11-14T08:00:00Z",
    "chat_messages": [
        {"sender": "human", "text": "Hi", "created_at": "2023-11-14T08:00:01.5Z"},
        {"sender": "assistant", "text": "", "content": [{"type": "text", "text": "Hello"}]},
    ],
}


def imported(tmp_path: Path, content: Any, **options: Any) -> list[GivenConversation]:
    file = tmp_path / "chats.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return list(import_chat(file, ImportOptions(**options)))


def texts(given: GivenConversation) -> list[tuple[str, str]]:
    return [(m.role.value, m.content) for m in given.messages()]


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        (PAIR, "openai"),
        ([PAIR], "openai"),
        ({"messages": PAIR}, "openai"),
        ("\n".join(map(json.dumps, PAIR)), "openai"),
        (json.dumps({"messages": PAIR}) + "\n", "openai"),
        ([{"conversation": PAIR}], "openai"),
        ([SHAREGPT], "sharegpt"),
        ([CLAUDE], "claude"),
    ],
)
def test_every_shape_gives_the_same_conversation(tmp_path: Path, content: Any, shape: str) -> None:
    (given,) = imported(tmp_path, content)
    assert texts(given) == [("user", "Hi"), ("assistant", "Hello")]
    assert [m.message_key for m in given.messages()] == ["p0.s0.t0.n0", "p0.s0.t0.n1"]
    assert given.head.details["shape"] == shape


def test_a_tree_of_branches_is_read_along_the_last_one(tmp_path: Path) -> None:
    (given,) = imported(tmp_path, [CHATGPT])
    assert texts(given) == [("user", "Hi\n\n(image) shared here"), ("assistant", "Hello")]
    assert [m.sent_at.isoformat() for m in given.messages()] == ["2023-11-14T22:13:30"] * 2
    assert given.head.seed.title == "Greeting"


def test_chats_of_an_export_are_sessions_of_one_conversation_oldest_first(tmp_path: Path) -> None:
    earlier = CLAUDE | {"created_at": "2023-11-01T08:00:00Z", "chat_messages": [{"sender": "human", "text": "First"}]}
    (joined,) = imported(tmp_path, [CLAUDE, earlier])
    assert [(m.content, m.session) for m in joined.messages()] == [("First", 0), ("Hi", 1), ("Hello", 1)]
    assert joined.head.seed.title == "2 chats"
    assert len(imported(tmp_path, [CLAUDE, earlier], joins=False)) == 2
    assert len(imported(tmp_path, [PAIR, PAIR])) == 2
    (dated,) = imported(tmp_path, [PAIR, PAIR], joins=True)
    assert [(str(m.sent_at.date()), m.session) for m in dated.messages()][1:3] == [("2000-01-01", 0), ("2000-01-02", 1)]
    assert {note.kind.value for note in dated.head.import_notes} == {"no_date", "no_probes"}


def test_a_chat_that_goes_on_later_leaves_room_for_the_chats_between(tmp_path: Path) -> None:
    def said(text: str, time: str) -> dict[str, str]:
        return {"sender": "human" if text.isupper() else "assistant", "text": text, "created_at": f"2024-{time}:00Z"}

    long = CLAUDE | {
        "chat_messages": [
            said("A", "01-01T23:59"),
            said("a", "01-02T00:01"),  # a reply stays with its question
            said("D", "03-01T09:00"),
            said("d", "03-01T12:00"),
        ]
    }
    between = CLAUDE | {"chat_messages": [said("B", "01-02T00:00"), said("C", "02-01T09:00"), said("E", "03-01T10:00")]}
    (joined,) = imported(tmp_path, [long, between])
    assert [(m.content, m.sent_at.strftime("%m-%d"), m.session) for m in joined.messages()] == [
        ("A", "01-01", 0),
        ("a", "01-02", 1),
        ("B", "01-02", 1),
        ("C", "02-01", 2),
        ("D", "03-01", 3),
        ("d", "03-01", 3),
        ("E", "03-01", 3),
    ]
    assert joined.head.seed.title == "2 chats"


def test_tools_and_system_messages_are_kept_apart(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": '{"q": 1}'}}
    said = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "42"},
    ]
    (given,) = imported(tmp_path, said)
    assert [role for role, _ in texts(given)] == ["user", "assistant", "assistant"]
    assert texts(given)[1][1] == '→ look_up\narguments: {"q": 1}'
    assert texts(given)[2][1] == "←\n42"
    assert given.head.details["system"] == ["Be brief."]


def test_redaction_reaches_every_text(tmp_path: Path) -> None:
    redaction = Redaction()
    said = [{"role": "system", "content": "a@b.org"}, {"role": "user", "content": ["I am a@b.org", "c@d.org"]}]
    (given,) = imported(tmp_path, {"title": "To a@b.org", "messages": said}, redaction=redaction)
    (message,) = given.messages()
    assert message.content == "I am [email 1]\n\n[email 2]"
    kept = given.head.model_dump_json() + message.model_dump_json()
    assert "@" not in kept
    assert {f.text: f.count for f in redaction.found()}.keys() == {"a@b.org", "c@d.org"}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([{"thread": []}], r"is no chat that is read \(keys: 'thread'\); .*: chats.json: element 1"),
        ([3], "a number where a chat or a message is needed: chats.json: element 1"),
        ([{"role": "judge", "content": "x"}], "the role is 'judge'; user, assistant, system and tool are read"),
        ([{"messages": [3]}], "a number where an object is needed: chats.json: element 1: messages: message 1"),
        ([{"messages": []}], "holds no chat with a message of a user"),
        ("nonsense", "not JSON"),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, content: Any, fault: str) -> None:
    with pytest.raises(UserError, match=fault):
        imported(tmp_path, content)


def test_a_zip_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is a zip; unpack it"):
        list(import_chat(tmp_path / "export.zip", ImportOptions()))


def test_the_command_shows_what_it_replaced_and_validates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, [{"role": "user", "content": "Mail a@b.org"}, PAIR[1]])))
    out = ["--out", str(tmp_path / "out")]
    assert run(["import", "chat", str(file), "--name", "mine", "--redact", *out]) == OK
    assert capsys.readouterr().out.startswith("[email 1]     1  a@b.org\nemail 1\nmine: 1 conversation, 2 messages")
    assert run(["validate", "mine", *out]) == OK
    assert run(["import", "locomo", str(file), "--name", "other", "--redact", *out]) == USER_ERROR
    assert "are of chats, not of locomo" in capsys.readouterr().err
