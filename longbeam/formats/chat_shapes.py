"""Shapes of chats as their makers write them, each declared once, and what is read from them.

A member that does not fit its shape is left out with a finding that names its place; the rest of the message, of the
chat and of the file is read. Members without a declaration are ignored. Of a tree of branches the live one is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from longbeam.formats.dates import read_time
from longbeam.schemas import NoteKind, Part, PartKind

USERS = frozenset({"user", "human", "prompter", "customer", "client", "questioner", "usr", "me"})
ASSISTANTS = frozenset({
    "assistant", "ai", "bot", "gpt", "chatgpt", "model", "agent", "llm", "chatbot", "bard", "gemini", "bing", "claude",
    "copilot", "deepseek", "grok", "mistral", "llama", "character", "char", "tool", "function", "function_call",
    "function_response", "observation", "ipython", "tool_call", "tool_calls", "tool_response", "tool_result",
    "tool_use",
})  # fmt: skip
UNSAID = frozenset({"system", "developer", "root", "context", "instruction", "instructions"})
_TOOLS = frozenset({"tool", "function", "function_response", "observation", "ipython", "tool_response", "tool_result"})

_NO_PARENT = "00000000-0000-4000-8000-000000000000"
"""Parent of a first message in Claude's export."""
_HIDDEN_CONTEXT = frozenset({"user_editable_context", "model_editable_context"})
"""Contents of ChatGPT's export that hold custom instructions; nobody said them."""
_WORDS = (
    "text", "value", "thinking", "reasoning", "refusal", "transcript", "extracted_content", "result", "output",
    "parts", "content", "thoughts", "summary", "title", "user_profile", "user_instructions", "model_set_context",
)  # fmt: skip
"""Members in which a typed part holds its words, in the order in which they are read."""
_NAMES = frozenset({
    "role", "sender", "from", "author", "speaker", "name", "type", "content_type", "recipient", "model", "url",
    "created_at", "create_time", "timestamp", "updated_at", "update_time", "start_timestamp", "stop_timestamp",
})  # fmt: skip
"""Members that name and date what is said."""
_PROSE = re.compile(r"\w\W*\s\W*\w+\W*\s\W*\w")
"""Three words: a text in a member that no shape declares."""
_STAND_IN = "This block is not supported on your current device yet."
"""What Claude's export writes for a part of `content` into `text`."""
_MEDIA = ("image", "audio", "video", "file", "document")
_SHOWN_PLACES = 3


class ChatText(NamedTuple):
    """One message of a chat."""

    role: str
    """As the file names it, in lower case."""
    parts: tuple[Part, ...]
    time: datetime | None = None


@dataclass
class Oddities:
    """Irregularities of a chat; equal ones are one note with their first places."""

    places: dict[tuple[NoteKind, str], list[str]] = field(default_factory=dict)

    def add(self, kind: NoteKind, what: str, place: str) -> None:
        """Add an irregularity of a place."""
        self.places.setdefault((kind, what), []).append(place)

    def lines(self) -> Iterator[tuple[NoteKind, str]]:
        """Yield a line for each kind of irregularity, with the places of the first ones."""
        for (kind, what), places in self.places.items():
            more = len(places) - _SHOWN_PLACES
            yield kind, f"{what}: {'; '.join(places[:_SHOWN_PLACES])}{f'; and {more} more' if more > 0 else ''}"


@dataclass(frozen=True)
class GivenChat:
    """One chat of a file."""

    shape: str
    """`openai`, `sharegpt`, `chatgpt`, `claude`."""
    title: str
    said: tuple[ChatText, ...]
    place: str = ""
    time: datetime | None = None
    """Time of its beginning."""
    odd: Oddities = field(default_factory=Oddities)

    @property
    def begins(self) -> datetime | None:
        """Time of its first message, or of the chat where messages have none."""
        return next((s.time for s in self.said if s.time is not None), self.time)

    @property
    def is_spoken(self) -> bool:
        """Whether a user or an assistant says something in it."""
        return any(said.role not in UNSAID and said.parts for said in self.said)


# --- declared shapes --------------------------------------------------------------------------------------


class ChatShape(BaseModel):
    """Declared part of a maker's export; other members are let through and ignored."""

    model_config = ConfigDict(extra="allow", frozen=True)


class ChatPart(ChatShape):
    """A typed part of a content, of any maker."""

    type: str | None = None
    content_type: str | None = None
    name: str | None = None
    input: Any = None
    arguments: Any = None

    @property
    def kind(self) -> str:
        """The kind's name; `text` where none is given."""
        return self.type or self.content_type or "text"


class ToolCall(ChatShape):
    """A call of a tool in OpenAI's messages; the older `function_call` is its `function` alone."""

    function: Any = None
    custom: Any = None
    name: str | None = None
    arguments: Any = None
    input: Any = None


class Attached(ChatShape):
    """A file of a message in Claude's export; a long pasted text is one, too."""

    file_name: str | None = None
    name: str | None = None
    extracted_content: str | None = None


class Timed(ChatShape):
    """The members in which shapes hold a time; the first one that is given counts."""

    created_at: Any = None
    create_time: Any = None
    timestamp: Any = None

    @property
    def given_time(self) -> Any:  # Any: whatever the file holds
        """The time as the file writes it; None if there is none."""
        return next((t for t in (self.created_at, self.create_time, self.timestamp) if t not in (None, "")), None)


class PlainMessage(Timed):
    """A message of OpenAI's form, or of ShareGPT's, which has `from` and `value`."""

    role: str | None = None
    content: Any = None
    value: Any = None
    text: Any = None
    parts: Any = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    thinking: str | None = None
    images: list[Any] | None = None
    audio: Any = None
    tool_calls: list[Any] | None = None
    function_call: Any = None
    attachments: list[Any] | None = None


class PlainChat(Timed):
    """A chat with a list of messages."""

    title: str | None = None
    id: str | int | None = None


class ChatGptAuthor(ChatShape):
    """Author of a message in ChatGPT's export."""

    role: str | None = None


class ChatGptMessage(Timed):
    """A message of ChatGPT's export."""

    author: ChatGptAuthor | None = None
    content: Any = None
    recipient: str | None = None
    metadata: Any = None

    @field_validator("author", mode="before")
    @classmethod
    def _named(cls, given: object) -> object:
        return {"role": given} if isinstance(given, str) else given


class ChatGptNode(ChatShape):
    """A node of a chat's tree."""

    message: Any = None
    parent: str | None = None
    children: list[Any] | None = None


class ChatGptChat(Timed):
    """A chat of ChatGPT's export: a tree of messages, of which the branch that ends at `current_node` is live."""

    title: str | None = None
    current_node: str | None = None
    mapping: dict[str, Any]


class ClaudeMessage(Timed):
    """A message of Claude's export."""

    sender: str | None = None
    role: str | None = None
    uuid: str | None = None
    parent_message_uuid: str | None = None
    text: Any = None
    content: Any = None
    attachments: list[Any] | None = None
    files: list[Any] | None = None
    files_v2: list[Any] | None = None


class ClaudeChat(Timed):
    """A chat of Claude's export; the branch that ends at `current_leaf_message_uuid` is live."""

    name: str | None = None
    current_leaf_message_uuid: str | None = None
    chat_messages: list[Any]


S = TypeVar("S", bound=ChatShape)


def kind_of(value: object) -> str:
    """Return what a JSON value is, without its text, which may be private."""
    kinds = ((bool, "a truth value"), (str, "a text"), (dict, "an object"), (list, "a list"), (int | float, "a number"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "nothing")


# --- reading ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChatReader:
    """Reads one chat; what does not fit goes to `odd`."""

    odd: Oddities

    def fit(self, shape: type[S], value: object, place: str) -> S | None:
        """Return a value in its shape, without the members that do not fit; None where a needed one does not."""
        try:
            return shape.model_validate(value)
        except ValidationError as exc:
            faults = {str(fault["loc"][0]) for fault in exc.errors() if fault["loc"]}
        if not isinstance(value, dict):
            self.odd.add(NoteKind.UNREAD, f"{kind_of(value)} where an object is needed", place)
            return None
        for name in sorted(faults):
            self.odd.add(NoteKind.UNREAD, f"`{name}` is {kind_of(value.get(name))}", place)
        try:
            return shape.model_validate({name: part for name, part in value.items() if name not in faults})
        except ValidationError:
            return None

    def time(self, given: Timed | None, place: str) -> datetime | None:
        """Return the time of a chat or message; None, with a finding, if it cannot be read."""
        if given is None or given.given_time is None:
            return None
        if (time := read_time(given.given_time)) is None:
            self.odd.add(NoteKind.NO_DATE, "the time cannot be read; the one before stands in", place)
        return time

    def heard(self, said: list[ChatText], given: object, place: str) -> list[ChatText]:
        """Return what is said, after a finding on each member of the file's message whose words are not in it."""
        texts = [text for one in said for part in one.parts for text in (part.text, *_texts_in(part.data))]
        lines = {line.strip() for text in texts for line in text.splitlines()} | {"", "```", _STAND_IN}
        for name in dict.fromkeys(_unread(given, "", lines, "\n".join(texts))):
            self.odd.add(NoteKind.UNREAD, f"`{name}` holds words that are not read", place)
        return said

    def plain(self, messages: Sequence[Any], place: str, chat: PlainChat | None = None, title: str = "") -> GivenChat:
        """Return a chat of OpenAI's or ShareGPT's messages."""
        said, shape = [], "openai"
        for number, element in enumerate(messages, 1):
            where = f"{place}: message {number}"
            if isinstance(element, dict) and "role" not in element:
                shape = "sharegpt" if "from" in element else shape
                named = next((name for name in ("from", "sender", "speaker", "author") if name in element), "")
                element = element | {"role": element.get(named)}
            message = self.fit(PlainMessage, element, where)
            if message is not None:
                parts, time = self.plain_parts(message, where), self.time(message, where)
                said += self.heard(self.said(message.role, parts, time, where), element, where)
        if chat is not None:
            title = chat.title or str(chat.id or "")
        return GivenChat(shape, title, tuple(said), place, self.time(chat, place), self.odd)

    def plain_parts(self, message: PlainMessage, place: str) -> tuple[Part, ...]:
        """Return the parts of a message of OpenAI's form."""
        thought = self.parts(message.reasoning_content or message.reasoning or message.thinking, place)
        contents = (message.content, message.value, message.text, message.parts)
        parts = next((parts for content in contents if (parts := self.parts(content, place))), ())
        if (message.role or "").casefold() in _TOOLS:
            parts = _as_kind(PartKind.TOOL_RESULT, parts)
        spoken = self.parts(message.refusal, place)
        if message.audio is not None and not parts:
            spoken += self.parts({"type": "audio", "transcript": words_of(message.audio)}, place)
        calls = [*(message.tool_calls or ())] + ([] if message.function_call is None else [message.function_call])
        called = tuple(part for call in calls for part in self.call(call, f"{place}: tool call"))
        attached = tuple(part for one in message.attachments or () for part in self.attached(one, place))
        shown = tuple(Part(kind=PartKind.IMAGE_STUB, text="shared here") for _ in message.images or ())
        return (*_as_kind(PartKind.THINKING, thought), *parts, *spoken, *shown, *attached, *called)

    def call(self, given: object, place: str) -> Iterator[Part]:
        """Yield the part of a tool call."""
        call = self.fit(ToolCall, given, place)
        inner = None if call is None else call.function if call.function is not None else call.custom
        if inner is not None:
            call = self.fit(ToolCall, inner, place)
        if call is not None:
            yield _called(call.name, call.input if call.arguments is None else call.arguments, "arguments")

    def chatgpt(self, given: Mapping[str, Any], place: str) -> GivenChat | None:
        """Return a chat of ChatGPT's export; None if it does not fit."""
        if (chat := self.fit(ChatGptChat, given, place)) is None:
            return None
        nodes, said = dict[str, ChatGptNode](), dict[str, list[ChatText]]()
        for name, element in chat.mapping.items():
            where = f"{place}: mapping.{name}"
            if (node := self.fit(ChatGptNode, element, where)) is not None:
                nodes[name] = node
                said[name] = [] if node.message is None else self.chatgpt_said(node.message, where)
        parents = self.parents_of(nodes, place)
        leaf = chat.current_node
        if leaf not in nodes:  # an older export: the last message that nothing follows
            if leaf is not None:
                self.odd.add(NoteKind.UNREAD, "`current_node` names no message; the last one is taken", place)
            above = set(parents.values())
            leaf = next((name for name in reversed(nodes) if name not in above), next(reversed(nodes), None))
        branch = self.branch(leaf, parents, said, place)
        return GivenChat("chatgpt", chat.title or "", branch, place, self.time(chat, place), self.odd)

    def parents_of(self, nodes: Mapping[str, ChatGptNode], place: str) -> dict[str, str | None]:
        """Return the parent of each node: the one it names, or else the one that names it as a child."""
        by_child = {c: name for name, node in nodes.items() for c in node.children or () if isinstance(c, str)}
        parents = dict[str, str | None]()
        for name, node in nodes.items():
            if node.parent is not None and node.parent not in nodes:
                self.odd.add(NoteKind.UNREAD, "`parent` names no message", f"{place}: mapping.{name}")
            parents[name] = node.parent if node.parent in nodes else by_child.get(name)
        return parents

    def branch(
        self, leaf: str | None, parents: Mapping[str, str | None], said: Mapping[str, list[ChatText]], place: str
    ) -> tuple[ChatText, ...]:
        """Return the messages from the root to a leaf; others that say something leave a finding."""
        path: dict[str, None] = {}
        while leaf is not None:
            if leaf in path:
                self.odd.add(NoteKind.UNREAD, "the messages follow each other in a circle; each is read once", place)
                break
            path[leaf] = None
            leaf = parents.get(leaf)
        for name, messages in said.items():
            if name not in path and any(message.parts for message in messages):
                what = "a message of another branch (edited, or answered again) is left out"
                self.odd.add(NoteKind.OTHER_BRANCH, what, f"{place}: {name}")
        return tuple(message for name in reversed(path) for message in said.get(name, ()))

    def chatgpt_said(self, given: object, place: str) -> list[ChatText]:
        """Return a message of ChatGPT's export as said; none if it does not fit or is empty."""
        if (message := self.fit(ChatGptMessage, given, place)) is None:
            return []
        role = (message.author and message.author.role) or ""
        parts = self.parts(message.content, place)
        if isinstance(message.content, dict) and str(message.content.get("content_type")) in _HIDDEN_CONTEXT:
            role = "system"
        elif role.casefold() in _TOOLS:
            parts = _as_kind(PartKind.TOOL_RESULT, parts)
        elif (message.recipient or "all") != "all":
            parts = tuple(_called(message.recipient, part.text, "text") for part in parts)
        files = message.metadata.get("attachments") if isinstance(message.metadata, dict) else None
        for one in files if isinstance(files, list) else ():
            parts = (*parts, *self.attached(one, place))
        return self.heard(self.said(role, parts, self.time(message, place), place), message.content, place)

    def claude(self, given: Mapping[str, Any], place: str) -> GivenChat | None:
        """Return a chat of Claude's export; None if it does not fit."""
        if (chat := self.fit(ClaudeChat, given, place)) is None:
            return None
        parents, said = dict[str, str | None](), dict[str, list[ChatText]]()
        named: list[tuple[str, str | None]] = []
        for number, element in enumerate(chat.chat_messages, 1):
            where = f"{place}: chat_messages {number}"
            if (message := self.fit(ClaudeMessage, element, where)) is None:
                continue
            name = message.uuid or f"message {number}"
            while name in said:  # one of this name was there before
                name += " again"
            role, parts = message.sender or message.role, self.claude_parts(message, where)
            said[name] = self.heard(self.said(role, parts, self.time(message, where), where), element, where)
            named.append((name, message.parent_message_uuid))
        times = [said[name][0].time for name, _ in named if said[name]]
        known = [time for time in times if time is not None]
        if len(known) == len(times) > 1 and known[0] > known[-1] and known == sorted(known, reverse=True):
            named.reverse()  # newest first
        before: str | None = None
        for name, parent in named:  # older exports name no parents, and a cut one lacks some of them
            is_known = parent in said and parent != name
            parents[name] = None if parent == _NO_PARENT else parent if is_known else before
            before = name
        leaf = chat.current_leaf_message_uuid
        if leaf not in said:
            if leaf is not None:
                self.odd.add(NoteKind.UNREAD, "`current_leaf_message_uuid` names no message; the last is taken", place)
            leaf = before
        branch = self.branch(leaf, parents, said, place)
        return GivenChat("claude", chat.name or "", branch, place, self.time(chat, place), self.odd)

    def claude_parts(self, message: ClaudeMessage, place: str) -> tuple[Part, ...]:
        """Return the parts of a message of Claude's export; `text` repeats the texts of `content`."""
        parts = self.parts(message.content, place)
        # Content of blanks and control characters alone says nothing in place of `text`.
        if not any(part.kind is PartKind.TEXT and re.search(r"\w", part.text) for part in parts):
            parts = (*self.parts(message.text, place), *parts)
        files = (*(message.attachments or ()), *(message.files or ()), *(message.files_v2 or ()))
        attached = [part for one in files for part in self.attached(one, place)]
        # `files` repeats the names of attachments whose text is there.
        names = {part.text.partition("\n")[0] for part in attached if "\n" in part.text}
        return (*parts, *{part.text: part for part in attached if part.text not in names}.values())

    def attached(self, given: object, place: str) -> Iterator[Part]:
        """Yield the text of an attachment under its name; the name alone stands for a file without text."""
        file = self.fit(Attached, given, f"{place}: attachment")
        if file is not None:
            name = file.file_name or file.name or ""
            yield Part(kind=PartKind.TEXT, text=f"(file) {name}\n{file.extracted_content or ''}".strip())

    def said(self, role: str | None, parts: tuple[Part, ...], time: datetime | None, place: str) -> list[ChatText]:
        """Return a message; one of a role that no shape knows is kept unsaid, an empty one is left out."""
        name = (role or "").strip().casefold()
        if not any(part.text.strip() or part.data for part in parts):
            if name not in UNSAID:
                self.odd.add(NoteKind.EMPTY_MESSAGE, "the message holds no text, and is left out", place)
            return []
        if name not in USERS | ASSISTANTS | UNSAID:
            what = f"the role is {name[:40]!r}; user, assistant, system and tool are read; the text is kept, unsaid"
            self.odd.add(NoteKind.UNREAD, what, place)
            name = "system"
        return [ChatText(name, parts, time)]

    def parts(self, content: object, place: str) -> tuple[Part, ...]:
        """Return the parts of a content: a text, or a list of texts and typed parts."""
        if content is None:
            return ()
        if isinstance(content, str):
            return (Part(kind=PartKind.TEXT, text=content),) if content.strip() else ()
        if isinstance(content, list):
            return tuple(part for element in content for part in self.parts(element, place))
        if isinstance(content, dict):
            return self.typed(content, place)
        self.odd.add(NoteKind.UNREAD, f"{kind_of(content)} where a text is needed", place)
        return ()

    def typed(self, content: dict[str, Any], place: str) -> tuple[Part, ...]:
        """Return the parts of a typed piece; media without words leave a stub."""
        if (piece := self.fit(ChatPart, content, place)) is None:
            return ()
        kind = piece.kind
        if kind in {"text", "multimodal_text"} and isinstance(content.get("parts"), list):
            return self.parts(content["parts"], place)
        if kind.endswith(("tool_use", "function_call", "tool_call")):
            return (_called(piece.name, piece.arguments if piece.input is None else piece.input, "arguments"),)
        source = content.get("source")
        if isinstance(source, dict) and source.get("type") == "text":  # a document that is a text
            content = content | {"text": [content.get("text"), source.get("data")]}
        words = words_of(content).strip()
        if "tool_result" in kind or kind in {"function_call_output", "execution_output"}:
            return (Part(kind=PartKind.TOOL_RESULT, text=words or "(empty)"),)
        if "think" in kind or "reason" in kind or kind == "thoughts":
            if not words:
                self.odd.add(NoteKind.UNREAD, f"a part of the kind {kind[:40]!r} holds no words that are read", place)
            return (Part(kind=PartKind.THINKING, text=words),) if words else ()
        medium = next((name for name in _MEDIA if name in kind), None)
        if medium == "image":
            return (Part(kind=PartKind.IMAGE_STUB, text=words or "shared here"),)
        if words:
            return (Part(kind=PartKind.TEXT, text=words),)
        if medium is None and any(content[name] for name in content.keys() - {"type", "content_type"}):
            self.odd.add(NoteKind.UNREAD, f"a part of the kind {kind[:40]!r} holds no words that are read", place)
        return () if kind == "text" else (Part(kind=PartKind.TEXT, text=f"({medium or kind[:40]}) shared here"),)


def words_of(value: object) -> str:
    """Return the words in a value: a text, or those of a list's elements and of the members named in _WORDS."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(words_of, value)))
    if isinstance(value, dict):
        return "\n".join(dict.fromkeys(filter(None, (words_of(value[name]) for name in _WORDS if name in value))))
    return ""


def _texts_in(value: object) -> Iterator[str]:
    """Yield all texts of a JSON value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _texts_in(inner)


def _unread(value: object, name: str, lines: set[str], read: str) -> Iterator[str]:
    """Yield the names of the members of a message that hold words, and not one of the lines that were read."""
    if isinstance(value, Mapping):
        for inner, held in value.items():
            yield from () if inner in _NAMES else _unread(held, inner, lines, read)
    elif isinstance(value, list):
        for held in value:
            yield from _unread(held, name, lines, read)
    elif isinstance(value, str) and (name in _WORDS or _PROSE.search(value[:2_000])):
        is_read = all(line.strip() in lines for line in value.splitlines()) or value.strip() in read
        if not is_read and any(character.isalnum() for character in value):
            yield name


def _as_kind(kind: PartKind, parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(Part(kind=kind, text=part.text) if part.kind is PartKind.TEXT else part for part in parts)


def _called(name: str | None, given: object, key: str) -> Part:
    inputs = given if isinstance(given, dict) else {key: given}
    return Part(kind=PartKind.TOOL_CALL, data={"name": name or "tool", "input": inputs})
