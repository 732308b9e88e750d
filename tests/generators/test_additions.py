"""Side stories of a plan: how many entries, on which days, and that their facts are kept apart."""

from __future__ import annotations

import datetime as dt
from itertools import count

import pytest

from longbeam.generators import AdditionInputs, Layout, Ledger, with_additions
from longbeam.schemas import AMOUNT_KINDS, BulletKind, Domain, Gender, Person, Plan, Relation, ValueKind
from longbeam.text import BY_NAME, TRAVEL_LOGS, amount_like, money, relation_words, says
from tests.generators.probes.story import START, full_story

PEOPLE = tuple(
    Person(person_id=f"n{i}", first_name=name, gender=Gender.FEMALE, age=40, relation=Relation.FRIEND)
    for i, name in enumerate(("Dana", "Ruth", "Olga", "Ines", "Mara"))
)
LONG = Layout(sub_plans=10, bullets_per_sub_plan=9, batches=6, questions=1, specials=10, wishes=10)
SHORT = LONG.model_copy(update={"sub_plans": 2, "batches": 8})


def _plan() -> Plan:
    """A plan whose bullets are told on a day each."""
    (plan,) = full_story().head().plans
    days = count()
    sub_plans = [
        s.model_copy(
            update={"bullets": tuple(b.model_copy(update={"happens_on": _day(next(days))}) for b in s.bullets)}
        )
        for s in plan.sub_plans
    ]
    return plan.model_copy(update={"sub_plans": tuple(sub_plans)})


def _day(ordinal: int) -> dt.date:
    return START + dt.timedelta(days=ordinal)


def _series(plan: Plan) -> set[str]:
    return {f.side_story for f in plan.facts if f.side_story in BY_NAME}


def _made(layout: Layout = LONG, people: tuple[Person, ...] = PEOPLE) -> Plan:
    return with_additions(AdditionInputs(_plan(), layout, people, "0/c000"))


def test_long_plan_has_a_log_and_a_short_one_only_if_it_lacks_amounts() -> None:
    assert len(_series(_made())) == 1
    assert not _series(_made(SHORT))
    lacking = AdditionInputs(_plan(), SHORT, PEOPLE, "0/c000", lacks_amounts=True)
    assert len([b for b in with_additions(lacking).bullets() if b.topic in BY_NAME]) == 5


def test_log_of_a_plan_without_enough_people_has_nobody_come_along() -> None:
    told = [f.attribute for f in _made(LONG, PEOPLE[:2]).facts if f.side_story in BY_NAME]
    assert told
    assert not [attribute for attribute in told if attribute.startswith("companion")]


def test_every_entry_says_its_values_on_a_day_of_its_own() -> None:
    plan = _made()
    told = {b.bullet_id: b for b in plan.bullets() if b.kind is BulletKind.SIDE}
    side = {f.fact_id for f in plan.facts if f.side_story}
    made = [a for a in plan.assertions if a.fact_id in side]

    assert made
    assert all(a.value is not None and says(told[a.bullet_id].text, a.value) for a in made)
    slots = [f.slot for f in plan.facts]
    assert len(set(slots)) == len(slots)
    ids = [b.bullet_id for b in plan.bullets()]
    assert len(set(ids)) == len(ids)


def test_nobody_comes_along_to_one_place_twice() -> None:
    by_bullet: dict[str, set[str]] = {}
    plan = _made()
    logged = {f.fact_id for f in plan.facts if f.side_story in BY_NAME and not f.attribute.startswith("amount")}
    for assertion in plan.assertions:
        if assertion.fact_id in logged and assertion.value is not None:
            by_bullet.setdefault(assertion.bullet_id, set()).add(assertion.value.text)
    pairs = [frozenset(said) for said in by_bullet.values()]
    assert len(pairs) == 10
    assert len(set(pairs)) == len(pairs)


def test_the_story_itself_does_not_know_side_facts() -> None:
    plan = _made()
    side = {f.fact_id for f in plan.facts if f.side_story}
    assert not side & {line.fact_id for line in Ledger.of(plan).lines()}


def test_same_key_gives_the_same_plan_and_other_plans_other_stories() -> None:
    assert _made().digest == _made().digest
    later = _plan().model_copy(update={"plan_index": 1})
    # Only the names differ here: ids of the story's bullets stay those of plan 0.
    second = _series(with_additions(AdditionInputs(later, LONG, PEOPLE, "0/c000")))
    assert _series(_made()).isdisjoint(second)


def test_long_plan_has_requests_for_silence_behind_confidences_and_a_pasted_claim() -> None:
    plan = _made()
    order = {b.bullet_id: i for i, b in enumerate(plan.bullets())}
    asked = [b for b in plan.bullets() if b.variety in ("forget", "keep_from")]
    told = {b.topic: b for b in plan.bullets() if b.kind is BulletKind.SIDE}
    pasted = [b for b in plan.bullets() if b.kind is BulletKind.PASTED]

    assert {b.variety for b in asked} == {"forget", "keep_from"}
    assert all(order[told[b.topic].bullet_id] < order[b.bullet_id] for b in asked)
    assert len(pasted) == 1
    assert order[pasted[0].target_bullet_id or ""] < order[pasted[0].bullet_id]
    assert not [a for a in plan.assertions if a.bullet_id == pasted[0].bullet_id]


def test_nothing_is_pasted_where_the_story_says_every_other_amount() -> None:
    plan = _plan()
    # As the pasted document would claim them: half as much again, and more with each of the 96 steps.
    said = tuple(
        a.model_copy(
            update={"fact_id": "p0.f999", "value": amount_like(a.value, round(a.value.number * (1 + step / 6)))}
        )
        for a in plan.assertions
        if a.value is not None and a.value.kind in AMOUNT_KINDS and a.value.number
        for step in range(3, 99)
    )
    told = plan.model_copy(update={"assertions": (*plan.assertions, *said)})
    made = with_additions(AdditionInputs(told, LONG, PEOPLE, "0/c000"))
    assert not [b for b in made.bullets() if b.kind is BulletKind.PASTED]


@pytest.mark.parametrize(
    ("currency", "sign"), [("GBP", "£"), ("CZK", "00 CZK"), ("PHP", "00 PHP"), ("PLN", "00 PLN"), ("GHS", "00 GHS")]
)
def test_confidences_are_in_the_currency_of_the_story_if_the_amount_is_likely_in_it(currency: str, sign: str) -> None:
    plan = _plan()
    told_in = tuple(
        a.model_copy(update={"value": money(a.value.number or 1, currency)})
        if a.value and a.value.kind is ValueKind.MONEY
        else a
        for a in plan.assertions
    )
    made = with_additions(AdditionInputs(plan.model_copy(update={"assertions": told_in}), LONG, PEOPLE, "0/c000"))
    told = [b.text for b in made.bullets() if b.text.startswith("Something private")]
    assert told
    assert all(sign in text for text in told)


def test_who_travels_keeps_a_log_of_the_road_and_nobody_comes_along() -> None:
    made = with_additions(AdditionInputs(_plan(), LONG, PEOPLE, "0/c000", domain=Domain.TRIP))
    assert not [f for f in made.facts if f.attribute.startswith("companion")]
    assert _series(made) in ({log.name} for log in TRAVEL_LOGS)


def test_nothing_is_kept_from_somebody_whom_a_wish_names() -> None:
    plan = _plan()
    wish = plan.bullets()[0].model_copy(
        update={
            "bullet_id": "p9.s0.b0",
            "kind": BulletKind.INSTRUCTION,
            "text": "Dana, Ruth, Olga and Ines read your answers along, so explain each term.",
        }
    )
    for seed in range(8):
        made = with_additions(AdditionInputs(plan, LONG, PEOPLE, f"{seed}/c000", standing=[wish]))
        assert {b.condition for b in made.bullets() if b.variety == "keep_from"} == {"when Mara reads along"}


@pytest.mark.parametrize(("age", "words"), [(40, "my colleague"), (64, "my colleague"), (65, "my acquaintance")])
def test_nobody_of_65_years_is_called_a_colleague(age: int, words: str) -> None:
    person = PEOPLE[0].model_copy(update={"relation": Relation.ACQUAINTANCE, "age": age})
    assert relation_words(person) == words
    assert relation_words(PEOPLE[0]) == "my friend"
