"""Simulation of a paged conversation with questions, turn by turn: which pages were resident, recalled, and right.

Accuracy alone does not say why a question failed, so it is broken down: residency + (1 - residency) · trigger ·
precision. A selector stands for the reader: the best bookmark by shared words (no model), an oracle, or chance.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from longbeam.memory.paging.bookmarks import Format, Generator, bookmark, keywords_of
from longbeam.memory.paging.pages import Page, Turn, boundary_of, cut
from longbeam.memory.paging.residency import ONLINE, Capacity, Need, PagedContext, plan_residency
from longbeam.memory.retrieval import Bm25Index, ranked
from longbeam.schemas import Record

Selector = Literal["lexical", "oracle", "random"]


@dataclass(frozen=True)
class TimedQuestion:
    """A question that is asked at some point of the conversation."""

    text: str
    after: int
    """Turns before the question."""
    keys: frozenset[str]
    """Keys of the turns that the answer needs."""
    kind: str = ""


@dataclass(frozen=True, eq=False)
class Workload:
    """A conversation and the questions about it; equal only to itself, so that caches hash no turns."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[TimedQuestion, ...]
    """In the order of time."""


class PagingConfig(Record):
    """One configuration of paging."""

    boundary: str = "fixed_10"
    eviction: str = "lru"
    bookmarks: Generator = "heuristic"
    form: Format = "minimal"
    selector: Selector = "lexical"
    tokens: int | None = 2_000
    """Capacity; None counts pages."""
    pages: int | None = None

    @property
    def capacity(self) -> Capacity:
        """The capacity: pages where they are given, else tokens."""
        return Capacity(tokens=self.tokens if self.pages is None else None, pages=self.pages)


class Outcome(Record):
    """Outcome of one question."""

    kind: str
    needed: int
    resident: int
    """Needed pages that were in the context without a recall."""
    triggered: bool
    recalled: int
    right: int
    """Recalled pages that were needed."""
    is_success: bool
    """Every needed page was resident or recalled."""
    context_tokens: int
    """Tokens of resident pages and bookmarks."""
    recalled_tokens: int


CountTokens = Callable[[str], int]


def simulate(workload: Workload, config: PagingConfig, count: CountTokens) -> list[Outcome]:
    """Return the outcome of each question, in order.

    With a capacity in pages, `belady` is the optimum. With one in tokens, where pages differ in size, the optimum is a
    knapsack problem: there `belady` is the best, in hindsight, of two plans, `furthest` and all online policies.
    """
    if config.eviction != "belady":
        return _run(workload, config, count)
    if config.pages is not None:
        return _run(workload, config, count, kept=_plan(workload, config, config.pages))
    average = max(sum(t.tokens for t in workload.turns) // max(len(_pages(workload, config.boundary)), 1), 1)
    about = max((config.tokens or 0) // average, 1)
    tries = [_run(workload, config, count, kept=_plan(workload, config, n)) for n in (about, about + 1)]
    tries += [_run(workload, config.model_copy(update={"eviction": p}), count) for p in ("furthest", *ONLINE)]
    return max(tries, key=lambda outcomes: sum(o.resident / max(o.needed, 1) for o in outcomes))


def _run(
    workload: Workload, config: PagingConfig, count: CountTokens, kept: Mapping[int, int] | None = None
) -> list[Outcome]:
    needs = [
        Need(a.after, pages) for a, pages in zip(workload.questions, _needed(workload, config.boundary), strict=True)
    ]
    marks = _marks(workload, config.boundary, config.bookmarks, config.form)
    sizes = {page_id: count(mark) for page_id, mark in marks.items()}
    paged = PagedContext(
        boundary_of(config.boundary), config.capacity, config.eviction, lambda page: sizes[page.page_id],
        future=needs, kept=kept or {},
    )  # fmt: skip
    reader = _Reader(config.selector, marks, workload.name)
    outcomes, added = [], 0
    for asked, need in zip(workload.questions, needs, strict=True):
        for turn in workload.turns[added : asked.after]:
            paged.add(turn)
        added = max(added, asked.after)
        outcomes.append(_ask(asked, need, paged, reader))
    return outcomes


def _ask(asked: TimedQuestion, need: Need, paged: PagedContext, reader: _Reader) -> Outcome:
    resident = [page for page in need.pages if paged.is_resident(page)]
    missing = [page for page in need.pages if page not in resident]
    evicted = paged.evicted
    # The simulated reader recalls nothing while it has what it needs. Needless recalls happen only with a model.
    recalled = reader.select(asked, missing, evicted) if missing and evicted else []
    right = [page for page in recalled if page in missing]
    paged.refer([*resident, *right])
    return Outcome(
        kind=asked.kind,
        needed=len(need.pages),
        resident=len(resident),
        triggered=bool(recalled),
        recalled=len(recalled),
        right=len(right),
        is_success=bool(need.pages) and len(right) == len(missing),
        context_tokens=paged.tokens,
        recalled_tokens=sum(paged.pages[page].tokens for page in recalled),
    )


@dataclass(frozen=True)
class _Reader:
    """Chooses pages to recall, in place of a model."""

    selector: Selector
    marks: Mapping[int, str]
    """Bookmarks by page id."""
    seed: str

    def select(self, asked: TimedQuestion, missing: Sequence[int], evicted: Sequence[int]) -> list[int]:
        """Return at most as many pages as are missing; none if no bookmark shares a word with the question."""
        if self.selector == "oracle":
            return list(missing)
        if self.selector == "random":
            rng = random.Random(f"{self.seed}/{asked.after}/{asked.text}")
            return rng.sample(list(evicted), min(len(missing), len(evicted)))
        scores = _index(tuple(self.marks[page] for page in evicted)).scores(asked.text)
        return [evicted[place] for place in ranked(scores, len(missing))]


# Questions at the end of a conversation meet the same bookmarks one after the other.
@lru_cache(maxsize=256)
def _index(marks: tuple[str, ...]) -> Bm25Index:
    return Bm25Index(marks)


# A study cuts the same conversation again for each eviction policy and each reader.
@lru_cache(maxsize=128)
def _pages(workload: Workload, boundary: str) -> list[Page]:
    return cut(workload.turns, boundary_of(boundary))


@lru_cache(maxsize=128)
def _marks(workload: Workload, boundary: str, generator: Generator, form: Format) -> dict[int, str]:
    pages = _pages(workload, boundary)
    words = keywords_of(pages, generator, seed=workload.name)
    return {p.page_id: bookmark(p, w, form) for p, w in zip(pages, words, strict=True)}


def _needed(workload: Workload, boundary: str) -> list[tuple[int, ...]]:
    """Return the pages that each question needs, in the order of the questions."""
    home = {key: page.page_id for page in _pages(workload, boundary) for key in page.keys}
    return [tuple(sorted({home[key] for key in asked.keys if key in home})) for asked in workload.questions]


def _plan(workload: Workload, config: PagingConfig, capacity: int) -> dict[int, int]:
    created, said = [], 0
    for page in _pages(workload, config.boundary):
        created.append(said + 1)  # the page is there once its first turn is said
        said += len(page.turns)
    needed = _needed(workload, config.boundary)
    needs = [Need(asked.after, pages) for asked, pages in zip(workload.questions, needed, strict=True) if pages]
    return plan_residency(created, needs, capacity)


class AccuracyBreakdown(Record):
    """Means over questions, shares in 0 to 1."""

    questions: int
    accuracy: float
    """Share of questions whose needed pages were all resident or recalled."""
    residency: float
    """Share of questions whose needed pages were all resident."""
    trigger: float
    """Share of the other questions for which a page was recalled."""
    precision: float
    """Share of the questions with a recall that got every missing page."""
    context_tokens: float
    recalled_tokens: float


def break_down_accuracy(outcomes: Iterable[Outcome]) -> AccuracyBreakdown:
    """Return the means; accuracy = residency + (1 - residency) · trigger · precision holds exactly."""
    rows = list(outcomes)
    # A question whose needed pages are resident is answered without a recall, so triggers are counted over the rest.
    there = [o for o in rows if o.needed and o.resident == o.needed]
    absent = [o for o in rows if not (o.needed and o.resident == o.needed)]
    asked = [o for o in absent if o.triggered]
    return AccuracyBreakdown(
        questions=len(rows),
        accuracy=_share([o.is_success for o in rows]),
        residency=len(there) / len(rows) if rows else 0.0,
        trigger=_share([o.triggered for o in absent]),
        precision=_share([o.is_success for o in asked]),
        context_tokens=_share([o.context_tokens for o in rows]),
        recalled_tokens=_share([o.recalled_tokens for o in rows]),
    )


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
