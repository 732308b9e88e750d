"""Tuning of `review`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class ReviewTuning(Record):
    """Numbers of the review's queue, its searches and its statistics."""

    search_terms: int = 16  # Terms of a search for counter-evidence: the rarest ones tell most.
    common_word: float = 0.2  # Share of the messages from which a word tells nothing: it is everywhere.
    most_dates: int = 12  # Things (dates) of a probe whose distances are shown: pairs of more fill a page.
    error_weight: float = 3.0  # Weight in the queue of an error of the checks: it comes first.
    warning_weight: float = 1.0  # Weight of a warning: a person should look.
    fast_weight: float = 2.0  # Weight of an opinion given fast: it may not have been read.
    disagreement_weight: float = 1.5  # Weight of an ability on which opinions disagree: another one decides.
    judge_weight: float = 1.0  # Weight of a probe that a model's opinion contradicts: one of the two is wrong.
    skipped_weight: float = 0.5  # Weight of a skipped probe: somebody found it hard.
    fast_share: float = 0.33  # Share of a reviewer's median time below which an opinion is fast: no time to read.
    least_opinions: int = 5  # Things (opinions) before a time counts as fast or an agreement counts: fewer are chance.
    low_agreement: float = 0.8  # Share of agreeing items below which an ability is doubtful: one in five disputed.
    trial_overlap: float = 0.8  # Share of the shorter of two nuggets' words that makes them alike: the rest is grammar.
    most_suggested: int = 6  # Terms that the page suggests to search for: as many as a row holds.
    draws: int = 1_000  # Draws of a bootstrap: enough for the digits that a page shows.
    fewest_units: int = 10  # Units for which kappa, alpha and an interval are shown: of fewer, one moves a tenth.


REVIEWING = ReviewTuning()
