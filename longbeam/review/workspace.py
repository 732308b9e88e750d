"""The workspace of a review: a benchmark's conversations, its review log, and the state of each item.

States are folded when they are asked for and kept until the log grows. The workspace also decides which probes are
under review: the selected ones, and for each rejected probe the next candidate of its ability.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from threading import RLock

from pydantic import JsonValue

from longbeam.abilities import ability_names
from longbeam.keys import ItemId
from longbeam.review.archive import Archive, OpenConversation
from longbeam.review.log import BENCHMARK_ITEM, ActContent, ReviewLog, new_event
from longbeam.review.rubric_trial import RubricJudge, RubricTrial, try_rubric
from longbeam.review.state import ItemState, ItemStatus, in_force
from longbeam.schemas import EventKind, Finding, Probe, ReviewEvent, ReviewSettings, Verdict
from longbeam.store import Benchmark, ReviewStore, StoredLease

SETTINGS_OWNER = "longbeam"
"""Reviewer of events that record settings of the command line."""


class Entry(StrEnum):
    """Way in which a probe came into the review."""

    SEALED = "sealed"
    MOVED_UP = "moved_up"
    """It took the place of a rejected probe."""
    CHOSEN = "chosen"
    """A reviewer took it in from the pool."""
    WRITTEN = "written"
    """A reviewer wrote it by hand."""


def entries_of(
    candidates: Sequence[Probe],
    status_of: Callable[[str], ItemStatus],
    chosen: Collection[str],
    written: Collection[str],
) -> dict[str, Entry]:
    """Return the probes of one ability that are under review, rejected ones included, and how each came in.

    `candidates` are all probes of the ability, best first, hand-written ones included. The number of probes that are
    not rejected stays the number that was sealed as selected: chosen and hand-written probes fill the places of
    rejected ones first, then the next candidates by rank.
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


class Workspace:
    """One benchmark under review; safe to use from several threads."""

    def __init__(self, archive: Archive, log: ReviewLog, judge: RubricJudge | None = None) -> None:
        self.archive = archive
        self.log = log
        self.judge = judge
        """Judge of rubric trials; None where nobody edits, as in exports."""
        self.is_checking = False
        """Whether the checks run on the benchmark just now, in a process of their own."""
        self.acting = RLock()
        """Held while an act is checked and appended: of two requests on one version only the first may pass."""
        self._lock = RLock()
        self._states: dict[str, tuple[tuple[int, int, str, tuple[str, ...]], ItemState]] = {}
        self._probes: dict[str, tuple[tuple[int, int], dict[str, Probe]]] = {}
        self._by_subject: tuple[int, dict[tuple[str, str], list[Finding]]] = (0, {})
        self._settings: tuple[int, ReviewSettings] = (-1, ReviewSettings())
        self._written: dict[str, tuple[int, dict[str, Probe]]] = {}
        self._trials: dict[tuple[str, str, tuple[int, int]], RubricTrial] = {}
        self._entries: dict[str, tuple[tuple[int, int, tuple[int, int]], dict[str, Entry]]] = {}
        log.refresh()

    @property
    def settings(self) -> ReviewSettings:
        """Settings in force."""
        position = self.log.position
        if self._settings[0] != position:
            self._settings = position, self.log.settings()
        return self._settings[1]

    def conversation(self, conversation_id: str) -> OpenConversation:
        """Return a sealed conversation; KeyError if there is none."""
        return self.archive.conversation(conversation_id)

    def probes(self, conversation_id: str) -> dict[str, Probe]:
        """Return the sealed candidates of a conversation by id; KeyError if it is not sealed.

        They stay in memory when the archive closes the file.
        """
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
        try:
            conversation_id, probe_id = ItemId.parse(item_id)
        except ValueError as exc:
            raise KeyError(item_id) from exc
        sealed = self.probes(conversation_id).get(probe_id)
        return sealed if sealed is not None else self.written(conversation_id)[probe_id]

    def state(self, item_id: str) -> ItemState:
        """Return the state of an item; KeyError if there is none."""
        return self._state(item_id, self.base(item_id))

    def entry_states(self, conversation_id: str) -> dict[str, tuple[ItemState, Entry]]:
        """Return state and entry of every item of a conversation; the file is looked at once, not once per item."""
        bases = {**self.written(conversation_id), **self.probes(conversation_id)}
        found = {}
        for probe_id, entry in self.entries(conversation_id).items():
            item_id = str(ItemId(conversation_id, probe_id))
            found[item_id] = self._state(item_id, bases[probe_id]), entry
        return found

    def _state(self, item_id: str, base: Probe) -> ItemState:
        events = self.log.of_item(item_id)
        overlap, shipped = self.settings.overlap, self.settings.shipped
        # A state depends on these and on nothing else: the log only grows.
        key = len(events), overlap, base.digest, shipped
        with self._lock:
            kept = self._states.get(item_id)
            if kept is None or kept[0] != key:
                kept = self._states[item_id] = key, ItemState(base, events, overlap, frozenset(shipped))
            return kept[1]

    def entries(self, conversation_id: str) -> dict[str, Entry]:
        """Return the probes of a conversation that are under review, by ability and rank, and how each came in."""
        stamp = self.archive.stamp(conversation_id)
        key = self.log.count_of(conversation_id), self.settings.overlap, stamp
        kept = self._entries.get(conversation_id)
        if kept is None or kept[0] != key:
            kept = self._entries[conversation_id] = key, self._fresh_entries(conversation_id)
        return kept[1]

    def _fresh_entries(self, conversation_id: str) -> dict[str, Entry]:
        written = self.written(conversation_id)
        bases = {**self.probes(conversation_id), **written}
        pools: dict[str, list[Probe]] = defaultdict(list)
        for probe in bases.values():
            pools[probe.ability].append(probe)
        chosen = self._chosen(conversation_id)

        def status_of(probe_id: str) -> ItemStatus:
            # Not `state`, which looks at the file again for every probe.
            return self._state(str(ItemId(conversation_id, probe_id)), bases[probe_id]).status

        entries: dict[str, Entry] = {}
        for ability in sorted(pools, key=_ability_order):
            entries |= entries_of(pools[ability], status_of, chosen, written)
        return entries

    def item_ids(self) -> Iterable[str]:
        """Yield the items under review, by conversation, ability and rank."""
        for conversation_id in self.archive.conversation_ids:
            for probe_id in self.entries(conversation_id):
                yield str(ItemId(conversation_id, probe_id))

    def reviewed_ids(self) -> Iterable[str]:
        """Yield the items under review, then the candidates of the pool that somebody has worked on."""
        yield from dict.fromkeys((*self.item_ids(), *self._touched()))

    def _touched(self) -> Iterable[str]:
        for conversation_id in self.archive.conversation_ids:
            known = {*self.probes(conversation_id), *self.written(conversation_id)}
            for item_id in self.log.items_of(conversation_id):
                # A conversation has events, too: its ratings.
                if item_id != conversation_id and ItemId.parse(item_id).probe_id in known:
                    yield item_id

    def findings(self, conversation_id: str, subject: str) -> list[Finding]:
        """Return the findings of `validate` on a probe, message or conversation."""
        return self.grouped_findings().get((conversation_id, subject), [])

    def grouped_findings(self) -> Mapping[tuple[str, str], list[Finding]]:
        """Return the findings of `validate` by conversation and subject."""
        findings = self.archive.findings
        # The archive returns the same list until `validate` replaces its file.
        if self._by_subject[0] != id(findings):
            grouped: dict[tuple[str, str], list[Finding]] = defaultdict(list)
            for finding in findings:
                grouped[finding.conversation_id, finding.subject].append(finding)
            self._by_subject = id(findings), grouped
        return self._by_subject[1]

    def gold_verdict(self, item_id: str) -> Verdict | None:
        """Return the verdict that a lead has set as right; None for items that are no gold items."""
        last = None
        for event in in_force(self.log.of_item(item_id)):
            if event.kind is EventKind.GOLD_SET:
                last = event.after if isinstance(event.after, str) else None
        return Verdict(last) if last else None

    def rubric_trial(self, item_id: str, probe: Probe) -> RubricTrial | None:
        """Return how the rubric of an item's probe scores right and wrong answers; None without a judge.

        Each version of a probe is tried once.
        """
        if self.judge is None:
            return None
        conversation_id = ItemId.parse(item_id).conversation_id
        key = item_id, probe.digest, self.archive.stamp(conversation_id)
        if key not in self._trials:
            others = self.probes(conversation_id).values()
            self._trials[key] = try_rubric(self.judge, probe, others)
        return self._trials[key]

    def leases(self) -> dict[str, list[StoredLease]]:
        """Return the leases that hold now, by item."""
        held: dict[str, list[StoredLease]] = defaultdict(list)
        for lease in self.log.store.leases(time.time()):
            held[lease.item_id].append(lease)
        return held

    def _chosen(self, conversation_id: str) -> set[str]:
        chosen: set[str] = set()
        for event in self._in_force(conversation_id, EventKind.CHOSEN):
            probe_id = ItemId.parse(event.item_id).probe_id
            (chosen.add if event.after else chosen.discard)(probe_id)
        return chosen

    def _in_force(self, conversation_id: str, kind: EventKind) -> Iterable[ReviewEvent]:
        for item_id in self.log.items_of(conversation_id):
            yield from (e for e in in_force(self.log.of_item(item_id)) if e.kind is kind)


@contextmanager
def open_workspace(
    benchmark: Benchmark, judge: RubricJudge, settings: Mapping[str, JsonValue] | None = None
) -> Iterator[Workspace]:
    """Yield the workspace of a benchmark; given settings that are not in force yet become events."""
    with ReviewStore(benchmark.reviews_path) as store:
        log = ReviewLog(store)
        log.refresh()
        in_force = log.settings().model_dump(mode="json")
        changed = {name: value for name, value in (settings or {}).items() if in_force[name] != value}
        log.append(
            *(
                new_event(EventKind.CONFIGURED, BENCHMARK_ITEM, SETTINGS_OWNER, ActContent(name, in_force[name], value))
                for name, value in changed.items()
            )
        )
        yield Workspace(Archive(benchmark), log, judge)


def _ability_order(ability: str) -> tuple[int, str]:
    names = ability_names()
    return (names.index(ability) if ability in names else len(names)), ability
