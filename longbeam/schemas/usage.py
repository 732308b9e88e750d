"""Sums of calls and tokens: the usage of a run, and its expected usage."""

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
