"""A conversation cut into pages, turn by turn; a turn is one message.

The boundaries are those of the paper's ablation (arXiv 2604.12376), and `session`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from longbeam.errors import UserError
from longbeam.text import words_of

SHIFT_WINDOW, SHIFT_BELOW = 5, 0.15
"""`topic_shift`: a page ends before a turn whose words overlap less than 0.15 (Jaccard) with those of five turns."""
BOUNDARIES = ("topic_shift", "fixed_5", "fixed_10", "exchange_5", "fixed_20")
"""The paper's five boundaries, shortest pages first."""


@dataclass(frozen=True)
class Turn:
    """One message as paging sees it."""

    key: str
    speaker: str
    text: str
    tokens: int
    is_user: bool
    session: int = 0


@dataclass(frozen=True)
class Page:
    """Consecutive turns."""

    page_id: int
    """From 1, dense."""
    turns: tuple[Turn, ...]

    @property
    def text(self) -> str:
        """The page's text: a line for each turn, with its speaker."""
        return "\n".join(f"{turn.speaker}: {turn.text}" for turn in self.turns)

    @property
    def tokens(self) -> int:
        """Tokens of its turns."""
        return sum(turn.tokens for turn in self.turns)

    @property
    def keys(self) -> tuple[str, ...]:
        """Message keys of its turns."""
        return tuple(turn.key for turn in self.turns)


Boundary = Callable[[Sequence[Turn], Turn], bool]
"""Whether the next turn begins a new page, given the turns of the open page (at least one) and the next turn."""


def boundary_of(name: str) -> Boundary:
    """Return a boundary by name; UserError for an unknown one.

    `fixed_N` turns, `exchange_N` exchanges, `tokens_N` tokens, `session`, `topic_shift`.
    """
    counted = re.fullmatch(r"(fixed|exchange|tokens)_([1-9]\d{0,3})", name)
    if counted is not None:
        return _COUNTED[counted[1]](int(counted[2]))
    if name == "session":
        return lambda page, turn: turn.session != page[-1].session
    if name == "topic_shift":
        return _topic_shift
    raise UserError(f"boundary {name!r}: write fixed_N, exchange_N, tokens_N (1 to 9999), session or topic_shift")


def cut(turns: Iterable[Turn], boundary: Boundary) -> list[Page]:
    """Return all turns on pages, each once, in order."""
    pages: list[Page] = []
    open_page: list[Turn] = []
    for turn in turns:
        if open_page and boundary(open_page, turn):
            pages.append(Page(len(pages) + 1, tuple(open_page)))
            open_page = []
        open_page.append(turn)
    return [*pages, Page(len(pages) + 1, tuple(open_page))] if open_page else pages


def _fixed(most: int) -> Boundary:
    return lambda page, turn: len(page) >= most


def _exchanges(most: int) -> Boundary:
    def begins(page: Sequence[Turn], turn: Turn) -> bool:
        # An exchange begins with a turn of the user that follows one of the other side.
        openings = sum(1 for i, t in enumerate(page) if t.is_user and (not i or not page[i - 1].is_user))
        return turn.is_user and not page[-1].is_user and openings >= most

    return begins


def _tokens(most: int) -> Boundary:
    return lambda page, turn: sum(t.tokens for t in page) + turn.tokens > most


_COUNTED: dict[str, Callable[[int], Boundary]] = {"fixed": _fixed, "exchange": _exchanges, "tokens": _tokens}


def _topic_shift(page: Sequence[Turn], turn: Turn) -> bool:
    # The paper compares with the five turns before, across page ends. Here only turns of the open page count: those
    # before it belong to the topic that ended.
    before = {word for t in page[-SHIFT_WINDOW:] for word in words_of(t.text)}
    now = set(words_of(turn.text))
    union = before | now
    return bool(union) and len(before & now) / len(union) < SHIFT_BELOW
