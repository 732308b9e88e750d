"""State of an item over all reviewers: its status, its final probe, and whether opinions are still hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from longbeam.review.fold import Opinion, fold_opinion, in_force, probe_version, reviewers_of
from longbeam.review.people import Viewer
from longbeam.schemas.probes import Probe
from longbeam.schemas.review import EventKind, ReviewEvent, Taxonomy, Verdict


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

    def comments_for(self, viewer: Viewer) -> list[ReviewEvent]:
        """Return the comments that a viewer may read: a lead answers them, others are blind until the item is open."""
        if self.is_open or viewer.is_lead:
            return self.comments
        return [e for e in self.comments if e.reviewer_id == viewer.reviewer_id]

    @cached_property
    def is_open(self) -> bool:
        """Whether everybody may see all opinions: all wanted ones are saved, or a lead has decided."""
        return len(self.saved) >= self.overlap or self.adjudication is not None

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

    @property
    def former(self) -> int:
        """Number of verdicts on earlier versions of the sealed probe."""
        old = [e for e in self.events if e.probe_version not in ("", self.version)]
        return sum(e.kind is EventKind.JUDGED and e.target == "item" for e in old)


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
