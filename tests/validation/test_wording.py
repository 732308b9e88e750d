from __future__ import annotations

import pytest

from longbeam.text.values import parse_value
from longbeam.validation.wording import about, asks_assistant, claim, facts_in, in_figures, is_said


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("sixty-one days", "61 days"),
        ("one hundred and four days", "104 days"),
        ("seven hundred and fifteen applicants", "715 applicants"),
        ("twenty-six thousand six hundred dollars", "26600 dollars"),
        ("forty-nine dollars a month", "49 dollars a month"),
        ("two or three of sixty", "two or three of 60"),
        ("two million five hundred thousand", "2500000"),
        ("fifteen hundred people", "1500 people"),
        ("by the twenty-first of March", "by the 21st of March"),
        ("USD 600 and EUR 1,250.50", "$600 and €1,250.50"),
        ("one of the party of plenty", "one of the party of plenty"),
        ("a seventeenth-century house", "a seventeenth-century house"),
        ("on May 10, 12, and 15, 2024, with", "on May 10, 2024, May 12, 2024, May 15, 2024, with"),
        ("the weekend of April 6-7 and", "the weekend of April 6, April 7 and"),
        ("from March 5 to 7.", "from March 5, March 7."),
        ("On March 5, 12 people came", "On March 5, 12 people came"),
        ("On May 5 and 12 people", "On May 5 and 12 people"),
    ],
)
def test_numbers_in_words_are_read_as_figures(text: str, figures: str) -> None:
    assert in_figures(text) == figures


def test_a_value_is_said_in_words_days_and_figures_of_a_date() -> None:
    assert is_said("They are sixty-one days apart.", parse_value("61 days"))
    assert is_said("I added it on 04/28.", parse_value("April 28"))
    assert is_said("It takes two weeks.", parse_value("14 days"))
    assert is_said("Interviews on May 10, 12, and 15, 2024, are fixed.", parse_value("May 12, 2024"))
    assert is_said("It is due on the twenty-first of March.", parse_value("March 21"))
    assert not is_said("It takes sixty-one days.", parse_value("one day"))


def test_facts_leave_out_list_numbers_and_small_counts() -> None:
    assert [v.text for v in facts_in("1) Two friends paid $900. 2) 61 days later it was done.")] == ["$900", "61 days"]


def test_the_opening_of_a_nugget_is_not_its_claim() -> None:
    assert claim("LLM response should state: March 29") == "March 29"
    assert claim("States that it is $28") == "it is $28"
    assert about("The first sprints ended") == about("first sprint ends")


def test_a_question_about_the_assistant_is_told_from_a_request() -> None:
    assert asks_assistant("Which films did you recommend?")
    assert not asks_assistant("Can you list the order in which I brought them up?")
