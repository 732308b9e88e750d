from __future__ import annotations

import datetime as dt
import itertools

import pytest

from longbeam.schemas import Value, ValueKind
from longbeam.text import (
    date_value,
    duration,
    money,
    name,
    number,
    parse_value,
    plain,
    quote_for,
    ratio,
    says,
    says_equivalent,
    value_pattern,
    version,
)

MARCH_5 = date_value(dt.date(2024, 3, 5))
MARCH_5_WITHOUT_ITS_YEAR = Value(kind=ValueKind.DATE, text="March 5", date=dt.date(2024, 3, 5))


@pytest.mark.parametrize(
    "text",
    [
        "due March 5",
        "due March 5, 2024.",
        "due 5 March 2024",
        "by Mar 5, ok",
        "on 2024-03-05",
        "March 5th works",
        "the 5th of March",
        "march 5 2024",
        "Mar. 5",
        "Tuesday, March 5, at noon",
    ],
)
def test_says_a_date_in_usual_forms(text: str) -> None:
    assert says(text, MARCH_5)
    assert says(text, MARCH_5_WITHOUT_ITS_YEAR)


@pytest.mark.parametrize(
    "text",
    ["March 5, 2023", "5 March 2025", "2023-03-05", "March 15", "March 50", "May 5", "15 March", "March 5.5"],
)
def test_says_no_other_date(text: str) -> None:
    assert not says(text, MARCH_5)
    assert not says(text, MARCH_5_WITHOUT_ITS_YEAR)


def test_says_a_date_of_unknown_year_with_any_year() -> None:
    value = Value(kind=ValueKind.DATE, text="March 5")
    assert all(says(text, value) for text in ("5 March", "Mar 5, 2023", "2024-03-05"))
    assert not says("March 6", value)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("it costs $1,200.", money(1200), True),
        ("it costs $1200 a month", money(1200), True),
        ("1,200 dollars", money(1200), True),
        ("$1.2K", money(1200), True),
        ("USD 1,200", money(1200), True),
        ("$1,200/month", money(1200), True),
        ("$1,200.50", money(1200), False),
        ("$11,200", money(1200), False),
        ("1,200 users", money(1200), False),
        ("$2 million", money(2), False),
        ("$2 million", money(2_000_000), True),
        ("€89.50", money(89.5, "EUR"), True),
        ("it took 3 weeks", duration(3, "weeks"), True),
        ("it took three weeks", duration(3, "week"), True),
        ("a 3-week break", duration(3, "weeks"), True),
        ("13 weeks", duration(3, "weeks"), False),
        ("3 weekends", duration(3, "weeks"), False),
        ("35%", ratio(0.35), True),
        ("35 percent", ratio(0.35), True),
        ("35 per cent", ratio(0.35), True),
        ("35.5%", ratio(0.35), False),
        ("35 people", ratio(0.35), False),
        ("14 users", number(14), True),
        ("fourteen of them", number(14), True),
        ("in 2014", number(14), False),
        ("14.5", number(14), False),
        ("$14", number(14), False),
        ("14%", number(14), False),
        ("14:30", number(14), False),
        ("1,014", number(14), False),
        ("all 14.", number(14), True),
        ("250 active users", number(250, "users"), True),
        ("250ms", number(250, "ms"), True),
        ("1 user", number(1, "users"), True),
        ("12,500 calories", number(12_500, "calories"), True),
        ("250 rows", number(250, "users"), False),
        ("on v2.3.1 now", version("2.3.1"), True),
        ("on 2.3.1.", version("v2.3.1"), True),
        ("2.3.10", version("2.3.1"), False),
        ("2.3.1", version("2.3"), False),
        ("MARIA's plan", name("Maria"), True),
        ("Mariana", name("Maria"), False),
        ("no  gluten\nbread today", plain("No gluten bread."), True),
        ("x^2+3x - 4 = 0", Value(kind=ValueKind.EXPRESSION, text="x^2 + 3x - 4"), True),
        ("2x + 31", Value(kind=ValueKind.EXPRESSION, text="2x + 3"), False),
    ],
)
def test_says_values_at_their_edges_only(text: str, value: Value, expected: bool) -> None:
    assert says(text, value) is expected


@pytest.mark.parametrize(
    "value",
    [
        MARCH_5, money(1200), money(89.5, "EUR"), money(300, "CHF"), money(0.5), duration(1, "day"),
        duration(2.5, "hours"), number(1_250_000), number(3.25, "km"), ratio(0.285), ratio(1.2),
        version("v1.2"), name("O'Neil"), plain("(maybe)"),
    ],
)  # fmt: skip
def test_says_every_value_by_its_own_text(value: Value) -> None:
    assert says(f"I said {value.text}.", value)
    assert says(value.text, value)


def test_quote_for_is_the_shortest_verbatim_run() -> None:
    text = (
        "I moved it. It was March 5. Now it is March 9, 2024.\n"
        "- The budget is $1,200. Fine.\n\n```\nMarch 9\n```\nMarch 9 it is."
    )
    march_9 = date_value(dt.date(2024, 3, 9))
    assert quote_for(text, [march_9]) == "March 9 it is."
    assert quote_for(text, [MARCH_5, march_9]) == "It was March 5. Now it is March 9, 2024."
    quote = quote_for(text, [march_9, money(1200)])
    assert quote == "Now it is March 9, 2024.\n- The budget is $1,200."
    assert quote in text
    assert quote_for(text, [money(1300)]) is None
    assert quote_for("```\nMarch 5\n```", [MARCH_5]) is None
    assert quote_for(text, []) == "I moved it."


SAID_IN_MANY_WAYS = [
    *(number(n, unit) for n in (3, 12, 14, 120, 0.5, 2000, 14_500, 1_200_000, 1_999_999.99) for unit in ("", "users")),
    *(money(n) for n in (80, 1200, 1250.5, 3_000_000)),
    *(ratio(share) for share in (0.35, 0.05, 1.2)),
    *(duration(n, "weeks") for n in (1, 3, 40)),
    MARCH_5,
    MARCH_5_WITHOUT_ITS_YEAR,
    Value(kind=ValueKind.DATE, text="March 5"),
    version("2.3.1"),
    version("v2.3"),
    version("Ubuntu Noble"),
    name("Marit Solheim"),
    name("O'Hara's"),
    plain("the blue one."),
    plain("..."),
    Value(kind=ValueKind.EXPRESSION, text="x^2 + 3 x"),
]


def test_short_cuts_say_what_the_pattern_says() -> None:
    own = {v.text for v in SAID_IN_MANY_WAYS} | {v.text.upper() for v in SAID_IN_MANY_WAYS}
    others = {"1.2K", "1,200 dollars", "35 per cent", "a three-week", "5th of March", "2 million", "14.5k", "x^2+3x"}
    before = ("", "about ", "(", "$", "x", "1.", "\u201c", "version ", "a\n")
    after = ("", ".", ". So", ", 2023", ", 2024 it", ", so", "%", " per cent", " percent", " million", " people", "5")
    after += (".5", ")", "x", " 2023", " to", " USD", "\u2019s", " users", " Hundred")

    for value, said in itertools.product(SAID_IN_MANY_WAYS, sorted(own | others)):
        pattern = value_pattern(value.kind, value.text, value.number, value.unit, value.date)
        for text in (f"{b}{said}{a}" for b in before for a in after):
            assert says(text, value) is (pattern.search(text) is not None), (value, text)


def test_a_value_is_said_in_words_days_and_figures_of_a_date() -> None:
    assert says_equivalent("They are sixty-one days apart.", parse_value("61 days"))
    assert says_equivalent("I added it on 04/28.", parse_value("April 28"))
    assert says_equivalent("It takes two weeks.", parse_value("14 days"))
    assert says_equivalent("Interviews on May 10, 12, and 15, 2024, are fixed.", parse_value("May 12, 2024"))
    assert says_equivalent("It is due on the twenty-first of March.", parse_value("March 21"))
    assert not says_equivalent("It takes sixty-one days.", parse_value("one day"))
