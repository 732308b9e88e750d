"""A conversation cut into exchanges, and an exchange as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.evaluation import Exchange


def exchanges_of(messages: Iterable[Message]) -> Iterator[Exchange]:
    """Group a conversation's messages, streamed; a message of the user opens an exchange when a reply came before."""
    pending: list[Message] = []
    position = 0
    for message in messages:
        opens = message.role is MessageRole.USER and pending and pending[-1].role is not MessageRole.USER
        # Two messages of the user in a row stay together; a change of session never lies inside an exchange.
        if pending and (opens or message.session != pending[-1].session):
            yield Exchange(position=position, messages=tuple(pending))
            position += 1
            pending = []
        pending.append(message)
    if pending:
        yield Exchange(position=position, messages=tuple(pending))


def dated(exchange: Exchange) -> str:
    """Return an exchange as a reader sees it: its time, then a line a message with the speaker."""
    return f"[{exchange.sent_at:%A, %d %B %Y, %H:%M}]\n" + said(exchange)


def said(exchange: Exchange) -> str:
    """Return an exchange without its time: a line a message, with the speaker."""
    return "\n".join(f"{m.speaker}: {m.content}" for m in exchange.messages)
