"""Anybody's own chats: OpenAI messages, ShareGPT, and the exports of two chat products.

A file is a list or JSON Lines of chats, one chat, or one chat's messages. Chats of a product's export are one person's,
so they become the sessions of one conversation, oldest first; chats of other files are a conversation each. A day is a
session. There are no probes: `longbeam probe` makes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from longbeam.formats.reading import ImportOptions, Notes, describe, refuse, stream_list, want_dict
from longbeam.formats.session_reading import session_head
from longbeam.keys import MessageKey
from longbeam.models.tokens import load_tokenizer
from longbeam.schemas.conversation import GivenConversation
from longbeam.schemas.dialogue import Message, MessageKind, MessageRole, Part, PartKind, text_of
from longbeam.schemas.findings import NoteKind
from longbeam.text.redaction import Redaction

FORMAT = "chat"
UNDATED = datetime(2000, 1, 1)
"""Day of the first chat without a date; each further one is a day later."""
_USERS, _ASSISTANTS = {"user", "human"}, {"assistant", "gpt", "chatgpt", "bot", "model", "tool", "function"}
_UNSAID = {"system", "developer"}


class Said(NamedTuple):
    """One message of a chat."""

    role: str
    """As the file names it."""
    parts: tuple[Part, ...]
    time: datetime | None = None


@dataclass(frozen=True)
class GivenChat:
    """One chat of a file."""

    shape: str
    """`openai`, `sharegpt`, `chatgpt`, `claude`."""
    title: str
    said: tuple[Said, ...]
    time: datetime | None = None
    """Time of its beginning."""

    @property
    def begins(self) -> datetime | None:
        """Time of its first message, or of the chat where messages have none."""
        return next((s.time for s in self.said if s.time is not None), self.time)


def import_chat(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
    """Yield the conversations of a file, or of the JSON files of a folder.

    Raises UserError for a file without chats of a known shape. All chats of a conversation are in memory.
    """
    chats = [chat for file in _files(path) for chat in _chats(file)]
    joins = options.joins if options.joins is not None else all(c.shape in {"chatgpt", "claude"} for c in chats)
    chats = [chat for chat in chats if any(said.role not in _UNSAID and said.parts for said in chat.said)]
    if not chats:
        refuse(str(path), "holds no chat with a message of a user or an assistant")
    for number, group in enumerate([_oldest_first(chats)] if joins else [[chat] for chat in chats]):
        yield _conversation(number, group, options.tokenizer, options.redaction)


def _files(path: Path) -> list[Path]:
    if path.suffix == ".zip":
        refuse(str(path), "is a zip; unpack it, and name the folder or its conversations.json")
    files = sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    if not files:
        refuse(str(path), "there is no .json and no .jsonl file in this folder")
    return files


def _chats(file: Path) -> Iterator[GivenChat]:
    """Yield the chats of a file; messages that stand in it one by one are one chat."""
    bare: list[Any] = []
    for number, element in enumerate(stream_list(file), 1):
        where = f"{file}: element {number}"
        if isinstance(element, list):
            yield _messages_chat(element, where, "")
            continue
        found = want_dict(element, where, "a chat or a message")
        if "role" in found or "from" in found:
            bare.append(found)
        else:
            yield _chat(found, where)
    if bare:
        yield _messages_chat(bare, str(file), file.stem)


def _chat(chat: Mapping[str, Any], where: str) -> GivenChat:
    """Return a chat of a known shape; UserError for another."""
    if isinstance(chat.get("mapping"), dict):
        return _chatgpt(chat, where)
    if isinstance(chat.get("chat_messages"), list):
        return _claude(chat, where)
    for name in ("messages", "conversations", "conversation"):
        if isinstance(listed := chat.get(name), list):
            time = _time(chat.get("created_at") or chat.get("create_time") or chat.get("timestamp"))
            return _messages_chat(listed, f"{where}: {name}", str(chat.get("title") or chat.get("id") or ""), time)
    keys = ", ".join(map(repr, list(chat)[:5])) or "none"
    refuse(where, f"is no chat that is read (keys: {keys}); docs/imports.md names the shapes, such as `messages`")


def _messages_chat(messages: Sequence[Any], where: str, title: str, time: datetime | None = None) -> GivenChat:
    """Return a chat of OpenAI's or ShareGPT's messages."""
    said, shape = [], "openai"
    for number, element in enumerate(messages, 1):
        message = want_dict(element, f"{where}: message {number}", "an object with role and content")
        if "from" in message and "role" not in message:
            shape = "sharegpt"
        role = message.get("role", message.get("from"))
        content = message.get("content", message.get("value", message.get("text")))
        at = _time(message.get("created_at") or message.get("create_time") or message.get("timestamp"))
        parts = (*_parts(content), *_tool_calls(message.get("tool_calls"), f"{where}: message {number}"))
        if role in {"tool", "function"}:
            parts = tuple(Part(kind=PartKind.TOOL_RESULT, text=part.text) for part in parts)
        said.append(_said(role, parts, at, f"{where}: message {number}"))
    return GivenChat(shape, title, tuple(said), time)


def _chatgpt(chat: Mapping[str, Any], where: str) -> GivenChat:
    """Return a chat of ChatGPT's export: the branch of its tree that ends at `current_node`."""
    mapping, node, branch = chat["mapping"], chat.get("current_node"), list[Mapping[str, Any]]()
    if node not in mapping:  # an older export: the last message that nothing follows
        node = next((i for i, n in reversed(mapping.items()) if isinstance(n, dict) and not n.get("children")), None)
    while node in mapping and len(branch) <= len(mapping):
        entry = want_dict(mapping[node], f"{where}: mapping.{node}", "an object")
        if isinstance(entry.get("message"), dict):
            branch.append(entry["message"])
        node = entry.get("parent")
    said = []
    for message in reversed(branch):
        author, content = message.get("author") or {}, message.get("content") or {}
        parts = _parts(content.get("parts") or content.get("text") or "")
        if not any(part.text.strip() for part in parts):
            continue
        if author.get("role") == "tool" or message.get("recipient", "all") != "all":
            kind = PartKind.TOOL_RESULT if author.get("role") == "tool" else PartKind.TOOL_CALL
            parts = tuple(Part(kind=kind, text=p.text, data=_called(message, p) or {}) for p in parts)
        said.append(_said(author.get("role"), parts, _time(message.get("create_time")), where))
    return GivenChat("chatgpt", str(chat.get("title") or ""), tuple(said), _time(chat.get("create_time")))


def _called(message: Mapping[str, Any], part: Part) -> dict[str, Any]:
    return {"name": str(message.get("recipient") or "tool"), "input": {"text": part.text}}


def _claude(chat: Mapping[str, Any], where: str) -> GivenChat:
    """Return a chat of Claude's export."""
    said = []
    for number, element in enumerate(chat["chat_messages"], 1):
        place = f"{where}: chat_messages {number}"
        message = want_dict(element, place, "an object with sender and text")
        parts = _parts(message.get("content") or message.get("text") or "") or _parts(message.get("text") or "")
        said.append(_said(message.get("sender"), parts, _time(message.get("created_at")), place))
    return GivenChat("claude", str(chat.get("name") or ""), tuple(said), _time(chat.get("created_at")))


def _said(role: object, parts: tuple[Part, ...], time: datetime | None, where: str) -> Said:
    name = str(role or "").casefold()
    if name not in _USERS | _ASSISTANTS | _UNSAID:
        refuse(where, f"the role is {describe(role)}; user, assistant, system and tool are read")
    return Said(name, parts, time)


def _parts(content: object) -> tuple[Part, ...]:
    """Return the parts of a content: a text, or a list of texts and typed parts; pictures leave a stub."""
    if isinstance(content, str):
        return (Part(kind=PartKind.TEXT, text=content),) if content.strip() else ()
    found: list[Part] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            found += _parts(part)
        elif isinstance(part, dict):
            found += _typed(part)
    return tuple(found)


def _typed(part: Mapping[str, Any]) -> tuple[Part, ...]:
    kind = str(part.get("type") or part.get("content_type") or "text")
    if kind == "thinking":
        return (Part(kind=PartKind.THINKING, text=str(part.get("thinking") or "")),)
    if kind == "tool_use":
        return (Part(kind=PartKind.TOOL_CALL, data={"name": part.get("name"), "input": part.get("input") or {}}),)
    if kind == "tool_result":
        return (Part(kind=PartKind.TOOL_RESULT, text="\n".join(p.text for p in _parts(part.get("content")))),)
    if "image" in kind:
        return (Part(kind=PartKind.IMAGE_STUB, text="shared here"),)
    text = part.get("text") or part.get("input_text") or ""
    return _parts(str(text))


def _tool_calls(calls: object, where: str) -> Iterator[Part]:
    for call in calls if isinstance(calls, list) else ():
        function = want_dict(call, f"{where}: tool_calls", "an object").get("function") or {}
        given = {"name": function.get("name"), "input": {"arguments": function.get("arguments")}}
        yield Part(kind=PartKind.TOOL_CALL, data=given)


def _time(value: object) -> datetime | None:
    """Return a time in UTC without a zone, of seconds since 1970 or an ISO text; None for anything else."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value, UTC).replace(tzinfo=None, microsecond=0)
        read = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return None
    return (read.astimezone(UTC) if read.tzinfo else read).replace(tzinfo=None, microsecond=0)


def _oldest_first(chats: Iterable[GivenChat]) -> list[GivenChat]:
    return sorted(chats, key=lambda chat: chat.begins or datetime.max)


# --- the conversation -------------------------------------------------------------------------------------


def _conversation(
    number: int, chats: Sequence[GivenChat], tokenizer: str, redaction: Redaction | None
) -> GivenConversation:
    notes, conversation_id = Notes(), f"c{number:03d}"
    hide: Callable[[str], str] = redaction.redacted if redaction else str
    messages = tuple(_messages(chats, load_tokenizer(tokenizer).count, notes, hide))
    titles = [hide(chat.title) for chat in chats if chat.title]
    unsaid = [hide(text_of(s.parts)) for chat in chats for s in chat.said if s.role in _UNSAID and s.parts]
    details = {"format": FORMAT, "id": conversation_id, "shape": chats[0].shape, "titles": titles, "system": unsaid}
    if unsaid:
        notes.add(NoteKind.ODD_VALUE, "conversation", f"{len(unsaid)} system messages are kept in details, unsaid")
    notes.add(NoteKind.NO_PROBES, "conversation", "chats have no probes; `longbeam probe` makes them")
    title = titles[0] if titles and len(chats) == 1 else f"{len(chats)} chats" if len(chats) > 1 else "A chat"
    head = session_head(conversation_id, title, tokenizer, details, notes)
    return GivenConversation(head, partial(iter, messages), ())


def _messages(
    chats: Iterable[GivenChat], count: Callable[[str], int], notes: Notes, hide: Callable[[str], str]
) -> Iterator[Message]:
    """Yield the messages of chats; a day is a session, and a message of the user's begins a turn."""
    last, session, turn, place, message_id = datetime.min, -1, 0, 0, 0
    for number, chat in _parts_oldest_first(chats):
        begins = chat.begins
        if begins is None:
            begins = max(UNDATED + timedelta(days=number), last + timedelta(days=1) if message_id else UNDATED)
            what = f"chat {number + 1} has no date; {begins:%Y-%m-%d} stands in"
            notes.add(NoteKind.NO_DATE, "conversation", what)
        for said in chat.said:
            content = hide(text_of(said.parts)).strip()
            if said.role in _UNSAID or not content:
                continue
            time = max(said.time or begins, last)
            is_user = said.role in _USERS
            if session < 0 or time.date() > last.date():
                session, turn, place = session + 1, 0, 0
            elif is_user:
                turn, place = turn + 1, 0
            last = time
            yield Message(
                message_key=str(MessageKey(0, session, turn, place)),
                message_id=message_id,
                role=MessageRole.USER if is_user else MessageRole.ASSISTANT,
                speaker="user" if is_user else "assistant",
                kind=MessageKind.QUESTION if is_user else MessageKind.REPLY,
                session=session,
                plan_index=0,
                sub_plan_index=session,
                turn_index=turn,
                sent_at=time,
                content=content,
                parts=_kept_parts(said.parts, hide),
                tokens=count(content),
            )
            place, message_id = place + 1, message_id + 1


def _parts_oldest_first(chats: Iterable[GivenChat]) -> list[tuple[int, GivenChat]]:
    """Return chats with their ordinals; one that goes on on a later day is parted there, as another may lie between."""
    parts = [(number, part) for number, chat in enumerate(chats) for part in _days_of(chat)]
    return sorted(parts, key=lambda part: part[1].begins or datetime.max)


def _days_of(chat: GivenChat) -> Iterator[GivenChat]:
    """Yield a chat's messages in parts, each of which begins with a message of the user's of a later day."""
    run: list[Said] = []
    last = chat.begins
    for said in chat.said:
        if said.time is not None and last is not None and said.time > last:
            if said.role in _USERS and said.time.date() > last.date():
                yield replace(chat, said=tuple(run))
                run = []
            last = said.time
        run.append(said)
    yield replace(chat, said=tuple(run))


def _kept_parts(parts: Sequence[Part], hide: Callable[[str], str]) -> tuple[Part, ...]:
    """Return the parts of a message that is more than one text; of tools, their text form alone is kept redacted."""
    if len(parts) == 1 and parts[0].kind is PartKind.TEXT:
        return ()
    return tuple(Part(kind=part.kind, text=hide(part.text or text_of((part,)))) for part in parts)
