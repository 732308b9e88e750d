"""Decisions of leads, and probes written by hand. Nothing is overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from pydantic import Field, JsonValue, ValidationError

from longbeam.abilities import ability_names
from longbeam.keys import ItemId, NuggetId, ProbeId
from longbeam.review.acts import ItemBody, anchor_of_quote
from longbeam.review.anchors import Anchor
from longbeam.review.archive import OpenConversation
from longbeam.review.checks import BY_HAND, Checker, checked_value
from longbeam.review.guidelines import GUIDELINE, built_in, current_version, guidelines_in_force
from longbeam.review.log import BENCHMARK_ITEM, ActContent, SeenVersions, new_event
from longbeam.review.names import field_name
from longbeam.review.people import Body, PeopleProblem, Refusal, Viewer, invalid, not_found
from longbeam.review.state import probe_version, with_nugget
from longbeam.review.workspace import Workspace
from longbeam.schemas import (
    CHECKS_TARGET,
    NUGGET,
    Difficulty,
    EventKind,
    Evidence,
    Finding,
    Nugget,
    NuggetLabel,
    Probe,
    ProbeDetails,
    ReviewEvent,
    ReviewSettings,
    Taxonomy,
    Verdict,
)


class Decision(ItemBody):
    """Decision of a lead; the body of POST /api/items/{conversation_id}/{probe_id}/adjudicate."""

    verdict: Verdict
    content_of: str = ""
    """The reviewer whose version is taken; empty: the lead's own version, or the sealed one if nothing was edited."""
    taxonomy: Taxonomy
    confidence: int = Field(ge=1, le=5)
    labels: dict[str, NuggetLabel] = Field(default_factory=dict)
    """Rulings on nuggets, by nugget_id: one that is ruled `no` leaves the rubric."""
    note: str = Field(default="", max_length=20_000)


class GuidelineText(Body):
    """New text of a section of the guidelines; the body of POST /api/guidelines."""

    section: str
    text: str = Field(min_length=1, max_length=50_000)
    note: str = Field(default="", max_length=20_000)
    """The change and its reason."""


def adjudicate(workspace: Workspace, viewer: Viewer, item_id: str, decision: Decision) -> ReviewEvent:
    """Append a lead's decision; the opinions stay as they are, and the event names them.

    Raises Refusal: `forbidden` for everybody but leads, `conflict` before all opinions are saved, `stale` on an old
    version, `invalid` if the version to be taken does not exist or is stale itself.
    """
    viewer.require_lead()
    state = workspace.state(item_id)
    own = state.opinion(viewer.reviewer_id)
    if not state.is_open:
        text = f"{len(state.saved)} of {state.overlap} opinions are saved; the item is blind until all are"
        raise Refusal(PeopleProblem(error="conflict", message=text))
    if decision.item_version != own.version:
        text = "the item has changed since this page was loaded"
        raise Refusal(PeopleProblem(error="stale", message=text, item_version=own.version))
    taken = state.opinion(decision.content_of) if decision.content_of else own
    if decision.content_of and decision.content_of not in {o.reviewer_id for o in state.saved}:
        raise invalid(f"{decision.content_of!r} has saved no opinion of this item")
    unseen = [target for target in taken.stale if target.removeprefix(NUGGET) not in decision.labels]
    if unseen and decision.verdict is Verdict.ACCEPT:
        names = ", ".join(field_name(taken.probe, target) for target in unseen)
        raise invalid(f"this version is not finished: look again at {names}")
    probe = _ruled(taken.probe, decision)
    (event,) = workspace.log.append(
        new_event(
            EventKind.ADJUDICATED,
            item_id,
            viewer.reviewer_id,
            ActContent(
                before=[{"reviewer_id": o.reviewer_id, "verdict": o.verdict and o.verdict.value} for o in state.saved],
                after={
                    "verdict": decision.verdict.value,
                    "probe": probe.model_dump(mode="json"),
                    "labels": {nugget_id: label.value for nugget_id, label in decision.labels.items()},
                    "content_of": decision.content_of or viewer.reviewer_id,
                    "taxonomy": decision.taxonomy.value,
                    "confidence": decision.confidence,
                    "judged": [o.saved_by for o in state.saved],
                },
                note=decision.note,
                active_ms=decision.active_ms,
            ),
            SeenVersions(own.version, state.version, current_version(workspace)),
        )
    )
    return event


def _ruled(probe: Probe, decision: Decision) -> Probe:
    """Return the probe without the nuggets that an acceptance rules out."""
    known = {n.nugget_id for n in probe.rubric}
    if unknown := sorted(set(decision.labels) - known):
        raise invalid(f"labels: this version has no nugget {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    refused = [i for i, label in decision.labels.items() if label is NuggetLabel.NO]
    if decision.verdict is not Verdict.ACCEPT or not refused:
        return probe
    if len(refused) == len(known):
        raise invalid("no nugget is left after these rulings; reject the item instead")
    for nugget_id in refused:
        probe = with_nugget(probe, nugget_id, None)
    return probe


@dataclass(frozen=True)
class Bulk:
    """One act of a lead on many items: `assign`, `flag` or `return`."""

    act: str
    people: Sequence[str] = ()
    note: str = ""


def act_on_items(workspace: Workspace, viewer: Viewer, item_ids: Sequence[str], bulk: Bulk) -> list[ReviewEvent]:
    """Append one event for each item, all of them or none.

    Raises Refusal: `forbidden` for everybody but leads, `not_found` for an unknown item, `invalid` without a note.
    """
    viewer.require_lead()
    kind = {"assign": EventKind.ASSIGNED, "flag": EventKind.FLAGGED, "return": EventKind.RETURNED}[bulk.act]
    if kind is not EventKind.ASSIGNED and not bulk.note.strip():
        raise invalid("say in a note why")
    after: JsonValue = True if kind is EventKind.FLAGGED else None
    if kind is EventKind.ASSIGNED:
        after = list(bulk.people)
    events = []
    for item_id in dict.fromkeys(item_ids):
        try:
            state = workspace.state(item_id)
        except KeyError as exc:
            raise not_found(f"item {item_id!r}") from exc
        content = ActContent(before=list(state.assigned), after=after, note=bulk.note.strip())
        seen = SeenVersions(state.opinion(viewer.reviewer_id).version, state.version, current_version(workspace))
        events.append(new_event(kind, item_id, viewer.reviewer_id, content, seen))
    return workspace.log.append(*events)


def set_gold(workspace: Workspace, viewer: Viewer, item_id: str, verdict: Verdict | None) -> ReviewEvent:
    """Append the verdict that a lead knows to be right; None makes the item an ordinary one again."""
    viewer.require_lead()
    before = workspace.gold_verdict(item_id)
    content = ActContent(before=before and before.value, after=verdict and verdict.value)
    seen = SeenVersions(probe=workspace.state(item_id).version)
    (event,) = workspace.log.append(new_event(EventKind.GOLD_SET, item_id, viewer.reviewer_id, content, seen))
    return event


def write_guideline(workspace: Workspace, viewer: Viewer, given: GuidelineText) -> None:
    """Append a new text of a section; judgements keep the version that they were made under.

    Raises Refusal: `forbidden` for everybody but leads, `invalid` for an unknown section.
    """
    viewer.require_lead()
    known = {section: guideline.text for section, guideline in guidelines_in_force(workspace).items()}
    abilities = {p.ability for _, probes in workspace.archive.probes() for p in probes.values()}
    if given.section not in known and given.section not in abilities:
        raise invalid(
            f"section {given.section!r}: there are {', '.join([*built_in(), *sorted(abilities - set(known))])}"
        )
    target = f"{GUIDELINE}{given.section}"
    content = ActContent(target, known.get(given.section), given.text, note=given.note)
    workspace.log.append(new_event(EventKind.GUIDED, BENCHMARK_ITEM, viewer.reviewer_id, content))


def configure(workspace: Workspace, viewer: Viewer, name: str, value: int) -> None:
    """Append a new value of a setting; Refusal `invalid` for an unknown setting or a value out of its range."""
    viewer.require_lead()
    now = workspace.settings.model_dump()
    if name not in now:
        raise invalid(f"setting {name!r}: there are {', '.join(now)}")
    try:
        ReviewSettings.model_validate({**now, name: value})
    except ValidationError as exc:
        raise invalid(f"{name}: {exc.errors()[0]['msg']}") from exc
    content = ActContent(name, now[name], value)
    workspace.log.append(new_event(EventKind.CONFIGURED, BENCHMARK_ITEM, viewer.reviewer_id, content))


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


def write_probe(
    workspace: Workspace, checker: Checker, viewer: Viewer, conversation_id: str, draft: Draft
) -> tuple[Probe, Sequence[Finding], str | None]:
    """Return a probe written by hand, the findings of its checks, and its item if `is_saved` puts it into the review.

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
    return probe, findings, item_id


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
