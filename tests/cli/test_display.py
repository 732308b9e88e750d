from __future__ import annotations

import io

from longbeam.cli.display import LiveDisplay, PlainDisplay, Target, display_for
from longbeam.schemas import Position


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_come_when_a_stage_ends_and_now_and_then() -> None:
    stream, clock = io.StringIO(), Clock()
    display = PlainDisplay(stream, clock)
    for done, at in ((1, 0.0), (2, 1.0), (3, 6.0), (4, 6.1)):
        clock.now = at
        display.update(
            "c000", Position(stage="dialogue", units_done=done, units_total=4, tokens=1000 * done, calls=done)
        )

    # the first, the one after five seconds, and the last of the stage
    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["1/4", "3/4", "4/4"]
    assert stream.getvalue().endswith("c000 dialogue: 4/4 units, 4,000 tokens, 4 calls\n")


def test_a_stream_that_is_no_terminal_gets_plain_lines() -> None:
    assert isinstance(display_for(io.StringIO(), Target(1, 16_000)), PlainDisplay)


def test_plain_lines_leave_out_what_an_earlier_run_had_done() -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream, Clock())
    for done in range(1, 101):
        display.update("c000", Position(stage="dialogue", units_done=done, units_total=100, restored=done))
    display.update("c000", Position(stage="probes", units_done=7, units_total=7, restored=6, calls=1))
    assert stream.getvalue() == "c000 probes: 7/7 units, 1 call\n"


def test_plain_lines_do_not_repeat_an_ended_stage_at_each_call_of_the_next() -> None:
    stream = io.StringIO()
    display = PlainDisplay(stream, Clock())
    for calls in (3, 4, 5):
        display.update("c000", Position(stage="plan", units_done=1, units_total=1, calls=calls))
    display.waiting("starting Prefect's server")
    assert stream.getvalue() == "c000 plan: 1/1 units, 3 calls\nstarting Prefect's server\n"


def test_the_live_display_shows_a_bar_for_each_stage_and_sums() -> None:
    stream, clock = Terminal(), Clock()
    with LiveDisplay(stream, Target(2, 1000, ("plan", "dialogue", "seal")), clock) as display:
        display.update("c001", Position(stage="plan", units_done=1, units_total=3, calls=7))
        display.update("c000", Position(stage="dialogue", units_done=2, units_total=5, tokens=400, calls=20))
        clock.now = 4.0
        display.update(
            "c000",
            Position(stage="dialogue", units_done=2, units_total=5, tokens=500, calls=24, output_tokens=400),
        )
        display.waiting("starting Prefect's server")
    shown = stream.getvalue()
    # One of two conversations has three plan units, so six are expected.
    assert "1/6" in shown
    assert "500 of 2,000 tokens" in shown
    assert "31 calls, 100 tokens/s, 4 s so far" in shown
    assert "c001 plan: 1/3 units, 7 calls" in shown
    assert "starting Prefect's server" in shown
    assert "seal" in shown


def test_time_left_counts_only_what_this_run_writes() -> None:
    clock = Clock()
    display = LiveDisplay(io.StringIO(), Target(1, 1000), clock)
    display.update("c000", Position(stage="dialogue", units_done=1, units_total=5, tokens=600, calls=0))
    clock.now = 10.0
    display.update("c000", Position(stage="dialogue", units_done=2, units_total=5, tokens=800, calls=9))

    # 200 of the 400 tokens that were left took 10 s
    assert display.summary() == "9 calls, 10 s so far, about 10 s left"


def test_time_left_shrinks_and_leaves_out_stages_that_are_over() -> None:
    clock, outlook = Clock(), Forecast({"dialogue": 60, "probes": 30})
    display = LiveDisplay(io.StringIO(), Target(1, 1000), clock, outlook)
    display.update("c000", Position(stage="dialogue", calls=1))
    assert "left" not in display.summary()  # 1 of 91 calls tells nothing
    clock.now = 10.0
    display.update("c000", Position(stage="dialogue", calls=10))
    assert display.summary().endswith("about 1 min 30 s left")  # 90 calls, one a second
    clock.now = 20.0
    display.update("c000", Position(stage="dialogue", calls=19))
    assert display.summary().endswith("about 1 min 20 s left")  # a little slower: the end stays where it was
    display.update("c000", Position(stage="probes", calls=20))
    assert display.summary().endswith("about 30 s left")  # no dialogue is left, whatever was expected


class Forecast:
    def __init__(self, calls: dict[str, int]) -> None:
        self.calls = calls

    def line(self) -> str:
        return "used nothing"

    def calls_left(self) -> dict[str, int]:
        return self.calls
