"""The tables of a benchmark: sizes, turn shapes, probes, places of the evidence, repetition.

One conversation at a time is read, from a temporary file. Definitions are BEAM's where BEAM has one (a turn is a main
question; a decile is a tenth of the messages), so that its figures are comparable. `repetition` measures repetition.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from statistics import fmean, median

from longbeam.errors import UserError
from longbeam.schemas import (
    MEASURES,
    REPETITION_MEASURES,
    TURN_SHAPES,
    AbilityStatistics,
    Category,
    CategoryShape,
    ConversationReader,
    ConversationStatistics,
    Difficulty,
    Making,
    Message,
    MessageKind,
    MessageRole,
    PlanBorder,
    Probe,
    Published,
    PublishedLength,
    Statistics,
    incident_counts,
    prompt_lines,
)
from longbeam.validation.evidence import EvidenceTally, borders_of
from longbeam.validation.index import ConversationIndex, build_index
from longbeam.validation.repetition import mask_of, measure_repetition

DIGITS = 4
"""Decimal places of means and shares: more would suggest a precision that samples of this size lack."""


def benchmark_statistics(readers: Iterable[ConversationReader]) -> Statistics:
    """Return the tables over all conversations. Raises UserError if there is none."""
    return index_statistics(map(build_index, readers))


def index_statistics(indexes: Iterable[ConversationIndex]) -> Statistics:
    """Return the tables over conversations that were already read; their readers may be closed."""
    rows: list[ConversationStatistics] = []
    placed: list[_PlacedProbe] = []
    borders: list[PlanBorder] = []
    makings: list[Making] = []
    evidence = EvidenceTally()
    for index in indexes:  # one index is in memory at a time
        row, probes, crossing = _count_conversation(index)
        evidence.add(index)
        makings.append(index.head.making)
        rows.append(row)
        placed.extend(probes)
        borders.extend(crossing)
    if not rows:
        raise UserError("there is no finished conversation to count")
    published = published_figures()
    return Statistics(
        conversations=tuple(rows),
        mean={name: _round(fmean(getattr(r, name) for r in rows)) for name in _MEANS},
        turn_shapes=_shape_shares(rows),
        repetition={name: _round(fmean(r.repetition.figures[name] for r in rows)) for name in REPETITION_MEASURES},
        by_category=_by_category(rows),
        abilities=_by_ability(placed),
        deciles=_decile_shares(placed),
        median_span=_median_span(placed),
        evidence=evidence.table(),
        borders=tuple(borders),
        prompts=prompt_lines(makings),
        incidents=incident_counts(makings),
        gap_share=max(making.gap_share for making in makings),
        beam=_nearest_length(published, fmean(r.tokens for r in rows)),
        beam_tokens_by_category=published.tokens_by_category,
        beam_repetition=published.repetition,
        beam_source=published.source,
        beam_notes=published.notes,
    )


_MEANS = (*MEASURES, "sessions", "days", "candidates", "probes", "nuggets")


@cache
def published_figures() -> Published:
    """Return BEAM's published and measured figures from the data file beside this module."""
    file = resources.files("longbeam.validation") / "data" / "beam_published.json"
    return Published.model_validate_json(file.read_text(encoding="utf-8"))


def as_json(statistics: Statistics) -> str:
    """Return the tables as indented JSON with a final newline."""
    return statistics.model_dump_json(indent=2) + "\n"


@dataclass(frozen=True)
class _PlacedProbe:
    """A selected probe and where its evidence lies."""

    probe: Probe
    cited: tuple[int, ...]
    """Ordinals of the distinct cited messages, ascending; those that do not exist are left out."""
    messages: int
    """Number of messages in the conversation."""

    @property
    def deciles(self) -> frozenset[int]:
        """Tenths of the conversation that hold evidence, 0 to 9."""
        return frozenset(ordinal * 10 // self.messages for ordinal in self.cited)

    @property
    def span(self) -> float | None:
        """Distance from the first to the last cited message as a share of the conversation."""
        return (self.cited[-1] - self.cited[0]) / (self.messages - 1) if len(self.cited) > 1 else None


@dataclass
class _Tally:
    """Counts of one pass over the messages."""

    cited: Collection[str]
    """Keys of the messages whose ordinals are wanted."""
    ordinals: dict[str, int] = field(default_factory=dict)
    messages: int = 0
    kinds: Counter[MessageKind] = field(default_factory=Counter)
    tokens: Counter[MessageRole] = field(default_factory=Counter)
    roles: Counter[MessageRole] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    sessions: set[int] = field(default_factory=set)

    def read(self, messages: Iterable[Message]) -> None:
        """Count all messages; a turn lasts from one main question to the next."""
        turn: Counter[MessageKind] | None = None
        for message in messages:
            self._add(message)
            if message.kind is MessageKind.QUESTION:
                self._close(turn)
                turn = Counter()
            elif turn is not None:
                turn[message.kind] += 1
        self._close(turn)

    def _add(self, message: Message) -> None:
        if message.message_key in self.cited:
            self.ordinals[message.message_key] = self.messages
        self.messages += 1
        self.kinds[message.kind] += 1
        self.roles[message.role] += 1
        self.tokens[message.role] += message.tokens
        self.sessions.add(message.session)

    def _close(self, turn: Counter[MessageKind] | None) -> None:
        if turn is not None:
            self.shapes[turn_shape(turn[MessageKind.ANSWER], turn[MessageKind.FOLLOW_UP])] += 1


def turn_shape(answers: int, follow_ups: int) -> str:
    """Return the one of `TURN_SHAPES` of a turn with these numbers of user messages after the main question."""
    if answers and follow_ups:
        return "answers_and_follow_ups"
    return {
        (0, 0): "no_interaction",
        (1, 0): "one_answer",
        (2, 0): "two_answers",
        (0, 1): "one_follow_up",
        (0, 2): "two_follow_ups",
    }.get((answers, follow_ups), "other")


def _count_conversation(
    index: ConversationIndex,
) -> tuple[ConversationStatistics, list[_PlacedProbe], tuple[PlanBorder, ...]]:
    head, messages, selected = index.head, index.messages, index.selected
    tally = _Tally({e.message_key for probe in selected for e in probe.evidence})
    tally.read(messages)
    placed = [_place(probe, tally) for probe in selected]
    row = ConversationStatistics(
        conversation_id=head.conversation_id,
        domain=head.seed.domain,
        category=head.seed.category,
        target_tokens=head.target_tokens,
        user_messages=tally.roles[MessageRole.USER],
        replies=tally.roles[MessageRole.ASSISTANT],
        answers=tally.kinds[MessageKind.ANSWER],
        follow_ups=tally.kinds[MessageKind.FOLLOW_UP],
        turns=tally.kinds[MessageKind.QUESTION],
        tokens=tally.tokens.total(),
        user_tokens=tally.tokens[MessageRole.USER],
        sessions=len(tally.sessions),
        days=(messages[-1].sent_at.date() - messages[0].sent_at.date()).days if messages else 0,
        turn_shapes={shape: tally.shapes[shape] for shape in TURN_SHAPES},
        repetition=measure_repetition(messages, mask_of(head)),
        candidates=len(index.probes),
        probes=len(placed),
        nuggets=sum(len(p.probe.rubric) for p in placed),
    )
    return row, placed, tuple(borders_of(head))


def _place(probe: Probe, tally: _Tally) -> _PlacedProbe:
    # A cited message that does not exist is an error finding of `validate`; here it is only not counted.
    cited = {tally.ordinals[e.message_key] for e in probe.evidence if e.message_key in tally.ordinals}
    return _PlacedProbe(probe, tuple(sorted(cited)), tally.messages)


def _shape_shares(rows: Sequence[ConversationStatistics]) -> dict[str, float]:
    counts = {shape: sum(row.turn_shapes[shape] for row in rows) for shape in TURN_SHAPES}
    return {shape: _share(count, sum(counts.values())) for shape, count in counts.items()}


def _by_category(rows: Sequence[ConversationStatistics]) -> tuple[CategoryShape, ...]:
    tables = []
    for category in Category:
        of_category = [row for row in rows if row.category is category]
        if of_category:
            user_tokens = sum(r.user_tokens for r in of_category)
            reply_tokens = sum(r.tokens for r in of_category) - user_tokens
            tables.append(
                CategoryShape(
                    category=category,
                    conversations=len(of_category),
                    per_user_message=_share(user_tokens, sum(r.user_messages for r in of_category)),
                    per_reply=_share(reply_tokens, sum(r.replies for r in of_category)),
                    turn_shapes=_shape_shares(of_category),
                )
            )
    return tuple(tables)


def _by_ability(placed: Sequence[_PlacedProbe]) -> tuple[AbilityStatistics, ...]:
    abilities = sorted({p.probe.ability for p in placed})
    return tuple(_ability(name, [p for p in placed if p.probe.ability == name]) for name in abilities)


def _ability(ability: str, placed: Sequence[_PlacedProbe]) -> AbilityStatistics:
    difficulties = Counter(p.probe.difficulty for p in placed)
    nuggets = [len(p.probe.rubric) for p in placed]
    cited = [len(p.cited) for p in placed]
    return AbilityStatistics(
        ability=ability,
        probes=len(placed),
        easy=difficulties[Difficulty.EASY],
        medium=difficulties[Difficulty.MEDIUM],
        hard=difficulties[Difficulty.HARD],
        nuggets=_round(fmean(nuggets)),
        most_nuggets=max(nuggets),
        cited_messages=_round(fmean(cited)),
        most_cited_messages=max(cited),
        median_span=_median_span(placed),
    )


def _decile_shares(placed: Sequence[_PlacedProbe]) -> tuple[float, ...]:
    counts = Counter(decile for p in placed for decile in p.deciles)
    return tuple(_share(counts[d], counts.total()) for d in range(10)) if counts else ()


def _median_span(placed: Sequence[_PlacedProbe]) -> float | None:
    spans = [span for p in placed if (span := p.span) is not None]
    return _round(median(spans)) if spans else None


def _nearest_length(published: Published, tokens: float) -> PublishedLength:
    """Return BEAM's figures of the length with the smallest ratio to `tokens`."""
    return min(published.lengths, key=lambda length: abs(math.log(length.tokens / max(tokens, 1))))


def _share(count: int, total: int) -> float:
    return _round(count / total) if total else 0.0


def _round(value: float) -> float:
    return round(value, DIGITS)
