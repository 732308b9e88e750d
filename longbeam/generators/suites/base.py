"""What a suite is, and what one conversation of it is drawn from."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from longbeam.schemas.base import Record
from longbeam.schemas.conversation import GivenConversation


@dataclass(frozen=True)
class Draw:
    """What makes one conversation of a suite: a pure function of this and the settings."""

    suite: str
    seed: int
    """Of the benchmark."""
    index: int
    """Ordinal of the conversation in the benchmark; adding conversations changes none."""
    count_tokens: Callable[[str], int]
    """In the benchmark's tokenizer."""
    tokenizer: str

    @property
    def conversation_id(self) -> str:
        """`c000`, `c001`, ..."""
        return f"c{self.index:03d}"

    def rng(self, part: str) -> random.Random:
        """Return the randomness of a part of the conversation."""
        return random.Random(f"{self.seed}/{self.suite}/{self.index}/{part}")


@dataclass(frozen=True)
class Suite:
    """A controlled benchmark that can be named on the command line."""

    settings: type[Record]
    make: Callable[[Any, Draw], GivenConversation]
    """Given the settings and the draw."""
    purpose: str
    """One line for the list of suites."""
