"""A conversation cut into exchanges and planned turns, and an exchange as text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from longbeam.schemas import Exchange, Message, MessageRole


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


def turn_of(exchange: Exchange) -> Hashable:
    """Return what identifies the planned turn of an exchange.

    An exchange without a turn index, as in imports, is a turn of its own.
    """
    first = exchange.messages[0]
    if first.turn_index is None:
        return exchange.position
    return (first.plan_index, first.sub_plan_index, first.session, first.turn_index)


def with_released_copies(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """Return the exchanges as often as BEAM's code indexes them: all of a turn, once for each of its messages.

    Source: mohammadtavakoli78/BEAM@b2a3ee8, which walks the pairs of a turn inside a loop over its messages.
    """
    sizes: dict[Hashable, int] = {}
    by_turn: dict[Hashable, list[Exchange]] = {}
    for exchange in exchanges:
        turn = turn_of(exchange)
        sizes[turn] = sizes.get(turn, 0) + len(exchange.messages)
        by_turn.setdefault(turn, []).append(exchange)
    return [exchange for turn, group in by_turn.items() for _ in range(sizes[turn]) for exchange in group]


def released_ids(exchanges: Sequence[Exchange]) -> list[str]:
    """Return the id that BEAM's code gives each exchange: batch, turn and pair as text, and no plan.

    As text, turn 10 sorts before turn 2, and the plans of a conversation of 10M tokens share ids.
    """
    ids = []
    pair, turn = 0, None
    for exchange in exchanges:
        pair = pair + 1 if turn_of(exchange) == turn else 0
        turn = turn_of(exchange)
        first = exchange.messages[0]
        batch = first.session if first.sub_plan_index is None else first.sub_plan_index
        ids.append(f"{batch}, {exchange.position if first.turn_index is None else first.turn_index}, {pair}")
    return ids
