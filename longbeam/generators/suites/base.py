"""The parts that all suites share: their declaration, the draw of a conversation, messages and heads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from longbeam.keys import MessageKey
from longbeam.schemas import (
    ConversationHead,
    Domain,
    GivenConversation,
    Message,
    MessageKind,
    MessageRole,
    Record,
    Seed,
    Timeline,
    people_graph,
)


@dataclass(frozen=True)
class Draw:
    """Identity of one conversation of a suite, which is a pure function of its draw and the settings."""

    suite: str
    seed: int
    """Seed of the benchmark."""
    index: int
    """Ordinal of the conversation in the benchmark; adding conversations changes none."""
    count_tokens: Callable[[str], int]
    """Counts in the benchmark's tokenizer."""
    tokenizer: str

    @property
    def conversation_id(self) -> str:
        """`c000`, `c001`, ..."""
        return f"c{self.index:03d}"

    def rng(self, part: str) -> random.Random:
        """Return a random generator for a part of the conversation."""
        return random.Random(f"{self.seed}/{self.suite}/{self.index}/{part}")


@dataclass(frozen=True)
class Suite:
    """A controlled benchmark that the command line can name."""

    settings: type[Record]
    make: Callable[[Any, Draw], GivenConversation]
    """Makes a conversation of the settings and the draw."""
    purpose: str
    """One line for the list of suites."""


def key_of(turn: int, place: int = 0) -> str:
    """Return the key of a message of a turn; both count from 0."""
    return str(MessageKey(0, 0, turn, place))


def exchange(draw: Draw, turn: int, said: str, reply: str, at: datetime) -> Iterator[Message]:
    """Yield the user's message and, twenty seconds later, the reply."""
    for place, (role, content) in enumerate(((MessageRole.USER, said), (MessageRole.ASSISTANT, reply))):
        yield Message(
            message_key=key_of(turn, place),
            role=role,
            speaker=role.value,
            kind=MessageKind.QUESTION if role is MessageRole.USER else MessageKind.REPLY,
            turn_index=turn,
            sent_at=at + timedelta(seconds=20 * place),
            content=content,
            tokens=draw.count_tokens(content),
        )


@dataclass(frozen=True)
class Topic:
    """The subject of a suite's conversation, as its seed names it."""

    domain: Domain
    title: str
    theme: str
    subtopics: tuple[str, ...]


def seed_of(draw: Draw, topic: Topic, began: datetime, ended: datetime) -> Seed:
    """Return the seed of a conversation that began and ended at these times."""
    return Seed(
        domain=topic.domain,
        title=topic.title,
        theme=topic.theme,
        subtopics=topic.subtopics,
        timeline=Timeline(start=began.date(), end=ended.date() + timedelta(days=1)),
        source=f"suite:{draw.suite}",
    )


def head_of(
    draw: Draw, settings: Record, seed: Seed, *, target_tokens: int = 0, details: Mapping[str, Any] | None = None
) -> ConversationHead:
    """Return the head of a conversation without people or plans; `details` are added to the suite's settings."""
    return ConversationHead(
        conversation_id=draw.conversation_id,
        seed=seed,
        profile=None,
        relationships=people_graph(()),
        narratives=(),
        plans=(),
        target_tokens=target_tokens,
        tokenizer=draw.tokenizer,
        details={"suite": draw.suite, "settings": settings.model_dump(mode="json"), **(details or {})},
    )
