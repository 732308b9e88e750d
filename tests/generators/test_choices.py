"""The chooser: targets are all different, no fact is used against a condition, and every wish has its uses."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.generators import (
    PLANNING,
    Choices,
    Layout,
    Ledger,
    Pace,
    PlanHistory,
    Quotas,
    SpecialCounts,
    Targets,
    choose_targets,
    layout_for,
)
from longbeam.prompts.calls import ContradictionKind, StoryEvent, Weight
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


LAYOUT = Layout(sub_plans=2, bullets_per_sub_plan=10, batches=10, questions=1, specials=4, wishes=2)


def _events(plan: Plan, **more: object) -> dict[str, StoryEvent]:
    """Return an event for each bullet of a plan."""
    told = enumerate(plan.bullets(), 1)
    return {
        b.bullet_id: StoryEvent.model_validate(
            {
                "event_id": f"e{n}",
                "narrative": b.narrative,
                "thing": b.topic,
                "what": f"It moves ({n}).",
                "kind": b.kind,
                "day": b.happens_on,
                **more,
            }
        )
        for n, b in told
    }


def _chosen(
    plan: Plan | None = None,
    key: str = "7/c000",
    layout: Layout = LAYOUT,
    events: Mapping[str, StoryEvent] | None = None,
    ends: Mapping[str, StoryEvent] | None = None,
) -> tuple[Targets, ...]:
    plan = plan or _plan()
    own = _events(plan) if events is None else events
    quotas = Quotas(layout.specials, layout.counts, Category.GENERAL)
    return choose_targets(Choices(plan, layout, PlanHistory(), own, ends or {}, quotas, key))


def _with_text(plan: Plan, bullet_id: str, text: str, topic: str, kind: BulletKind = BulletKind.EVENT) -> Plan:
    former = {b.bullet_id: b for b in plan.bullets()}[bullet_id]
    changed = former.model_copy(update={"text": text, "topic": topic, "kind": kind})
    sub_plans = tuple(
        s.model_copy(update={"bullets": tuple(changed if b.bullet_id == bullet_id else b for b in s.bullets)})
        for s in plan.sub_plans
    )
    return plan.model_copy(update={"sub_plans": sub_plans})


def _reasons(chosen: tuple[Targets, ...], use: str) -> dict[str, str]:
    return {r.of: r.reason for c in chosen for r in c.refused if r.use == use}


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


def test_a_stage_that_cannot_contradict_anything_leaves_it_to_the_next() -> None:
    # The first stage has ten days: nothing in it was said a fortnight before.
    first, second = _chosen()
    assert first.contradictions == ()
    assert len(second.contradictions) == 4


def test_fixed_facts_are_denied_and_never_updated() -> None:
    for stage in _chosen():
        assert not any(t.fact.is_fixed for t in stage.updates)
        assert all(t.slip in {ContradictionKind.PRICE, ContradictionKind.ONCE} for t in stage.contradictions)
        assert all(
            t.fact is not None and t.fact.is_fixed for t in stage.contradictions if t.slip is ContradictionKind.PRICE
        )


def test_facts_that_another_bullet_touches_are_no_targets() -> None:
    plan = _plan()
    again = Assertion(bullet_id="p0.s1.b0", fact_id="p0.f0", stance=Stance.MENTIONS, value=money(100))
    plan = plan.model_copy(update={"assertions": (*plan.assertions, again)})
    for seed in range(8):
        chosen = _chosen(plan, f"{seed}/c000")
        assert "p0.f0" not in {t.fact.fact_id for c in chosen for t in c.updates}


def test_value_that_a_later_bullet_still_says_is_no_target() -> None:
    plan = _with_text(_plan(), "p0.s1.b3", "It was the $100 again.", "thing 0")
    for seed in range(8):
        chosen = _chosen(plan, f"{seed}/c000")
        assert "p0.f0" not in {t.fact.fact_id for c in chosen for t in c.updates}


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


def test_what_was_not_chosen_has_a_reason() -> None:
    updates, slips = _reasons(_chosen(), "update"), _reasons(_chosen(), "slip")
    assert updates["p0.f1"] == "happened once"
    assert slips["p0.f19"] == "no place of the plan lies behind it"
    assert slips["p0.f11"] == f"nearer than {PLANNING.apart_days} days or {PLANNING.apart_messages} messages"


def test_the_value_of_a_matter_that_is_over_does_not_change_and_may_be_misremembered() -> None:
    plan = _plan()
    over = {"p0.f0": _events(plan)["p0.s0.b4"]}
    assert _reasons(_chosen(plan), "slip")["p0.f0"] == "it may have changed by then"
    for seed in range(20):
        chosen = _chosen(plan, f"{seed}/c000", ends=over)
        assert "p0.f0" not in {t.fact.fact_id for c in chosen for t in c.updates}
        assert _reasons(chosen, "update")["p0.f0"] == "its matter is over by then"
        assert "p0.f0" not in _reasons(chosen, "slip")


def test_what_nobody_forgets_is_not_misremembered() -> None:
    chosen = _chosen(events=_events(_plan(), weight=Weight.UNFORGETTABLE))
    assert not any(c.contradictions for c in chosen)
    assert set(_reasons(chosen, "slip").values()) == {"nobody forgets it"}


def test_an_amount_with_which_another_one_is_reckoned_stays() -> None:
    plan = _with_text(_plan(), "p0.s0.b2", "I paid $102 for thing 0.", "thing 0")
    share = Fact(fact_id="p0.f20", subject="thing 0", attribute="share", kind=ValueKind.RATIO)
    told = Assertion(bullet_id="p0.s0.b2", fact_id="p0.f20", stance=Stance.SETS, value=ratio(0.4))
    plan = plan.model_copy(update={"facts": (*plan.facts, share), "assertions": (*plan.assertions, told)})
    assert _reasons(_chosen(plan), "update")["p0.f0"] == "40% is reckoned with it"


def _denied(plan: Plan, **more: object) -> set[str]:
    """Return the bullets that are denied altogether by any draw."""
    events = _events(plan, **more)
    drawn = (_chosen(plan, f"{seed}/c000", events=events) for seed in range(30))
    return {t.bullet.bullet_id for d in drawn for c in d for t in c.contradictions if t.slip is ContradictionKind.ONCE}


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


def test_only_a_trifle_of_a_month_ago_in_which_no_money_is_is_denied_altogether() -> None:
    plan = _counted(_plan())
    assert _denied(plan, weight=Weight.TRIFLE)
    assert not _denied(plan)
    assert not _denied(_plan(), weight=Weight.TRIFLE)  # nobody forgets what they paid
    late = tuple(
        part.model_copy(
            update={"bullets": tuple(b.model_copy(update={"happens_on": ANCHORS[1]}) for b in part.bullets)}
        )
        for part in plan.sub_plans
    )
    assert not _denied(plan.model_copy(update={"sub_plans": late}), weight=Weight.TRIFLE)


def _threaded(plan: Plan) -> Plan:
    """Return the plan with four things and narratives that come back, one after the other."""
    for i, bullet in enumerate(plan.bullets()):
        plan = _with_text(plan, bullet.bullet_id, f"I paid {money(100 + i).text} this time.", f"thing {i * 4 // 20}")
    return plan


def test_a_plan_has_the_numbers_of_each_kind_that_were_drawn() -> None:
    drawn = SpecialCounts(updates=2, contradictions=1, instructions=1, preferences=3)
    targets = _chosen(_threaded(_plan()), layout=LAYOUT.model_copy(update={"drawn": drawn}))
    wishes = [w.kind for t in targets for w in t.wishes]
    assert wishes == [BulletKind.PREFERENCE, BulletKind.INSTRUCTION, BulletKind.PREFERENCE, BulletKind.PREFERENCE]
    plain = _chosen(layout=LAYOUT.model_copy(update={"drawn": drawn}))
    assert (sum(len(t.updates) for t in plain), sum(len(t.contradictions) for t in plain)) == (2, 1)


def test_a_wish_begins_with_its_aspect_and_has_later_uses() -> None:
    plan = _threaded(_plan())
    wishes = [t for c in _chosen(plan, layout=LAYOUT.model_copy(update={"specials": 1})) for t in c.wishes]
    assert [w.kind for w in wishes] == [BulletKind.PREFERENCE, BulletKind.INSTRUCTION] * 2
    order = [b.bullet_id for b in plan.bullets()]
    for wish in wishes:
        about = [i for i, b in enumerate(plan.bullets()) if wish.aspect in (b.topic, b.narrative)]
        at = order.index(wish.place.after)
        assert [i for i in about if i <= at] == about[:1]
        assert wish.uses == tuple(f"It moves ({i + 1})." for i in about[1:])[: PLANNING.wish_uses + 1]
        assert len(wish.uses) >= PLANNING.wish_uses
        for moment in map(order.index, wish.moments):  # behind each of them it is used twice at least
            assert moment >= at
            assert sum(i > moment for i in about) >= PLANNING.wish_uses
    assert len({w.aspect for w in wishes}) == 4


def test_an_aspect_that_does_not_come_back_gets_no_wish() -> None:
    chosen = _chosen()  # each thing has one bullet, and one narrative has all of them
    assert [t.aspect for c in chosen for t in c.wishes] == ["Money"]
    assert _reasons(chosen, "wish")["thing 3"] == "fewer than two later events come back to it"


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


@pytest.mark.parametrize("length", [16_000, 32_000, 64_000, 128_000])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), days_apart=st.integers(1, 5))
def test_every_target_keeps_every_condition(length: int, seed: int, days_apart: int) -> None:
    layout = layout_for(length, Category.GENERAL, asked=2)
    plan = _random_plan(random.Random(seed), layout, days_apart)
    ledger, pace, rng = Ledger.of(plan), Pace(plan, layout), random.Random(seed)
    events = {
        i: e.model_copy(update={"weight": rng.choice(list(Weight)), "narrative": rng.choice("abcdef")})
        for i, e in _events(plan).items()
    }
    told = list(events)
    ends = {f.fact_id: events[told[-rng.randint(1, 9)]] for f in plan.facts if rng.random() < 0.5}
    of_event = {e.event_id: i for i, e in events.items()}
    chosen = _chosen(plan, f"{seed}/c000", layout, events, ends)
    for target in (t for c in chosen for t in c.contradictions):
        assert (target.place.day - target.bullet.happens_on).days >= PLANNING.apart_days
        assert pace.messages_between(target.place.after, target.bullet.bullet_id) >= PLANNING.apart_messages
        assert events[target.bullet.bullet_id].weight is not Weight.UNFORGETTABLE
    for update in (t for c in chosen for t in c.updates):
        assert (update.place.day - update.bullet.happens_on).days >= PLANNING.settled_days
        if (end := ends.get(update.fact.fact_id)) is not None:
            assert ledger.position[update.place.after] < ledger.position[of_event[end.event_id]]
    for wish in (t for c in chosen for t in c.wishes):
        assert len(wish.uses) >= PLANNING.wish_uses
    places = [place.after for c in chosen for place in c.places().values()]
    assert len(places) == len(set(places))
    facts = [t.fact.fact_id for c in chosen for t in (*c.updates, *c.contradictions) if t.fact]
    assert len(facts) == len(set(facts))


def test_a_value_whose_own_event_ends_its_matter_is_never_updated() -> None:
    plan = _plan()
    over = {"p0.f0": _events(plan)["p0.s0.b0"]}
    assert _reasons(_chosen(plan, ends=over), "update")["p0.f0"] == "its matter is over by then"
    untold = {i: e for i, e in _events(plan).items() if i != "p0.s0.b0"}  # nobody could word the event
    assert _reasons(_chosen(plan, events=untold, ends=over), "update")["p0.f0"] == "its matter is over by then"
