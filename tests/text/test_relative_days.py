from __future__ import annotations

import datetime as dt

import pytest

from longbeam.text import date_value, is_day_meant, number, parse_value
from tests.builders import good_conversation

MAY_8 = dt.datetime(2023, 5, 8, 13, 56)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I went to a support group yesterday.", dt.date(2023, 5, 7)),
        ("We saw it two weeks ago.", dt.date(2023, 4, 24)),
        ("We went last Friday!", dt.date(2023, 5, 5)),
        ("The race is next month.", dt.date(2023, 6, 3)),
        ("In three days we leave.", dt.date(2023, 5, 11)),
    ],
)
def test_a_phrase_means_the_day(text: str, day: dt.date) -> None:
    message = good_conversation().said[0].model_copy(update={"content": text, "sent_at": MAY_8})

    assert is_day_meant(message, date_value(day))
    assert not is_day_meant(message, date_value(day + dt.timedelta(days=100)))
    assert not is_day_meant(message.model_copy(update={"content": "We went there."}), date_value(day))


def test_a_year_is_meant_by_the_message_of_that_year_or_a_phrase() -> None:
    message = good_conversation().said[0].model_copy(update={"content": "I painted it last year.", "sent_at": MAY_8})

    assert is_day_meant(message, number(2022))
    assert is_day_meant(message, number(2023))
    assert not is_day_meant(message, number(2016))
    assert not is_day_meant(message, number(40))


def test_a_day_without_year_is_in_the_year_of_the_message() -> None:
    message = good_conversation().said[0].model_copy(update={"content": "It was yesterday.", "sent_at": MAY_8})

    assert is_day_meant(message, parse_value("May 7"))
    assert not is_day_meant(message, parse_value("May 3"))
