"""A-Mem from its paper (Xu et al., 2025, arXiv 2502.12110): linked notes, one for each message.

A model gives each note keywords and a context, and decides which of the nearest earlier notes it is linked with. A
question reads the nearest notes and the notes linked with them. The paper's evolution of memories, which rewrites the
context of old notes when new ones are linked, is left out. Keywords and context come from the prompt `extract_keys`,
links from `select_notes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pydantic import Field

from longbeam.memory.base import in_order
from longbeam.memory.context import ContextBuilder
from longbeam.memory.papers.base import PaperMemory, TextPiece, best, messages_of, put_pieces
from longbeam.prompts.calls import ExtractKeysInputs, SelectNotesInputs
from longbeam.schemas import Context, Question, Record


class AMemSettings(Record):
    """How many notes are linked and read."""

    neighbours: int = Field(default=5, ge=0)
    """Nearest earlier notes that may be linked, as in the released code."""
    k: int = Field(default=10, ge=1)
    """Nearest notes of a question, as in the paper; their links come after them, and further notes fill the budget."""


class AMem(PaperMemory[AMemSettings]):
    """Reads notes and their links."""

    async def finish(self) -> None:
        """Write the notes, and link them."""
        self._embedded = self._embedded_tokens = self._bytes = 0
        self._notes = list(messages_of(self._exchanges))
        keys = await in_order(partial(self._described, note) for note in self._notes)
        self._matrix = await self._vectors(keys)
        self._links = await in_order(partial(self._linked, n) for n in range(len(self._notes)))

    async def _described(self, note: TextPiece) -> str:
        """Return what a note is found by: its context, keywords and content."""
        inputs = ExtractKeysInputs(before="", exchange=note.text)
        reply = await self._ask("extract_keys", inputs, f"m{note.message_keys[0]}")
        if reply is None:
            return note.text
        keywords = ", ".join(entry.key for entry in reply.entries)
        return f"{reply.summary}\nKeywords: {keywords}\n{note.text}"

    async def _linked(self, place: int) -> list[int]:
        """Return the earlier notes that a note is linked with."""
        near = best(self._matrix[:place] @ self._matrix[place], self._settings.neighbours)
        if not near:
            return []
        note = self._notes[place]
        inputs = SelectNotesInputs(question=note.text, pieces=tuple(self._notes[i].text for i in near))
        reply = await self._ask("select_notes", inputs, f"l{note.message_keys[0]}")
        return [] if reply is None else [near[n] for n in dict.fromkeys(reply.pieces) if 0 <= n < len(near)]

    async def _found(self, question: Question) -> Sequence[tuple[TextPiece, float]]:
        if not self._notes:
            return []
        scores = self._matrix @ await self._query_vector(question.text)
        nearest = best(scores, self._settings.k)
        linked = [link for n in nearest for link in self._links[n]]
        return [(self._notes[i], float(scores[i])) for i in dict.fromkeys([*nearest, *linked])]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the nearest notes with their links, then further notes while the budget holds them."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        found = [piece for piece, _ in await self._found(question)]
        every = await self._nearest(self._notes, self._matrix, question.text, None)
        found += [note for note, _ in every if note not in found]
        put_pieces(builder, "retrieved", found)
        return builder.build()
