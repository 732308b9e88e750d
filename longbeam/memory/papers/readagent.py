"""ReadAgent from its paper (Lee et al., ICML 2024, arXiv 2402.09727): gists of pages, and a look at some of the pages.

The conversation is cut into pages, which a model shortens to gists. For a question, a model sees all gists and names
the pages to look up (the paper's parallel look-up); the reader gets those pages and the other gists. The paper lets a
model choose where a page ends; here a page ends with an exchange. Gists are made by the prompt `update_summary`, pages
are chosen by `select_notes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain

from pydantic import Field

from longbeam.memory.base import in_order
from longbeam.memory.context import ContextBuilder
from longbeam.memory.papers.base import PaperMemory, Piece, best, messages_of, put_pieces
from longbeam.memory.retrieval import Bm25Index
from longbeam.schemas import Context, Exchange, Question, Record


class ReadAgentSettings(Record):
    """Size of pages and gists."""

    page_words: int = Field(default=600, ge=1)
    """Most words of a page of several exchanges, as in the paper."""
    gist_tokens: int = Field(default=60, ge=5)
    """Most tokens of a gist."""
    pages: int = Field(default=5, ge=1)
    """Most pages that are looked up, as in the paper."""


class ReadAgent(PaperMemory[ReadAgentSettings]):
    """Reads the pages that are looked up, then the gists that fit."""

    async def finish(self) -> None:
        """Cut pages, and write their gists."""
        self._pages = [list(messages_of(page)) for page in self._cut()]
        limit = self._settings.gist_tokens
        texts = [[piece.shown for piece in page] for page in self._pages]
        written = await in_order(partial(self._summarize, text, limit) for text in texts)
        self._gists = [Piece(gist, (), page[0].sent_at) for gist, page in zip(written, self._pages, strict=True)]
        self._bytes = sum(len(text.encode()) for text in chain(written, *texts))

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return pages, then gists while they fit."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        chosen = await self._chosen(question)
        looked_up = chain.from_iterable(self._pages[n] for n in chosen)
        put_pieces(builder, "pages", looked_up, first=len(self._gists))
        put_pieces(builder, "gists", [gist for n, gist in enumerate(self._gists) if n not in chosen])
        return builder.build()

    async def _found(self, question: Question) -> Sequence[tuple[Piece, float]]:
        chosen = await self._chosen(question)
        return [(piece, 1 / (1 + rank)) for rank, n in enumerate(chosen) for piece in self._pages[n]]

    async def _chosen(self, question: Question) -> list[int]:
        """Return the pages that the model looks up; of too many, those whose gists share most with the question."""
        gists = [gist.shown for gist in self._gists]
        chosen = await self._selected(question.text, gists) if gists else []
        scores = Bm25Index.of([gists[n] for n in chosen]).scores(question.text)
        return [chosen[i] for i in best(scores, self._settings.pages)]

    def _cut(self) -> list[list[Exchange]]:
        pages: list[list[Exchange]] = []
        words = 0
        for exchange in self._exchanges:
            size = sum(len(m.content.split()) for m in exchange.messages)
            if not pages or words + size > self._settings.page_words:
                pages.append([])
                words = 0
            pages[-1].append(exchange)
            words += size
        return pages
