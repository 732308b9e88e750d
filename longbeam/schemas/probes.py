"""Probing questions with their gold answers, rubrics and evidence."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from longbeam.schemas.base import Record

ABILITIES = (
    "abstention",
    "contradiction_resolution",
    "event_ordering",
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
)
"""BEAM's ten abilities, in the order of its files: the default of a spec. `longbeam.abilities` has all abilities."""


CONTRADICTION_MESSAGES_APART = 6
"""Least distance of statement and denial, in messages; at a smaller distance nothing has to be remembered."""


class Difficulty(StrEnum):
    """BEAM's levels; docs/probes.md says what they mean for each ability."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Nugget(Record):
    """An atomic, self-contained criterion that an answer is judged on."""

    nugget_id: str
    """`<probe_id>.n0`."""
    text: str


class EvidencePart(StrEnum):
    """Roles that a cited message may play. Abilities of other packages may have further ones."""

    SUPPORT = "support"
    ORIGINAL = "original"
    UPDATED = "updated"
    FIRST = "first"
    SECOND = "second"
    STATEMENT = "statement"
    DENIAL = "denial"
    ITEM = "item"
    INSTRUCTION = "instruction"
    PREFERENCE = "preference"
    CLUE = "clue"
    """Words by which the question knows the thing that it asks for."""
    PASTED = "pasted"
    """A document in the message that claims something else."""


class Evidence(Record):
    """A message that makes the answer true, with the words that make it true."""

    message_key: str
    quote: str
    """Verbatim substring of the message; empty only for imports that have none."""
    part: str = EvidencePart.SUPPORT
    group: int | None = None
    """Ordinal of the item that the message belongs to, for ordered answers."""
    nugget_ids: tuple[str, ...] = ()


class MeasuredDifficulty(Record):
    """How far a probe is from its evidence, and how much of it trivial memories find; None: not measured.

    No model is asked: a floor's score is that of a reader that says a nugget
    when the floor's context contains every quote that the nugget rests on.
    """

    evidence_from: float | None = None
    """Share of the conversation, in messages, before the first cited message."""
    evidence_to: float | None = None
    """Share of the conversation before the last cited message."""
    tokens_to_question: int | None = None
    """Tokens between the last cited message and the question."""
    competitors: int | None = None
    """Things in the ledger that a memory could give instead: other values, lists or wishes, as docs/probes.md has them
    for each kind of question. None: the probe rests on nothing of the ledger."""
    restated: int | None = None
    """Uncited messages that say the answer again, in its words; of several facts, of the one said least often. 0: the
    cited messages are needed."""
    lexical_overlap: float | None = None
    """Share of the question's content words that stand in the quotes."""
    bm25: float | None = None
    """Score of the exchanges that BM25 finds for the question."""
    random_units: float | None = None
    """Score of exchanges drawn at random."""
    user_only: float | None = None
    """Score of the user's messages without the assistant's."""

    @property
    def answered(self) -> tuple[float, float]:
        """Best score of a floor, and the sum of all; zeros where they were not measured."""
        scores = [score or 0.0 for score in (self.bm25, self.random_units, self.user_only)]
        return max(scores), sum(scores)


class ProbeDetails(Record):
    """Optional typed fields; the same in every line of the export."""

    variety: str = ""
    """Kind within the ability: `never_statement`, `duration`, `sum`, `count`, ..."""
    on_contradiction: str = ""
    """Contradictions: whether the conversation's assistant was to `ignore` them or to `ask` about them."""
    old_value: str = ""
    new_value: str = ""
    computed_from: tuple[str, ...] = ()
    """Stated values from which the gold answer is computed, in the order of the evidence."""
    computation: str = ""
    """How the gold answer is computed: `days_between`, `sum`, `count`, `difference`, ..."""
    computed_value: str = ""
    items: tuple[str, ...] = ()
    """Ordered items, for event ordering."""
    missing: str = ""
    """The information that the conversation never gives, for abstention."""
    searches: tuple[str, ...] = ()
    """Terms that were searched in the whole conversation to show that `missing` is missing."""
    instruction: str = ""
    preference: str = ""
    difficulty: MeasuredDifficulty = MeasuredDifficulty()
    extra: dict[str, Any] = Field(default_factory=dict)
    """Fields of an import's source that no field here holds."""


class Probe(Record):
    """A probing question with its gold answer, rubric and evidence."""

    probe_id: str
    """`<ability>.<ordinal of the candidate>`; unique within a conversation."""
    ability: str
    source_category: str = ""
    """Name that the source of an import has for the ability."""
    question: str
    gold_answer: str
    difficulty: Difficulty
    rubric: tuple[Nugget, ...] = Field(min_length=1)
    evidence: tuple[Evidence, ...]
    """Oldest first; empty only for abstention."""
    bullet_ids: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    details: ProbeDetails = ProbeDetails()
    asked_at: datetime | None = None
    """Local time of a question asked on the way: when the last message before it was sent. None: after the last
    message."""
    is_selected: bool = False
    rank: int = 0
    """Order of preference among the candidates of its ability, 0 best."""
