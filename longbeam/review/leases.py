"""Leases: as many reviewers may work on an item at a time as opinions are still wanted.

A lease lasts while its holder shows signs of life. One who has saved an opinion may always open the item again, and
takes no place from others.
"""

from __future__ import annotations

import datetime as dt
import time

from longbeam.review.names import item_name
from longbeam.review.people import Viewer
from longbeam.review.refusals import Problem, Refusal
from longbeam.review.state import ItemState
from longbeam.review.workspace import Workspace
from longbeam.schemas.review import LeaseView
from longbeam.store.reviews import StoredLease

UNLIMITED = 1_000_000


def capacity_for(state: ItemState, reviewer_id: str, *, is_gold: bool) -> int:
    """Return how many reviewers without a saved opinion may hold the item, this one included.

    Gold items have no limit, because every reviewer judges them; nor has one who changes a saved opinion.
    """
    if is_gold or reviewer_id in saved_by(state):
        return UNLIMITED
    return max(state.overlap - len(state.saved), 0)


def saved_by(state: ItemState) -> frozenset[str]:
    """Return the reviewers who have saved an opinion; their leases take no place."""
    return frozenset(o.reviewer_id for o in state.saved)


def take(workspace: Workspace, item_id: str, viewer: Viewer) -> LeaseView:
    """Give or renew the viewer's lease; Refusal `leased` if the item is full."""
    now = time.time()
    expires_at = now + workspace.settings.lease_s
    state = workspace.state(item_id)
    capacity = capacity_for(state, viewer.reviewer_id, is_gold=workspace.gold_verdict(item_id) is not None)
    wanted = StoredLease(item_id, viewer.reviewer_id, expires_at)
    if workspace.log.store.take_lease(wanted, capacity, now, saved_by(state)):
        return _view(viewer.reviewer_id, expires_at, viewer)
    holder = lease_of(workspace, item_id, viewer)
    if holder is None:  # the item is full because all wanted opinions are saved
        text = f"{item_name(item_id)} has all the opinions that were wanted ({state.overlap})"
        raise Refusal(Problem(error="leased", message=text))
    until = holder.expires_at.strftime("%H:%M:%S UTC")
    text = f"{holder.reviewer_id} has {item_name(item_id)} open until {until}"
    raise Refusal(Problem(error="leased", message=text, lease=holder))


def lease_of(workspace: Workspace, item_id: str, viewer: Viewer) -> LeaseView | None:
    """Return the viewer's own lease, or the lease that keeps the viewer out; None if there is neither."""
    held = {lease.reviewer_id: lease for lease in workspace.leases().get(item_id, [])}
    own = held.get(viewer.reviewer_id)
    if own is not None:
        return _view(own.reviewer_id, own.expires_at, viewer)
    state = workspace.state(item_id)
    capacity = capacity_for(state, viewer.reviewer_id, is_gold=workspace.gold_verdict(item_id) is not None)
    taken = [lease for name, lease in held.items() if name not in saved_by(state)]
    if taken and len(taken) >= capacity:
        last = max(taken, key=lambda lease: lease.expires_at)
        return _view(last.reviewer_id, last.expires_at, viewer)
    return None


def _view(reviewer_id: str, expires_at: float, viewer: Viewer) -> LeaseView:
    return LeaseView(
        reviewer_id=reviewer_id,
        expires_at=dt.datetime.fromtimestamp(expires_at, dt.UTC),
        is_mine=reviewer_id == viewer.reviewer_id,
    )
