"""Bookmarks written by a model, for the three generators of the paper that ask one; rules are the default.

`contextual` asks for one page at a time and shows a digest of the others. `batch` asks for all pages at once and wants
no word twice. `hybrid` asks for one word a page beside the heuristic ones. Rules fill in what the model leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from longbeam.errors import ReplyError
from longbeam.memory.base import Tools, in_order
from longbeam.memory.paging.bookmarks import MOST_KEYWORDS, Generator, keywords_of
from longbeam.memory.paging.pages import Page
from longbeam.prompts.calls.memory import BookmarkPagesInputs, BookmarkPagesReply, PageToBookmark

ASKING: tuple[Generator, ...] = ("contextual", "batch", "hybrid")
"""Generators that ask a model, in the paper."""
_AT_ONCE = 50
"""Pages in one call: those of a conversation of ten million tokens fit no window."""
_TURN_CHARS = 300
"""Characters that a call shows of each turn."""
_OTHERS_SHOWN = 200
"""Bookmarks of other pages that `contextual` shows: the nearest."""


class Bookmarker:
    """Asks a model for keywords; counts its calls, and the failed ones among them."""

    def __init__(self, generator: Generator, tools: Tools) -> None:
        self._generator = generator
        self._tools = tools
        self.calls = 0
        self.failed = 0

    async def keywords_of(self, pages: Sequence[Page]) -> list[tuple[str, ...]]:
        """Return at most five keywords for each page, in order."""
        rules = keywords_of(pages, self._generator, seed=self._tools.rng_key)
        heuristic = keywords_of(pages, "heuristic", seed=self._tools.rng_key)
        if self._generator == "contextual":
            found = await in_order(partial(self._alone, pages, i, heuristic) for i in range(len(pages)))
        else:
            starts = range(0, len(pages), _AT_ONCE)
            found = await in_order(partial(self._together, pages[i : i + _AT_ONCE], heuristic) for i in starts)
        asked = {page_id: words for part in found for page_id, words in part.items()}
        return [
            self._joined(asked.get(page.page_id, ()), own, ruled)
            for page, own, ruled in zip(pages, heuristic, rules, strict=True)
        ]

    def _joined(self, asked: Sequence[str], heuristic: Sequence[str], rules: tuple[str, ...]) -> tuple[str, ...]:
        if not asked:
            return rules
        words = [*asked[:1], *heuristic] if self._generator == "hybrid" else asked
        return tuple(dict.fromkeys(words))[:MOST_KEYWORDS]

    async def _alone(
        self, pages: Sequence[Page], place: int, digests: Sequence[Sequence[str]]
    ) -> Mapping[int, tuple[str, ...]]:
        near = range(max(0, place - _OTHERS_SHOWN // 2), min(len(pages), place + _OTHERS_SHOWN // 2 + 1))
        others = tuple(f"p{pages[i].page_id}: {', '.join(digests[i])}" for i in near if i != place)
        return await self._ask((pages[place],), others, MOST_KEYWORDS)

    async def _together(self, pages: Sequence[Page], digests: Sequence[Sequence[str]]) -> Mapping[int, tuple[str, ...]]:
        if self._generator == "batch":
            return await self._ask(pages, (), MOST_KEYWORDS)
        first = pages[0].page_id - 1
        own = tuple(f"p{p.page_id}: {', '.join(digests[first + i])}" for i, p in enumerate(pages))
        return await self._ask(pages, own, 1)

    async def _ask(self, pages: Sequence[Page], others: tuple[str, ...], most: int) -> Mapping[int, tuple[str, ...]]:
        inputs = BookmarkPagesInputs(
            pages=tuple(PageToBookmark(page_id=page.page_id, text=_shown(page)) for page in pages),
            others=others,
            most=most,
        )
        self.calls += 1
        place = f"{self._generator}/p{pages[0].page_id}"
        try:
            reply: BookmarkPagesReply = await self._tools.asker.structured("bookmark_pages", inputs, place=place)
        except ReplyError:
            self.failed += 1
            return {}
        offered = {page.page_id for page in pages}
        return {
            draft.page_id: tuple(" ".join(word.split()) for word in draft.keywords if word.strip())[:most]
            for draft in reply.bookmarks
            if draft.page_id in offered
        }


def _shown(page: Page) -> str:
    lines = (f"{turn.speaker}: {' '.join(turn.text.split())}" for turn in page.turns)
    return "\n".join(line if len(line) <= _TURN_CHARS else line[:_TURN_CHARS] + "…" for line in lines)
