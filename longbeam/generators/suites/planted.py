"""Planted facts in small talk.

The shapes of CogCanvas's controlled benchmarks, standard, hard and long, with their prose.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import cycle
from typing import Any

from pydantic import Field

from longbeam.generators.suites.base import Draw, Suite, Topic, exchange, head_of, key_of, seed_of
from longbeam.keys import NuggetId, ProbeId
from longbeam.schemas import (
    Difficulty,
    Domain,
    Evidence,
    GivenConversation,
    Message,
    Nugget,
    Probe,
    ProbeDetails,
    Record,
)


@dataclass(frozen=True)
class Template:
    """A kind of fact: its sentence, its question, and its four values."""

    name: str
    kind: str
    said: str
    question: str
    values: tuple[str, str, str, str]
    elsewhere: str
    """A similar confirmation about somebody else."""


TEMPLATES: tuple[Template, ...] = tuple(
    Template(name, kind, said, question, tuple(values.split("|")), elsewhere)  # type: ignore[arg-type]
    for name, kind, said, question, values, elsewhere in (
        ("database", "decision", "We have settled on {v} as the database of the service.",
         "Which database did we settle on?", "PostgreSQL|MongoDB|Cassandra|CockroachDB",
         "Good, {v} it is then, for my cousin's shop at least; they have just confirmed their database."),
        ("screens", "decision", "The screens will be built with {v}, that is decided.",
         "What will the screens be built with?", "Svelte|Angular|SolidJS|Ember",
         "The agency next door confirmed {v} for its own screens today."),
        ("platform", "decision", "From the next release on we deploy on {v}.",
         "What do we deploy on from the next release on?", "Kubernetes|Nomad|OpenShift|Dokku",
         "A friend wrote that they deploy on {v} now, confirmed by their board."),
        ("logs", "decision", "For the logs we picked {v}.",
         "What did we pick for the logs?", "Graylog|Splunk|Datadog|Elastic",
         "Yes, {v} is confirmed for the logs, I read, but that was the other company."),
        ("sign-in", "decision", "Signing in will go through {v}; that is settled.",
         "What will signing in go through?", "Keycloak|Okta|Zitadel|Authelia",
         "So {v} it will be for signing in, says my brother about his firm."),
        ("budget", "key_fact", "The budget for the whole project is {v}.",
         "What is the budget for the whole project?", "$48,500|$61,200|$73,900|$127,300",
         "The neighbouring project had its budget of {v} confirmed."),
        ("partner", "key_fact", "The partner's interface allows {v}.",
         "What does the partner's interface allow?",
         "340 requests a minute|275 requests a minute|610 requests a minute|95 requests a minute",
         "Their other interface allows {v}, as they confirmed; we do not use that one."),
        ("data centre", "key_fact", "Our main data centre is in {v}.",
         "Where is our main data centre?", "Tallinn|Porto|Graz|Bergen",
         "Confirmed: the conference on data centres is in {v} this year."),
        ("client", "key_fact", "The client is called {v}.",
         "What is the client called?",
         "Brightwater Logistics|Halcyon Foods|Quillfeather Press|Ostrava Tooling",
         "The client of the team upstairs is {v}, they confirmed."),
        ("version", "key_fact", "The old system still runs on version {v}.",
         "Which version does the old system still run on?", "7.4.19|6.2.33|5.8.41|9.1.27",
         "The training machine was confirmed to be on version {v}."),
        ("audit", "reminder", "Please remember that the audit is on {v}.",
         "When is the audit?", "March 14|June 23|September 8|November 27",
         "The audit of the sister company is confirmed for {v}."),
        ("no changes", "reminder", "Remember never to change anything in production {v}.",
         "When must nothing be changed in production?",
         "on Fridays|before ten in the morning|during school holidays|in the last week of a quarter",
         "The canteen confirmed that it is closed {v}."),
    )
)  # fmt: skip

FILLER: tuple[str, ...] = (
    "How do I name a test well?", "Is a long function always bad?", "What makes a good code review?",
    "Should I write the docs first?", "How often do you refactor?", "What is a sensible commit size?",
    "Is it fine to skip a stand-up?", "How would you explain caching?", "What is the point of linting?",
    "Do comments age well?", "When is a diagram worth it?", "How do I keep a backlog short?",
    "Is pairing worth the time?", "What is a flaky test?", "How do I read a stack trace?",
    "Should errors be values?", "How do I estimate better?", "What belongs in a changelog?",
    "Are feature flags worth it?", "How do I hand over a task?",
)  # fmt: skip
SUFFIXES: tuple[str, ...] = (
    "", "Just curious.", "I keep wondering about it.", "A colleague asked me.", "Two sentences are enough.",
)  # fmt: skip
OPENINGS: tuple[str, ...] = (
    "It depends on who reads it next.", "Mostly it is a matter of habit.", "I would try it for a week first.",
    "There is no fixed rule for that.", "Think of whoever comes after you.", "Ask what would go wrong without it.",
    "Start simple and measure.", "That differs from team to team.", "Most people overdo it a little.",
    "A small example often settles it.", "Begin with what hurts the most.", "It is easier than it sounds.",
    "Opinions are divided on that.", "Less of it than one believes.", "Ask two colleagues and compare.",
)  # fmt: skip
CLOSINGS: tuple[str, ...] = (
    "Keep it short.", "Leave out what people can see themselves.", "Change one thing at a time.",
    "If it surprises somebody, it is too much.", "Then decide whether it was worth it.", "Write down why you did it.",
    "Nothing is lost if you drop it later.", "Do it early rather than well.", "A list of three is enough.",
    "Stop when it no longer helps.", "The rest follows from there.", "Look at it again after a month.",
    "Whoever disagrees will say so.", "Make it easy to undo.", "Let somebody else read it once.",
)  # fmt: skip
NOTED: tuple[str, ...] = ("Understood, I have noted it.", "All right, that is noted.", "Good, I will keep it in mind.")
NOISE_BEFORE: tuple[str, ...] = (
    "Sorry for jumping around, but before I forget it and we talk about something else again:",
    "Half of this may not matter, the meeting was long and loud, still:",
)
NOISE_AFTER: tuple[str, ...] = (
    "Anyway, back to what we were doing, which I have lost track of a little.",
    "But that is only by the way, the coffee is getting cold.",
)
VAGUE: tuple[str, ...] = (
    "There was some talk of doing it differently, but I do not remember what came of it.",
    "Somebody mentioned another option last week; nobody wrote it down.",
    "I believe a few figures were thrown around in the corridor, none of them ours.",
)

PARAPHRASES: dict[str, str] = {
    "database": "Where do our records live from now on?",
    "screens": "Which framework draws what people see?",
    "platform": "Where does our software run after the coming rollout?",
    "logs": "What collects our traces?",
    "sign-in": "Who checks passwords at our door?",
    "budget": "How much money may all of it cost us?",
    "partner": "How often may we call the other firm?",
    "data centre": "In which city do our servers stand?",
    "client": "Who pays us for this work?",
    "version": "How far behind is the legacy software?",
    "audit": "By which day must our papers be ready for inspection?",
    "no changes": "At which times are live deployments forbidden?",
}
"""A question for each template, by name, that shares no telling word with what was said."""

_SUBJECTS = (
    "the northern warehouse", "the intake desk", "the pilot group", "the night shift", "the billing form",
    "the training plan", "the spare-parts list", "the visitor survey", "the loading dock", "the archive",
)  # fmt: skip
_SENTENCES = (
    "Section {n} found that {a} needed {m} minutes longer than {b}, without a clear reason.",
    "In {a}, {m} of {k} entries were complete, and the rest was left to {b}.",
    "It was suggested that {a} be looked at again once {b} has been closed for a while.",
    "Nobody could say why {a} and {b} had been kept apart for {m} months.",
    "For {a} the reviewers counted {m} open points, {n} of which concern {b}.",
    "The authors thank everybody at {a}, and recommend {m} smaller steps for {b}.",
)


def filler(rng: random.Random) -> Callable[[], tuple[str, str]]:
    """Return a function that gives the next small talk, message and reply; none repeats within 200 turns."""
    said = [" ".join(filter(None, (a, b))) for a in FILLER for b in SUFFIXES]
    rng.shuffle(said)
    again = [f"Once more: {text[0].lower()}{text[1:]}" for text in said]
    replies = [f"{a} {b}" for a in OPENINGS for b in CLOSINGS]
    rng.shuffle(replies)
    turns = cycle(zip([*said, *again], replies, strict=False))
    return lambda: next(turns)


def document(rng: random.Random, number: int, enough: Callable[[str], bool]) -> str:
    """Return a report of numbered paragraphs without planted facts, of at least a given length."""
    text = f"Report {number}: how things went\n"
    section = 0
    while not enough(text):
        section += 1
        lines = []
        for _ in range(6):
            a, b = rng.sample(_SUBJECTS, 2)
            wording = rng.choice(_SENTENCES)
            line = wording.format(n=section, a=a, b=b, m=rng.randrange(2, 60), k=rng.randrange(60, 90))
            lines.append(line[0].upper() + line[1:])
        text += f"\n{section}. {' '.join(lines)}\n"
    return text


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
    templates = rng.sample(TEMPLATES, len(shape.facts))
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
        for turn, vague in zip(sorted(rng.sample(range(14, 35), _MOST_VAGUE)), VAGUE, strict=True):
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
    next_turn = filler(rng)
    return [Turn(*next_turn()) for _ in range(turns)]


def noted(rng: random.Random, turn: Turn) -> str:
    """Return the reply to a fact that replaces a turn: a confirmation, and the reply of that turn."""
    return f"{rng.choice(NOTED)} {turn.reply}"


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
        subtopics=tuple(template.name for template in TEMPLATES),
    )
    head = head_of(draw, settings, seed_of(draw, topic, messages[0].sent_at, messages[-1].sent_at), details=details)
    return GivenConversation(head, lambda: iter(messages), probes)


def _disturbed(rng: random.Random, hardness: str, said: str) -> str:
    match hardness:
        case "medium":
            return f"{rng.choice(FILLER)} {said}"
        case "hard" | "adversarial":
            return f"{rng.choice(NOISE_BEFORE)} {said} {rng.choice(NOISE_AFTER)}"
    return said


def _add_documents(rng: random.Random, turns: list[Turn], shape: Shape, tokens: int, draw: Draw) -> None:
    every = shape.documents_every or len(turns)
    for number, turn in enumerate(range(every, len(turns) + 1, every), 1):
        report = document(rng, number, lambda text: draw.count_tokens(text) >= tokens)
        # One turn earlier where a fact is: documents stand beside facts, never in their place.
        at = turn - 2 if turn in shape.facts else turn - 1
        turns[at] = Turn(f"Here is report {number}, for reference.\n\n{report}", turns[at].reply)


def question_of(template: Template, shape: Shape) -> str:
    """Return the question for a fact."""
    return PARAPHRASES[template.name] if shape.paraphrases else template.question


def _probe(number: tuple[int, int], template: Template, value: str, hardness: str, question: str) -> Probe:
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
