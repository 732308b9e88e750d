"""Calibration of a judge on a benchmark: whether its scores there say anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longbeam.evaluation.arms import EVIDENCE
from longbeam.evaluation.table import Row

LEAST_GOLD, MOST_WRONG = 0.95, 0.05
LEAST_READ = 0.8
"""Score of the cited messages below which a reader hides the differences of systems."""
WRONG = ("wrong", "echo", "swapped")
"""Answers that are known to be wrong."""


@dataclass(frozen=True)
class Calibration:
    """Scores that a judge gave to answers that are known to be right or wrong."""

    gold: float | None
    """None if the gold answers were not judged."""
    wrong: Mapping[str, float]
    """Score by kind of wrong answer."""
    fails_at: Sequence[str] = ()
    """Abilities at which the judge is outside of the bounds."""

    @property
    def can_score(self) -> bool:
        """Whether the judge tells right from wrong; True where nothing was judged that would show it."""
        return (self.gold is None or self.gold >= LEAST_GOLD) and all(s <= MOST_WRONG for s in self.wrong.values())

    @property
    def line(self) -> str:
        """The scores in one line; empty where there are none."""
        given = {} if self.gold is None else {"gold": self.gold}
        return ", ".join(f"{name} {score:.3f}" for name, score in {**given, **self.wrong}.items())

    @property
    def refusal(self) -> str:
        """The sentence that stands in place of a ranking; empty if the judge can score the benchmark."""
        if self.can_score:
            return ""
        where = f" It fails at {', '.join(self.fails_at)}." if self.fails_at else ""
        return (
            f"This judge cannot score this benchmark: {self.line}; gold answers must score {LEAST_GOLD} or more, wrong "
            f"ones {MOST_WRONG} or less.{where} Scores are left out; name another judge: similarity, gguf:PATH, "
            "openai:NAME."
        )


def reader_note(rows: Sequence[Row]) -> str:
    """Return a sentence on a reader that cannot use the evidence itself; empty for one that can."""
    score = next((row.paper for row in rows if row.system == EVIDENCE), None)
    if score is None or score >= LEAST_READ:
        return ""
    return (
        f"This reader scores {score:.3f} with the cited messages alone, so most of what systems lose is the reader's: "
        "compare them by evidence recall."
    )


def calibration_of(rows: Sequence[Row]) -> Calibration:
    """Return the calibration that an evaluation's rows hold, by the paper's rule."""
    scores = {row.system: row.paper for row in rows}
    wrong = {name: score for name in WRONG if (score := scores.get(name)) is not None}
    failing = {
        ability
        for row in rows
        if row.system == "gold" or row.system in WRONG
        for ability, score in row.by_ability.items()
        if score is not None and (score < LEAST_GOLD if row.system == "gold" else score > MOST_WRONG)
    }
    return Calibration(scores.get("gold"), wrong, tuple(sorted(failing)))
