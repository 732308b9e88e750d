from __future__ import annotations

import io

from longbeam.cli.display import LiveDisplay, PlainDisplay, Target, display_for
from longbeam.schemas.progress import Position


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


def test_the_live_display_shows_positions_and_sums() -> None:
    stream = Terminal()
    with LiveDisplay(stream, Target(2, 1000), Clock()) as display:
        display.update("c001", Position(stage="plan", units_done=1, units_total=3, tokens=0, calls=7))
        display.update("c000", Position(stage="dialogue", units_done=2, units_total=5, tokens=400, calls=20))
    assert "400 of 2,000 tokens, 27 calls" in stream.getvalue()
    assert "c001" in stream.getvalue()


def test_time_left_counts_only_what_this_run_writes() -> None:
    clock = Clock()
    display = LiveDisplay(io.StringIO(), Target(1, 1000), clock)
    display.update("c000", Position(stage="dialogue", units_done=1, units_total=5, tokens=600, calls=0))
    clock.now = 10.0
    display.update("c000", Position(stage="dialogue", units_done=2, units_total=5, tokens=800, calls=9))

    # 200 of the 400 tokens that were left took 10 s
    assert display.summary() == "800 of 1,000 tokens, 9 calls, 10 s so far, about 10 s left"
