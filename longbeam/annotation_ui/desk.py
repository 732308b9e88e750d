"""What all pages work on: the conversations, the review log, and the state of each item, folded when asked for."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from threading import RLock

from longbeam.abilities.registry import ability_names
from longbeam.annotation_ui.archive import Archive, OpenConversation
from longbeam.annotation_ui.fold import in_force
from longbeam.annotation_ui.log import ReviewLog
from longbeam.annotation_ui.selection import Entry, entries_of
from longbeam.annotation_ui.settings import ReviewSettings
from longbeam.annotation_ui.state import ItemState, ItemStatus
from longbeam.schemas.findings import Finding
from longbeam.schemas.probes import Probe
from longbeam.schemas.review import EventKind, ReviewEvent, Verdict, probe_item_id
from longbeam.store.reviews import StoredLease


class Desk:
    """One benchmark under review; safe to use from several threads."""

    def __init__(self, archive: Archive, log: ReviewLog) -> None:
        self.archive = archive
        self.log = log
        self.acting = RLock()
        """Held while an act is checked and written: two requests of one reviewer must not both pass."""
        self._lock = RLock()
        self._states: dict[str, tuple[tuple[int, int, str], ItemState]] = {}
        self._probes: dict[str, tuple[tuple[int, int], dict[str, Probe]]] = {}
        self._by_subject: tuple[int, dict[tuple[str, str], list[Finding]]] = (0, {})
        self._settings: tuple[int, ReviewSettings] = (-1, ReviewSettings())
        self._written: dict[str, tuple[int, dict[str, Probe]]] = {}
        self._entries: dict[str, tuple[tuple[int, int, tuple[int, int]], dict[str, Entry]]] = {}
        log.refresh()

    @property
    def settings(self) -> ReviewSettings:
        """The settings in force."""
        position = self.log.position
        if self._settings[0] != position:
            self._settings = position, self.log.settings()
        return self._settings[1]

    def conversation(self, conversation_id: str) -> OpenConversation:
        """Return a sealed conversation; KeyError if there is none."""
        return self.archive.conversation(conversation_id)

    def probes(self, conversation_id: str) -> dict[str, Probe]:
        """Return the sealed candidates of a conversation by id; kept when its file is closed. KeyError as above."""
        stamp = self.archive.stamp(conversation_id)
        with self._lock:
            kept = self._probes.get(conversation_id)
            if kept is None or kept[0] != stamp:
                conversation = self.archive.conversation(conversation_id)
                kept = self._probes[conversation_id] = conversation.stamp, conversation.probes
            return kept[1]

    def written(self, conversation_id: str) -> dict[str, Probe]:
        """Return the probes written by hand for a conversation."""
        count = self.log.count_of(conversation_id)
        kept = self._written.get(conversation_id)
        if kept is None or kept[0] != count:
            found = {}
            for event in self._in_force(conversation_id, EventKind.WRITTEN):
                probe = Probe.model_validate(event.after)
                found[probe.probe_id] = probe
            kept = self._written[conversation_id] = count, found
        return kept[1]

    def base(self, item_id: str) -> Probe:
        """Return the probe of an item as sealed or as written; KeyError if there is none."""
        conversation_id, _, probe_id = item_id.partition("/")
        sealed = self.probes(conversation_id).get(probe_id)
        return sealed if sealed is not None else self.written(conversation_id)[probe_id]

    def state(self, item_id: str) -> ItemState:
        """Return the state of an item; KeyError if there is none."""
        return self._state(item_id, self.base(item_id))

    def entry_states(self, conversation_id: str) -> dict[str, tuple[ItemState, Entry]]:
        """Return the items of a conversation under review; its file is looked at once, not for each of them."""
        bases = {**self.written(conversation_id), **self.probes(conversation_id)}
        found = {}
        for probe_id, entry in self.entries(conversation_id).items():
            item_id = probe_item_id(conversation_id, probe_id)
            found[item_id] = self._state(item_id, bases[probe_id]), entry
        return found

    def _state(self, item_id: str, base: Probe) -> ItemState:
        events = self.log.of_item(item_id)
        overlap = self.settings.overlap
        key = len(events), overlap, base.digest
        with self._lock:
            kept = self._states.get(item_id)
            if kept is None or kept[0] != key:
                kept = self._states[item_id] = key, ItemState(base, events, overlap)
            return kept[1]

    def entries(self, conversation_id: str) -> dict[str, Entry]:
        """Return the probes of a conversation that are reviewed, by ability and rank, and how each came in."""
        stamp = self.archive.stamp(conversation_id)
        key = self.log.count_of(conversation_id), self.settings.overlap, stamp
        kept = self._entries.get(conversation_id)
        if kept is None or kept[0] != key:
            kept = self._entries[conversation_id] = key, self._fresh_entries(conversation_id)
        return kept[1]

    def _fresh_entries(self, conversation_id: str) -> dict[str, Entry]:
        written = self.written(conversation_id)
        pools: dict[str, list[Probe]] = defaultdict(list)
        for probe in (*self.probes(conversation_id).values(), *written.values()):
            pools[probe.ability].append(probe)
        chosen = self._chosen(conversation_id)

        def status_of(probe_id: str) -> ItemStatus:
            return self.state(probe_item_id(conversation_id, probe_id)).status

        entries: dict[str, Entry] = {}
        for ability in sorted(pools, key=_ability_order):
            entries |= entries_of(pools[ability], status_of, chosen, written)
        return entries

    def item_ids(self) -> Iterable[str]:
        """Yield the items under review, by conversation, ability and rank."""
        for conversation_id in self.archive.conversation_ids:
            for probe_id in self.entries(conversation_id):
                yield probe_item_id(conversation_id, probe_id)

    def judged_ids(self) -> Iterable[str]:
        """Yield the items under review, and those of the pool that somebody has worked on all the same."""
        yield from dict.fromkeys((*self.item_ids(), *self._touched()))

    def _touched(self) -> Iterable[str]:
        for conversation_id in self.archive.conversation_ids:
            known = {*self.probes(conversation_id), *self.written(conversation_id)}
            for item_id in self.log.items_of(conversation_id):
                if item_id.partition("/")[2] in known:
                    yield item_id

    def findings(self, conversation_id: str, subject: str) -> list[Finding]:
        """Return what `validate` found on a probe, message or conversation."""
        return self.grouped_findings().get((conversation_id, subject), [])

    def grouped_findings(self) -> Mapping[tuple[str, str], list[Finding]]:
        """Return what `validate` found, by conversation and subject."""
        findings = self.archive.findings
        if self._by_subject[0] != id(findings):
            grouped: dict[tuple[str, str], list[Finding]] = defaultdict(list)
            for finding in findings:
                grouped[finding.conversation_id, finding.subject].append(finding)
            self._by_subject = id(findings), grouped
        return self._by_subject[1]

    def gold_verdict(self, item_id: str) -> Verdict | None:
        """Return the verdict that a lead knows to be right; None for most items."""
        last = None
        for event in in_force(self.log.of_item(item_id)):
            if event.kind is EventKind.GOLD_SET:
                last = event.after if isinstance(event.after, str) else None
        return Verdict(last) if last else None

    def leases(self) -> dict[str, list[StoredLease]]:
        """Return the leases that hold now, by item."""
        held: dict[str, list[StoredLease]] = defaultdict(list)
        for lease in self.log.store.leases(time.time()):
            held[lease.item_id].append(lease)
        return held

    def _chosen(self, conversation_id: str) -> set[str]:
        chosen: set[str] = set()
        for event in self._in_force(conversation_id, EventKind.CHOSEN):
            probe_id = event.item_id.partition("/")[2]
            (chosen.add if event.after else chosen.discard)(probe_id)
        return chosen

    def _in_force(self, conversation_id: str, kind: EventKind) -> Iterable[ReviewEvent]:
        for item_id in self.log.items_of(conversation_id):
            yield from (e for e in in_force(self.log.of_item(item_id)) if e.kind is kind)


def _ability_order(ability: str) -> tuple[int, str]:
    names = ability_names()
    return (names.index(ability) if ability in names else len(names)), ability
