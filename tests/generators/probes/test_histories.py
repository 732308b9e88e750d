"""Which facts are settled, updated or contested."""

from __future__ import annotations

import pytest

from longbeam.generators.probes import Histories, find_shared_names
from longbeam.schemas import AdviceKind, Bullet, BulletKind, Plan, Stance, SubPlan
from longbeam.text import money
from tests.generators.probes.story import START, Story, contradict, update


def _histories(story: Story) -> Histories:
    return Histories(story.head().plans)


def _steps(story: Story) -> list[list[str]]:
    """The values that each fact takes."""
    return [[step.value.text for step in life.steps] for life in _histories(story).lives()]


def _priced(story: Story, thing: str = "the kitchen", amount: int = 80) -> str:
    value = money(amount)
    return story.tell(0, thing, f"The price of {thing} is {value.text}.", (thing, "price", value))


def test_a_fact_said_once_takes_one_value() -> None:
    story = Story()
    _priced(story)
    assert _steps(story) == [["$80"]]


def test_an_update_is_another_step() -> None:
    story = Story()
    update(story, 1, "the kitchen", "price", money(95), _priced(story))
    assert _steps(story) == [["$80", "$95"]]
    told = story.material().stated
    assert not told.settled
    assert [(a.value.text, b.value.text) for a, b in told.updated_once] == [("$80", "$95")]
    assert [(s.value.text, [v.text for v in s.past]) for s in told.current] == [("$95", ["$80"])]


def test_updated_once_leaves_out_a_second_update() -> None:
    story = Story()
    target = _priced(story)
    update(story, 1, "the kitchen", "price", money(95), target)
    update(story, 2, "the kitchen", "price", money(99), target)
    assert not story.material().stated.updated_once


def test_update_to_the_same_value_is_no_change() -> None:
    story = Story()
    update(story, 1, "the kitchen", "price", money(80), _priced(story))
    assert _steps(story) == [["$80"]]
    # Either message could be spared.
    assert [s.is_stated_once for s in story.material().stated.settled] == [False]


def test_never_statement_contests_all_facts_of_its_target() -> None:
    story = Story()
    contradict(story, 1, "the kitchen", "I have never asked for a price.", _priced(story))
    assert _steps(story) == [[]]
    assert [s.value.text for s in story.material().stated.first] == ["$80"]
    assert not story.material().stated.current


def test_other_value_contests_only_its_own_fact() -> None:
    story = Story()
    facts = (("the kitchen", "price", money(80)), ("the kitchen", "deposit", money(10)))
    target = story.tell(0, "the kitchen", "The kitchen costs $80, with a deposit of $10.", *facts)
    story.tell(
        1, "the kitchen", "The kitchen was $99 from the start.", ("the kitchen", "price", money(99)),
        kind=BulletKind.CONTRADICTION, target_bullet_id=target, variety="other_value",
    )  # fmt: skip
    assert _steps(story) == [[], ["$10"]]
    (conflict,) = _histories(story).conflicts()
    assert [fact.fact_id for fact in conflict.stated] == ["p0.f0", "p0.f1"]
    assert [v.text for v in conflict.values] == ["$80", "$99"]


def test_a_later_plan_contests_a_fact_of_an_earlier_one() -> None:
    story = Story()
    target = _priced(story)
    denial = Bullet(
        bullet_id="p1.s0.b0",
        kind=BulletKind.CONTRADICTION,
        narrative="Renovation",
        topic="the kitchen",
        text="I have never asked for a price.",
        happens_on=START,
        target_bullet_id=target,
        variety="never_statement",
    )
    second = Plan(
        plan_index=1,
        sub_plans=(SubPlan(plan_index=1, sub_plan_index=0, anchor=START, bullets=(denial,)),),
        facts=(),
        assertions=(),
    )
    histories = Histories((*story.head().plans, second))
    assert [life.steps for life in histories.lives()] == [()]
    assert [(c.statement.bullet_id, c.denial) for c in histories.conflicts()] == [(target, denial)]


def test_a_later_plan_updates_a_fact_of_an_earlier_one() -> None:
    story = Story()
    moved = update(story, 1, "the kitchen", "price", money(95), _priced(story))
    (plan,) = story.head().plans
    first, later = plan.sub_plans
    own, other = plan.assertions
    parted = (
        plan.model_copy(update={"sub_plans": (first,), "assertions": (own,)}),
        Plan(plan_index=1, sub_plans=(later,), facts=(), assertions=(other,)),
    )
    (life,) = Histories(parted).lives()
    assert [(s.bullet.bullet_id, s.value.text) for s in life.steps] == [("p0.s0.b0", "$80"), (moved, "$95")]


def test_denial_contests_a_fact_whatever_bullet_makes_it() -> None:
    story = Story()
    _priced(story)
    story.tell(1, "the kitchen", "There is no price yet.", ("the kitchen", "price", None), stance=Stance.DENIES)
    assert _steps(story) == [[]]


def test_mention_of_another_value_leaves_no_provable_history() -> None:
    story = Story()
    _priced(story)
    told = ("the kitchen", "price", money(70))
    story.tell(1, "the kitchen", "About $70 for it.", told, stance=Stance.MENTIONS)
    assert _steps(story) == [[]]


def test_evolved_preference_replaces_the_earlier_one() -> None:
    story = Story()
    wish = {"kind": BulletKind.PREFERENCE, "condition": "when I plan"}
    first = story.tell(0, "plans", "I like sketches.", requirement="has a sketch", **wish)
    story.tell(1, "plans", "I like tables now.", requirement="has a table", variety="evolved", **wish)
    pairs = _histories(story).standing(BulletKind.PREFERENCE)
    assert [(b.requirement, e.bullet_id if e else None) for b, e in pairs] == [("has a table", first)]


SHARED = (
    ("the loan", "the bank loan", "Renovation"),
    ("the loan", "a loan", "Renovation"),
    ("the visit", "the visit of the surveyor", "Renovation"),
    ("my report", "the damp report", "Elsewhere"),
)


@pytest.mark.parametrize(("thing", "other", "narrative"), SHARED)
def test_a_name_that_another_thing_goes_by_names_neither_fact_nor_contradiction(
    thing: str, other: str, narrative: str
) -> None:
    story = Story()
    target = _priced(story, thing)
    story.tell(0, other, f"I paid $70 for {other}.", (other, "fee", money(70)), narrative=narrative)
    contradict(story, 2, thing, f"I have never asked the price of {thing}.", target)
    assert [said.subject for said in story.material().stated.settled] == ([other] if other != "a loan" else [])
    assert not list(_histories(story).conflicts())


def test_a_fact_of_another_narrative_may_be_what_a_name_means_and_one_of_the_same_is_the_thing() -> None:
    for narrative, is_shared in (("People", True), ("Renovation", False)):
        story = Story()
        _priced(story, "the loan")
        story.tell(0, "Kathleen", "Kathleen lent me $70.", ("Kathleen", "loan", money(70)), narrative=narrative)
        assert find_shared_names(story.head().plans) == (frozenset({"the loan"}) if is_shared else frozenset())


@pytest.mark.parametrize("thing", ["the kitchen", "the loan office", "the house loan of my sister"])
def test_a_name_of_its_own_is_not_shared(thing: str) -> None:
    story = Story()
    _priced(story, "the loan of the bank")
    _priced(story, thing)
    assert not find_shared_names(story.head().plans)


def test_advice_on_a_shared_name_is_left_out() -> None:
    story = Story()
    told = _priced(story, "the loan")
    story.bring_in(told, AdviceKind.FIGURE, "safety margin", "Keep $44 as a safety margin.", value=money(44))
    assert story.material().advice.settled
    _priced(story, "the bank loan")
    assert not story.material().advice.settled


@pytest.mark.parametrize(("thing", "is_open"), [("the scan", False), ("the ward", True)])
def test_an_amount_that_changed_between_two_statements_explains_another_of_the_same_thing(
    thing: str, is_open: bool
) -> None:
    story = Story()
    own = story.tell(0, "the scan", "My share of the scan is $30.", ("the scan", "patient share", money(30)))
    price = _priced(story, thing, 200)
    update(story, 1, thing, "price", money(340), price)
    story.tell(
        2, "the scan", "My share of the scan is $48.", ("the scan", "patient share", money(48)),
        kind=BulletKind.CONTRADICTION, target_bullet_id=own, variety="other_value",
    )  # fmt: skip
    assert [not c.is_decided for c in _histories(story).conflicts()] == [is_open]
