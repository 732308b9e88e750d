"""Calibration of a judge on a benchmark: whether its scores there say anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longbeam.evaluation.arms import EVIDENCE
from longbeam.evaluation.table import Row
from longbeam.evaluation.tuning import MEASURING

RIGHT_ANSWERS = ("gold", "paraphrased")
WRONG = ("wrong", "echo", "swapped", "denied", "candidates", "two_values", "other_subject")
"""Answers that are known to be right or wrong; the last four and `paraphrased` are made to tempt a judge of words."""
_RIGHT, _ALL_WRONG = (*RIGHT_ANSWERS, "reworded"), (*WRONG, "misleading")
"""With those that a language model writes, where there is one."""


@dataclass(frozen=True)
class Calibration:
    """Scores that a judge gave to answers that are known to be right or wrong, by kind of answer."""

    right: Mapping[str, float]
    wrong: Mapping[str, float]
    fails_at: Sequence[str] = ()
    """Abilities at which the judge is outside of the bounds."""
    is_by_rule: bool = False
    """Whether the judge is rules: then answers that rules made show less than those of a reader would."""

    @property
    def can_score(self) -> bool:
        """Whether the judge tells right from wrong; True where nothing was judged that would show it."""
        is_right = all(score >= MEASURING.least_right for score in self.right.values())
        return is_right and all(score <= MEASURING.most_wrong for score in self.wrong.values())

    @property
    def scores(self) -> str:
        """The scores in one line; empty where there are none."""
        return ", ".join(
            f"{name.replace('_', ' ')} {score:.3f}" for name, score in {**self.right, **self.wrong}.items()
        )

    @property
    def line(self) -> str:
        """Kinds of answers on which the judge was tried, with the scores; empty where there are none."""
        tried = "calibrated"
        if self.is_by_rule:
            tried = "tried" if "reworded" in self.right else "tried on answers made by rules, not on free ones"
        return f"{tried}: {self.scores}" if self.scores else ""

    @property
    def refusal(self) -> str:
        """The sentence that stands in place of a ranking; empty if the judge can score the benchmark."""
        if self.can_score:
            return ""
        where = f" It fails at {', '.join(self.fails_at)}." if self.fails_at else ""
        return (
            f"This judge cannot score this benchmark: {self.scores}; right answers must score {MEASURING.least_right} "
            f"or more, wrong ones {MEASURING.most_wrong} or less.{where} Scores are left out, and the table is of "
            "evidence recall; name another judge: similarity, gguf:PATH, openai:NAME."
        )


def reader_note(rows: Sequence[Row]) -> str:
    """Return a sentence on a reader that cannot use the evidence itself; empty for one that can."""
    score = next((row.score for row in rows if row.system == EVIDENCE), None)
    if score is None or score >= MEASURING.least_read:
        return ""
    return (
        f"This reader scores {score:.3f} with the cited messages alone, so most of what systems lose is the reader's: "
        "compare them by evidence recall."
    )


def calibration_of(rows: Sequence[Row], judge: str = "") -> Calibration:
    """Return the calibration that an evaluation's rows hold, by the paper's rule; `judge` as the run names it."""
    scores = {row.system: row.score for row in rows}
    known = {name: score for name, score in scores.items() if score is not None}
    right, wrong = ({name: known[name] for name in names if name in known} for names in (_RIGHT, _ALL_WRONG))
    failing = {
        ability
        for row in rows
        if row.system in (*_RIGHT, *_ALL_WRONG)
        for ability, score in row.by_ability.items()
        if score is not None
        and (score < MEASURING.least_right if row.system in _RIGHT else score > MEASURING.most_wrong)
    }
    return Calibration(right, wrong, tuple(sorted(failing)), "no language model" in judge)
