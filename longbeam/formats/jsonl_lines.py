"""Records of the lines of each JSONL file; their fields are the columns that docs/export-format.md promises.

Every line of a file has the same columns and types, nested ones too, so that a dataset loader needs no
guessing. There are no open dictionaries: what has free keys is exported as JSON text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from longbeam.formats.exporting import CANARY, json_text
from longbeam.schemas import (
    Category,
    ConversationHead,
    Difficulty,
    DomainName,
    MeasuredDifficulty,
    Message,
    MessageKind,
    MessageRole,
    Narrative,
    Nugget,
    PartKind,
    Person,
    Plan,
    PlanSeed,
    Probe,
    ProbeDetails,
    Profile,
    ProfileTrait,
    Record,
    RelationshipGraph,
    Seed,
    Timeline,
)


class SeedColumns(Record):
    """The seed, with the category of its domain."""

    domain: DomainName
    category: Category
    about: str = ""
    title: str
    theme: str
    subtopics: tuple[str, ...]
    timeline: Timeline | None
    mode: str | None
    source: str


class Edge(Record):
    """One relation: from the user, or from one person to another."""

    source: str
    target: str
    relation: str


class RelationshipColumns(Record):
    """The people around the user."""

    people: tuple[Person, ...]
    edges: tuple[Edge, ...]


class ConversationCounts(Record):
    """Sizes of one conversation, counted from the lines written."""

    messages: int
    user_messages: int
    replies: int
    answers: int
    follow_ups: int
    turns: int
    tokens: int
    user_tokens: int
    probes: int


class ProfileColumns(Profile):
    """The user, with the same fields in every line; a stored profile leaves out what is empty."""

    employer: str = ""
    traits: tuple[ProfileTrait, ...] = ()


class ConversationLine(Record):
    """A line of conversations.jsonl."""

    conversation_id: str
    seed: SeedColumns
    profile: ProfileColumns | None
    relationships: RelationshipColumns
    narratives: tuple[Narrative, ...]
    plans: tuple[Plan, ...]
    plan_seeds: tuple[PlanSeed, ...]
    target_tokens: int
    tokenizer: str
    statistics: ConversationCounts
    details: str
    """A JSON object, as text: what an import carried and no column holds; empty where there is nothing."""
    canary: str


class PartColumns(Record):
    """A typed piece of a message."""

    kind: PartKind
    text: str
    data: str
    """A JSON object, as text."""


class MessageLine(Record):
    """A line of messages.jsonl."""

    conversation_id: str
    message_id: int
    message_key: str
    role: MessageRole
    speaker: str
    kind: MessageKind
    session: int
    plan: int | None
    subplan: int | None
    turn: int | None
    sent_at: datetime
    content: str
    tokens: int
    bullet_ids: tuple[str, ...]
    parts: tuple[PartColumns, ...]
    details: str
    """A JSON object, as text: what an import carried and no column holds; empty where there is nothing."""


class EvidenceColumns(Record):
    """A cited message with the words that count."""

    message_id: int
    message_key: str
    role: str = ""  # exports of former versions have no such column, here and below
    speaker: str = ""
    quote: str
    part: str
    group: int | None
    nugget_ids: tuple[str, ...]


class DetailColumns(Record):
    """`ProbeDetails` with `extra` as JSON text."""

    variety: str
    on_contradiction: str = ""
    old_value: str
    new_value: str
    computed_from: tuple[str, ...]
    computation: str
    computed_value: str
    items: tuple[str, ...]
    missing: str
    searches: tuple[str, ...]
    instruction: str
    preference: str
    difficulty: MeasuredDifficulty = MeasuredDifficulty()
    extra: str


class ReviewColumns(Record):
    """Result of the review of a probe."""

    status: str


class ProbeLine(Record):
    """A line of probes.jsonl."""

    conversation_id: str
    probe_id: str
    ability: str
    source_category: str
    difficulty: Difficulty
    question: str
    gold_answer: str
    rubric: tuple[Nugget, ...]
    evidence: tuple[EvidenceColumns, ...]
    bullet_ids: tuple[str, ...]
    fact_ids: tuple[str, ...]
    details: DetailColumns
    asked_at: datetime | None
    asked_after: int | None = None
    """`message_id` of the last message before a question asked on the way."""
    review: ReviewColumns
    canary: str


LINES: Mapping[str, type[Record]] = {
    "conversations": ConversationLine,
    "messages": MessageLine,
    "probes": ProbeLine,
}
"""The record of each file's lines, by the file's name without `.jsonl`."""


def conversation_line(head: ConversationHead, counts: ConversationCounts) -> ConversationLine:
    """Return the line of a conversation without its plans, which the writer adds one at a time."""
    return ConversationLine(
        conversation_id=head.conversation_id,
        seed=_seed_columns(head.seed),
        profile=ProfileColumns(**head.profile.model_dump()) if head.profile else None,
        relationships=_relationship_columns(head.relationships),
        narratives=head.narratives,
        plans=(),
        plan_seeds=head.plan_seeds,
        target_tokens=head.target_tokens,
        tokenizer=head.tokenizer,
        statistics=counts,
        details=_open_text(head.details),
        canary=CANARY,
    )


def message_line(conversation_id: str, message_id: int, message: Message) -> MessageLine:
    """Return the line of a message; `message_id` is its ordinal in the conversation."""
    return MessageLine(
        conversation_id=conversation_id,
        message_id=message_id,
        message_key=message.message_key,
        role=message.role,
        speaker=message.speaker,
        kind=message.kind,
        session=message.session,
        plan=message.plan_index,
        subplan=message.sub_plan_index,
        turn=message.turn_index,
        sent_at=message.sent_at,
        content=message.content,
        tokens=message.tokens,
        bullet_ids=message.bullet_ids,
        parts=tuple(PartColumns(kind=p.kind, text=p.text, data=json_text(p.data)) for p in message.parts),
        details=_open_text(message.details),
    )


class EvidenceLine(NamedTuple):
    """A cited message: its ordinal in the conversation, and who said it."""

    message_id: int
    role: str
    speaker: str


def probe_line(
    conversation_id: str, probe: Probe, cited: Sequence[EvidenceLine], asked_after: int | None, review_status: str
) -> ProbeLine:
    """Return the line of a probe; `cited` are the messages of its evidence."""
    return ProbeLine(
        conversation_id=conversation_id,
        probe_id=probe.probe_id,
        ability=probe.ability,
        source_category=probe.source_category,
        difficulty=probe.difficulty,
        question=probe.question,
        gold_answer=probe.gold_answer,
        rubric=probe.rubric,
        evidence=tuple(
            EvidenceColumns(**said._asdict(), **e.model_dump()) for said, e in zip(cited, probe.evidence, strict=True)
        ),
        bullet_ids=probe.bullet_ids,
        fact_ids=probe.fact_ids,
        details=_detail_columns(probe.details),
        asked_at=probe.asked_at,
        asked_after=asked_after,
        review=ReviewColumns(status=review_status),
        canary=CANARY,
    )


def _open_text(value: Mapping[str, object]) -> str:
    return json_text(value) if value else ""


def _seed_columns(seed: Seed) -> SeedColumns:
    fields = {name: getattr(seed, name) for name in SeedColumns.model_fields if name != "category"}
    # A seed's source names the seeds file; an export does not disclose its folder.
    fields["source"] = seed.source.replace("\\", "/").rsplit("/", 1)[-1]
    return SeedColumns(category=seed.category, **fields)


def _relationship_columns(graph: RelationshipGraph) -> RelationshipColumns:
    links = graph.node_link.get("edges", graph.node_link.get("links", ()))  # the key changed in NetworkX 3.4
    edges = tuple(
        Edge(source=str(e["source"]), target=str(e["target"]), relation=str(e.get("relation", ""))) for e in links
    )
    return RelationshipColumns(people=graph.people, edges=edges)


def _detail_columns(details: ProbeDetails) -> DetailColumns:
    fields = {name: getattr(details, name) for name in ProbeDetails.model_fields}
    fields["extra"] = _open_text(details.extra)
    return DetailColumns(**fields)
