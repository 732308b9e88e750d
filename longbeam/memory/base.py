"""The seam of memory systems: what one is told, and what it is asked for.

A system is told a conversation exchange by exchange, in order, then `finish`ed, then asked for contexts. One
instance serves one conversation. It must be a function of what it was told: preparation that was killed is
done again from the start, with every model reply and embedding replayed from the evaluation's stores.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from longbeam.memory.embedding import Embedder
from longbeam.schemas.calls import PromptInputs
from longbeam.schemas.dialogue import Message
from longbeam.schemas.dialogue import Role as Speaker
from longbeam.schemas.evaluation import Context, ContextPart, Exchange, Passage, Question, Usage
from longbeam.schemas.spec import Role

T = TypeVar("T")


class Asker(Protocol):
    """Asks models, every reply journalled; `generators.asking.Asker` is one."""

    def within(self, part: str) -> Self:
        """An asker for a part of the work, so that places stay short."""

    async def structured(self, prompt_id: str, inputs: PromptInputs, *, role: Role, place: str = "") -> Any:
        """Return the parsed reply; raise ReplyError when no attempt fitted."""

    async def prose(self, prompt_id: str, inputs: PromptInputs, *, role: Role, place: str = "") -> str:
        """Return the reply's text; raise ReplyError when no attempt fitted."""


@dataclass(frozen=True)
class Tools:
    """What a system may use; one per conversation and system."""

    count_tokens: Callable[[str], int]
    """Tokens of a text in the benchmark's tokenizer."""
    asker: Asker
    """Asks models, every reply journalled."""
    embedder: Embedder | None = None
    """Turns texts into unit vectors; None when no embedding model was asked for."""
    rng_key: str = ""
    """Seed of everything random: the benchmark's seed, conversation and system."""


class MemorySystem(Protocol):
    """A memory under test."""

    async def add(self, exchange: Exchange) -> None:
        """Take in the next exchange. May start work that `finish` awaits."""

    async def finish(self) -> None:
        """Complete the index; called once, after the last exchange."""

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return at most k passages, best first; empty for systems that do not retrieve."""

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the text that a reader sees, of at most `budget` tokens."""

    def usage(self) -> Usage:
        """What preparation took so far."""


@runtime_checkable
class AnsweringSystem(Protocol):
    """A system that owns the way to the answer: it calls tools, or asks the reader more than once."""

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Return the answer, all that was read for it, and the number of model calls."""


def exchanges_of(messages: Iterable[Message]) -> Iterator[Exchange]:
    """Group a conversation's messages, streamed; a message of the user opens an exchange when a reply came before."""
    pending: list[Message] = []
    position = 0
    for message in messages:
        opens = message.role is Speaker.USER and pending and pending[-1].role is not Speaker.USER
        # Two messages of the user in a row stay together; a change of session never lies inside an exchange.
        if pending and (opens or message.session != pending[-1].session):
            yield Exchange(position=position, messages=tuple(pending))
            position += 1
            pending = []
        pending.append(message)
    if pending:
        yield Exchange(position=position, messages=tuple(pending))


def dated(exchange: Exchange) -> str:
    """Return an exchange as a reader sees it: when it was, who said what."""
    return f"[{exchange.sent_at:%A, %d %B %Y, %H:%M}]\n" + said(exchange)


def said(exchange: Exchange) -> str:
    """Return who said what, without the date."""
    return "\n".join(f"{m.speaker}: {m.content}" for m in exchange.messages)


def passage_of(exchange: Exchange, place: int, score: float, tools: Tools) -> Passage:
    """Return an exchange as something found; `place` is its number in what was searched."""
    text = said(exchange)
    return Passage(
        passage_id=str(place),
        text=text,
        score=score,
        message_keys=exchange.message_keys,
        tokens=tools.count_tokens(text),
        sent_at=exchange.sent_at,
    )


async def in_order(work: Iterable[Callable[[], Awaitable[T]]], *, at_once: int = 256) -> list[T]:
    """Await many pieces of work, `at_once` at a time, and return the results in order.

    An error is raised only when the rest has been tried, too, as long as one of the `at_once` has not failed: what
    was answered is in the journal by then.
    """
    pending = enumerate(work)
    results: dict[int, T] = {}

    async def worker() -> None:
        for place, piece in pending:
            results[place] = await piece()

    ended = await asyncio.gather(*(worker() for _ in range(at_once)), return_exceptions=True)
    if raised := [e for e in ended if isinstance(e, BaseException)]:
        raise raised[0]
    return [results[place] for place in sorted(results)]


Place = tuple[int, int]


@dataclass
class ContextBuilder:
    """Puts pieces into a context while they fit."""

    budget: int
    count: Callable[[str], int]
    _pieces: list[tuple[Place, str, str, int, tuple[str, ...]]] = field(default_factory=list)
    _used: int = 0
    _joint: int = 0

    def __post_init__(self) -> None:
        self._joint = self.count("\n\n")

    def fits(self, text: str) -> bool:
        """Whether the text would still fit."""
        return self._used + self.cost(text) <= self.budget

    def cost(self, text: str) -> int:
        """Tokens that a piece takes, with what sets it off from the next."""
        return self.count(text) + self._joint

    @property
    def used(self) -> int:
        """Tokens of the pieces so far."""
        return self._used

    def put(self, part: str, text: str, keys: Sequence[str] = (), *, place: int | Place = 0) -> bool:
        """Add a piece if it fits, and say whether it did; pieces are ordered by `place`, then as they came."""
        tokens = self.cost(text)
        if self._used + tokens > self.budget:
            return False
        self._used += tokens
        self._pieces.append((place if isinstance(place, tuple) else (place, 0), part, text, tokens, tuple(keys)))
        return True

    def put_tail(self, part: str, text: str, keys: Sequence[str] = (), *, place: int | Place = 0) -> bool:
        """Add the end of a text that does not fit whole; its lines are kept from the last one backwards."""
        kept: list[str] = []
        for line in reversed(text.split("\n")):
            if not self.fits("\n".join([line, *kept])):
                break
            kept.insert(0, line)
        return bool(kept) and self.put(part, "\n".join(kept), keys, place=place)

    @property
    def has_pieces(self) -> bool:
        """Whether anything is in it."""
        return bool(self._pieces)

    def build(self) -> Context:
        """Return the context."""
        pieces = sorted(self._pieces, key=lambda piece: piece[0])  # stable: equal places stay as they came
        text = "\n\n".join(piece[2] for piece in pieces)
        names = dict.fromkeys(piece[1] for piece in pieces)
        parts = [ContextPart(name=n, tokens=sum(p[3] for p in pieces if p[1] == n)) for n in names]
        keys = dict.fromkeys(key for piece in pieces for key in piece[4])
        return Context(text=text, tokens=self.count(text), parts=tuple(parts), message_keys=tuple(keys))
