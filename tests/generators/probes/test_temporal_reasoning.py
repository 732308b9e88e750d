"""Days between two dates, computed by code."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators.probes import ProbeCandidate
from longbeam.generators.probes.temporal_reasoning import check, find_candidates
from longbeam.text import date_value, recompute
from tests.generators.probes.story import START, Story, day, reply, update


def _story() -> Story:
    story = Story()
    for session, thing, offset in ((0, "the kitchen", 30), (2, "the roof", 75)):
        start = day(offset)
        story.tell(session, thing, f"The start of {thing} is {start.text}.", (thing, "start", start))
    return story


def _candidate() -> ProbeCandidate:
    (candidate,) = find_candidates(_story().material())
    return candidate


def test_candidate_has_the_days_between() -> None:
    # Offsets 30 and 75 from March 1: 45 days.
    candidate = _candidate()
    assert candidate.details.computed_value == "45 days"
    assert candidate.details.computed_from == ("March 31, 2024", "May 15, 2024")
    assert recompute("days_between", candidate.context_values).text == "45 days"


def test_dates_of_one_message_and_moved_dates_are_no_pair() -> None:
    story = Story()
    first, second = day(30), day(75)
    target = story.tell(
        0, "the kitchen", f"The kitchen starts {first.text} and ends {second.text}.",
        ("the kitchen", "start", first), ("the kitchen", "end", second),
    )  # fmt: skip
    story.tell(1, "the roof", f"The roof starts {day(90).text}.", ("the roof", "start", day(90)))
    update(story, 2, "the roof", "start", day(99), target)
    assert not [c for c in find_candidates(story.material()) if c.variety == "duration"]


def test_days_of_different_things_are_left_out_where_those_of_one_thing_are_enough() -> None:
    story = Story()
    for session, attribute, offset in ((0, "order", 20), (2, "delivery", 31), (4, "repair", 47), (6, "sale", 90)):
        said = day(offset)
        story.tell(session, "the oven", f"The {attribute} of the oven is {said.text}.", ("the oven", attribute, said))
    story.tell(5, "the roof", f"The start of the roof is {day(70).text}.", ("the roof", "start", day(70)))
    found = [c for c in find_candidates(story.material()) if c.variety == "duration"]
    # Four days of the oven make six pairs.
    assert len(found) == 6
    assert not any("roof" in c.topic for c in found)


def test_event_day_that_the_user_names_makes_a_pair_where_dates_are_few() -> None:
    story = _story()
    # Session 4 is told forty days after March 1: April 10.
    story.tell(4, "the inspection", "The inspection of the house was today, April 10, 2024.")
    found = find_candidates(story.material())
    assert sorted(c.details.computed_value for c in found) == ["10 days", "35 days", "45 days"]
    assert all("" not in c.fact_ids for c in found)


def test_the_day_of_a_thing_that_has_another_date_is_no_event_day() -> None:
    story = _story()
    story.tell(4, "the roof", "The roof was done today, April 10, 2024.")
    found = find_candidates(story.material())
    assert [c.details.computed_value for c in found] == ["45 days"]


def test_check_refuses_wrong_days_and_dates_in_the_question() -> None:
    question = "How many days lie between the two starts?"
    gold = "There are 45 days between March 31, 2024 and May 15, 2024."
    nugget = ("States that it is 45 days", [0, 1])
    assert not check(_candidate(), reply(question, gold, nugget))
    assert "does not say '45 days'" in str(check(_candidate(), reply(question, gold.replace("45", "44"), nugget)))
    dated = reply("How many days after March 30?", gold, nugget)
    assert "names a date" in str(check(_candidate(), dated))


@pytest.mark.parametrize(("said", "count"), [("Last Wednesday I began with the roof.", 0), ("On {day} I began.", 1)])
def test_a_day_that_hangs_on_last_wednesday_is_no_gold(said: str, count: int) -> None:
    story = Story()
    begun = date_value(START + dt.timedelta(days=8))  # Saturday, March 9, 2024; told on Monday, March 11
    text = said.replace("Wednesday", "Saturday").format(day=begun.text)
    story.tell(1, "the roof", text, ("the roof", "start", begun))
    story.tell(3, "the roof", f"It ended on {day(30).text}.", ("the roof", "end", day(30)))
    assert len(find_candidates(story.material())) == count
