"""Graphs of events: every link holds on the days given, and a graph that has no days says why."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.generators import DayConflict, Window, event_faults, relaxed, unclosed, with_days
from longbeam.prompts.calls import Link, OpenOn, StoryEvent
from longbeam.schemas import CLOSING

DAY = dt.date(2024, 3, 4)  # a Monday


def _window(days: int = 40, country: str = "") -> Window:
    last = DAY + dt.timedelta(days=days)
    return Window(DAY, last, DAY + dt.timedelta(days=days * 3 // 4), DAY + dt.timedelta(days=days * 4 // 5), country)


def _event(number: int, *after: Link, **more: object) -> StoryEvent:
    told = {"event_id": f"e{number}", "narrative": "n", "thing": "the kiln", "what": "It moves.", "after": after}
    return StoryEvent.model_validate(told | more)


def _after(number: int, least: int = 0, most: int | None = None) -> Link:
    return Link(event=f"e{number}", least=least, most=most)


def _holds(events: tuple[StoryEvent, ...], placed: dict[str, dt.date]) -> bool:
    days = placed | {e.event_id: e.day for e in events if e.day is not None}
    return all(
        link.least <= (days[e.event_id] - days[link.event]).days <= (link.most if link.most is not None else 10_000)
        for e in events
        for link in e.after
        if link.event in days
    )


@st.composite
def _graphs(draw: st.DrawFn) -> list[StoryEvent]:
    """Return events with any links to events before and behind them, fixed days and weekdays."""
    count = draw(st.integers(1, 14))
    events = []
    for number in range(1, count + 1):
        links = []
        for other in draw(st.sets(st.integers(1, count), max_size=3)):
            least = draw(st.integers(0, 9))
            links.append(_after(other, least, draw(st.none() | st.integers(least, 20))))
        on = draw(st.none() | st.integers(0, 40))
        more = {
            "on": None if on is None or draw(st.integers(0, 5)) else DAY + dt.timedelta(days=on),
            "open_on": draw(st.sampled_from([OpenOn.ANY, OpenOn.ANY, OpenOn.WORKDAY, OpenOn.WEEKEND])),
            "part": CLOSING if number > count - 2 else "",
        }
        events.append(_event(number, *(link for link in links if link.event != f"e{number}"), **more))
    return events


@settings(max_examples=60, deadline=None)
@given(_graphs())
def test_days_keep_every_link_or_the_events_that_cannot_are_named(events: list[StoryEvent]) -> None:
    window, placed = _window(), {"e0": DAY - dt.timedelta(days=3)}
    try:
        told = with_days(events, window, placed)
    except DayConflict:
        told, reasons = relaxed(events, window, placed)
        assert reasons
    assert sorted(e.event_id for e in told) == sorted(e.event_id for e in events)
    assert [e.day for e in told] == sorted(e.day for e in told if e.day)
    assert all(e.day is not None and window.first <= e.day <= window.last for e in told)
    assert all(window.is_open(e.day, e.open_on) for e in told if e.day)
    assert all(e.day == e.on for e in told if e.on)
    assert _holds(told, placed)


def test_events_without_links_are_spread_evenly_in_the_order_of_the_writer() -> None:
    told = with_days([_event(n) for n in range(1, 6)], _window(40), {})
    assert [e.event_id for e in told] == ["e1", "e2", "e3", "e4", "e5"]
    # 30 days for five events: every seven or eight days
    assert [(e.day - DAY).days for e in told if e.day] == [0, 7, 15, 22, 30]


def test_no_events_have_no_days() -> None:
    assert with_days([], _window(40), {}) == ()  # a reply of which every event is refused


def test_three_weeks_of_events_do_not_fit_into_eight_days() -> None:
    events = [_event(1), _event(2, _after(1, 10)), _event(3, _after(2, 11))]
    with pytest.raises(
        DayConflict, match=r"e1, e2, e3 cannot all hold: the days between them are 15 days too many"
    ) as caught:
        with_days(events, _window(8), {})
    assert "the events of the stage have the days 2024-03-04 to 2024-03-10" in str(caught.value)
    ending = _event(4, _after(1, 20), part=CLOSING)
    with pytest.raises(
        DayConflict, match=r"2024-03-04 to 2024-03-10, those that tell how things came out 2024-03-10 to 2024-03-12"
    ):
        with_days([_event(1), ending], _window(8), {})
    told, reasons = relaxed(events, _window(8), {})
    assert len(told) == 3
    assert reasons


def test_a_circle_of_events_is_told() -> None:
    with pytest.raises(DayConflict, match="a circle"):
        with_days([_event(1, _after(2)), _event(2, _after(1))], _window(), {})


def test_most_days_bind_across_stages() -> None:
    placed = {"e1": DAY - dt.timedelta(days=5)}
    (told,) = with_days([_event(2, _after(1, 7, 9))], _window(), placed)
    assert told.day == DAY + dt.timedelta(days=2)
    with pytest.raises(DayConflict):
        with_days([_event(2, _after(1, 0, 4))], _window(), placed)


def test_offices_are_closed_at_weekends_and_on_holidays_of_the_place() -> None:
    window = Window(dt.date(2023, 5, 17), dt.date(2023, 5, 22), dt.date(2023, 5, 22), dt.date(2023, 5, 22), "Norway")
    at_once = {"open_on": OpenOn.WORKDAY}
    # May 17 is Constitution Day, May 18 Ascension; May 19 is a Friday.
    (told,) = with_days([_event(1, **at_once)], window, {})
    assert told.day == dt.date(2023, 5, 19)
    weekend = Window(dt.date(2023, 5, 20), dt.date(2023, 5, 21), dt.date(2023, 5, 21), dt.date(2023, 5, 21))
    with pytest.raises(DayConflict, match="e1 wants a workday, and 2023-05-20 to 2023-05-21"):
        with_days([_event(1, **at_once)], weekend, {})


def test_faults_of_an_event_are_named() -> None:
    faulty = _event(3, _after(3), _after(9), _after(1, 5, 2), narrative="sea", what=" ")
    assert [f.partition(" ")[2] for f in event_faults(faulty, ["n"], ["e1", "e2"])] == [
        "lacks its thing or what happens",
        "names narrative 'sea', which is none of those given",
        "comes after 'e3', which is no other event",
        "comes after 'e9', which is no other event",
        "comes 5 to 2 days after e1; the first is the fewest",
    ]
    assert not list(event_faults(_event(3, _after(1)), ["n"], ["e1"]))


def test_what_is_opened_is_closed_or_said_to_stay_open() -> None:
    events = [
        _event(1, opens=("the offer", "the lease")),
        _event(2, closes=("the offer",)),
        _event(3, thing="the lease"),
    ]
    assert unclosed(events, ["the loan"], []) == {"the loan": "", "the lease": "e3"}
    assert unclosed(events, [], ["The lease"]) == {}


def test_others_make_room_for_an_event_that_wants_a_workday() -> None:
    # Four days a link: e2 would be told on a Thursday or Friday, e3 on the Saturday or Sunday that is left.
    window = Window(DAY, dt.date(2024, 3, 14), dt.date(2024, 3, 10), dt.date(2024, 3, 14))
    events = [_event(1), _event(2, _after(1, 3)), _event(3, _after(2, 1, 2), open_on=OpenOn.WORKDAY)]
    told = with_days(events, window, {})
    assert told[2].day == dt.date(2024, 3, 8)
    assert _holds(told, {})


def test_no_day_given_first_leaves_a_later_event_without_an_open_one() -> None:
    # A workday for e25 is one to three days behind e21 and one or two before e28; e19 would be told late at first.
    window = Window(
        dt.date(2022, 12, 19), dt.date(2023, 1, 16), dt.date(2023, 1, 7), dt.date(2023, 1, 13), "United Kingdom"
    )
    events = [
        _event(16, _after(14, 4, 9), open_on=OpenOn.WORKDAY),
        _event(17, _after(7, 14, 24), open_on=OpenOn.WORKDAY),
        _event(19, _after(17, 1, 2), open_on=OpenOn.WORKDAY),
        _event(21, _after(16, 9, 16), open_on=OpenOn.WORKDAY),
        _event(25, _after(19, 7, 16), _after(21, 1, 3), open_on=OpenOn.WORKDAY),
        _event(28, _after(25, 1, 2), open_on=OpenOn.WORKDAY),
        _event(29, _after(28, 5, 12), open_on=OpenOn.WORKDAY, part=CLOSING),
    ]
    placed = {"e14": dt.date(2022, 12, 13), "e7": dt.date(2022, 12, 1)}
    told = with_days(events, window, placed)
    assert _holds(told, placed)
    assert all(window.is_open(e.day, e.open_on) for e in told if e.day)


def test_events_whose_links_leave_them_no_open_days_are_named() -> None:
    # The day before a Sunday is no workday.
    graph = [_event(1, open_on=OpenOn.WORKDAY), _event(2, _after(1, 1, 1), open_on=OpenOn.SUNDAY), _event(3)]
    window = Window(DAY, dt.date(2024, 3, 12), dt.date(2024, 3, 12), dt.date(2024, 3, 12))
    with pytest.raises(
        DayConflict,
        match=r"e1 wants a workday, .* others leave it; e2 wants a Sunday, .*: no such days keep their links",
    ) as caught:
        with_days(graph, window, {})
    assert caught.value.event_ids == ("e1", "e2")


def _found(events: list[StoryEvent], window: Window, days: dict[str, dt.date]) -> Iterator[dict[str, dt.date]]:
    """Yield all days of events, by trying each; `days`: those of the events before."""
    if not events:
        yield days
        return
    event, *others = events
    last = window.last if event.part == CLOSING else window.going_on_until
    first = window.closing_from if event.part == CLOSING else window.first
    for n in range((last - first).days + 1):
        day = first + dt.timedelta(days=n)
        dated = days | {event.event_id: day}
        if window.is_open(day, event.open_on) and _holds((event.model_copy(update={"day": day}),), days):
            yield from _found(others, window, dated)


@pytest.mark.parametrize("seed", range(40))
def test_whenever_trying_all_days_finds_some_so_does_the_scheduler(seed: int) -> None:
    rng = random.Random(seed)
    window = Window(
        dt.date(2022, 12, 22), dt.date(2023, 1, 4), dt.date(2023, 1, 2), dt.date(2023, 1, 1), "United Kingdom"
    )
    wishes = [OpenOn.ANY, OpenOn.WORKDAY, OpenOn.WORKDAY, OpenOn.WEEKEND, OpenOn.SUNDAY]
    for _ in range(25):
        count = rng.randint(3, 6)
        events = []
        for number in range(1, count + 1):
            others = rng.sample(range(number), min(number, rng.choice([1, 1, 2])))
            gaps = [(rng.randint(0, 4), rng.randint(0, 3)) for _ in others]
            links = [_after(other, least, least + more) for other, (least, more) in zip(others, gaps, strict=True)]
            part = CLOSING if number == 6 else ""
            events.append(_event(number, *links, open_on=rng.choice(wishes), part=part))
        placed = {"e0": dt.date(2022, 12, 21)}
        is_possible = next(_found(events, window, placed), None) is not None
        if not is_possible:
            with pytest.raises(DayConflict):
                with_days(events, window, placed)
            continue
        told = with_days(events, window, placed)
        assert _holds(told, placed)
        assert all(window.is_open(e.day, e.open_on) for e in told if e.day)
