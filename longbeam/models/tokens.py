"""Tokens of texts, and the tokens of prompts that a server with a block-wise prefix cache would already hold."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol

from longbeam.errors import UserError
from longbeam.schemas import ChatMessage

TOKENIZER_NAMES = ("o200k_base", "cl100k_base")
DEFAULT_TOKENIZER = "o200k_base"


class Tokenizer(Protocol):
    """A counter of tokens; two tokenizers of one name give equal counts."""

    @property
    def name(self) -> str:
        """The vocabulary, as a spec names it."""
        ...

    def count(self, text: str) -> int:
        """Return how many tokens `text` is."""
        ...

    def encode(self, text: str) -> Sequence[int]:
        """Return the token ids of `text`."""
        ...


@dataclass(frozen=True, slots=True)
class BpeTokenizer:
    """A byte-pair vocabulary; safe to share between threads."""

    name: str
    count_valid: Callable[[str], int]
    """Counts text that can be encoded as UTF-8."""
    encode_valid: Callable[[str], Sequence[int]]
    """Encodes such text."""

    def count(self, text: str) -> int:
        """Return how many tokens `text` is; a lone surrogate counts as U+FFFD, as in tiktoken."""
        try:
            return self.count_valid(text)
        except UnicodeEncodeError:
            return self.count_valid(_without_surrogates(text))

    def encode(self, text: str) -> Sequence[int]:
        """Return the token ids of `text`; a lone surrogate is taken for U+FFFD."""
        try:
            return self.encode_valid(text)
        except UnicodeEncodeError:
            return self.encode_valid(_without_surrogates(text))


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def load_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer called `name`, loaded once per process (0.5 s of processor time).

    Raises UserError if `name` is not one of TOKENIZER_NAMES.
    """
    if name not in TOKENIZER_NAMES:
        raise UserError(f"tokenizer {name!r} is unknown; allowed: {', '.join(TOKENIZER_NAMES)}")
    # Imported here because loading the vocabularies' library is of no use to `--help` or `status`.
    from toktok import _encoding  # what toktok's docstring offers to those who want token ids; pinned in pyproject

    encoding = _encoding(name)
    return BpeTokenizer(name=name, count_valid=encoding.count, encode_valid=encoding.encode_ordinary)


BLOCK_TOKENS = 16
_TOKEN_BYTES = 4
_BLOCK_BYTES = BLOCK_TOKENS * _TOKEN_BYTES

Encode = Callable[[str], Sequence[int]]

# Ids beyond every vocabulary: what a chat template puts around a message, and before the reply.
_OPENING = {"system": 4_000_000_001, "user": 4_000_000_002, "assistant": 4_000_000_003}
_CLOSING = 4_000_000_004
MESSAGE_OVERHEAD = 4
"""Tokens around a message: an opening, a role, a line break, a closing (ChatML; OpenAI's count is 3 to 4)."""


class PromptEncoder:
    """Chat messages as the bytes of their token ids, the template's tokens included."""

    def __init__(self, encode: Encode, remembered: int = 4096) -> None:
        """`remembered`: messages whose tokens are kept; a request repeats nearly all of the one before."""
        self._encode = encode
        self._of = lru_cache(maxsize=remembered)(self._message)

    def __call__(self, messages: Sequence[ChatMessage]) -> bytes:
        """Return four bytes a token."""
        return b"".join([self._of(m.role, m.content) for m in messages])

    def _message(self, role: str, content: str) -> bytes:
        opening = _OPENING[role]
        return array("I", [opening, opening, opening, *self._encode(content), _CLOSING]).tobytes()


def tokens_in(prompt: bytes) -> int:
    """Return the number of tokens of an encoded prompt."""
    return len(prompt) // _TOKEN_BYTES


class PrefixCache:
    """A block-wise prefix cache with room for `max_tokens`; None: for everything."""

    def __init__(self, max_tokens: int | None = None) -> None:
        self._most = None if max_tokens is None else max_tokens // BLOCK_TOKENS
        # (number of the block before, the block's tokens) -> number; oldest use first.
        self._blocks: OrderedDict[tuple[int, bytes], int] = OrderedDict()
        self._made = 0

    def serve(self, prompt: bytes) -> int:
        """Return how many tokens of an encoded prompt are there already, and keep its blocks."""
        blocks, parent, hits = self._blocks, 0, 0
        # At least one token has to be computed for the model to say anything.
        reusable = (tokens_in(prompt) - 1) // BLOCK_TOKENS
        path: list[tuple[int, bytes]] = []
        for start in range(0, len(prompt) - _BLOCK_BYTES + 1, _BLOCK_BYTES):
            key = (parent, prompt[start : start + _BLOCK_BYTES])
            number = blocks.get(key)
            if number is None:
                self._made += 1
                number = blocks[key] = self._made
            elif len(path) == hits < reusable:
                hits += 1
            path.append(key)
            parent = number
        self._make_room(path)
        return hits * BLOCK_TOKENS

    def _make_room(self, path: Sequence[tuple[int, bytes]]) -> None:
        if self._most is None:
            return
        for key in reversed(path):  # the beginning was used last, so that ends go first
            self._blocks.move_to_end(key)
        while len(self._blocks) > self._most:
            self._blocks.popitem(last=False)
