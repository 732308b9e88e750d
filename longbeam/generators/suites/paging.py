"""The paging suite: everyday talk of 120 to 200 messages with 6 to 8 planted facts of eight types.

Each fact is asked for at the end, and some of them on the way, too, up to four times: the facts that are used most and
those that were used last are not the same, so that `lfu` and `lru` differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

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

_NAMES = ("Orla", "Matteo", "Ines", "Tomasz", "Keiko", "Bashir", "Greta", "Luca", "Amara", "Henrik")
_FOODS = ("cashews", "shellfish", "celery", "mustard", "sesame", "lupin", "peanuts", "kiwi")
_DRUGS = ("metformin", "ramipril", "levothyroxine", "sertraline", "warfarin", "allopurinol")
_MONTHS = ("January", "February", "March", "April", "May", "June", "September", "October", "November")
_DAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays")
_MINUTES = ("10", "20", "40", "50")
_BUYS = ("kitchen", "anniversary", "garden", "bicycle")
_TRADES = ("plumber", "vet", "landlord", "dentist")
_PAPERS = ("tax return", "visa form", "school application", "insurance claim")
_PATIENTS = ("my father", "my aunt", "our neighbour")
_CARDS = ("locker", "membership", "meter", "parking permit")
_COURSES = ("choir", "physiotherapy", "the pottery class", "language tandem")
_LIKES = ("aisle seats", "window tables", "decaf after noon", "oat milk", "paper tickets", "ground-floor rooms")


_MOST_ASKED = 4
"""Times that a fact is asked for before the end."""


class PagingSettings(Record):
    """Settings of the suite."""

    fewest_messages: int = Field(default=120, ge=40, le=2_000)
    most_messages: int = Field(default=200, ge=40, le=2_000)
    fewest_facts: int = Field(default=6, ge=1, le=8)
    most_facts: int = Field(default=8, ge=1, le=8)
    asked_midway: float = Field(default=0.5, ge=0, le=1)
    """Share of the facts that are also asked for before the end, and share of these that are asked for once more."""


@dataclass(frozen=True)
class _Type:
    """A type of fact, with its sentence and its questions."""

    name: str
    draw: Callable[[random.Random], tuple[str, str]]
    """Draws a subject and a value."""
    said: str
    questions: tuple[str, str]
    """The question half-way, and the one at the end."""


_TYPES = (
    _Type("allergy", lambda r: (r.choice(_NAMES), r.choice(_FOODS)), "{s} is allergic to {v}, please remember.",
          ("What is {s} allergic to?", "Which food must be kept away from {s}?")),
    _Type("budget", lambda r: (r.choice(_BUYS), f"${r.randrange(1_010, 9_990):,}"),
          "For the {s} we have settled on a budget of {v}.",
          ("What is the budget for the {s}?", "How much may the {s} cost us?")),
    _Type("contact", lambda r: (r.choice(_TRADES), f"555-{r.randrange(1_000, 9_999)}"),
          "The {s} can be reached at {v}.", ("How do I reach the {s}?", "What was the number of the {s}?")),
    _Type("deadline", lambda r: (r.choice(_PAPERS), f"{r.choice(_MONTHS)} {r.randrange(1, 29)}"),
          "The {s} has to be in by {v}.", ("When is the {s} due?", "By which day must the {s} be in?")),
    _Type("medical", lambda r: (r.choice(_PATIENTS), f"{r.randrange(2, 90) * 5} mg of {r.choice(_DRUGS)}"),
          "The doctor put {s} on {v} a day.",
          ("What does {s} take every day?", "Which drug and how much of it was {s} put on?")),
    _Type("number", lambda r: (r.choice(_CARDS), f"{r.randrange(10_000, 99_999)}"),
          "My {s} number is {v}.", ("What is my {s} number?", "Which number does my {s} have?")),
    _Type("preference", lambda r: (r.choice(_NAMES), r.choice(_LIKES)), "{s} always wants {v} when there is a choice.",
          ("What does {s} want when there is a choice?", "Given the choice, what should I take for {s}?")),
    _Type("schedule", lambda r: (r.choice(_COURSES), f"{r.choice(_DAYS)} at {r.randrange(7, 20)}:{r.choice(_MINUTES)}"),
          "From next month on, {s} is on {v}.",
          ("When is {s} from next month on?", "At what time of the week do I have {s} now?")),
)  # fmt: skip
TYPES = tuple(t.name for t in _TYPES)

_TOPICS = {
    "the weekend market": ("cherries", "a stall with old maps", "the queue for bread", "rain at noon", "a lost glove"),
    "the new tram line": ("the stop by the mill", "two weeks of detours", "a driver who sang", "cold benches"),
    "learning the accordion": ("the left hand", "a waltz in three keys", "sore shoulders", "the metronome"),
    "the balcony tomatoes": ("green caterpillars", "too much wind", "the second crop", "a cracked pot"),
    "a novel about lighthouses": ("the keeper's sister", "an ending that comes too soon", "chapter nine", "the storm"),
    "the neighbourhood cinema": ("the projector", "popcorn prices", "a film without words", "row seven"),
    "repairing the old chest": ("a hinge", "linseed oil", "woodworm", "the drawer that sticks"),
    "swimming before work": ("lane two", "cold showers", "forty lengths", "goggles that leak"),
    "the office move": ("boxes without labels", "a desk by the lift", "the coffee machine", "lamps that hum"),
    "walks with the dog": ("the frozen pond", "a very small fence", "burrs", "the postman's bicycle"),
}
_USER = (
    "Still thinking about {t}: {a} was not what I expected.",
    "Can we talk about {t} for a moment? There was {a}, and then {b}.",
    "I told a friend about {t} and she only asked about {a}.",
    "What would you do about {a}? It keeps coming up with {t}.",
    "It is odd how {b} changes one's mind about {t}.",
    "This morning it was {a} again. {t} never gets boring.",
    "Do people usually mind {b} when it comes to {t}?",
)
_ASSISTANT = (
    "With {t}, {a} is often what stays in mind; {b} matters less after a while.",
    "I would begin with {a}, because {b} tends to follow from it.",
    "Many would say the same of {t}. If {b} bothers you, leave it for a week.",
    "That sounds like {a} at its best. What happened with {b} in the end?",
    "You could write down what {a} was like before {b} takes over.",
    "For {t} there is no rule; {b} may even be the better part.",
)
_NOTED = (
    "Noted: I will keep that in mind.",
    "Good to know, I have it.",
    "All right, I will remember.",
    "Thank you, noted.",
)


def make_conversation(settings: PagingSettings, draw: Draw) -> GivenConversation:
    """Return one conversation with its probes."""
    rng = draw.rng("talk")
    pairs = rng.randrange(settings.fewest_messages, max(settings.most_messages, settings.fewest_messages) + 1) // 2
    facts = _facts(rng, rng.randrange(settings.fewest_facts, max(settings.most_facts, settings.fewest_facts) + 1))
    # Facts stand in the first three fifths, so that the end is far from all of them.
    places = sorted(rng.sample(range(1, pairs * 3 // 5), len(facts)))
    told = dict(zip(places, facts, strict=True))
    clock = datetime(2025, 1, 6, 8) + timedelta(days=rng.randrange(200))
    start, messages, cited, used = clock, list[Message](), dict[str, tuple[str, str]](), set[str]()
    topics = _order_of_topics(rng, pairs)
    for pair in range(pairs):
        clock += timedelta(minutes=rng.randrange(3, 40))
        said, answer = _pair(rng, topics[pair])
        while said in used:
            said, answer = _pair(rng, topics[pair])
        used.add(said)
        if pair in told:
            name, sentence, _, _ = told[pair]
            said, answer = f"{said} {sentence}", f"{rng.choice(_NOTED)} {answer}"
            cited[name] = (key_of(pair), sentence)
        messages += exchange(draw, pair, said, answer, clock)
    probes = _probes(rng, settings, told, cited, messages)
    topic = Topic(
        domain=Domain.GENERAL,
        title="Everyday talk",
        theme="A person talks about everything and mentions a few facts",
        subtopics=tuple(_TOPICS),
    )
    head = head_of(draw, settings, seed_of(draw, topic, start, clock))
    return GivenConversation(head, lambda: iter(messages), probes)


_Fact = tuple[str, str, tuple[str, str], str]
"""Name of the type, sentence, questions half-way and at the end, value."""


def _facts(rng: random.Random, count: int) -> list[_Fact]:
    facts, subjects = list[_Fact](), set[str]()
    for kind in rng.sample(_TYPES, count):
        subject, value = kind.draw(rng)
        while subject in subjects:  # two facts about one person would make two questions sound alike
            subject, value = kind.draw(rng)
        subjects.add(subject)
        midway, last = (question.format(s=subject) for question in kind.questions)
        facts.append((kind.name, kind.said.format(s=subject, v=value), (midway, last), value))
    return facts


def _order_of_topics(rng: random.Random, pairs: int) -> list[str]:
    """Return the topic of each pair: stretches of three to seven, none twice in a row."""
    order: list[str] = []
    while len(order) < pairs:
        topic = rng.choice([t for t in _TOPICS if not order or t != order[-1]])
        order += [topic] * rng.randrange(3, 8)
    return order[:pairs]


def _pair(rng: random.Random, topic: str) -> tuple[str, str]:
    def put(wording: str) -> str:
        a, b = rng.sample(_TOPICS[topic], 2)
        text = wording.format(t=topic, a=a, b=b)
        return text[0].upper() + text[1:]

    return " ".join(put(w) for w in rng.sample(_USER, 2)), " ".join(put(w) for w in rng.sample(_ASSISTANT, 3))


def _probes(
    rng: random.Random,
    settings: PagingSettings,
    told: dict[int, _Fact],
    cited: dict[str, tuple[str, str]],
    messages: list[Message],
) -> tuple[Probe, ...]:
    asked: list[tuple[datetime | None, _Fact]] = []
    pairs = len(messages) // 2
    for place, fact in told.items():
        for _ in range(_MOST_ASKED):
            if rng.random() >= settings.asked_midway:
                break
            at = rng.randrange(min(place + 5, pairs - 1), pairs)
            asked.append((messages[2 * at + 1].sent_at, fact))
    asked.sort(key=lambda a: a[0] or datetime.max)
    return tuple(
        _probe(number, at, fact, cited[fact[0]])
        for number, (at, fact) in enumerate([*asked, *((None, fact) for fact in told.values())])
    )


def _probe(ordinal: int, at: datetime | None, fact: _Fact, said: tuple[str, str]) -> Probe:
    name, _, questions, value = fact
    own = str(ProbeId("information_extraction", str(ordinal)))
    nugget_id = str(NuggetId(own, 0))
    return Probe(
        probe_id=own,
        ability="information_extraction",
        question=questions[at is None],
        gold_answer=f"{value}.",
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id=nugget_id, text=f"The answer states {value}."),),
        evidence=(Evidence(message_key=said[0], quote=said[1], nugget_ids=(nugget_id,)),),
        details=ProbeDetails(variety=name, new_value=value),
        asked_at=at,
        is_selected=True,
        rank=ordinal,
    )


PAGING = Suite(
    PagingSettings, make_conversation, "everyday talk with a few planted facts, asked half-way and at the end"
)
