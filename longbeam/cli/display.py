"""Display of a run's progress: bars of the stages on a terminal, plain lines everywhere else.

Both displays implement `pipeline/run/units.py`'s `Progress`. The clock affects the display only, never the results.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

from longbeam.terminal import counted, duration

if TYPE_CHECKING:
    from rich.console import RenderableType

    from longbeam.schemas import Position

LINE_INTERVAL_S = 5.0
"""Least time between plain lines on one conversation, except at the end of a stage."""
MOST_ROWS = 6
"""Number of conversations shown at the same time."""
BAR_WIDTH = 24
ENOUGH_SHARE = 0.05
"""Share of the work after which the display estimates the time left."""
WINDOW_S = 60.0
"""Seconds over which speeds are measured."""
SAMPLE_S = 0.25
GROWTH = 1.25
"""A time left that grew by less than this factor is not shown as grown: it would jump with every slow reply."""
DIALOGUE, LAST = "dialogue", ("probes", "seal")
"""The stage whose progress is its tokens, and the stages that begin when all before them have ended."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class Target:
    """Size of a run, for its bars and for the estimate of the time left."""

    conversations: int
    tokens: int
    """Tokens of a conversation; 0 for work that writes none."""
    stages: tuple[str, ...] = ()
    """Stages in their order; stages that are not named are shown once they begin."""


class Display(Protocol):
    """A progress display that is shown during a `with` block."""

    def __enter__(self) -> Self:
        """Start the display."""

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display."""

    def update(self, conversation_id: str, position: Position) -> None:
        """Show the position of a conversation."""

    def waiting(self, reason: str) -> None:
        """Show what the run waits for; empty: nothing."""

    def say(self, line: str) -> None:
        """Write a line that stays."""


class Outlook(Protocol):
    """Current usage and cost of a run, and the calls that it still needs."""

    def line(self) -> str:
        """Return usage so far and its expected total, as text."""

    def calls_left(self) -> Mapping[str, int] | None:
        """Return the expected number of calls left by stage; None if it is unknown."""


def display_for(stream: TextIO, target: Target, outlook: Outlook | None = None) -> Display:
    """Return a live display for a terminal, plain lines otherwise. With an outlook, both show usage and cost."""
    return LiveDisplay(stream, target, outlook=outlook) if stream.isatty() else PlainDisplay(stream, outlook=outlook)


class PlainDisplay:
    """Display of one line at the end of a stage, and every few seconds before; units of earlier runs have none."""

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic, outlook: Outlook | None = None) -> None:
        self._stream = stream
        self._outlook = outlook
        self._clock = clock
        self._shown_at: dict[str, float] = {}
        self._ended: dict[tuple[str, str], int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, conversation_id: str, position: Position) -> None:
        """Write a line at the end of a stage, or if the last line on this conversation is old enough."""
        if position.units_done == position.restored and not position.calls:
            return
        now, stage = self._clock(), (conversation_id, position.stage)
        is_due = now - self._shown_at.get(conversation_id, -LINE_INTERVAL_S) >= LINE_INTERVAL_S
        is_end = position.units_done == position.units_total != self._ended.get(stage, position.restored)
        if is_end:
            self._ended[stage] = position.units_done
        if is_due or is_end:
            self._shown_at[conversation_id] = now
            units = f"{position.units_done}/{position.units_total} units, " if position.units_total else ""
            self._write(
                f"{conversation_id} {position.stage}: {units}"
                f"{f'{position.tokens:,} tokens, ' if position.tokens else ''}{counted(position.calls, 'call')}"
                f"{'; all: ' + self._outlook.line() if self._outlook is not None else ''}"
            )

    def waiting(self, reason: str) -> None:
        """Write what the run waits for as a line."""
        if reason:
            self._write(reason)

    def say(self, line: str) -> None:
        """Write a line."""
        self._write(line)

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


@dataclass(frozen=True)
class _Sums:
    """Sums over all conversations at a moment."""

    at: float
    tokens: int = 0
    calls: int = 0
    output_tokens: int = 0


class LiveDisplay:
    """Display of a bar for each stage, a row for each recent conversation, and a line of sums."""

    def __init__(
        self, stream: TextIO, target: Target, clock: Clock = time.monotonic, outlook: Outlook | None = None
    ) -> None:
        from rich.console import Console
        from rich.live import Live

        self._target = target
        self._outlook = outlook
        self._clock = clock
        self._started_at = clock()
        self._reason = ""
        self._positions: dict[str, Position] = {}
        self._stages: dict[str, dict[str, Position]] = {stage: {} for stage in target.stages}
        """The last position of each conversation in each stage."""
        self._first_tokens: dict[str, int] = {}
        self._history = deque([_Sums(self._started_at)])
        self._end: float | None = None
        """The expected end of the run on the clock."""
        self._live = Live(
            console=Console(file=stream, markup=False, highlight=False),
            get_renderable=self._render,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def update(self, conversation_id: str, position: Position) -> None:
        """Store the position; the display is drawn four times a second."""
        self._positions.pop(conversation_id, None)  # reinserted, so that the most recent ones are last
        self._positions[conversation_id] = position
        self._stages.setdefault(position.stage, {})[conversation_id] = position
        self._first_tokens.setdefault(conversation_id, position.tokens)
        self._sample()

    def waiting(self, reason: str) -> None:
        """Show what the run waits for, below the sums."""
        self._reason = reason

    def say(self, line: str) -> None:
        """Write a line above the bars."""
        self._live.console.print(line)

    def _sample(self) -> _Sums:
        positions = self._positions.values()
        now = _Sums(
            self._clock(),
            sum(p.tokens for p in positions) - sum(self._first_tokens.values()),  # tokens of earlier runs took no time
            sum(p.calls for p in positions),
            sum(p.output_tokens for p in positions),
        )
        if now.at - self._history[-1].at >= SAMPLE_S:
            self._history.append(now)
            while len(self._history) > 2 and now.at - self._history[1].at >= WINDOW_S:
                self._history.popleft()
        return now

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        stages = Table(box=None, pad_edge=False, show_header=False)
        for stage, positions in self._stages.items():
            stages.add_row(Text(stage.replace("_", " "), "" if positions else "dim"), *self._progress(stage, positions))
        lines: list[RenderableType] = [stages]
        if self._target.conversations > 1:
            lines += [Text(line, no_wrap=True, overflow="ellipsis") for line in self._rows()]
        lines += [Text(self.summary())]
        lines += [Text(self._outlook.line())] if self._outlook is not None else []
        lines += [Text(self._reason, "yellow")] if self._reason else []
        return Group(*lines)

    def _progress(self, stage: str, positions: Mapping[str, Position]) -> tuple[RenderableType, str]:
        from rich.progress_bar import ProgressBar

        to_write = self._target.conversations * self._target.tokens
        units = sum(p.units_done for p in positions.values())
        # Conversations that have not begun the stage count as the mean of those that have.
        begun = sum(p.units_total for p in positions.values())
        total = begun * max(self._target.conversations, len(positions)) / len(positions) if positions else 1
        if stage == DIALOGUE and to_write:
            done = sum(p.tokens for p in self._positions.values())
            has_ended = units == total and bool(begun)
            bar = ProgressBar(total=to_write, completed=to_write if has_ended else done, width=BAR_WIDTH)
            return bar, f"{done:,} of {to_write:,} tokens"
        bar = ProgressBar(total=total or 1, completed=units, width=BAR_WIDTH)
        return bar, f"{units:,}/{total:,.0f}" if positions else ""

    def _rows(self) -> Iterator[str]:
        for conversation_id, at in sorted(list(self._positions.items())[-MOST_ROWS:]):
            units = f"{at.units_done}/{at.units_total} units, " if at.units_total else ""
            tokens = f"{at.tokens:,} tokens, " if at.tokens else ""
            yield f"{conversation_id} {at.stage.replace('_', ' ')}: {units}{tokens}{counted(at.calls, 'call')}"

    def summary(self) -> str:
        """Return calls, speed and elapsed time over all conversations, and an estimate of the time left."""
        now, before = self._sample(), self._history[0]
        speed = (now.output_tokens - before.output_tokens) / (now.at - before.at) if now.at > before.at else 0
        line = f"{counted(now.calls, 'call')}, {f'{speed:,.0f} tokens/s, ' if speed >= 1 else ''}"
        line += f"{duration(now.at - self._started_at)} so far"
        left = self._time_left(now)
        return line if left is None or left < 1 else f"{line}, about {duration(left)} left"

    def _time_left(self, now: _Sums) -> float | None:
        before, calls_left = self._history[0], self._calls_left()
        if calls_left is not None:
            done, left, recent = now.calls, calls_left, now.calls - before.calls
        else:
            to_write = self._target.conversations * self._target.tokens - sum(self._first_tokens.values())
            done, left, recent = now.tokens, to_write - now.tokens, now.tokens - before.tokens
        if left <= 0 or recent <= 0 or done / (done + left) < ENOUGH_SHARE:
            self._end = None
            return None
        needed = left * (now.at - before.at) / recent
        if self._end is None or now.at + needed < self._end or needed > GROWTH * (self._end - now.at):
            self._end = now.at + needed
        return self._end - now.at

    def _calls_left(self) -> float | None:
        """Return the expected calls left, without those of stages that conversations have passed."""
        expected = self._outlook.calls_left() if self._outlook is not None else None
        if expected is None:
            return None
        passed = {stage: len(self._stages.get(stage, ())) for stage in LAST}
        done = {"probes": passed["seal"], "seal": passed["seal"]}
        of = max(self._target.conversations, 1)
        return sum(
            calls * max(0.0, 1 - done.get(stage, max(passed.values())) / of) for stage, calls in expected.items()
        )
