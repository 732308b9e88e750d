"""Token counts of requests as a server with a prefix cache would report them.

The cache is simulated: it knows the beginnings of earlier requests up to whole messages, in blocks of 16 tokens,
and keeps those used last. Counts are cached by content, because a request repeats most of the one before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from longbeam.models.tokens import Tokenizer

BLOCK = 16
"""Tokens of a block of the cache, as in vLLM."""
MESSAGE_OVERHEAD = 4
"""Tokens that a chat template puts around a message."""
MOST_PREFIXES = 20_000
MOST_COUNTS = 200_000


@dataclass(frozen=True)
class PromptUsage:
    """Tokens of one request; `cached` of them stood in the cache."""

    prompt: int
    cached: int


@dataclass
class UsageMeter:
    """Counts the tokens of requests, and how many of them begin like an earlier request."""

    tokenizer: Tokenizer
    _counts: OrderedDict[int, int] = field(default_factory=OrderedDict)
    _prefixes: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def measure(self, messages: Sequence[dict[str, str]]) -> PromptUsage:
        """Return the tokens of a request's messages, and remember its beginnings."""
        prompt, known, chain, still_known = 0, 0, 0, True
        for message in messages:
            content = str(message.get("content") or "")
            prompt += self.count(content) + MESSAGE_OVERHEAD
            chain = hash((chain, message.get("role"), content))
            still_known = still_known and chain in self._prefixes
            if still_known:
                known = prompt
            self._prefixes[chain] = None
            self._prefixes.move_to_end(chain)
        while len(self._prefixes) > MOST_PREFIXES:
            self._prefixes.popitem(last=False)
        return PromptUsage(prompt=prompt, cached=known // BLOCK * BLOCK)

    def count(self, text: str) -> int:
        """Return how many tokens a text is."""
        key = hash(text)
        if key not in self._counts:
            self._counts[key] = self.tokenizer.count(text)
            if len(self._counts) > MOST_COUNTS:
                self._counts.popitem(last=False)
        return self._counts[key]
