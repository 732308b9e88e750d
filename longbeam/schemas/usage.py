"""Calls and tokens, added up: what a run used, and what it is expected to use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Self

from longbeam.schemas.base import Record

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
    """Of prompt_tokens, those that the endpoint found in its cache."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Of output_tokens, those thought and not said."""

    @property
    def key(self) -> UsageKey:
        """What the counts are of."""
        return self.stage, self.role, self.prompt_id, self.model

    def counts(self) -> dict[str, int]:
        """The counts by name."""
        return {name: getattr(self, name) for name in COUNTS}

    @classmethod
    def of(cls, key: UsageKey, counts: Mapping[str, int]) -> Self:
        """The counts of one key."""
        stage, role, prompt_id, model = key
        return cls(stage=stage, role=role, prompt_id=prompt_id, model=model, **{n: counts.get(n, 0) for n in COUNTS})


def summed(rows: Iterable[Usage]) -> list[Usage]:
    """Add up rows of the same stage, role, prompt and model; sorted by these."""
    sums: dict[UsageKey, Counter[str]] = {}
    for row in rows:
        sums.setdefault(row.key, Counter()).update(row.counts())
    return [Usage.of(key, sums[key]) for key in sorted(sums)]
