from __future__ import annotations

import datetime as dt
import re

import pytest

from longbeam.formats import find_day
from longbeam.schemas import Value
from longbeam.text import (
    COUNT,
    MONTH,
    MONTHS,
    VAGUE_COUNTS,
    date_value,
    find_times,
    is_day_meant,
    month_number,
    months_between,
    normalize_values,
    read_count,
    says,
    values_in,
)
from tests.builders import good_conversation


@pytest.mark.parametrize("month", [*MONTHS, *(m[:3] for m in MONTHS), "Sept", "Sept.", "Dec."])
def test_every_reader_knows_every_spelling_of_a_month(month: str) -> None:
    day = dt.date(2023, month_number(month), 5)
    text = f"on {month} 5, 2023"

    assert re.fullmatch(MONTH, month)
    assert values_in(text) == (Value(kind="date", text=f"{month} 5, 2023", date=day),)
    assert says(text, date_value(day))
    assert find_day(text) == day
    assert [t.span and t.span.first for t in find_times(text, day)] == [day]
    assert normalize_values(f"{month} 5 and 6.") == f"{month} 5, {month} 6."


def test_no_reader_takes_another_word_for_a_month() -> None:
    with pytest.raises(ValueError, match="is no month"):
        month_number("Smarch")
    assert re.search(MONTH, "Junes Marchand Decoy") is None


@pytest.mark.parametrize("said", ["3", "a", "An", "twelve", *VAGUE_COUNTS])
def test_a_count_that_matches_is_read(said: str) -> None:
    assert re.fullmatch(COUNT, said, re.IGNORECASE)
    assert read_count(said) > 0


def test_a_few_is_one_number_for_all_readers() -> None:
    # CogCanvas read 3 and the checks 4; both now read 3, and the checks allow for two more or fewer.
    on = dt.datetime(2023, 5, 8, 13, 56)
    message = good_conversation().said[0].model_copy(update={"content": "I saw it a few days ago.", "sent_at": on})
    (found,) = find_times(message.content, on.date())

    assert read_count("a few") == 3
    assert found.span is not None
    assert found.span.first == dt.date(2023, 5, 5)
    meant = [n for n in range(10) if is_day_meant(message, date_value(on.date() - dt.timedelta(n)))]
    assert meant == [1, 2, 3, 4, 5]


def test_months_between_two_dates_count_days_as_shares() -> None:
    assert months_between(dt.date(2023, 11, 8), dt.date(2024, 1, 8)) == 2
    assert months_between(dt.date(2024, 1, 1), dt.date(2024, 1, 16)) == pytest.approx(15 / 30.4)
