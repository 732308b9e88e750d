"""Who may work on an item: as many at a time as opinions are still wanted, each for as long as they show life."""

from __future__ import annotations

import datetime as dt
import time

from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.errors import Refusal
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.state import ItemState
from longbeam.annotation_ui.views import LeaseView


def capacity_for(state: ItemState, reviewer_id: str, *, is_gold: bool) -> int:
    """Return how many may hold the item, this reviewer counted in: opinions wanted less those others have saved.

    Everybody is to judge gold items.
    """
    if is_gold:
        return 1_000_000
    others = sum(o.reviewer_id != reviewer_id for o in state.saved)
    return max(state.overlap - others, 0)


def take(desk: Desk, item_id: str, viewer: Viewer) -> LeaseView:
    """Give or renew the viewer's lease; Refusal 409 `leased` if the item is full."""
    now = time.time()
    expires_at = now + desk.settings.lease_s
    state = desk.state(item_id)
    capacity = capacity_for(state, viewer.reviewer_id, is_gold=desk.gold_verdict(item_id) is not None)
    if desk.log.store.take_lease(item_id, viewer.reviewer_id, capacity, now, expires_at):
        return _view(viewer.reviewer_id, expires_at, viewer)
    holder = lease_of(desk, item_id, viewer)
    if holder is None:
        raise Refusal(409, "leased", f"{item_id} has all the opinions that were wanted ({state.overlap})")
    until = holder.expires_at.strftime("%H:%M:%S UTC")
    raise Refusal(409, "leased", f"{holder.reviewer_id} has {item_id} open until {until}", lease=holder)


def lease_of(desk: Desk, item_id: str, viewer: Viewer) -> LeaseView | None:
    """Return the viewer's own lease, or that of whoever keeps the viewer out; None if neither is there."""
    held = {lease.reviewer_id: lease for lease in desk.leases().get(item_id, [])}
    own = held.get(viewer.reviewer_id)
    if own is not None:
        return _view(own.reviewer_id, own.expires_at, viewer)
    state = desk.state(item_id)
    capacity = capacity_for(state, viewer.reviewer_id, is_gold=desk.gold_verdict(item_id) is not None)
    if held and len(held) >= capacity:
        last = max(held.values(), key=lambda lease: lease.expires_at)
        return _view(last.reviewer_id, last.expires_at, viewer)
    return None


def _view(reviewer_id: str, expires_at: float, viewer: Viewer) -> LeaseView:
    return LeaseView(
        reviewer_id=reviewer_id,
        expires_at=dt.datetime.fromtimestamp(expires_at, dt.UTC),
        is_mine=reviewer_id == viewer.reviewer_id,
    )
