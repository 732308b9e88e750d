"""A paged conversation with questions, simulated turn by turn: what was resident, recalled, and right.

Accuracy is decomposed, since by itself it says little: it is residency + (1 - residency) · trigger · precision. The
reader is a selector: the best page by shared words (no model), an oracle, or chance.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from longbeam.memory.bm25 import Bm25Index, ranked
from longbeam.memory.paging.bookmarks import Format, Generator, bookmark, keywords_of
from longbeam.memory.paging.eviction import ONLINE, Need, plan_residency
from longbeam.memory.paging.pages import Page, Turn, boundary_of, cut
from longbeam.memory.paging.residency import Capacity, PagedContext
from longbeam.schemas.base import Record

Selector = Literal["lexical", "oracle", "random"]


@dataclass(frozen=True)
class Asked:
    """A question at a time: after so many turns, needing the turns with these keys."""

    text: str
    after: int
    keys: frozenset[str]
    kind: str = ""


@dataclass(frozen=True, eq=False)
class Talk:
    """A conversation and what is asked of it; equal only to itself."""

    name: str
    turns: tuple[Turn, ...]
    asked: tuple[Asked, ...]
    """In the order of time."""


class PagingConfig(Record):
    """One way to page."""

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
        """As a capacity."""
        return Capacity(tokens=self.tokens if self.pages is None else None, pages=self.pages)


class Outcome(Record):
    """What became of one question."""

    kind: str
    needed: int
    resident: int
    """Of the needed pages, those that were there without a recall."""
    triggered: bool
    recalled: int
    right: int
    """Of the recalled pages, those that were needed."""
    is_success: bool
    """Every needed page was resident or recalled."""
    context_tokens: int
    """Resident pages and bookmarks."""
    recalled_tokens: int


CountTokens = Callable[[str], int]


def simulate(talk: Talk, config: PagingConfig, count: CountTokens) -> list[Outcome]:
    """Return what becomes of each question, in order.

    `belady` with a capacity in pages is the optimum. With one in tokens, where pages differ in size, finding it is a
    knapsack: there it is the best of the planned, the furthest-need and all online policies in hindsight.
    """
    if config.eviction != "belady":
        return _run(talk, config, count)
    if config.pages is not None:
        return _run(talk, config, count, kept=_plan(talk, config, config.pages))
    average = max(sum(t.tokens for t in talk.turns) // max(len(_pages(talk, config.boundary)), 1), 1)
    about = max((config.tokens or 0) // average, 1)
    tries = [_run(talk, config, count, kept=_plan(talk, config, n)) for n in (about, about + 1)]
    tries += [_run(talk, config.model_copy(update={"eviction": p}), count) for p in ("furthest", *ONLINE)]
    return max(tries, key=lambda outcomes: sum(o.resident / max(o.needed, 1) for o in outcomes))


def _run(talk: Talk, config: PagingConfig, count: CountTokens, kept: Mapping[int, int] | None = None) -> list[Outcome]:
    needs = [Need(a.after, pages) for a, pages in zip(talk.asked, _needed(talk, config.boundary), strict=True)]
    marks = _marks(talk, config.boundary, config.bookmarks, config.form)
    sizes = {page_id: count(mark) for page_id, mark in marks.items()}
    paged = PagedContext(
        boundary_of(config.boundary), config.capacity, config.eviction, lambda page: sizes[page.page_id],
        future=needs, kept=kept or {},
    )  # fmt: skip
    outcomes, said = [], 0
    for asked, need in zip(talk.asked, needs, strict=True):
        for turn in talk.turns[said : asked.after]:
            paged.say(turn)
        said = max(said, asked.after)
        outcomes.append(_ask(asked, need, paged, marks, config, talk.name))
    return outcomes


def _ask(
    asked: Asked, need: Need, paged: PagedContext, marks: Mapping[int, str], config: PagingConfig, seed: str
) -> Outcome:
    resident = [page for page in need.pages if paged.is_resident(page)]
    missing = [page for page in need.pages if page not in resident]
    gone = paged.evicted
    # A reader that has what it needs asks for nothing; with a model, needless recalls are counted where they happen.
    recalled = _select(asked, missing, gone, marks, config.selector, seed) if missing and gone else []
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


def _select(
    asked: Asked, missing: Sequence[int], gone: Sequence[int], marks: Mapping[int, str], selector: Selector, seed: str
) -> list[int]:
    """Return the pages that the reader recalls: as many as are missing, or none where no bookmark speaks to it."""
    if selector == "oracle":
        return list(missing)
    if selector == "random":
        rng = random.Random(f"{seed}/{asked.after}/{asked.text}")
        return rng.sample(list(gone), min(len(missing), len(gone)))
    scores = _index(tuple(marks[page] for page in gone)).scores(asked.text)
    return [gone[place] for place in ranked(scores, len(missing))]


# Questions at the end of a conversation find the same bookmarks one after the other.
@lru_cache(maxsize=256)
def _index(marks: tuple[str, ...]) -> Bm25Index:
    return Bm25Index(marks)


# A study asks for the same pages of a talk under many evictions and readers.
@lru_cache(maxsize=128)
def _pages(talk: Talk, boundary: str) -> list[Page]:
    return cut(talk.turns, boundary_of(boundary))


@lru_cache(maxsize=128)
def _marks(talk: Talk, boundary: str, generator: Generator, form: Format) -> dict[int, str]:
    pages = _pages(talk, boundary)
    words = keywords_of(pages, generator, seed=talk.name)
    return {p.page_id: bookmark(p, w, form) for p, w in zip(pages, words, strict=True)}


def _needed(talk: Talk, boundary: str) -> list[tuple[int, ...]]:
    """Return the pages that each question needs."""
    home = {key: page.page_id for page in _pages(talk, boundary) for key in page.keys}
    return [tuple(sorted({home[key] for key in asked.keys if key in home})) for asked in talk.asked]


def _plan(talk: Talk, config: PagingConfig, capacity: int) -> dict[int, int]:
    created, said = [], 0
    for page in _pages(talk, config.boundary):
        created.append(said + 1)  # the page is there once its first turn is said
        said += len(page.turns)
    needed = _needed(talk, config.boundary)
    needs = [Need(asked.after, pages) for asked, pages in zip(talk.asked, needed, strict=True) if pages]
    return plan_residency(created, needs, capacity)


class AccuracyBreakdown(Record):
    """Means over questions, shares in 0 to 1."""

    questions: int
    accuracy: float
    """Every needed page was there."""
    residency: float
    """Questions whose pages were all resident."""
    trigger: float
    """Of the others, those for which something was recalled."""
    precision: float
    """Of those, the ones that got every missing page."""
    context_tokens: float
    recalled_tokens: float


def break_down_accuracy(outcomes: Iterable[Outcome]) -> AccuracyBreakdown:
    """Return the means; accuracy = residency + (1 - residency) · trigger · precision holds exactly."""
    rows = list(outcomes)
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
