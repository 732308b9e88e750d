"""The plans told so far, as later ones look them up."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators.chronicle import KEPT_PLANS, Chronicle
from longbeam.generators.ledger import Ledger
from longbeam.schemas.plans import (
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Plan,
    Stance,
    SubPlan,
    Value,
    ValueKind,
    slot_key,
)
from longbeam.text.values import money

SETS, UPDATES, MENTIONS = Stance.SETS, Stance.UPDATES, Stance.MENTIONS


def _plan(index: int, *said: tuple[str, Stance], topic: str = "t", kind: BulletKind = BulletKind.EVENT) -> Plan:
    """A plan of one bullet, which says of each fact (`p0.f1`) that it is 10 plus the plan's index."""
    day = dt.date(2023, 1 + index, 1)
    own = [(f, "S" + f.partition(".")[2]) for f, _ in said if f.startswith(f"p{index}.")]
    bullet = Bullet(
        bullet_id=f"p{index}.s0.b0", kind=kind, narrative="n", topic=topic, text="It was said.", happens_on=day
    )
    return Plan(
        plan_index=index,
        sub_plans=(SubPlan(plan_index=index, sub_plan_index=0, anchor=day, bullets=(bullet,)),),
        facts=tuple(Fact(fact_id=f, subject=s, attribute="Price", kind=ValueKind.MONEY) for f, s in own),
        assertions=tuple(
            Assertion(bullet_id=bullet.bullet_id, fact_id=f, stance=stance, value=money(10 + index))
            for f, stance in said
        ),
    )


def _told(*plans: Plan, people: frozenset[str] = frozenset()) -> Chronicle:
    told = Chronicle(people)
    for plan in plans:
        told.add(plan)
    return told


def _values(ledger: Ledger) -> dict[str, Value | None]:
    return {line.fact_id: line.value for line in ledger.lines()}


FIRST = _plan(0, ("p0.f0", SETS), ("p0.f1", SETS))
SECOND = _plan(1, ("p0.f0", UPDATES), ("p1.f0", SETS))
THIRD = _plan(2, ("p1.f0", UPDATES))


def test_relevant_knows_every_fact_that_its_bullets_touch() -> None:
    # The second plan's bullet, which the third comes back to, also changes a fact of the first.
    assert _values(_told(FIRST, SECOND, THIRD).relevant(THIRD)) == {"p0.f0": money(11), "p1.f0": money(12)}
    # And a fact that none came back to until now.
    late = _plan(3, ("p0.f1", MENTIONS))
    assert _values(_told(FIRST, SECOND, THIRD, late).relevant(late)) == {"p0.f0": money(10), "p0.f1": money(13)}


def test_relevant_leaves_out_plans_that_it_does_not_come_back_to_and_those_that_come_later() -> None:
    apart, later = _plan(2, ("p2.f0", SETS)), _plan(3, ("p2.f0", UPDATES), ("p0.f1", UPDATES))
    told = _told(FIRST, SECOND, apart, later)
    assert _values(told.relevant(apart)) == {"p2.f0": money(12)}
    assert [b.bullet_id for b in told.relevant(later).bullets] == ["p0.s0.b0", "p2.s0.b0", "p3.s0.b0"]


def test_around_has_what_other_plans_say_of_the_facts_and_topics_of_some() -> None:
    told = _told(FIRST, SECOND, _plan(2, ("p2.f0", SETS), topic="u"), _plan(3, ("p3.f0", SETS)))
    new = _plan(4, ("p4.f0", SETS), topic="v")
    ledger = told.around(new, [told.plans[0]])
    # The second touches a fact of the first, the fourth plan has its topic, the third nothing.
    assert [b.bullet_id for b in ledger.bullets] == ["p0.s0.b0", "p1.s0.b0", "p3.s0.b0", "p4.s0.b0"]
    assert [a.bullet_id for a in ledger.by_fact["p0.f0"]] == ["p0.s0.b0", "p1.s0.b0"]
    assert {f.fact_id for f in ledger.facts} == {a.fact_id for a in ledger.assertions}


def test_facts_of_people_have_their_newest_values_and_those_of_others_only_in_the_plan_after() -> None:
    told = _told(FIRST, SECOND, people=frozenset({"sf0"}))
    assert [(line.fact_id, line.value) for line in told.lines_of({"sf0"})] == [
        ("p0.f0", money(11)),
        ("p1.f0", money(11)),
    ]
    assert told.lines_of({"sf1"}) == []
    assert [line.fact_id for line in told.newest_lines()] == ["p1.f0"]
    assert Chronicle().newest_lines() == []


def test_before_is_what_it_was_then() -> None:
    told = _told(FIRST, SECOND, THIRD, people=frozenset({"sf0"}))
    then, at_that_time = told.before(1), _told(FIRST, people=frozenset({"sf0"}))
    assert then == at_that_time
    assert then.facts.keys() == {"p0.f0", "p0.f1"}
    assert told.before(3) is told


def test_a_slot_names_the_newest_fact_and_facts_come_in_the_order_of_the_story() -> None:
    told = _told(*(_plan(i, (f"p{i}.f0", SETS)) for i in range(11)))
    assert told.slots[slot_key("SF0", "PRICE")].fact_id == "p10.f0"
    assert [f.fact_id for f in told.known(["p10.f0", "none", "p2.f0"])] == ["p2.f0", "p10.f0"]
    assert told.sub_plans == 11


def test_plans_that_are_no_longer_in_memory_are_read_again() -> None:
    plans = [_plan(i, (f"p{i}.f0", SETS)) for i in range(KEPT_PLANS + 3)]
    assert list(_told(*plans).plans) == plans


def test_what_is_let_go_has_its_plans_still() -> None:
    told = _told(FIRST, SECOND)
    told.let_go()
    assert list(told.plans) == [FIRST, SECOND]
    assert (told.facts, told.slots, told.standing) == ({}, {}, ())
    with pytest.raises(RuntimeError, match="plan 1 has not been told, or was let go"):
        told.relevant(SECOND)
