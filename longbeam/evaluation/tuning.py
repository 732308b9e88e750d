"""Tuning of `evaluation`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class EvaluationTuning(Record):
    """Numbers of the gate, the report and its statistics."""

    least_right: float = 0.9  # Score of right answers below which a judge ranks nothing: it takes good for bad.
    most_wrong: float = 0.1  # Score of wrong answers above which a judge ranks nothing: it takes bad for good.
    least_read: float = 0.8  # Score of cited messages below which differences of systems are hidden: a bad reader.
    power: float = 0.8  # Share of cases in which the difference that is asked for would be seen: the usual power.
    passed: float = 0.5  # Score from which a system has won a probe, also in `view`: below, most nuggets are missed.
    floor_exchanges: int = 256  # Exchanges that a floor ranks, at most: the budget ends long before.
    most_missing: float = 0.1  # Share of a system's answers that may have failed: missing ones would be the bad ones.
    gate_batch: int = 7  # Probes of one request, at most: what each needs takes 2,900 tokens, and passages are shared.
    luck: float = 0.05  # Share of guesses that hit by chance, at most, for a hit to refuse: one in twenty may be lost.
    gate_passages: int = 96  # Passages of a probe that are read for signs: eight times as many as are shown.
    gate_characters: int = 4_000  # Characters of a cited message that are shown: facts stand before or behind code.
    draws: int = 4_000  # Draws of a bootstrap: enough for two digits of an interval.
    patterns: int = 2**14  # Draws of signs: all patterns of 14 conversations; of more conversations as many are drawn.
    alpha: float = 0.05  # Likelihood (corrected p) below which a difference counts: the usual level.
    few_conversations: int = 8  # Conversations below which there are no intervals and ranks: too little to draw from.
    no_proof: int = 6  # Conversations below which no difference reaches p < 0.05 by flipped signs: 2 / 2^5 is .0625.
    tail: float = 0.025  # Share outside an interval on either side: 95 % lie within.
    fits: float = 1.25  # Factor from budget to length up to which most is read: whatever is chosen.
    half_read: float = 0.5  # Share of the budget below which a system is named: it reads at another budget.
    alike_settings: float = 0.9  # Share of probes with the same messages, or of the budget: from here on two are alike.


MEASURING = EvaluationTuning()
