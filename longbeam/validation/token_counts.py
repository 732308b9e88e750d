"""Token counts of messages: a sample is counted again."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.models import TOKENIZER_NAMES, load_tokenizer
from longbeam.validation.base import ERROR, INFO, Check, Problem
from longbeam.validation.index import ConversationIndex

SAMPLE = 64
"""Messages counted again, evenly spread: 0.05 s at any length."""


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield messages whose `tokens` are not what the tokenizer counts."""
    name = index.head.tokenizer
    if name not in TOKENIZER_NAMES:
        yield Problem("unknown_tokenizer", "conversation", f"tokens cannot be counted again: no tokenizer {name!r}")
        return
    tokenizer = load_tokenizer(name)
    step = max(1, len(index.messages) // SAMPLE)
    for message in index.messages[::step]:
        counted = tokenizer.count(message.content)
        if counted != message.tokens:
            text = f"{message.tokens} tokens are given, {name} counts {counted}"
            yield Problem("miscounted", message.message_key, text, (message.message_key,))


CHECK = Check(
    name="token_counts",
    doc="The tokens of a message are those its tokenizer counts (64 messages of each conversation).",
    severities={"miscounted": ERROR, "unknown_tokenizer": INFO},
    on_conversation=find_problems,
)
