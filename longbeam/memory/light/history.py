"""Input of the extractor: an exchange, and the exchanges before it.

The rule is the released code's, for the paper's "current and preceding turn": the first exchange of a planned turn
comes with the whole turn before, a follow-up with the earlier exchanges of its own turn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from longbeam.memory.exchanges import said
from longbeam.memory.light.settings import LightSettings
from longbeam.memory.turns import turn_of
from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.evaluation import Exchange


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
