"""The events of a stage as a graph: what is wrong with it, and the day of each event.

`after` links are difference constraints between days. They can all hold exactly if the constraint graph has no negative
circle, and then its shortest paths bound every day; any day within these bounds, taken in topological order, leaves the
other events possible (Dechter, Meiri and Pearl 1991, "Temporal constraint networks", section 3).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import networkx as nx

from longbeam.prompts.calls import Link, OpenOn, StoryEvent
from longbeam.schemas import CLOSING, BulletKind
from longbeam.text import content_words

Constraints = Any  # networkx has no types: a DiGraph whose edge u -> v says day(v) - day(u) <= weight
SATURDAY, SUNDAY = 5, 6
"""Numbers of the days that end a week, from Monday."""
_FIRST_DAY = "the first day"
"""Node of a window's first day; no event has this id."""
OPENING, SIDE = "opening", "side"
SIDE_NARRATIVE = "On the Side"
"""Narrative of what goes on beside the story."""


@dataclass(frozen=True)
class Window:
    """The days in which the events of a stage are told."""

    first: dt.date
    last: dt.date
    going_on_until: dt.date
    """Last day of the events before the ending; a plan's later messages use the days behind it."""
    closing_from: dt.date
    """First day of the events that end the story."""
    country: str = ""
    """Country whose holidays close offices; empty where nothing is known of it."""

    @property
    def days(self) -> int:
        """Number of days behind the first one."""
        return (self.last - self.first).days

    def is_open(self, day: dt.date, open_on: OpenOn) -> bool:
        """Return whether an event that wants a workday or a weekend can happen on a day."""
        if open_on is OpenOn.ANY:
            return True
        if open_on is OpenOn.SUNDAY:
            return day.weekday() == SUNDAY
        is_weekend = day.weekday() >= SATURDAY
        return is_weekend if open_on is OpenOn.WEEKEND else not is_weekend and day not in _holidays(self.country)


@lru_cache(maxsize=64)
def _holidays(country: str) -> Any:  # Any: the library's own mapping, which makes each year when it is asked for
    import holidays  # takes 0.1 s, and few stories need it

    calendar = getattr(holidays, "".join(country.title().split()), None)
    return calendar() if calendar is not None else {}


class DayConflict(ValueError):
    """Some events cannot all have a day; the message says why, and `event_ids` which."""

    def __init__(self, event_ids: Sequence[str], reason: str) -> None:
        super().__init__(reason)
        self.event_ids = tuple(event_ids)


# --- checks -------------------------------------------------------------------------------------------------------


def event_faults(event: StoryEvent, labels: Iterable[str], earlier: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with an event alone; `earlier`: ids of the events that it may follow."""
    known = set(earlier)
    if not event.what.strip() or not event.thing.strip():
        yield f"{event.event_id} lacks its thing or what happens"
    if event.part != SIDE and event.narrative not in set(labels):
        yield f"{event.event_id} names narrative {event.narrative!r}, which is none of those given"
    for link in event.after:
        if link.event == event.event_id or link.event not in known:
            yield f"{event.event_id} comes after {link.event!r}, which is no other event"
        elif link.least < 0 or (link.most is not None and link.most < link.least):
            yield f"{event.event_id} comes {link.least} to {link.most} days after {link.event}; the first is the fewest"


def same_matter(said: str, known: Sequence[str]) -> str:
    """Return the matter that is meant, in the words with which it was opened: the only one that has the same words.

    One has the same words as another if all words of either are among the other's. Words of no such matter stay.
    """
    words = content_words(said)
    near = {m for m in known if said.casefold() == m.casefold()}
    near = near or {m for m in known if words and (own := content_words(m)) and (own <= words or words <= own)}
    return near.pop() if len(near) == 1 else said


def side_faults(event: StoryEvent, told: Iterable[StoryEvent]) -> Iterator[str]:
    """Yield what is wrong with an event of a side story, given the events of the stages before."""
    for other in told:
        if other.part == SIDE and other.thing.casefold() == event.thing.casefold():
            yield f"{event.event_id} goes on with {event.thing!r}, the side story of an earlier stage; tell another one"
            return
        if other.part == SIDE and len(event.people) > 1 and other.people == event.people:
            yield f"{event.event_id} is about {' and '.join(event.people)}, as a side story before; take somebody else"
            return


def unclosed(events: Sequence[StoryEvent], open_before: Iterable[str], stays_open: Iterable[str]) -> dict[str, str]:
    """Return the opened matters that no event closes, with the last event about each; empty: one told before."""
    still = dict.fromkeys(open_before, "")
    for event in events:
        still |= dict.fromkeys((*event.opens, *(m for m in still if m == event.thing)), event.event_id)
        for matter in event.closes:
            still.pop(matter, None)
    allowed = {matter.casefold() for matter in stays_open}
    return {matter: event_id for matter, event_id in still.items() if matter.casefold() not in allowed}


# --- days ---------------------------------------------------------------------------------------------------------


def with_days(events: Sequence[StoryEvent], window: Window, placed: Mapping[str, dt.date]) -> tuple[StoryEvent, ...]:
    """Return the events with their days, in the order in which they are told.

    `placed`: days of the events of earlier stages. Raises DayConflict if they have no days.
    """
    return _Scheduler(tuple(events), window, placed).scheduled() if events else ()


def relaxed(
    events: Sequence[StoryEvent], window: Window, placed: Mapping[str, dt.date]
) -> tuple[tuple[StoryEvent, ...], tuple[str, ...]]:
    """Return the events with days although their graph is faulty, and the reasons why links and days were left out.

    Of the events of a conflict, the one told last loses its links, its fixed day and its weekday.
    """
    kept, reasons = list(events), list[str]()
    while True:
        try:
            return with_days(kept, window, placed), tuple(reasons)
        except DayConflict as exc:
            reasons.append(str(exc))
            bound = [
                i
                for i, e in enumerate(kept)
                if e.event_id in exc.event_ids and (e.after or e.on or e.open_on is not OpenOn.ANY)
            ]
            loose = {"after": (), "on": None, "open_on": OpenOn.ANY}
            kept[bound[-1]] = kept[bound[-1]].model_copy(update=loose)


@dataclass
class _Scheduler:
    events: tuple[StoryEvent, ...]
    window: Window
    placed: Mapping[str, dt.date]
    pins: dict[str, int] = field(default_factory=dict)
    """Days of events that need an open one, where the days of others would leave them none."""

    @cached_property
    def _own(self) -> dict[str, StoryEvent]:
        return {e.event_id: e for e in self.events}

    def scheduled(self) -> tuple[StoryEvent, ...]:
        order = self._topological()
        targets = dict(zip(order, self._targets(order), strict=True))
        while True:
            distance = self._distances()
            offsets = {_FIRST_DAY: 0}
            for event_id in order:
                own = distance[event_id]
                far = 2 * self.window.days
                least = max(day - own.get(other, far) for other, day in offsets.items())
                most = min(day + distance[other].get(event_id, far) for other, day in offsets.items())
                day = self._open_day(event_id, targets[event_id], least, most)
                if day is None:
                    # The days of the others leave this one none that is open: it is fixed first, and they follow.
                    self.pins[event_id] = self._pinned(event_id, least, most)
                    break
                offsets[event_id] = day
            else:
                break
        dated = [self._own[i].model_copy(update={"day": self._day(offsets[i])}) for i in order]
        return tuple(sorted(dated, key=lambda e: offsets[e.event_id]))

    def _pinned(self, event_id: str, least: int, most: int) -> int:
        """Return the open day nearest to some bounds on which an event can be fixed; raises DayConflict without one."""
        event = self._own[event_id]
        low, high = self._bounds(event)
        for day in sorted(range(low, high + 1), key=lambda d: (max(least - d, d - most), d)):
            if self.window.is_open(self._day(day), event.open_on):
                self.pins[event_id] = day
                try:
                    self._distances()
                except DayConflict:
                    continue
                return day
        self.pins.pop(event_id, None)
        reason = (
            f"{event_id} wants a {event.open_on}, and {self._day(least)} to {self._day(most)}, which others leave it"
        )
        raise DayConflict([event_id], f"{reason}, has none")

    def _day(self, offset: int) -> dt.date:
        return self.window.first + dt.timedelta(days=offset)

    def _topological(self) -> list[str]:
        """Return the events in an order that keeps every link, the writer's own as far as possible."""
        graph: Constraints = nx.DiGraph()
        places = {e.event_id: i for i, e in enumerate(self.events)}
        graph.add_nodes_from(places)
        graph.add_edges_from((a.event, e.event_id) for e in self.events for a in e.after if a.event in places)
        try:
            return list(nx.lexicographical_topological_sort(graph, key=places.__getitem__))
        except nx.NetworkXUnfeasible:
            circle = [a for a, _ in nx.find_cycle(graph)]
            raise DayConflict(circle, f"{' comes before '.join([*circle, circle[0]])}: a circle") from None

    def _distances(self) -> dict[str, dict[str, int]]:
        """Return the shortest paths of the constraint graph: the most days from one event to another."""
        graph: Constraints = nx.DiGraph()
        for event in self.events:
            low, high = self._bounds(event)
            self._limit(graph, _FIRST_DAY, event.event_id, high)
            self._limit(graph, event.event_id, _FIRST_DAY, -low)
            for link in event.after:
                self._link(graph, event.event_id, link)
        if circle := _negative_circle(graph):
            raise self._conflict(graph, circle)
        return dict(nx.all_pairs_bellman_ford_path_length(graph))

    def _bounds(self, event: StoryEvent) -> tuple[int, int]:
        """Return the first and the last day of an event without its links, counted from the window's first day."""
        if (pin := self.pins.get(event.event_id)) is not None:
            return pin, pin
        if event.on is not None:
            day = (event.on - self.window.first).days
            return day, day
        if event.part == CLOSING:
            return (self.window.closing_from - self.window.first).days, self.window.days
        if event.part == OPENING:
            return 0, 0
        return 0, (self.window.going_on_until - self.window.first).days

    def _link(self, graph: Constraints, event_id: str, link: Link) -> None:
        if link.event in self._own:
            self._limit(graph, event_id, link.event, -link.least)
            if link.most is not None:
                self._limit(graph, link.event, event_id, link.most)
        elif (day := self.placed.get(link.event)) is not None:
            since = (day - self.window.first).days
            self._limit(graph, event_id, _FIRST_DAY, -(since + link.least))
            if link.most is not None:
                self._limit(graph, _FIRST_DAY, event_id, since + link.most)

    @staticmethod
    def _limit(graph: Constraints, one: str, other: str, most: int) -> None:
        """Note that `other` lies at most so many days behind `one`; the narrowest limit counts."""
        before = graph.get_edge_data(one, other, {"weight": most})["weight"]
        graph.add_edge(one, other, weight=min(before, most))

    def _conflict(self, graph: Constraints, circle: Sequence[str]) -> DayConflict:
        """Return a conflict that says how many days the events of a circle lack."""
        pairs = list(zip(circle, [*circle[1:], circle[0]], strict=True))
        lacking = -sum(graph[a][b]["weight"] for a, b in pairs)
        ids = [i for i in circle if i != _FIRST_DAY]
        told = ", ".join(sorted(ids, key=lambda i: [e.event_id for e in self.events].index(i)))
        place = ""
        if _FIRST_DAY in circle:
            fixed = [f"{i} on {on.isoformat()}" for i in ids if (on := self._own[i].on) is not None]
            days = f"the events of the stage have the days {self.window.first} to {self.window.going_on_until}"
            if any(e.part == CLOSING for e in self.events):
                days += f", those that tell how things came out {self.window.closing_from} to {self.window.last}"
            place = f"; {days}" + (f", and {', '.join(fixed)} is fixed" if fixed else "")
        plural = "days" if lacking > 1 else "day"
        return DayConflict(ids, f"{told} cannot all hold: the days between them are {lacking} {plural} too many{place}")

    def _targets(self, order: Sequence[str]) -> Iterator[int]:
        """Yield the days on which the events would be told without any constraint: evenly spread, the ending behind."""
        endings = sum(self._own[i].part == CLOSING for i in order)
        begin = (self.window.closing_from - self.window.first).days
        room, count = (self.window.going_on_until - self.window.first).days, len(order) - endings
        going, ended = 0, 0
        for event_id in order:
            if self._own[event_id].part == CLOSING:
                yield begin + (self.window.days - begin) * ended // max(endings - 1, 1)
                ended += 1
            else:
                yield room * going // max(count - 1, 1)
                going += 1

    def _open_day(self, event_id: str, target: int, least: int, most: int) -> int | None:
        """Return the day between two bounds that is nearest to a target and on which an event can happen."""
        near, open_on = min(max(target, least), most), self._own[event_id].open_on
        days = sorted(range(least, most + 1), key=lambda d: (abs(d - near), d)) if open_on is not OpenOn.ANY else [near]
        return next((d for d in days if self.window.is_open(self._day(d), open_on)), None)


def _negative_circle(graph: Constraints) -> list[str]:
    """Return the nodes of a circle whose weights add up to less than zero; empty if there is none.

    Bellman-Ford with a predecessor for each node: networkx 3.6 may raise for a circle that it has seen.
    """
    shortest, before = dict.fromkeys(graph, 0), dict[str, str]()
    last = ""
    for _ in range(len(graph)):
        last = ""
        for one, other, most in graph.edges(data="weight"):
            if shortest[one] + most < shortest[other]:
                shortest[other], before[other], last = shortest[one] + most, one, other
        if not last:
            return []
    node = last
    for _ in range(len(graph)):
        node = before[node]  # behind as many steps as there are nodes, one is in the circle
    circle = [node]
    while before[circle[-1]] != node:
        circle.append(before[circle[-1]])
    return circle[::-1]


def introduction(day: dt.date) -> StoryEvent:
    """Return the event with which a conversation begins: who the user is."""
    return StoryEvent(
        event_id="e0",
        narrative="",
        thing="who I am",
        what="The user says who they are and what they are about to do.",
        kind=BulletKind.INTRODUCTION,
        part=OPENING,
        day=day,
    )
