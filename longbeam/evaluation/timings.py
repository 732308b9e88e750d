"""Measured seconds of systems, kept apart from the results, which are the same in every run.

A run that replays earlier work does not measure it again: the figures are those of the run that did the work.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from pydantic_core import from_json

from longbeam.keys import ItemId


@dataclass(frozen=True)
class Latency:
    """Seconds of one system, over all measured conversations."""

    prepare_s: float | None
    """Mean preparation of a conversation."""
    add_p50_s: float | None
    """Median time to take in an exchange; with several conversations the mean of their medians."""
    add_p95_s: float | None
    exchanges_per_s: float | None
    """Exchanges taken in per second of preparation."""
    context_s: float | None
    """Median time to find the context; for systems that answer themselves, the time of the whole answer."""
    answers: int


@dataclass
class Ingestion:
    """Measured seconds of one preparation."""

    finishes: int = 0
    seconds: float = 0.0
    """Seconds of the whole preparation."""
    adds: list[float] = field(default_factory=list)
    """Seconds of each exchange."""

    def added(self, seconds: float) -> None:
        """Count an exchange."""
        self.adds.append(seconds)
        self.seconds += seconds

    def finished(self, seconds: float) -> None:
        """Count a completion of the index."""
        self.finishes += 1
        self.seconds += seconds

    def figures(self) -> dict[str, float]:
        """Return the seconds, the exchanges, and the median and 95th percentile of an exchange's seconds."""
        p50, p95 = (percentile(self.adds, share) for share in (0.5, 0.95))
        return {"seconds": self.seconds, "exchanges": float(len(self.adds)), "p50_s": p50, "p95_s": p95}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies; 0 without values."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


@dataclass
class Timings:
    """Seconds by system and conversation."""

    preparations: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    """Figures of `Ingestion`."""
    answers: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Timings:
        """Return the timings of earlier runs; none if there is no readable file."""
        try:
            found = from_json(path.read_bytes())
            answers = {s: {k: (a, b) for k, (a, b) in of.items()} for s, of in found["answers"].items()}
            prepared = {s: {c: {k: float(v) for k, v in of.items()} for c, of in own.items()}
                        for s, own in found["preparations"].items()}  # fmt: skip
            return cls(prepared, answers)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def add_preparation(self, system: str, conversation_id: str, ingestion: Ingestion) -> None:
        """Add the figures of preparing a system."""
        self.preparations.setdefault(system, {})[conversation_id] = ingestion.figures()

    def add_answer(self, system: str, conversation_id: str, probe_id: str, context_s: float, answer_s: float) -> None:
        """Add the seconds of an answer: until its context was found, and until the answer."""
        self.answers.setdefault(system, {})[str(ItemId(conversation_id, probe_id))] = (context_s, answer_s)

    def as_json(self) -> str:
        """Return the timings as the text of a file."""
        rounded = {s: {k: [round(t, 6) for t in pair] for k, pair in of.items()} for s, of in self.answers.items()}
        prepared = {s: {c: {k: round(v, 6) for k, v in of.items()} for c, of in own.items()}
                    for s, own in self.preparations.items()}  # fmt: skip
        return json.dumps({"preparations": prepared, "answers": rounded}, indent=1, sort_keys=True) + "\n"

    def of(self, system: str) -> Latency | None:
        """Return a system's figures; None where nothing was measured."""
        prepared = list(self.preparations.get(system, {}).values())
        pairs = list(self.answers.get(system, {}).values())
        if not (prepared or pairs):
            return None
        whole_s = sum(of["seconds"] for of in prepared)
        return Latency(
            prepare_s=whole_s / len(prepared) if prepared else None,
            add_p50_s=fmean(of["p50_s"] for of in prepared) if prepared else None,
            add_p95_s=fmean(of["p95_s"] for of in prepared) if prepared else None,
            exchanges_per_s=sum(of["exchanges"] for of in prepared) / whole_s if whole_s else None,
            context_s=median(context for context, _ in pairs) if pairs else None,
            answers=len(pairs),
        )
