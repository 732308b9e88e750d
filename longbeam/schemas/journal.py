"""Records of a run's book-keeping: journal entries, batches, sums of calls and tokens, progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from longbeam.schemas.base import Record
from longbeam.schemas.calls import ChatMessage, ModelReply


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One call with its request and its reply."""

    key: str
    """Key of the call; a journal has one reply to each key."""
    unit_key: str
    stage: str
    role: str
    """Role that the model was asked in: planner, assistant, ..."""
    prompt_id: str
    prompt_version: int
    model: str
    """Model as the spec names it."""
    generation: int
    """Number of content attempts before this one."""
    request: Sequence[ChatMessage]
    reply: ModelReply
    max_tokens: int | None = None
    """Length limit of the reply; None if the request named none."""


class BatchEntry(Record):
    """A batch on its way. It is recorded before the endpoint hears of it, and again when the endpoint has named it."""

    token: str
    """Name that longbeam gives the batch; the endpoint keeps it, so that a batch is found whose answer was lost."""
    model: str
    """Identity of the model, wherever it is served."""
    request_ids: tuple[str, ...]
    """Ids of the calls: hashes of their keys and length limits."""
    batch_id: str = ""
    """Name that the endpoint gave the batch; empty until its answer came."""


UsageKey = tuple[str, str, str, str]
"""Stage, role, prompt, model."""
COUNTS = ("calls", "prompt_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class Usage(Record):
    """The calls of one stage, role, prompt and model."""

    stage: str
    role: str
    prompt_id: str
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the endpoint had in its cache."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Output tokens spent on reasoning."""

    @property
    def key(self) -> UsageKey:
        """Stage, role, prompt and model of the counts."""
        return self.stage, self.role, self.prompt_id, self.model

    def counts(self) -> dict[str, int]:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in COUNTS}

    @classmethod
    def of(cls, key: UsageKey, counts: Mapping[str, int]) -> Self:
        """Return the record with these counts for a key."""
        stage, role, prompt_id, model = key
        return cls(stage=stage, role=role, prompt_id=prompt_id, model=model, **{n: counts.get(n, 0) for n in COUNTS})


def summed(rows: Iterable[Usage]) -> list[Usage]:
    """Return the sums of rows with the same stage, role, prompt and model, sorted by these."""
    sums: dict[UsageKey, Counter[str]] = {}
    for row in rows:
        sums.setdefault(row.key, Counter()).update(row.counts())
    return [Usage.of(key, sums[key]) for key in sorted(sums)]


class Position(Record):
    """Stage that a conversation is in, and its counts so far."""

    stage: str = ""
    units_done: int = 0
    units_total: int = 0
    restored: int = 0
    """Units that an earlier run had done."""
    tokens: int = 0
    """Tokens of the conversation's messages."""
    calls: int = 0
    """Model calls of this run that have ended."""
    output_tokens: int = 0
    """Tokens of the replies to these calls."""
