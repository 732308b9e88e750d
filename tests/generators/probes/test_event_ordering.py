"""The order in which topics are first brought up."""

from __future__ import annotations

from longbeam.generators.probes.candidates import ProbeCandidate
from longbeam.generators.probes.event_ordering import check, find_candidates
from longbeam.schemas.probes import Difficulty
from tests.generators.probes.story import THINGS, Story, reply


def _story(count: int) -> Story:
    story = Story()
    for i, thing in enumerate(THINGS[:count]):
        story.tell(i, thing, f"We began to work on {thing} at last.")
    return story


def _candidate(count: int = 4) -> ProbeCandidate:
    return next(c for c in find_candidates(_story(count).material()) if c.variety == "all")


def test_items_are_in_the_order_of_first_mention() -> None:
    story = _story(4)
    story.tell(5, "the kitchen", "Back to work on the kitchen again.")
    (candidate,) = find_candidates(story.material())
    assert candidate.items == ("kitchen", "bathroom", "bedroom", "hallway")
    assert [e.group for e in candidate.excerpts] == [0, 1, 2, 3]
    assert list(candidate.positions) == sorted(set(candidate.positions))


def test_long_themes_are_asked_for_their_first_items() -> None:
    lengths = sorted((len(c.items), c.variety) for c in find_candidates(_story(12).material()))
    assert lengths == [(5, "first"), (7, "first"), (10, "first")]


def test_difficulty_is_the_number_of_items() -> None:
    assert _candidate(4).difficulty is Difficulty.EASY
    assert _candidate(6).difficulty is Difficulty.MEDIUM
    assert _candidate(9).difficulty is Difficulty.HARD


def test_topics_of_one_message_have_no_order() -> None:
    story = _story(4)
    message = story.messages[0]
    told = f"{message.content} We began to work on the attic at last."
    bullet = story.tell(3, "the attic", "We began to work on the attic at last.")
    story.messages[-2:] = []
    story.messages[0] = message.model_copy(update={"content": told, "bullet_ids": (*message.bullet_ids, bullet)})
    assert find_candidates(story.material()) == []


def test_three_topics_are_too_few() -> None:
    assert find_candidates(_story(3).material()) == []


def test_check_wants_number_order_and_a_nugget_per_item() -> None:
    candidate = _candidate()
    question = "In what order did I bring up my rooms? Name four."
    gold = "1) kitchen, 2) bathroom, 3) bedroom, 4) hallway"
    nuggets = [(f"Mentions {item}", [i]) for i, item in enumerate(candidate.items)]
    assert check(candidate, reply(question, gold, *nuggets)) is None
    assert "4 items" in str(check(candidate, reply("In what order?", gold, *nuggets)))
    swapped = "1) bathroom, 2) kitchen, 3) bedroom, 4) hallway"
    assert "in its place" in str(check(candidate, reply(question, swapped, *nuggets)))
    assert "one per item" in str(check(candidate, reply(question, gold, *nuggets[:3])))
    told = "Name four rooms, from kitchen on, in order."
    assert "'kitchen' away" in str(check(candidate, reply(told, gold, *nuggets)))
