"""Times of messages: in order, within waking hours, the same for the same day."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from longbeam.generators.clock import sent_times

MONDAY = dt.date(2024, 3, 4)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 5))
def test_times_never_go_back_and_keep_their_days(steps: list[int], seed: int) -> None:
    days, day = [], MONDAY
    for step in steps:
        day += dt.timedelta(days=step)
        days.append(day)
    times = sent_times(days, f"{seed}")
    assert times == sorted(times)
    assert [t.date() for t in times] == days


def test_a_crowded_day_still_fits_into_the_day() -> None:
    times = sent_times([MONDAY] * 400, "x")
    assert times == sorted(times)
    assert {t.date() for t in times} == {MONDAY}


def test_later_days_do_not_change_earlier_times() -> None:
    days = [MONDAY, MONDAY, MONDAY + dt.timedelta(days=2)]
    assert sent_times([*days, MONDAY + dt.timedelta(days=9)], "x")[:3] == sent_times(days, "x")
