"""Checks of one probe at once: as edited, or as just written by hand, against the whole conversation."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.fold import probe_version
from longbeam.annotation_ui.log import new_event
from longbeam.annotation_ui.people import Viewer
from longbeam.schemas.findings import Finding
from longbeam.schemas.probes import Probe
from longbeam.schemas.review import EventKind, ReviewEvent
from longbeam.validation.index import ConversationIndex, build_index
from longbeam.validation.run import check_probes


class Checker:
    """Checks probes of one conversation at a time; what the checks look things up in is kept for the next probe.

    At 10M tokens the first check of a conversation takes some seconds, each further one milliseconds.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._kept: tuple[tuple[str, tuple[int, int]], ConversationIndex] | None = None
        self._warming: threading.Thread | None = None

    def check(self, conversation_id: str, probe: Probe) -> list[Finding]:
        """Return what the checks of probes find on a probe."""
        with self._lock:
            index = self._index(conversation_id)
            return check_probes(index, [probe], language=self._desk.archive.benchmark.spec.language)

    def warm(self, conversation_id: str) -> None:
        """Prepare for checks and searches of a conversation without keeping anybody waiting."""
        key = conversation_id, self._desk.archive.stamp(conversation_id)
        is_busy = self._warming is not None and self._warming.is_alive()
        if is_busy or (self._kept is not None and self._kept[0] == key):
            return

        def prepare() -> None:
            conversation = self._desk.conversation(conversation_id)
            _ = conversation.lowered  # the first search need not wait for it, either
            with self._lock:
                self._index(conversation_id)

        self._warming = threading.Thread(target=prepare, name="checks", daemon=True)
        self._warming.start()

    def _index(self, conversation_id: str) -> ConversationIndex:
        conversation = self._desk.conversation(conversation_id)
        key = conversation_id, conversation.stamp
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # the former one is given back before the next is made
            self._kept = key, build_index(conversation.reader)
        return self._kept[1]


def check_item(desk: Desk, checker: Checker, viewer: Viewer, item_id: str) -> ReviewEvent:
    """Run the checks on an item as the viewer has it, and record what they find."""
    viewer.require_write()
    state = desk.state(item_id)
    opinion = state.opinion(viewer.reviewer_id)
    findings = checker.check(item_id.partition("/")[0], opinion.probe)
    with desk.acting:
        (event,) = desk.log.append(
            new_event(
                EventKind.CHECKED,
                item_id,
                viewer.reviewer_id,
                target="checks",
                after=checked_value(opinion.probe, findings),
                item_version=opinion.version,
                probe_version=state.version,
            )
        )
    return event


def checked_value(probe: Probe, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what a `checked` event keeps: the content that was checked, and what was found."""
    return {"content": probe_version(probe), "findings": [f.model_dump(mode="json") for f in findings]}
