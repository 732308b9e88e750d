"""Chooses scenes with the people around the user, and reports on them later."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Sequence, Set

from longbeam.offline.bounds import NO_BOUNDS, Bounds
from longbeam.offline.packs import Beat, Thread
from longbeam.offline.telling import StoryScene, Teller
from longbeam.schemas import Person, ValueKind

Meeting = tuple[Thread, Person, Beat]
LATER = dt.timedelta(days=20)
"""Time after which the user reports on a favour that has no date."""


class Visits:
    """Chooses meetings: a report if one is due, else a new meeting; the same person not twice in a row, if possible."""

    def __init__(self, thread: Thread, people: Sequence[Person], rng_key: str, bounds: Bounds = NO_BOUNDS) -> None:
        rng = random.Random(f"{rng_key}/people")
        self._thread = thread
        pairs = [(thread, p, b) for p in people for b in thread.beats if b.who == p.relation.value and not b.after]
        pairs = [c for c in pairs if not any(slot in bounds.settled for slot in _slots(c, c[2].fixed))]
        # A meeting that an earlier plan has told comes again only when nothing else is left.
        known = {(subject, attribute) for subject, attribute, _ in bounds.known}
        pairs = [c for c in pairs if not _is_told(c, known)] or pairs
        rng.shuffle(pairs)
        self._pairs = pairs
        self._fresh = list(pairs)
        self._due: list[tuple[dt.date, Meeting]] = []
        self._last: Person | None = None

    def next(self, day: dt.date) -> Meeting:
        """Return the meeting to tell on a day."""
        due = [entry for entry in self._due if entry[0] < day]
        report = next((entry for entry in due if entry[1][1] is not self._last), None)
        if report is not None:
            self._due.remove(report)
            meeting = report[1]
        else:
            if not self._fresh:
                # All meetings were told: those that can happen more than once are told again.
                self._pairs = [p for p in self._pairs if not p[2].fixed] or self._pairs
                self._fresh = list(self._pairs)
            waiting = {entry[1][1].person_id for entry in self._due}
            order = [c for c in self._fresh if c[1].person_id not in waiting] or self._fresh
            meeting = next((c for c in order if c[1] is not self._last), order[0])
            self._fresh.remove(meeting)
        self._last = meeting[1]
        return meeting

    def told(self, meeting: Meeting, scene: StoryScene, teller: Teller) -> None:
        """Note the reports that a meeting needs, and their days."""
        _, person, beat = meeting
        for other in self._thread.beats:
            if other.after != beat.beat:
                continue
            days = (teller.value(self._thread, person, n) for n in other.recalls)
            due = next((v.date for v in days if v is not None and v.kind is ValueKind.DATE), None)
            self._due.append((due or scene.day + LATER, (self._thread, person, other)))
            self._due.sort(key=lambda entry: entry[0])


def _slots(meeting: Meeting, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return subject and attribute of slots of the person met."""
    thread, person, _ = meeting
    return [(person.first_name, thread.slots[name].attribute) for name in names]


def _is_told(meeting: Meeting, known: Set[tuple[str, str]]) -> bool:
    beat = meeting[2]
    said = _slots(meeting, (*beat.sets, *beat.fixed, *beat.updates))
    return bool(said) and all(slot in known for slot in said)
