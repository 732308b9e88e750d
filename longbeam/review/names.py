"""Names for people: fields, items and acts as pages and messages call them. No internal id reaches a reviewer."""

from __future__ import annotations

import re

from longbeam.abilities.registry import ability_names, ability_of
from longbeam.keys import ItemId
from longbeam.review.fold import CHECKS_TARGET, EVIDENCE, ITEMS_TARGET, MESSAGE, NUGGET
from longbeam.schemas.probes import Probe
from longbeam.schemas.review import ITEM_TARGET, EventKind

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
    EventKind.UNDONE: "took back",
}
_OF_ITEM = {
    EventKind.SEARCHED: "",
    EventKind.LOOKED: "",
    EventKind.SOLVED: "the question",
    EventKind.OPENED: "the item",
    EventKind.CHOSEN: "the item",
    EventKind.GOLD_SET: "the item",
    EventKind.ADJUDICATED: "the item",
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
    """Return the name of a probe for people: its ability and number, counted from 1."""
    match = _NUMBERED.match(probe_id)
    if match is None or match["ability"] not in ability_names():
        return probe_id
    kind = ", written by hand" if match["by_hand"] else ""
    ability = ability_of(match["ability"]).shown_as
    return f"{ability[:1].upper()}{ability[1:]} {int(match['number']) + 1}{kind}"


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
