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


REPETITION_MEASURES = (
    "user_duplicates",
    "user_near_share",
    "user_masked_share",
    "reply_duplicates",
    "reply_near_share",
    "reply_masked_share",
    "distinct_sentences",
    "most_frequent_share",
    "frequent_sentences",
)
"""Messages of a role equal to an earlier one but for case and spacing (a count); the share equal or nearly equal to
an earlier one; the same share once values, names, dates and numbers are masked. Then of the masked prose sentences of
the replies: how many there are, the share of replies that hold the most frequent one, and how many stand in more than
0.5 % of the replies and in two at least."""


class FrequentSentence(Record):
    """A masked sentence that stands in several replies."""

    text: str
    """In lower case, `_` for what was masked."""
    replies: int
    share: float
    """Of all replies."""


class Repetition(Record):
    """How much one conversation repeats itself."""

    figures: dict[str, float]
    """By `REPETITION_MEASURES`."""
    worst: tuple[FrequentSentence, ...]
    """The most frequent masked sentences that stand in several replies, most frequent first."""


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
    repetition: Repetition
    candidates: int
    """Probe candidates, selected or not."""
    probes: int
    """Selected ones."""
    nuggets: int
    """Of the selected probes."""


class CategoryShape(Record):
    """Mean tokens per message and shapes of turns in the conversations of a category."""

    category: Category
    conversations: int
    per_user_message: float
    per_reply: float
    turn_shapes: dict[str, float]
    """Shares of the turns."""


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


class PublishedRepetition(Record):
    """How much BEAM's conversations repeat themselves, measured by us."""

    name: str
    """Which conversations."""
    conversations: int
    mean: dict[str, float]
    """Per conversation, by `REPETITION_MEASURES`; ledger values are not masked, for BEAM has no ledger."""
    pooled: dict[str, float]
    """The figures of sentences over all replies of these conversations together, masked conversation by conversation:
    a share of the replies means little where a conversation has a hundred."""


class Published(Record):
    """BEAM's published figures and those measured on its released data."""

    source: str
    notes: tuple[str, ...]
    lengths: tuple[PublishedLength, ...]
    tokens_by_category: PublishedCategoryTokens
    repetition: PublishedRepetition


class PlanBorder(Record):
    """What one plan takes up of the plans before it."""

    conversation_id: str
    plan_index: int
    people_new: tuple[str, ...]
    """First names that no earlier plan says."""
    people_back: tuple[str, ...]
    """First names that an earlier plan says, too."""
    facts_changed: int
    """Facts of earlier plans that get another value."""
    facts_denied: int
    """Facts of earlier plans that are contradicted."""
    plans_back: int
    """How many plans back the oldest of these facts lies; 0 where there is none."""
    instructions_in_force: int
    """Given in earlier plans, as this one begins."""
    preferences_in_force: int
    """Told in earlier plans, as this one begins."""
    preferences_changed: int
    """Of those, how many become something else in this plan."""


class Statistics(Record):
    """The tables of a benchmark."""

    conversations: tuple[ConversationStatistics, ...]
    mean: dict[str, float]
    """Mean per conversation, by measure, with `sessions`, `days`, `probes` and `nuggets`."""
    turn_shapes: dict[str, float]
    """Shares of all turns."""
    repetition: dict[str, float]
    """Mean per conversation, by `REPETITION_MEASURES`."""
    by_category: tuple[CategoryShape, ...]
    abilities: tuple[AbilityStatistics, ...]
    """By name."""
    deciles: tuple[float, ...]
    """Share of the evidence in each tenth of the messages, counting a probe once per tenth; empty if there is none."""
    median_span: float | None
    """Median over probes that cite several messages of the distance from the first to the last cited one, as a
    share of the conversation's messages; None if no probe cites several."""
    borders: tuple[PlanBorder, ...] = ()
    """Of conversations of many plans: one row per plan but the first."""
    beam: PublishedLength
    """BEAM at its length that is nearest to the mean number of tokens."""
    beam_tokens_by_category: PublishedCategoryTokens
    beam_repetition: PublishedRepetition
    beam_source: str
    beam_notes: tuple[str, ...]
