"""Everything that holds of a thing, with the values as they last were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longbeam.generators.probes import ProbeCandidate, messages_for, probe_inputs
from longbeam.generators.probes.summarization import check, find_candidates
from longbeam.schemas import AdviceKind, Difficulty
from longbeam.text import money, name, number
from tests.generators.probes.story import Story, contradict, day, full_story, reply, update


def _story() -> Story:
    story = Story()
    thing, start = "the kitchen", day(40)
    target = story.tell(0, thing, "The price of the kitchen is $80.", (thing, "price", money(80)))
    story.tell(1, thing, "Bramble builds the kitchen.", (thing, "builder", name("Bramble")))
    story.tell(2, thing, f"The kitchen starts on {start.text}.", (thing, "start", start))
    update(story, 3, thing, "price", money(95), target)
    return story


def _candidate() -> ProbeCandidate:
    (candidate,) = find_candidates(_story().material())
    return candidate


def test_candidate_has_current_values_in_order_of_the_conversation() -> None:
    candidate = _candidate()
    # The first price was said in the first session, and the price that holds in the fourth.
    assert [e.value.text for e in candidate.excerpts if e.value] == ["$80", "Bramble", "April 10, 2024", "$95"]
    assert [e.part for e in candidate.excerpts] == ["original", "support", "support", "support"]
    assert [v.text for v in candidate.answers] == ["Bramble", "April 10, 2024", "$95"]
    assert [v.text for v in candidate.stale] == ["$80"]
    assert candidate.difficulty is Difficulty.HARD


def test_an_event_of_the_thing_without_a_fact_is_part_of_its_story() -> None:
    story = _story()
    story.tell(4, "the kitchen", "We danced in the finished kitchen.")
    (candidate,) = find_candidates(story.material())
    assert candidate.excerpts[-1].quote == "We danced in the finished kitchen."
    assert candidate.excerpts[-1].value is None


def test_an_event_in_words_that_give_a_superseded_value_is_left_out() -> None:
    story = _story()
    story.tell(4, "the kitchen", "We danced in the finished kitchen, all of $80.")
    (candidate,) = find_candidates(story.material())
    assert all(e.value for e in candidate.excerpts)


@pytest.mark.parametrize(("messages", "wanted"), [(20, 3), (100, 3), (400, 7), (1_200, 16), (2_600, 27), (9_000, 32)])
def test_the_number_of_messages_grows_with_the_conversation(messages: int, wanted: int) -> None:
    assert messages_for(messages) == wanted


def test_from_500k_on_a_summary_rests_on_eight_messages_or_more() -> None:
    material = replace(full_story().material(), total_messages=1_000)
    cited = [len(set(c.message_keys)) for c in find_candidates(material)]
    assert cited
    assert min(cited) >= 8


@pytest.mark.parametrize(
    ("came", "is_told"),
    [
        ("I went to the kitchen on the 21st and paid my share.", False),
        ("The kitchen was shown to me on March 21.", False),
        ("The kitchen was shown to me.", True),
        ("I have to think of the kitchen until March 30.", True),
    ],
)
def test_a_day_that_was_booked_is_left_out_where_a_later_message_tells_another_day(came: str, is_told: bool) -> None:
    """A reader of offline conversations (seed 9102): booked for April 18, "I went to the blood test on April 21"."""
    story = Story()
    thing = "the kitchen"
    story.tell(0, thing, f"The viewing of the kitchen is on {day(17).text}.", (thing, "viewing", day(17)))
    story.tell(1, thing, "Bramble builds the kitchen.", (thing, "builder", name("Bramble")))
    story.tell(2, thing, came)  # on March 21
    story.tell(3, thing, "The price of the kitchen is $80.", (thing, "price", money(80)))
    (candidate,) = find_candidates(story.material())
    assert (day(17) in candidate.answers) is is_told
    assert came in [e.quote for e in candidate.excerpts]


def _contested_story(*, event: bool) -> Story:
    story = _story()
    danced = story.tell(4, "the kitchen", "We danced in the finished kitchen.")
    never = "danced in the kitchen" if event else "hired anybody to build the kitchen"
    contradict(story, 5, "the kitchen", f"I have never {never}.", danced if event else "p0.s1.b0")
    return story


@pytest.mark.parametrize("event", [False, True])
def test_a_summary_of_a_thing_with_a_contested_fact_or_event_tells_both_versions(event: bool) -> None:
    """Readers of 411 to 414: the question asks where it stands, and gold was silent on what was contradicted."""
    (candidate,) = find_candidates(_contested_story(event=event).material())
    sides = {e.part: e.quote for e in candidate.excerpts if e.part in {"statement", "denial"}}
    assert sides["statement"] == ("We danced in the finished kitchen." if event else "Bramble builds the kitchen.")
    assert sides["denial"].startswith("I have never")
    assert candidate.cited == tuple(range(len(candidate.excerpts)))


def test_a_contested_thing_is_no_matter_where_others_are() -> None:
    story = _contested_story(event=True)
    for i, thing in enumerate(("the roof", "the porch", "the stairs")):
        for session, attribute in enumerate(("price", "fee", "rent")):
            told = money(100 * session + i + 30)
            text = f"The {attribute} of {thing} is {told.text}."
            story.tell(session, thing, text, (thing, attribute, told), narrative=thing)
    topics = {c.topic for c in find_candidates(story.material())}
    assert topics == {"the roof", "the porch", "the stairs"}


def test_check_wants_a_nugget_per_fact_with_its_value() -> None:
    candidate = _candidate()
    gold = "Bramble builds it from April 10, 2024, for $95 in place of $80."
    nuggets = [("Names Bramble", [1]), ("States April 10, 2024", [2]), ("States $95 after $80", [0, 3])]
    question = "How did the kitchen come about?"
    assert not check(candidate, reply(question, gold, *nuggets))
    assert "no nugget names excerpt 0" in str(check(candidate, reply(question, gold, *nuggets[:2])))
    short = [("Says who builds it: Bramble", [1]), ("Says when the kitchen starts", [2])]
    assert not check(candidate, reply(question, gold, *short, nuggets[2])), "a day that did not change may be left out"
    assert "excerpt 3 says '$95'" in str(check(candidate, reply(question, gold, *short, ("Says the price", [0, 3]))))
    stale = [*nuggets, ("States $80", [0])]
    assert "no longer holds" in str(check(candidate, reply(question, gold, *stale)))
    assert not check(candidate, reply(question, gold, *nuggets, ("States that $80 no longer does", [0])))
    twice = candidate.model_copy(update={"stale": (*candidate.stale, money(85))})
    assert not check(twice, reply(question, gold, *nuggets, ("States that the guess of $80 became $85", [0])))
    slots = "What are the builder, the start date and the price of the kitchen?"
    assert "a list of look-ups" in str(check(candidate, reply(slots, gold, *nuggets)))
    assert "does not say 'Bramble'" in str(check(candidate, reply(question, gold.replace("Bramble", "He"), *nuggets)))


def test_things_of_different_narratives_are_not_joined() -> None:
    def topics(*narratives: str) -> set[str]:
        story = Story()
        for session, (thing, narrative) in enumerate(
            zip(("the roof", "the stairs", "the porch"), narratives, strict=True)
        ):
            told = (thing, "price", money(80 + session))
            story.tell(session, thing, f"The price of {thing} is ${80 + session}.", told, narrative=narrative)
        return {c.topic for c in find_candidates(story.material())}

    assert topics("Outside", "Outside", "Outside") == {"the roof, the stairs and the porch"}
    assert topics("Outside", "Inside", "Outside") == set()


def test_things_of_one_narrative_are_joined_where_a_story_has_too_few_that_belong_together() -> None:
    def topics(*attributes: str) -> list[str]:
        story = Story()
        for session, (thing, attribute) in enumerate(zip(("roof", "stairs", "porch"), attributes, strict=True)):
            told = (f"the {thing}", attribute, money(80 + session))
            story.tell(
                session, f"the {thing}", f"The {attribute} of the {thing} is ${80 + session}.", told, narrative="n"
            )
        return [c.topic for c in find_candidates(story.material())]

    assert topics("price", "fee", "rent") == topics("price", "price", "price")
    assert topics("price", "fee", "rent") == ["the roof, the stairs and the porch"]


def test_name_and_age_of_the_user_are_no_matter() -> None:
    story = Story()
    for session, (attribute, value) in enumerate(
        (("name", name("Ana Roth")), ("home", name("Graz")), ("work", name("Bramble")))
    ):
        story.tell(session, "me", f"My {attribute} is {value.text}.", ("me", attribute, value))
    assert find_candidates(story.material()) == []


def test_people_are_no_matter() -> None:
    story = Story()
    for session, person in enumerate(("Dana", "Ruth", "Olga")):
        hours = number(4 + session, "hours")
        told = f"{person} offers {4 + session} hours of help."
        story.tell(session, person, told, (person, "hours of help", hours), narrative="n")
    assert find_candidates(story.material()) == []


def test_the_writer_is_told_what_changed_and_what_was_only_planned() -> None:
    story = Story()
    price = ("the roof", "price", money(80))
    target = story.tell(0, "the roof", "The price of the roof is $80.", price)
    update(story, 1, "the roof", "price", money(99), target)
    story.tell(2, "the roof", "I plan to invite 9 guests under the roof.", ("the roof", "guests", number(9, "guests")))
    story.tell(3, "the roof", "Bramble is the builder of the roof.", ("the roof", "builder", name("Bramble")))
    (candidate,) = find_candidates(story.material())
    assert [(e.past, e.is_plan) for e in candidate.excerpts[1:]] == [(("$80",), False), ((), True), ((), False)]


def test_the_writer_is_told_what_the_assistant_said() -> None:
    story = _story()
    thing = "the kitchen"
    floor = story.tell(4, thing, "Corvid lays the floor of the kitchen.", (thing, "floor layer", name("Corvid")))
    story.bring_in(floor, AdviceKind.FIGURE, "safety margin", "Take $60 as the safety margin.", value=money(60))
    (candidate,) = find_candidates(story.material())
    assert candidate.payload.beside == ("the kitchen, safety margin: $60, from the assistant",)
    assert probe_inputs(story.head(), candidate).beside == candidate.payload.beside
