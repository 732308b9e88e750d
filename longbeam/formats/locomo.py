"""LoCoMo: two people who talk over many sessions, and questions in five numbered categories.

The first speaker is the user, the second the assistant of our records; `speaker` has their names. A message that
shares an image says so in its content, with the caption; its parts keep text and image apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from longbeam import __version__
from longbeam.abilities.registry import abilities, ability_named, ability_of
from longbeam.formats.dataset_card import format_card
from longbeam.formats.dates import locomo_time, read_locomo_time
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
from longbeam.formats.reading import (
    ImportOptions,
    Notes,
    describe,
    refuse,
    stream_list,
    want_dict,
    want_list,
    want_text,
)
from longbeam.keys import NuggetId, ProbeId
from longbeam.models.tokens import load_tokenizer
from longbeam.schemas.conversation import ConversationHead, ConversationReader, GivenConversation
from longbeam.schemas.dialogue import Message, MessageKind, MessageRole, Part, PartKind
from longbeam.schemas.imports import NoteKind
from longbeam.schemas.people import people_graph
from longbeam.schemas.probes import Difficulty, Evidence, Nugget, Probe, ProbeDetails
from longbeam.schemas.seeds import Domain, Seed

FORMAT = "locomo"
FORMAT_VERSION = 1
FILE = "locomo10.json"
"""The name under which the harnesses look for it."""

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's category numbers and their names. Several harnesses have the names in another order."""
ADVERSARIAL = 5
UNSAID = "The conversation does not say this."
"""The gold answer of an adversarial question: LoCoMo gives the wrong one only."""
TRAP = "The conversation says so in passing."
"""The wrong answer that LoCoMo's multiple choice needs; our abstentions have none of their own."""

_IMAGE_KEYS = ("img_url", "blip_caption", "query", "re-download")
_SESSION = re.compile(r"session_(\d+)")
_DIA_ID = re.compile(r"D:?(\d+):0*(\d+)")

ABOUT = f"""## Files

`{FILE}` is a JSON list of conversations as LoCoMo has them: `session_<n>` and `session_<n>_date_time` from 1 on, `qa`
with `evidence` as `dia_id`s and `category` (1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial). What
LoCoMo has no field for stands in the key `longbeam` of each question, which its loaders do not read."""


# --- reading ----------------------------------------------------------------------------------------------


def import_locomo(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
    """Yield the conversations of a LoCoMo file, or of the JSON files of a folder."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        refuse(str(path), "there is no JSON file in this folder")
    seen: set[str] = set()
    number = 0
    for file in files:
        for sample in stream_list(file):
            where = f"{file.name}: sample {number + 1}"
            found = want_dict(sample, where, "an object with conversation and qa")
            name = str(found.get("sample_id", number + 1))
            if name in seen:
                refuse(where, f"sample_id {name!r} occurs twice")
            seen.add(name)
            yield _SampleReader(found, name, where, options).conversation(f"c{number:03d}")
            number += 1


class _SampleReader:
    """One element of the file."""

    def __init__(self, sample: dict[str, Any], name: str, where: str, options: ImportOptions) -> None:
        self.name, self.where, self.options = name, where, options
        self.talk = want_dict(sample.get("conversation"), f"{where}: conversation", "an object with sessions")
        self.questions = want_list(sample.get("qa"), f"{where}: qa", "a list of questions")
        self.rest = {k: v for k, v in sample.items() if k not in {"conversation", "qa", "sample_id"}}
        self.has_name = "sample_id" in sample
        self.notes = Notes()
        self.speakers = [
            want_text(self.talk.get(key), f"{where}: {key}", "a speaker's name") for key in ("speaker_a", "speaker_b")
        ]
        numbered = ((int(m[1]), v) for k, v in self.talk.items() if (m := _SESSION.fullmatch(k)))
        self.sessions = sorted((n, v) for n, v in numbered if isinstance(v, list) and v)
        if not self.sessions:
            refuse(f"{where}: conversation", "there is no session_1, a list of messages")

    def conversation(self, conversation_id: str) -> GivenConversation:
        """The sample as a conversation."""
        days = self._days()
        order = self._order()
        probes = tuple(self._probe(i, item, order) for i, item in enumerate(self.questions))
        written = {f"session_{n}" for n, _ in self.sessions} | {"speaker_a", "speaker_b"}
        head = ConversationHead(
            conversation_id=conversation_id,
            seed=Seed(domain=Domain.GENERAL, title=" and ".join(self.speakers), theme="", subtopics=(),
                      source=f"locomo:{self.name}"),
            profile=None,
            relationships=people_graph(()),
            narratives=(),
            plans=(),
            target_tokens=0,
            tokenizer=self.options.tokenizer,
            details={
                "format": FORMAT,
                "id": self.name,
                "has_id": self.has_name,
                "speakers": self.speakers,
                "sessions": [n for n, _ in self.sessions],
                "conversation": {k: v for k, v in self.talk.items() if k not in written},
                "sample": self.rest,
            },
            import_notes=tuple(self.notes.kept),
        )  # fmt: skip
        return GivenConversation(head, partial(self._messages, days), probes)

    def _days(self) -> list[datetime]:
        days: list[datetime] = []
        for number, _ in self.sessions:
            said = self.talk.get(f"session_{number}_date_time")
            time = read_locomo_time(said) if isinstance(said, str) else None
            if time is None:
                what = f"session {number} is dated {describe(said)}; the session before it stands in"
                self.notes.add(NoteKind.NO_DATE, f"session_{number}", what)
            elif days and time < days[-1]:
                what = f"session {number} ({said}) is dated before the session in front of it"
                self.notes.add(NoteKind.TIME_GOES_BACK, f"session_{number}", what)
            days.append(time or (days[-1] if days else datetime(1970, 1, 1)))
        return days

    def _order(self) -> dict[str, int]:
        order: dict[str, int] = {}
        for number, items in self.sessions:
            for i, item in enumerate(items):
                where = f"{self.where}: session_{number}[{i}]"
                key = want_text(want_dict(item, where, "a message").get("dia_id"), f"{where}: dia_id", "an id: D1:3")
                if key in order:
                    refuse(where, f"dia_id {key!r} occurs twice")
                if item.get("speaker") not in self.speakers:
                    refuse(where, f"speaker {describe(item.get('speaker'))}; allowed: {', '.join(self.speakers)}")
                order[key] = len(order)
        return order

    def _messages(self, days: list[datetime]) -> Iterator[Message]:
        count = load_tokenizer(self.options.tokenizer).count
        ordinal = 0
        for session, (number, items) in enumerate(self.sessions):
            for i, item in enumerate(items):
                where = f"{self.where}: session_{number}[{i}]: text"
                text = want_text(item.get("text"), where, "what is said")
                role = MessageRole.USER if item["speaker"] == self.speakers[0] else MessageRole.ASSISTANT
                content, parts = _with_image(text, item)
                known = {"speaker", "dia_id", "text", *(_IMAGE_KEYS if parts else ())}
                kept = {k: v for k, v in item.items() if k not in known}
                yield Message(
                    message_key=item["dia_id"],
                    message_id=ordinal,
                    role=role,
                    speaker=item["speaker"],
                    kind=MessageKind.QUESTION if role is MessageRole.USER else MessageKind.REPLY,
                    session=session,
                    sent_at=days[session],
                    content=content,
                    parts=parts,
                    tokens=count(content),
                    details={"locomo": kept} if kept else {},
                )
                ordinal += 1

    def _probe(self, number: int, item: object, order: Mapping[str, int]) -> Probe:
        where = f"{self.where}: qa[{number}]"
        kept = dict(want_dict(item, where, "a question"))
        question = want_text(kept.pop("question", None), f"{where}: question", "the question's text")
        category = kept.get("category")
        if not isinstance(category, int | str) or isinstance(category, bool) or category == "":
            refuse(where, f"category {describe(category)}; a number or a name is needed")
        source_category = CATEGORIES.get(category, str(category)) if isinstance(category, int) else category
        own = kept.get("longbeam")
        own = own if isinstance(own, Mapping) and isinstance(own.get("ability"), str) else {}
        ability = ability_named(own["ability"]) if own else _ability_of_category(category)
        probe_id = str(own.get("probe_id") or ProbeId(ability, str(number)))
        gold = self._gold(kept, category == ADVERSARIAL, probe_id)
        evidence = self._evidence(kept.get("evidence"), probe_id, order)
        cited = [e.message_key for e in evidence]
        rubric = own.get("rubric") or [f"Says what this answer says: {gold}"]
        level = str(own.get("difficulty", ""))
        return Probe(
            probe_id=probe_id,
            ability=ability,
            source_category=source_category,
            question=question,
            gold_answer=gold,
            difficulty=Difficulty(level) if level in set(Difficulty) else Difficulty.MEDIUM,
            rubric=tuple(Nugget(nugget_id=str(NuggetId(probe_id, i)), text=str(text)) for i, text in enumerate(rubric)),
            evidence=evidence,
            details=ProbeDetails(variety=source_category, extra={"locomo": kept, "number": number, "cited": cited}),
            is_selected=True,
            rank=number,
        )

    def _gold(self, kept: dict[str, Any], is_adversarial: bool, probe_id: str) -> str:
        answer = kept.get("answer")
        if is_adversarial and "longbeam" not in kept:
            if answer is not None:
                what = f"an adversarial question has an answer, {describe(answer)}; the gold is that nothing is said"
                self.notes.add(NoteKind.ADVERSARIAL_ANSWER, probe_id, what)
            return UNSAID
        if answer is None or answer == "":
            self.notes.add(NoteKind.NO_GOLD, probe_id, "the question has no answer")
            return ""
        return str(kept.pop("answer")) if isinstance(answer, str) else json_text(answer)

    def _evidence(self, listed: object, probe_id: str, order: Mapping[str, int]) -> tuple[Evidence, ...]:
        found: set[str] = set()
        elements = listed if isinstance(listed, list) else [listed] if listed else []
        if not elements:
            self.notes.add(NoteKind.EVIDENCE_MISSING, probe_id, "the question cites no message")
        for element in elements:
            ids = [f"D{int(m[1])}:{int(m[2])}" for m in _DIA_ID.finditer(str(element))]
            if ids != [element]:
                self.notes.add(NoteKind.EVIDENCE_SHAPE, probe_id, f"evidence is written {describe(element)}")
            if not ids or any(key not in order for key in ids):
                what = f"evidence cites {describe(element)}, which the conversation does not have"
                self.notes.add(NoteKind.EVIDENCE_ID, probe_id, what)
            found |= {key for key in ids if key in order}
        return tuple(Evidence(message_key=key, quote="") for key in sorted(found, key=lambda key: order[key]))


def _ability_of_category(category: int | str) -> str:
    """Return the ability that reads a category; one of its own name for a category that LoCoMo does not list."""
    readers = (ability.name for ability in abilities() if category in ability.reads_locomo)
    own_name = category if isinstance(category, str) else f"category_{category}"
    return next(readers, ability_named(own_name))


def _with_image(text: str, item: Mapping[str, Any]) -> tuple[str, tuple[Part, ...]]:
    """The content of a message and, where it shares an image, its parts."""
    data = {key: item[key] for key in _IMAGE_KEYS if key in item}
    if not data:
        return text, ()
    caption = str(item.get("blip_caption") or "")
    shown = f"[shares {caption}]" if caption else "[shares an image]"
    parts = (
        Part(kind=PartKind.TEXT, text=text),
        Part(kind=PartKind.IMAGE_STUB, text=caption, data=data),
    )
    return f"{text} {shown}".strip(), parts


# --- writing ----------------------------------------------------------------------------------------------


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    with writer.open(FILE) as file, JsonList(file) as samples:
        for reader in readers:
            samples.begin()
            for piece in _sample_text(writer, reader):
                file.write(piece)
    writer.write_text(CARD, format_card(writer.told, writer.counts, __version__, ABOUT))


export_locomo = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write one file below `target` and return what was written; see `Exporter`."""


def _sample_text(writer: ExportWriter, reader: ConversationReader) -> Iterator[str]:
    """The JSON text of a sample, session by session."""
    head = reader.head
    imported = head.details.get("format") == FORMAT
    names = _speakers(head)
    dia_ids: list[str] = []
    message_ids: dict[str, int] = {}
    speaker_a, speaker_b = json_text(names[MessageRole.USER]), json_text(names[MessageRole.ASSISTANT])
    yield f'{{"conversation":{{"speaker_a":{speaker_a},"speaker_b":{speaker_b}'
    for place, listed in enumerate(sessions_of(writer.messages_of(reader), by_day=not imported)):
        number = head.details["sessions"][place] if imported else place + 1
        items = []
        for n, (ordinal, message) in enumerate(listed, start=1):
            if n == 1 and not imported:
                yield f',\n"session_{number}_date_time":{json_text(locomo_time(message.sent_at))}'
            key = message.message_key if imported else f"D{number}:{n}"
            dia_ids.append(key)
            message_ids[message.message_key] = ordinal
            items.append(_turn(message, key, names[message.role]))
        yield f',\n"session_{number}":{json_text(items)}'
    if imported:
        beyond = head.details["conversation"]
        yield "".join(f",\n{json_text(key)}:{json_text(value)}" for key, value in beyond.items())
    yield "}"
    found: list[tuple[int, dict[str, Any]]] = []
    for probe, _ in writer.probes_of(reader):
        cited = sorted(set(cited_ids(reader, probe, message_ids)))
        number = probe.details.extra.get("number", len(found)) if imported else len(found)
        found.append((number, _question(probe, [dia_ids[i] for i in cited])))
    yield f',\n"qa":{json_text([item for _, item in sorted(found, key=lambda pair: pair[0])])}'
    rest = dict(head.details["sample"]) if imported else {"canary": CANARY}
    if not imported or head.details["has_id"]:
        rest["sample_id"] = head.details["id"] if imported else head.conversation_id
    yield "".join(f",\n{json_text(key)}:{json_text(value)}" for key, value in rest.items()) + "}"


def _speakers(head: ConversationHead) -> dict[MessageRole, str]:
    said = head.details.get("speakers")
    if isinstance(said, list) and len(said) == 2:
        return {MessageRole.USER: said[0], MessageRole.ASSISTANT: said[1]}
    return {MessageRole.USER: head.profile.first_name if head.profile else "User", MessageRole.ASSISTANT: "Assistant"}


def _turn(message: Message, dia_id: str, speaker: str) -> dict[str, Any]:
    text, image = message.content, {}
    for part in message.parts:
        if part.kind is PartKind.IMAGE_STUB:
            text = next((p.text for p in message.parts if p.kind is PartKind.TEXT), text)
            image = part.data
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **image, **message.details.get("locomo", {})}


def _question(probe: Probe, evidence: list[str]) -> dict[str, Any]:
    kept = probe.details.extra.get("locomo")
    if isinstance(kept, dict):
        has_own = "answer" in kept or kept.get("category") == ADVERSARIAL or not probe.gold_answer
        found = {"question": probe.question, **({} if has_own else {"answer": probe.gold_answer}), **kept}
        is_changed = evidence != probe.details.extra["cited"]  # by somebody, since it was imported
        return found | ({"evidence": evidence} if is_changed else {})
    # LoCoMo has no category for an ability that names none: the ability's own name does not claim one.
    category = ability_of(probe.ability).locomo_category or probe.ability
    return {
        "question": probe.question,
        "answer": probe.gold_answer,
        **({"adversarial_answer": TRAP} if category == ADVERSARIAL else {}),
        "evidence": evidence,
        "category": category,
        "longbeam": {
            "probe_id": probe.probe_id,
            "ability": probe.ability,
            "difficulty": probe.difficulty.value,
            "rubric": [n.text for n in probe.rubric],
        },
    }
