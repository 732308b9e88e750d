"""MemoryOS from its paper (Kang et al., EMNLP 2025, arXiv 2506.06326): short-, mid- and long-term memory.

The last exchanges are short-term memory. Older ones join the segment of mid-term memory that is most like them, by
vectors and keywords, or open a new one. The exchanges of a segment whose heat exceeds a threshold are read by a model,
which keeps what they tell of the user in long-term memory. A question reads the best exchanges of the best segments,
the nearest entries of long-term memory, and short-term memory.

Heat counts a segment's exchanges and its recency; visits by questions are left out, because a prepared system must not
depend on the questions. Keywords come from the prompt `extract_keys`, long-term memory from `take_notes`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from pydantic import Field

from longbeam.memory.base import in_order
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.memory.papers.base import PaperMemory, TextPiece, best, messages_of, put_pieces
from longbeam.memory.retrieval import Vectors
from longbeam.prompts.calls import TakeNotesInputs
from longbeam.schemas import Context, Exchange, Question, Record
from longbeam.text import content_words, format_date

_FIRST = 1_000_000
"""Places between the tiers of a context, whose newest exchanges have their positions as places."""


class MemoryOsSettings(Record):
    """The paper's settings."""

    short_term: int = Field(default=7, ge=1)
    """Exchanges of short-term memory."""
    threshold: float = Field(default=0.6, ge=0, le=2)
    """Least similarity, cosine and Jaccard index added, at which an exchange joins a segment."""
    heat: float = Field(default=5.0, ge=0)
    """Heat from which on a segment is read into long-term memory."""
    decay_days: float = Field(default=30.0, gt=0)
    """Days in which recency falls to 1/e; the paper's seconds suit chats of an hour."""
    segments: int = Field(default=5, ge=1)
    """Segments that a question searches."""
    pages: int = Field(default=10, ge=1)
    """Exchanges read from them."""
    knowledge: int = Field(default=100, ge=1)
    """Entries of long-term memory; the oldest are dropped."""


@dataclass
class _Segment:
    pages: list[int] = field(default_factory=list)
    total: Vectors = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """Sum of the vectors of its exchanges."""
    words: set[str] = field(default_factory=set)

    def likeness(self, vector: Vectors, words: set[str]) -> float:
        """Return the cosine with the segment's mean plus the Jaccard index of the keywords."""
        cosine = float(self.total @ vector) / max(float(np.linalg.norm(self.total)), 1e-12)
        return cosine + len(words & self.words) / max(len(words | self.words), 1)


class MemoryOs(PaperMemory[MemoryOsSettings]):
    """Reads from three tiers."""

    async def finish(self) -> None:
        """Fill mid-term and long-term memory."""
        self._embedded = self._embedded_tokens = self._bytes = 0
        self._old = self._exchanges[: -self._settings.short_term]
        self._vectors_of_old = await self._vectors([said(e) for e in self._old])
        words = await in_order(partial(self._keywords, e) for e in self._old)
        self._segments: list[_Segment] = []
        for place, vector in enumerate(self._vectors_of_old):
            likeness = [segment.likeness(vector, words[place]) for segment in self._segments]
            if not likeness or max(likeness) < self._settings.threshold:
                self._segments.append(_Segment(total=np.zeros_like(vector)))
                likeness.append(math.inf)
            joined = self._segments[int(np.argmax(likeness))]
            joined.pages.append(place)
            joined.total = joined.total + vector
            joined.words |= words[place]
        hot = sorted(page for segment in self._segments if self._heat(segment) > self._settings.heat
                     for page in segment.pages)  # fmt: skip
        notes = await in_order(partial(self._noted, self._old[page]) for page in hot)
        self._known = [note for of_one in notes for note in of_one][-self._settings.knowledge :]
        self._known_vectors = await self._vectors(self._known)

    def _heat(self, segment: _Segment) -> float:
        """Return the number of exchanges plus recency; the paper adds visits, each part with weight 1."""
        age = self._exchanges[-1].sent_at - self._old[segment.pages[-1]].sent_at
        return len(segment.pages) + math.exp(-age.total_seconds() / 86_400 / self._settings.decay_days)

    async def _keywords(self, exchange: Exchange) -> set[str]:
        return {w for entry in await self._entries(exchange) for w in content_words(entry.key)}

    async def _noted(self, exchange: Exchange) -> list[str]:
        day = exchange.sent_at.date()
        inputs = TakeNotesInputs(before="", exchange=said(exchange), said_on=day)
        reply = await self._ask("take_notes", inputs, f"n{exchange.position}")
        return [] if reply is None else [f"[{format_date(day)}] {note}" for note in reply.notes]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return long-term memory, then exchanges of segments, then the newest exchanges."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        query = await self._query_vector(question.text)
        if self._known:
            near = best(self._known_vectors @ query, self._settings.pages)
            put_pieces(builder, "knowledge", [TextPiece(self._known[n]) for n in near], first=-2 * _FIRST)
        put_pieces(builder, "segments", [piece for piece, _ in await self._found(question)], first=-_FIRST)
        builder.put_while_fitting("recent", reversed(self._exchanges[len(self._old) :]))
        return builder.build()

    async def _found(self, question: Question) -> Sequence[tuple[TextPiece, float]]:
        query, words = await self._query_vector(question.text), set(content_words(question.text))
        likeness = np.array([segment.likeness(query, words) for segment in self._segments])
        pages = [page for n in best(likeness, self._settings.segments) for page in self._segments[n].pages]
        scores = self._vectors_of_old[pages] @ query if pages else np.zeros(0, dtype=np.float32)
        return [
            (piece, float(scores[n]))
            for n in best(scores, self._settings.pages)
            for piece in messages_of([self._old[pages[n]]])
        ]
