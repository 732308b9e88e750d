"""Planted facts in small talk: the shapes of CogCanvas's controlled benchmarks, standard, hard and long.

Facts are at fixed turns and are asked for at the end, after the compression that `head.details` names. The prose is
our own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pydantic import Field

from longbeam.generators.suites import planted_text as text
from longbeam.generators.suites.base import Draw, Suite, Topic, exchange, head_of, key_of, seed_of
from longbeam.keys import NuggetId, ProbeId
from longbeam.schemas.base import Record
from longbeam.schemas.conversation import GivenConversation
from longbeam.schemas.dialogue import Message
from longbeam.schemas.probes import Difficulty, Evidence, Nugget, Probe, ProbeDetails
from longbeam.schemas.seeds import Domain

KEPT_TURNS = 5
"""Turns that a compression leaves of the conversation."""
_HARDNESS = (("easy", 0.25), ("medium", 0.35), ("hard", 0.25), ("adversarial", 0.15))
_DIFFICULTY = {"easy": Difficulty.EASY, "medium": Difficulty.MEDIUM}
_MOST_VAGUE = 3
_DISTRACTED_AFTER = 20


@dataclass(frozen=True)
class Shape:
    """Positions of facts and of the compression; turns count from 1."""

    turns: int
    facts: tuple[int, ...]
    compressed_at: int
    distracts: bool = False
    """Whether a similar confirmation about somebody else follows each fact twenty turns later."""
    documents_every: int | None = None
    paraphrases: bool = False
    """Whether questions share no telling word with the fact, so that shared words find nothing."""


STANDARD = Shape(50, (3, 5, 7, 9), 40)
HARD = Shape(50, (3, 5, 7, 9), 40, distracts=True)
PARAPHRASED = Shape(50, (3, 5, 7, 9), 40, distracts=True, paraphrases=True)
LONG = Shape(200, (10, 50, 100, 150), 180, documents_every=20)


class PlantedSettings(Record):
    """Settings of the standard and the hard suite."""


class LongSettings(PlantedSettings):
    """Settings of the long suite."""

    document_tokens: int = Field(default=5_200, ge=100, le=50_000)
    """Least tokens of each of the ten documents."""


@dataclass(frozen=True)
class Turn:
    """A message of the user, and the reply."""

    said: str
    reply: str


def make_conversation(shape: Shape, settings: PlantedSettings, draw: Draw) -> GivenConversation:
    """Return one conversation with a probe for each fact."""
    rng = draw.rng("facts")
    hardness = rng.choices([name for name, _ in _HARDNESS], [weight for _, weight in _HARDNESS])[0]
    templates = rng.sample(text.TEMPLATES, len(shape.facts))
    facts = [(template, rng.choice(template.values)) for template in templates]
    turns = small_talk(rng, shape.turns)
    for turn, (template, value) in zip(shape.facts, facts, strict=True):
        said = _disturbed(rng, hardness, template.said.format(v=value))
        turns[turn - 1] = Turn(said, noted(rng, turns[turn - 1]))
        if shape.distracts:
            other = rng.choice([v for v in template.values if v != value])
            turns[turn - 1 + _DISTRACTED_AFTER] = Turn(
                template.elsewhere.format(v=other), turns[turn - 1 + _DISTRACTED_AFTER].reply
            )
    if hardness == "adversarial" and not shape.distracts:
        for turn, vague in zip(sorted(rng.sample(range(14, 35), _MOST_VAGUE)), text.VAGUE, strict=True):
            if turn not in shape.facts:
                turns[turn - 1] = Turn(vague, turns[turn - 1].reply)
    if shape.documents_every is not None:
        assert isinstance(settings, LongSettings)
        _add_documents(rng, turns, shape, settings.document_tokens, draw)
    messages = messages_of(turns, draw)
    probes = tuple(
        _probe((number, turn), template, value, hardness, question_of(template, shape))
        for number, (turn, (template, value)) in enumerate(zip(shape.facts, facts, strict=True))
    )
    shown = {"compressed_at": shape.compressed_at, "kept_turns": KEPT_TURNS, "hardness": hardness, "facts": len(facts)}
    return given(messages, probes, settings, draw, shown)


def small_talk(rng: random.Random, turns: int) -> list[Turn]:
    """Return turns of small talk without facts."""
    next_turn = text.filler(rng)
    return [Turn(*next_turn()) for _ in range(turns)]


def noted(rng: random.Random, turn: Turn) -> str:
    """Return the reply to a fact that replaces a turn: a confirmation, and the reply of that turn."""
    return f"{rng.choice(text.NOTED)} {turn.reply}"


def messages_of(turns: Sequence[Turn], draw: Draw) -> list[Message]:
    """Return the turns as messages, some minutes apart."""
    rng = draw.rng("clock")
    clock = datetime(2025, 1, 6, 9) + timedelta(days=rng.randrange(300))
    messages: list[Message] = []
    for turn, said in enumerate(turns):
        clock += timedelta(minutes=rng.randrange(2, 9))
        messages += exchange(draw, turn, said.said, said.reply, clock)
    return messages


def given(
    messages: Sequence[Message], probes: tuple[Probe, ...], settings: Record, draw: Draw, details: Mapping[str, Any]
) -> GivenConversation:
    """Return messages and probes as a conversation of a suite; `details` are added to its settings."""
    topic = Topic(
        domain=Domain.CODING,
        title="Talk at work",
        theme="A developer asks small things and mentions a few facts",
        subtopics=tuple(template.name for template in text.TEMPLATES),
    )
    head = head_of(draw, settings, seed_of(draw, topic, messages[0].sent_at, messages[-1].sent_at), details=details)
    return GivenConversation(head, lambda: iter(messages), probes)


def _disturbed(rng: random.Random, hardness: str, said: str) -> str:
    match hardness:
        case "medium":
            return f"{rng.choice(text.FILLER)} {said}"
        case "hard" | "adversarial":
            return f"{rng.choice(text.NOISE_BEFORE)} {said} {rng.choice(text.NOISE_AFTER)}"
    return said


def _add_documents(rng: random.Random, turns: list[Turn], shape: Shape, tokens: int, draw: Draw) -> None:
    every = shape.documents_every or len(turns)
    for number, turn in enumerate(range(every, len(turns) + 1, every), 1):
        report = text.document(rng, number, lambda text: draw.count_tokens(text) >= tokens)
        # One turn earlier where a fact is: documents stand beside facts, never in their place.
        at = turn - 2 if turn in shape.facts else turn - 1
        turns[at] = Turn(f"Here is report {number}, for reference.\n\n{report}", turns[at].reply)


def question_of(template: text.Template, shape: Shape) -> str:
    """Return the question for a fact."""
    return text.PARAPHRASES[template.name] if shape.paraphrases else template.question


def _probe(number: tuple[int, int], template: text.Template, value: str, hardness: str, question: str) -> Probe:
    ordinal, turn = number
    own = str(ProbeId("information_extraction", str(ordinal)))
    nugget_id = str(NuggetId(own, 0))
    return Probe(
        probe_id=own,
        ability="information_extraction",
        question=question,
        gold_answer=f"{value}.",
        difficulty=_DIFFICULTY.get(hardness, Difficulty.HARD),
        rubric=(Nugget(nugget_id=nugget_id, text=f"The answer states {value}."),),
        evidence=(
            Evidence(message_key=key_of(turn - 1), quote=template.said.format(v=value), nugget_ids=(nugget_id,)),
        ),
        details=ProbeDetails(variety=template.kind, new_value=value),
        is_selected=True,
        rank=ordinal,
    )


CANVAS_STANDARD = Suite(
    PlantedSettings, partial(make_conversation, STANDARD), "small talk of 50 turns with four planted facts"
)
CANVAS_HARD = Suite(
    PlantedSettings, partial(make_conversation, HARD), "the same, with confirmations that sound alike and are not ours"
)
CANVAS_PARAPHRASED = Suite(
    PlantedSettings, partial(make_conversation, PARAPHRASED), "the hard suite, asked for in other words"
)
CANVAS_LONG = Suite(
    LongSettings, partial(make_conversation, LONG), "200 turns and more than 50K tokens, with ten long documents"
)
