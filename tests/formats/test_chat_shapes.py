"""Shapes of public bug reports: nothing is lost without a finding, and one odd message loses no other."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import UserError
from longbeam.formats import ImportOptions, import_chat
from longbeam.pipeline import Origin, import_benchmark
from longbeam.schemas import GivenConversation
from longbeam.store import SealedConversation
from tests.formats.test_chat import CHATGPT, CLAUDE, PAIR, imported, texts

ROOT = "00000000-0000-4000-8000-000000000000"


def notes(given: GivenConversation) -> list[tuple[str, str]]:
    """Return the notes but those that every undated chat has."""
    found = [(note.kind.value, note.message) for note in given.head.import_notes]
    return [(kind, message) for kind, message in found if kind != "no_probes" and "has no date" not in message]


def contents(given: GivenConversation) -> list[str]:
    return [message.content for message in given.messages()]


@pytest.mark.parametrize(
    ("chat", "companions"),
    [
        (CHATGPT, {"message_feedback.json": [], "shared_conversations.json": [{"id": "s"}], "user.json": {"id": "u"}}),
        (CLAUDE, {"projects.json": [{"name": "P", "docs": []}], "users.json": [{"full_name": "Zed"}]}),
    ],
)
def test_an_unpacked_export_folder_is_read_without_its_companions(
    tmp_path: Path, chat: Any, companions: dict[str, Any]
) -> None:
    for name, value in {**companions, "conversations-000.json": [chat], "conversations-001.json": [chat]}.items():
        (tmp_path / name).write_text(json.dumps(value))
    (tmp_path / "chat.html").write_text("x")
    (given,) = import_chat(tmp_path, ImportOptions())
    assert len(contents(given)) == 4
    (line,) = [message for kind, message in notes(given) if kind == "unread_file"]
    assert line == f"a file beside the chats is not read: {'; '.join(sorted(['chat.html', *companions])[:3])}" + (
        "; and 1 more" if len(companions) > 2 else ""
    )


def test_a_folder_of_other_names_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([PAIR]))
    (tmp_path / "b.json").write_text("[]")
    (given,) = import_chat(tmp_path, ImportOptions())
    assert notes(given)[0] == ("unread_file", "the file is empty: b.json")


def test_pasted_text_of_a_claude_message_is_a_part_of_it(tmp_path: Path) -> None:
    files = [{"file_name": "paste.txt", "extracted_content": "My dentist is on Elm Road."}, {"file_name": "map.pdf"}]
    said = [
        {
            "sender": "human",
            "text": "",
            "content": [],
            "attachments": files,
            "files": [{"file_name": "paste.txt"}, {"file_name": "photo.png"}],
        },
        {"sender": "assistant", "text": "Noted.", "content": [{"type": "text", "text": "Noted."}]},
    ]
    (given,) = imported(tmp_path, [CLAUDE | {"chat_messages": said}])
    assert contents(given) == [
        "(file) paste.txt\nMy dentist is on Elm Road.\n\n(file) map.pdf\n\n(file) photo.png",
        "Noted.",
    ]


@pytest.mark.parametrize("content", ["\x00", " \u200b", [{"type": "text", "text": "\x01\n"}]])
def test_content_that_says_nothing_does_not_stand_for_the_text(tmp_path: Path, content: Any) -> None:
    said = [{"sender": "human", "text": "I live in Nice", "content": content}, {"sender": "assistant", "text": "Nice!"}]
    (given,) = imported(tmp_path, [CLAUDE | {"chat_messages": said}])
    assert "I live in Nice" in contents(given)[0]


def said(uuid: str, parent: str, text: str) -> dict[str, Any]:
    sender = "human" if uuid.startswith("h") else "assistant"
    return {"uuid": uuid, "parent_message_uuid": parent, "sender": sender, "text": text}


BRANCHES = [
    said("h1", ROOT, "I live in Lyon"),
    said("a1", "h1", "Lyon!"),
    said("h2", ROOT, "I live in Nice"),
    said("a2", "h2", "Nice!"),
    said("a3", "h2", "Nice, again"),
]


@pytest.mark.parametrize(
    ("head", "read"),
    [
        ({"current_leaf_message_uuid": "a2"}, ["I live in Nice", "Nice!"]),
        ({}, ["I live in Nice", "Nice, again"]),
        ({"current_leaf_message_uuid": "gone"}, ["I live in Nice", "Nice, again"]),
        ({"current_leaf_message_uuid": ["a1"]}, ["I live in Nice", "Nice, again"]),
    ],
)
def test_the_live_branch_of_a_claude_chat_is_read(tmp_path: Path, head: dict[str, Any], read: list[str]) -> None:
    (given,) = imported(tmp_path, [CLAUDE | {"chat_messages": BRANCHES} | head])
    assert contents(given) == read
    (line,) = [message for kind, message in notes(given) if kind == "other_branch"]
    assert line.startswith("a message of another branch (edited, or answered again) is left out: chats.json: element 1")


def test_claude_messages_without_parents_follow_each_other(tmp_path: Path) -> None:
    (given,) = imported(tmp_path, [CLAUDE | {"chat_messages": [said("h1", "cut off", "A"), said("a1", "h1", "B")]}])
    assert contents(given) == ["A", "B"]


def node(parent: Any, author: Any, content: Any, **more: Any) -> dict[str, Any]:
    return {"parent": parent, "message": {"author": author, "content": content, **more}}


def tree(**nodes: Any) -> dict[str, Any]:
    return {"title": "T", "create_time": 1_700_000_000, "mapping": nodes}


USER, BOT = {"role": "user"}, {"role": "assistant"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain text", "plain text"),
        ({"content_type": "text", "parts": ["in parts"]}, "in parts"),
        ({"content_type": "code", "text": "print(1)"}, "print(1)"),
        ({"content_type": "thoughts", "thoughts": [{"summary": "S", "content": "C"}]}, "(thinking) C\nS"),
        ({"content_type": "execution_output", "text": "42"}, "←\n42"),
        ({"content_type": "tether_quote", "title": "Page", "text": "Quote"}, "Quote\nPage"),
        (
            {"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "spoken"}]},
            "spoken",
        ),
        (
            {"content_type": "multimodal_text", "parts": [{"content_type": "audio_asset_pointer"}]},
            "(audio) shared here",
        ),
        (["a", {"type": "text", "text": "b"}], "a\n\nb"),
    ],
)
def test_contents_of_chatgpt_are_read_in_each_form(tmp_path: Path, content: Any, text: str) -> None:
    (given,) = imported(tmp_path, [tree(a=node(None, USER, "Hi"), b=node("a", BOT, content))])
    assert contents(given) == ["Hi", text]
    assert notes(given) == []


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None, "refusal": "I cannot book that."}, "I cannot book that."),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "No."),
        ({"content": None, "function_call": {"name": "look", "arguments": "{}"}}, "→ look\narguments: {}"),
        ({"content": [{"type": "input_audio", "input_audio": {"data": "xx"}}]}, "(audio) shared here"),
        ({"content": None, "audio": {"id": "a", "transcript": "spoken"}}, "spoken"),
        ({"content": [{"type": "input_file", "file_id": "f"}]}, "(file) shared here"),
        ({"content": [{"type": "video_url", "video_url": {"url": "x"}}]}, "(video) shared here"),
        ({"content": [{"type": "output_text", "text": "new form"}]}, "new form"),
        ({"content": None, "reasoning_content": "hm"}, "(thinking) hm"),
        ({"parts": [{"text": "of another maker"}]}, "of another maker"),
        ({"content": {"content_type": "text", "parts": ["as an object"]}}, "as an object"),
        ({"content": [{"type": "tool_result", "content": [{"type": "text", "text": "4"}]}]}, "←\n4"),
        ({"content": [{"type": "tool_use", "name": {"n": 1}, "input": ["x"]}]}, "→ tool\narguments: ['x']"),
    ],
)
def test_no_form_of_a_message_vanishes(tmp_path: Path, message: dict[str, Any], text: str) -> None:
    (given,) = imported(tmp_path, [[PAIR[0], {"role": "assistant", **message}]])
    assert contents(given) == ["Hi", text]


def test_a_message_without_words_that_are_read_leaves_a_finding(tmp_path: Path) -> None:
    odd = [{"role": "user"}, {"role": "user", "content": [{"type": "poll", "choices": [1]}]}, {"role": "user", "b": 1}]
    (given,) = imported(tmp_path, [[*PAIR, *odd]])
    assert contents(given)[2:] == ["(poll) shared here"]
    assert notes(given) == [
        (
            "empty_message",
            "the message holds no text, and is left out: chats.json: element 1: message 3; "
            "chats.json: element 1: message 5",
        ),
        ("unread", "a part of the kind 'poll' holds no words that are read: chats.json: element 1: message 4"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([PAIR]) + json.dumps([PAIR]),
        f"{json.dumps(PAIR)}\n{json.dumps(PAIR)}\n",
        f"{json.dumps({'messages': PAIR})}\n{json.dumps({'messages': PAIR})}",
        json.dumps({"conversations": [{"messages": PAIR}, {"messages": PAIR}]}),
        json.dumps({"conversations": [PAIR, PAIR]}),
    ],
)
def test_what_follows_the_first_value_of_a_file_is_read(tmp_path: Path, content: str) -> None:
    assert [contents(given) for given in imported(tmp_path, content)] == [["Hi", "Hello"]] * 2


def test_what_follows_and_is_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="element 3: not JSON"):
        imported(tmp_path, f"{json.dumps(PAIR)} and more")


@pytest.mark.parametrize(
    ("given", "again", "named"),
    [
        (PAIR, ("content", "My dentist."), "`content` (a text)"),
        (CHATGPT, ("mapping", {"x": 1}), "`mapping` (an object)"),
        (CHATGPT, ("parts", ["Moved."]), "`parts` (a list)"),
        (CLAUDE, ("text", "Moved."), "`text` (a text)"),
    ],
)
def test_a_member_that_stands_twice_is_a_finding(tmp_path: Path, given: Any, again: Any, named: str) -> None:
    """JSON allows it, and the last one counts everywhere: the first one is lost without a word."""
    key = f'"{again[0]}": '
    twice = json.dumps(given).replace(key, f"{key}{json.dumps(again[1])}, {key}", 1)
    (read,) = imported(tmp_path, f"[{twice}]")
    (expected,) = imported(tmp_path, [given])
    assert contents(read) == contents(expected)
    said = f"{named} stands twice in one object; the last one is read: chats.json: element 1"
    assert [message for _, message in notes(read) if "twice" in message] == [said]
    same = json.dumps(given).replace(key, f'"x": "a", "x": "a", {key}', 1)
    assert not any("twice" in message for _, message in notes(imported(tmp_path, f"[{same}]")[0]))


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (("prompter", "assistant"), ["user", "assistant"]),
        (("Human", "AI"), ["user", "assistant"]),
        (("USER", "MODEL"), ["user", "assistant"]),
        (("user", "bing"), ["user", "assistant"]),
        (("human", "function_response"), ["user", "assistant"]),
    ],
)
def test_role_names_of_other_tools_are_read(tmp_path: Path, names: tuple[str, str], roles: list[str]) -> None:
    (given,) = imported(tmp_path, [[{"role": names[0], "content": "Hi"}, {"from": names[1], "value": "Hello"}]])
    assert [role for role, _ in texts(given)] == roles


@pytest.mark.parametrize("role", ["judge", {"name": "user"}, ["user"], 3, None])
def test_a_role_that_nobody_knows_is_kept_unsaid_with_a_finding(tmp_path: Path, role: Any) -> None:
    (given, other) = imported(tmp_path, [[*PAIR, {"role": role, "content": "Objection"}], PAIR])
    assert contents(given) == contents(other) == ["Hi", "Hello"]
    assert given.head.details["system"] == ["Objection"]
    assert any("message 3" in message for _, message in notes(given))


MISFITS: list[tuple[str, Any, str]] = [
    ("current_node", ["b"], "`current_node` is a list"),
    ("current_node", {"id": "b"}, "`current_node` is an object"),
    ("title", 3, "`title` is a number"),
    ("mapping.b.parent", ["a"], "`parent` is a list"),
    ("mapping.b.parent", "gone", "`parent` names no message"),
    ("mapping.b.message", "text", "a text where an object is needed"),
    ("mapping.b.message.author", ["assistant"], "`author` is a list"),
    ("mapping.b.message.author", None, "the role is ''"),
    ("mapping.b.message.author.role", {"x": 1}, "`author` is an object"),
    ("mapping.b.message.content", 42, "a number where a text is needed"),
    ("mapping.b.message.content.parts", 42, "a part of the kind 'text' holds no words"),
    ("mapping.b.message.recipient", ["all"], "`recipient` is a list"),
    ("mapping.b", 3, "a number where an object is needed"),
]


@pytest.mark.parametrize(("place", "value", "finding"), MISFITS)
def test_what_does_not_fit_is_a_finding_and_the_rest_is_read(
    tmp_path: Path, place: str, value: Any, finding: str
) -> None:
    content = {"content_type": "text", "parts": ["Hello"]}
    chat = copy.deepcopy(tree(a=node(None, USER, "Hi"), b=node("a", dict(BOT), content))) | {"current_node": "b"}
    *path, last = place.split(".")
    holder = chat
    for name in path:
        holder = holder[name]
    holder[last] = value
    (given,) = imported(tmp_path, [chat, tree(a=node(None, USER, "Another chat"))])
    assert any(message.startswith(finding) for _, message in notes(given)), notes(given)
    assert "Another chat" in contents(given)


def test_an_author_that_is_a_text_is_its_role(tmp_path: Path) -> None:
    (given,) = imported(tmp_path, [tree(a=node(None, "user", "Hi"), b=node("a", "assistant", "Hello"))])
    assert texts(given) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_circle_of_messages_is_read_once(tmp_path: Path) -> None:
    (given,) = imported(tmp_path, [tree(a=node("b", USER, "Hi"), b=node("a", BOT, "Hello")) | {"current_node": "b"}])
    assert contents(given) == ["Hi", "Hello"]
    assert notes(given)[0][1].startswith("the messages follow each other in a circle; each is read once")
    circle = [said("h1", ROOT, "A"), said("a1", "a1", "B"), said("h2", "a1", "C")]
    (given,) = imported(tmp_path, [CLAUDE | {"chat_messages": circle}])
    assert contents(given) == ["A", "B", "C"]


@pytest.mark.parametrize("calls", ["text", [["a"]], [{"function": "look"}], {"name": "look"}, [None]])
def test_calls_of_another_form_are_findings(tmp_path: Path, calls: Any) -> None:
    (given,) = imported(tmp_path, [[PAIR[0], {"role": "assistant", "content": "Hello", "tool_calls": calls}]])
    assert contents(given) == ["Hi", "Hello"]
    assert notes(given)[0][0] == "unread"


@pytest.mark.parametrize(
    ("time", "read"),
    [
        ("9999-12-31T23:00:00-12:00", None),
        ("0001-01-01T00:00:00+12:00", None),
        ("yesterday", None),
        (1e30, None),
        (float("nan"), None),  # as Python writes a missing number
        (float("-inf"), None),
        ([2024], None),
        (True, None),
        (1_700_000_000_000, "2023-11-14"),
        ("1700000000", "2023-11-14"),
        ("2023-11-14T08:00:00Z", "2023-11-14"),
    ],
)
def test_a_time_is_read_or_a_finding(tmp_path: Path, time: Any, read: str | None) -> None:
    chat = {"created_at": "2020-01-01", "messages": [PAIR[0] | {"created_at": time}]}
    (given,) = imported(tmp_path, [chat])
    (message,) = given.messages()
    assert str(message.sent_at.date()) == (read or "2020-01-01")
    assert [kind for kind, _ in notes(given)] == ([] if read else ["no_date"])


def test_a_time_before_the_message_before_is_a_finding(tmp_path: Path) -> None:
    late, early = PAIR[0] | {"created_at": "2024-05-02"}, PAIR[1] | {"created_at": "2024-05-01"}
    (given,) = imported(tmp_path, [[late, early]])
    assert [str(m.sent_at.date()) for m in given.messages()] == ["2024-05-02"] * 2
    (note,) = [note for note in given.head.import_notes if note.kind.value == "time_goes_back"]
    assert note.evidence == ("p0.s0.t0.n1",)


def test_half_a_character_is_replaced_with_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "half.json"
    file.write_text(json.dumps([[*PAIR], [PAIR[0] | {"content": "half \ud83d emoji"}, PAIR[1]]]))
    given = import_chat(file, ImportOptions())
    made = import_benchmark(given, "half", tmp_path / "out", Origin("chat", "", "o200k_base"))
    assert (made.messages, made.conversations) == (4, 2)
    with SealedConversation(made.benchmark.sealed_path("c001")) as sealed:
        assert next(sealed.messages()).content == "half \ufffd emoji"
        note = sealed.head.import_notes[-1]
        assert (note.kind.value, note.evidence) == ("half_character", ("p0.s0.t0.n0",))
        assert note.message == "1 message held half a surrogate pair; U+FFFD stands for it"


def test_a_file_name_that_is_not_utf_8_is_read(tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/chat\xff.json"
    with open(file, "w") as opened:
        json.dump([*PAIR, 3], opened)
    given = import_chat(Path(os.fsdecode(file)), ImportOptions())
    made = import_benchmark(given, "named", tmp_path / "out", Origin("chat", "", "o200k_base"))
    assert made.messages == 2


def test_deep_nesting_is_a_finding(tmp_path: Path) -> None:
    deep = "[" * 900 + '"x"' + "]" * 900
    content = json.dumps([PAIR, [{"role": "user", "content": "DEEP"}]]).replace('"DEEP"', deep)
    assert next(contents(given) for given in imported(tmp_path, content)) == ["Hi", "Hello"]


def test_deep_nesting_in_bare_messages_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"role": "user", "content": ' + "[" * 900 + '"x"' + "]" * 900 + "}")
    with pytest.raises(UserError, match="too deep in each other"):
        list(import_chat(tmp_path / "a.json", ImportOptions()))


def test_a_pipe_and_a_folder_among_the_files_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "conversations.json")
    (tmp_path / "more.json").mkdir()
    (tmp_path / "chat.json").write_text(json.dumps([{"role": "user", "content": "hello"}]), encoding="utf-8")
    (conversation,) = import_chat(tmp_path, ImportOptions())
    assert [m.content for m in conversation.messages()] == ["hello"]


BESIDE = [
    {"role": "user", "content": "Told one", "text": "Told two"},
    {"role": "user", "content": {"type": "text", "text": "Told one", "parts": ["Told two"]}},
    {"role": "assistant", "content": "Told one", "audio": {"transcript": "Told two"}},
    {"role": "assistant", "content": "Told one", "reasoning_details": [{"text": "Told two"}]},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "name": "n", "input": {"q": "Told one"}, "text": "Told two"}],
    },
    {"role": "assistant", "content": "Told one", "anything": {"at all": ["Words that nobody declared"]}},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Told one"}, {"type": "redacted_thinking", "data": "x"}],
    },
]


@pytest.mark.parametrize("message", BESIDE, ids=range(len(BESIDE)))
def test_words_in_a_member_that_is_not_read_are_a_finding(tmp_path: Path, message: dict[str, Any]) -> None:
    (given,) = imported(tmp_path, [message, {"role": "user", "content": "And then"}])
    unread = [text for kind, text in notes(given) if kind == "unread"]
    assert len(unread) == 1, unread
    assert "words that are " in unread[0]
    assert unread[0].endswith("message 1")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"name": "run", "input": "ls"}}]}, "ls"),
        ({"role": "user", "content": "Look", "images": ["iVBORw0KGgo="]}, "(image) shared here"),
        ({"role": "assistant", "content": "Yes", "thinking": "Is it?"}, "Yes"),
        (
            {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "A page"}}]},
            "A page",
        ),
    ],
)
def test_custom_tools_pictures_thoughts_and_documents_are_read(
    tmp_path: Path, message: dict[str, Any], text: str
) -> None:
    (given,) = imported(tmp_path, [{"role": "user", "content": "Hi"}, message])
    assert text in contents(given)[1]
    assert notes(given) == []


@pytest.mark.parametrize("name", ["conversation", "conversations", "mapping", "chat_messages"])
def test_a_second_list_of_a_chat_is_a_finding(tmp_path: Path, name: str) -> None:
    other: Any = {"a": {}} if name == "mapping" else [{"role": "user", "content": "Two"}]
    read = {"messages": [{"role": "user", "content": "One"}], name: other, "from": "2024", "role": "x"}
    given = next(iter(imported(tmp_path, [read, {"messages": [{"role": "user", "content": "Three"}], name: []}])))
    beside = [text for kind, text in notes(given) if kind == "unread" and "stands beside" in text]
    assert len(beside) == 1
    assert "element 1" in beside[0]


@pytest.mark.parametrize("chat", [{"messages": PAIR}, {"conversations": PAIR}, CHATGPT, CLAUDE])
def test_words_beside_the_messages_of_a_chat_are_kept_or_a_finding(tmp_path: Path, chat: Any) -> None:
    more = {"system": "Answer in Portuguese.", "summary": "Moved.", "x": {"y": ["Three words here"]}, "id": "a", "n": 1}
    (given,) = imported(tmp_path, [chat | more])
    (expected,) = imported(tmp_path, [chat])
    assert contents(given) == contents(expected)
    assert "Answer in Portuguese." in given.head.details["system"]
    unread = [text for kind, text in notes(given) if kind == "unread"]
    assert unread == [f"`{name}` holds words that are not read: chats.json: element 1" for name in ("summary", "y")]


def test_a_chat_of_claude_that_is_written_newest_first_is_read_by_its_times(tmp_path: Path) -> None:
    def dated(uuid: str, sender: str, text: str, minute: int, **more: Any) -> dict[str, Any]:
        return {"uuid": uuid, "sender": sender, "text": text, "created_at": f"2024-01-01T10:{minute:02}:00Z", **more}

    bare = [dated("c", "human", "C", 3), dated("b", "assistant", "B", 2), dated("a", "human", "A", 1)]
    (given,) = imported(tmp_path, [{"name": "n", "chat_messages": bare}])
    assert contents(given) == ["A", "B", "C"]
    linked = [
        dated("b", "assistant", "B", 2, parent_message_uuid="a"),
        dated("a", "human", "A", 1, parent_message_uuid=ROOT),
    ]
    (given,) = imported(tmp_path, [{"name": "n", "chat_messages": linked, "current_leaf_message_uuid": "b"}])
    assert contents(given) == ["A", "B"]


def test_a_folder_names_every_file_that_is_not_read(tmp_path: Path) -> None:
    for name in ("notes.md", "picture.png", "b.JSON", ".hidden"):
        (tmp_path / name).write_text('[{"role": "user", "content": "Hi"}]')
    (tmp_path / "sub").mkdir()
    (given,) = import_chat(tmp_path, ImportOptions())
    assert [text for kind, text in notes(given) if kind == "unread_file"] == [
        "a file beside the chats is not read: notes.md; picture.png; sub"
    ]
