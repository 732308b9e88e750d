"""The fold from review events to opinions and to the state of an item. Pure functions.

Events on another version of the sealed probe are history, not opinion: a corrected probe is judged again.
A verdict is in force only for the content on which it was given: a later edit lapses it until it is given again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from pydantic import JsonValue

from longbeam.review.anchors import evidence_id_of
from longbeam.review.people import Viewer
from longbeam.schemas import (
    CHECKS_TARGET,
    EVIDENCE,
    ITEMS_TARGET,
    MESSAGE,
    NUGGET,
    TEXT_TARGETS,
    Change,
    EventKind,
    Evidence,
    Nugget,
    NuggetLabel,
    Probe,
    Record,
    ReviewEvent,
    Taxonomy,
    Verdict,
    digest_of,
)

HASH_LENGTH = 16
Key = TypeVar("Key")
_NO_CONTENT = {"details": {"difficulty"}}


@dataclass(frozen=True)
class Search:
    """A search that a reviewer made for the item."""

    query: str
    total: int


class TypedText(Record):
    """A text that was typed into a field of the probe and not saved."""

    target: str
    tab: str
    text: str


@dataclass(frozen=True)
class Opinion:
    """One reviewer's opinion of one probe."""

    reviewer_id: str
    probe: Probe
    """The probe with the reviewer's edits."""
    verdict: Verdict | None = None
    """The verdict in force; None if none was given or the probe was edited since."""
    is_lapsed: bool = False
    """Whether the probe was edited after a verdict was given."""
    reason_code: str = ""
    note: str = ""
    labels: dict[str, NuggetLabel] = field(default_factory=dict)
    """Labels by nugget_id."""
    stale: dict[str, str] = field(default_factory=dict)
    """Targets that an edit has made doubtful (`nugget/<id>`, `checks`), each with the event of that edit."""
    drafts: dict[tuple[str, str], JsonValue] = field(default_factory=dict)
    """Texts typed and not saved, by target and tab of the browser."""
    searches: tuple[Search, ...] = ()
    looked_at: frozenset[int] = frozenset()
    """Hits that were shown, as message_ids."""
    looked_for: frozenset[str] = frozenset()
    """Queries of which a hit was shown."""
    solved: str = ""
    """The reviewer's own answer, given before the gold answer was shown."""
    solved_score: float | None = None
    """Score of that answer by the rubric."""
    cleared: frozenset[str] = frozenset()
    """Keys of messages offered as counter-evidence that change nothing."""
    edits: tuple[ReviewEvent, ...] = ()
    """Events in force that changed the probe."""
    saved_at: datetime | None = None
    saved_by: str = ""
    """The event that holds the verdict."""
    guideline_version: str = ""
    active_ms: int = 0
    version: str = ""
    """Hash of content, verdict and labels; a save must name it."""

    @property
    def is_saved(self) -> bool:
        """Whether the opinion counts: a verdict other than skip is in force."""
        return self.verdict in (Verdict.ACCEPT, Verdict.REJECT)

    @property
    def unsaved(self) -> tuple[TypedText, ...]:
        """Texts that were typed into fields of the probe and not saved."""
        typed = (
            TypedText(target=target, tab=tab, text=text)
            for (target, tab), text in self.drafts.items()
            if isinstance(text, str) and is_field(target)
        )
        return tuple(t for t in typed if t.text.strip() != str(text_at(self.probe, t.target) or "").strip())

    @property
    def is_edited(self) -> bool:
        """Whether the probe differs from the sealed one."""
        return bool(self.edits)


def probe_version(probe: Probe) -> str:
    """Return the hash of a probe's content, without its rank, selection and measured difficulty.

    Reviewers' opinions hold for one version. A field that is added to probes must be left out here while it has its
    default: otherwise an upgrade would drop every opinion.
    """
    content = probe.model_copy(update={"is_selected": False, "rank": 0})
    return hashlib.sha256(content.model_dump_json(exclude=_NO_CONTENT).encode()).hexdigest()[:HASH_LENGTH]


def in_force(events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
    """Return the events that count, without undos; an event is undone if an undo that itself counts names it."""
    undone: set[str] = set()
    for event in reversed(events):
        if event.kind is EventKind.UNDONE and event.event_id not in undone:
            undone.add(event.target)
    return [e for e in events if e.event_id not in undone and e.kind is not EventKind.UNDONE]


def fold_opinion(base: Probe, reviewer_id: str, events: Iterable[ReviewEvent]) -> Opinion:
    """Return a reviewer's opinion of a probe as sealed; `events` are of this item, in order, of any reviewer."""
    version = probe_version(base)
    mine = [e for e in events if e.reviewer_id == reviewer_id and e.probe_version == version]
    opinion = Opinion(reviewer_id, base)
    for event in _without_older_drafts(in_force(mine)):
        opinion = _applied(opinion, event)
    spent = sum(e.active_ms for e in mine)
    return replace(opinion, active_ms=spent, version=_version_of(opinion))


def _without_older_drafts(events: Sequence[ReviewEvent]) -> list[ReviewEvent]:
    """Return the events without drafts that a later draft of the same field replaces: a slow typist leaves hundreds."""
    newest = {(e.target, e.tab): e.event_id for e in events if e.kind is EventKind.DRAFTED}
    return [e for e in events if e.kind is not EventKind.DRAFTED or newest[e.target, e.tab] == e.event_id]


def _version_of(opinion: Opinion) -> str:
    labels = {k: v.value for k, v in sorted(opinion.labels.items())}
    verdict = opinion.verdict.value if opinion.verdict else None
    return digest_of(probe_version(opinion.probe), verdict, labels)[:HASH_LENGTH]


def _applied(opinion: Opinion, event: ReviewEvent) -> Opinion:
    match event.kind:
        case EventKind.JUDGED:
            return _judged(opinion, event)
        case EventKind.EDITED | EventKind.EVIDENCE_ADDED | EventKind.EVIDENCE_REMOVED:
            return _changed(opinion, event)
        case EventKind.DRAFTED:
            return replace(opinion, drafts=_with(opinion.drafts, (event.target, event.tab), event.after))
        case EventKind.SEARCHED:
            return replace(opinion, searches=(*opinion.searches, _search(event)))
        case EventKind.LOOKED:
            return _looked(opinion, event)
        case EventKind.SOLVED:
            return _solved(opinion, event)
        case EventKind.CLEARED:
            return replace(opinion, cleared=opinion.cleared | {event.target.removeprefix(MESSAGE)})
        case EventKind.CHECKED:
            return replace(opinion, stale=_without(opinion.stale, CHECKS_TARGET))
    return opinion  # the other kinds say nothing about the probe


def _judged(opinion: Opinion, event: ReviewEvent) -> Opinion:
    after = event.after if isinstance(event.after, dict) else {}
    if event.target.startswith(NUGGET):
        nugget_id = event.target.removeprefix(NUGGET)
        labels = _without(opinion.labels, nugget_id)
        if after.get("label"):
            labels[nugget_id] = NuggetLabel(str(after["label"]))
        return replace(opinion, labels=labels, stale=_without(opinion.stale, event.target))
    return replace(
        opinion,
        verdict=Verdict(str(after["verdict"])) if after.get("verdict") else None,
        is_lapsed=False,
        reason_code=event.reason_code,
        note=event.note,
        saved_at=event.created_at,
        saved_by=event.event_id,
        guideline_version=event.guideline_version,
    )


def _changed(opinion: Opinion, event: ReviewEvent) -> Opinion:
    probe = edited_probe(opinion.probe, event)
    stale = {**opinion.stale, CHECKS_TARGET: event.event_id}
    if event.target in ("question", "gold_answer", ITEMS_TARGET):
        # The question may ask for another answer now, so each nugget must be looked at again.
        stale |= {f"{NUGGET}{n.nugget_id}": event.event_id for n in probe.rubric}
    if event.target.startswith(NUGGET):
        stale.pop(event.target, None)
    kept = {f"{NUGGET}{n.nugget_id}" for n in probe.rubric} | {CHECKS_TARGET}
    return replace(
        opinion,
        probe=probe,
        edits=(*opinion.edits, event),
        stale={target: cause for target, cause in stale.items() if target in kept},
        # What another tab has typed into the field stays: its reviewer merges it.
        drafts=_without(opinion.drafts, (event.target, event.tab)),
        is_lapsed=opinion.is_lapsed or opinion.verdict is not None,
        verdict=None,
    )


def edited_probe(probe: Probe, event: ReviewEvent) -> Probe:
    """Return the probe after one edit; an edit of a missing part changes nothing."""
    target, after = event.target, event.after
    if event.kind is EventKind.EVIDENCE_ADDED and isinstance(after, dict):
        added = Evidence.model_validate({k: v for k, v in after.items() if k in Evidence.model_fields})
        at = after.get("at")  # evidence is kept in the order of the conversation
        place = at if isinstance(at, int) else len(probe.evidence)
        return probe.model_copy(update={"evidence": (*probe.evidence[:place], added, *probe.evidence[place:])})
    if event.kind is EventKind.EVIDENCE_REMOVED:
        wanted = target.removeprefix(EVIDENCE)
        kept = tuple(e for e in probe.evidence if evidence_id_of(e) != wanted)
        return probe.model_copy(update={"evidence": kept})
    if target.startswith(NUGGET):
        return with_nugget(probe, target.removeprefix(NUGGET), after)
    if target == ITEMS_TARGET and isinstance(after, list):
        details = probe.details.model_copy(update={"items": tuple(map(str, after))})
        return probe.model_copy(update={"details": details})
    if target in TEXT_TARGETS:
        return Probe.model_validate({**_fields(probe), target: after})
    return probe


def is_field(target: str) -> bool:
    """Whether a target is a text of the probe that can be edited."""
    return target in TEXT_TARGETS or target.startswith(NUGGET)


def text_at(probe: Probe, target: str) -> JsonValue:
    """Return the text of a field, or the list of items; None if the probe has no such field."""
    return _values(probe).get(target)


def with_nugget(probe: Probe, nugget_id: str, after: JsonValue) -> Probe:
    """Return the probe with a nugget changed, added, or removed (None); no evidence supports a removed nugget."""
    rubric: list[Nugget] = []
    is_known = False
    for nugget in probe.rubric:
        if nugget.nugget_id != nugget_id:
            rubric.append(nugget)
            continue
        is_known = True
        if after is not None:
            rubric.append(Nugget(nugget_id=nugget_id, text=str(after)))
    if not is_known and after is not None:
        rubric.append(Nugget(nugget_id=nugget_id, text=str(after)))
    if not rubric:
        return probe  # a probe without rubric cannot be scored
    update: dict[str, Any] = {"rubric": tuple(rubric)}
    if after is None:
        update["evidence"] = tuple(
            e.model_copy(update={"nugget_ids": tuple(i for i in e.nugget_ids if i != nugget_id)})
            for e in probe.evidence
        )
    return probe.model_copy(update=update)


def _fields(probe: Probe) -> dict[str, Any]:
    return {name: getattr(probe, name) for name in Probe.model_fields}


def _search(event: ReviewEvent) -> Search:
    after = event.after if isinstance(event.after, dict) else {}
    total = after.get("total")
    return Search(query=str(after.get("query", "")), total=total if isinstance(total, int) else 0)


def _solved(opinion: Opinion, event: ReviewEvent) -> Opinion:
    after = event.after if isinstance(event.after, dict) else {}
    score = after.get("score")
    scored = float(score) if isinstance(score, int | float) else None
    return replace(opinion, solved=str(after.get("answer", "")), solved_score=scored)


def _looked(opinion: Opinion, event: ReviewEvent) -> Opinion:
    after = event.after if isinstance(event.after, dict) else {}
    ids = after.get("message_ids")
    seen = frozenset(i for i in ids if isinstance(i, int)) if isinstance(ids, list) else frozenset()
    query = after.get("query")
    queries = {query} if isinstance(query, str) and seen else set()
    return replace(opinion, looked_at=opinion.looked_at | seen, looked_for=opinion.looked_for | queries)


def _with(mapping: dict[Key, Any], key: Key, value: JsonValue) -> dict[Key, Any]:
    """Return the mapping with one value set, or removed if it is None."""
    return _without(mapping, key) if value is None else {**mapping, key: value}


def _without(mapping: dict[Key, Any], key: Key) -> dict[Key, Any]:
    return {k: v for k, v in mapping.items() if k != key}


def reviewers_of(events: Iterable[ReviewEvent]) -> list[str]:
    """Return the reviewers of events, in order of appearance."""
    return list(dict.fromkeys(e.reviewer_id for e in events))


def probe_changes(before: Probe, after: Probe) -> list[Change]:
    """Return the differences between two versions of a probe, in the order of the page."""
    old, new = _values(before), _values(after)
    targets = list(dict.fromkeys([*old, *new]))
    return [Change(target=t, before=old.get(t), after=new.get(t)) for t in targets if old.get(t) != new.get(t)]


def opinion_changes(before: Opinion, after: Opinion) -> list[Change]:
    """Return the differences between two states of one reviewer's opinion."""
    changes = probe_changes(before.probe, after.probe)
    old, new = before.verdict, after.verdict
    if old != new:
        changes.append(Change(target="item", before=old and old.value, after=new and new.value))
    for nugget_id in dict.fromkeys([*before.labels, *after.labels]):
        first, second = before.labels.get(nugget_id), after.labels.get(nugget_id)
        if first != second:
            changes.append(Change(target=f"{NUGGET}{nugget_id}/label", before=first, after=second))
    return changes


def opinion_at(base: Probe, reviewer_id: str, events: Sequence[ReviewEvent], version: str) -> Opinion | None:
    """Return the opinion as it was when it had this version; None if it never had it."""
    for count in range(len(events), -1, -1):
        opinion = fold_opinion(base, reviewer_id, events[:count])
        if opinion.version == version:
            return opinion
    return None


def _values(probe: Probe) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {name: str(getattr(probe, name)) for name in TEXT_TARGETS}
    values[ITEMS_TARGET] = list(probe.details.items)
    values |= {f"{NUGGET}{n.nugget_id}": n.text for n in probe.rubric}
    values |= {f"{EVIDENCE}{evidence_id_of(e)}": e.model_dump(mode="json") for e in probe.evidence}
    return values


class ItemStatus(StrEnum):
    """Status of a probe in its review."""

    PENDING = "pending"
    """Nobody has saved an opinion."""
    IN_REVIEW = "in_review"
    """Some of the wanted opinions are saved."""
    CONFLICT = "conflict"
    """The opinions differ; a lead decides."""
    RETURNED = "returned"
    """Sent back to the author."""
    ACCEPTED = "accepted"
    EDITED = "edited"
    """Accepted with changes."""
    REJECTED = "rejected"


FINAL = frozenset({ItemStatus.ACCEPTED, ItemStatus.EDITED, ItemStatus.REJECTED})


@dataclass(frozen=True)
class Adjudication:
    """Decision of a lead."""

    event_id: str
    reviewer_id: str
    verdict: Verdict
    probe: Probe
    taxonomy: Taxonomy
    confidence: int
    """1 to 5."""
    note: str
    judged: tuple[str, ...]
    """Events that hold the opinions on which the lead decided."""


@dataclass(frozen=True)
class ItemState:
    """A sealed probe, and the events on it in the order in which they count."""

    base: Probe
    events: Sequence[ReviewEvent]
    overlap: int = 1
    """Opinions wanted."""
    shipped: frozenset[str] = frozenset()
    """Reviewers whose opinions came with a sample."""

    @cached_property
    def version(self) -> str:
        """Hash of the probe as sealed."""
        return probe_version(self.base)

    @cached_property
    def counted(self) -> list[ReviewEvent]:
        """Events in force on this version of the probe."""
        # Undo takes back an act of its own reviewer only, so each reviewer's events are folded alone.
        by_reviewer: dict[str, list[ReviewEvent]] = {}
        for event in self.events:
            if event.probe_version == self.version:
                by_reviewer.setdefault(event.reviewer_id, []).append(event)
        kept = {e.event_id for events in by_reviewer.values() for e in in_force(events)}
        return [e for e in self.events if e.event_id in kept]

    @cached_property
    def opinions(self) -> dict[str, Opinion]:
        """Opinions by reviewer, in order of appearance."""
        current = [e for e in self.events if e.probe_version == self.version]
        return {r: fold_opinion(self.base, r, current) for r in reviewers_of(current)}

    def opinion(self, reviewer_id: str) -> Opinion:
        """Return a reviewer's opinion; an empty one if the reviewer has done nothing yet."""
        return self.opinions.get(reviewer_id) or replace(self._untouched, reviewer_id=reviewer_id)

    @cached_property
    def _untouched(self) -> Opinion:
        return fold_opinion(self.base, "", ())

    @cached_property
    def saved(self) -> list[Opinion]:
        """Saved opinions, oldest first."""
        found = [o for o in self.opinions.values() if o.is_saved]
        return sorted(found, key=lambda o: (str(o.saved_at), o.reviewer_id))

    @cached_property
    def adjudication(self) -> Adjudication | None:
        """The last decision in force."""
        found = [e for e in self.counted if e.kind is EventKind.ADJUDICATED and isinstance(e.after, dict)]
        return _adjudication(found[-1]) if found else None

    @cached_property
    def returned(self) -> ReviewEvent | None:
        """The event that returned the item to its author, if nobody has judged it again since."""
        for event in reversed(self.counted):
            if event.kind is EventKind.RETURNED:
                return event
            if event.kind is EventKind.ADJUDICATED or any(o.saved_by == event.event_id for o in self.saved):
                return None
        return None

    @property
    def flags(self) -> list[ReviewEvent]:
        """Flags for a lead: the last flag of each reviewer on each target, unless taken back."""
        last: dict[tuple[str, str], ReviewEvent] = {}
        for event in self.counted:
            if event.kind is EventKind.FLAGGED:
                last[event.reviewer_id, event.target] = event
        return [e for e in last.values() if e.after is not False]

    @property
    def comments(self) -> list[ReviewEvent]:
        """Comments on the item and its messages, oldest first."""
        return [e for e in self.counted if e.kind is EventKind.COMMENTED]

    def notes_for(self, viewer: Viewer, kind: EventKind) -> list[ReviewEvent]:
        """Return the comments or flags that a viewer may read.

        A lead answers them; others are blind until the item is open.
        """
        notes = self.flags if kind is EventKind.FLAGGED else self.comments
        if self.is_open_to(viewer) or viewer.is_lead:
            return notes
        return [e for e in notes if e.reviewer_id == viewer.reviewer_id]

    @cached_property
    def is_open(self) -> bool:
        """Whether everybody may see all opinions: all wanted ones are saved, or a lead has decided."""
        return len(self.saved) >= self.overlap or self.adjudication is not None

    def is_open_to(self, viewer: Viewer) -> bool:
        """Whether a viewer may see the opinions of others; those of a sample wait for the viewer's own."""
        has_judged = not viewer.can_write or self.opinion(viewer.reviewer_id).is_saved
        return self.is_open and (has_judged or not self.shipped)

    @cached_property
    def wanted(self) -> int:
        """Number of opinions that are still wanted; beside those of a sample, one of its reader."""
        if self.shipped:
            return max(1 - sum(o.reviewer_id not in self.shipped for o in self.saved), 0)
        return max(self.overlap - len(self.saved), 0)

    @cached_property
    def assigned(self) -> tuple[str, ...]:
        """People to whom a lead gave the item; empty: anybody."""
        found = [e.after for e in self.counted if e.kind is EventKind.ASSIGNED]
        return tuple(str(name) for name in found[-1]) if found and isinstance(found[-1], list) else ()

    @cached_property
    def status(self) -> ItemStatus:
        """Status of the item."""
        if self.returned is not None:
            return ItemStatus.RETURNED
        if self.adjudication is not None:
            return _status_of(self.adjudication.verdict, self.adjudication.probe, self.version)
        if not self.saved:
            return ItemStatus.PENDING
        if len(self.saved) < self.overlap:
            return ItemStatus.IN_REVIEW
        if len({outcome_of(o) for o in self.saved}) > 1:
            return ItemStatus.CONFLICT
        first = self.saved[0]
        assert first.verdict is not None
        return _status_of(first.verdict, first.probe, self.version)

    @cached_property
    def probe(self) -> Probe:
        """The probe for exports: with its edits if the status is final, else as sealed."""
        if self.status not in FINAL:
            return self.base
        decided = self.adjudication.probe if self.adjudication else self.saved[0].probe
        return decided.model_copy(update={"is_selected": self.base.is_selected, "rank": self.base.rank})

    @cached_property
    def is_unsettled(self) -> bool:
        """Whether somebody has edited the probe and not finished, so that neither version is fit for export.

        This server saves no stale opinion, but an imported log may contain one.
        """
        if self.adjudication is not None or self.status is ItemStatus.CONFLICT:
            return False
        return any(o.is_edited and (not o.is_saved or _is_stale(o)) for o in self.opinions.values())


def outcome_of(opinion: Opinion) -> tuple[str, str]:
    """Return the outcome that two opinions must share to agree: the verdict, and the content of an accepted probe."""
    verdict = opinion.verdict.value if opinion.verdict else ""
    return verdict, probe_version(opinion.probe) if opinion.verdict is Verdict.ACCEPT else ""


def _is_stale(opinion: Opinion) -> bool:
    return opinion.verdict is Verdict.ACCEPT and bool(opinion.stale)


def _status_of(verdict: Verdict, probe: Probe, sealed_version: str) -> ItemStatus:
    if verdict is Verdict.REJECT:
        return ItemStatus.REJECTED
    return ItemStatus.ACCEPTED if probe_version(probe) == sealed_version else ItemStatus.EDITED


def _adjudication(event: ReviewEvent) -> Adjudication:
    after = event.after if isinstance(event.after, dict) else {}
    judged = after.get("judged")
    confidence = after.get("confidence")
    return Adjudication(
        event_id=event.event_id,
        reviewer_id=event.reviewer_id,
        verdict=Verdict(str(after["verdict"])),
        probe=Probe.model_validate(after["probe"]),
        taxonomy=Taxonomy(str(after.get("taxonomy") or Taxonomy.OTHER.value)),
        confidence=confidence if isinstance(confidence, int) else 0,
        note=event.note,
        judged=tuple(map(str, judged)) if isinstance(judged, list) else (),
    )
