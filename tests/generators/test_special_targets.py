"""Targets of special bullets are all different and still true."""

from __future__ import annotations

import datetime as dt

from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.special_targets import choose_targets
from longbeam.schemas.plans import Assertion, Bullet, BulletKind, Fact, Plan, Stance, SubPlan, ValueKind
from longbeam.text.values import money

ANCHORS = (dt.date(2024, 3, 4), dt.date(2024, 5, 6))


def _plan(bullets: int = 10) -> Plan:
    """Two sub-plans; bullet j of each sets one amount, fixed for odd j: $100, $101, ... over the whole plan."""
    sub_plans, facts, assertions = [], [], []
    for s, anchor in enumerate(ANCHORS):
        told = []
        for j in range(bullets):
            n = s * bullets + j
            bullet_id = f"p0.s{s}.b{j}"
            told.append(
                Bullet(
                    bullet_id=bullet_id,
                    kind=BulletKind.EVENT,
                    narrative="Money",
                    topic=f"thing {n}",
                    text=f"I paid {money(100 + n).text} for thing {n}.",
                    happens_on=anchor + dt.timedelta(days=j),
                )
            )
            facts.append(
                Fact(
                    fact_id=f"p0.f{n}",
                    subject=f"thing {n}",
                    attribute="cost",
                    kind=ValueKind.MONEY,
                    is_fixed=j % 2 == 1,
                )
            )
            assertions.append(
                Assertion(bullet_id=bullet_id, fact_id=f"p0.f{n}", stance=Stance.SETS, value=money(100 + n))
            )
        sub_plans.append(SubPlan(plan_index=0, sub_plan_index=s, anchor=anchor, bullets=tuple(told)))
    return Plan(plan_index=0, sub_plans=tuple(sub_plans), facts=tuple(facts), assertions=tuple(assertions))


def test_targets_are_all_different_and_lie_behind_their_stage() -> None:
    plan = _plan()
    chosen = choose_targets(plan, 2, "7/c000", PlanHistory())
    facts = [t.fact.fact_id for c in chosen for t in c.updates]
    facts += [t.fact.fact_id for c in chosen for t in c.contradictions if t.fact]
    assert len(facts) == len(set(facts)) == 8
    # the first stage looks back to the first three fifths of its own bullets: b0 to b5
    first = [*chosen[0].updates, *chosen[0].contradictions]
    assert {t.bullet.bullet_id for t in first} <= {f"p0.s0.b{j}" for j in range(6)}
    assert {t.bullet.bullet_id.partition(".b")[0] for t in (*chosen[1].updates, *chosen[1].contradictions)} == {"p0.s0"}


def test_fixed_facts_are_denied_and_never_updated() -> None:
    for stage in choose_targets(_plan(), 2, "7/c000", PlanHistory()):
        assert not any(t.fact.is_fixed for t in stage.updates)
        assert all(t.fact is not None and t.fact.is_fixed for t in stage.contradictions)


def test_facts_that_another_bullet_touches_are_no_targets() -> None:
    plan = _plan()
    again = Assertion(bullet_id="p0.s1.b0", fact_id="p0.f0", stance=Stance.MENTIONS, value=money(100))
    plan = plan.model_copy(update={"assertions": (*plan.assertions, again)})
    for seed in range(8):
        chosen = choose_targets(plan, 3, f"{seed}/c000", PlanHistory())
        assert "p0.f0" not in {t.fact.fact_id for c in chosen for t in c.updates}


def test_value_that_a_later_bullet_still_says_is_no_target() -> None:
    plan = _plan()
    late = plan.sub_plans[1].bullets[3].model_copy(update={"topic": "thing 0", "text": "It was the $100 again."})
    second = plan.sub_plans[1].model_copy(
        update={"bullets": (*plan.sub_plans[1].bullets[:3], late, *plan.sub_plans[1].bullets[4:])}
    )
    plan = plan.model_copy(update={"sub_plans": (plan.sub_plans[0], second)})
    for seed in range(8):
        chosen = choose_targets(plan, 3, f"{seed}/c000", PlanHistory())
        assert "p0.f0" not in {t.fact.fact_id for c in chosen for t in c.updates}
