"""Token counts: the BPE vocabularies that a spec may name, counted by toktok, which carries them.

Lengths are those of message content only. Special-token text (`<|endoftext|>`) is counted as the ordinary
text that it is: no vocabulary here knows a special token, so content cannot change what a count means.

Counts are tiktoken's, but for two contractions in a row of which one has a long s ("'ſ's"), and for letters that
Unicode got in 2025. rs-bpe counts these, too, and loads ten times faster, but takes 48 MB in place of 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from longbeam.errors import UserError

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
