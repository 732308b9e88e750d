"""All model-backed checks, in listing order. A new check is one line here."""

from __future__ import annotations

from longbeam.evaluation.model_checks import answerable, counter_evidence, gold_scores, guessable
from longbeam.evaluation.model_checks.base import ModelCheck

MODEL_CHECKS: tuple[ModelCheck, ...] = (
    answerable.CHECK,
    guessable.CHECK,
    gold_scores.CHECK,
    counter_evidence.CHECK,
)
