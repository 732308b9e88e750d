"""Measured difficulty: places, competitors and the scores of floors, by an oracle reader."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from longbeam.evaluation import DifficultyMeter
from longbeam.schemas import (
    Assertion,
    Difficulty,
    Evidence,
    Fact,
    MeasuredDifficulty,
    Message,
    Nugget,
    Plan,
    Probe,
    Stance,
    ValueKind,
)
from longbeam.text import money
from tests.memory.test_systems import messages

TALK = (
    ("The kiln costs $4,200.", "That is a fair price."),
    ("The lease costs $900.", "Gunnar offers it for less, as you can see in his list: $850."),
    *((f"What about glaze number {i}?", "It is safe. " * 40) for i in range(40)),
    ("Good night.", "Good night."),
)
"""Forty filler exchanges of 85 words: 3,400 tokens as counted here."""


def probe(*cites: int, question: str = "What does the kiln cost?", asked_at: dt.datetime | None = None) -> Probe:
    """A probe with a nugget for each message that it cites."""
    return Probe(
        probe_id="p.0",
        ability="information_extraction",
        question=question,
        gold_answer="It costs $4,200.",
        difficulty=Difficulty.EASY,
        rubric=tuple(Nugget(nugget_id=f"n{i}", text="x") for i in range(max(len(cites), 1))),
        evidence=tuple(
            Evidence(message_key=SAID[at].message_key, quote=SAID[at].content, nugget_ids=(f"n{i}",))
            for i, at in enumerate(cites)
        ),
        fact_ids=("p0.f0",),
        asked_at=asked_at,
    )


SAID = messages(TALK)
TOTAL = sum(m.tokens for m in SAID)


def measured(asked: Probe, said: Sequence[Message] = SAID, plans: Sequence[Plan] = ()) -> MeasuredDifficulty:
    return DifficultyMeter(said, [asked], plans, "7/c000").of(asked)


def test_places_are_shares_of_the_conversation_and_tokens_to_the_question() -> None:
    found = measured(probe(0, 3))
    assert (found.evidence_from, found.evidence_to) == (0, round(3 / 86, 3))
    assert found.tokens_to_question == TOTAL - sum(m.tokens for m in SAID[:4])


def test_a_probe_on_the_way_is_measured_by_what_was_said_before_it() -> None:
    early = probe(0, asked_at=SAID[3].sent_at)  # two exchanges are over
    found = measured(early)
    assert found.tokens_to_question == sum(m.tokens for m in SAID[1:4])
    assert found.random_units == 1  # both of them fit


def test_a_floor_says_a_nugget_when_it_has_read_all_its_messages() -> None:
    found = measured(probe(0, 3))  # the user's price, and what the assistant offers
    assert (found.user_only, found.bm25) == (0.5, 1)  # "cost" finds the lease, too
    assert measured(probe(0)).user_only == 1
    assert measured(probe(3)).user_only == 0


def test_a_nugget_that_names_no_evidence_needs_all_of_it() -> None:
    asked = probe(0, 3)
    plain = asked.model_copy(
        update={"evidence": tuple(e.model_copy(update={"nugget_ids": ()}) for e in asked.evidence)}
    )
    assert measured(plain).user_only == 0


def test_what_is_beyond_the_budget_is_not_read() -> None:
    long = [m.model_copy(update={"tokens": 3_000}) for m in SAID]
    found = measured(probe(0), long)  # an exchange has 6,000 tokens; the user's side of 43 messages has 129,000
    assert (found.bm25, found.random_units, found.user_only) == (0, 0, 0)
    assert measured(probe(4), long).user_only == 1


def test_competitors_are_other_values_of_the_attribute_or_of_the_thing() -> None:
    slots = (("the kiln", "price"), ("the lease", "price"), ("the kiln", "deposit"), ("the lease", "deposit"))
    facts = tuple(
        Fact(fact_id=f"p0.f{i}", subject=s, attribute=a, kind=ValueKind.MONEY) for i, (s, a) in enumerate(slots)
    )
    values = [(0, 4_200), (0, 4_000), (1, 900), (2, 500), (3, 70)]  # the kiln's price was another before
    made = tuple(
        Assertion(bullet_id=f"p0.s0.b{i}", fact_id=f"p0.f{f}", stance=Stance.SETS, value=money(v))
        for i, (f, v) in enumerate(values)
    )
    plan = Plan(plan_index=0, sub_plans=(), facts=facts, assertions=made)
    assert measured(probe(0), plans=(plan,)).competitors == 3  # not the gold, and not the deposit of another thing
    assert measured(probe(0)).competitors is None


def test_a_probe_without_evidence_has_no_place_and_no_score() -> None:
    assert measured(probe()) == MeasuredDifficulty()


def test_the_same_probe_is_measured_the_same() -> None:
    assert measured(probe(0, 3)) == measured(probe(0, 3))
