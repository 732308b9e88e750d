"""Chats in the makers' grammars, spoilt: each message is read, or a finding says that it was not."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.errors import UserError
from longbeam.formats import ImportOptions, import_chat
from tests.properties.hostile import spoilt

WORD = re.compile(r"word\d+")
LOST = {"unread", "other_branch", "empty_message", "unread_file"}
TIMES = st.sampled_from([None, "2024-05-01T10:00:00Z", 1_700_000_000.5, "9999-12-31T23:00:00-12:00", "soon", 1e30])


@st.composite
def texts(draw: st.DrawFn) -> str:
    return f"word{draw(st.integers(0, 10**6))}"


def pieces() -> st.SearchStrategy[Any]:
    named = st.sampled_from(["text", "output_text", "thinking", "refusal", "transcript"])
    typed = st.builds(lambda name, text: {"type": name, name: text, "text": text}, named, texts())
    media = st.sampled_from([{"type": "input_audio"}, {"type": "image_url"}, {"content_type": "audio_asset_pointer"}])
    result = st.builds(lambda text: {"type": "tool_result", "content": [{"type": "text", "text": text}]}, texts())
    call = st.builds(lambda text: {"type": "tool_use", "name": "look", "input": {"q": text}}, texts())
    return texts() | typed | media | result | call


def contents() -> st.SearchStrategy[Any]:
    return texts() | st.lists(pieces(), max_size=3) | st.none()


@st.composite
def plain_messages(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant", "system", "tool", "Human", "AI", "judge"]))
    if draw(st.booleans()):
        return {"from": role, "value": draw(contents())}
    message = {"role": role, "content": draw(contents()), "created_at": draw(TIMES)}
    more = draw(st.sampled_from(["", "refusal", "function_call", "tool_calls", "audio"]))
    text = draw(texts())
    values = {"refusal": text, "audio": {"transcript": text}, "function_call": {"name": "f", "arguments": text}}
    values["tool_calls"] = [{"function": {"name": "f", "arguments": text}}]
    return message | ({more: values[more]} if more and not message["content"] else {})


@st.composite
def chatgpt_chats(draw: st.DrawFn) -> dict[str, Any]:
    names = [f"n{i}" for i in range(draw(st.integers(1, 6)))]
    mapping: dict[str, Any] = {}
    for i, name in enumerate(names):
        content = {"content_type": "text", "parts": draw(st.lists(pieces(), max_size=2))}
        author = {"role": draw(st.sampled_from(["user", "assistant", "tool", "system"]))}
        message = {"author": author, "content": content, "create_time": draw(TIMES), "recipient": "all"}
        parent = draw(st.sampled_from(names[:i])) if i else None
        mapping[name] = {"id": name, "parent": parent, "children": [], "message": message}
    return {"title": "T", "create_time": draw(TIMES), "current_node": draw(st.sampled_from(names)), "mapping": mapping}


@st.composite
def claude_chats(draw: st.DrawFn) -> dict[str, Any]:
    names = [f"n{i}" for i in range(draw(st.integers(1, 6)))]
    messages = []
    for i, name in enumerate(names):
        text = draw(texts())
        messages.append({
            "uuid": name,
            "parent_message_uuid": draw(st.sampled_from(names[:i])) if i else "00000000-0000-4000-8000-000000000000",
            "sender": draw(st.sampled_from(["human", "assistant"])),
            "text": text,
            "content": draw(st.sampled_from([[], [{"type": "text", "text": text}]])),
            "created_at": draw(TIMES),
            "attachments": [{"file_name": "a.txt", "extracted_content": draw(texts())}] if draw(st.booleans()) else [],
            "files": [],
        })  # fmt: skip
    leaf = draw(st.sampled_from(names))
    return {"name": "T", "created_at": draw(TIMES), "current_leaf_message_uuid": leaf, "chat_messages": messages}


def chats() -> st.SearchStrategy[Any]:
    plain = st.lists(plain_messages(), min_size=1, max_size=5)
    named = st.sampled_from(["messages", "conversations", "conversation"])
    return plain | st.builds(lambda name, said: {name: said}, named, plain) | chatgpt_chats() | claude_chats()


@st.composite
def files(draw: st.DrawFn) -> list[Any]:
    dump = draw(st.lists(chats(), min_size=1, max_size=3))
    return draw(spoilt(dump)) if draw(st.booleans()) else dump


def words_in(tree: Any) -> set[str]:
    """Return the words that a file holds where a message has its text."""
    return set(WORD.findall(json.dumps(tree)))


@pytest.mark.timeout(3_600)  # of 10,000 cases on a machine with other work
@settings(max_examples=10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 150)
@given(files())
def test_each_message_is_read_or_a_finding_says_that_it_was_not(dump: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chats.json"
        path.write_text(json.dumps(dump), encoding="utf-8")
        try:
            conversations = list(import_chat(path, ImportOptions()))
        except UserError as exc:
            conversations, refusal = [], str(exc)
        else:
            refusal = ""
    assert "\n" not in refusal
    if refusal:
        return
    read, kinds = "", set[str]()
    for conversation in conversations:
        messages = list(conversation.messages())
        assert [m.sent_at for m in messages] == sorted(m.sent_at for m in messages)
        read += json.dumps([m.content for m in messages]) + json.dumps(conversation.head.details)
        kinds |= {note.kind.value for note in conversation.head.import_notes}
    if lost := words_in(dump) - set(WORD.findall(read)):
        assert kinds & LOST, lost
