from __future__ import annotations

import datetime as dt

import pytest

from longbeam.schemas import Value
from longbeam.text import (
    date_value,
    duration,
    is_derivable,
    money,
    number,
    read_value,
    stated_values,
    unrecorded_values,
    values_in,
)

DAY = dt.date(2024, 3, 8)


def _said(text: str) -> list[str]:
    return [s.value.text for s in stated_values(text)[0]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I paid $85. ```\nx = 12345\n``` It is `v2.3`.", ["$85"]),
        ("Solve $x^2 = 49$ and \\(y = 36\\) for 3 kg.", ["3 kg"]),
        ('He said "you owe me $300" and left.', []),
        ("> you owe me $300\nI paid $85.", ["$85"]),
        ("Is 3 * 45 = 135 right for 85 guests?", ["85 guests"]),
        ("SHA-256 takes 40 ms.", ["40 ms"]),
        ("I am 100% sure of two things.", []),
        ("1. First\n2) Second, 40 guests", ["40 guests"]),
        ("It crawls with a few thousand rows, and ran 40 minutes.", ["40 minutes"]),
    ],
)
def test_code_formulas_quotations_and_counts_are_not_stated(text: str, values: list[str]) -> None:
    assert _said(text) == values


@pytest.mark.parametrize(
    ("said", "near", "known"),
    [
        ("$125", ["$85", "$40"], []),  # 85 + 40
        ("$60", ["$85"], ["$25"]),  # 85 - 25
        ("$340", ["$85", "4 nights"], []),  # 85 * 4
        ("$17", ["$85", "20%"], []),  # a fifth of 85
        ("$68", ["$85", "20%"], []),  # 85 less a fifth
        ("25%", ["$20"], ["$80"]),
        ("80%", ["20%"], []),
        ("3 days", ["March 11, 2024"], []),  # from March 8
        ("two weeks", ["March 22, 2024"], []),
        ("March 22", ["two weeks"], []),
        ("90 minutes", ["30 minutes", "1 hour"], []),
        ("7 guests", ["4 guests", "3 guests"], []),
    ],
)
def test_one_step_from_known_values_is_allowed(said: str, near: list[str], known: list[str]) -> None:
    def typed(texts: list[str]) -> list[Value]:
        return [v for t in texts for v in values_in(t)]

    assert is_derivable(values_in(said)[0], typed(near), typed(known), DAY)


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ("$126", ["$85", "$40"]),
        ("€125", ["$85", "$40"]),
        ("9 guests", ["4 guests", "3 jars"]),
        ("5 days", ["March 11, 2024"]),
        ("March 29", ["two weeks"]),
        ("30%", ["20%"]),
        ("v2.4", ["v2.3"]),
    ],
)
def test_other_values_do_not_follow(said: str, near: list[str]) -> None:
    assert not is_derivable(values_in(said)[0], [v for t in near for v in values_in(t)], [], DAY)


def test_a_statement_of_a_plan_records_all_its_values() -> None:
    text = "On March 8, 2024, I paid $85 for the hall, 24 clip-top jars and a week of chairs; v2.3 runs."
    facts = [money(85), number(24, "jars"), read_value("v2.3")]
    assert unrecorded_values(text, facts, DAY) == ()
    assert [v.text for v in unrecorded_values(text, facts[1:], DAY)] == ["$85"]


def test_a_value_in_other_words_is_recorded() -> None:
    facts = [duration(2, "weeks"), date_value(dt.date(2024, 3, 11)), money(1200)]
    assert unrecorded_values("It takes 14 days from March 11, for $1.2K.", facts, DAY) == ()
