"""Statistics of a benchmark, and BEAM's published figures for comparison."""

from __future__ import annotations

from pydantic import Field

from longbeam.schemas.base import Record
from longbeam.schemas.incidents import PromptLine
from longbeam.schemas.seeds import Category, DomainName

MEASURES = ("user_messages", "replies", "answers", "follow_ups", "turns", "tokens", "user_tokens")
"""Counts of a conversation that BEAM reports, too; fields of `ConversationStatistics`."""

TURN_SHAPES = (
    "no_interaction",
    "one_answer",
    "two_answers",
    "one_follow_up",
    "two_follow_ups",
    "answers_and_follow_ups",
    "other",
)
"""Course of a turn after its main question and the reply; `other` has more than two messages of a kind."""


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
"""For each role: the number of messages equal to an earlier one except for case and spacing; the share equal or nearly
equal to an earlier one; the same share with values, names, dates and numbers masked. For masked prose sentences of
replies: their number, the share of replies with the most frequent one, and the number of sentences in more than 0.5 %
of the replies and at least two."""


class FrequentSentence(Record):
    """A masked sentence that several replies have."""

    text: str
    """The sentence in lower case, with `_` for masked words."""
    replies: int
    share: float
    """Share of all replies."""


class Repetition(Record):
    """Repetition within one conversation."""

    figures: dict[str, float]
    """Figures by `REPETITION_MEASURES`."""
    worst: tuple[FrequentSentence, ...]
    """Masked sentences of several replies, the most frequent first."""


class ConversationStatistics(Record):
    """Counts of one conversation."""

    conversation_id: str
    domain: DomainName
    category: Category
    target_tokens: int
    """Requested length; 0 for imports."""
    user_messages: int
    replies: int
    answers: int
    """User messages that answer a question of the assistant's."""
    follow_ups: int
    turns: int
    """Number of main questions."""
    tokens: int
    """Tokens of message content."""
    user_tokens: int
    sessions: int
    days: int
    """Days from the first message to the last."""
    turn_shapes: dict[str, int]
    """Turns by shape, with all of `TURN_SHAPES` as keys."""
    repetition: Repetition
    candidates: int
    """Number of probe candidates, selected or not."""
    probes: int
    """Number of selected probes."""
    nuggets: int
    """Number of nuggets of the selected probes."""


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


class EvidencePlaces(Record):
    """Who said the evidence of the selected probes, and how far from question and next mention it lies."""

    user_messages: int
    """Cited messages of the user; a message counts once for each probe."""
    assistant_messages: int
    probes: int
    probes_of_assistant: int
    """Probes that cite a message of the assistant."""
    asked_on_the_way: int
    """Probes that are asked before the last message."""
    tokens_to_question: float | None
    """Median of the tokens between a probe's last cited message and its question; None without evidence."""
    messages_to_next_mention: float | None
    """Median distance, in messages, from a cited message to the next one that says a value of the gold in its words."""
    mentioned_again: float | None
    """Share of these values that a later message says again; None if no quote says a typed value of its gold."""


class PublishedLength(Record):
    """BEAM's figures at one length, means per conversation; absent figures were neither published nor measured."""

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
    """Repetition within BEAM's conversations, measured by us."""

    name: str
    """Name of the group of conversations."""
    conversations: int
    mean: dict[str, float]
    """Means per conversation, by `REPETITION_MEASURES`; ledger values are not masked, as BEAM has no ledger."""
    pooled: dict[str, float]
    """Figures of sentences over all replies of these conversations together, each masked by its own conversation. A
    conversation of a hundred replies is too short for its own shares to mean much."""


class Published(Record):
    """BEAM's published figures and those measured on its released data."""

    source: str
    notes: tuple[str, ...]
    lengths: tuple[PublishedLength, ...]
    tokens_by_category: PublishedCategoryTokens
    repetition: PublishedRepetition


class PlanBorder(Record):
    """References of one plan to the plans before it."""

    conversation_id: str
    plan_index: int
    people_new: tuple[str, ...]
    """First names that no earlier plan has."""
    people_back: tuple[str, ...]
    """First names that an earlier plan has, too."""
    facts_changed: int
    """Number of facts of earlier plans that get another value."""
    facts_denied: int
    """Number of facts of earlier plans that are contradicted."""
    plans_back: int
    """Distance in plans to the oldest of these facts; 0 if there is none."""
    instructions_in_force: int
    """Instructions of earlier plans that are in force at the plan's beginning."""
    preferences_in_force: int
    """Preferences of earlier plans that are in force at the plan's beginning."""
    preferences_changed: int
    """Number of these preferences that change in this plan."""


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
    """Share of the evidence in each tenth of the messages; a probe counts once for each. Empty without evidence."""
    median_span: float | None
    """Median distance between the first and the last cited message of a probe, as a share of the conversation's
    messages, over probes that cite several; None if no probe does."""
    evidence: EvidencePlaces
    borders: tuple[PlanBorder, ...] = ()
    """For conversations of many plans: one row for each plan but the first."""
    prompts: tuple[PromptLine, ...] = ()
    """Replies by prompt; empty where no model wrote."""
    incidents: dict[str, int] = Field(default_factory=dict)
    """Numbers of what is missing in the texts, and of what a check found in them, by kind."""
    gap_share: float = 0.0
    """Largest share of a conversation's parts for which no reply could be used."""
    beam: PublishedLength
    """BEAM's figures at the length nearest to the mean number of tokens."""
    beam_tokens_by_category: PublishedCategoryTokens
    beam_repetition: PublishedRepetition
    beam_source: str
    beam_notes: tuple[str, ...]
