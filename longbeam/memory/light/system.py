"""LIGHT as a memory system: prepare in parallel, fold in order, read within a budget.

Its parts: semantic chunks, the extractor's input (an exchange and those before it), and the scratchpad, which
is compressed whenever it outgrows the trigger.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from longbeam.errors import ReplyError
from longbeam.memory.base import ExchangeMemory, Tools, in_order
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated, released_ids, said, turn_of, with_released_copies
from longbeam.memory.index import TextIndex, choose_retriever
from longbeam.memory.light.settings import LightSettings
from longbeam.memory.retrieval import Vectors
from longbeam.models.embedders import Embedder, HashedEmbedder
from longbeam.prompts.calls import (
    CompressNotesInputs,
    ExtractKeysInputs,
    ExtractKeysReply,
    NotesRelevantInputs,
    NotesRelevantReply,
    SelectNotesInputs,
    SelectNotesReply,
    TakeNotesInputs,
    TakeNotesReply,
)
from longbeam.schemas import (
    Context,
    Exchange,
    Message,
    MessageRole,
    PreparationUsage,
    PromptInputs,
    Question,
    digest_of,
)
from longbeam.text import format_date


async def semantic_chunks(
    lines: Sequence[str], embedder: Embedder, *, percentile: float, buffer: int
) -> tuple[str, ...]:
    """Return the lines joined to chunks, in order; each line is in exactly one chunk.

    Lines stand for the sentences of the rule, because each note of the scratchpad is one line.
    """
    if len(lines) < 2:
        return tuple(lines)
    windows = ["\n".join(lines[max(0, i - buffer) : i + buffer + 1]) for i in range(len(lines))]
    starts = [0, *(end + 1 for end in breakpoints(await embedder.embed(windows), percentile)), len(lines)]
    return tuple("\n".join(lines[a:b]) for a, b in pairwise(starts))


def breakpoints(vectors: Vectors, percentile: float) -> list[int]:
    """Return the places after which a chunk ends; `vectors` are unit vectors, one a sentence, in order."""
    if len(vectors) < 2:
        return []
    distances = 1.0 - np.einsum("ij,ij->i", vectors[:-1].astype(np.float64), vectors[1:].astype(np.float64))
    threshold = float(np.percentile(distances, percentile))
    return [int(i) for i in np.flatnonzero(distances > threshold)]


@dataclass(frozen=True)
class Seen:
    """One exchange as the extractor sees it."""

    exchange: Exchange
    text: str
    before: str


def seen_by_extractor(
    exchanges: Sequence[Exchange], settings: LightSettings, count: Callable[[str], int]
) -> Iterator[Seen]:
    """Yield each exchange, cut to size, with the exchanges before it; oldest first."""
    turn: Hashable = None
    before_turn: list[str] = []
    in_turn: list[str] = []
    for exchange in exchanges:
        if turn_of(exchange) != turn:
            turn, before_turn, in_turn = turn_of(exchange), in_turn, []
        text = said(
            exchange.model_copy(update={"messages": tuple(_cut(m, settings, count) for m in exchange.messages)})
        )
        before = "\n".join(in_turn or before_turn)
        room = settings.history_limit - count(text)
        yield Seen(exchange, text, tail_of(before, room, count))
        in_turn.append(text)


def tail_of(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the last whole lines of a text, at most `max_tokens` of them."""
    if count(text) <= max_tokens:
        return text
    kept: list[str] = []
    room = max_tokens
    for line in reversed(text.split("\n")):
        room -= count(line) + 1  # the line break
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _cut(message: Message, settings: LightSettings, count: Callable[[str], int]) -> Message:
    # A token has at least one character, so most replies need no count.
    is_long = message.role is MessageRole.ASSISTANT and len(message.content) > settings.reply_limit
    if is_long and count(message.content) > settings.reply_limit:
        return message.model_copy(update={"content": message.content[: settings.reply_kept_chars]})
    return message


Compress = Callable[[str, int, int], Awaitable[str]]
"""Returns shorter notes, given the notes, the number of the compression (from 0), and the tokens allowed."""


class CompressionFailed(Exception):
    """The compression failed: a fault of the released code, where it always does."""


@dataclass
class Scratchpad:
    """Lines of notes."""

    trigger: int
    limit: int
    count: Callable[[str], int]
    compress: Compress
    lines: list[str] = field(default_factory=list)
    compressions: int = 0
    _tokens: int = 0

    async def fold(self, notes: Iterable[str]) -> None:
        """Append notes; if they exceed the trigger, compress them to at most `limit` tokens."""
        for note in notes:
            self.lines.append(note)
            self._tokens += self.count(note) + 1  # the line break
        if self._tokens <= self.trigger:
            return
        shorter = await self.compress("\n".join(self.lines), self.compressions, self.limit)
        self.compressions += 1
        # If the model ignored the limit, keep the newest lines rather than ask again and again.
        self.lines = [line for line in tail_of(shorter, self.limit, self.count).split("\n") if line.strip()]
        self._tokens = sum(self.count(line) + 1 for line in self.lines)


_RETRIEVED, _RECENT, _SCRATCHPAD = range(3)
"""Places in the context, in the paper's order: episodic, working, scratchpad."""


class Light(ExchangeMemory[LightSettings]):
    """Episodic index, working memory and scratchpad over one conversation."""

    def __init__(self, settings: LightSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._retriever = choose_retriever("light.retriever", settings.retriever, tools.embedder)
        self._chunks: tuple[str, ...] = ()
        self._is_broken = False
        self._calls = self._failed = 0

    async def finish(self) -> None:
        """Build the index and the scratchpad."""
        settings = self._settings
        seen = list(seen_by_extractor(self._exchanges, settings, self._counter(settings.index_chars_per_token)))
        if settings.has("retrieval"):
            await self._build_index(seen)
        if settings.has("scratchpad"):
            await self._build_pad(seen)

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return retrieved exchanges, then recent ones, then notes; at most `budget` tokens, unless released."""
        settings = self._settings
        if self._is_broken:
            return Context(text="", tokens=0)
        pieces = [piece for piece in await self._relevant(question) if piece]
        found = await self._found(question)
        budget = settings.budget or budget
        builder = ContextBuilder(budget, self._counter(settings.answer_chars_per_token))
        if settings.pad_budget == "none":
            self._put_exchanges(builder, "retrieved", _RETRIEVED, found)
            self._put_exchanges(builder, "recent", _RECENT, self._recent(found))
            builder.budget = max(budget, builder.used) + sum(builder.cost(piece) for piece in pieces)
            self._put_pieces(builder, pieces)
            return self._counted(builder.build())
        kept_for_recent = int(budget * settings.recent_share) if self._recent(()) else 0
        kept_for_pad = int(budget * settings.pad_share) if pieces else 0
        builder.budget = budget - kept_for_recent - kept_for_pad
        left_over = self._put_exchanges(builder, "retrieved", _RETRIEVED, found)
        builder.budget = budget - kept_for_recent
        self._put_pieces(builder, pieces)
        builder.budget = budget
        recent = self._recent([exchange for exchange in found if exchange not in left_over])
        too_long = self._put_exchanges(builder, "recent", _RECENT, recent)
        read = [exchange for exchange in recent if exchange not in too_long]
        self._put_exchanges(builder, "retrieved", _RETRIEVED, [e for e in left_over if e not in read])
        return self._counted(builder.build())

    def usage(self) -> PreparationUsage:
        """Return the calls of preparation and the size of the index."""
        return super().usage().model_copy(update={"model_calls": self._calls, "failed_calls": self._failed})

    # --- preparation ------------------------------------------------------------------------------------------

    async def _build_index(self, seen: Sequence[Seen]) -> None:
        if self._settings.key == "exchange":
            keys: list[str | None] = [s.text for s in seen]
        else:
            keys = await in_order(partial(self._key, s) for s in seen)
        kept = [(s.exchange, key) for s, key in zip(seen, keys, strict=True) if key is not None]
        settings = self._settings
        texts = [key for _, key in kept]
        index = await TextIndex.build(texts, self._retriever, self._tools, weight_dense=settings.weight_dense)
        self._search_in([exchange for exchange, _ in kept], index)

    async def _key(self, seen: Seen) -> str | None:
        """Return the extracted pairs of an exchange, one a line, and its summary; None if the exchange is left out."""
        inputs = ExtractKeysInputs(before=seen.before, exchange=seen.text)
        try:
            reply: ExtractKeysReply = await self._ask("extract_keys", inputs, f"e{seen.exchange.position}")
        except ReplyError:
            self._failed += 1
            return None if self._settings.failures == "absent" else seen.text
        pairs = [f"{entry.key}: {entry.value}" for entry in reply.entries]
        return "\n".join([*pairs, f"Summary: {reply.summary}"])

    async def _build_pad(self, seen: Sequence[Seen]) -> None:
        notes = await in_order(partial(self._notes, s) for s in seen)
        settings = self._settings
        if settings.ids == "released":
            ids = released_ids(self._exchanges)
            notes = [notes[i] for i in sorted(range(len(notes)), key=lambda i: ids[i])]
        count = self._counter(settings.index_chars_per_token)
        pad = Scratchpad(settings.pad_trigger, settings.pad_limit, count, self._compress)
        try:
            for lines in notes:
                await pad.fold(lines)
        except CompressionFailed:
            self._is_broken = True
            return
        self._chunks = await semantic_chunks(
            pad.lines, self._chunker(), percentile=settings.percentile, buffer=settings.buffer
        )

    async def _notes(self, seen: Seen) -> list[str]:
        said_on = seen.exchange.sent_at.date()
        inputs = TakeNotesInputs(before=seen.before, exchange=seen.text, said_on=said_on)
        try:
            reply: TakeNotesReply = await self._ask("take_notes", inputs, f"e{seen.exchange.position}")
        except ReplyError:
            self._failed += 1
            return []
        day = f"{format_date(said_on)}: " if self._settings.dates else ""
        return [f"{day}{line}" for note in reply.notes if (line := " ".join(note.split()))]

    async def _compress(self, notes: str, number: int, limit: int) -> str:
        if self._settings.compression == "fails":
            raise CompressionFailed
        self._calls += 1
        inputs = CompressNotesInputs(notes=notes, max_tokens=limit)
        try:
            return await self._tools.asker.prose("compress_notes", inputs, place=f"compress{number}")
        except ReplyError:
            self._failed += 1
            return notes  # the scratchpad keeps the newest lines that fit

    async def _ask(self, prompt_id: str, inputs: PromptInputs, place: str) -> Any:  # Any: the prompt's reply
        self._calls += 1
        return await self._tools.asker.structured(prompt_id, inputs, place=place)

    def _chunker(self) -> Embedder:
        return self._tools.embedder or HashedEmbedder()

    # --- a question -------------------------------------------------------------------------------------------

    async def _relevant(self, question: Question) -> Sequence[str]:
        """Return the chunks of the scratchpad to read for a question."""
        settings, chunks = self._settings, self._chunks
        if not settings.has("filter") or settings.filter == "none" or not chunks:
            return chunks
        asked = f"q{digest_of(question.text)[:16]}"
        if settings.filter == "once":
            inputs = SelectNotesInputs(question=question.text, pieces=chunks)
            try:
                reply: SelectNotesReply = await self._tools.asker.structured("select_notes", inputs, place=asked)
            except ReplyError:
                return chunks
            return [chunk for i, chunk in enumerate(chunks) if i in reply.pieces]
        verdicts = await in_order(partial(self._is_relevant, question, chunk, asked) for chunk in chunks)
        return [chunk for chunk, is_kept in zip(chunks, verdicts, strict=True) if is_kept]

    async def _is_relevant(self, question: Question, chunk: str, asked: str) -> bool:
        inputs = NotesRelevantInputs(question=question.text, notes=chunk)
        try:
            reply: NotesRelevantReply = await self._tools.asker.structured("notes_relevant", inputs, place=asked)
        except ReplyError:
            # A chunk without a verdict is kept: the budget holds anyway, and dropping it would lose its notes.
            return self._settings.failures == "exchange"
        return reply.verdict == "yes"

    async def _found(self, question: Question) -> list[Exchange]:
        """Return the retrieved exchanges, best first."""
        best = await self._best(question.text, self._settings.k or len(self._searched))
        found = [self._searched[place] for place, _ in best]
        if self._settings.ids == "unique":
            return found
        named = list(zip(released_ids(self._exchanges), self._exchanges, strict=True))
        ids = {exchange.position: name for name, exchange in named}  # a control leaves gaps
        wanted = [ids[exchange.position] for exchange in found]
        return [exchange for name in wanted for own, exchange in named if own == name]

    def _recent(self, found: Sequence[Exchange]) -> list[Exchange]:
        """Return working memory in the order in which it is read."""
        settings = self._settings
        if not settings.has("working"):
            return []
        if settings.copies == "released":
            last = with_released_copies(self._exchanges)[-settings.z :]
        else:
            # Retrieved exchanges are in the context already; another exchange is worth more than a second copy.
            read = {exchange.position for exchange in found}
            last = [exchange for exchange in self._exchanges[-settings.z :] if exchange.position not in read]
        return last if settings.fill == "oldest" else last[::-1]

    def _put_exchanges(
        self, builder: ContextBuilder, part: str, place: int, exchanges: Sequence[Exchange]
    ) -> list[Exchange]:
        """Put the exchanges that fit, and return the rest. Recent exchanges are read in the order of time."""
        rest = []
        for exchange in exchanges:
            text = dated(exchange) if self._settings.dates else said(exchange)
            order = exchange.position if place == _RECENT else 0
            if not builder.put(part, text, exchange.message_keys, place=(place, order)):
                rest.append(exchange)
        return rest

    def _put_pieces(self, builder: ContextBuilder, pieces: Sequence[str]) -> None:
        """Put the newest chunks that fit, in the order of time."""
        for number in range(len(pieces) - 1, -1, -1):
            builder.put("scratchpad", pieces[number], place=(_SCRATCHPAD, number))

    def _counted(self, context: Context) -> Context:
        """Return the context with its tokens counted, if they were estimated before."""
        if self._settings.answer_chars_per_token is None:
            return context
        return context.model_copy(update={"tokens": self._tools.count_tokens(context.text)})

    # --- shared -----------------------------------------------------------------------------------------------

    def _counter(self, chars_per_token: float | None) -> Callable[[str], int]:
        if chars_per_token is None:
            return self._tools.count_tokens
        return lambda text: int(len(text) // chars_per_token)
