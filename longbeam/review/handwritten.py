"""Probes written by hand: built from a reviewer's draft, checked at once, and reviewed like any other probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from pydantic import Field

from longbeam.abilities.registry import ability_names
from longbeam.keys import ItemId, NuggetId, ProbeId
from longbeam.review.acts import anchor_of_quote
from longbeam.review.anchors import Anchor
from longbeam.review.archive import OpenConversation
from longbeam.review.bodies import Body
from longbeam.review.checks import Checker, checked_value
from longbeam.review.fold import CHECKS_TARGET, probe_version
from longbeam.review.gates import BY_HAND
from longbeam.review.log import ActContent, SeenVersions, new_event
from longbeam.review.people import Viewer
from longbeam.review.refusals import invalid
from longbeam.review.workspace import Workspace
from longbeam.schemas.findings import Finding
from longbeam.schemas.probes import Difficulty, Evidence, Nugget, Probe, ProbeDetails
from longbeam.schemas.review import EventKind


class Citation(Body):
    """A piece of evidence as the reviewer selected it on the page."""

    message_key: str
    quote: str = Field(min_length=1)
    prefix: str = ""
    suffix: str = ""
    part: str = "support"
    group: int | None = None


class Draft(Body):
    """Body of POST /api/conversations/{conversation_id}/probes."""

    ability: str
    question: str = Field(min_length=1, max_length=10_000)
    gold_answer: str = Field(min_length=1, max_length=50_000)
    nuggets: list[str] = Field(min_length=1, max_length=50)
    evidence: list[Citation] = Field(default_factory=list, max_length=200)
    difficulty: Difficulty = Difficulty.MEDIUM
    items: list[str] = Field(default_factory=list)
    """Ordered items, for event ordering."""
    missing: str = ""
    """The fact that the conversation never states, for abstention."""
    searches: list[str] = Field(default_factory=list)
    is_saved: bool = False
    """False: the probe is checked and not saved."""


@dataclass(frozen=True)
class WrittenProbe:
    """A probe written by hand, and the findings of the checks on it."""

    probe: Probe
    findings: Sequence[Finding]
    item_id: str | None
    """None: the probe was checked and not saved."""


def write_probe(
    workspace: Workspace, checker: Checker, viewer: Viewer, conversation_id: str, draft: Draft
) -> WrittenProbe:
    """Check a probe written by hand and, if `is_saved`, put it into the review.

    Raises Refusal `invalid` for an unknown ability, and for a quote that its message does not contain.
    """
    viewer.require_write()
    with workspace.acting:
        probe = _probe_of(workspace, workspace.conversation(conversation_id), conversation_id, draft)
        findings = checker.check(conversation_id, probe)
        item_id = str(ItemId(conversation_id, probe.probe_id)) if draft.is_saved else None
        if item_id is not None:
            seen = SeenVersions(probe=probe_version(probe))
            written = ActContent(after=probe.model_dump(mode="json"))
            checked = ActContent(CHECKS_TARGET, after=checked_value(probe, findings))
            workspace.log.append(
                new_event(EventKind.WRITTEN, item_id, viewer.reviewer_id, written, seen),
                new_event(EventKind.CHECKED, item_id, viewer.reviewer_id, checked, seen),
            )
    return WrittenProbe(probe, findings, item_id)


def _probe_of(workspace: Workspace, conversation: OpenConversation, conversation_id: str, draft: Draft) -> Probe:
    known = {*ability_names(), *(p.ability for p in workspace.probes(conversation_id).values())}
    if draft.ability not in known:
        raise invalid(f"ability {draft.ability!r}: there are {', '.join(sorted(known))}")
    pool = {**workspace.probes(conversation_id), **workspace.written(conversation_id)}
    taken = {i for i, p in pool.items() if p.ability == draft.ability}
    fresh = (str(ProbeId(draft.ability, f"h{i}")) for i in count())
    probe_id = next(i for i in fresh if i not in taken)
    rubric = tuple(
        Nugget(nugget_id=str(NuggetId(probe_id, i)), text=text.strip()) for i, text in enumerate(draft.nuggets)
    )
    ids = tuple(n.nugget_id for n in rubric)
    cited = sorted((_cited(conversation, c, ids) for c in draft.evidence), key=lambda found: found[0])
    return Probe(
        probe_id=probe_id,
        ability=draft.ability,
        question=draft.question.strip(),
        gold_answer=draft.gold_answer.strip(),
        difficulty=draft.difficulty,
        rubric=rubric,
        evidence=tuple(evidence for _, evidence in cited),
        details=ProbeDetails(
            variety=BY_HAND, items=tuple(draft.items), missing=draft.missing, searches=tuple(draft.searches)
        ),
        rank=len(taken),  # behind all other candidates of the ability
    )


def _cited(conversation: OpenConversation, given: Citation, nugget_ids: tuple[str, ...]) -> tuple[int, Evidence]:
    place = Anchor(message_key=given.message_key, quote=given.quote, prefix=given.prefix, suffix=given.suffix)
    message_id, anchor = anchor_of_quote(conversation, place)
    return message_id, Evidence(
        message_key=given.message_key,
        quote=anchor.quote,
        part=given.part,
        group=given.group,
        nugget_ids=nugget_ids,
    )
