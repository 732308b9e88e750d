"""Times of messages: in order, within waking hours, spread over the day, the same for the same day."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

from hypothesis import given, strategies as st

from longbeam.generators import DIALOGUE, FIRST_HOUR, LAST_HOUR, sent_times
from longbeam.text import greeted_hours

MONDAY = dt.date(2024, 3, 4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 8)), min_size=1, max_size=40), st.integers(0, 5))
def test_times_never_go_back_and_keep_their_days(steps: list[tuple[int, int]], seed: int) -> None:
    lines, day = [], MONDAY
    for turn, (step, messages) in enumerate(steps):
        day += dt.timedelta(days=step)
        lines += [(day, turn)] * messages
    times = sent_times(lines, f"{seed}")
    assert times == sorted(times)
    assert [t.date() for t in times] == [day for day, _ in lines]
    assert all(FIRST_HOUR <= t.hour < LAST_HOUR for t in times)


def test_a_crowded_day_still_fits_into_the_day() -> None:
    times = sent_times([(MONDAY, i // 2) for i in range(800)], "x")
    assert times == sorted(times)
    assert {t.date() for t in times} == {MONDAY}


def test_later_days_do_not_change_earlier_times() -> None:
    lines = [(MONDAY, 0), (MONDAY, 0), (MONDAY + dt.timedelta(days=2), 1)]
    assert sent_times([*lines, (MONDAY + dt.timedelta(days=9), 2)], "x")[:3] == sent_times(lines, "x")


def test_turns_are_written_at_all_times_of_the_day() -> None:
    days = [MONDAY + dt.timedelta(days=i) for i in range(400)]
    hours = [t.hour for t in sent_times([(day, i) for i, day in enumerate(days)], "x")]
    # The weights before noon are 26 of 100, those from 6 pm on 36: four standard errors of 400 draws are 10 points.
    assert 0.16 < sum(h < 12 for h in hours) / 400 < 0.36
    assert 0.26 < sum(h >= 18 for h in hours) / 400 < 0.46


def test_a_greeting_stands_at_its_time_of_the_day() -> None:
    days = [MONDAY + dt.timedelta(days=i) for i in range(300)]
    spans = {"Good morning! A question.": range(7, 11), "Hello, good evening.": range(17, 23)}
    for text, hours in spans.items():
        greeted = {i: span for i in range(300) if (span := greeted_hours(text))}
        times = sent_times([(day, i) for i, day in enumerate(days)], "x", greeted)
        assert {t.hour for t in times} <= set(hours)


def test_a_turn_after_an_evening_greeting_is_of_the_evening_and_the_one_before_may_be_of_the_day() -> None:
    lines = [(MONDAY + dt.timedelta(days=day), 3 * day + turn) for day in range(300) for turn in range(3)]
    times = sent_times(lines, "x", {3 * day + 1: (18, 24) for day in range(300)})
    assert times == sorted(times)
    assert all(t.hour >= 17 for i, t in enumerate(times) if i % 3)
    assert any(t.hour < 12 for t in times[::3])


def test_a_reply_comes_soon_after_its_message() -> None:
    times = sent_times([(MONDAY, i // 2) for i in range(8)], "x")
    waits = [(b - a).total_seconds() for a, b in list(pairwise(times))[::2]]
    assert all(DIALOGUE.reply_s[0] - 1 <= wait <= DIALOGUE.reply_s[1] + 1 for wait in waits)
