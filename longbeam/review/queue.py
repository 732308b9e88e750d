"""The queue: items as one viewer sees them, leases on them, and the doubt that orders them.

As many reviewers may work on an item at a time as opinions are still wanted. A lease lasts while its holder shows
signs of life. One who has saved an opinion may always open the item again, and takes no place from others.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from longbeam.keys import ItemId
from longbeam.review.guidelines import changed_since, decided_under
from longbeam.review.names import item_name
from longbeam.review.people import PeopleProblem, Refusal, Viewer
from longbeam.review.state import FINAL, ItemState, ItemStatus, Opinion
from longbeam.review.tuning import REVIEWING
from longbeam.review.workspace import Entry, Workspace
from longbeam.schemas import EventKind, LeaseView, Verdict
from longbeam.store import StoredLease

UNLIMITED = 1_000_000


def capacity_for(state: ItemState, reviewer_id: str, *, is_gold: bool) -> int:
    """Return how many reviewers without a saved opinion may hold the item, this one included.

    Gold items have no limit, because every reviewer judges them; nor has one who changes a saved opinion.
    """
    if is_gold or reviewer_id in saved_by(state):
        return UNLIMITED
    return state.wanted


def saved_by(state: ItemState) -> frozenset[str]:
    """Return the reviewers who have saved an opinion; their leases take no place."""
    return frozenset(o.reviewer_id for o in state.saved)


def take_lease(workspace: Workspace, item_id: str, viewer: Viewer) -> LeaseView:
    """Give or renew the viewer's lease; Refusal `leased` if the item is full."""
    now = time.time()
    expires_at = now + workspace.settings.lease_s
    state = workspace.state(item_id)
    capacity = capacity_for(state, viewer.reviewer_id, is_gold=workspace.gold_verdict(item_id) is not None)
    wanted = StoredLease(item_id, viewer.reviewer_id, expires_at)
    if workspace.log.store.take_lease(wanted, capacity, now, saved_by(state)):
        return _lease_view(viewer.reviewer_id, expires_at, viewer)
    holder = lease_of(workspace, item_id, viewer)
    if holder is None:  # the item is full because all wanted opinions are saved
        text = f"{item_name(item_id)} has all the opinions that were wanted ({state.overlap})"
        raise Refusal(PeopleProblem(error="leased", message=text))
    until = holder.expires_at.strftime("%H:%M:%S UTC")
    text = f"{holder.reviewer_id} has {item_name(item_id)} open until {until}"
    raise Refusal(PeopleProblem(error="leased", message=text, lease=holder))


def lease_of(workspace: Workspace, item_id: str, viewer: Viewer) -> LeaseView | None:
    """Return the viewer's own lease, or the lease that keeps the viewer out; None if there is neither."""
    held = {lease.reviewer_id: lease for lease in workspace.leases().get(item_id, [])}
    own = held.get(viewer.reviewer_id)
    if own is not None:
        return _lease_view(own.reviewer_id, own.expires_at, viewer)
    state = workspace.state(item_id)
    capacity = capacity_for(state, viewer.reviewer_id, is_gold=workspace.gold_verdict(item_id) is not None)
    taken = [lease for name, lease in held.items() if name not in saved_by(state)]
    if taken and len(taken) >= capacity:
        last = max(taken, key=lambda lease: lease.expires_at)
        return _lease_view(last.reviewer_id, last.expires_at, viewer)
    return None


def _lease_view(reviewer_id: str, expires_at: float, viewer: Viewer) -> LeaseView:
    return LeaseView(
        reviewer_id=reviewer_id,
        expires_at=dt.datetime.fromtimestamp(expires_at, dt.UTC),
        is_mine=reviewer_id == viewer.reviewer_id,
    )


class Doubts:
    """Signs of doubt over a whole review, gathered once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._median, self._low = _gathered(workspace)

    def of(self, item_id: str, state: ItemState, severities: Mapping[str, int]) -> float:
        """Return the doubt of an item: 0 is no sign of any."""
        doubt = REVIEWING.error_weight * severities.get("error", 0) + REVIEWING.warning_weight * severities.get(
            "warning", 0
        )
        doubt += REVIEWING.fast_weight * sum(self._is_fast(opinion) for opinion in state.saved)
        doubt += REVIEWING.judge_weight * any(self._differs(item_id, opinion) for opinion in state.saved)
        doubt += REVIEWING.disagreement_weight * (state.base.ability in self._low)
        return doubt + REVIEWING.skipped_weight * sum(
            o.verdict is not None and not o.is_saved for o in state.opinions.values()
        )

    def _differs(self, item_id: str, opinion: Opinion) -> bool:
        trial = self._workspace.rubric_trial(item_id, opinion.probe)
        return trial is not None and trial.is_sound != (opinion.verdict is Verdict.ACCEPT)

    def _is_fast(self, opinion: Opinion) -> bool:
        usual = self._median.get(opinion.reviewer_id)
        return usual is not None and 0 < opinion.active_ms < REVIEWING.fast_share * usual


def _gathered(workspace: Workspace) -> tuple[dict[str, float], set[str]]:
    """Return each reviewer's median time, and the abilities on which reviewers agree little."""
    times: dict[str, list[int]] = defaultdict(list)
    judged: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for conversation_id in workspace.archive.conversation_ids:
        for state, _ in workspace.entry_states(conversation_id).values():
            for opinion in state.saved:
                times[opinion.reviewer_id].append(opinion.active_ms)
            if len(state.saved) > 1:
                judged[state.base.ability] += 1
                agreed[state.base.ability] += len({o.verdict for o in state.saved}) == 1
    usual = {name: median(spent) for name, spent in times.items() if len(spent) >= REVIEWING.least_opinions}
    low = {
        name
        for name, n in judged.items()
        if n >= REVIEWING.least_opinions and agreed[name] / n < REVIEWING.low_agreement
    }
    return usual, low


VIEWS = {
    "mine": "To do",
    "assigned": "Assigned to me",
    "all": "All",
    "pending": "Pending",
    "second": "Needs a second opinion",
    "conflict": "Conflicts",
    "returned": "Returned",
    "flagged": "Flagged",
    "outdated": "Guidelines changed",
    "done": "Decided",
}
"""Views of the queue with their names for people. `mine`: the viewer still has to judge it. `second`: one opinion is
saved, another is wanted. `outdated`: decided under guidelines that have changed since."""


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Filter and order of the queue; the address of the page carries them."""

    view: str = "all"
    ability: str = ""
    conversation: str = ""
    severity: str = ""
    """`error`, `warning`, `info`: items with at least one finding of it."""
    q: str = ""
    """Text in the question."""
    order: str = "place"
    """`place`: by conversation, ability, rank. `findings`: most errors first. `doubt`: most signs of doubt first."""
    first: int = 0
    count: int = 100


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One item of the queue, as one viewer sees it."""

    item_id: str
    conversation_id: str
    probe_id: str
    ability: str
    difficulty: str
    question: str
    status: str
    mine: str
    """The viewer's own progress: `none`, `draft`, `saved`, `skipped` or `lapsed`."""
    saved: int
    errors: int
    warnings: int
    infos: int
    flags: int
    comments: int
    leased_to: tuple[str, ...]
    evidence: int
    nuggets: int
    places: int
    """Reviewers who may still begin: opinions wanted minus those saved and those being made."""
    is_outdated: bool
    """Decided under guidelines that have changed since."""
    doubt: float
    """Signs that a second look is worth its time (`longbeam.review.queue`); 0 where no list is ordered by them."""
    is_candidate: bool
    """Moved up or taken in from the pool, or written by hand."""
    mine_at: dt.datetime | None = None
    """Time of the viewer's verdict."""
    mine_ms: int = 0
    """Time that the viewer has spent on the item."""
    assigned: tuple[str, ...] = ()
    """People to whom a lead gave the item; empty: anybody."""


def all_items(workspace: Workspace, viewer: Viewer, *, with_doubt: bool = False) -> list[QueueItem]:
    """Return the items under review, by conversation, ability and rank; doubt is weighed only if it is asked for."""
    held, findings = workspace.leases(), workspace.grouped_findings()
    doubts = Doubts(workspace) if with_doubt else None
    items = []
    for conversation_id in workspace.archive.conversation_ids:
        for item_id, (state, entry) in workspace.entry_states(conversation_id).items():
            fields = _fields_of(viewer, item_id, state)
            severities = Counter(f.severity.value for f in findings.get((conversation_id, state.base.probe_id), ()))
            items.append(
                QueueItem(
                    **fields,
                    is_candidate=entry is not Entry.SEALED,
                    doubt=doubts.of(item_id, state, severities) if doubts else 0.0,
                    is_outdated=bool(changed_since(workspace, fields["ability"], decided_under(state))),
                    errors=severities["error"],
                    warnings=severities["warning"],
                    infos=severities["info"],
                    leased_to=(holders := tuple(lease.reviewer_id for lease in held.get(item_id, ()))),
                    places=state.wanted - len(set(holders) - saved_by(state)),
                )
            )
    return items


def wanted_items(items: Sequence[QueueItem], viewer: Viewer, wanted: QueueFilter) -> list[QueueItem]:
    """Return the items that a filter lets through, in the order it asks for."""
    found = [item for item in items if _passes(item, wanted, viewer)]
    if wanted.order == "findings":
        found.sort(key=lambda item: (-item.errors, -item.warnings))
    if wanted.order == "doubt":
        found.sort(key=lambda item: -item.doubt)
    return found


def resume_at(items: Sequence[QueueItem], viewer: Viewer) -> QueueItem | None:
    """Return the first item that the viewer has begun and not finished, else the first that waits for the viewer."""
    mine = [item for item in items if is_in_view(item, "mine", viewer)]
    begun = [item for item in mine if item.mine in ("draft", "lapsed")]
    return next(iter(begun or mine), None)


def own_progress(opinion: Opinion) -> str:
    """Return a reviewer's progress on an item: `saved`, `skipped`, `lapsed`, `draft` or `none`."""
    if opinion.is_saved:
        return "saved"
    if opinion.verdict is Verdict.SKIP:
        return "skipped"
    if opinion.is_lapsed:
        return "lapsed"
    return "draft" if opinion.edits or opinion.labels or opinion.drafts else "none"


def shown_status(state: ItemState, viewer: Viewer) -> str:
    """Return the status of an item as a viewer may know it: the verdicts of a sample wait for the viewer's own."""
    if state.is_open and not state.is_open_to(viewer):
        return ItemStatus.PENDING.value
    return state.status.value


def _fields_of(viewer: Viewer, item_id: str, state: ItemState) -> dict[str, Any]:
    """Return the fields of an item that follow from its state alone."""
    mine = state.opinion(viewer.reviewer_id)
    shown = mine.probe if mine.is_edited else state.probe
    conversation_id, probe_id = ItemId.parse(item_id)
    return {
        "item_id": item_id,
        "conversation_id": conversation_id,
        "probe_id": probe_id,
        "ability": shown.ability,
        "difficulty": shown.difficulty.value,
        "question": shown.question,
        "status": shown_status(state, viewer),
        "assigned": state.assigned,
        "mine_at": mine.saved_at,
        "mine_ms": mine.active_ms,
        "mine": own_progress(mine),
        "saved": len(state.saved),
        "flags": len(state.notes_for(viewer, EventKind.FLAGGED)),
        "comments": len(state.notes_for(viewer, EventKind.COMMENTED)),
        "evidence": len(shown.evidence),
        "nuggets": len(shown.rubric),
    }


def _passes(item: QueueItem, wanted: QueueFilter, viewer: Viewer) -> bool:
    severities = {"error": item.errors, "warning": item.warnings, "info": item.infos}
    return (
        is_in_view(item, wanted.view, viewer)
        and wanted.ability in ("", item.ability)
        and wanted.conversation in ("", item.conversation_id)
        and (not wanted.severity or severities.get(wanted.severity, 0) > 0)
        and wanted.q.casefold() in item.question.casefold()
    )


def is_in_view(item: QueueItem, view: str, viewer: Viewer) -> bool:
    """Whether a view of the queue shows the item to the viewer."""
    match view:
        case "mine":
            return _is_for_me(item, viewer)
        case "assigned":
            return viewer.reviewer_id in item.assigned and item.mine not in ("saved", "skipped")
        case "pending":
            return item.status in (ItemStatus.PENDING, ItemStatus.IN_REVIEW)
        case "second":
            return item.status == ItemStatus.IN_REVIEW
        case "conflict" | "returned":
            return item.status == view
        case "flagged":
            return item.flags > 0
        case "outdated":
            return item.is_outdated
        case "done":
            return item.status in FINAL
    return view == "all"


def _is_for_me(item: QueueItem, viewer: Viewer) -> bool:
    """Whether an opinion of the viewer is wanted and not given yet, and others leave a place for it."""
    is_open = item.status in (ItemStatus.PENDING, ItemStatus.IN_REVIEW)
    is_taken = item.places <= 0 and viewer.reviewer_id not in item.leased_to
    is_taken = is_taken or bool(item.assigned and viewer.reviewer_id not in item.assigned)
    return viewer.can_write and is_open and item.mine not in ("saved", "skipped") and not is_taken
