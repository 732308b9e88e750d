"""The tables of a benchmark, and BEAM's published figures beside them."""

from __future__ import annotations

from longbeam.schemas.base import Record
from longbeam.schemas.seeds import Category, Domain

MEASURES = ("user_messages", "replies", "answers", "follow_ups", "turns", "tokens", "user_tokens")
"""Counts per conversation that BEAM reports too, by the names of `ConversationStatistics`."""

TURN_SHAPES = (
    "no_interaction",
    "one_answer",
    "two_answers",
    "one_follow_up",
    "two_follow_ups",
    "answers_and_follow_ups",
    "other",
)
"""What happens in a turn after its main question and the reply to it; `other` is more than two of a kind."""


class ConversationStatistics(Record):
    """Counts of one conversation."""

    conversation_id: str
    domain: Domain
    category: Category
    target_tokens: int
    """0 for imports."""
    user_messages: int
    replies: int
    answers: int
    """User messages that answer a question of the assistant."""
    follow_ups: int
    turns: int
    """Main questions."""
    tokens: int
    """Of message content."""
    user_tokens: int
    sessions: int
    days: int
    """From the first message to the last."""
    turn_shapes: dict[str, int]
    """Turns by shape, with all of `TURN_SHAPES` as keys."""
    user_duplicates: int
    """User messages equal to an earlier one but for case and spacing."""
    user_near_duplicates: int
    """Further user messages that are almost an earlier one."""
    reply_duplicates: int
    reply_near_duplicates: int
    candidates: int
    """Probe candidates, selected or not."""
    probes: int
    """Selected ones."""
    nuggets: int
    """Of the selected probes."""


class CategoryTokens(Record):
    """Mean tokens per message in the conversations of a category."""

    category: Category
    conversations: int
    per_user_message: float
    per_reply: float


class AbilityStatistics(Record):
    """Selected probes of one ability, over all conversations."""

    ability: str
    probes: int
    easy: int
    medium: int
    hard: int
    nuggets: float
    """Mean per probe."""
    most_nuggets: int
    cited_messages: float
    """Mean number of distinct messages cited per probe."""
    most_cited_messages: int
    median_span: float | None
    """As `Statistics.median_span`, for this ability."""


class PublishedLength(Record):
    """BEAM's figures at one length, means per conversation; what is missing was not published or measured."""

    name: str
    tokens: int
    paper: dict[str, float]
    """By measure."""
    measured: dict[str, float]
    """By measure."""
    turn_shapes: dict[str, float]
    """Shares of the turns."""
    paper_deciles: tuple[float, ...]
    measured_deciles: tuple[float, ...]
    nuggets: dict[str, float]
    """Mean per probe, by ability."""
    cited_messages: dict[str, float]
    """Mean per probe, by ability."""


class PublishedCategoryTokens(Record):
    """Ranges (least, most) over BEAM's lengths of its mean tokens per message."""

    reply: tuple[float, float]
    user: dict[str, tuple[float, float]]
    """By category."""


class Published(Record):
    """BEAM's published figures and those measured on its released data."""

    source: str
    notes: tuple[str, ...]
    lengths: tuple[PublishedLength, ...]
    tokens_by_category: PublishedCategoryTokens


class Statistics(Record):
    """The tables of a benchmark."""

    conversations: tuple[ConversationStatistics, ...]
    mean: dict[str, float]
    """Mean per conversation, by measure, with `sessions`, `days`, `probes` and `nuggets`."""
    turn_shapes: dict[str, float]
    """Shares of all turns."""
    tokens_by_category: tuple[CategoryTokens, ...]
    abilities: tuple[AbilityStatistics, ...]
    """By name."""
    deciles: tuple[float, ...]
    """Share of the evidence in each tenth of the messages, counting a probe once per tenth; empty if there is none."""
    median_span: float | None
    """Median over probes that cite several messages of the distance from the first to the last cited one, as a
    share of the conversation's messages; None if no probe cites several."""
    beam: PublishedLength
    """BEAM at its length that is nearest to the mean number of tokens."""
    beam_tokens_by_category: PublishedCategoryTokens
    beam_source: str
    beam_notes: tuple[str, ...]
