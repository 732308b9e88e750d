"""Measured seconds of systems, kept apart from the results, which are the same in every run.

A run that replays earlier work does not measure it again: the figures are those of the run that did the work.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from longbeam.keys import ItemId


@dataclass(frozen=True)
class Latency:
    """Seconds of one system, over all measured conversations."""

    prepare_s: float | None
    """Mean preparation of a conversation."""
    context_s: float | None
    """Median time to find the context; for systems that answer themselves, the time of the whole answer."""
    answer_s: float | None
    """Median time until the answer, while other questions are asked at the same time."""
    answer_p95_s: float | None
    answers: int


@dataclass
class Timings:
    """Seconds by system and conversation."""

    preparations: dict[str, dict[str, float]] = field(default_factory=dict)
    answers: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Timings:
        """Return the timings of earlier runs; none if there is no readable file."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            answers = {s: {k: (a, b) for k, (a, b) in of.items()} for s, of in found["answers"].items()}
            return cls(dict(found["preparations"]), answers)
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def add_preparation(self, system: str, conversation_id: str, seconds: float) -> None:
        """Add the seconds of preparing a system."""
        self.preparations.setdefault(system, {})[conversation_id] = seconds

    def add_answer(self, system: str, conversation_id: str, probe_id: str, context_s: float, answer_s: float) -> None:
        """Add the seconds of an answer: until its context was found, and until the answer."""
        self.answers.setdefault(system, {})[str(ItemId(conversation_id, probe_id))] = (context_s, answer_s)

    def as_json(self) -> str:
        """Return the timings as the text of a file."""
        rounded = {s: {k: [round(t, 6) for t in pair] for k, pair in of.items()} for s, of in self.answers.items()}
        return json.dumps({"preparations": self.preparations, "answers": rounded}, indent=1, sort_keys=True) + "\n"

    def of(self, system: str) -> Latency | None:
        """Return a system's figures; None where nothing was measured."""
        prepared = list(self.preparations.get(system, {}).values())
        pairs = list(self.answers.get(system, {}).values())
        if not (prepared or pairs):
            return None
        whole = sorted(answer for _, answer in pairs)
        return Latency(
            prepare_s=sum(prepared) / len(prepared) if prepared else None,
            context_s=median(context for context, _ in pairs) if pairs else None,
            answer_s=median(whole) if whole else None,
            answer_p95_s=whole[min(len(whole) - 1, round(0.95 * len(whole)))] if whole else None,
            answers=len(whole),
        )
