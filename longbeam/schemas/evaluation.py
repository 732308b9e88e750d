"""Evaluation records: context and answer of a memory system for a probe, judgements, scores, reports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import AwareDatetime, Field

from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import Message
from longbeam.schemas.probes import Nugget


class Exchange(Record):
    """A user message with the replies to it: the unit in which a memory system receives a conversation.

    In imports with two people, a message of the first speaker with the following messages of the second.
    """

    position: int
    """Ordinal in the conversation, from 0."""
    messages: tuple[Message, ...] = Field(min_length=1)

    @property
    def message_keys(self) -> tuple[str, ...]:
        """Keys of the messages, in order."""
        return tuple(m.message_key for m in self.messages)

    @property
    def sent_at(self) -> datetime:
        """Time of the first message."""
        return self.messages[0].sent_at


class Question(Record):
    """A question to a memory system."""

    text: str
    asked_at: datetime
    """Time of the question, after the last message of the conversation."""


class Passage(Record):
    """A passage that a memory system retrieved for a question."""

    passage_id: str
    text: str
    score: float
    """Higher is better; comparable within one answer only."""
    message_keys: tuple[str, ...]
    """Messages that the passage was made from."""
    tokens: int = Field(ge=0)
    sent_at: datetime | None = None


class ContextPart(Record):
    """One component of a context and its share of the tokens."""

    name: str
    """`retrieved`, `recent`, `scratchpad`, ..."""
    tokens: int = Field(ge=0)


class Context(Record):
    """The exact text that the reader sees before the question."""

    text: str
    tokens: int = Field(ge=0)
    parts: tuple[ContextPart, ...] = ()
    message_keys: tuple[str, ...] = ()
    """Messages that the text, or a part of it, was made from, in the order of the text."""


class PreparationUsage(Record):
    """Cost of preparing a memory system, except for what the journal counts: tokens of calls through `Tools.asker`."""

    model_calls: int = 0
    failed_calls: int = 0
    """Calls that gave no usable reply."""
    embedded_texts: int = 0
    embedded_tokens: int = 0
    """Tokens of the embedded texts, by the benchmark's tokenizer; a model that truncates long texts reads fewer."""
    index_bytes: int = 0
    """Bytes that the system stores: an index, vectors, a database."""
    prompt_tokens: int = 0
    """Tokens of calls that a product made by itself, past the journal."""
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Cost of these calls."""


class Answer(Record):
    """An answer to a probe, with the context that the reader saw."""

    conversation_id: str
    probe_id: str
    system: str
    text: str
    context: Context | None = None
    """None for answers that were made without a context: the blank, the echo, the gold."""
    ranking: tuple[tuple[str, ...], ...] = ()
    """Message keys of each retrieved passage, best first; empty for systems that do not retrieve."""
    model_calls: int = 0
    read_digest: str = ""
    """Digest of what the system had read; empty for answers that no system gave. It must be the conversation's."""
    error: str = ""
    """Reason for a missing answer, which is then counted and left out of every mean."""


class NuggetJudgement(Record):
    """A judge's verdict on one nugget, reason first."""

    nugget_id: str
    score: float | None = Field(ge=0, le=1)
    """0, 0.5 or 1; None if the judge failed, which is never a zero."""
    reason: str = ""
    error: str = ""


class Judgement(Record):
    """All verdicts on one answer; every scoring rule is computed from them."""

    conversation_id: str
    probe_id: str
    system: str
    judge: str
    """Model, prompts with their hashes, and strictness: `openai:small (judge_nugget.v1 5f2c...; strict)`."""
    nuggets: tuple[NuggetJudgement, ...]
    aligned_items: tuple[int | None, ...] = ()
    """Event ordering: for each item of the answer's list, the rubric item with the same event."""
    aligned_lines: tuple[int | None, ...] = ()
    """The same for each line of the answer, blank lines included, as in BEAM's released code."""


class Scoring(Record):
    """A probe's score under one rule; None if the judge failed on a nugget that the rule needs."""

    rule: Literal["paper", "released"]
    score: float | None = Field(ge=0, le=1)


class Retrieval(Record):
    """Retrieval metrics of one answer's context, computed without a judge."""

    evidence_recall: float | None
    """Share of the cited messages that the context names as a source and whose quotes it contains; None for probes
    without evidence."""
    source_recall: float | None = None
    """Share of the cited messages that the context names as a source, whatever of them it contains."""
    evidence_precision: float | None
    """Share of the context's messages that are cited; None for an empty context or no evidence."""
    values_found: float | None
    """Share of the rubric's typed values that the context contains as text; None if the rubric has none."""
    answer_values_found: float | None
    """Share of the rubric's typed values that the answer contains; None if the rubric has none."""
    tokens: int
    ranked: int = 0
    """Number of ranked passages; 0 for systems that do not retrieve, and for probes without evidence."""
    first_hit: int | None = None
    """Rank, from 1, of the first passage with a cited message; None if no ranked passage has one."""
    ndcg_at_5: float | None = None
    """NDCG of the first 5 passages; None where nothing was ranked."""
    ndcg_at_10: float | None = None

    def is_hit(self, k: int) -> float | None:
        """Return hit@k: 1 if a cited message is in the first k passages, else 0; None if nothing was ranked."""
        if not self.ranked:
            return None
        return float(self.first_hit is not None and self.first_hit <= k)


class Result(Record):
    """Result of one system on one probe."""

    conversation_id: str
    probe_id: str
    ability: str
    system: str
    answer: Answer
    judgement: Judgement | None
    scores: tuple[Scoring, ...]
    retrieval: Retrieval

    def score(self, rule: str) -> float | None:
        """Return the score under a rule; None if there is none."""
        return next((s.score for s in self.scores if s.rule == rule), None)


class EvaluationSettings(Record):
    """Settings of an evaluation, which are the same for all its systems."""

    budget: int = Field(default=4_000, ge=100)
    """Tokens of context for systems that retrieve, and for the floors."""
    window: int = Field(default=128_000, ge=1_000)
    """Tokens of context for systems that read everything they can."""
    is_strict: bool = True
    """Whether the strict judge prompt is used, or the lenient one."""
    embedder: str = ""
    """Embedding model for dense retrieval; empty for none."""


class AskedProbe(Record):
    """Data on a probe for reports, so that a results file can be read without its benchmark."""

    conversation_id: str
    probe_id: str
    ability: str
    source_category: str = ""
    question: str
    gold_answer: str
    rubric: tuple[Nugget, ...]
    deciles: tuple[int, ...] = ()
    """Tenths of the conversation, from 0, that contain the evidence."""
    variety: str = ""
    """Kind of question within the ability, where the probe has one."""
    is_on_the_way: bool = False
    """Whether it is asked before the last message."""
    length: int = 0
    """Tokens asked for of its conversation, in a benchmark of several lengths; else 0."""

    @property
    def key(self) -> tuple[str, str]:
        """Key that is unique in a benchmark."""
        return self.conversation_id, self.probe_id


class Spending(Record):
    """Calls and tokens of one system in the journal; a reply counts once, however often it was used."""

    system: str
    stage: Literal["prepare", "answer", "judge"]
    calls: int
    prompt_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None if a price is unknown."""


class Preparation(Record):
    """Cost of preparing one system for all conversations, except for what the journal counts."""

    system: str
    usage: PreparationUsage


class KeptRun(Record):
    """A run of an evaluation in the list of those that are kept."""

    run_id: str = ""
    """Beginning of the digest; `-2` and so on behind it where the same evaluation had other results."""
    name: str = ""
    """Name that its user gave it."""
    title: str = ""
    """Title of its report."""
    made_at: AwareDatetime = Field(ge=datetime(1970, 1, 1, tzinfo=UTC), le=datetime(2200, 1, 1, tzinfo=UTC))
    """Time of the first run with these results, in UTC."""
    decided_by: str = ""
    """Digest of everything that decided it."""
    benchmark: str
    control: str = ""
    reader: str
    systems: tuple[str, ...]
    """Systems without floors and ceilings."""
    conversations: int = Field(ge=0)
    probes: int = Field(ge=0)
    cost_usd: float | None = Field(ge=0, allow_inf_nan=False)
    """USD of all its calls; None where a price is unknown."""


class EvaluatedSystem(Record):
    """Description of a row of the table: a system with its settings, and the models that it used."""

    name: str
    """Name of the row."""
    system: str
    """The system without its settings."""
    mode: str = ""
    """Mode in which a product worked; empty for a system that has one only."""
    settings: dict[str, str] = Field(default_factory=dict)
    """Settings that are not the default."""
    extractor: str = ""
    """Model that prepared it; empty where none did."""
    embedder: str = ""
    """Embedding model that it used; empty for none."""
    version: str = ""
    """Version of its code or packages; empty for a system of longbeam."""
    budget: int | None = None
    """Tokens of context that it was allowed; None for what reads nothing."""
    learnt_from: str = ""
    """Conversations on which a floor learnt the form of what is asked about; empty for a system that learns nothing."""


class EvaluationRun(Record):
    """The head of a results file: the data that all its results share."""

    longbeam: str
    benchmark: str
    imported_from: str = ""
    """Format of an imported benchmark; empty for a generated one."""
    length: int
    """Requested tokens of a conversation; 0 for imports."""
    tokens: int = 0
    """Mean tokens of the conversations."""
    conversations: int
    control: str = ""
    """Name of the negative control; empty for an evaluation."""
    split: str = ""
    """Part of the benchmark's split that was asked; empty for the whole benchmark."""
    reader: str
    judge: str
    """Model, prompts with the first 12 hex digits of their hashes, and strictness."""
    settings: EvaluationSettings
    systems: tuple[str, ...]
    versions: dict[str, str] = Field(default_factory=dict)
    """Version of the code of each system that is not longbeam's."""
    described: tuple[EvaluatedSystem, ...] = ()
    """What ran in each row that reads; empty in files of older releases."""
    probes: tuple[AskedProbe, ...] = ()
    spending: tuple[Spending, ...] = ()
    preparations: tuple[Preparation, ...] = ()
    """Preparations that made something: an index, a summary, an embedding."""
    failures: tuple[str, ...] = ()
    """Units that failed, `c000/answer/rag/x: reason`; their results are missing and in no mean."""
