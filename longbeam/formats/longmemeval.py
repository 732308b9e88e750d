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
from longbeam.abilities import Trait, abilities, ability_named, ability_of
from longbeam.formats.dataset_card import format_card
from longbeam.formats.dates import longmemeval_time, read_longmemeval_time
from longbeam.formats.exporting import (
    CANARY,
    ExportWriter,
    FormatExporter,
    JsonList,
    cited_ids,
    json_text,
    sessions_of,
)
from longbeam.formats.reading import ImportOptions, Notes, describe, refuse, want
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
from longbeam.keys import AdviceId
from longbeam.schemas import (
    ConversationHead,
    ConversationReader,
    GivenConversation,
    Message,
    MessageRole,
    NoteKind,
    Probe,
)

FORMAT = "longmemeval"
FORMAT_VERSION = 1
FILE = "longmemeval_s_cleaned.json"
"""The name under which the harnesses look for it."""

ABSTENTION = "_abs"
"""End of the question_id of a question that the haystack does not answer."""
EVIDENCE = "answer_"
"""Beginning of the ids of a question's evidence sessions: LongMemEval's retrieval script knows them by this word."""
QUESTION_TYPES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)
"""The types over which LongMemEval's scripts average; a mean over no question is printed as nan."""

ABOUT = f"""## Files

`{FILE}` is a JSON list of questions as LongMemEval has them, each with its whole haystack: `haystack_sessions`,
`haystack_session_ids`, `haystack_dates`, `question_date`, `answer_session_ids`, and `has_answer` on every message.
Ids of sessions with evidence for a question begin with `{EVIDENCE}`, so a session has another id in another question.
The `question_id` of an abstention ends with `{ABSTENTION}`. What LongMemEval has no field for stands in the key
`longbeam` of each question, which its loaders do not read."""

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
    session_ids: list[Any]
    """Ids of the sessions without `EVIDENCE`, which marks other sessions in each question."""
    marks: dict[str, Any]
    """Evidence marks: `has_answer` (pairs of a message's ordinal and its value), `has_answer_everywhere` where every
    message says true or false and the pairs are only those that say true, and `prefixed`, places of marked sessions."""
    digest: str
    """Digest of the haystack without its evidence marks."""


def _read_item(item: object, where: str, seen: set[str]) -> _Item:
    found = want(dict, item, where, "an object with question and haystack_sessions")
    question_id = want(str, found.get("question_id"), f"{where}: question_id", "an id")
    claim_id(seen, where, "question_id", question_id)
    if not want(str, found.get("question_type"), f"{where}: question_type", "a name"):
        refuse(f"{where}: question_type", "it is empty; a name is needed")
    sessions: list[list[dict[str, Any]]] = []
    flags: list[list[Any]] = []
    ordinal = 0
    for i, session in enumerate(want(list, found.get("haystack_sessions"), f"{where}: haystack_sessions", "a list")):
        place = f"{where}: haystack_sessions[{i}]"
        sessions.append([])
        for message in want(list, session, place, "a list of messages"):
            plain = dict(want(dict, message, place, "a message with role and content"))
            if plain.get("role") not in list(MessageRole):
                refuse(place, f"role {describe(plain.get('role'))}; allowed: user, assistant")
            want(str, plain.get("content"), place, "a content text")
            if "has_answer" in plain:
                flags.append([ordinal, plain.pop("has_answer")])
            sessions[-1].append(plain)
            ordinal += 1
    if not ordinal:
        refuse(where, "the haystack holds no message")
    for key in ("haystack_session_ids", "haystack_dates"):
        listed = want(list, found.get(key), f"{where}: {key}", "a list")
        if len(listed) != len(sessions):
            refuse(where, f"{key} has {len(listed)} entries, haystack_sessions {len(sessions)}")
    ids, prefixed = _without_marks(found["haystack_session_ids"])
    marks: dict[str, Any] = {"prefixed": prefixed} if prefixed else {}
    if len(flags) == ordinal and all(isinstance(flag, bool) for _, flag in flags):
        marks |= {"has_answer": [pair for pair in flags if pair[1]], "has_answer_everywhere": True}
    elif flags:
        marks["has_answer"] = flags
    text = json_text([ids, found["haystack_dates"], sessions])
    return _Item(where, question_id, found, sessions, ids, marks, _digest(text))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _without_marks(ids: list[Any]) -> tuple[list[Any], list[int]]:
    """Return the ids of sessions without `EVIDENCE`, and the places of those that had it; unchanged where two ids
    would be the same, or where a mark would be left.
    """
    plain = [i.removeprefix(EVIDENCE) if isinstance(i, str) else i for i in ids]
    prefixed = [n for n, (before, after) in enumerate(zip(ids, plain, strict=True)) if before != after]
    if len(set(map(str, plain))) < len(plain) or any(_is_marked(plain[n]) for n in prefixed):
        return ids, []
    return plain, prefixed


def _is_marked(session_id: object) -> bool:
    """Return whether LongMemEval's retrieval script takes a session for evidence."""
    return EVIDENCE.strip("_") in str(session_id)


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
    places = _SessionPlaces.of(first)
    probes = tuple(_probe(item, i, places, notes) for i, item in enumerate(items))
    details = {
        "format": FORMAT,
        "id": first.question_id,
        "session_ids": first.session_ids,
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
class _SessionPlaces:
    """Places of a haystack's messages."""

    keys: list[str]
    """Message keys by ordinal."""
    ordinals: dict[str, range]
    """Ordinals of the messages of each session, by the session's id."""

    @classmethod
    def of(cls, item: _Item) -> _SessionPlaces:
        """Return the places in the haystack of an item."""
        ids = [str(i) for i in item.session_ids]
        lengths = [len(session) for session in item.sessions]
        ends = list(accumulate(lengths))
        ordinals = [range(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        keys = [f"s{s}.m{m}" for s, length in enumerate(lengths) for m in range(length)]
        return cls(keys, dict(zip(ids, ordinals, strict=True)))

    def of_session(self, session_id: object) -> range | None:
        """Return the ordinals of a session's messages, whether its id has the mark of evidence or not."""
        name = str(session_id)
        return self.ordinals.get(name, self.ordinals.get(name.removeprefix(EVIDENCE)))


def _probe(item: _Item, number: int, places: _SessionPlaces, notes: Notes) -> Probe:
    fields = {k: v for k, v in item.found.items() if k not in _HAYSTACK}
    kind = fields["question_type"]
    question = GivenQuestion.read(fields, item.where, (kind, _ability_of_question(item.question_id, kind)), number)
    gold = question.take_answer(notes)
    cited = _cited(item, question.probe_id, places, notes)
    extra = {FORMAT: question.kept, "number": number, **item.marks}
    return question.probe(gold, cited, extra, read_longmemeval_time(str(fields.get("question_date") or "")))


def _ability_of_question(question_id: str, kind: str) -> str:
    """Return the ability that reads a question type; one of its own name for a type that LongMemEval does not list."""
    if question_id.endswith(ABSTENTION):
        return next(ability.name for ability in abilities() if ability.has(Trait.ABSTAINS))
    readers = (ability.name for ability in abilities() if kind in ability.reads_longmemeval)
    return next(readers, ability_named(kind))


def _cited(item: _Item, probe_id: str, places: _SessionPlaces, notes: Notes) -> list[str]:
    """Return the keys of the messages marked as evidence; a session without a marked message cites none."""
    marked = [ordinal for ordinal, flag in item.marks.get("has_answer", ()) if flag]
    sessions = item.found.get("answer_session_ids")
    for session in sessions if isinstance(sessions, list) else []:
        ordinals = places.of_session(session)
        if ordinals is None:
            notes.add(NoteKind.EVIDENCE_ID, probe_id, f"evidence cites session {session!r}, which the haystack lacks")
        elif not any(ordinal in ordinals for ordinal in marked):
            what = f"session {session!r} is evidence, and none of its messages is marked"
            notes.add(NoteKind.EVIDENCE_MISSING, probe_id, what)
    return [places.keys[ordinal] for ordinal in marked]


# --- writing ----------------------------------------------------------------------------------------------


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    types: set[str] = set()
    with writer.open(FILE) as file, JsonList(file) as questions:
        for reader in readers:
            with TemporaryFile("w+b", dir=writer.folder) as spool:
                haystack = _Haystack(reader, writer.messages_of(reader), spool)
                probes = [probe for probe, _ in writer.probes_of(reader)]
                for probe in sorted(probes, key=lambda p: p.details.extra.get("number", 0)):
                    question = _LongMemEvalQuestion.of(reader, haystack, probe)
                    types |= question.types
                    questions.begin()
                    for piece in question.text():
                        file.write(piece)
    for absent in sorted({*QUESTION_TYPES, ABSTENTION} - types):
        which = f"questions whose id ends with {ABSTENTION}" if absent == ABSTENTION else f"questions of type {absent}"
        writer.warn(f"there are no {which}: LongMemEval's print_qa_metrics.py prints nan for them")
    writer.write_card(format_card(writer.told, writer.counts, __version__, ABOUT))


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
        self._flag = None if head.details.get("format") == FORMAT else False
        """`has_answer` in the texts of the temporary file."""
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

    def session_text(self, number: int, flags: Mapping[int, Any], flag: bool | None) -> str:
        """Return the JSON text of a session with `has_answer` on its messages: that of `flags` by ordinal, else
        `flag`; None leaves it out.
        """
        offset, size = self._places[number]
        self._spool.seek(offset)
        text = self._spool.read(size).decode()
        ordinals = self.ordinals[number]
        if flag is self._flag and not any(i in flags for i in ordinals):
            return text
        listed = []
        for i, message in zip(ordinals, json.loads(text), strict=True):
            value = flags.get(i, flag)
            message.pop("has_answer", None)
            listed.append(message if value is None else {**message, "has_answer": value})
        return json_text(listed)

    def _add(self, head: ConversationHead, items: list[tuple[int, Message]]) -> None:
        flag = {} if self._flag is None else {"has_answer": self._flag}
        listed = [{"role": m.role.value, "content": m.content, **m.details.get(FORMAT, {}), **flag} for _, m in items]
        self.message_ids |= {m.message_key: i for i, m in items}
        start = self.ordinals[-1].stop if self.ordinals else 0
        self.ordinals.append(range(start, start + len(items)))
        self.last = items[-1][1].sent_at if items else self.last
        self.ids.append(f"{head.conversation_id}_{len(self.ordinals)}")
        self.dates.append(longmemeval_time(items[0][1].sent_at if items else self.last))
        data = json_text(listed).encode()
        self._places.append((self._spool.seek(0, SEEK_END), len(data)))
        self._spool.write(data)


@dataclass(frozen=True)
class _LongMemEvalQuestion:
    """A probe on its way into the file, with the marks of its evidence in the haystack."""

    head: ConversationHead
    haystack: _Haystack
    probe: Probe
    flags: Mapping[int, Any]
    """`has_answer` of messages by their ordinals."""
    flag: bool | None
    """`has_answer` of all other messages; None: it is left out."""
    prefixed: frozenset[int]
    """Places of the sessions whose ids say that they are evidence."""
    cited: frozenset[int] | None
    """Ordinals of the evidence; None for an import whose evidence is as it was."""

    @classmethod
    def of(cls, reader: ConversationReader, haystack: _Haystack, probe: Probe) -> _LongMemEvalQuestion:
        """Return the question; marks of an import stay as they were unless its evidence was changed since."""
        cited = frozenset(cited_ids(reader, probe, haystack.message_ids))
        extra = probe.details.extra
        flags = dict(extra.get("has_answer", ()))
        prefixed = frozenset(extra.get("prefixed", ()))
        if FORMAT in extra and cited == {i for i, flag in flags.items() if flag}:
            everywhere = False if extra.get("has_answer_everywhere") else None
            return cls(reader.head, haystack, probe, flags, everywhere, prefixed, None)
        found = (n for n, ordinals in enumerate(haystack.ordinals) if not cited.isdisjoint(ordinals))
        return cls(reader.head, haystack, probe, dict.fromkeys(cited, True), False, prefixed.union(found), cited)

    @property
    def types(self) -> frozenset[str]:
        """The question's type, and `ABSTENTION` for an abstention."""
        about = self._about()
        kinds = {str(about.get("question_type"))}
        return frozenset(kinds | ({ABSTENTION} if ABSTENTION in str(about.get("question_id")) else set()))

    def text(self) -> Iterator[str]:
        """Yield the JSON text, with the haystack session by session."""
        yield '{"haystack_sessions":['
        for number in range(len(self.haystack.ordinals)):
            yield ("," if number else "") + "\n" + self.haystack.session_text(number, self.flags, self.flag)
        yield "]"
        ids = [
            f"{EVIDENCE}{i}" if n in self.prefixed and not _is_marked(i) else i for n, i in enumerate(self.haystack.ids)
        ]
        about = self._about()
        if (cited := self.cited) is not None:
            pairs = zip(ids, self.haystack.ordinals, strict=True)
            about["answer_session_ids"] = [i for i, ordinals in pairs if not cited.isdisjoint(ordinals)]
        about |= {"haystack_session_ids": ids, "haystack_dates": self.haystack.dates}
        yield further_members(about) + "}"

    def _about(self) -> dict[str, Any]:
        probe = self.probe
        kept = probe.details.extra.get(FORMAT)
        if kept is None:
            return _own_question(self.head, probe, self.haystack.last)
        gold = {} if "answer" in kept or not probe.gold_answer else {"answer": probe.gold_answer}
        return {"question": probe.question, **gold, **kept}


def _question_type(probe: Probe) -> str:
    """Return LongMemEval's type of a generated probe; what the assistant brought in decides on its own."""
    ability = ability_of(probe.ability)
    kind = ability.longmemeval_type or probe.ability
    if kind != "single-session-user" or not any(map(AdviceId.names, probe.bullet_ids)):
        return kind
    return "single-session-assistant" if len({e.message_key for e in probe.evidence}) == 1 else "multi-session"


def _own_question(head: ConversationHead, probe: Probe, last: datetime) -> dict[str, Any]:
    ability = ability_of(probe.ability)
    return {
        "question_id": f"{head.conversation_id}_{probe.probe_id}{ABSTENTION if ability.has(Trait.ABSTAINS) else ''}",
        "question_type": _question_type(probe),
        "question": probe.question,
        "answer": probe.gold_answer,
        "question_date": longmemeval_time(probe.asked_at or last + timedelta(hours=1)),
        EXPORTED: {**exported_fields(probe), "canary": CANARY},
    }
