"""Targets of special bullets are all different and still true."""

from __future__ import annotations

import datetime as dt
import random

from hypothesis import given, settings, strategies as st

from longbeam.generators import (
    APART_DAYS,
    APART_MESSAGES,
    FORMS,
    Layout,
    Ledger,
    Mentions,
    Pace,
    PlanHistory,
    Targets,
    choose_targets,
    dependents_of,
    layout_for,
    scenes_against,
)
from longbeam.prompts.calls import Slip
from longbeam.schemas import Assertion, Bullet, BulletKind, Category, Fact, Plan, Stance, SubPlan, ValueKind
from longbeam.text import date_value, money, name, number, ratio

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


LAYOUT = Layout(sub_plans=2, bullets_per_sub_plan=10, batches=10, questions=1, specials=4)


def _chosen(plan: Plan | None = None, key: str = "7/c000", layout: Layout = LAYOUT) -> tuple[Targets, ...]:
    return choose_targets(Pace(plan or _plan(), layout), key, PlanHistory(), [("Money", "Rooms", "People")] * 30)


def test_targets_are_all_different_and_lie_behind_their_places() -> None:
    plan = _plan()
    chosen = _chosen(plan)
    order = {b.bullet_id: i for i, b in enumerate(plan.bullets())}
    facts = [t.fact.fact_id for c in chosen for t in c.updates]
    facts += [t.fact.fact_id for c in chosen for t in c.contradictions if t.fact]
    assert len(facts) == len(set(facts)) == 8
    for target in (t for c in chosen for t in (*c.updates, *c.contradictions)):
        assert order[target.bullet.bullet_id] <= order[target.place.after]
        assert target.place.day == plan.bullets()[order[target.place.after]].happens_on
    assert all(len(set(c.places().values())) == len(c.places()) for c in chosen)


def test_instructions_take_turns_over_the_narratives() -> None:
    assert [[t.area for t in c.instructions] for c in _chosen()] == [["Money", "Rooms"], ["People", "Money"]]


def test_updates_are_of_narratives_that_go_on_where_there_are_such() -> None:
    plan = _plan()
    first, second = plan.sub_plans
    bullets = tuple(b.model_copy(update={"narrative": "Rooms"}) if n > 3 else b for n, b in enumerate(first.bullets))
    plan = plan.model_copy(update={"sub_plans": (first.model_copy(update={"bullets": bullets}), second)})
    layout = LAYOUT.model_copy(update={"specials": 2})
    for over, going_on in (("Money", "Rooms"), ("Rooms", "Money")):
        labels = [("Money", "Rooms"), (going_on,)]
        for key in range(5):
            later = choose_targets(Pace(plan, layout), str(key), PlanHistory(), labels)[1]
            assert later.updates
            assert over not in {t.bullet.narrative for t in later.updates}


def test_instructions_stand_away_from_preferences_where_they_can() -> None:
    plan = _plan()
    for n in (2, 5):
        plan = _with_text(plan, f"p0.s0.b{n}", "Please keep it short.", "length", BulletKind.PREFERENCE)
    layout = LAYOUT.model_copy(update={"specials": 2})
    for key in range(10):
        first = _chosen(plan, str(key), layout)[0]
        assert not {t.place.after for t in first.instructions} & {f"p0.s0.b{n}" for n in (1, 2, 4, 5)}


def test_a_stage_that_cannot_contradict_anything_leaves_it_to_the_next() -> None:
    # The first stage has ten days: nothing in it was said a fortnight before.
    first, second = _chosen()
    assert first.contradictions == ()
    assert len(second.contradictions) == 4


def test_fixed_facts_are_denied_and_never_updated() -> None:
    for stage in _chosen():
        assert not any(t.fact.is_fixed for t in stage.updates)
        assert all(t.slip in {Slip.PRICE, Slip.ONCE} for t in stage.contradictions)
        assert all(t.fact is not None and t.fact.is_fixed for t in stage.contradictions if t.slip is Slip.PRICE)


def test_facts_that_another_bullet_touches_are_no_targets() -> None:
    plan = _plan()
    again = Assertion(bullet_id="p0.s1.b0", fact_id="p0.f0", stance=Stance.MENTIONS, value=money(100))
    plan = plan.model_copy(update={"assertions": (*plan.assertions, again)})
    for seed in range(8):
        chosen = _chosen(plan, f"{seed}/c000")
        assert "p0.f0" not in {t.fact.fact_id for c in chosen for t in c.updates}


def _with_text(plan: Plan, bullet_id: str, text: str, topic: str, kind: BulletKind = BulletKind.EVENT) -> Plan:
    former = {b.bullet_id: b for b in plan.bullets()}[bullet_id]
    changed = former.model_copy(update={"text": text, "topic": topic, "kind": kind})
    sub_plans = tuple(
        s.model_copy(update={"bullets": tuple(changed if b.bullet_id == bullet_id else b for b in s.bullets)})
        for s in plan.sub_plans
    )
    return plan.model_copy(update={"sub_plans": sub_plans})


def test_value_that_a_later_bullet_still_says_is_no_target() -> None:
    plan = _with_text(_plan(), "p0.s1.b3", "It was the $100 again.", "thing 0")
    for seed in range(8):
        chosen = _chosen(plan, f"{seed}/c000")
        assert "p0.f0" not in {t.fact.fact_id for c in chosen for t in c.updates}


def test_the_value_of_a_thing_that_is_over_is_not_changed_behind_its_end() -> None:
    plan = _with_text(_plan(), "p0.s0.b5", "thing 0 was sold today.", "thing 0")
    order = {b.bullet_id: i for i, b in enumerate(plan.bullets())}
    for seed in range(20):
        for target in (t for c in _chosen(plan, f"{seed}/c000") for t in c.updates if t.fact.fact_id == "p0.f0"):
            assert order[target.place.after] < order["p0.s0.b5"]


def test_nothing_new_is_told_of_a_thing_behind_the_last_of_its_days_where_others_go_on() -> None:
    plan = _plan()
    due = Fact(fact_id="p0.f20", subject="thing 0", attribute="day", kind=ValueKind.DATE, is_fixed=True)
    told = Assertion(bullet_id="p0.s0.b0", fact_id="p0.f20", stance=Stance.SETS, value=date_value(ANCHORS[0]))
    plan = plan.model_copy(update={"facts": (*plan.facts, due), "assertions": (*plan.assertions, told)})
    layout = LAYOUT.model_copy(update={"specials": 2})
    changed = [
        {t.fact.fact_id for seed in range(20) for c in _chosen(p, f"{seed}/c000", layout) for t in c.updates}
        for p in (_plan(), plan)
    ]
    assert "p0.f0" in changed[0]
    assert "p0.f0" not in changed[1]


def test_what_was_told_twice_is_not_contradicted() -> None:
    once, twice = _plan(), _with_text(_plan(), "p0.s0.b2", "I paid the $101 for thing 1 in cash.", "the purse")
    denied = [
        {t.fact.fact_id for seed in range(20) for c in _chosen(p, f"{seed}/c000") for t in c.contradictions if t.fact}
        for p in (once, twice)
    ]
    assert "p0.f1" in denied[0]
    assert "p0.f1" not in denied[1]


def test_a_price_is_not_contradicted_behind_a_change_of_the_firm() -> None:
    plan = _with_text(_plan(), "p0.s0.b0", "Kestrel Works lend us the van.", "the van")
    plan = _with_text(plan, "p0.s0.b1", "I paid $101 for the van.", "the van")
    plan = _with_text(plan, "p0.s1.b0", "Sandoval and Sons lend us the van now.", "the van")
    firm = Fact(fact_id="p0.f20", subject="the van", attribute="firm", kind=ValueKind.NAME, is_fixed=False)
    said = [("p0.s0.b0", Stance.SETS, "Kestrel Works"), ("p0.s1.b0", Stance.UPDATES, "Sandoval and Sons")]
    told = [Assertion(bullet_id=b, fact_id="p0.f20", stance=s, value=name(text)) for b, s, text in said]
    renewed = plan.model_copy(update={"facts": (*plan.facts, firm), "assertions": (*plan.assertions, *told)})
    contradicted = [
        {t.bullet.topic for seed in range(20) for c in _chosen(p, f"{seed}/c000") for t in c.contradictions}
        for p in (plan, renewed)
    ]
    assert "the van" in contradicted[0]
    assert "the van" not in contradicted[1]


def _counted(plan: Plan) -> Plan:
    """Return the plan with numbers in the place of money."""
    told = [
        part.model_copy(
            update={
                "bullets": tuple(
                    b.model_copy(update={"text": f"I took {100 + i} for {b.topic}."})
                    for i, b in enumerate(part.bullets, len(part.bullets) * n)
                )
            }
        )
        for n, part in enumerate(plan.sub_plans)
    ]
    facts = tuple(f.model_copy(update={"kind": ValueKind.NUMBER}) for f in plan.facts)
    said = tuple(a.model_copy(update={"value": number(100 + i)}) for i, a in enumerate(plan.assertions))
    return plan.model_copy(update={"sub_plans": tuple(told), "facts": facts, "assertions": said})


def _denied_altogether(plan: Plan, recalled: frozenset[str] = frozenset()) -> set[str]:
    """Return the bullets that are denied altogether by any draw."""
    drawn = (
        choose_targets(Pace(plan, LAYOUT), f"{seed}/c000", PlanHistory(), [("Money", "Rooms")] * 30, recalled)
        for seed in range(30)
    )
    return {t.bullet.bullet_id for d in drawn for c in d for t in c.contradictions if t.variety == "never_statement"}


def test_what_was_paid_for_or_is_not_a_month_old_is_not_denied_altogether() -> None:
    assert not _denied_altogether(_plan())
    plan = _counted(_plan())
    assert _denied_altogether(plan)
    late = tuple(
        part.model_copy(
            update={"bullets": tuple(b.model_copy(update={"happens_on": ANCHORS[1]}) for b in part.bullets)}
        )
        for part in plan.sub_plans
    )
    assert not _denied_altogether(plan.model_copy(update={"sub_plans": late}))


def test_what_later_bullets_come_back_to_is_not_denied_altogether() -> None:
    plan = _counted(_plan())
    assert {"p0.s0.b1", "p0.s0.b3"} <= _denied_altogether(plan)
    again = _with_text(plan, "p0.s0.b9", "The neighbours asked whether they may borrow thing 1.", "the neighbours")
    assert "p0.s0.b1" not in _denied_altogether(again)
    assert "p0.s0.b3" not in _denied_altogether(plan, frozenset({"p0.f3"}))


def test_the_forms_of_a_plans_wishes_are_all_different() -> None:
    forms = [t.form for c in _chosen() for t in c.instructions]
    assert set(forms) <= set(FORMS)
    assert len(set(forms)) == len(forms) == 4


def test_a_fact_on_which_something_told_before_depends_is_changed_before_that_or_not_at_all() -> None:
    plan = _with_text(
        _plan(), "p0.s1.b1", "I paid $111 for thing 11, which is half of the cost of thing 0.", "thing 11"
    )
    order = {b.bullet_id: i for i, b in enumerate(plan.bullets())}
    found = 0
    for seed in range(40):
        for target in (t for c in _chosen(plan, f"{seed}/c000") for t in c.updates if t.fact.fact_id == "p0.f0"):
            found += 1
            assert order[target.place.after] < order["p0.s1.b1"]
            assert [d.bullet.bullet_id for d in target.dependents] == ["p0.s1.b1"]
    assert found


# --- properties: random plans -----------------------------------------------------------------------------------

WORDS = ("the kitty", "the shelf", "the grinder", "the notebook", "the call")
KINDS = (ValueKind.MONEY, ValueKind.DATE, ValueKind.NUMBER, ValueKind.RATIO, ValueKind.NAME)


def _random_plan(rng: random.Random, layout: Layout, days_apart: int) -> Plan:
    """Return a plan whose things come back, and whose bullets reckon with one another."""
    sub_plans, facts, assertions = [], [], []
    day = dt.date(2024, 1, 1)
    for s in range(layout.sub_plans):
        told, anchor = [], day
        for j in range(layout.bullets_per_sub_plan):
            n, thing = s * layout.bullets_per_sub_plan + j, rng.choice(WORDS)
            kind = rng.choice(KINDS)
            value = {
                ValueKind.MONEY: money(rng.randint(20, 900)),
                ValueKind.DATE: date_value(day - dt.timedelta(days=rng.randint(0, 5))),
                ValueKind.NUMBER: number(rng.randint(2, 40), "jars"),
                ValueKind.RATIO: ratio(rng.randint(5, 95) / 100),
                ValueKind.NAME: name(rng.choice(("Kestrel Works", "Sandoval and Sons"))),
            }[kind]
            said = rng.choice(("went into", "is a share of", "came with half of", "was all there is of"))
            bullet_id = f"p0.s{s}.b{j}"
            told.append(
                Bullet(
                    bullet_id=bullet_id,
                    kind=rng.choice((BulletKind.EVENT, BulletKind.RELATIONSHIP)),
                    narrative="Money",
                    topic=thing,
                    text=f"{value.text} {said} {thing}, and every week I look at {rng.choice(WORDS)}.",
                    happens_on=day,
                )
            )
            is_fixed = rng.random() < 0.6
            facts.append(Fact(fact_id=f"p0.f{n}", subject=thing, attribute=f"a{n}", kind=kind, is_fixed=is_fixed))
            assertions.append(Assertion(bullet_id=bullet_id, fact_id=f"p0.f{n}", stance=Stance.SETS, value=value))
            day += dt.timedelta(days=rng.randint(0, 2 * days_apart))
        day = max(day, anchor + dt.timedelta(days=1))
        sub_plans.append(SubPlan(plan_index=0, sub_plan_index=s, anchor=anchor, bullets=tuple(told)))
    return Plan(plan_index=0, sub_plans=tuple(sub_plans), facts=tuple(facts), assertions=tuple(assertions))


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from((16_000, 32_000, 64_000, 128_000)), st.integers(1, 5))
def test_no_contradiction_is_nearer_than_the_bound_and_no_dependent_stays_stale(
    seed: int, length: int, days_apart: int
) -> None:
    layout = layout_for(length, Category.GENERAL, asked=2)
    plan = _random_plan(random.Random(seed), layout, days_apart)
    ledger, pace = Ledger.of(plan), Pace(plan, layout)
    mentions = Mentions(ledger)
    chosen = _chosen(plan, f"{seed}/c000", layout)
    for target in (t for c in chosen for t in c.contradictions):
        (assertion,) = ledger.by_bullet[target.bullet.bullet_id]
        for scene in scenes_against(target.slip, target.bullet, assertion, mentions):
            assert abs((target.place.day - scene.happens_on).days) >= APART_DAYS
            assert pace.messages_between(target.place.after, scene.bullet_id) >= APART_MESSAGES
    for target in (t for c in chosen for t in c.updates):
        (assertion,) = ledger.by_bullet[target.bullet.bullet_id]
        dependents = dependents_of(mentions, target.bullet, assertion)
        assert target.dependents == dependents
        assert all(ledger.position[d.bullet.bullet_id] > ledger.position[target.place.after] for d in dependents)
    slips = [t for c in chosen for t in c.contradictions if t.variety == "other_value"]
    for target in (t for c in chosen for t in c.updates if t.fact.kind is ValueKind.NAME):
        there = ledger.position[target.place.after]
        for slip in (s for s in slips if s.bullet.topic == target.bullet.topic):
            assert not ledger.position[slip.bullet.bullet_id] < there <= ledger.position[slip.place.after]
