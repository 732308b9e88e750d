"""Plans as they were said: what no message voices leaves them, with all that depends on it."""

from __future__ import annotations

import datetime as dt
from itertools import chain

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.generators import said_plans
from longbeam.generators.probes import Histories
from longbeam.schemas import Assertion, Bullet, BulletKind, Fact, IncidentKind, Plan, Stance, SubPlan, ValueKind
from longbeam.text import money

DAY = dt.date(2026, 1, 5)
SETS, UPDATES, DENIES, MENTIONS = Stance.SETS, Stance.UPDATES, Stance.DENIES, Stance.MENTIONS
Said = tuple[Stance, str, int | None]
"""A stance towards a fact, and an amount."""


def _plan(
    plan_index: int, *told: tuple[Said, ...], facts: tuple[str, ...] = (), targets: dict[int, str] | None = None
) -> Plan:
    """A plan of one sub-plan, a bullet for each item of `told`; a bullet that refers to one has its kind."""
    bullets, assertions = [], []
    for i, own in enumerate(told):
        key, target = f"p{plan_index}.s0.b{i}", (targets or {}).get(i)
        stances = {stance for stance, _, _ in own}
        kind = BulletKind.EVENT
        if target:
            kind = BulletKind.CONTRADICTION if DENIES in stances or not stances else BulletKind.UPDATE
        bullets.append(
            Bullet(
                bullet_id=key, kind=kind, narrative="n", topic="t", text=f"bullet {i}", happens_on=DAY,
                target_bullet_id=target,
            )
        )  # fmt: skip
        for stance, fact_id, amount in own:
            value = None if amount is None else money(amount)
            assertions.append(Assertion(bullet_id=key, fact_id=fact_id, stance=stance, value=value))
    return Plan(
        plan_index=plan_index,
        sub_plans=(SubPlan(plan_index=plan_index, sub_plan_index=0, anchor=DAY, bullets=tuple(bullets)),),
        facts=tuple(Fact(fact_id=f, subject=f, attribute="price", kind=ValueKind.MONEY) for f in facts),
        assertions=tuple(assertions),
    )


def _told(plan: Plan) -> list[tuple[str, Stance, str, float | None]]:
    return [(a.bullet_id, a.stance, a.fact_id, a.value and a.value.number) for a in plan.assertions]


def test_a_plan_of_which_everything_is_said_stays_as_it_is() -> None:
    plan = _plan(0, ((SETS, "p0.f0", 80),), ((UPDATES, "p0.f0", 95),), facts=("p0.f0",), targets={1: "p0.s0.b0"})
    assert list(said_plans([plan], frozenset())) == [(plan, ())]


def test_an_update_of_what_was_not_said_becomes_the_first_saying() -> None:
    first = _plan(0, ((SETS, "p0.f0", 80), (SETS, "p0.f1", 5)), facts=("p0.f0", "p0.f1"))
    later = _plan(1, ((UPDATES, "p0.f0", 95),), ((UPDATES, "p0.f0", 99),), targets={0: "p0.s0.b0", 1: "p1.s0.b0"})
    (said, lost), (said_later, nothing) = said_plans([first, later], {"p0.s0.b0"})
    assert (said.bullets(), said.assertions) == ((), ())
    assert [f.fact_id for f in said.facts] == ["p0.f0"]  # nothing is said of the other fact
    assert _told(said_later) == [("p1.s0.b0", SETS, "p0.f0", 95), ("p1.s0.b1", UPDATES, "p0.f0", 99)]
    opening, change = said_later.bullets()
    assert (opening.kind, opening.target_bullet_id) == (BulletKind.EVENT, None)
    assert (change.kind, change.target_bullet_id) == (BulletKind.UPDATE, "p1.s0.b0")
    (incident,), () = lost, nothing
    assert (incident.kind, incident.place) == (IncidentKind.DROPPED, "p0.s0.b0")
    assert incident.detail == "no message says: bullet 0; it asserts p0.f0, p0.f1"


def test_an_update_of_an_update_that_was_not_said_is_one_of_the_value_before() -> None:
    plan = _plan(
        0, ((SETS, "p0.f0", 80),), ((UPDATES, "p0.f0", 95),), ((UPDATES, "p0.f0", 99),), ((UPDATES, "p0.f0", 80),),
        facts=("p0.f0",), targets={1: "p0.s0.b0", 2: "p0.s0.b1", 3: "p0.s0.b2"},
    )  # fmt: skip
    ((said, _),) = said_plans([plan], {"p0.s0.b1"})
    assert said.bullets()[1].target_bullet_id == "p0.s0.b0"
    ((back, _),) = said_plans([plan], {"p0.s0.b1", "p0.s0.b2"})
    assert _told(back)[1] == ("p0.s0.b3", MENTIONS, "p0.f0", 80)  # it changes nothing any more


@pytest.mark.parametrize(("amount", "stances"), [(None, []), (70, [SETS])])
def test_a_denial_of_what_was_not_said_denies_nothing(amount: int | None, stances: list[Stance]) -> None:
    plan = _plan(0, ((SETS, "p0.f0", 80),), ((DENIES, "p0.f0", amount),), facts=("p0.f0",), targets={1: "p0.s0.b0"})
    ((said, _),) = said_plans([plan], {"p0.s0.b0"})
    assert [stance for _, stance, _, _ in _told(said)] == stances
    (statement,) = said.bullets()
    assert (statement.kind, statement.target_bullet_id) == (BulletKind.EVENT, None)
    assert list(Histories([said]).conflicts()) == []


def test_an_unsaid_denial_leaves_its_statement_in_no_doubt() -> None:
    plan = _plan(0, ((SETS, "p0.f0", 80),), ((DENIES, "p0.f0", None),), facts=("p0.f0",), targets={1: "p0.s0.b0"})
    ((said, _),) = said_plans([plan], {"p0.s0.b1"})
    (life,) = Histories([said]).lives()
    assert [step.value.number for step in life.steps] == [80]


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[Plan], set[str]]:
    """One to three plans about at most four facts, and the bullets that were not said."""
    plans: list[Plan] = []
    current: dict[str, tuple[str, int]] = {}
    for index in range(draw(st.integers(1, 3))):
        told: list[tuple[Said, ...]] = []
        targets, new = {}, []
        for i in range(draw(st.integers(0, 5))):
            key, fact_id, amount = f"p{index}.s0.b{i}", draw(st.sampled_from("abcd")), draw(st.integers(1, 3))
            if fact_id not in current:
                new.append(fact_id)
                told.append(((SETS, fact_id, amount),))
                current[fact_id] = key, amount
            elif draw(st.booleans()):
                targets[i] = current[fact_id][0]
                told.append(((DENIES, fact_id, draw(st.sampled_from([None, amount]))),))
            else:
                targets[i], before = current[fact_id]
                told.append(((UPDATES if amount != before else MENTIONS, fact_id, amount),))
                current[fact_id] = key, amount
        plans.append(_plan(index, *told, facts=tuple(new), targets=targets))
    ids = [b.bullet_id for p in plans for b in p.bullets()]
    return plans, draw(st.sets(st.sampled_from(ids))) if ids else set()


@given(stories())
@settings(max_examples=300, deadline=None)
def test_what_is_left_rests_on_what_was_said_alone(story: tuple[list[Plan], set[str]]) -> None:
    plans, unsaid = story
    said = [plan for plan, _ in said_plans(plans, unsaid)]
    bullets = [b for p in said for b in p.bullets()]
    assert [b.bullet_id for b in bullets] == [
        b.bullet_id for p in plans for b in p.bullets() if b.bullet_id not in unsaid
    ]
    # every reference is to something that was said before
    known: set[str] = set()
    for bullet in bullets:
        assert bullet.target_bullet_id is None or bullet.target_bullet_id in known
        known.add(bullet.bullet_id)
    facts = {f.fact_id for p in said for f in p.facts}
    current: dict[str, float] = {}
    for a in chain.from_iterable(p.assertions for p in said):
        assert a.bullet_id in known
        assert a.fact_id in facts
        if a.stance is DENIES:
            assert a.fact_id in current
            continue
        assert a.value is not None
        assert (a.stance is SETS) == (a.fact_id not in current)
        assert a.stance is not UPDATES or a.value.number != current[a.fact_id]
        current[a.fact_id] = a.value.number or 0
    assert facts == set(current)
    # told again, it stays the same; and nothing changes where nothing is missing
    assert [plan for plan, _ in said_plans(said, frozenset())] == said
    assert [plan for plan, _ in said_plans(said, unsaid)] == said
