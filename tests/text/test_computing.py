from __future__ import annotations

import datetime as dt

import pytest

from longbeam.schemas import Value
from longbeam.text import date_value, duration, money, name, number, recompute

MARCH_5 = date_value(dt.date(2024, 3, 5))


def test_recompute() -> None:
    later = date_value(dt.date(2024, 3, 19))
    # March 5 to March 19: 14 days, the first not counted.
    assert recompute("days_between", [later, MARCH_5]).text == "14 days"
    assert recompute("weeks_between", [MARCH_5, later]).text == "2 weeks"
    assert recompute("sum", [money(0.1), money(0.2), money(1)]) == money(1.3)
    assert recompute("difference", [number(250, "users"), number(400, "users")]) == number(150, "users")
    assert recompute("count", [name("Ann"), name("Bo"), name("ann")]) == number(2)
    assert recompute("difference", [number(3, "points"), number(2, "points")]).text == "1 point"
    assert recompute("sum", [number(1, "point"), number(3, "points")]).number == 4
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
