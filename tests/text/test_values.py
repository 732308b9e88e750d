from __future__ import annotations

import datetime as dt
import itertools

import pytest

from longbeam.schemas.plans import Value, ValueKind
from longbeam.text.sentences import fenced_spans
from longbeam.text.values import (
    _pattern,
    date_value,
    duration,
    extract_values,
    format_date,
    money,
    name,
    number,
    parse_value,
    plain,
    quote_for,
    ratio,
    recompute,
    says,
    sentences,
    version,
    weekday,
)

MARCH_5 = date_value(dt.date(2024, 3, 5))


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
    assert says(text, date_value(dt.date(2024, 3, 5), with_year=False))


@pytest.mark.parametrize(
    "text",
    ["March 5, 2023", "5 March 2025", "2023-03-05", "March 15", "March 50", "May 5", "15 March", "March 5.5"],
)
def test_says_no_other_date(text: str) -> None:
    assert not says(text, MARCH_5)
    assert not says(text, date_value(dt.date(2024, 3, 5), with_year=False))


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


def test_makers_write_canonical_text() -> None:
    made = [
        money(1200),
        money(1200.5),
        money(300, "CHF"),
        duration(1, "weeks"),
        duration(2, "week"),
        number(1500, "users"),
    ]
    assert [v.text for v in made] == ["$1,200", "$1,200.50", "300 CHF", "1 week", "2 weeks", "1,500 users"]
    assert [ratio(0.285).text, ratio(0.3).text, number(2.50).text] == ["28.5%", "30%", "2.5"]
    assert (format_date(dt.date(2024, 3, 5)), weekday(dt.date(2024, 3, 5))) == ("March 5, 2024", "Tuesday")
    with pytest.raises(ValueError, match="duration unit"):
        duration(3, "users")


def _split(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


def test_sentences_keep_abbreviations_decimals_and_versions_whole() -> None:
    text = "Dr. Lee said 14.5 is fine, e.g. with v2.3.1. then i left! See J. Smith at 5 p.m. on Monday. Done?"
    assert _split(text) == [
        "Dr. Lee said 14.5 is fine, e.g. with v2.3.1.",
        "then i left!",
        "See J. Smith at 5 p.m. on Monday.",
        "Done?",
    ]


def test_sentences_go_on_behind_a_factorial_within_a_calculation() -> None:
    text = "That makes 5! / 3! = 20, or 6! - 5! = 600. I have 3! What now? It is 4!\n\n2 more."
    assert _split(text) == [
        "That makes 5! / 3! = 20, or 6! - 5! = 600.",
        "I have 3!",
        "What now?",
        "It is 4!",
        "2 more.",
    ]


def test_sentences_leave_out_list_markers_and_code() -> None:
    text = "## Plan\n\nFirst line\ngoes on.\n\n1. Buy it. Now.\n- [x] Sell\n\n```py\nx = 1. + 2\n```\n> Quoted."
    assert _split(text) == ["Plan", "First line\ngoes on.", "Buy it.", "Now.", "Sell", "Quoted."]


def test_fenced_spans_tell_the_unclosed() -> None:
    assert [closed for _, closed in fenced_spans("```\na\n```\n~~~\nb")] == [True, False]
    assert fenced_spans("use ```x``` here") == ()


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


def test_extract_values_in_order() -> None:
    text = (
        "On March 5 I paid $1,200 (35%) for three weeks; v2.3.1 shipped 2024-04-01 at 2:30 PM with 250 "
        "users, 12 of them new, and 80ms. On 7 May 2023 we had two kids and 1.5 million dollars, or 14."
    )
    found = [(v.kind.value, v.text, v.number, v.unit, v.date) for v in extract_values(text)]
    assert found == [
        ("date", "March 5", None, "", None),
        ("money", "$1,200", 1200, "USD", None),
        ("ratio", "35%", 0.35, "", None),
        ("duration", "three weeks", 3, "weeks", None),
        ("version", "v2.3.1", None, "", None),
        ("date", "2024-04-01", None, "", dt.date(2024, 4, 1)),
        ("text", "2:30 PM", None, "", None),
        ("number", "250 users", 250, "users", None),
        ("number", "12", 12, "", None),
        ("number", "80ms", 80, "ms", None),
        ("date", "7 May 2023", None, "", dt.date(2023, 5, 7)),
        ("number", "two kids", 2, "kids", None),
        ("money", "1.5 million dollars", 1_500_000, "USD", None),
        ("number", "14", 14, "", None),
    ]


def test_extract_values_takes_the_year_given() -> None:
    assert extract_values("by March 5th", year=2024)[0].date == dt.date(2024, 3, 5)
    assert extract_values("by February 30") == ()


def test_parse_value_types_only_whole_texts() -> None:
    assert parse_value("$1,200") == money(1200)
    assert parse_value("March 5, 2024") == MARCH_5
    assert parse_value("3 weeks") == duration(3, "weeks")
    assert parse_value("the $1,200 desk") == plain("the $1,200 desk")


def test_recompute() -> None:
    later = date_value(dt.date(2024, 3, 19))
    # March 5 to March 19: 14 days, the first not counted.
    assert recompute("days_between", [later, MARCH_5]).text == "14 days"
    assert recompute("weeks_between", [MARCH_5, later]).text == "2 weeks"
    assert recompute("sum", [money(0.1), money(0.2), money(1)]) == money(1.3)
    assert recompute("difference", [number(250, "users"), number(400, "users")]) == number(150, "users")
    assert recompute("count", [name("Ann"), name("Bo"), name("ann")]) == number(2)
    # 200 to 250 is a quarter more.
    assert recompute("ratio_change", [money(200), money(250)]).text == "25%"


@pytest.mark.parametrize(
    ("computation", "values"),
    [
        ("sum", [money(1), number(2)]),
        ("sum", [duration(1, "days"), duration(1, "weeks")]),
        ("difference", [number(1), number(2), number(3)]),
        ("days_between", [MARCH_5]),
        ("weeks_between", [MARCH_5, date_value(dt.date(2024, 3, 6))]),
        ("ratio_change", [number(0), number(2)]),
        ("sum", [name("a"), name("b")]),
        ("product", [number(1), number(2)]),
    ],
)
def test_recompute_refuses_what_has_no_answer(computation: str, values: list[Value]) -> None:
    with pytest.raises(ValueError, match=computation):
        recompute(computation, values)


SAID_IN_MANY_WAYS = [
    *(number(n, unit) for n in (3, 12, 14, 120, 0.5, 2000, 14_500, 1_200_000, 1_999_999.99) for unit in ("", "users")),
    *(money(n) for n in (80, 1200, 1250.5, 3_000_000)),
    *(ratio(share) for share in (0.35, 0.05, 1.2)),
    *(duration(n, "weeks") for n in (1, 3, 40)),
    MARCH_5,
    date_value(dt.date(2024, 3, 5), with_year=False),
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
        pattern = _pattern(value.kind, value.text, value.number, value.unit, value.date)
        for text in (f"{b}{said}{a}" for b in before for a in after):
            assert says(text, value) is (pattern.search(text) is not None), (value, text)
