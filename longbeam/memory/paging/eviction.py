"""Eviction policies: three that know the past, and a clairvoyant one as the upper bound.

An evicted page never becomes resident again: a recalled page is in the context for one question only. So Belady's
rule, to evict the page needed furthest in the future, is not optimal here: it gives up a page that is needed three
times for one that is needed once and sooner. The paper's rule is `furthest`; `belady` is the optimum, found as a
minimum-cost flow.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from longbeam.errors import UserError

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
