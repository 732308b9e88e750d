"""Sums, differences and counts over several sessions."""

from __future__ import annotations

from longbeam.generators.probes.candidates import ProbeCandidate
from longbeam.generators.probes.multi_session_reasoning import check, find_candidates
from longbeam.schemas.plans import Value
from longbeam.text.values import money, name
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
    found = _by_variety(_story("price", money(80), money(95)))
    assert found["sum"].details.computed_value == "$175"
    assert found["difference"].details.computed_value == "$15"


def test_count_is_of_distinct_names() -> None:
    found = _by_variety(_story("builder", name("Bramble"), name("Corvid"), name("Bramble")))
    assert found["count"].details.computed_value == "2"
    assert [v.text for v in found["count"].answers] == ["2", "Bramble", "Corvid"]


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
    found = {c.variety: c.details for c in find_candidates(story.material())}
    # 80 + 99 and 99 - 80: the roof's 95 is past
    assert found["sum"].computed_value == "$179"
    assert found["difference"].computed_value == "$19"
    assert all("$95" not in d.computed_from for d in found.values())


def test_check_refuses_a_wrong_total_and_missing_evidence() -> None:
    candidate = _by_variety(_story("price", money(80), money(95)))["sum"]
    question, gold = "What do they cost together?", "Together $175: $80 and $95."
    total, first, second = ("States $175", [0, 1]), ("States $80", [0]), ("States $95", [1])
    assert not check(candidate, reply(question, gold, total, first, second))
    assert "does not say '$175'" in str(check(candidate, reply(question, "Together $180: $80 and $95.", total)))
    assert "no nugget names excerpt 1" in str(check(candidate, reply(question, gold, ("States $175", [0]), first)))
