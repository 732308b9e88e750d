"""Length of the conversation: a score at 128K must not come from 110K tokens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from longbeam.validation.base import ERROR, Check, Problem
from longbeam.validation.index import ConversationIndex

TOLERANCE = 0.02
STRICT_FROM = 128_000


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield a length that is too far from the target."""
    target = index.head.target_tokens
    allowed = allowed_deviation(index)
    if target and abs(index.total_tokens - target) > allowed:
        text = f"{index.total_tokens} tokens where {target} were asked for; {allowed} more or fewer are allowed"
        yield Problem("off_target", "conversation", text)


def allowed_deviation(index: ConversationIndex) -> int:
    """Return the allowed deviation in tokens: 2 %; below 128K the longest exchange if it is longer."""
    target = index.head.target_tokens
    share = int(TOLERANCE * target)
    if target >= STRICT_FROM:
        return share
    exchange = max((a.tokens + b.tokens for a, b in pairwise(index.messages)), default=0)
    return max(share, exchange)


CHECK = Check(
    name="length",
    doc="Tokens of message content are within 2 % of the target from 128K up, or one exchange below.",
    severities={"off_target": ERROR},
    on_conversation=find_problems,
)
