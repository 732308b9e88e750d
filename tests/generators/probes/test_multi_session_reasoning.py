"""Sums, differences and counts over several sessions."""

from __future__ import annotations

import pytest

from longbeam.generators.probes import ProbeCandidate
from longbeam.generators.probes.multi_session_reasoning import check, find_candidates
from longbeam.schemas import Value
from longbeam.text import duration, money, name, number
from tests.generators.probes.story import Story, reply, update


def _story(attribute: str, *values: Value) -> Story:
    story = Story()
    for session, (thing, value) in enumerate(zip(("the kitchen", "the roof", "the porch"), values, strict=False)):
        told = (thing, attribute, value)
        story.tell(session, thing, f"The {attribute} of {thing} is {value.text}.", told)
    return story


def _by_variety(story: Story) -> dict[str, ProbeCandidate]:
    return {c.variety: c for c in reversed(find_candidates(story.material()))}


def test_sum_and_difference_are_computed() -> None:
    computed = {
        (c.details.computation, c.details.computed_from): c.details.computed_value
        for c in find_candidates(_story("price", money(80), money(95), money(30)).material())
    }
    assert computed["sum", ("$80", "$95", "$30")] == "$205"
    assert computed["difference", ("$80", "$95")] == "$15"


def test_one_set_of_values_serves_one_probe() -> None:
    (candidate,) = find_candidates(_story("price", money(80), money(95)).material())
    assert candidate.variety in {"sum", "difference"}


def _told(attribute: str, first: Value, second: Value, *said: str) -> Story:
    story = _story(attribute, first, second)
    for place, text in zip((0, 2), said, strict=True):
        story.messages[place] = story.messages[place].model_copy(update={"content": text})
    return story


def test_an_amount_for_each_night_and_one_that_was_paid_once_are_not_put_together() -> None:
    said = ("I sat over the kitchen for 3 hours.", "Every night I have spent 2 hours on the roof.")
    assert find_candidates(_told("time", duration(3, "hours"), duration(2, "hours"), *said).material()) == []
    both = ("I sit over the kitchen for 3 hours every night.", "Every night I have spent 2 hours on the roof.")
    found = find_candidates(_told("time", duration(3, "hours"), duration(2, "hours"), *both).material())
    assert [c.variety for c in found] == ["difference"]


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("number of pages", "The {} has {} pages."),
        ("score", "My score for the {} was {} pages."),
    ],
)
def test_nobody_forms_a_total_of_pages_or_scores(attribute: str, said: str) -> None:
    told = (said.format("kitchen", 8), said.format("roof", 9))
    found = find_candidates(_told(attribute, number(8, "pages"), number(9, "pages"), *told).material())
    assert [c.variety for c in found] == ["difference"]


@pytest.mark.parametrize("attribute", ["time limit", "planned length", "weekly goal", "number of open points"])
def test_bounds_and_tallies_of_two_things_are_neither_added_nor_compared(attribute: str) -> None:
    story = _story(attribute, duration(30, "minutes"), duration(45, "minutes"), duration(70, "minutes"))
    assert find_candidates(story.material()) == []


def test_prices_of_what_was_not_bought_make_no_total() -> None:
    said = ("The price of the kitchen was $80, paid at once.", "The roof would cost $95, which is too dear.")
    found = find_candidates(_told("price", money(80), money(95), *said).material())
    assert [c.variety for c in found] == ["difference"]


def test_count_is_of_distinct_names() -> None:
    found = _by_variety(_story("builder", name("Bramble"), name("Corvid"), name("Bramble")))
    assert found["count"].details.computed_value == "2"
    assert [v.text for v in found["count"].answers] == ["2", "Bramble", "Corvid"]


@pytest.mark.parametrize(
    ("told", "is_counted"),
    [("Another builder turned us down.", False), ("The builder Corvid came.", True), ("Nobody came.", True)],
)
def test_a_count_beside_an_event_that_may_count_is_not_asked(told: str, is_counted: bool) -> None:
    story = _story("builder", name("Bramble"), name("Corvid"), name("Dovecote"))
    story.tell(2, "the attic", told)
    assert ("count" in _by_variety(story)) is is_counted


def test_nobody_counts_different_names_where_there_is_one() -> None:
    assert "count" not in _by_variety(_story("builder", name("Bramble"), name("Bramble"), name("Bramble")))


def test_count_needs_every_fact_of_the_attribute() -> None:
    story = _story("builder", name("Bramble"), name("Corvid"), name("Dovecote"))
    target = story.tell(3, "the attic", "Elm is the builder of the attic.", ("the attic", "builder", name("Elm")))
    update(story, 4, "the attic", "builder", name("Foxglove"), target)
    assert "count" not in _by_variety(story)


def test_facts_of_one_session_are_no_candidate() -> None:
    story = Story()
    for thing, value in (("the kitchen", money(80)), ("the roof", money(95))):
        story.tell(0, thing, f"The price of {thing} is {value.text}.", (thing, "price", value))
    assert find_candidates(story.material()) == []


def test_updated_fact_is_added_up_with_its_last_value() -> None:
    story = _story("price", money(80), money(95))
    update(story, 3, "the roof", "price", money(99), "p0.s1.b0")
    (candidate,) = find_candidates(story.material())
    # 80 + 99: the roof's 95 is past
    assert (candidate.details.computed_from, candidate.details.computed_value) == (("$80", "$99"), "$179")
    # The message that no longer holds is evidence that no point is about.
    assert [(e.part, e.value.text) for e in candidate.excerpts if e.value] == [
        ("support", "$80"), ("original", "$95"), ("support", "$99"),
    ]  # fmt: skip
    assert candidate.cited == (0, 2)


def test_check_refuses_a_wrong_total_and_missing_evidence() -> None:
    candidate = _by_variety(_story("price", money(80), money(95)))["sum"]
    question, gold = "What do they cost together?", "Together $175: $80 and $95."
    total, first, second = ("States $175", [0, 1]), ("States $80", [0]), ("States $95", [1])
    assert not check(candidate, reply(question, gold, total, first, second))
    assert "does not say '$175'" in str(check(candidate, reply(question, "Together $180: $80 and $95.", total)))
    assert "no nugget names excerpt 1" in str(check(candidate, reply(question, gold, ("States $175", [0]), first)))
