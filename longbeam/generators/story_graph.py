"""The events of a stage as a graph: what is wrong with it, and the day of each event.

`after` links limit the days between two events, and an event may want a workday or a weekend. The earlier days of two
solutions are a solution too, so that propagation decides: if it leaves each event a day, the first days left hold
(Jeavons and Cooper 1995, "Tractable constraints on ordered domains").
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import networkx as nx

from longbeam.prompts.calls import OpenOn, StoryEvent
from longbeam.schemas import CLOSING, BulletKind
from longbeam.text import content_words

Constraints = Any  # networkx has no types: a DiGraph whose edge u -> v says day(v) - day(u) <= weight
Days = dict[str, list[int]]
"""Days that each event can have, in order, counted from the window's first day."""
SATURDAY, SUNDAY = 5, 6
"""Numbers of the days that end a week, from Monday."""
_FIRST_DAY = "the first day"
"""Node of a window's first day; no event has this id."""
OPENING, SIDE = "opening", "side"


@dataclass(frozen=True)
class Window:
    """The days in which the events of a stage are told."""

    first: dt.date
    last: dt.date
    going_on_until: dt.date
    """Last day that the events before the ending can have."""
    closing_from: dt.date
    """First day of the events that end the story."""
    country: str = ""
    """Country whose holidays close offices; empty where nothing is known of it."""
    spread_until: dt.date | None = None
    """Day up to which the events before the ending are spread; a plan's later messages use the days behind it. None:
    the last one that they can have."""

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
    loose = {"after": (), "on": None, "open_on": OpenOn.ANY}
    while True:
        try:
            return with_days(kept, window, placed), tuple(reasons)
        except DayConflict as exc:
            reasons.append(str(exc))
            bound = [i for i, e in enumerate(kept) if e.event_id in exc.event_ids and e.model_copy(update=loose) != e]
            kept[bound[-1]] = kept[bound[-1]].model_copy(update=loose)


@dataclass(frozen=True)
class _Scheduler:
    events: tuple[StoryEvent, ...]
    window: Window
    placed: Mapping[str, dt.date]

    @cached_property
    def _own(self) -> dict[str, StoryEvent]:
        return {e.event_id: e for e in self.events}

    def scheduled(self) -> tuple[StoryEvent, ...]:
        """Return the events with days: each in turn has the one nearest to its target that leaves all others one."""
        order = self._topological()
        days = self._narrowed(self._open_days(self.events))
        if not days:
            raise self._conflict()
        for event_id, target in zip(order, self._targets(order), strict=True):
            nearest = sorted((abs(day - target), day) for day in days[event_id])
            days = next(left for _, day in nearest if (left := self._narrowed({**days, event_id: [day]})))
        dated = [self._own[i].model_copy(update={"day": self._day(days[i][0])}) for i in order]
        return tuple(sorted(dated, key=lambda e: days[e.event_id]))

    def _open_days(self, events: Iterable[StoryEvent]) -> Days:
        """Return the days on which each event could be told without the others."""
        days = {_FIRST_DAY: [0]}
        for event in events:
            low, high = self._bounds(event)
            own = (d for d in range(low, high + 1) if self.window.is_open(self._day(d), event.open_on))
            days[event.event_id] = list(own)
        return days

    def _narrowed(self, days: Days) -> Days:
        """Return the days without those that the limits rule out; nothing if an event has none left."""
        days, before = dict(days), -1
        while before != (before := sum(map(len, days.values()))):
            for one, other, most in self._limits:
                if one in days and other in days:
                    if not (days[one] and days[other]):
                        return {}
                    earliest, latest = days[other][0] - most, days[one][-1] + most
                    days[one] = days[one][bisect_left(days[one], earliest) :]
                    days[other] = days[other][: bisect_right(days[other], latest)]
        return days if all(days.values()) else {}

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

    @cached_property
    def _limits(self) -> tuple[tuple[str, str, int], ...]:
        """Two events each, and the most days by which the second lies behind the first."""
        return tuple(limit for event in self.events for limit in self._limits_of(event))

    def _limits_of(self, event: StoryEvent) -> Iterator[tuple[str, str, int]]:
        low, high = self._bounds(event)
        yield _FIRST_DAY, event.event_id, high
        yield event.event_id, _FIRST_DAY, -low
        for link in event.after:
            other, since = link.event, 0
            if other not in self._own:
                if other not in self.placed:
                    continue
                other, since = _FIRST_DAY, (self.placed[other] - self.window.first).days
            yield event.event_id, other, -(since + link.least)
            if link.most is not None:
                yield other, event.event_id, since + link.most

    def _bounds(self, event: StoryEvent) -> tuple[int, int]:
        """Return the first and the last day of an event without its links, counted from the window's first day."""
        if event.on is not None:
            day = (event.on - self.window.first).days
            return day, day
        if event.part == CLOSING:
            return (self.window.closing_from - self.window.first).days, self.window.days
        if event.part == OPENING:
            return 0, 0
        return 0, (self.window.going_on_until - self.window.first).days

    def _conflict(self) -> DayConflict:
        """Return a conflict that says how many days the events of a circle lack, or which open days are missing."""
        graph: Constraints = nx.DiGraph()
        for one, other, most in self._limits:
            before = graph.get_edge_data(one, other, {"weight": most})["weight"]
            graph.add_edge(one, other, weight=min(before, most))  # the narrowest limit counts
        if not (circle := _negative_circle(graph)):
            return self._closed()
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
        days = f"{lacking} day{'s' if lacking > 1 else ''} too many"
        return DayConflict(ids, f"{told} cannot all hold: the days between them are {days}{place}")

    def _targets(self, order: Sequence[str]) -> Iterator[int]:
        """Yield the days on which the events would be told without any constraint: evenly spread, the ending behind."""
        endings = sum(self._own[i].part == CLOSING for i in order)
        begin = (self.window.closing_from - self.window.first).days
        room, count = (
            ((self.window.spread_until or self.window.going_on_until) - self.window.first).days,
            len(order) - endings,
        )
        going, ended = 0, 0
        for event_id in order:
            if self._own[event_id].part == CLOSING:
                yield begin + (self.window.days - begin) * ended // max(endings - 1, 1)
                ended += 1
            else:
                yield room * going // max(count - 1, 1)
                going += 1

    def _closed(self) -> DayConflict:
        """Return a conflict that names the fewest events whose links leave them no open days."""
        needed = list(self.events)
        for event in self.events:
            rest = [e for e in needed if e is not event]
            if not self._narrowed(self._open_days(rest)):
                needed = rest
        room = self._narrowed(self._open_days(e.model_copy(update={"open_on": OpenOn.ANY}) for e in needed))
        wanting = [e for e in needed if e.open_on is not OpenOn.ANY]
        shut = [e for e in wanting if not any(self.window.is_open(self._day(d), e.open_on) for d in room[e.event_id])]
        named = shut[:1] or wanting
        wants = "; ".join(
            f"{e.event_id} wants a {e.open_on}, and {self._day(own[0])} to {self._day(own[-1])}, which others leave it"
            for e, own in ((e, room[e.event_id]) for e in named)
        )
        reason = f"{wants}, has none" if shut else f"{wants}: no such days keep their links"
        return DayConflict([e.event_id for e in named], reason)


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
