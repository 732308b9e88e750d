"""LoCoMo: two people who talk over many sessions, and questions in five numbered categories.

The first speaker is the user, the second the assistant of our records; `speaker` has their names. A message that
shares an image says so in its content, with the caption; its parts keep text and image apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from longbeam import __version__
from longbeam.abilities import Trait, abilities, ability_named, ability_of
from longbeam.formats.dataset_card import format_card
from longbeam.formats.dates import LOCOMO_SESSIONS, locomo_time, read_locomo_time
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
from longbeam.schemas import (
    ConversationHead,
    ConversationReader,
    GivenConversation,
    Message,
    MessageRole,
    NoteKind,
    Part,
    PartKind,
    Probe,
)

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

`{FILE}` is a JSON list of conversations as LoCoMo has them: `session_<n>` and `session_<n>_date_time` from 1 on, at
most {LOCOMO_SESSIONS} unless the export asked for more (LoCoMo's scripts read no further, so days are merged), `qa`
with `evidence` as `dia_id`s and `category` (1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial). What
LoCoMo has no field for stands in the key `longbeam` of each question, which its loaders do not read."""


# --- reading ----------------------------------------------------------------------------------------------


def import_locomo(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
    """Yield the conversations of a LoCoMo file, or of the JSON files of a folder."""
    seen: set[str] = set()
    for number, (where, element) in enumerate(numbered_elements(json_files(path), "sample")):
        sample = want(dict, element, where, "an object with conversation and qa")
        name = str(sample.get("sample_id", number + 1))
        claim_id(seen, where, "sample_id", name)
        yield _SampleReader(sample, name, where, options).conversation(f"c{number:03d}")


class _SampleReader:
    """Reads one element of the file."""

    def __init__(self, sample: dict[str, Any], name: str, where: str, options: ImportOptions) -> None:
        self.name, self.where, self.options = name, where, options
        self.talk = want(dict, sample.get("conversation"), f"{where}: conversation", "an object with sessions")
        self.questions = want(list, sample.get("qa"), f"{where}: qa", "a list of questions")
        self.rest = {k: v for k, v in sample.items() if k not in {"conversation", "qa", "sample_id"}}
        self.has_name = "sample_id" in sample
        self.notes = Notes()
        self.speakers = [
            want(str, self.talk.get(key), f"{where}: {key}", "a speaker's name") for key in ("speaker_a", "speaker_b")
        ]
        numbered = ((int(m[1]), v) for k, v in self.talk.items() if (m := _SESSION.fullmatch(k)))
        self.sessions = sorted((n, v) for n, v in numbered if isinstance(v, list) and v)
        if not self.sessions:
            refuse(f"{where}: conversation", "there is no session_1, a list of messages")

    def conversation(self, conversation_id: str) -> GivenConversation:
        """Return the sample as a conversation."""
        times = session_times((self._date(number) for number, _ in self.sessions), self.notes)
        order = self._order()
        probes = tuple(self._probe(i, item, order) for i, item in enumerate(self.questions))
        if not probes:
            self.notes.add(NoteKind.NO_PROBES, "conversation", "there are no questions")
        written = {f"session_{n}" for n, _ in self.sessions} | {"speaker_a", "speaker_b"}
        details = {
            "format": FORMAT,
            "id": self.name,
            "has_id": self.has_name,
            "speakers": self.speakers,
            "sessions": [n for n, _ in self.sessions],
            "conversation": {k: v for k, v in self.talk.items() if k not in written},
            "sample": self.rest,
        }
        tokenizer = self.options.tokenizer
        head = session_head(conversation_id, " and ".join(self.speakers), tokenizer, details, self.notes)
        return GivenConversation(
            head, lambda: messages_of(map(self._session, self.sessions), times, FORMAT, tokenizer), probes
        )

    def _date(self, number: int) -> SessionDate:
        given = self.talk.get(f"session_{number}_date_time")
        time = read_locomo_time(given) if isinstance(given, str) else None
        return SessionDate(f"session_{number}", f"session {number}", given, time)

    def _order(self) -> dict[str, int]:
        """Return the place of each message by its dia_id; UserError for a message that cannot be one."""
        order: dict[str, int] = {}
        for number, items in self.sessions:
            for i, item in enumerate(items):
                where = f"{self.where}: session_{number}[{i}]"
                key = want(str, want(dict, item, where, "a message").get("dia_id"), f"{where}: dia_id", "an id: D1:3")
                if key in order:
                    refuse(where, f"dia_id {key!r} occurs twice")
                if item.get("speaker") not in self.speakers:
                    refuse(where, f"speaker {describe(item.get('speaker'))}; allowed: {', '.join(self.speakers)}")
                order[key] = len(order)
        return order

    def _session(self, session: tuple[int, list[dict[str, Any]]]) -> Iterator[SessionMessage]:
        number, items = session
        for i, item in enumerate(items):
            text = want(str, item.get("text"), f"{self.where}: session_{number}[{i}]: text", "what is said")
            content, parts = _with_image(text, item)
            known = {"speaker", "dia_id", "text", *(_IMAGE_KEYS if parts else ())}
            yield SessionMessage(
                key=item["dia_id"],
                role=MessageRole.USER if item["speaker"] == self.speakers[0] else MessageRole.ASSISTANT,
                speaker=item["speaker"],
                content=content,
                parts=parts,
                kept={k: v for k, v in item.items() if k not in known},
            )

    def _probe(self, number: int, item: object, order: Mapping[str, int]) -> Probe:
        where = f"{self.where}: qa[{number}]"
        fields = want(dict, item, where, "a question")
        category = fields.get("category")
        if not isinstance(category, int | str) or isinstance(category, bool) or category == "":
            refuse(where, f"category {describe(category)}; a number or a name is needed")
        name = CATEGORIES.get(category, str(category)) if isinstance(category, int) else category
        question = GivenQuestion.read(fields, where, (name, _ability_of_category(category)), number)
        gold = self._gold(question, is_adversarial=category == ADVERSARIAL)
        cited = self._cited(fields.get("evidence"), question.probe_id, order)
        # An abstention of ours cites nothing; LoCoMo's adversarial questions cite what misleads.
        is_own_abstention = bool(question.exported) and ability_of(question.ability).has(Trait.ABSTAINS)
        if not fields.get("evidence") and not is_own_abstention:
            self.notes.add(NoteKind.EVIDENCE_MISSING, question.probe_id, "the question cites no message")
        return question.probe(gold, cited, {FORMAT: question.kept, "number": number, "cited": cited})

    def _gold(self, question: GivenQuestion, *, is_adversarial: bool) -> str:
        # An adversarial question of ours has its own gold answer; LoCoMo's have only a wrong one.
        if not is_adversarial or EXPORTED in question.kept:
            return question.take_answer(self.notes)
        answer = question.kept.get("answer")
        if answer is not None:
            what = f"an adversarial question has an answer, {describe(answer)}; the gold is that nothing is said"
            self.notes.add(NoteKind.ADVERSARIAL_ANSWER, question.probe_id, what)
        return UNSAID

    def _cited(self, listed: object, probe_id: str, order: Mapping[str, int]) -> list[str]:
        """Return the keys of the cited messages, oldest first; evidence in an odd form is read as far as possible."""
        found: set[str] = set()
        elements = listed if isinstance(listed, list) else [listed] if listed else []
        for element in elements:
            ids = [f"D{int(m[1])}:{int(m[2])}" for m in _DIA_ID.finditer(str(element))]
            # Several ids in one text, or an id in another form, are read; the note says that the file has them.
            if ids != [element]:
                self.notes.add(NoteKind.EVIDENCE_SHAPE, probe_id, f"evidence is written {describe(element)}")
            if not ids or any(key not in order for key in ids):
                what = f"evidence cites {describe(element)}, which the conversation does not have"
                self.notes.add(NoteKind.EVIDENCE_ID, probe_id, what)
            found |= {key for key in ids if key in order}
        return sorted(found, key=lambda key: order[key])


def _ability_of_category(category: int | str) -> str:
    """Return the ability that reads a category; one of its own name for a category that LoCoMo does not list."""
    readers = (ability.name for ability in abilities() if category in ability.reads_locomo)
    own_name = category if isinstance(category, str) else f"category_{category}"
    return next(readers, ability_named(own_name))


def _with_image(text: str, item: Mapping[str, Any]) -> tuple[str, tuple[Part, ...]]:
    """Return the content of a message and, if it shares an image, its parts."""
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
    writer.write_card(format_card(writer.told, writer.counts, __version__, ABOUT))


export_locomo = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write one file below `target` and return what was written; see `Exporter`."""


def _sample_text(writer: ExportWriter, reader: ConversationReader) -> Iterator[str]:
    """Yield the JSON text of a sample, session by session."""
    head = reader.head
    imported = head.details.get("format") == FORMAT
    names = _speakers(head)
    dia_ids: list[str] = []
    message_ids: dict[str, int] = {}
    speaker_a, speaker_b = json_text(names[MessageRole.USER]), json_text(names[MessageRole.ASSISTANT])
    yield f'{{"conversation":{{"speaker_a":{speaker_a},"speaker_b":{speaker_b}'
    sessions = sessions_of(writer.messages_of(reader), by_day=False) if imported else _days_of(writer, reader)
    for place, listed in enumerate(sessions):
        # LoCoMo may leave out numbers of sessions.
        number = head.details["sessions"][place] if imported else place + 1
        items = []
        for n, (ordinal, message) in enumerate(listed, start=1):
            # An imported sample has its dates among the members that are written behind the sessions.
            if n == 1 and not imported:
                yield f',\n"session_{number}_date_time":{json_text(locomo_time(message.sent_at))}'
            key = message.message_key if imported else f"D{number}:{n}"
            dia_ids.append(key)
            message_ids[message.message_key] = ordinal
            items.append(_turn(message, key, names[message.role]))
        yield f',\n"session_{number}":{json_text(items)}'
    if imported:
        beyond = head.details["conversation"]
        yield further_members(beyond)
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
    yield further_members(rest) + "}"


def _days_of(writer: ExportWriter, reader: ConversationReader) -> Iterator[list[tuple[int, Message]]]:
    """Yield a generated conversation's messages day by day, in at most as many sessions as the export asks for."""
    days = [
        (s[0][1].sent_at.date(), s[-1][1].sent_at.date())
        for s in sessions_of(enumerate(reader.messages()), by_day=True)
    ]
    starts, most = set(range(len(days))), writer.options.most_sessions
    if 0 < most < len(days):
        starts = _merged(days, most)
        what = f"{len(days)} days are {len(starts)} sessions, each with the date of its first day"
        writer.warn(f"conversation {reader.head.conversation_id}: {what}; --most-sessions sets how many")
    elif len(days) > LOCOMO_SESSIONS:
        what = f"{len(days)} sessions, of which LoCoMo's own scripts read the first {LOCOMO_SESSIONS}"
        writer.warn(f"conversation {reader.head.conversation_id}: {what}")
    current: list[tuple[int, Message]] = []
    for place, listed in enumerate(sessions_of(writer.messages_of(reader), by_day=True)):
        if current and place in starts:
            yield current
            current = []
        current += listed
    if current:
        yield current


def _merged(days: Sequence[tuple[date, date]], most: int) -> set[int]:
    """Return the places of the days that begin a session, at most `most`; the longest session is as short as possible.

    `days` are the first and the last day of each session before the merge.
    """

    def starts_within(span: timedelta) -> set[int]:
        starts, begun = {0}, days[0][0]
        for place, (_, last) in enumerate(days):
            if last - begun > span and place:
                starts.add(place)
                begun = days[place][0]
        return starts

    short, long = 0, (days[-1][1] - days[0][0]).days
    while short < long:
        middle = (short + long) // 2
        if len(starts_within(timedelta(middle))) <= most:
            long = middle
        else:
            short = middle + 1
    starts = starts_within(timedelta(long))
    # What is left of the number goes to the days after the longest breaks.
    rest = sorted(set(range(len(days))) - starts, key=lambda place: (days[place - 1][1] - days[place][0], place))
    return starts | set(rest[: most - len(starts)])


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
        # LoCoMo's adversarial questions have no gold answer, those of our own exports do.
        is_unsaid = kept.get("category") == ADVERSARIAL and EXPORTED not in kept
        has_own = "answer" in kept or is_unsaid or not probe.gold_answer
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
        EXPORTED: exported_fields(probe),
    }
