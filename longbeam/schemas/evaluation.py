"""What a memory system gave for a probe, how it was judged, and how it was scored."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import Message
from longbeam.schemas.probes import Nugget


class Exchange(Record):
    """A user message with the replies to it: what a memory system is told at once.

    Imports with two people: a message of the first speaker with those of the second that follow it.
    """

    position: int
    """Ordinal in the conversation, from 0."""
    messages: tuple[Message, ...] = Field(min_length=1)

    @property
    def message_keys(self) -> tuple[str, ...]:
        """Keys of its messages, in order."""
        return tuple(m.message_key for m in self.messages)

    @property
    def sent_at(self) -> datetime:
        """When its first message was sent."""
        return self.messages[0].sent_at


class Question(Record):
    """What a memory system is asked."""

    text: str
    asked_at: datetime
    """When the question is asked: after the last message of the conversation."""


class Passage(Record):
    """Something a memory system found for a question."""

    passage_id: str
    text: str
    score: float
    """Higher is better; comparable within one answer only."""
    message_keys: tuple[str, ...]
    """Messages that it was made from."""
    tokens: int = Field(ge=0)
    sent_at: datetime | None = None


class ContextPart(Record):
    """One component of a context and its share of the tokens."""

    name: str
    """`retrieved`, `recent`, `scratchpad`, ..."""
    tokens: int = Field(ge=0)


class Context(Record):
    """The exact text that a reader sees before the question."""

    text: str
    tokens: int = Field(ge=0)
    parts: tuple[ContextPart, ...] = ()
    message_keys: tuple[str, ...] = ()
    """Messages that the text was made from, in the order of the text; evidence is looked for among them."""


class PreparationUsage(Record):
    """What preparing a memory system took, beside the tokens of its calls, which the journal counts."""

    model_calls: int = 0
    failed_calls: int = 0
    """Calls without a usable reply, which the system did without."""
    embedded_texts: int = 0
    embedded_tokens: int = 0
    """Of those texts, by the benchmark's tokenizer; a model that cuts long texts reads fewer."""
    index_bytes: int = 0


class Answer(Record):
    """An answer to one probe, with what the reader saw."""

    conversation_id: str
    probe_id: str
    system: str
    text: str
    context: Context | None = None
    """None for answers that nobody read anything for: the blank, the echo, the gold."""
    ranking: tuple[tuple[str, ...], ...] = ()
    """Messages of each passage that the system retrieved, best first; empty for systems that do not retrieve."""
    model_calls: int = 0
    error: str = ""
    """Why there is no answer; it is then left out of every mean and counted."""


class NuggetJudgement(Record):
    """A judge's verdict on one nugget, reason first."""

    nugget_id: str
    score: float | None = Field(ge=0, le=1)
    """0, 0.5 or 1; None when the judge failed: never a zero."""
    reason: str = ""
    error: str = ""


class Judgement(Record):
    """All verdicts on one answer; what every scoring rule is computed from."""

    conversation_id: str
    probe_id: str
    system: str
    judge: str
    """Model, prompts with their hashes, and strictness: `openai:small (judge_nugget.v1 5f2c...; strict)`."""
    nuggets: tuple[NuggetJudgement, ...]
    aligned_items: tuple[int | None, ...] = ()
    """Event ordering: for each item of the answer's list, the rubric item it is the same event as."""
    aligned_lines: tuple[int | None, ...] = ()
    """The same for each line of the answer, blank lines too, as BEAM's released code takes them."""


class Scoring(Record):
    """A probe's score under one rule; None when the judge failed on a nugget that the rule needs."""

    rule: Literal["paper", "released"]
    score: float | None = Field(ge=0, le=1)


class Retrieval(Record):
    """Judge-free figures of one answer's context."""

    evidence_recall: float | None
    """Share of the cited messages among the context's; None for probes without evidence."""
    evidence_precision: float | None
    """Share of the context's messages that are cited; None for an empty context or no evidence."""
    values_found: float | None
    """Share of the rubric's typed values that the context holds as text; None where it has none."""
    answer_values_found: float | None
    """The same for the answer."""
    tokens: int
    ranked: int = 0
    """Passages that the system ranked; 0 for systems that do not retrieve, and where nothing is cited."""
    first_hit: int | None = None
    """Rank from 1 of the first passage with a cited message; None where there is none among the ranked."""

    def is_hit(self, k: int) -> float | None:
        """Hit@k: 1 where a cited message is in the first k passages; None where nothing was ranked."""
        if not self.ranked:
            return None
        return float(self.first_hit is not None and self.first_hit <= k)


class Result(Record):
    """Everything about one probe under one system."""

    conversation_id: str
    probe_id: str
    ability: str
    system: str
    answer: Answer
    judgement: Judgement | None
    scores: tuple[Scoring, ...]
    retrieval: Retrieval

    def score(self, rule: str) -> float | None:
        """The score under a rule; None when there is none."""
        return next((s.score for s in self.scores if s.rule == rule), None)


class EvaluationSettings(Record):
    """How systems are asked and judged; the same for all systems of a run."""

    budget: int = Field(default=4_000, ge=100)
    """Tokens of context for systems that retrieve, and for the floors."""
    window: int = Field(default=128_000, ge=1_000)
    """Tokens of context for systems that read everything they can."""
    is_strict: bool = True
    """Which judge prompt: strict, or the lenient one."""
    embedder: str = ""
    """Embedding model for dense retrieval; empty for none."""


class AskedProbe(Record):
    """What a report says of a probe, so that a results file can be read without its benchmark."""

    conversation_id: str
    probe_id: str
    ability: str
    source_category: str = ""
    question: str
    gold_answer: str
    rubric: tuple[Nugget, ...]
    deciles: tuple[int, ...] = ()
    """Tenths of the conversation's messages, from 0, that hold its evidence."""

    @property
    def key(self) -> tuple[str, str]:
        """Unique in a benchmark."""
        return self.conversation_id, self.probe_id


class Spending(Record):
    """What the journal holds of one system: every reply once, however often it was used."""

    system: str
    stage: Literal["prepare", "answer", "judge"]
    calls: int
    prompt_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where a price is not known."""


class Preparation(Record):
    """What preparing one system took, over all conversations, that no journal says."""

    system: str
    usage: PreparationUsage


class EvaluationRun(Record):
    """The head of a results file: what all its results have in common."""

    longbeam: str
    benchmark: str
    imported_from: str = ""
    """Format that the benchmark was read from; empty for those made here."""
    length: int
    """Tokens of a conversation as the spec asks for them; 0 for imports."""
    tokens: int = 0
    """Mean tokens of the conversations as they are."""
    conversations: int
    control: str = ""
    """Which negative control this is; empty for an evaluation."""
    reader: str
    judge: str
    """Model, prompts with the first 12 hex digits of their hashes, and strictness."""
    settings: EvaluationSettings
    systems: tuple[str, ...]
    probes: tuple[AskedProbe, ...] = ()
    spending: tuple[Spending, ...] = ()
    preparations: tuple[Preparation, ...] = ()
    """Only those that made something: an index, a summary, an embedding."""
    failures: tuple[str, ...] = ()
    """Units that failed, `c000/answer/rag/x: reason`; their results are missing and in no mean."""
