"""Statistics of a review: agreement by ability, nugget and pair; progress by reviewer; ratings beside BEAM's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Literal

import krippendorff
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from longbeam.evaluation import cohen_kappa
from longbeam.review.guidelines import current_version
from longbeam.review.log import ActContent, SeenVersions, new_event
from longbeam.review.people import Body, Viewer, invalid
from longbeam.review.queue import own_progress
from longbeam.review.state import FINAL, ItemState, ItemStatus, Opinion, in_force
from longbeam.review.tuning import REVIEWING
from longbeam.review.workspace import Workspace
from longbeam.schemas import RATED_ASPECTS, EventKind, Record, ReviewEvent, Verdict

Unit = Mapping[str, str]
"""Label by reviewer."""
Level = Literal["nominal", "ordinal"]
_SEED = 20_251_027


class Agreement(Record):
    """Agreement over some units; only those with at least two labels count."""

    name: str
    """An ability, an aspect, `all`, or two reviewers."""
    units: int
    percent: float | None
    """Share of pairs of labels that are equal; None without a pair."""
    kappa: float | None
    """Cohen's kappa; the mean over pairs for more than two reviewers. None if only one label was given."""
    alpha: float | None
    """Krippendorff's alpha; None if only one label was given."""
    alpha_low: float | None
    alpha_high: float | None
    labels: dict[str, int]
    """Count of each label."""

    @property
    def is_too_small(self) -> bool:
        """Whether kappa and alpha say nothing, because there are too few units."""
        return self.units < REVIEWING.fewest_units


def agreement_over(name: str, units: Sequence[Unit], level: Level = "nominal") -> Agreement:
    """Return the agreement over units; labels of an ordinal scale are numerals."""
    paired = [u for u in units if len(u) > 1]
    counts, domain = _counts(paired, level)
    low, high = _interval(counts, domain, level)
    return Agreement(
        name=name,
        units=len(paired),
        percent=percent_agreement(paired),
        kappa=_mean_kappa(paired),
        alpha=_alpha(counts, domain, level),
        alpha_low=low,
        alpha_high=high,
        labels=dict(sorted(Counter(label for unit in paired for label in unit.values()).items())),
    )


def percent_agreement(units: Sequence[Unit]) -> float | None:
    """Return the share of pairs of labels on one unit that are equal."""
    pairs = [(a, b) for unit in units for a, b in combinations(unit.values(), 2)]
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def pairs_of(units: Sequence[Unit]) -> Iterator[tuple[tuple[str, str], list[Unit]]]:
    """Yield each pair of reviewers, and the units that both have labelled, with their two labels."""
    shared: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units:
        for first, second in combinations(sorted(unit), 2):
            shared[first, second].append({first: unit[first], second: unit[second]})
    yield from sorted(shared.items())


def _mean_kappa(units: Sequence[Unit]) -> float | None:
    found = []
    for (first, second), shared in pairs_of(units):
        kappa = cohen_kappa([(unit[first], unit[second]) for unit in shared])
        if kappa is not None:
            found.append(kappa)
    return sum(found) / len(found) if found else None


def _counts(units: Sequence[Unit], level: Level) -> tuple[NDArray[np.int64], list[str]]:
    """Return counts of labels by unit and label, and the labels, in their order on an ordinal scale."""
    labels = {label for unit in units for label in unit.values()}
    domain = sorted(labels, key=float) if level == "ordinal" else sorted(labels)
    place = {label: i for i, label in enumerate(domain)}
    counts = np.zeros((len(units), len(domain)), dtype=np.int64)
    for row, unit in enumerate(units):
        for label in unit.values():
            counts[row, place[label]] += 1
    return counts, domain


def _alpha(counts: NDArray[np.int64], domain: Sequence[str], level: Level) -> float | None:
    if (counts.sum(axis=0) > 0).sum() < 2:
        return None
    values = [float(label) for label in domain] if level == "ordinal" else list(range(len(domain)))
    return float(krippendorff.alpha(value_counts=counts, value_domain=values, level_of_measurement=level))


def _interval(
    counts: NDArray[np.int64], domain: Sequence[str], level: Level
) -> tuple[float, float] | tuple[None, None]:
    if len(counts) < REVIEWING.fewest_units:
        return None, None
    draw = np.random.default_rng(_SEED)
    found = []
    for _ in range(REVIEWING.draws):
        alpha = _alpha(counts[draw.integers(0, len(counts), len(counts))], domain, level)
        if alpha is not None:  # a draw with a single label has no alpha
            found.append(alpha)
    if not found:
        return None, None
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


ALL = "all"
BEAM_TABLE_4 = {
    "128K": (4.4, 4.55, 4.35),
    "500K": (4.49, 4.4, 4.63),
    "1M": (4.66, 4.54, 4.6),
    "10M": (4.6, 4.8, 5.0),
    "all": (4.53, 4.57, 4.64),
}
"""By length, in the order of RATED_ASPECTS. Source: arXiv 2510.27246, Table 4, two annotators."""
_SIZES = ((90_000, "under 90K"), (300_000, "128K"), (750_000, "500K"), (3_000_000, "1M"))
"""Most tokens of a conversation in each row. BEAM has no shorter conversations than 100K, give or take a tenth."""


class Rating(Body):
    """A rating of one aspect; the body of POST /api/conversations/{conversation_id}/ratings."""

    aspect: str
    score: int = Field(ge=1, le=5)
    note: str = Field(default="", max_length=20_000)
    active_ms: int = Field(default=0, ge=0)


class SolvedRow(Record):
    """Answers of reviewers to the questions of one ability, given blind and scored by the rubric."""

    ability: str
    answers: int
    right: int
    """Answers with full marks."""
    mean: float


class AgreementPage(Record):
    """Agreement on the items that at least two reviewers have judged."""

    verdicts: tuple[Agreement, ...]
    """`accept`, `edit`, `reject`; all, then by ability."""
    nuggets: tuple[Agreement, ...]
    """`yes`, `no`, `edit`; all, then by ability."""
    ratings: tuple[Agreement, ...]
    """By aspect, on the ordinal scale 1 to 5."""
    pairs: tuple[Agreement, ...]
    """Verdicts, by two reviewers."""
    judge: tuple[Agreement, ...]
    """`accept` or `reject` of reviewers and of the judge, by version of the rubric: `as generated`, `edited`."""
    solved: tuple[SolvedRow, ...]
    """Answers that reviewers gave before they saw the gold answer, by ability."""


class ReviewerRow(Record):
    """One reviewer's work."""

    reviewer_id: str
    saved: int
    skipped: int
    begun: int
    conflicts: int
    """Saved items on which another reviewer decided otherwise."""
    active_s: float
    items_per_hour: float | None
    gold_seen: int | None
    """Shown to leads only."""
    gold_right: int | None


class ProgressPage(Record):
    """Progress of the review."""

    items: int
    finished: int
    by_status: dict[str, int]
    by_ability: dict[str, dict[str, int]]
    """Items by status, by ability."""
    reviewers: tuple[ReviewerRow, ...]


class RatingRow(Record):
    """Mean ratings of conversations of one length, beside BEAM's."""

    length: str
    conversations: int
    ratings: int
    means: dict[str, float | None]
    beam: dict[str, float]
    """Empty for lengths that BEAM does not have."""


class RatingsPage(Record):
    """Ratings beside BEAM's Table 4; only ratings that the viewer may see count."""

    rows: tuple[RatingRow, ...]
    agreement: tuple[Agreement, ...]
    waiting: int
    """Conversations that still lack a wanted rating, or the viewer's own."""


def agreement_page(workspace: Workspace, viewer: Viewer) -> AgreementPage:
    """Return the agreement on all items that are no longer blind."""
    verdicts: dict[str, list[Unit]] = defaultdict(list)
    nuggets: dict[str, list[Unit]] = defaultdict(list)
    for item_id in workspace.reviewed_ids():
        state = workspace.state(item_id)
        if not state.is_open or len(state.saved) < 2:
            continue
        ability = state.base.ability
        verdicts[ability].append({o.reviewer_id: label_of(o) for o in state.saved})
        nuggets[ability] += nugget_units(state)
    everything = [unit for units in verdicts.values() for unit in units]
    return AgreementPage(
        verdicts=_rows(verdicts),
        nuggets=_rows(nuggets),
        ratings=_rating_rows(workspace, viewer),
        pairs=tuple(agreement_over(" / ".join(pair), units) for pair, units in pairs_of(everything)),
        judge=_judge_rows(workspace),
        solved=_solved_rows(workspace),
    )


def _judge_rows(workspace: Workspace) -> tuple[Agreement, ...]:
    """Return how far reviewers and the judge agree; the rubric of an item is never an example for its own judge."""
    units: dict[str, list[Unit]] = {"as generated": [], "edited": []}
    for item_id in workspace.reviewed_ids():
        state = workspace.state(item_id)
        for opinion in state.saved if state.is_open else ():
            trial = workspace.rubric_trial(item_id, opinion.probe)
            if trial is None:
                continue
            label = "accept" if trial.is_sound else "reject"
            said = "reject" if opinion.verdict is Verdict.REJECT else "accept"
            units["edited" if opinion.is_edited else "as generated"].append({"reviewer": said, "judge": label})
    return tuple(agreement_over(name, of) for name, of in units.items())


def _solved_rows(workspace: Workspace) -> tuple[SolvedRow, ...]:
    scores: dict[str, list[float]] = defaultdict(list)
    for item_id in workspace.reviewed_ids():
        state = workspace.state(item_id)
        given = [o.solved_score for o in state.opinions.values() if o.solved_score is not None]
        scores[state.base.ability] += given if state.is_open else []
    return tuple(
        SolvedRow(ability=ability, answers=len(of), right=sum(s == 1.0 for s in of), mean=fmean(of))
        for ability, of in sorted(scores.items())
        if of
    )


def label_of(opinion: Opinion) -> str:
    """Return a saved opinion's label: `accept`, `edit` (accepted with changes) or `reject`."""
    if opinion.verdict is Verdict.REJECT:
        return "reject"
    return "edit" if opinion.is_edited else "accept"


def nugget_units(state: ItemState) -> list[Unit]:
    """Return the reviewers' labels of each nugget of the sealed rubric; reviewers without a label are left out."""
    units: list[Unit] = []
    for nugget in state.base.rubric:
        unit = {}
        for opinion in state.saved:
            texts = {n.nugget_id: n.text for n in opinion.probe.rubric}
            if texts.get(nugget.nugget_id) != nugget.text:
                unit[opinion.reviewer_id] = "edit"
            elif nugget.nugget_id in opinion.labels:
                unit[opinion.reviewer_id] = opinion.labels[nugget.nugget_id].value
        units.append(unit)
    return units


def progress_page(workspace: Workspace, viewer: Viewer) -> ProgressPage:
    """Return the progress of the review and of each reviewer."""
    by_ability: dict[str, Counter[str]] = defaultdict(Counter)
    states = {item_id: workspace.state(item_id) for item_id in workspace.item_ids()}
    opinions: dict[str, list[tuple[str, ItemState, Opinion]]] = defaultdict(list)
    for item_id, state in states.items():
        by_ability[state.base.ability][state.status.value] += 1
        for opinion in state.opinions.values():
            if own_progress(opinion) != "none" or opinion.active_ms:
                opinions[opinion.reviewer_id].append((item_id, state, opinion))
    by_status = sum(by_ability.values(), Counter[str]())
    return ProgressPage(
        items=len(states),
        finished=sum(by_status[status.value] for status in FINAL),
        by_status=dict(by_status),
        by_ability={ability: dict(counts) for ability, counts in by_ability.items()},
        reviewers=tuple(_reviewer_row(workspace, viewer, name, opinions[name]) for name in sorted(opinions)),
    )


def ratings_page(workspace: Workspace, viewer: Viewer) -> RatingsPage:
    """Return mean ratings by length beside BEAM's, and how far the raters agree, of what the viewer may see."""
    given: dict[str, list[dict[str, dict[str, int]]]] = defaultdict(list)
    waiting = 0
    for conversation_id in workspace.archive.conversation_ids:
        ratings = ratings_of(workspace, conversation_id)
        if all(is_rating_open(workspace, viewer, by) for by in ratings.values()):
            given[_size_of(workspace, conversation_id)].append(ratings)
            given[ALL].append(ratings)
        else:
            waiting += 1
    rows = []
    for length in (*(name for _, name in _SIZES), "10M", ALL):
        if length not in BEAM_TABLE_4 and not given[length]:
            continue
        scores = {a: [s for ratings in given[length] for s in ratings[a].values()] for a in RATED_ASPECTS}
        rows.append(
            RatingRow(
                length=length,
                conversations=len(given[length]),
                ratings=sum(map(len, scores.values())),
                means={a: fmean(values) if values else None for a, values in scores.items()},
                beam=dict(zip(RATED_ASPECTS, BEAM_TABLE_4.get(length, ()), strict=False)),
            )
        )
    return RatingsPage(rows=tuple(rows), agreement=_rating_rows(workspace, viewer), waiting=waiting)


def is_rating_open(workspace: Workspace, viewer: Viewer, given: Mapping[str, int]) -> bool:
    """Whether the ratings of one aspect may be shown: all wanted are in, and one's own unless one leads or reads."""
    has_rated = viewer.reviewer_id in given or not viewer.can_write or viewer.is_lead
    return has_rated and len(given) >= workspace.settings.overlap


def ratings_of(workspace: Workspace, conversation_id: str) -> dict[str, dict[str, int]]:
    """Return the ratings in force: by aspect, by reviewer."""
    found: dict[str, dict[str, int]] = {aspect: {} for aspect in RATED_ASPECTS}
    for event in in_force(workspace.log.of_item(conversation_id)):
        if event.kind is EventKind.RATED and event.target in found and isinstance(event.after, int):
            found[event.target][event.reviewer_id] = event.after
    return found


def rate(workspace: Workspace, viewer: Viewer, conversation_id: str, rating: Rating) -> ReviewEvent:
    """Append a rating; Refusal `invalid` for an unknown aspect."""
    viewer.require_write()
    if rating.aspect not in RATED_ASPECTS:
        raise invalid(f"rate one of {', '.join(RATED_ASPECTS)} from 1 to 5")
    before = ratings_of(workspace, conversation_id)[rating.aspect].get(viewer.reviewer_id)
    content = ActContent(rating.aspect, before, rating.score, note=rating.note, active_ms=rating.active_ms)
    seen = SeenVersions(guidelines=current_version(workspace))
    (event,) = workspace.log.append(new_event(EventKind.RATED, conversation_id, viewer.reviewer_id, content, seen))
    return event


def _rows(units: dict[str, list[Unit]]) -> tuple[Agreement, ...]:
    everything = [unit for of in units.values() for unit in of]
    return (agreement_over(ALL, everything), *(agreement_over(a, units[a]) for a in sorted(units)))


def _rating_rows(workspace: Workspace, viewer: Viewer) -> tuple[Agreement, ...]:
    units: dict[str, list[Unit]] = {aspect: [] for aspect in RATED_ASPECTS}
    for conversation_id in workspace.archive.conversation_ids:
        for aspect, given in ratings_of(workspace, conversation_id).items():
            if len(given) > 1 and is_rating_open(workspace, viewer, given):
                units[aspect].append({r: str(score) for r, score in given.items()})
    return tuple(agreement_over(aspect, of, "ordinal") for aspect, of in units.items())


def _reviewer_row(
    workspace: Workspace, viewer: Viewer, name: str, opinions: list[tuple[str, ItemState, Opinion]]
) -> ReviewerRow:
    saved = [o for _, _, o in opinions if o.is_saved]
    active_s = sum(o.active_ms for _, _, o in opinions) / 1000
    gold = [(workspace.gold_verdict(i), o) for i, _, o in opinions if o.is_saved and workspace.gold_verdict(i)]
    return ReviewerRow(
        reviewer_id=name,
        saved=len(saved),
        skipped=sum(o.verdict is Verdict.SKIP for _, _, o in opinions),
        begun=sum(own_progress(o) in ("draft", "lapsed") for _, _, o in opinions),
        conflicts=sum(s.status is ItemStatus.CONFLICT and o.is_saved for _, s, o in opinions),
        active_s=active_s,
        items_per_hour=len(saved) / active_s * 3600 if active_s else None,
        gold_seen=len(gold) if viewer.is_lead else None,
        gold_right=sum(right is o.verdict for right, o in gold) if viewer.is_lead else None,
    )


def _size_of(workspace: Workspace, conversation_id: str) -> str:
    """Return the row of a conversation; conversations of 128K count for BEAM's 100K."""
    tokens = sum(line.tokens for line in workspace.conversation(conversation_id).lines)
    return next((name for most, name in _SIZES if tokens <= most), "10M")
