"""Scaffold of readers for JSON lists of dated sessions with questions, as LoCoMo and LongMemEval publish them.

A format reads its own elements, names its fields and maps its categories. This module does what such formats share: it
finds and streams the files, dates the sessions, and builds messages, probes and the head of a conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from longbeam.abilities import ability_named
from longbeam.formats.exporting import MANIFEST, json_text
from longbeam.formats.reading import Notes, describe, refuse, stream_list, want
from longbeam.keys import NuggetId, ProbeId
from longbeam.models import load_tokenizer
from longbeam.schemas import (
    ConversationHead,
    Difficulty,
    Domain,
    Evidence,
    Message,
    MessageKind,
    MessageRole,
    NoteKind,
    Nugget,
    Part,
    Probe,
    ProbeDetails,
    Seed,
    people_graph,
)
from longbeam.terminal import whole_text

EXPORTED = "longbeam"
"""Key under which our exports keep what these formats have no field for; their own loaders do not read it."""


def json_files(path: Path) -> list[Path]:
    """Return the JSON files of a folder by name, or the one file that `path` is; UserError if the folder has none.

    The manifest of an export of ours is no data.
    """
    files = sorted(p for p in path.glob("*.json") if p.name != MANIFEST) if path.is_dir() else [path]
    if not files:
        refuse(str(path), "there is no JSON file in this folder")
    return files


def numbered_elements(
    files: Iterable[Path], noun: str, read: Callable[[Path], Iterator[Any]] = stream_list
) -> Iterator[tuple[str, Any]]:
    """Yield the elements of all files one at a time, each with its place: `FILE: NOUN 1`, counted over all files."""
    number = 0
    for file in files:
        for element in read(file):
            number += 1
            yield f"{file.name}: {noun} {number}", element


def claim_id(seen: set[str], where: str, field_name: str, value: str) -> None:
    """Add an id to those seen; UserError if an earlier element has it."""
    if value in seen:
        refuse(where, f"{field_name} {value!r} occurs twice")
    seen.add(value)


@dataclass(frozen=True)
class SessionDate:
    """The date of a session as its file gives it, and how notes about it name the session."""

    subject: str
    label: str
    """`session 3`."""
    given: object
    time: datetime | None
    """None where the date is missing or cannot be read."""


def session_times(dates: Iterable[SessionDate], notes: Notes) -> list[datetime]:
    """Return a time for each session; one without a date gets that of the session before it, and a note."""
    times: list[datetime] = []
    for date in dates:
        if date.time is None:
            what = f"{date.label} is dated {describe(date.given)}; the session before it stands in"
            notes.add(NoteKind.NO_DATE, date.subject, what)
        elif times and date.time < times[-1]:
            what = f"{date.label} ({date.given}) is dated before the session in front of it"
            notes.add(NoteKind.TIME_GOES_BACK, date.subject, what)
        times.append(date.time or (times[-1] if times else datetime(1970, 1, 1)))
    return times


@dataclass(frozen=True)
class SessionMessage:
    """One message of a session, before it has its place in the conversation."""

    key: str
    role: MessageRole
    speaker: str
    content: str
    parts: tuple[Part, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the message, kept for an export to the same format."""


def messages_of(
    sessions: Iterable[Iterable[SessionMessage]], times: list[datetime], format_name: str, tokenizer: str
) -> Iterator[Message]:
    """Yield the messages of all sessions in order; `times` has one time for each session."""
    count = load_tokenizer(tokenizer).count
    message_id = 0
    for session, listed in enumerate(sessions):
        for said in listed:
            yield Message(
                message_key=said.key,
                message_id=message_id,
                role=said.role,
                speaker=said.speaker,
                kind=MessageKind.QUESTION if said.role is MessageRole.USER else MessageKind.REPLY,
                session=session,
                sent_at=times[session],
                content=said.content,
                parts=said.parts,
                tokens=count(said.content),
                details={format_name: dict(said.kept)} if said.kept else {},
            )
            message_id += 1


def session_head(
    conversation_id: str, seed_title: str, tokenizer: str, details: dict[str, Any], notes: Notes
) -> ConversationHead:
    """Return the head of an imported conversation, which has neither profile nor plans.

    `details` names the format and the id that the conversation has there.
    """
    source = f"{details['format']}:{details['id']}"
    return ConversationHead(
        conversation_id=conversation_id,
        seed=Seed(domain=Domain.GENERAL, title=whole_text(seed_title), theme="", subtopics=(), source=source),
        profile=None,
        relationships=people_graph(()),
        narratives=(),
        plans=(),
        target_tokens=0,
        tokenizer=tokenizer,
        details=details,
        import_notes=tuple(notes.kept),
    )


@dataclass(frozen=True)
class GivenQuestion:
    """A question of a file, with the fields that our own export adds."""

    text: str
    kept: dict[str, Any]
    """Other fields of the question, kept for an export to the same format; `take_answer` removes the answer."""
    category: str
    """The format's own name for this kind of question."""
    ability: str
    probe_id: str
    number: int
    """Place in the file's list, from 0."""
    exported: Mapping[str, Any]
    """Fields that our own export wrote; empty for foreign files."""

    @classmethod
    def read(cls, fields: Mapping[str, Any], where: str, category: tuple[str, str], number: int) -> GivenQuestion:
        """Return the question of a JSON object; `category` is the format's name for it, and the ability it tests.

        An ability that our own export wrote replaces the one of the category. Raises UserError without a text.
        """
        kept = dict(fields)
        text = want(str, kept.pop("question", None), f"{where}: question", "the question's text")
        exported = kept.get(EXPORTED)
        exported = exported if isinstance(exported, Mapping) and isinstance(exported.get("ability"), str) else {}
        ability = ability_named(exported["ability"]) if exported else category[1]
        probe_id = str(exported.get("probe_id") or ProbeId(ability, str(number)))
        return cls(text, kept, category[0], ability, probe_id, number, exported)

    def take_answer(self, notes: Notes) -> str:
        """Return the gold answer, and remove it from `kept` if it is text; one that is missing gets a note."""
        answer = self.kept.get("answer")
        if answer is None or answer == "":
            notes.add(NoteKind.NO_GOLD, self.probe_id, "the question has no answer")
            return ""
        # Anything but text stays in `kept`, so that an export writes the number or list that was read.
        return str(self.kept.pop("answer")) if isinstance(answer, str) else json_text(answer)

    def probe(
        self, gold_answer: str, cited: Iterable[str], extra: dict[str, Any], asked_at: datetime | None = None
    ) -> Probe:
        """Return the probe; `cited` are the keys of its evidence, oldest first."""
        rubric = self.exported.get("rubric") or [f"Says what this answer says: {gold_answer}"]
        difficulty = str(self.exported.get("difficulty", ""))
        return Probe(
            probe_id=self.probe_id,
            ability=self.ability,
            source_category=self.category,
            question=self.text,
            gold_answer=gold_answer,
            difficulty=Difficulty(difficulty) if difficulty in set(Difficulty) else Difficulty.MEDIUM,
            rubric=tuple(
                Nugget(nugget_id=str(NuggetId(self.probe_id, i)), text=str(text)) for i, text in enumerate(rubric)
            ),
            evidence=tuple(Evidence(message_key=key, quote="") for key in cited),
            asked_at=asked_at,
            details=ProbeDetails(variety=self.category, extra=extra),
            is_selected=True,
            rank=self.number,
        )


def exported_fields(probe: Probe) -> dict[str, Any]:
    """Return the fields that an export writes under `EXPORTED`; `GivenQuestion.read` reads them back."""
    return {
        "probe_id": probe.probe_id,
        "ability": probe.ability,
        "difficulty": probe.difficulty.value,
        "rubric": [nugget.text for nugget in probe.rubric],
    }


def further_members(fields: Mapping[str, Any]) -> str:
    """Return the JSON text of further members of an object that is being written, each on a line of its own."""
    return "".join(f",\n{json_text(key)}:{json_text(value)}" for key, value in fields.items())
