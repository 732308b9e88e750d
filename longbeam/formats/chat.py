"""Anybody's own chats: OpenAI messages, ShareGPT, and the exports of two chat products.

A file is a list or JSON Lines of chats, one chat, or one chat's messages. Chats of a product's export are one person's,
so they become the sessions of one conversation, oldest first; chats of other files are a conversation each. A day is a
session. There are no probes: `longbeam probe` makes them. `chat_shapes` declares the makers' shapes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from longbeam.formats.chat_shapes import UNSAID, USERS, ChatReader, ChatText, GivenChat, Oddities, PlainChat, kind_of
from longbeam.formats.reading import ImportOptions, Notes, overwritten, refuse, stream_values
from longbeam.formats.session_reading import session_head
from longbeam.keys import MessageKey
from longbeam.models import load_tokenizer
from longbeam.schemas import GivenConversation, Message, MessageKind, MessageRole, NoteKind, Part, PartKind, text_of

FORMAT = "chat"
UNDATED = datetime(2000, 1, 1)
"""Day of the first chat without a date; each further one is a day later."""
_LISTS = ("messages", "conversations", "conversation")
"""Members in which a chat holds its messages, or a dump its chats."""
_SHOWN_MESSAGES = 20


def import_chat(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
    """Yield the conversations of a file, or of the JSON files of a folder.

    Raises UserError for a file without chats of a known shape. All chats of a conversation are in memory.
    """
    source = _Source()
    for file in _files(path, source.odd):
        source.read_file(file)
    chats = [chat for chat in source.chats if chat.is_spoken]
    if not chats:
        first = next((line for odd in source.all_odd for _, line in odd.lines()), "")
        refuse(str(path), f"holds no chat with a message of a user or an assistant{first and f' ({first})'}")
    if options.redaction is not None:
        for chat in chats:
            options.redaction.spans(chat.title)
            for said in chat.said:
                options.redaction.spans(text_of(said.parts))
    joins = options.joins if options.joins is not None else all(c.shape in {"chatgpt", "claude"} for c in chats)
    for chat in source.chats:
        if not chat.is_spoken and chat.said:
            source.odd.add(NoteKind.UNREAD, "neither user nor assistant says anything; left out", chat.place)
    # The first conversation has the notes on the source, and on the chats in which nobody says anything.
    unsaid = [source.odd, *(chat.odd for chat in source.chats if not chat.is_spoken)]
    for number, group in enumerate([_oldest_first(chats)] if joins else [[chat] for chat in chats]):
        odd = [*unsaid, *(chat.odd for chat in group)] if number == 0 else [chat.odd for chat in group]
        yield _conversation(number, group, odd, options)


def _files(path: Path, odd: Oddities) -> list[Path]:
    """Return the files to read; in the folder of a product's export these are `conversations*.json` alone."""
    if path.suffix == ".zip":
        refuse(str(path), "is a zip; unpack it, and name the folder or its conversations.json")
    if not path.is_dir():
        return [path]
    # A pipe would be waited for for ever.
    there = sorted(file for file in path.iterdir() if not file.name.startswith("."))
    files = [file for file in there if file.suffix.lower() in {".json", ".jsonl"} and file.is_file()]
    if not files:
        refuse(str(path), "there is no .json and no .jsonl file in this folder")
    exported = [file for file in files if file.name.startswith("conversations")] or files
    for file in there:
        if file not in exported:
            odd.add(NoteKind.UNREAD_FILE, "a file beside the chats is not read", file.name)
    return exported


@dataclass
class _Source:
    """The chats of all files, and what could not be read."""

    chats: list[GivenChat] = field(default_factory=list)
    odd: Oddities = field(default_factory=Oddities)

    @property
    def all_odd(self) -> list[Oddities]:
        return [self.odd, *(chat.odd for chat in self.chats)]

    def read_file(self, file: Path) -> None:
        """Add the chats of a file; messages that stand in it one by one are one chat, those of a list another."""
        bare: dict[int | None, list[Any]] = {}
        is_empty, twice = True, list[str]()

        def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            twice.extend(f"`{name[:40]}` ({kind_of(value)})" for name, value in overwritten(pairs))
            return dict(pairs)

        decoder = json.JSONDecoder(parse_constant=str, object_pairs_hook=members)  # NaN is a text that no time is
        for number, (list_number, element) in enumerate(stream_values(file, decoder), 1):
            is_empty = False
            for name in dict.fromkeys(twice):
                what = f"{name} stands twice in one object; the last one is read"
                self.odd.add(NoteKind.UNREAD, what, f"{file.name}: element {number}")
            twice.clear()
            if isinstance(element, dict) and element.keys() & {"role", "from"} and not _lists_of(element):
                bare.setdefault(list_number, []).append(element)
            else:
                self.read(element, f"{file.name}: element {number}")
        if is_empty:
            self.odd.add(NoteKind.UNREAD_FILE, "the file is empty", file.name)
        for number, messages in enumerate(bare.values(), 1):
            place = file.name if len(bare) == 1 else f"{file.name}: list {number}"
            self.read(messages, place, title=file.stem)

    def read(self, element: object, place: str, *, title: str = "") -> None:
        """Add the chat, or the chats, of an element of a file; a list of messages gets the title."""
        try:
            self._read(element, place, title)
        except RecursionError:
            self.odd.add(NoteKind.UNREAD, "lists or objects lie too deep in each other", place)

    def _read(self, element: object, place: str, title: str = "") -> None:
        reader = ChatReader(Oddities())
        if isinstance(element, list):
            self.chats.append(reader.plain(element, place, title=title))
            return
        if not isinstance(element, dict):
            self.odd.add(NoteKind.UNREAD, f"{kind_of(element)} where a chat or a message is needed", place)
            return
        lists = _lists_of(element)
        for other in lists[1:]:
            self.odd.add(NoteKind.UNREAD, f"`{other}` stands beside `{lists[0]}`, and is not read", place)
        beside = {name: held for name, held in element.items() if name not in {*lists, "title", "system"}}
        if lists:
            ChatReader(self.odd).heard([], beside, place)
        listed = lists[0] if lists and lists[0] in _LISTS else None
        chat: GivenChat | None = None
        if lists[:1] == ["mapping"]:
            chat = reader.chatgpt(element, place)
        elif lists[:1] == ["chat_messages"]:
            chat = reader.claude(element, place)
        elif listed is not None and _holds_chats(element[listed]):
            for number, inner in enumerate(element[listed], 1):
                self._read(inner, f"{place}: {listed} {number}")
            return
        elif listed is not None:
            head = reader.fit(PlainChat, element, place)
            chat = reader.plain(element[listed], f"{place}: {listed}", head)
        if chat is None:
            keys = ", ".join(map(repr, list(element)[:5])) or "none"
            what = f"is no chat that is read (keys: {keys}); docs/imports.md names the shapes, such as `messages`"
            self.odd.add(NoteKind.UNREAD, what, place)
            return
        told = reader.said("system", reader.parts(element.get("system"), place), None, place)
        self.chats.append(replace(chat, said=(*told, *chat.said)))


def _lists_of(element: Mapping[str, Any]) -> list[str]:
    """Return the members in which a chat holds messages, filled ones first; the first one is read."""
    kinds = {"mapping": dict, "chat_messages": list} | dict.fromkeys(_LISTS, list)
    found = [name for name, kind in kinds.items() if isinstance(element.get(name), kind)]
    filled = [name for name in found if element[name]]
    return filled or found[:1]


def _holds_chats(elements: Sequence[object]) -> bool:
    """Whether the elements of a list are chats rather than messages."""
    members = {"mapping", "chat_messages", *_LISTS}
    return any(isinstance(one, list) or (isinstance(one, dict) and not members.isdisjoint(one)) for one in elements)


def _oldest_first(chats: Iterable[GivenChat]) -> list[GivenChat]:
    return sorted(chats, key=lambda chat: chat.begins or datetime.max)


# --- the conversation -------------------------------------------------------------------------------------


def _conversation(
    number: int, chats: Sequence[GivenChat], odd: Iterable[Oddities], options: ImportOptions
) -> GivenConversation:
    notes, conversation_id = Notes(), f"c{number:03d}"
    hide: Callable[[str], str] = options.redaction.redacted if options.redaction else str
    messages = tuple(_messages(chats, load_tokenizer(options.tokenizer).count, notes, hide))
    titles = [hide(chat.title) for chat in chats if chat.title]
    unsaid = [hide(text_of(s.parts)) for chat in chats for s in chat.said if s.role in UNSAID and s.parts]
    details = {"format": FORMAT, "id": conversation_id, "shape": chats[0].shape, "titles": titles, "system": unsaid}
    for kind, line in (line for one in odd for line in one.lines()):
        notes.add(kind, "conversation", hide(line))
    if unsaid:
        notes.add(NoteKind.ODD_VALUE, "conversation", f"{len(unsaid)} system messages are kept in details, unsaid")
    notes.add(NoteKind.NO_PROBES, "conversation", "chats have no probes; `longbeam probe` makes them")
    title = titles[0] if titles and len(chats) == 1 else f"{len(chats)} chats" if len(chats) > 1 else "A chat"
    head = session_head(conversation_id, title, options.tokenizer, details, notes)
    return GivenConversation(head, partial(iter, messages), ())


def _messages(
    chats: Iterable[GivenChat], count: Callable[[str], int], notes: Notes, hide: Callable[[str], str]
) -> Iterator[Message]:
    """Yield the messages of chats; a day is a session, and a message of the user's begins a turn."""
    last, session, turn, place, message_id = datetime.min, -1, 0, 0, 0
    earlier: list[str] = []
    for number, chat in _parts_oldest_first(chats):
        begins = chat.begins
        if begins is None:
            begins = max(UNDATED + timedelta(days=number), last + timedelta(days=1) if message_id else UNDATED)
            what = f"chat {number + 1} has no date; {begins:%Y-%m-%d} stands in"
            notes.add(NoteKind.NO_DATE, "conversation", what)
        for said in chat.said:
            content = hide(text_of(said.parts)).strip()
            if said.role in UNSAID or not content:
                continue
            time = max(said.time or begins, last)
            is_user = said.role in USERS
            if session < 0 or time.date() > last.date():
                session, turn, place = session + 1, 0, 0
            elif is_user:
                turn, place = turn + 1, 0
            last = time
            key = str(MessageKey(0, session, turn, place))
            if said.time is not None and said.time < time:
                earlier.append(key)
            yield Message(
                message_key=key,
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
    if earlier:
        what = f"{len(earlier)} messages have an earlier time than the message before, whose time stands in"
        notes.add(NoteKind.TIME_GOES_BACK, "conversation", what, *earlier[:_SHOWN_MESSAGES])


def _parts_oldest_first(chats: Iterable[GivenChat]) -> list[tuple[int, GivenChat]]:
    """Return chats with their ordinals; one that goes on on a later day is parted there, as another may lie between."""
    parts = [(number, part) for number, chat in enumerate(chats) for part in _days_of(chat)]
    return sorted(parts, key=lambda part: part[1].begins or datetime.max)


def _days_of(chat: GivenChat) -> Iterator[GivenChat]:
    """Yield a chat's messages in parts, each of which begins with a message of the user's of a later day."""
    run: list[ChatText] = []
    last = chat.begins
    for said in chat.said:
        if said.time is not None and last is not None and said.time > last:
            if said.role in USERS and said.time.date() > last.date():
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
