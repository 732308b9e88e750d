"""Which facts are settled, updated or contested."""

from __future__ import annotations

from longbeam.generators.probes.histories import Histories
from longbeam.schemas.plans import BulletKind, Stance
from longbeam.schemas.values import money
from tests.generators.probes.story import Story, contradict, update


def _histories(story: Story) -> Histories:
    return Histories(story.head().plans)


def _priced(story: Story, thing: str = "the kitchen", amount: int = 80) -> str:
    value = money(amount)
    return story.tell(0, thing, f"The price of {thing} is {value.text}.", (thing, "price", value))


def test_settled_holds_a_fact_said_once() -> None:
    story = Story()
    _priced(story)
    assert [s.value.text for s in _histories(story).settled.values()] == ["$80"]


def test_settled_leaves_out_an_updated_fact() -> None:
    story = Story()
    update(story, 1, "the kitchen", "price", money(95), _priced(story))
    histories = _histories(story)
    assert not histories.settled
    assert [(a.value.text, b.value.text) for a, b in histories.updated_once.values()] == [("$80", "$95")]
    assert [s.value.text for s in histories.current.values()] == ["$95"]
    assert [v.text for v in histories.past_values("p0.f0")] == ["$80"]


def test_updated_once_leaves_out_a_second_update() -> None:
    story = Story()
    target = _priced(story)
    update(story, 1, "the kitchen", "price", money(95), target)
    update(story, 2, "the kitchen", "price", money(99), target)
    assert not _histories(story).updated_once


def test_update_to_the_same_value_is_no_change() -> None:
    story = Story()
    update(story, 1, "the kitchen", "price", money(80), _priced(story))
    assert list(_histories(story).settled) == ["p0.f0"]


def test_never_statement_contests_all_facts_of_its_target() -> None:
    story = Story()
    contradict(story, 1, "the kitchen", "I have never asked for a price.", _priced(story))
    histories = _histories(story)
    assert histories.contested_facts == {"p0.f0"}
    assert not histories.settled
    assert not histories.current


def test_other_value_contests_only_its_own_fact() -> None:
    story = Story()
    facts = (("the kitchen", "price", money(80)), ("the kitchen", "deposit", money(10)))
    target = story.tell(0, "the kitchen", "The kitchen costs $80, with a deposit of $10.", *facts)
    story.tell(
        1, "the kitchen", "The kitchen was $99 from the start.", ("the kitchen", "price", money(99)),
        kind=BulletKind.CONTRADICTION, target_bullet_id=target, variety="other_value",
    )  # fmt: skip
    assert _histories(story).contested_facts == {"p0.f0"}
    assert list(_histories(story).settled) == ["p0.f1"]


def test_denial_contests_a_fact_whatever_bullet_makes_it() -> None:
    story = Story()
    _priced(story)
    story.tell(1, "the kitchen", "There is no price yet.", ("the kitchen", "price", None), stance=Stance.DENIES)
    assert _histories(story).contested_facts == {"p0.f0"}


def test_mention_of_another_value_leaves_no_provable_history() -> None:
    story = Story()
    _priced(story)
    told = ("the kitchen", "price", money(70))
    story.tell(1, "the kitchen", "About $70 for it.", told, stance=Stance.MENTIONS)
    assert _histories(story).history("p0.f0") == ()


def test_evolved_preference_replaces_the_earlier_one() -> None:
    story = Story()
    wish = {"kind": BulletKind.PREFERENCE, "condition": "when I plan"}
    first = story.tell(0, "plans", "I like sketches.", requirement="has a sketch", **wish)
    story.tell(1, "plans", "I like tables now.", requirement="has a table", variety="evolved", **wish)
    pairs = _histories(story).standing(BulletKind.PREFERENCE)
    assert [(b.requirement, e.bullet_id if e else None) for b, e in pairs] == [("has a table", first)]
