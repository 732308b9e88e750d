"""Competitors of each kind of probe, and the overlap of question and evidence."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from longbeam.evaluation import count_competitors, overlap_of
from longbeam.schemas import (
    Advice,
    AdviceKind,
    Assertion,
    Bullet,
    BulletKind,
    Difficulty,
    Evidence,
    Fact,
    Nugget,
    Plan,
    Probe,
    ProbeDetails,
    Stance,
    SubPlan,
    ValueKind,
)
from longbeam.text import duration, money

DAY = dt.date(2026, 1, 1)
KILN = Fact(fact_id="p0.f0", subject="the kiln", attribute="price", kind=ValueKind.MONEY)
PRICE = Assertion(bullet_id="p0.s0.b0", fact_id="p0.f0", stance=Stance.SETS, value=money(4_200))


def bullet(ordinal: int, kind: BulletKind, topic: str, text: str = "x") -> Bullet:
    bullet_id = f"p0.s0.b{ordinal}"
    return Bullet(bullet_id=bullet_id, kind=kind, narrative="n", topic=topic, text=text, happens_on=DAY)


BULLETS = (
    bullet(0, BulletKind.EVENT, "the kiln"),
    bullet(1, BulletKind.EVENT, "the lease"),
    bullet(2, BulletKind.EVENT, "the glaze"),
    bullet(3, BulletKind.INSTRUCTION, "costs"),
    bullet(4, BulletKind.PREFERENCE, "colours"),
    bullet(5, BulletKind.PREFERENCE, "lists"),
    bullet(6, BulletKind.PASTED, "the kiln", "The kiln is $3,900."),
)


def advice(ordinal: int, kind: AdviceKind, topic: str, **more: Any) -> Advice:
    advice_id = f"p0.s0.a{ordinal}"
    more = {"attribute": kind.value, **more}
    return Advice(advice_id=advice_id, kind=kind, bullet_id="p0.s0.b0", narrative="n", topic=topic, text="x", **more)


GIVEN = (
    advice(0, AdviceKind.STEPS, "the kiln", items=("a", "b", "c", "d")),
    advice(1, AdviceKind.STEPS, "the lease", items=("e", "f", "g", "h")),
    advice(2, AdviceKind.OPTIONS, "the glaze", items=("i", "j", "k")),
    advice(3, AdviceKind.FIGURE, "the kiln", attribute="safety margin", value=money(400)),
    advice(4, AdviceKind.FIGURE, "the lease", attribute="deposit to keep", value=money(90)),
    advice(5, AdviceKind.USE, "the kiln", value=money(30), items=("l",)),
    advice(6, AdviceKind.USE, "the lease", value=money(20), items=("m",)),
)
PLAN = Plan(
    plan_index=0,
    sub_plans=(SubPlan(plan_index=0, sub_plan_index=0, anchor=DAY, bullets=BULLETS),),
    facts=(KILN,),
    assertions=(PRICE,),
    advice=GIVEN,
)


def probe(gold: str = "x", *, is_cited: bool = True, **fields: Any) -> Probe:
    return Probe(
        probe_id="p.0",
        ability="information_extraction",
        question="What comes after the lease?",
        gold_answer=gold,
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id="n0", text="x"),),
        evidence=(Evidence(message_key="p0.s0.t0.n0", quote="The lease, and the kiln after it."),) if is_cited else (),
        **fields,
    )


ORDERED = ProbeDetails(items=("the kiln",))


@pytest.mark.parametrize(
    ("asked", "competitors"),
    [
        # the assistant's margin of the same thing and its amount for a use, and what a pasted document claims
        (probe("$4,200", fact_ids=("p0.f0",)), 3),
        # the three other amounts that the assistant gave, the user's price and the document's
        (probe("$400", bullet_ids=("p0.s0.a3",)), 5),
        # what another amount is for: the same, with the margin
        (probe("The other $30 was for l.", bullet_ids=("p0.s0.a5",)), 5),
        (probe(bullet_ids=("p0.s0.a0",), details=ProbeDetails(items=("a", "b", "c", "d"))), 1),
        (probe(bullet_ids=("p0.s0.a2",)), 0),
        (probe(bullet_ids=("p0.s0.b3",)), 2),
        # three things came up; the question names the lease and the gold answer the kiln
        (probe("1) the kiln", bullet_ids=("p0.s0.b0",), details=ORDERED), 1),
        # price, margin, steps and use of the kiln, of which another detail is missing
        (probe(is_cited=False, bullet_ids=("p0.s0.b0",)), 4),
    ],
    ids=["value", "figure", "use", "steps", "options", "wish", "order", "absence"],
)
def test_competitors_are_what_a_memory_could_give_instead(asked: Probe, competitors: int) -> None:
    assert count_competitors([PLAN], [asked]) == {"p.0": competitors}


def test_one_length_in_two_units_is_one_competitor() -> None:
    rest = Fact(fact_id="p0.f0", subject="the kiln", attribute="rest", kind=ValueKind.DURATION)
    said = Assertion(bullet_id="p0.s0.b0", fact_id="p0.f0", stance=Stance.SETS, value=duration(3, "days"))
    given = tuple(
        advice(i, AdviceKind.FIGURE, "the kiln", value=value)
        for i, value in enumerate((duration(2, "weeks"), duration(14, "days")))
    )
    plan = PLAN.model_copy(update={"facts": (rest,), "assertions": (said,), "advice": given})
    assert count_competitors([plan], [probe("3 days", fact_ids=("p0.f0",))]) == {"p.0": 1}


def test_a_probe_on_nothing_of_the_ledger_has_no_number_of_competitors() -> None:
    assert count_competitors([PLAN], [probe()]) == {}


def test_overlap_is_the_share_of_the_questions_words_in_the_quotes() -> None:
    # "comes" and "lease" are its content words, and "comes" is not in the quote
    assert overlap_of(probe()) == pytest.approx(0.5)
    assert overlap_of(probe(is_cited=False)) is None
