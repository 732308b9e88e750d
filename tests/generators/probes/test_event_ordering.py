"""The order in which things were first told: of different days, in different messages, named in the question."""

from __future__ import annotations

import pytest

from longbeam.generators import PROBING
from longbeam.generators.probes import ProbeCandidate, lengths_for
from longbeam.generators.probes.event_ordering import check, find_candidates
from longbeam.prompts.calls import NuggetDraft, OrderReply
from longbeam.schemas import AdviceKind, BulletKind, Difficulty
from longbeam.text import money
from tests.generators.probes.story import THINGS, Story, reply


def _story(count: int) -> Story:
    story = Story()
    for i, thing in enumerate(THINGS[:count]):
        story.tell(i, thing, f"We began to work on {thing} at last.")
    return story


def _candidate(count: int = 4) -> ProbeCandidate:
    return next(c for c in find_candidates(_story(count).material()) if len(c.excerpts) == count)


def _topics(story: Story) -> list[tuple[str, ...]]:
    return [tuple(e.topic for e in c.excerpts) for c in find_candidates(story.material())]


def test_things_of_one_matter_are_put_in_the_order_of_their_first_messages() -> None:
    story = _story(4)
    story.tell(6, "the bathroom", "Back to work on the bathroom again.")
    assert THINGS[:4] in _topics(story)
    assert all(order == tuple(sorted(order, key=THINGS.index)) for order in _topics(story))


def test_every_message_and_every_day_has_one_thing() -> None:
    story = _story(4)
    story.tell(0, "the attic", "We began to work on the attic at last.")  # the day of the kitchen
    assert story.messages
    assert all(not {"the kitchen", "the attic"} <= set(topics) for topics in _topics(story))
    for candidate in find_candidates(story.material()):
        assert len({e.said_on for e in candidate.excerpts}) == len(candidate.excerpts) >= 3
        assert len(set(candidate.message_keys)) == len(candidate.excerpts)


def test_two_things_of_one_day_are_too_few() -> None:
    story = Story()
    for session, thing in ((0, "the kitchen"), (1, "the attic"), (1, "the porch")):
        story.tell(session, thing, f"We began to work on {thing} at last.")
    assert _topics(story) == []


def test_a_message_that_does_not_name_its_topic_tells_no_thing() -> None:
    story = _story(4)
    place = next(i for i, m in enumerate(story.messages) if "bedroom" in m.content)
    story.messages[place] = story.messages[place].model_copy(update={"content": "That room came next."})
    assert all("my bedroom" not in topics for topics in _topics(story))


def test_a_thing_that_an_earlier_message_names_is_left_out() -> None:
    story = _story(4)
    opening = {"content": "We began to work on the kitchen at last. The hallway and the stairs are next."}
    story.messages[0] = story.messages[0].model_copy(update=opening)
    assert all("the hallway" not in topics for topics in _topics(story))


def test_a_short_story_gives_lists_of_fewer_things_instead_of_none() -> None:
    # Of six things of one matter three lists of four, then lists of three.
    lengths = [len(topics) for topics in _topics(_story(6))]
    assert (lengths[:5], len(lengths)) == ([4, 4, 4, 3, 3], 8)


def test_a_thing_that_is_named_before_spoils_no_list_of_the_others() -> None:
    story = _story(5)
    opening = {"content": "We began to work on the kitchen at last. The hallway and the stairs are next."}
    story.messages[0] = story.messages[0].model_copy(update=opening)
    assert any(len(topics) == 4 for topics in _topics(story))


def test_contested_and_changed_facts_are_no_things() -> None:
    story = Story()
    for session, thing in enumerate(THINGS[:4]):
        story.tell(session, thing, f"The price of {thing} is ${80 + session}.", (thing, "price", money(80 + session)))
    denied = story.bullets[1][0].bullet_id
    story.tell(
        5, THINGS[1], "I have never asked for a price of the bathroom.", kind=BulletKind.CONTRADICTION,
        target_bullet_id=denied, variety="never_statement",
    )  # fmt: skip
    assert _topics(story) == [(THINGS[0], *THINGS[2:4])]


@pytest.mark.parametrize(
    ("messages", "lengths"), [(20, (4,)), (200, (4, 5)), (400, (5, 6, 7)), (1_200, (8, 9, 10)), (2_600, (10,))]
)
def test_the_number_of_things_grows_with_the_conversation(messages: int, lengths: tuple[int, ...]) -> None:
    # BEAM's event orderings cite 5.8 messages at 128K tokens (400 messages of ours), 12.9 at 500K, 26.6 at a million.
    assert lengths_for(messages) == lengths
    assert lengths_for(10**6) == (PROBING.max_items,)


@pytest.mark.parametrize(("count", "level"), [(3, "easy"), (4, "easy")])
def test_difficulty_is_the_number_of_items(count: int, level: str) -> None:
    assert _candidate(count).difficulty is Difficulty(level)


ITEMS = ("the start on the kitchen", "the work on the bathroom", "the bedroom", "the hallway")


def _worded(question: str, gold: str, items: tuple[str, ...] = ITEMS, at: int = 1) -> OrderReply:
    nuggets = [NuggetDraft(text=f"Names {item} as number {i + at}", excerpts=[i]) for i, item in enumerate(items)]
    return OrderReply(question=question, gold_answer=gold, nuggets=nuggets, items=list(items))


def test_check_wants_every_item_in_the_question_out_of_order_and_in_the_answer_in_order() -> None:
    candidate = _candidate()
    question = f"In which order did I first tell you of {', '.join(ITEMS[i] for i in candidate.payload.listed_as)}?"
    gold = "; ".join(f"{i}) {item}" for i, item in enumerate(ITEMS, 1))
    assert not check(candidate, _worded(question, gold))
    in_order = f"In which order did I first tell you of {', '.join(ITEMS)}?"
    assert "in their order" in str(check(candidate, _worded(in_order, gold)))
    assert "does not name 'the hallway'" in str(check(candidate, _worded(question.replace("hallway", "rest"), gold)))
    swapped = gold.replace("bedroom", "x").replace("hallway", "bedroom").replace("x", "hallway")
    assert "in its place" in str(check(candidate, _worded(question, swapped)))
    assert "is number 1" in str(check(candidate, _worded(question, gold, at=2)))
    assert "one of each" in str(check(candidate, _worded(question, gold, ITEMS[:3])))
    elsewhere = ("the big storm", *ITEMS[1:])
    assert "no word of excerpt 0" in str(check(candidate, _worded(question, gold, elsewhere)))
    assert "`items` are missing" in str(check(candidate, reply(question, gold)))


@pytest.mark.parametrize("count", range(3, 11))
def test_who_repeats_the_question_has_most_pairs_the_wrong_way_round(count: int) -> None:
    from longbeam.generators.probes.event_ordering import _out_of_order

    places = _out_of_order(count)
    assert sorted(places) == list(range(count))
    pairs = [(a, b) for i, a in enumerate(places) for b in places[i + 1 :]]
    assert sum(a > b for a, b in pairs) >= len(pairs) / 2
    assert places[-1] != count - 1


def test_what_the_assistant_brought_in_is_no_list() -> None:
    story = _story(5)
    for session, thing in enumerate(THINGS[:5]):
        margin = money(60 + session)
        text = f"Take {margin.text} as the safety margin for {thing}."
        told = story.bullets[session][0].bullet_id
        story.bring_in(told, AdviceKind.FIGURE, "safety margin", text, value=margin)
        items = (f"measure {thing}", f"draw {thing}")
        steps = f"The steps for {thing}: 1. {items[0]} 2. {items[1]}."
        story.bring_in(told, AdviceKind.STEPS, "steps", steps, items=items)
    found = find_candidates(story.material())
    assert found
    assert not any(c.needs_reply for c in found)


@pytest.mark.parametrize(
    ("nugget", "is_fine"),
    [
        ("Names the start on the kitchen as told first", True),
        ("States that the user first mentioned the start on the kitchen", True),
        ("Names the start on the kitchen as told first, because the floor had to be dry before winter", False),
    ],
)
def test_a_point_of_an_order_says_the_item_and_its_place_alone(nugget: str, is_fine: bool) -> None:
    """Readers of legal16: the motive stood beside the order in one criterion."""
    candidate = _candidate(4)
    question = f"In which order did I first tell you of {', '.join(ITEMS[i] for i in candidate.payload.listed_as)}?"
    worded = _worded(question, "; ".join(f"{i}) {item}" for i, item in enumerate(ITEMS, 1)))
    assert not check(candidate, worded)
    first = worded.nuggets[0].model_copy(update={"text": nugget})
    found = check(candidate, worded.model_copy(update={"nuggets": [first, *worded.nuggets[1:]]}))
    assert any("says more than" in problem for problem in found) is not is_fine
