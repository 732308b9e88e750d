"""The plans history so far, as later ones look them up."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys

import pytest

from longbeam.generators import PLANS_IN_MEMORY, Ledger, PlanHistory
from longbeam.schemas import Assertion, Bullet, BulletKind, Fact, Plan, Stance, SubPlan, Value, ValueKind, slot_key
from longbeam.text import money

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


def _history_of(*plans: Plan) -> PlanHistory:
    history = PlanHistory()
    for plan in plans:
        history.add(plan)
    return history


def _values(ledger: Ledger) -> dict[str, Value | None]:
    return {line.fact_id: line.value for line in ledger.lines()}


FIRST = _plan(0, ("p0.f0", SETS), ("p0.f1", SETS))
SECOND = _plan(1, ("p0.f0", UPDATES), ("p1.f0", SETS))
THIRD = _plan(2, ("p1.f0", UPDATES))


def test_relevant_knows_every_fact_that_its_bullets_touch() -> None:
    # The second plan's bullet, which the third comes back to, also changes a fact of the first.
    assert _values(_history_of(FIRST, SECOND, THIRD).relevant(THIRD)) == {"p0.f0": money(11), "p1.f0": money(12)}
    # And a fact that none came back to until now.
    late = _plan(3, ("p0.f1", MENTIONS))
    assert _values(_history_of(FIRST, SECOND, THIRD, late).relevant(late)) == {"p0.f0": money(10), "p0.f1": money(13)}


def test_relevant_leaves_out_plans_that_it_does_not_come_back_to_and_those_that_come_later() -> None:
    apart, later = _plan(2, ("p2.f0", SETS)), _plan(3, ("p2.f0", UPDATES), ("p0.f1", UPDATES))
    history = _history_of(FIRST, SECOND, apart, later)
    assert _values(history.relevant(apart)) == {"p2.f0": money(12)}
    assert [b.bullet_id for b in history.relevant(later).bullets] == ["p0.s0.b0", "p2.s0.b0", "p3.s0.b0"]


def test_around_has_what_other_plans_say_of_the_facts_and_topics_of_some() -> None:
    history = _history_of(FIRST, SECOND, _plan(2, ("p2.f0", SETS), topic="u"), _plan(3, ("p3.f0", SETS)))
    new = _plan(4, ("p4.f0", SETS), topic="v")
    ledger = history.around(new, [history.plans[0]])
    # The second touches a fact of the first, the fourth plan has its topic, the third nothing.
    assert [b.bullet_id for b in ledger.bullets] == ["p0.s0.b0", "p1.s0.b0", "p3.s0.b0", "p4.s0.b0"]
    assert [a.bullet_id for a in ledger.by_fact["p0.f0"]] == ["p0.s0.b0", "p1.s0.b0"]
    assert {f.fact_id for f in ledger.facts} == {a.fact_id for a in ledger.assertions}


def test_facts_have_their_newest_values_by_subject_and_by_id() -> None:
    history = _history_of(FIRST, SECOND)
    assert [(line.fact_id, line.value) for line in history.lines_of({"sf0"})] == [
        ("p0.f0", money(11)),
        ("p1.f0", money(11)),
    ]
    assert (history.value_of("p0.f0"), history.value_of("p7.f0")) == (money(11), None)
    assert [line.fact_id for line in history.newest_lines()] == ["p1.f0"]
    assert PlanHistory().newest_lines() == []


def test_before_is_what_it_was_then() -> None:
    history = _history_of(FIRST, SECOND, THIRD)
    then, at_that_time = history.before(1), _history_of(FIRST)
    assert then == at_that_time
    assert then.facts.keys() == {"p0.f0", "p0.f1"}
    assert history.before(3) is history


def test_a_slot_names_the_newest_fact_and_facts_come_in_the_order_of_the_story() -> None:
    history = _history_of(*(_plan(i, (f"p{i}.f0", SETS)) for i in range(11)))
    assert history.slots[slot_key("SF0", "PRICE")].fact_id == "p10.f0"
    assert [f.fact_id for f in history.known(["p10.f0", "none", "p2.f0"])] == ["p2.f0", "p10.f0"]
    assert history.sub_plans == 11


def test_plans_that_are_no_longer_in_memory_are_read_again() -> None:
    plans = [_plan(i, (f"p{i}.f0", SETS)) for i in range(PLANS_IN_MEMORY + 3)]
    assert list(_history_of(*plans).plans) == plans


def test_a_history_without_indexes_has_its_plans_still() -> None:
    plans_only = _history_of(FIRST, SECOND).without_indexes()
    assert list(plans_only.plans) == [FIRST, SECOND]
    assert (plans_only.facts, plans_only.slots, plans_only.standing) == ({}, {}, ())
    with pytest.raises(RuntimeError, match="plan 1 is not in the history, or its indexes were dropped"):
        plans_only.relevant(SECOND)


def test_importing_the_generators_opens_no_file() -> None:
    code = (
        "import sqlite3, tempfile\n"
        "def refuse(*_, **__): raise AssertionError('opened at import')\n"
        "sqlite3.connect = tempfile.SpooledTemporaryFile = refuse\n"
        "import longbeam.generators.augmentation, longbeam.generators.plan_seeds\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
