"""LongMemEval: a list of questions, each with the haystack of sessions that it is asked about.

A haystack is a conversation of ours; consecutive questions with the same one share it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import SEEK_END
from itertools import accumulate, count, groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from longbeam import __version__
from longbeam.abilities.record import Trait
from longbeam.abilities.registry import abilities, ability_named, ability_of
from longbeam.formats.dataset_card import format_card
from longbeam.formats.dates import longmemeval_time, read_longmemeval_time
from longbeam.formats.exporting import (
    CANARY,
    CARD,
    ExportWriter,
    FormatExporter,
    JsonList,
    cited_ids,
    json_text,
    sessions_of,
)
from longbeam.formats.reading import ImportOptions, Notes, describe, refuse, want_dict, want_list, want_text
from longbeam.formats.session_reading import (
    EXPORTED,
    GivenQuestion,
    SessionDate,
    SessionMessage,
    claim_id,
    exported_fields,
    further_members,
    json_files,
    messages_of,
    numbered_elements,
    session_head,
    session_times,
)
from longbeam.schemas.conversation import ConversationHead, ConversationReader, GivenConversation
from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.imports import NoteKind
from longbeam.schemas.probes import Probe

FORMAT = "longmemeval"
FORMAT_VERSION = 1
FILE = "longmemeval_s_cleaned.json"
"""The name under which the harnesses look for it."""

ABSTENTION = "_abs"
"""End of the question_id of a question that the haystack does not answer."""
ABOUT = f"""## Files

`{FILE}` is a JSON list of questions as LongMemEval has them, each with its whole haystack: `haystack_sessions`,
`haystack_session_ids`, `haystack_dates`, `question_date`, `answer_session_ids`, and `has_answer` on the messages that
are evidence. The `question_id` of an abstention ends with `{ABSTENTION}`. What LongMemEval has no field for stands in
the key `longbeam` of each question, which its loaders do not read."""

_HAYSTACK = ("haystack_session_ids", "haystack_dates", "haystack_sessions")


# --- reading ----------------------------------------------------------------------------------------------


def import_longmemeval(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
    """Yield a conversation for each haystack of a file, with the questions that are asked about it."""
    seen: set[str] = set()
    items = (_read_item(item, where, seen) for where, item in numbered_elements(json_files(path), "question"))
    for number, (_, group) in enumerate(groupby(items, key=lambda item: item.digest)):
        listed = list(_without_repeated_haystacks(group))
        yield _conversation(listed, f"c{number:03d}", options)


@dataclass
class _Item:
    """One element of the file."""

    where: str
    question_id: str
    found: dict[str, Any]
    sessions: list[list[dict[str, Any]]]
    digest: str
    """Digest of the haystack without its evidence marks, which differ between questions."""
    flags: list[list[Any]]
    """Ordinals of the messages that have `has_answer`, and its value."""


def _read_item(item: object, where: str, seen: set[str]) -> _Item:
    found = want_dict(item, where, "an object with question and haystack_sessions")
    question_id = want_text(found.get("question_id"), f"{where}: question_id", "an id")
    claim_id(seen, where, "question_id", question_id)
    if not want_text(found.get("question_type"), f"{where}: question_type", "a name"):
        refuse(f"{where}: question_type", "it is empty; a name is needed")
    sessions: list[list[dict[str, Any]]] = []
    flags: list[list[Any]] = []
    ordinal = 0
    for i, session in enumerate(want_list(found.get("haystack_sessions"), f"{where}: haystack_sessions", "a list")):
        place = f"{where}: haystack_sessions[{i}]"
        sessions.append([])
        for message in want_list(session, place, "a list of messages"):
            plain = dict(want_dict(message, place, "a message with role and content"))
            if plain.get("role") not in set(MessageRole):
                refuse(place, f"role {describe(plain.get('role'))}; allowed: user, assistant")
            want_text(plain.get("content"), place, "a content text")
            if "has_answer" in plain:
                flags.append([ordinal, plain.pop("has_answer")])
            sessions[-1].append(plain)
            ordinal += 1
    if not ordinal:
        refuse(where, "the haystack holds no message")
    text = json_text([found.get("haystack_session_ids"), found.get("haystack_dates"), sessions])
    for key in ("haystack_session_ids", "haystack_dates"):
        listed = want_list(found.get(key), f"{where}: {key}", "a list")
        if len(listed) != len(sessions):
            refuse(where, f"{key} has {len(listed)} entries, haystack_sessions {len(sessions)}")
    return _Item(where, question_id, found, sessions, hashlib.sha256(text.encode()).hexdigest(), flags)


def _without_repeated_haystacks(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield the items, with the haystack of the first only: many questions may share a long one."""
    for i, item in enumerate(items):
        if i:
            item.sessions = []
            item.found = {k: v for k, v in item.found.items() if k not in _HAYSTACK}
        yield item


def _conversation(items: list[_Item], conversation_id: str, options: ImportOptions) -> GivenConversation:
    first = items[0]
    notes = Notes()
    times = session_times(map(_date, count(), map(str, first.found["haystack_dates"])), notes)
    places = _Places.of(first)
    probes = tuple(_probe(item, i, places, notes) for i, item in enumerate(items))
    details = {
        "format": FORMAT,
        "id": first.question_id,
        "session_ids": first.found["haystack_session_ids"],
        "dates": first.found["haystack_dates"],
        "session_lengths": [len(session) for session in first.sessions],
    }
    head = session_head(conversation_id, f"Haystack of {first.question_id}", options.tokenizer, details, notes)
    sessions = first.sessions  # the messages need nothing else of the questions, which may be freed
    return GivenConversation(
        head, lambda: messages_of(map(_session, count(), sessions), times, FORMAT, options.tokenizer), probes
    )


def _date(session: int, given: str) -> SessionDate:
    return SessionDate(f"s{session}", f"session {session}", given, read_longmemeval_time(given))


def _session(session: int, items: list[dict[str, Any]]) -> Iterator[SessionMessage]:
    for m, item in enumerate(items):
        role = MessageRole(item["role"])
        kept = {k: v for k, v in item.items() if k not in {"role", "content"}}
        yield SessionMessage(f"s{session}.m{m}", role, role.value, item["content"], kept=kept)


@dataclass(frozen=True)
class _Places:
    """Places of a haystack's messages."""

    keys: list[str]
    """Message keys by ordinal."""
    ordinals: dict[str, range]
    """Ordinals of the messages of each session, by the session's id."""

    @classmethod
    def of(cls, item: _Item) -> _Places:
        """Return the places in the haystack of an item."""
        ids = [str(i) for i in item.found["haystack_session_ids"]]
        lengths = [len(session) for session in item.sessions]
        ends = list(accumulate(lengths))
        ordinals = [range(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        keys = [f"s{s}.m{m}" for s, length in enumerate(lengths) for m in range(length)]
        return cls(keys, dict(zip(ids, ordinals, strict=True)))


def _probe(item: _Item, number: int, places: _Places, notes: Notes) -> Probe:
    fields = {k: v for k, v in item.found.items() if k not in _HAYSTACK}
    kind = fields["question_type"]
    question = GivenQuestion.read(fields, item.where, (kind, _ability_of_question(item.question_id, kind)), number)
    gold = question.take_answer(notes)
    cited = _cited(item, question.probe_id, places, notes)
    extra = {FORMAT: question.kept, "number": number} | ({"has_answer": item.flags} if item.flags else {})
    return question.probe(gold, cited, extra, read_longmemeval_time(str(fields.get("question_date") or "")))


def _ability_of_question(question_id: str, kind: str) -> str:
    """Return the ability that reads a question type; one of its own name for a type that LongMemEval does not list."""
    if question_id.endswith(ABSTENTION):
        return next(ability.name for ability in abilities() if ability.has(Trait.ABSTAINS))
    readers = (ability.name for ability in abilities() if kind in ability.reads_longmemeval)
    return next(readers, ability_named(kind))


def _cited(item: _Item, probe_id: str, places: _Places, notes: Notes) -> list[str]:
    """Return the keys of the messages marked as evidence; a session without a marked message cites none."""
    marked = [ordinal for ordinal, flag in item.flags if flag]
    sessions = item.found.get("answer_session_ids")
    for session in sessions if isinstance(sessions, list) else []:
        if str(session) not in places.ordinals:
            notes.add(NoteKind.EVIDENCE_ID, probe_id, f"evidence cites session {session!r}, which the haystack lacks")
        elif not any(ordinal in places.ordinals[str(session)] for ordinal in marked):
            what = f"session {session!r} is evidence, and none of its messages is marked"
            notes.add(NoteKind.EVIDENCE_MISSING, probe_id, what)
    return [places.keys[ordinal] for ordinal in marked]


# --- writing ----------------------------------------------------------------------------------------------


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    with writer.open(FILE) as file, JsonList(file) as questions:
        for reader in readers:
            with TemporaryFile("w+b", dir=writer.folder) as spool:
                haystack = _Haystack(reader, writer.messages_of(reader), spool)
                probes = [probe for probe, _ in writer.probes_of(reader)]
                for probe in sorted(probes, key=lambda p: p.details.extra.get("number", 0)):
                    cited = set(cited_ids(reader, probe, haystack.message_ids))
                    questions.begin()
                    for piece in _question_text(reader.head, haystack, probe, cited):
                        file.write(piece)
    writer.write_text(CARD, format_card(writer.told, writer.counts, __version__, ABOUT))


export_longmemeval = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write one file below `target` and return what was written; see `Exporter`."""


class _Haystack:
    """The sessions of a conversation as JSON texts in a temporary file, since every question repeats all of them."""

    def __init__(self, reader: ConversationReader, messages: Iterable[tuple[int, Message]], spool: IO[bytes]) -> None:
        self.message_ids: dict[str, int] = {}
        self.ids: list[Any] = []
        self.dates: list[Any] = []
        self.ordinals: list[range] = []
        self.last = datetime(1970, 1, 1)
        self._spool = spool
        self._places: list[tuple[int, int]] = []
        head = reader.head
        # An import may have empty sessions, which no message belongs to.
        lengths = head.details.get("session_lengths", ()) if head.details.get("format") == FORMAT else ()
        for session in sessions_of(messages, by_day=not lengths):
            while lengths and len(self.ordinals) < session[0][1].session:
                self._add(head, [])
            self._add(head, session)
        while len(self.ordinals) < len(lengths):
            self._add(head, [])
        if lengths:
            self.ids, self.dates = head.details["session_ids"], head.details["dates"]

    def session_text(self, number: int, flags: Mapping[int, Any]) -> str:
        """Return the JSON text of a session, with the evidence marks of a question on its messages."""
        offset, size = self._places[number]
        self._spool.seek(offset)
        text = self._spool.read(size).decode()
        ordinals = self.ordinals[number]
        if not any(i in flags for i in ordinals):
            return text
        pairs = zip(ordinals, json.loads(text), strict=True)
        return json_text([m | ({"has_answer": flags[i]} if i in flags else {}) for i, m in pairs])

    def _add(self, head: ConversationHead, items: list[tuple[int, Message]]) -> None:
        listed = [{"role": m.role.value, "content": m.content, **m.details.get(FORMAT, {})} for _, m in items]
        self.message_ids |= {m.message_key: i for i, m in items}
        start = self.ordinals[-1].stop if self.ordinals else 0
        self.ordinals.append(range(start, start + len(items)))
        self.last = items[-1][1].sent_at if items else self.last
        self.ids.append(f"{head.conversation_id}_{len(self.ordinals)}")
        self.dates.append(longmemeval_time(items[0][1].sent_at if items else self.last))
        data = json_text(listed).encode()
        self._places.append((self._spool.seek(0, SEEK_END), len(data)))
        self._spool.write(data)


def _question_text(head: ConversationHead, haystack: _Haystack, probe: Probe, cited: set[int]) -> Iterator[str]:
    """Yield the JSON text of a question, with its haystack session by session."""
    kept = probe.details.extra.get(FORMAT)
    flags = dict(probe.details.extra.get("has_answer", ()))
    is_changed = kept is None or cited != {i for i, flag in flags.items() if flag}
    if is_changed:  # by somebody, since it was imported; or it is ours
        flags = dict.fromkeys(cited, True)
    answers = [i for i, ordinals in zip(haystack.ids, haystack.ordinals, strict=True) if cited & set(ordinals)]
    yield '{"haystack_sessions":['
    for number in range(len(haystack.ordinals)):
        yield ("," if number else "") + "\n" + haystack.session_text(number, flags)
    yield "]"
    if kept is None:
        about = _own_question(head, probe, haystack.last)
    else:
        gold = {} if "answer" in kept or not probe.gold_answer else {"answer": probe.gold_answer}
        about = {"question": probe.question, **gold, **kept}
    about |= {"answer_session_ids": answers} if is_changed else {}
    about |= {"haystack_session_ids": haystack.ids, "haystack_dates": haystack.dates}
    yield further_members(about) + "}"


def _own_question(head: ConversationHead, probe: Probe, last: datetime) -> dict[str, Any]:
    ability = ability_of(probe.ability)
    return {
        "question_id": f"{head.conversation_id}_{probe.probe_id}{ABSTENTION if ability.has(Trait.ABSTAINS) else ''}",
        "question_type": ability.longmemeval_type or probe.ability,
        "question": probe.question,
        "answer": probe.gold_answer,
        "question_date": longmemeval_time(probe.asked_at or last + timedelta(hours=1)),
        EXPORTED: {**exported_fields(probe), "canary": CANARY},
    }
