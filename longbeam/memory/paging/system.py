"""Cooperative paging as a memory system: resident pages, bookmarks of the others, and `recall` as a tool.

In each step (prompt `recall_step`) the reader answers or recalls pages, by a tool call where its endpoint has them. A
recalled page is in the context for that question only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from longbeam.memory.base import Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.paging.bookmarks import ASKING, Bookmarker, Format, Generator, bookmark, keywords_of
from longbeam.memory.paging.pages import Page, PageTurn, boundary_of, cut
from longbeam.memory.paging.residency import ONLINE, Capacity, PagedContext
from longbeam.memory.retrieval import Bm25Index, ranked
from longbeam.models import Asker
from longbeam.prompts.calls import RecallStepInputs, RecallStepReply
from longbeam.schemas import Context, Exchange, MessageRole, Passage, PreparationUsage, Question, Record

_RESIDENT_PAGES = 5
"""Pages that fit the capacity at least, as in the paper."""
_BOOKMARK_TOKENS = 24
"""Longest bookmark of the paper."""


class PagingSettings(Record):
    """Settings of paging."""

    boundary: str | None = None
    """`fixed_N` messages, `exchange_N` exchanges, `tokens_N` tokens, `session` or `topic_shift`; None takes pages of a
    fifth of the capacity in tokens, as in the paper, or larger ones where the bookmarks of so many pages would fill the
    capacity: up to what a recall has room for."""
    eviction: str = Field(default="lru", pattern=f"^({'|'.join(ONLINE)})$")
    bookmarks: Generator = "heuristic"
    bookmarker: Literal["rules", "model"] = "rules"
    """Author of contextual, batch and hybrid bookmarks: rules, or the extractor model, as in the paper."""
    form: Format = "minimal"
    capacity: int | None = None
    """Tokens of resident pages and bookmarks; None takes half of the budget and leaves half for recalled pages."""
    pages: int | None = Field(default=None, ge=1)
    """Capacity in pages instead, as in the paper."""
    recalls: int = Field(default=2, ge=1)
    """Calls of the tool for one question, at most; a call may name several pages, which are read while they fit."""


class PageStore:
    """All pages by id, which `recall` reads."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = {page.page_id: page for page in pages}

    def recall(self, page_ids: Sequence[int]) -> list[Page]:
        """Return the pages with these ids in order, each once; unknown ids are skipped.

        The store does not change: the same call returns the same pages.
        """
        return [self._pages[page_id] for page_id in dict.fromkeys(page_ids) if page_id in self._pages]


class Paging:
    """Pages a conversation, and answers with a recall where bookmarks are not enough."""

    def __init__(self, settings: PagingSettings, tools: Tools) -> None:
        self._settings = settings
        self._tools = tools
        self._turns: list[PageTurn] = []
        self._boundary = boundary_of(settings.boundary or self._page_size())
        self._asked: dict[int, list[Question]] = {}
        """Questions on the way, by the number of turns before them."""
        self._pages: Sequence[Page] = ()
        self._marks: dict[int, str] = {}
        self._store = PageStore(())
        self._paged: dict[Capacity, PagedContext] = {}
        self._indexes: dict[Capacity, Bm25Index] = {}
        self._bookmarker: Bookmarker | None = None

    async def add(self, exchange: Exchange) -> None:
        """Add the messages of an exchange as turns."""
        first = self._turns[0].speaker if self._turns else exchange.messages[0].speaker
        for m in exchange.messages:
            is_user = m.speaker == first if m.speaker not in {"user", "assistant"} else m.role is MessageRole.USER
            self._turns.append(PageTurn(m.message_key, m.speaker, m.content, m.tokens, is_user, m.session))

    async def finish(self) -> None:
        """Cut the pages and write their bookmarks; a question's budget decides later which pages are resident."""
        self._boundary = boundary_of(self._settings.boundary or self._page_size())
        self._pages = cut(self._turns, self._boundary)
        words = await self._keywords()
        self._marks = {p.page_id: bookmark(p, w, self._settings.form) for p, w in zip(self._pages, words, strict=True)}
        self._store = PageStore(self._pages)
        self._paged, self._indexes = {}, {}

    async def asked(self, question: Question) -> None:
        """Note a question: the page that answers it by its words counts as used, which `lru` and `lfu` go by.

        Which pages a reader really used is not known, and must not matter: a resumed evaluation replays no reader.
        """
        self._asked.setdefault(len(self._turns), []).append(question)

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the k best pages by BM25: evicted pages by their bookmarks, resident ones by their text."""
        # The same pages are resident as for the context that is scored.
        paged, pages = self._page(self._tools.budget), self._pages
        index = self._indexes.get(paged.capacity)
        if index is None:
            index = self._indexes[paged.capacity] = self._index(paged, pages)
        scores = index.scores(question.text)
        return [
            Passage(
                passage_id=f"p{pages[place].page_id}",
                text=pages[place].text,
                score=float(scores[place]),
                message_keys=pages[place].keys,
                tokens=pages[place].tokens,
            )
            for place in ranked(scores, k)
        ]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return resident pages, bookmarks, and the pages that a rule recalls by shared words."""
        paged = self._page(budget)
        builder = self._resident(paged, budget)
        self._add_recalled(builder, paged, _by_words(question.text, paged, self._marks))
        return builder.build()

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Let the reader recall pages until it answers; all pages that it reads share the budget."""
        paged = self._page(budget)
        builder = self._resident(paged, budget)
        recalled: list[int] = []
        for left in range(self._settings.recalls, -1, -1):
            inputs = RecallStepInputs(
                question=question.text,
                asked_on=question.asked_at.date(),
                context=builder.build().text,
                page_ids=tuple(p for p in paged.evicted if p not in recalled),
                recalled=tuple(recalled),
                recalls_left=left,
            )
            step: RecallStepReply = await asker.structured(
                "recall_step", inputs, place=f"step{self._settings.recalls - left}"
            )
            if not step.page_ids or not left:
                break
            recalled += self._add_recalled(builder, paged, step.page_ids)
        return step.answer, builder.build(), self._settings.recalls - left + 1

    def usage(self) -> PreparationUsage:
        """Return the calls for bookmarks, and the bytes of the store."""
        calls, failed = (self._bookmarker.calls, self._bookmarker.failed) if self._bookmarker else (0, 0)
        size = sum(len(turn.text.encode()) for turn in self._turns)
        return PreparationUsage(model_calls=calls, failed_calls=failed, index_bytes=size)

    def _page_size(self) -> str:
        """Return the default boundary for what was said so far."""
        capacity = self._settings.capacity or self._tools.budget // 2
        said = sum(turn.tokens for turn in self._turns)
        balanced = said * _BOOKMARK_TOKENS // max(capacity // 2, 1)  # bookmarks take half of the capacity
        room = (self._tools.budget - capacity) // self._settings.recalls
        return f"tokens_{min(max(1, capacity // _RESIDENT_PAGES, min(balanced, room)), 9_999)}"

    async def _keywords(self) -> list[tuple[str, ...]]:
        settings = self._settings
        if settings.bookmarker == "rules" or settings.bookmarks not in ASKING:
            return keywords_of(self._pages, settings.bookmarks, seed=self._tools.rng_key)
        self._bookmarker = Bookmarker(settings.bookmarks, self._tools)
        return await self._bookmarker.keywords_of(self._pages)

    def _page(self, budget: int) -> PagedContext:
        """Return the conversation paged for a budget; the result is kept."""
        capacity = Capacity(tokens=self._settings.capacity or budget // 2, pages=self._settings.pages)
        if capacity not in self._paged:
            count, marks = self._tools.count_tokens, self._marks
            paged = PagedContext(self._boundary, capacity, self._settings.eviction, lambda p: count(marks[p.page_id]))
            for number, turn in enumerate(self._turns):
                for question in self._asked.get(number, ()):
                    self._refer(paged, question)
                paged.add(turn)
            self._paged[capacity] = paged
        return self._paged[capacity]

    def _refer(self, paged: PagedContext, question: Question) -> None:
        """Count the page as used that has most of a question's words: a resident page, or a bookmark."""
        pages = [*paged.pages.values(), paged.open_page]
        if best := ranked(self._index(paged, pages).scores(question.text), 1):
            paged.refer([pages[best[0]].page_id])

    def _index(self, paged: PagedContext, pages: Sequence[Page]) -> Bm25Index:
        return Bm25Index([p.text if paged.is_resident(p.page_id) else self._marks[p.page_id] for p in pages])

    def _resident(self, paged: PagedContext, budget: int) -> ContextBuilder:
        """Return a context of the open page, the resident pages, and the bookmarks, newest first while they fit.

        They take no more than the capacity, unless the open page does, so that recalled pages have the rest.
        """
        builder = ContextBuilder(budget, self._tools.count_tokens)
        builder.put("open page", paged.open_page.text, paged.open_page.keys, place=paged.open_page.page_id)
        if paged.capacity.pages is None and paged.capacity.tokens is not None:
            builder.budget = min(budget, paged.capacity.tokens)
        for page_id in reversed(paged.resident):
            page = paged.pages[page_id]
            builder.put("resident", page.text, page.keys, place=page_id)
        for page_id in reversed(paged.evicted):
            builder.put("bookmarks", self._marks[page_id], place=page_id)
        builder.budget = budget
        return builder

    def _add_recalled(self, builder: ContextBuilder, paged: PagedContext, page_ids: Sequence[int]) -> list[int]:
        """Put recalled pages into the context, cut where they do not fit, and return their ids."""
        gone = [page for page in self._store.recall(page_ids) if not paged.is_resident(page.page_id)]
        for page in gone:
            text = f"[recalled p{page.page_id}]\n{page.text}"
            if not builder.put("recalled", text, page.keys, place=(page.page_id, 1)):
                builder.put_tail("recalled", text, page.keys, place=(page.page_id, 1))
        return [page.page_id for page in gone]


def _by_words(question: str, paged: PagedContext, marks: dict[int, str]) -> list[int]:
    gone = paged.evicted
    return [gone[place] for place in ranked(Bm25Index([marks[p] for p in gone]).scores(question), len(gone))]
