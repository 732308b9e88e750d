"""Pages in and out of a context of limited size, as the conversation grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from longbeam.memory.paging.eviction import Foresight, History, Need, victim_of
from longbeam.memory.paging.pages import Boundary, Page, Turn


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
