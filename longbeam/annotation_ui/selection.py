"""Which probes are in the review: those sealed as selected, and for each rejected one the next candidate. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum

from longbeam.annotation_ui.state import ItemStatus
from longbeam.schemas.probes import Probe


class Entry(StrEnum):
    """How a probe came into the review."""

    SEALED = "sealed"
    MOVED_UP = "moved_up"
    """In place of a rejected one."""
    CHOSEN = "chosen"
    """Taken in from the pool by a reviewer."""
    WRITTEN = "written"
    """Written by hand."""


def entries_of(
    candidates: Sequence[Probe],
    status_of: Callable[[str], ItemStatus],
    chosen: Collection[str],
    written: Collection[str],
) -> dict[str, Entry]:
    """Return the probes of one ability that are reviewed, rejected ones included, and how each came in.

    `candidates` are all of the ability, best first, hand-written ones included. As many as were sealed as selected
    are kept standing: what is chosen or written fills the room of rejected ones first, then the next by rank.
    """
    entries: dict[str, Entry] = {}
    for probe in candidates:
        if probe.probe_id in written:
            entries[probe.probe_id] = Entry.WRITTEN
        elif probe.is_selected:
            entries[probe.probe_id] = Entry.SEALED
        elif probe.probe_id in chosen:
            entries[probe.probe_id] = Entry.CHOSEN
    wanted = sum(entry is Entry.SEALED for entry in entries.values())
    standing = sum(status_of(probe_id) is not ItemStatus.REJECTED for probe_id in entries)
    for probe in candidates:
        if standing >= wanted:
            break
        if probe.probe_id not in entries:
            entries[probe.probe_id] = Entry.MOVED_UP
            standing += status_of(probe.probe_id) is not ItemStatus.REJECTED
    return entries
