"""Letta's memory as MemGPT has it (Packer et al., 2023, arXiv 2310.08560): core memory, a queue, and archival search.

Core memory is a block of limited size that a model rewrites when messages leave the queue; the newest messages are in
the queue; all messages are in the archive, which is searched by vectors. In Letta an agent writes and searches by tool
calls while it talks. Here the conversation is given, so the block is rewritten by the prompt `update_summary`, and the
archive is searched once, with the question.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated
from longbeam.memory.papers.base import PaperMemory, TextPiece, messages_of, put_pieces
from longbeam.schemas import Context, Question, Record


class MemGptSettings(Record):
    """Sizes of the tiers."""

    core_tokens: int = Field(default=500, ge=20)
    """Most tokens of core memory; Letta's block has 2,000 characters."""
    every: int = Field(default=4_000, ge=1)
    """Tokens of messages after which core memory is rewritten."""
    queue_share: float = Field(default=0.2, ge=0, le=1)
    """Share of the budget for the newest exchanges."""
    k: int | None = Field(default=None, ge=1)
    """Messages found in the archive; None: as many as the budget holds."""


class MemGpt(PaperMemory[MemGptSettings]):
    """Reads core memory, the newest exchanges, and what an archival search finds."""

    async def finish(self) -> None:
        """Write core memory in the order of the exchanges, and index the archive."""
        self._embedded = self._embedded_tokens = self._bytes = 0
        self._core, pending, tokens = "", [], 0
        for exchange in self._exchanges:
            pending.append(dated(exchange))
            tokens += self._tools.count_tokens(pending[-1])
            if tokens >= self._settings.every or exchange is self._exchanges[-1]:
                self._core = await self._summarize(pending, self._settings.core_tokens, before=self._core)
                pending, tokens = [], 0
        self._archive = list(messages_of(self._exchanges))
        self._matrix = await self._vectors([piece.text.partition(": ")[2] for piece in self._archive])

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return core memory, the archive's messages, and the queue."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        if self._core and not builder.put("core", self._core, place=-1 - len(self._archive)):
            builder.put_tail("core", self._core, place=-1 - len(self._archive))
        kept = int(self._settings.queue_share * budget)
        builder.budget = min(budget, builder.used + kept)
        queued = builder.put_while_fitting("queue", reversed(self._exchanges))
        builder.budget = budget
        recent = {key for e in self._exchanges[len(self._exchanges) - queued :] for key in e.message_keys}
        found = [piece for piece, _ in await self._found(question) if not recent.intersection(piece.message_keys)]
        put_pieces(builder, "archive", found, first=-len(found))
        return builder.build()

    async def _found(self, question: Question) -> Sequence[tuple[TextPiece, float]]:
        return await self._nearest(self._archive, self._matrix, question.text, self._settings.k)
