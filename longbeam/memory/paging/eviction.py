"""Which page goes when there is no room: three policies that know the past, and a clairvoyant one as the ceiling.

A page that was evicted does not come back: what `recall` brings is seen for one question (memory-systems.md 4.1). For
such a store Belady's rule, to evict what is needed furthest in the future, is not optimal: it gives up a page that
is needed thrice for one that is needed once and sooner. `belady` here is the optimum itself, found as a flow; the
paper's rule is `furthest`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from longbeam.errors import UserError

ONLINE = ("fifo", "lru", "lfu")
POLICIES = (*ONLINE, "belady")
"""Of the ablation."""


@dataclass(frozen=True)
class Need:
    """A question that needs pages, at a time: after so many turns have been said."""

    after: int
    pages: tuple[int, ...]


@dataclass
class History:
    """What a policy may look at."""

    references: dict[int, list[int]] = field(default_factory=dict)
    """Of each page, the times at which a question or a recall referred to it."""

    def refer(self, pages: Sequence[int], time: int) -> None:
        """Note that pages were referred to."""
        for page in pages:
            self.references.setdefault(page, []).append(time)


def victim_of(
    policy: str,
    candidates: Sequence[int],
    history: History,
    *,
    future: Sequence[Need] = (),
    kept: Mapping[int, int] | None = None,
    now: int = 0,
) -> int:
    """Return which of the resident pages (by page id, oldest first) goes.

    `future` are the questions still to come, for `furthest`; `kept` is the plan of `plan_residency` for `belady`:
    of each page, the time until which it stays.
    """
    seen = history.references
    match policy:
        case "fifo":
            return candidates[0]
        case "lru":
            return min(candidates, key=lambda p: (seen.get(p, [-1])[-1], p))
        case "lfu":
            return min(candidates, key=lambda p: (len(seen.get(p, ())), p))
        case "furthest":
            return max(candidates, key=lambda p: (_next_need(p, future), -p))
        case "belady":
            plan = kept or {}
            return min(candidates, key=lambda p: (plan.get(p, now), p))
    raise UserError(f"eviction {policy!r} is unknown; there are {', '.join(POLICIES)} and furthest")


def _next_need(page: int, future: Sequence[Need]) -> float:
    return next((need.after for need in future if page in need.pages), float("inf"))


def plan_residency(created: Sequence[int], needs: Sequence[Need], capacity: int) -> dict[int, int]:
    """Return until when each page stays so that as many needs as can be are met by resident pages.

    `created[i]` is the time at which page i + 1 began, never going back; a new page is always resident at first, and
    at most `capacity` pages are at once. The optimum of all policies, online or not: a flow of `capacity` slots
    through time, in which holding a page through a span of time earns the needs that it meets in it. A need of
    several pages earns a share for each.
    """
    ends = [*created[1:], max([*created, *(need.after for need in needs)], default=0) + 1]
    graph: nx.DiGraph[tuple[str, int, int]] = nx.DiGraph()
    last = len(created)
    graph.add_node(("time", 0, 0), demand=-capacity)
    graph.add_node(("time", last, 0), demand=capacity)
    for slot in range(last):
        graph.add_edge(("time", slot, 0), ("time", slot + 1, 0), capacity=capacity, weight=0)
    earned = _earned_by_slot(created, ends, needs)
    # A new page is resident whatever it earns; the newest are the slots that everybody has to give.
    forced = _UNIT * (len(needs) + 1) * 2
    for page in range(last):
        source = ("time", page, 0)
        # A page is let go when it has earned something, or at once: the slots between need no nodes of their own.
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
"""What a need earns: its shares for up to ten pages are whole numbers."""


def _earned_by_slot(created: Sequence[int], ends: Sequence[int], needs: Sequence[Need]) -> list[dict[int, int]]:
    """Of each page, by slot of time, what the needs that fall into it earn."""
    earned: list[dict[int, int]] = [{} for _ in created]
    for need in needs:
        slot = bisect_right(ends, need.after)
        for page in (p - 1 for p in need.pages):
            if slot >= page and need.after >= created[page]:
                earned[page][slot] = earned[page].get(slot, 0) + _UNIT // len(need.pages)
    return earned


def _slots(page: int, earned: Sequence[Mapping[int, int]]) -> list[int]:
    """The slots of a page: that in which it is new, and those in which it earns."""
    return sorted({page, *earned[page]})
