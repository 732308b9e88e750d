"""Tuning of `evaluation`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class EvaluationTuning(Record):
    """Numbers of the gate, the report and its statistics."""

    least_right: float = 0.9
    """Score of right answers below which a judge ranks nothing: it takes good for bad."""
    most_wrong: float = 0.1
    """Score of wrong answers above which a judge ranks nothing: it takes bad for good."""
    least_read: float = 0.8
    """Score of the cited messages below which a reader hides differences of systems: it fails on the evidence."""
    power: float = 0.8
    """Share of cases in which the difference that is asked for would be seen: the usual power."""
    passed: float = 0.5
    """Score from which a system has won a probe, here and in the filter of `view`: below, most nuggets are missed."""
    floor_exchanges: int = 256
    """Exchanges that a floor ranks, at most: the budget ends long before."""
    most_missing: float = 0.1
    """Share of a system's answers that may have failed: those that are missing would be the bad ones."""
    gate_batch: int = 7
    """Probes of one request, at most: what is the same for each takes 2,900 tokens, and neighbours share passages."""
    luck: float = 0.05
    """Share of guesses that hit by chance up to which a hit refuses: of good probes one in twenty may be refused."""
    gate_passages: int = 96
    """Passages of a probe that are read for signs: eight times as many as are shown."""
    gate_characters: int = 4_000
    """Characters of a cited message that are shown: facts stand before or behind pasted code."""
    draws: int = 4_000
    """Draws of a bootstrap: enough for two digits of an interval."""
    patterns: int = 2**14
    """Draws of signs: all patterns of 14 conversations; of more conversations as many are drawn."""
    alpha: float = 0.05
    """Likelihood (corrected p) below which a difference counts: the usual level."""
    few_conversations: int = 8
    """Conversations below which rows have no intervals and no ranks: a bootstrap has little to draw from."""
    no_proof: int = 6
    """Conversations below which no difference reaches p < 0.05 in the sign-flip test: 2 / 2^5 is .0625."""
    tail: float = 0.025
    """Share outside an interval on either side: 95 % lie within."""
    fits: float = 1.25
    """Factor of a conversation's length to the budget up to which most of it is read: whatever is chosen."""
    half_read: float = 0.5
    """Share of the budget below which a system is named as read at another one: it has half as much to read."""
    alike_settings: float = 0.9
    """Share of probes answered from the same messages from which two settings are named as alike: nine of ten."""


MEASURING = EvaluationTuning()
