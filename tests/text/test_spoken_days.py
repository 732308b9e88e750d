"""Days as people say them, and what they mean on the day of a message."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from longbeam.text import date_value, quote_for, says, says_day, spell_out, spoken

TODAY = dt.date(2024, 3, 6)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (2, "Friday"),
        (6, "Tuesday"),
        (-3, "the 3rd"),
        (12, "the 18th"),
        (-8, "the 27th"),
        (1, "the 7th"),
        (40, "April 15"),
        (-30, "February 5"),
        (300, "December 31, 2024"),
        (0, "March 6"),
    ],
)
def test_a_day_is_said_as_short_as_it_is_unique(ahead: int, said: str) -> None:
    date = TODAY + dt.timedelta(ahead)
    assert spoken(date, TODAY) == said
    assert spoken(date, TODAY, is_short=False).startswith(("March", "April", "February", "December"))


@pytest.mark.parametrize("ahead", [n for n in range(-9, 19) if n])
def test_the_short_form_of_a_day_means_that_day_and_no_other(ahead: int) -> None:
    date = TODAY + dt.timedelta(ahead)
    text = f"The tiles come {spoken(date, TODAY)}, I hope."
    assert spell_out(text, TODAY) == f"The tiles come {date_value(date).text}, I hope."
    assert says(text, date_value(date), TODAY)
    assert not says(text, date_value(date))
    others = [TODAY + dt.timedelta(n) for n in range(-9, 19) if n not in (ahead, ahead - 7, ahead + 7)]
    assert not any(says_day(text, other, TODAY) for other in others)


@pytest.mark.parametrize(
    "text",
    [
        "the 3rd batch",
        "the 18th of May",
        "May the 18th",
        "Sundays are free",
        "never on a Sunday",
        "every Friday",
        "the 2nd-best",
        "May 3-5",
        "May 3 and 5",
        "March 3, 2021",
    ],
)
def test_what_is_no_day_of_its_own_stays(text: str) -> None:
    assert spell_out(text, TODAY) == text


@pytest.mark.parametrize("ahead", range(-6, 0))
def test_last_weekday_within_a_week_names_no_day(ahead: int) -> None:
    """Issue 43, 3: `last Wednesday`, said on a Friday, is two days ago or nine."""
    date = TODAY + dt.timedelta(ahead)
    weekday = date.strftime("%A")
    assert not says_day(f"They came last {weekday}.", date, TODAY)
    assert not says_day(f"They came this past {weekday}.", date, TODAY)
    assert says_day(f"They came on {weekday}.", date, TODAY)


@pytest.mark.parametrize(("text", "year"), [("January 3", 2024), ("Dec. 30th", 2023), ("September 1", 2024)])
def test_a_day_without_its_year_is_the_nearest_of_its_name(text: str, year: int) -> None:
    assert spell_out(f"They came on {text}.", TODAY) == f"They came on {text}, {year}."


@pytest.mark.parametrize("text", ["last Wednesday", "Last Wednesday", "the 28th", "The 28th"])
def test_a_short_day_may_begin_a_sentence(text: str) -> None:
    assert spell_out(f"{text} was fine.", TODAY) == "February 28, 2024 was fine."


@pytest.mark.parametrize("text", ["It's Wednesday", "it is Wednesday", "Today is Wednesday", "Today\u2019s Wednesday"])
def test_the_weekday_that_it_is_names_today(text: str) -> None:
    assert (
        spell_out(f"{text}, and I'm tired.", TODAY) == f"{text.removesuffix('Wednesday')}March 6, 2024, and I'm tired."
    )
    friday = text.replace("Wednesday", "Friday")
    assert spell_out(friday, TODAY).endswith("March 8, 2024")
    assert spell_out("It was on Wednesday.", TODAY) == "It was on February 28, 2024."


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("Tyler's books didn't close on Sunday as he wanted.", "March 3, 2024"),
        ("We were on the roof on Monday.", "March 4, 2024"),
        ("The visit was moved to next week, so we meet on Sunday.", "March 10, 2024"),
        ("The fair was set for noon on Sunday.", "March 10, 2024"),
        ("The tailor measures him Monday the 11th, and he came late.", "March 11, 2024"),
        ("He comes on Monday, the 11th.", "March 11, 2024"),
    ],
)
def test_a_weekday_is_before_where_it_is_over_and_once_beside_its_number(text: str, full: str) -> None:
    dates = re.findall(r"\w+ \d+, 2024", spell_out(text, TODAY))
    assert dates == [full]


def test_a_quote_says_a_day_by_its_weekday() -> None:
    text = "I got the keys. The painters come on Friday. Should I be there?"
    assert quote_for(text, [date_value(dt.date(2024, 3, 8))], TODAY) == "The painters come on Friday."
    assert quote_for(text, [date_value(dt.date(2024, 3, 8))]) is None
