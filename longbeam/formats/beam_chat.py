"""BEAM's chats and our messages, in both directions.

A chat is a list of sub-plans ("batches"), each a list of turns, each a list of messages. The day stands on the first
message of a sub-plan only; every message of it gets that day, at midnight.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from longbeam.formats.beam_text import has_marker, is_usual_index, read_index, split_marker
from longbeam.formats.dates import beam_day, find_day
from longbeam.formats.reading import Notes, describe, refuse, want
from longbeam.keys import BulletId, MessageKey
from longbeam.schemas import ConversationHead, Message, MessageKind, MessageRole, NoteKind

QUESTION_TYPES = {
    "main_question": MessageKind.QUESTION,
    "answer_ai_question": MessageKind.ANSWER,
    "followup_question": MessageKind.FOLLOW_UP,
}
_TYPE_OF = {kind: name for name, kind in QUESTION_TYPES.items()}

Batch = tuple[int, int, dict[str, Any]]
"""Plan, sub-plan, and BEAM's batch object: `batch_number`, `turns`, `time_anchor`."""


# --- reading ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BeamChatReader:
    """Makes messages from a chat's batches."""

    where: str
    batches: Callable[[], Iterator[Batch]]
    anchors: Mapping[tuple[int, int], dt.date]
    """First day of each (plan, sub-plan)."""
    bullets: Mapping[tuple[int, int], int]
    """Number of planned bullets by (plan, sub-plan); empty without plans."""
    count: Callable[[str], int]

    def messages(self, notes: Notes | None = None) -> Iterator[tuple[int, Message]]:
        """Yield the messages with the ids by which probes cite them; irregularities go to `notes`."""
        notes = notes or Notes()
        ordinal = 0
        for session, (plan, sub_plan, batch) in enumerate(self.batches()):
            day = begun = self.anchors[plan, sub_plan]
            ended = min((later for later in self.anchors.values() if later > begun), default=dt.date.max)
            for turn, listed in enumerate(turns_of(batch, f"{self.where}: sub-plan {sub_plan + 1}")):
                for n, item in enumerate(listed):
                    place = BeamPlace(plan, sub_plan, turn, n, session, ordinal)
                    # Days never go back, and those of a batch end before the next one begins.
                    own = _day_of(item)
                    day = own if own is not None and day <= own <= ended else day
                    yield self._message(item, place, day, notes)
                    ordinal += 1

    def _message(self, item: object, place: BeamPlace, day: dt.date, notes: Notes) -> tuple[int, Message]:
        where = f"{self.where}: message {place.ordinal}"
        kept = dict(want(dict, item, where, "a message with role and content"))
        role_name = kept.pop("role", None)
        if role_name not in list(MessageRole):
            refuse(where, f"role {describe(role_name)}; allowed: user, assistant")
        role = MessageRole(role_name)
        text, marker = split_marker(want(str, kept.pop("content", None), where, "a content text"))
        message_id = self._id(kept, place, notes)
        kind = self._kind(kept, role, place, notes)
        _note_markers(text, marker, kind, place, notes)
        return message_id, Message(
            message_key=place.key,
            message_id=place.ordinal,
            role=role,
            speaker=role.value,
            kind=kind,
            session=place.session,
            plan_index=place.plan,
            sub_plan_index=place.sub_plan,
            turn_index=place.turn,
            bullet_ids=self._bullets(kept, role, place, notes),
            sent_at=dt.datetime.combine(day, dt.time()),
            content=text,
            tokens=self.count(text),
            details=({"beam": kept} if kept else {}) | ({"marker": marker} if marker else {}),
        )

    def _id(self, kept: dict[str, Any], place: BeamPlace, notes: Notes) -> int:
        found = kept.get("id")
        if found == place.ordinal and not isinstance(found, bool):
            del kept["id"]
            return place.ordinal
        if isinstance(found, int) and not isinstance(found, bool):
            text = f"message {place.ordinal} of the chat has the id {found}; probes cite it by that"
            notes.add(NoteKind.MESSAGE_ID, place.key, text, place.key)
            return found
        notes.add(NoteKind.MESSAGE_ID, place.key, f"message {place.ordinal} of the chat has no id", place.key)
        kept.setdefault("id", None)
        return place.ordinal

    def _kind(self, kept: Mapping[str, Any], role: MessageRole, place: BeamPlace, notes: Notes) -> MessageKind:
        if role is MessageRole.ASSISTANT:
            return MessageKind.REPLY
        found = kept.get("question_type")
        if isinstance(found, str) and found in QUESTION_TYPES:
            return QUESTION_TYPES[found]
        kind = MessageKind.QUESTION if place.n == 0 else MessageKind.FOLLOW_UP
        text = f"question_type is {describe(found)}; taken for a {kind.value.replace('_', '-')}"
        notes.add(NoteKind.MESSAGE_KIND, place.key, text, place.key)
        return kind

    def _bullets(self, kept: Mapping[str, Any], role: MessageRole, place: BeamPlace, notes: Notes) -> tuple[str, ...]:
        said = kept.get("index")
        if said is None or role is MessageRole.ASSISTANT:
            return ()
        index = read_index(str(said))
        if index is None or index[0] != place.sub_plan + 1:
            notes.add(NoteKind.BAD_INDEX, place.key, f"index {describe(said)} names no bullet", place.key)
            return ()
        there = range(1, self.bullets.get((place.plan, place.sub_plan), 0) + 1)
        if self.bullets and not set(index[1]) <= set(there):
            text = f"index {describe(said)} names a bullet that the plan does not have"
            notes.add(NoteKind.BAD_INDEX, place.key, text, place.key)
        elif not is_usual_index(str(said)):
            text = f"index {describe(said)} is not a sub-plan and its bullets; read as bullets {list(index[1])}"
            notes.add(NoteKind.BAD_INDEX, place.key, text, place.key)
        return tuple(str(BulletId(place.plan, place.sub_plan, n - 1)) for n in index[1] if n in there)


@dataclass(frozen=True)
class BeamPlace:
    """Place of a message in the chat."""

    plan: int
    sub_plan: int
    turn: int
    n: int
    session: int
    ordinal: int

    @property
    def key(self) -> str:
        """Key of the message."""
        return str(MessageKey(self.plan, self.sub_plan, self.turn, self.n))


def turns_of(batch: Mapping[str, Any], where: str) -> list[list[Any]]:
    """Return the turns of a batch; a flat list of messages is cut at its main questions, as BEAM's script does."""
    turns = want(list, batch.get("turns"), where, "a list of turns")
    if all(isinstance(turn, list) for turn in turns):
        return turns
    cut: list[list[Any]] = []
    for item in turns:
        message = want(dict, item, where, "a message")
        if not cut or message.get("question_type") == "main_question":
            cut.append([])
        # Tables have every key in every row, with null for absent ones.
        cut[-1].append({key: value for key, value in message.items() if value is not None})
    return cut


def _day_of(item: object) -> dt.date | None:
    """Return the day that a message of a chat names as its time anchor; None if it names none."""
    return find_day(str(item.get("time_anchor") or "")) if isinstance(item, dict) else None


def anchor_text(batch: Mapping[str, Any], where: str) -> str:
    """Return the time anchor of a batch, or that of its first message; empty if neither has one."""
    first = next((m for turn in turns_of(batch, where) for m in turn if isinstance(m, dict)), {})
    return str(batch.get("time_anchor") or first.get("time_anchor") or "")


def batch_details(batch: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the fields of a batch besides its turns that are not the usual ones."""
    usual = {"batch_number": number, "time_anchor": None}
    return {k: v for k, v in batch.items() if k != "turns" and (k not in usual or usual[k] != v)}


def _note_markers(text: str, marker: str, kind: MessageKind, place: BeamPlace, notes: Notes) -> None:
    if marker and kind is not MessageKind.QUESTION:
        what = f"a message of kind {kind.value} ends with the plan marker {marker.strip()!r}"
        notes.add(NoteKind.COPIED_MARKER, place.key, what, place.key)
    if has_marker(text):
        notes.add(NoteKind.MARKER_INSIDE, place.key, "a plan marker stands within the message", place.key)


# --- writing ----------------------------------------------------------------------------------------------


def chat_batches(
    head: ConversationHead, messages: Iterable[tuple[int, Message]]
) -> Iterator[tuple[int, int, Iterator[list[dict[str, Any]]]]]:
    """Yield (plan, sub-plan, turns) of a conversation in BEAM's form; turns must be consumed in their order.

    What was not made from plans has a sub-plan for each session.
    """
    imported = head.details.get("format") == "beam"

    def batch_of(item: tuple[int, Message]) -> tuple[int, int]:
        message = item[1]
        return message.plan_index or 0, message.session if message.sub_plan_index is None else message.sub_plan_index

    index = bullet_places(head)
    anchors = {(s.plan_index, s.sub_plan_index): s.anchor for plan in head.plans for s in plan.sub_plans}
    for place, listed in groupby(messages, key=batch_of):
        yield *place, _turns(listed, None if imported else index, anchors.get(place))


def bullet_places(head: ConversationHead) -> dict[str, int]:
    """Return the place of each bullet in its sub-plan; bullet 1 of BEAM's plans is the time anchor."""
    return {
        bullet.bullet_id: place
        for plan in head.plans
        for sub_plan in plan.sub_plans
        for place, bullet in enumerate(sub_plan.bullets, start=2)
    }


def _turns(
    listed: Iterable[tuple[int, Message]], own_index: Mapping[str, int] | None, anchor: dt.date | None
) -> Iterator[list[dict[str, Any]]]:
    turn: list[dict[str, Any]] = []
    last: int | None = None
    told: dt.date | None = None  # the day that a message named last: users say "on the 12th"
    for ordinal, message in listed:
        if message.turn_index is None:
            begins = message.kind is MessageKind.QUESTION
        else:
            begins = message.turn_index != last
        if turn and begins:
            yield turn
            turn = []
        if own_index is None:
            turn.append(_imported(message, ordinal))
        else:
            sent = message.sent_at.date()
            day = (anchor or sent) if told is None else sent if not turn and sent > told else None
            told = day or told
            turn.append(_own(message, ordinal, own_index, day))
        last = message.turn_index
    if turn:
        yield turn


def _imported(message: Message, ordinal: int) -> dict[str, Any]:
    kept = dict(message.details.get("beam", {}))
    if "id" in kept and kept["id"] is None:
        del kept["id"]
        return {"role": message.role.value, **kept, "content": message.content + message.details.get("marker", "")}
    found = {"role": message.role.value, "id": ordinal, **kept}
    return found | {"content": message.content + message.details.get("marker", "")}


def _own(message: Message, ordinal: int, index: Mapping[str, int], anchor: dt.date | None) -> dict[str, Any]:
    """Return a generated message in BEAM's form: without a marker in its text, with its bullet in `index`."""
    found: dict[str, Any] = {"role": message.role.value, "id": ordinal}
    if anchor is not None:
        found["time_anchor"] = beam_day(anchor)
    if message.kind is MessageKind.QUESTION:
        sub_plan = message.session if message.sub_plan_index is None else message.sub_plan_index
        if voiced := [str(index[bullet_id]) for bullet_id in message.bullet_ids if bullet_id in index]:
            found["index"] = f"{sub_plan + 1},{', '.join(voiced)}"
    if message.role is MessageRole.USER:
        found["question_type"] = _TYPE_OF[message.kind]
    return found | {"content": message.content}


def batch_object(head: ConversationHead, plan: int, batch: int, anchor: dt.date | None) -> dict[str, Any]:
    """Return the fields of a batch besides its turns."""
    if head.details.get("format") == "beam":
        kept: Mapping[str, Any] = head.details.get("batches", {}).get(f"{plan}.{batch}", {})
        return {"batch_number": batch + 1, "time_anchor": None} | dict(kept)
    return {"batch_number": batch + 1, "time_anchor": beam_day(anchor) if anchor else None}


def with_neighbours(days: Sequence[dt.date | None]) -> list[dt.date]:
    """Return the days, with each unknown day replaced by the one before it, or else by the next known one."""
    known = [day for day in days if day is not None]
    current = known[0] if known else dt.date(1970, 1, 1)
    filled = []
    for day in days:
        current = day or current
        filled.append(current)
    return filled
