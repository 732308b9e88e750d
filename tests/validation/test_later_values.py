"""Drift of a fact that the ledger knows: a later message changes the value, and no bullet does."""

from __future__ import annotations

import pytest

from longbeam.validation import check_conversation
from tests.builders import MemoryReader, good_conversation
from tests.validation.faults import append
from tests.validation.told import asks, imported, names


def _found(reader: MemoryReader) -> list[tuple[str, str]]:
    found = check_conversation(reader)
    return [(f.check, f.subject) for f in found if f.check.startswith("later_values.")]


def _asking_for_paint(reader: MemoryReader) -> MemoryReader:
    return reader.with_probe("information_extraction", question="What does painting the shop front cost?")


def test_a_change_that_no_bullet_has_is_an_error_although_the_ledger_knows_the_fact() -> None:
    """Found 5: the check was off for each fact of the ledger, that is, for every generated benchmark."""
    reader = _asking_for_paint(good_conversation())
    drifted = append(16, " Tom paints again, and now the shop front costs $1,150.")(reader)
    assert reader.probe("information_extraction").fact_ids
    assert ("later_values.changed_later", reader.probe("information_extraction").probe_id) in _found(drifted)


PAINTED_FOR_AN_OVEN = " Tom paints again, and now the shop front costs $7,400, like the oven."


def test_a_value_that_a_bullet_of_the_message_asserts_is_left_to_stale_gold() -> None:
    told = append(10, PAINTED_FOR_AN_OVEN)(_asking_for_paint(good_conversation()))  # it tells of the oven
    assert _found(told) == []


def test_a_value_that_another_message_gives_another_fact_is_a_change() -> None:
    told = append(16, PAINTED_FOR_AN_OVEN)(_asking_for_paint(good_conversation()))
    assert [check for check, _ in _found(told)] == ["later_values.changed_later"]


TALK = ("What else?", "Nothing.")
MEETING = "I have a Zoom meeting with Professor Danielle on March 22 to review my draft."
"""Said on March 4, 2024, and the talk goes on a week later."""


def _later(told: str, cited: str = MEETING) -> list[str]:
    question = "How many days are there between my review with the professor and April 18?"
    gold = "There are 27 days between the review on March 22, 2024 and April 18, 2024."
    probe = asks("temporal_reasoning", question, gold, {0: "first"})
    return names(imported((cited, "I see.", *TALK, told, "I see."), probe), "later_values")


@pytest.mark.parametrize(
    "told",
    [
        "My Zoom meeting with Professor Danielle to review my draft is on March 25 instead.",
        "A correction: I have a Zoom meeting with Professor Danielle on the 25th to review my draft, it was postponed.",
    ],
)
def test_a_message_that_tells_the_cited_clause_again_with_another_day_is_found(told: str) -> None:
    assert _later(told) == ["later_values.maybe_changed"]


@pytest.mark.parametrize(
    "told",
    [
        "I have a Zoom meeting with Professor Danielle on March 29 to review my second draft.",  # nothing is changed
        "The Zoom call with my brother is on March 25 instead.",  # another thing
        "The Zoom meeting with Professor Danielle to review my draft moved from March 19.",  # recalled
    ],
)
def test_a_message_that_tells_something_else_is_not(told: str) -> None:
    assert "later_values.maybe_changed" not in _later(told)


def test_a_cited_day_without_its_month_is_followed_too() -> None:
    cited = "I have a Zoom meeting with Professor Danielle on the 22nd to review my draft."
    told = "My Zoom meeting with Professor Danielle to review my draft is on the 25th instead."
    question, gold = "When does Professor Danielle review my draft?", "Professor Danielle reviews it on March 22, 2024."
    probe = asks("information_extraction", question, gold, {0: "support"})
    reader = imported((cited, "I see.", *TALK, told, "I see."), probe)
    assert names(reader, "later_values") == ["later_values.maybe_changed"]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("One change: the review is now on March 29 and no longer on March 22.", True),
        ("We do the review on March 29, not March 22.", True),
        ("The professor can do March 29 rather than March 22.", True),
        ("The dentist is on March 29 instead of March 22.", False),  # no word of the probe's
        ("The review is on March 22, and the film is on March 29.", False),
        ("The review is no longer on March 22.", False),  # no new day: another check's
    ],
)
def test_a_day_that_is_given_up_for_another_is_stale(told: str, found: bool) -> None:
    assert bool(_later(told)) is found
