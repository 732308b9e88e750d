"""The right speaker and the right part: an update after its original, a denial apart from its statement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from longbeam.schemas.dialogue import Role
from longbeam.schemas.probes import EvidencePart, Probe
from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex

REQUIRED = {
    "knowledge_update": (EvidencePart.ORIGINAL, EvidencePart.UPDATED),
    "contradiction_resolution": (EvidencePart.STATEMENT, EvidencePart.DENIAL),
    "event_ordering": (EvidencePart.ITEM,),
    "instruction_following": (EvidencePart.INSTRUCTION,),
    "preference_following": (EvidencePart.PREFERENCE,),
}
"""Parts that the evidence of an ability must have."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield parts that are missing, of the wrong speaker, or in the wrong order."""
    parts = {e.part for e in probe.evidence}
    for part in REQUIRED.get(probe.ability, ()):
        if part not in parts and probe.evidence:
            kind = "import_missing" if index.is_import else "missing"
            yield Problem(kind, probe.probe_id, f"no evidence is the {part.value}")
    yield from _speaker_problems(index, probe)
    if probe.ability == "knowledge_update":
        yield from _update_problems(index, probe)
    if probe.ability == "contradiction_resolution":
        yield from _contradiction_problems(probe)
    if probe.ability == "event_ordering":
        yield from _item_problems(index, probe)


def _speaker_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    for evidence in probe.evidence:
        message = index.message(evidence.message_key)
        if message is None or message.role is Role.USER:
            continue
        # Imports may ask what the assistant said; our facts and bullets are always the user's.
        if not index.is_import and (probe.bullet_ids or probe.fact_ids or evidence.part != EvidencePart.SUPPORT):
            text = f"the {evidence.part} is what the user said, and {evidence.message_key} is the assistant's"
            yield Problem("speaker", probe.probe_id, text, (evidence.message_key,))


def _places(index: ConversationIndex, probe: Probe, part: EvidencePart) -> list[int]:
    keys = (e.message_key for e in probe.evidence if e.part == part)
    return [index.position[k] for k in keys if k in index.position]


def _update_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    original = _places(index, probe, EvidencePart.ORIGINAL)
    updated = _places(index, probe, EvidencePart.UPDATED)
    if original and updated and max(original) >= min(updated):
        keys = (index.messages[max(original)].message_key, index.messages[min(updated)].message_key)
        yield Problem(
            "update_order", probe.probe_id, f"the original, {keys[0]}, is not before the update, {keys[1]}", keys
        )


def _contradiction_problems(probe: Probe) -> Iterator[Problem]:
    statements = {e.message_key for e in probe.evidence if e.part == EvidencePart.STATEMENT}
    denials = {e.message_key for e in probe.evidence if e.part == EvidencePart.DENIAL}
    for key in sorted(statements & denials):
        yield Problem("one_message", probe.probe_id, f"{key} is statement and denial at once", (key,))


def _item_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    first: dict[int, tuple[int, int]] = {}
    for evidence in probe.evidence:
        message = index.message(evidence.message_key)
        if evidence.group is None or message is None:
            continue
        place = index.position[evidence.message_key], message.content.find(evidence.quote)
        first[evidence.group] = min(place, first.get(evidence.group, place))
    if not first:
        return
    items = len(probe.details.items)
    if sorted(first) != list(range(len(first))) or (items and items != len(first)):
        text = f"evidence has items {sorted(first)}; the probe has {items or len(probe.rubric)}, from 0"
        yield Problem("items", probe.probe_id, text)
    places = [first[group] for group in sorted(first)]
    if any(a >= b for a, b in pairwise(places)):
        keys = tuple(index.messages[at].message_key for at, _ in places)
        yield Problem("item_order", probe.probe_id, f"items are not in the order of mention: {', '.join(keys)}", keys)


CHECK = Check(
    name="evidence_parts",
    doc="Evidence has the parts its ability needs, said by the user, in the order that makes the answer true.",
    severities={
        "missing": ERROR,
        "import_missing": WARNING,
        "speaker": ERROR,
        "update_order": ERROR,
        "one_message": ERROR,
        "items": ERROR,
        "item_order": ERROR,
    },
    on_probe=find_problems,
)
