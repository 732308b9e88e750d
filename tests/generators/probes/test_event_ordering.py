"""The order in which topics are first brought up."""

from __future__ import annotations

import pytest

from longbeam.generators.probes import ProbeCandidate
from longbeam.generators.probes.event_ordering import check, find_candidates
from longbeam.schemas import Difficulty
from longbeam.text import money, name, number, ratio
from tests.generators.probes.story import THINGS, Story, reply


def _story(count: int) -> Story:
    story = Story()
    for i, thing in enumerate(THINGS[:count]):
        story.tell(i, thing, f"We began to work on {thing} at last.")
    return story


def _candidate(count: int = 4) -> ProbeCandidate:
    return next(c for c in find_candidates(_story(count + 1).material()) if len(c.items) == count)


def test_items_are_those_that_come_up_next_after_a_thing_in_the_order_of_first_mention() -> None:
    story = _story(5)
    story.tell(6, "the bathroom", "Back to work on the bathroom again.")
    (candidate,) = find_candidates(story.material())
    assert (candidate.topic, candidate.variety) == ("the kitchen", "next")
    assert candidate.items == ("bathroom", "bedroom", "hallway", "attic")
    assert [e.group for e in candidate.excerpts] == [0, 1, 2, 3]
    assert list(candidate.positions) == sorted(set(candidate.positions))


def test_a_question_names_a_thing_that_was_said_and_no_heading() -> None:
    for candidate in find_candidates(_story(12).material()):
        assert candidate.topic in THINGS
        assert candidate.topic.removeprefix("the ") not in candidate.items


def test_nothing_is_asked_across_a_message_that_does_not_say_its_topic() -> None:
    story = _story(5)
    story.tell(6, "the attic", "We began to work on the attic at last.")
    place = next(i for i, m in enumerate(story.messages) if "bedroom" in m.content)
    story.messages[place] = story.messages[place].model_copy(update={"content": "That room came next."})
    assert [c.topic for c in find_candidates(story.material())] == []


def test_nothing_is_asked_across_a_message_that_brings_in_somebody_by_name() -> None:
    story = _story(5)
    assert find_candidates(story.material())
    firm = ("the bedroom", "chosen firm", name("Copperfield Crafts"))
    story.tell(2, "the bedroom", "Copperfield Crafts has the bedroom.", firm)
    story.messages[4:] = [*story.messages[-2:], *story.messages[4:-2]]
    assert find_candidates(story.material()) == []


@pytest.mark.parametrize(("count", "level"), [(4, "easy"), (7, "medium"), (10, "hard")])
def test_difficulty_is_the_number_of_items(count: int, level: str) -> None:
    assert _candidate(count).difficulty is Difficulty(level)


def test_topics_of_one_message_have_no_order() -> None:
    story = _story(4)
    message = story.messages[0]
    told = f"{message.content} We began to work on the attic at last."
    bullet = story.tell(3, "the attic", "We began to work on the attic at last.")
    story.messages[-2:] = []
    story.messages[0] = message.model_copy(update={"content": told, "bullet_ids": (*message.bullet_ids, bullet)})
    assert find_candidates(story.material()) == []


def test_three_topics_are_too_few() -> None:
    assert find_candidates(_story(4).material()) == []


def test_check_wants_number_order_and_a_nugget_per_item() -> None:
    candidate = _candidate()
    question = "In what order did I bring up my rooms? Name four."
    gold = "1) bathroom, 2) bedroom, 3) hallway, 4) attic"
    nuggets = [(f"Names {item} as number {i + 1}", [i]) for i, item in enumerate(candidate.items)]
    assert not check(candidate, reply(question, gold, *nuggets))
    assert "4 items" in str(check(candidate, reply("In what order?", gold, *nuggets)))
    unplaced = [(f"Mentions {candidate.items[0]}", [0]), *nuggets[1:]]
    assert "is number 1" in str(check(candidate, reply(question, gold, *unplaced)))
    swapped = "1) bedroom, 2) bathroom, 3) hallway, 4) attic"
    assert "in its place" in str(check(candidate, reply(question, swapped, *nuggets)))
    assert "one per item" in str(check(candidate, reply(question, gold, *nuggets[:3])))
    told = "Name four rooms, from the bathroom on, in order."
    assert "'bathroom' away" in str(check(candidate, reply(told, gold, *nuggets)))


def _priced(*things: str) -> Story:
    story = Story()
    for i, thing in enumerate(things):
        story.tell(i, thing, f"The price of {thing} is ${80 + i}.", (thing, "price", money(80 + i)))
    return story


def _say(story: Story, place: int, text: str) -> Story:
    story.messages[place] = story.messages[place].model_copy(update={"content": text})
    return story


def _priced_themes(story: Story) -> list[tuple[str, ...]]:
    return [c.items for c in find_candidates(story.material()) if c.variety != "next"]


def test_things_with_a_price_are_items_as_long_as_their_messages_name_them() -> None:
    assert _priced_themes(_priced("the kitchen", "the roof", "the porch")) == [("kitchen", "roof", "porch")]
    unnamed = _say(_priced("the kitchen", "the roof", "the porch"), 2, "The price of that is $81, by the way.")
    assert _priced_themes(unnamed) == []


def test_only_things_before_two_of_one_message_are_asked_for_in_order() -> None:
    story = _priced("the kitchen", "the roof", "the porch", "the attic", "the stairs")
    attic, reply_to_attic, stairs, _ = story.messages[-4:]
    both = {"content": f"{attic.content} {stairs.content}", "bullet_ids": (*attic.bullet_ids, *stairs.bullet_ids)}
    story.messages[-4:] = [attic.model_copy(update=both), reply_to_attic]
    assert _priced_themes(story) == [("kitchen", "roof", "porch")]


def test_a_price_of_something_that_nobody_planned_makes_the_list_incomplete() -> None:
    story = _priced("the kitchen", "the roof", "the porch")
    story.tell(1, "the evening", "We had guests.", said="The price of a second-hand ladder is $30, should I?")
    assert _priced_themes(story) == []


def test_a_share_told_with_one_word_of_its_attribute_makes_the_list_incomplete() -> None:
    things = ("the kitchen", "the roof", "the back porch")
    story = Story()
    for i, thing in enumerate(things):
        said = f"{50 + i}% of {thing} is finished."
        story.tell(i, thing, said, (thing, "finished share", ratio((50 + i) / 100)))
    assert _priced_themes(story) == [("kitchen", "roof", "back porch")]
    story.tell(1, "the evening", "Guests came back.", said="82% of the bench is finished, and I am back.")
    assert _priced_themes(story) == []


def test_an_attribute_is_no_list_beside_one_that_is_a_kind_of_it() -> None:
    story = _priced("the kitchen", "the roof", "the porch")
    story.tell(3, "the attic", "We shook hands on $95 for the attic.", ("the attic", "agreed price", money(95)))
    assert _priced_themes(story) == []


def test_nothing_is_asked_in_order_that_an_earlier_sentence_names_too() -> None:
    story = _say(
        _story(5), 0, "We began to work on the kitchen at last. The attic, the hallway and the stairs are next."
    )
    assert find_candidates(story.material()) == []


def test_facts_of_one_thing_are_no_items_under_the_names_of_the_ledger() -> None:
    story = Story()
    for session, (attribute, amount) in enumerate((("lots left", 3), ("pages binned", 80), ("rooms seen", 9))):
        said = f"My shortlist again: {amount} of them."
        story.tell(session, "my shortlist", said, ("my shortlist", attribute, number(amount)))
    assert find_candidates(story.material()) == []
