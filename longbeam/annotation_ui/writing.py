"""Probes written by hand: made of what a reviewer gives, checked at once, and reviewed like any other."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel, ConfigDict, Field

from longbeam.abilities.registry import ability_names
from longbeam.annotation_ui.anchors import find_quote
from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.causes import finding_views
from longbeam.annotation_ui.checking import Checker, checked_value
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import invalid, not_found
from longbeam.annotation_ui.fold import probe_version
from longbeam.annotation_ui.gates import BY_HAND
from longbeam.annotation_ui.log import new_event
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.views import FindingView
from longbeam.keys import NuggetId, ProbeId
from longbeam.schemas.base import Record
from longbeam.schemas.probes import Difficulty, Evidence, Nugget, Probe, ProbeDetails
from longbeam.schemas.review import EventKind, probe_item_id


class Citation(BaseModel):
    """A piece of evidence as selected on the page."""

    model_config = ConfigDict(extra="forbid")
    message_key: str
    quote: str = Field(min_length=1)
    prefix: str = ""
    suffix: str = ""
    part: str = "support"
    group: int | None = None


class Draft(BaseModel):
    """Body of POST /api/conversations/{conversation_id}/probes."""

    model_config = ConfigDict(extra="forbid")
    ability: str
    question: str = Field(min_length=1, max_length=10_000)
    gold_answer: str = Field(min_length=1, max_length=50_000)
    nuggets: list[str] = Field(min_length=1, max_length=50)
    evidence: list[Citation] = Field(default_factory=list, max_length=200)
    difficulty: Difficulty = Difficulty.MEDIUM
    items: list[str] = Field(default_factory=list)
    """Ordered items, for event ordering."""
    missing: str = ""
    """What the conversation never says, for abstention."""
    searches: list[str] = Field(default_factory=list)
    is_saved: bool = False
    """False: only checked."""


class WrittenView(Record):
    """A probe written by hand, and what the checks say of it."""

    probe: Probe
    findings: tuple[FindingView, ...]
    item_id: str | None
    """None: it was checked and not saved."""


def write_probe(desk: Desk, checker: Checker, viewer: Viewer, conversation_id: str, draft: Draft) -> WrittenView:
    """Check a probe written by hand and, where asked, put it into the review.

    Raises Refusal 422 for an ability that there is not, and for a quote that its message does not say.
    """
    viewer.require_write()
    with desk.acting:
        probe = _probe_of(desk, desk.conversation(conversation_id), conversation_id, draft)
        findings = checker.check(conversation_id, probe)
        item_id = probe_item_id(conversation_id, probe.probe_id) if draft.is_saved else None
        if item_id is not None:
            event = partial(
                new_event, item_id=item_id, reviewer_id=viewer.reviewer_id, probe_version=probe_version(probe)
            )
            desk.log.append(
                event(EventKind.WRITTEN, after=probe.model_dump(mode="json")),
                event(EventKind.CHECKED, target="checks", after=checked_value(probe, findings)),
            )
    views = finding_views(desk, conversation_id, item_id or "", findings)
    return WrittenView(probe=probe, findings=tuple(views), item_id=item_id)


def _probe_of(desk: Desk, conversation: OpenConversation, conversation_id: str, draft: Draft) -> Probe:
    known = {*ability_names(), *(p.ability for p in desk.probes(conversation_id).values())}
    if draft.ability not in known:
        raise invalid(f"ability {draft.ability!r}: there are {', '.join(sorted(known))}")
    pool = {**desk.probes(conversation_id), **desk.written(conversation_id)}
    taken = {i for i, p in pool.items() if p.ability == draft.ability}
    number = next(i for i in range(len(pool) + 1) if str(ProbeId(draft.ability, f"h{i}")) not in taken)
    probe_id = str(ProbeId(draft.ability, f"h{number}"))
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
        rank=len(taken),
    )


def _cited(conversation: OpenConversation, given: Citation, nugget_ids: tuple[str, ...]) -> tuple[int, Evidence]:
    message_id = conversation.ids.get(given.message_key)
    if message_id is None:
        raise not_found(f"message {given.message_key!r}")
    content = conversation.content(message_id)
    place = find_quote(content, given.quote, given.prefix, given.suffix)
    if place is None:
        raise invalid(f"message {given.message_key} does not say {given.quote[:80]!r}")
    return message_id, Evidence(
        message_key=given.message_key,
        quote=content[place[0] : place[1]],
        part=given.part,
        group=given.group,
        nugget_ids=nugget_ids,
    )
