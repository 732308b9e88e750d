"""Pages in and out of a context of limited size, and the eviction policies.

Three that know the past, and a clairvoyant upper bound.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from longbeam.errors import UserError
from longbeam.memory.paging.pages import Boundary, Page, Turn

ONLINE = ("fifo", "lru", "lfu")
POLICIES = (*ONLINE, "belady")
"""Policies that the ablation compares."""


@dataclass(frozen=True)
class Need:
    """Pages that a question needs."""

    after: int
    """Turns before the question."""
    pages: tuple[int, ...]
    """Page ids."""


@dataclass
class History:
    """The references to pages so far: all that an online policy may look at."""

    references: dict[int, list[int]] = field(default_factory=dict)
    """Times at which a question or a recall used a page, by page id."""
    created: dict[int, int] = field(default_factory=dict)
    """Time at which each page was complete; for `lru` that is its first use."""

    def refer(self, pages: Sequence[int], time: int) -> None:
        """Add a reference to each page."""
        for page in pages:
            self.references.setdefault(page, []).append(time)


@dataclass(frozen=True)
class Foresight:
    """Knowledge of the future, for clairvoyant policies."""

    future: Sequence[Need] = ()
    """Questions still to come, for `furthest`."""
    kept: Mapping[int, int] = field(default_factory=dict)
    """For `belady`: the time until which each page stays, from `plan_residency`."""
    now: int = 0


NO_FORESIGHT = Foresight()


def victim_of(policy: str, candidates: Sequence[int], history: History, foresight: Foresight = NO_FORESIGHT) -> int:
    """Return the page to evict; `candidates` are the resident pages by id, oldest first.

    Raises UserError for an unknown policy.
    """
    seen = history.references
    match policy:
        case "fifo":
            return candidates[0]
        case "lru":
            return min(candidates, key=lambda p: (max(history.created.get(p, -1), *seen.get(p, [-1])[-1:]), p))
        case "lfu":
            return min(candidates, key=lambda p: (len(seen.get(p, ())), p))
        case "furthest":
            return max(candidates, key=lambda p: (_next_need(p, foresight.future), -p))
        case "belady":
            return min(candidates, key=lambda p: (foresight.kept.get(p, foresight.now), p))
    raise UserError(f"eviction {policy!r} is unknown; there are {', '.join(POLICIES)} and furthest")


def _next_need(page: int, future: Sequence[Need]) -> float:
    return next((need.after for need in future if page in need.pages), float("inf"))


def plan_residency(created: Sequence[int], needs: Sequence[Need], capacity: int) -> dict[int, int]:
    """Return the time until which each page stays, so that resident pages meet as many needs as possible.

    `created[i]` is the time at which page i + 1 began, in rising order. A new page is always resident at first, and at
    most `capacity` pages are resident at once. No policy does better, online or not. The plan is a flow of `capacity`
    units through time: a unit that holds a page through a span of time earns the needs that the page meets in it. A
    need of several pages earns a share for each of them.
    """
    ends = [*created[1:], max([*created, *(need.after for need in needs)], default=0) + 1]
    graph: nx.DiGraph[tuple[str, int, int]] = nx.DiGraph()
    last = len(created)
    graph.add_node(("time", 0, 0), demand=-capacity)
    graph.add_node(("time", last, 0), demand=capacity)
    for slot in range(last):
        graph.add_edge(("time", slot, 0), ("time", slot + 1, 0), capacity=capacity, weight=0)
    earned = _earned_by_slot(created, ends, needs)
    # A new page is resident whether it earns anything or not, so holding it in its first slot outweighs all needs.
    forced = _UNIT * (len(needs) + 1) * 2
    for page in range(last):
        source = ("time", page, 0)
        # A page is evicted right after it earned something, or at once, so the slots between need no nodes.
        for slot in _slots(page, earned):
            gain = earned[page].get(slot, 0) + (forced if slot == page else 0)
            target = ("page", page, slot + 1)
            graph.add_edge(source, target, capacity=1, weight=-gain)
            graph.add_edge(target, ("time", slot + 1, 0), capacity=1, weight=0)
            source = target
    flow = nx.min_cost_flow(graph)
    until: dict[int, int] = {}
    for page in range(last):
        source = ("time", page, 0)
        until[page + 1] = created[page]
        for slot in _slots(page, earned):
            if not flow[source].get(("page", page, slot + 1), 0):
                break
            until[page + 1] = ends[slot]
            source = ("page", page, slot + 1)
    return until


_UNIT = 10_080
"""Earning of a need: a multiple of 1 to 10, so that the shares of up to ten pages are whole numbers."""


def _earned_by_slot(created: Sequence[int], ends: Sequence[int], needs: Sequence[Need]) -> list[dict[int, int]]:
    """Return what each page earns in each slot of time, by the needs that fall into the slot."""
    earned: list[dict[int, int]] = [{} for _ in created]
    for need in needs:
        slot = bisect_right(ends, need.after)
        for page in (p - 1 for p in need.pages):
            if slot >= page and need.after >= created[page]:
                earned[page][slot] = earned[page].get(slot, 0) + _UNIT // len(need.pages)
    return earned


def _slots(page: int, earned: Sequence[Mapping[int, int]]) -> list[int]:
    """Return the slots of a page: the one in which it is new, and those in which it earns."""
    return sorted({page, *earned[page]})


@dataclass(frozen=True)
class Capacity:
    """How much may be resident: tokens of pages and bookmarks, or a number of pages, as in the paper."""

    tokens: int | None = None
    pages: int | None = None


@dataclass
class PagedContext:
    """The pages of a conversation so far, and which of them are resident. The open page always is."""

    boundary: Boundary
    capacity: Capacity
    policy: str
    bookmark_tokens: Callable[[Page], int] = field(default=lambda page: 0)
    """Tokens of a page's bookmark, which count against a capacity in tokens."""
    future: Sequence[Need] = ()
    """All questions with the pages they need, for clairvoyant policies."""
    kept: Mapping[int, int] = field(default_factory=dict)
    """For `belady`: the time until which each page stays."""
    history: History = field(default_factory=History)
    pages: dict[int, Page] = field(default_factory=dict)
    """All pages but the open one, by id."""
    resident: list[int] = field(default_factory=list)
    """Ids of resident pages but the open one, oldest first."""
    open_turns: list[Turn] = field(default_factory=list)
    time: int = 0
    """Turns so far."""
    _page_tokens: int = 0
    _bookmark_tokens: int = 0

    def add(self, turn: Turn) -> None:
        """Add the next turn, and evict pages until the rest fits."""
        if self.open_turns and self.boundary(self.open_turns, turn):
            page = Page(len(self.pages) + 1, tuple(self.open_turns))
            self.pages[page.page_id] = page
            self.resident.append(page.page_id)
            self.history.created[page.page_id] = self.time
            self._page_tokens += page.tokens
            self.open_turns = []
        self.open_turns.append(turn)
        self.time += 1
        while self.resident and not self._fits():
            self._evict()

    @property
    def open_page(self) -> Page:
        """The newest page, to which turns are still added."""
        return Page(len(self.pages) + 1, tuple(self.open_turns))

    @property
    def evicted(self) -> list[int]:
        """Ids of the evicted pages, oldest first; their bookmarks stay."""
        here = set(self.resident)
        return [page_id for page_id in self.pages if page_id not in here]

    @property
    def tokens(self) -> int:
        """Tokens of resident pages, bookmarks and the open page."""
        return self._page_tokens + self._bookmark_tokens + sum(turn.tokens for turn in self.open_turns)

    def is_resident(self, page_id: int) -> bool:
        """Whether a page can be read without a recall."""
        return page_id in self.resident or page_id == len(self.pages) + 1

    def refer(self, page_ids: Sequence[int]) -> None:
        """Add a reference to each page by a question, or by a recall for it."""
        self.history.refer(page_ids, self.time)

    def _fits(self) -> bool:
        if self.capacity.pages is not None:
            return len(self.resident) + 1 <= self.capacity.pages
        return self.capacity.tokens is None or self.tokens <= self.capacity.tokens

    def _evict(self) -> None:
        ahead = [need for need in self.future if need.after >= self.time]
        victim = victim_of(self.policy, self.resident, self.history, Foresight(ahead, self.kept, self.time))
        self.resident.remove(victim)
        self._page_tokens -= self.pages[victim].tokens
        self._bookmark_tokens += self.bookmark_tokens(self.pages[victim])
