"""Parts that the systems built from papers share: vectors, counted model calls, and pieces of text.

Model calls go through `Tools.asker`, so they are journalled, and rules answer them where no model is named. Every
prompt is one that LIGHT or the running summary uses as well; docs/products.md names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import ReplyError
from longbeam.memory.base import ExchangeMemory, Settings, Tools
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.memory.retrieval import Vectors
from longbeam.models.embedders import Embedder, HashedEmbedder
from longbeam.prompts.calls import ExtractKeysInputs, KeyValue, SelectNotesInputs, UpdateSummaryInputs
from longbeam.schemas import Context, Exchange, Passage, PreparationUsage, PromptInputs, Question, digest_of
from longbeam.text import format_date

T = TypeVar("T")


@dataclass(frozen=True)
class TextPiece:
    """A text that may be read, and the messages that it repeats; none for a text that a model wrote."""

    text: str
    message_keys: tuple[str, ...] = ()
    sent_at: datetime | None = None

    @property
    def shown(self) -> str:
        """The text with its day."""
        return f"[{format_date(self.sent_at.date())}] {self.text}" if self.sent_at else self.text


class PaperMemory(ExchangeMemory[Settings]):
    """Base of systems that read the best pieces for a question. A subclass defines `finish` and `_found`."""

    def __init__(self, settings: Settings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._embedder: Embedder = tools.embedder or HashedEmbedder()
        self._embedded = self._embedded_tokens = self._bytes = 0
        self._asked: set[str] = set()
        self._failed: set[str] = set()

    async def _found(self, question: Question) -> Sequence[tuple[TextPiece, float]]:
        """Return pieces with their scores, best first."""
        raise NotImplementedError

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the best pieces that fit, what a model wrote first, then in the order of time."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        put_pieces(builder, "retrieved", [piece for piece, _ in await self._found(question)])
        return builder.build()

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the k best pieces."""
        return [
            Passage(
                passage_id=str(rank),
                text=piece.text,
                score=score,
                message_keys=piece.message_keys,
                tokens=self._tools.count_tokens(piece.text),
                sent_at=piece.sent_at,
            )
            for rank, (piece, score) in enumerate((await self._found(question))[:k])
        ]

    def usage(self) -> PreparationUsage:
        """Return the calls and vectors of preparation."""
        return PreparationUsage(
            model_calls=len(self._asked),
            failed_calls=len(self._failed),
            embedded_texts=self._embedded,
            embedded_tokens=self._embedded_tokens,
            index_bytes=self._bytes,
        )

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text of the index, and count it."""
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        vectors = await self._embedder.embed(texts)
        self._embedded += len(texts)
        self._embedded_tokens += sum(self._tools.count_tokens(text) for text in texts)
        self._bytes += vectors.nbytes + sum(len(text.encode()) for text in texts)
        return vectors

    async def _query_vector(self, query: str) -> Vectors:
        vector: Vectors = (await self._embedder.embed([query], is_query=True))[0]
        return vector

    async def _nearest(self, things: Sequence[T], matrix: Vectors, query: str, k: int | None) -> list[tuple[T, float]]:
        """Return the k things whose vectors are nearest to a query with their cosines, best first; all without a k."""
        scores = matrix @ await self._query_vector(query) if things else np.zeros(0, dtype=np.float32)
        return [(things[i], float(scores[i])) for i in best(scores, k or len(things))]

    async def _ask(self, prompt_id: str, inputs: PromptInputs, place: str) -> Any:  # Any: the prompt's output
        """Return the reply to a call of preparation; None where no reply could be used."""
        self._asked.add(key := f"{place} {inputs.digest}")
        try:
            return await self._tools.asker.structured(prompt_id, inputs, place=place)
        except ReplyError:
            self._failed.add(key)
            return None

    async def _entries(self, exchange: Exchange) -> Sequence[KeyValue]:
        """Return the keys and values that a model extracts from an exchange."""
        inputs = ExtractKeysInputs(before="", exchange=said(exchange))
        reply = await self._ask("extract_keys", inputs, f"e{exchange.position}")
        return () if reply is None else reply.entries

    async def _summarize(self, texts: Sequence[str], max_tokens: int, *, before: str = "") -> str:
        """Return a summary of texts by a model; where it fails, their beginning."""
        inputs = UpdateSummaryInputs(summary=before, said="\n\n".join(texts), max_tokens=max_tokens)
        self._asked.add(inputs.digest)
        try:
            return await self._tools.asker.prose("update_summary", inputs, place=f"s{inputs.digest[:12]}")
        except ReplyError:
            self._failed.add(inputs.digest)
            return " ".join(inputs.said.split()[:max_tokens])

    async def _selected(self, question: str, pieces: Sequence[str]) -> list[int]:
        """Return the places of the pieces that help with a question; none where no reply could be used.

        Calls for questions are not calls of preparation.
        """
        inputs = SelectNotesInputs(question=question, pieces=tuple(pieces))
        place = f"q{digest_of(question, *pieces)[:12]}"
        try:
            reply = await self._tools.asker.structured("select_notes", inputs, place=place)
        except ReplyError:
            return []
        return [n for n in dict.fromkeys(reply.pieces) if 0 <= n < len(pieces)]


def put_pieces(builder: ContextBuilder, part: str, pieces: Iterable[TextPiece], *, first: int = 0) -> None:
    """Add pieces that fit, best first; they are read in the order of time, those without a time first.

    `first` is the place of the earliest piece in the context.
    """
    chosen = list(pieces)
    by_time = sorted(range(len(chosen)), key=lambda i: (chosen[i].sent_at or datetime.min, i))
    for place, rank in sorted(enumerate(by_time, first), key=lambda pair: pair[1]):
        builder.put(part, chosen[rank].shown, chosen[rank].message_keys, place=place)


def messages_of(exchanges: Iterable[Exchange]) -> Iterator[TextPiece]:
    """Yield each message as a piece, with its speaker."""
    for exchange in exchanges:
        for m in exchange.messages:
            yield TextPiece(f"{m.speaker}: {m.content}", (m.message_key,), m.sent_at)


def best(scores: NDArray[np.floating[Any]], k: int) -> list[int]:
    """Return the places of the k highest scores, best first."""
    return [int(i) for i in np.argsort(-scores, kind="stable")[:k]]
