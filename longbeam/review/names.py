"""Names for people, and word diffs: fields, items, acts and changes as pages and messages show them.

No internal id reaches a reviewer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import JsonValue
from rapidfuzz.distance import Indel

from longbeam.abilities import ability_names, ability_of
from longbeam.keys import ItemId
from longbeam.schemas import (
    CHECKS_TARGET,
    EVIDENCE,
    ITEM_TARGET,
    ITEMS_TARGET,
    MESSAGE,
    NUGGET,
    Change,
    EventKind,
    Probe,
    Record,
)

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
MOST_WORDS = 6_000
"""Texts longer than that together are shown as replaced: a word diff of them helps nobody."""


ISLAND = 12
"""Characters of a shared stretch between two changes, below which the changes are shown as one."""
_Stretch = tuple[str, str, bool]
"""Text before, text after, and whether both are the same."""


class DiffPart(Record):
    """A stretch of a word diff."""

    kind: Literal["same", "removed", "added"]
    text: str


class ChangeView(Change):
    """A difference between two versions of an item, as pages show it."""

    name: str
    """Name of the field for people."""
    parts: tuple[DiffPart, ...]


def word_diff(before: str, after: str) -> tuple[DiffPart, ...]:
    """Return the stretches that two texts share, and those that only the first or only the second has."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        parts = [DiffPart(kind="removed", text=before), DiffPart(kind="added", text=after)]
        return tuple(part for part in parts if part.text)
    stretches = [
        ("".join(old[c.src_start : c.src_end]), "".join(new[c.dest_start : c.dest_end]), c.tag == "equal")
        for c in Indel.opcodes(old, new)
    ]
    return tuple(_parts(_joined(stretches)))


def _joined(stretches: Sequence[_Stretch]) -> list[_Stretch]:
    """Join changes that only a short shared stretch parts: word by word, nobody can read them."""
    made: list[_Stretch] = []
    for place, (gone, come, is_same) in enumerate(stretches):
        is_island = is_same and 0 < place < len(stretches) - 1 and len(gone.strip()) < ISLAND
        if made and not made[-1][2] and (not is_same or is_island):
            made[-1] = made[-1][0] + gone, made[-1][1] + come, False
        else:
            made.append((gone, come, is_same))
    return made


def _parts(stretches: Sequence[_Stretch]) -> Iterator[DiffPart]:
    for gone, come, is_same in stretches:
        if is_same:
            yield DiffPart(kind="same", text=gone)
            continue
        if gone:
            yield DiffPart(kind="removed", text=gone)
        if come:
            yield DiffPart(kind="added", text=come)


def shown_value(value: JsonValue) -> str:
    """Return a value of an event as text for people: no brackets, no quotes, no internal names."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        for name in ("quote", "query", "verdict", "label", "answer"):
            if name in value:
                return shown_value(value[name])
        return ""
    if isinstance(value, list):
        return "\n".join(f"{number}. {shown_value(part)}" for number, part in enumerate(value, 1))
    return "" if value is None else str(value)


def change_view(change: Change, name: str) -> ChangeView:
    """Return a difference with its name and its word diff."""
    parts = word_diff(shown_value(change.before), shown_value(change.after))
    return ChangeView(target=change.target, before=change.before, after=change.after, name=name, parts=parts)


_NAMES = {
    ITEM_TARGET: "the verdict",
    "question": "the question",
    "gold_answer": "the gold answer",
    "difficulty": "the difficulty",
    ITEMS_TARGET: "the order of the items",
    CHECKS_TARGET: "the checks",
}
_ACTS = {
    EventKind.OPENED: "opened",
    EventKind.DRAFTED: "typed, not saved:",
    EventKind.JUDGED: "judged",
    EventKind.EDITED: "edited",
    EventKind.EVIDENCE_ADDED: "cited",
    EventKind.EVIDENCE_REMOVED: "no longer cites",
    EventKind.SEARCHED: "searched",
    EventKind.LOOKED: "looked at hits",
    EventKind.SOLVED: "answered",
    EventKind.CLEARED: "found harmless:",
    EventKind.CHECKED: "ran",
    EventKind.FLAGGED: "flagged",
    EventKind.COMMENTED: "commented on",
    EventKind.RETURNED: "returned",
    EventKind.ADJUDICATED: "decided",
    EventKind.RATED: "rated",
    EventKind.WRITTEN: "wrote",
    EventKind.CHOSEN: "took into the review:",
    EventKind.GOLD_SET: "set the right verdict of",
    EventKind.GUIDED: "changed the guidelines on",
    EventKind.CONFIGURED: "set",
    EventKind.ASSIGNED: "gave to people:",
    EventKind.UNDONE: "undid",
}
_OF_ITEM = {
    EventKind.SEARCHED: "",
    EventKind.LOOKED: "",
    EventKind.SOLVED: "the question",
    EventKind.OPENED: "the item",
    EventKind.CHOSEN: "the item",
    EventKind.GOLD_SET: "the item",
    EventKind.ADJUDICATED: "the item",
    EventKind.ASSIGNED: "the item",
    EventKind.WRITTEN: "the item",
}
_NUMBERED = re.compile(r"^(?P<ability>\w+)\.(?P<by_hand>h?)(?P<number>\d+)$")


def item_name(item_id: str) -> str:
    """Return the name of an item for people: `Contradiction resolution 3, conversation c000`."""
    try:
        conversation_id, probe_id = ItemId.parse(item_id)
    except ValueError:
        return f"conversation {item_id}" if item_id else "the review"
    return f"{probe_name(probe_id)}, conversation {conversation_id}"


def probe_name(probe_id: str) -> str:
    """Return the name of a probe for people: its ability, and the number that its id has."""
    match = _NUMBERED.match(probe_id)
    if match is None or match["ability"] not in ability_names():
        return probe_id
    kind = ", written by hand" if match["by_hand"] else ""
    ability = ability_of(match["ability"]).shown_as
    return f"{ability[:1].upper()}{ability[1:]} {match['by_hand']}{match['number']}{kind}"


def field_name(probe: Probe | None, target: str) -> str:
    """Return the name of a field for people: `nugget 2`, `the gold answer`, `the evidence`."""
    if target.startswith(NUGGET):
        nugget_id = target.removeprefix(NUGGET).removesuffix("/label")
        known = [n.nugget_id for n in probe.rubric] if probe is not None else []
        if nugget_id in known:
            return f"nugget {known.index(nugget_id) + 1}"
        number = re.search(r"\.n(\d+)$", nugget_id)
        return f"nugget {int(number[1]) + 1}" if number else "a new nugget"
    if target.startswith(EVIDENCE):
        return "a piece of evidence"
    if target.startswith(MESSAGE):
        return f"message {target.removeprefix(MESSAGE)}"
    return _NAMES.get(target, target.removeprefix("guideline/").replace("_", " "))


def act_name(kind: EventKind, target: str, probe: Probe | None = None) -> str:
    """Return what somebody did, for people: `edited the gold answer`, `judged nugget 2`."""
    if target == ITEM_TARGET and kind in (EventKind.FLAGGED, EventKind.COMMENTED, EventKind.RETURNED):
        return f"{_ACTS[kind]} the item"
    subject = _OF_ITEM.get(kind, "" if kind is EventKind.UNDONE else field_name(probe, target))
    if target == ITEM_TARGET and kind is EventKind.JUDGED:
        subject = "the item"
    return f"{_ACTS[kind]} {subject}".strip()
