"""Display of a run's progress: a live table on a terminal, plain lines everywhere else.

Both displays implement `pipeline/run/units.py`'s `Progress`. The clock affects the display only, never the results.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

from longbeam.terminal import duration

if TYPE_CHECKING:
    from rich.console import RenderableType

    from longbeam.schemas.progress import Position

LINE_INTERVAL_S = 5.0
"""Least time between plain lines on one conversation, except at the end of a stage."""
MOST_ROWS = 12
"""Number of conversations shown at the same time."""
ENOUGH_SHARE = 0.05
"""Share of the work after which the display estimates the time left."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class Target:
    """Size of a run, for the estimate of the time left."""

    conversations: int
    tokens: int
    """Tokens of a conversation; 0 for work that writes none."""


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


class Outlook(Protocol):
    """Current usage and cost of a run, and the calls that it still needs."""

    def line(self) -> str:
        """Return usage so far and its expected total, as text."""

    def calls_left(self) -> int | None:
        """Return the expected number of calls left; None if it is unknown."""


def display_for(stream: TextIO, target: Target, outlook: Outlook | None = None) -> Display:
    """Return a live display for a terminal, plain lines otherwise. With an outlook, both show usage and cost."""
    return LiveDisplay(stream, target, outlook=outlook) if stream.isatty() else PlainDisplay(stream, outlook=outlook)


class PlainDisplay:
    """Display of one line at the end of a stage, and every few seconds before."""

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic, outlook: Outlook | None = None) -> None:
        self._stream = stream
        self._outlook = outlook
        self._clock = clock
        self._shown_at: dict[str, float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, conversation_id: str, position: Position) -> None:
        """Write a line at the end of a stage, or if the last line on this conversation is old enough."""
        now = self._clock()
        is_due = now - self._shown_at.get(conversation_id, -LINE_INTERVAL_S) >= LINE_INTERVAL_S
        if is_due or position.units_done == position.units_total:
            self._shown_at[conversation_id] = now
            self._stream.write(
                f"{conversation_id} {position.stage}: {position.units_done}/{position.units_total} units, "
                f"{f'{position.tokens:,} tokens, ' if position.tokens else ''}{position.calls:,} calls"
                f"{'; all used ' + self._outlook.line() if self._outlook is not None else ''}\n"
            )
            self._stream.flush()


class LiveDisplay:
    """Display of a table with the most recent conversations, and a line of sums."""

    def __init__(
        self, stream: TextIO, target: Target, clock: Clock = time.monotonic, outlook: Outlook | None = None
    ) -> None:
        from rich.console import Console
        from rich.live import Live

        self._target = target
        self._outlook = outlook
        self._clock = clock
        self._started_at = clock()
        self._positions: dict[str, Position] = {}
        self._first_tokens: dict[str, int] = {}
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
        """Store the position; the table is drawn four times a second."""
        self._positions.pop(conversation_id, None)  # reinserted, so that the most recent ones are last
        self._positions[conversation_id] = position
        self._first_tokens.setdefault(conversation_id, position.tokens)

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for name in ("conversation", "stage"):
            table.add_column(name)
        for name in ("units", "tokens", "calls"):
            table.add_column(name, justify="right")
        for conversation_id, at in sorted(list(self._positions.items())[-MOST_ROWS:]):
            units = f"{at.units_done}/{at.units_total}"
            table.add_row(conversation_id, at.stage, units, f"{at.tokens:,}", f"{at.calls:,}")
        return Group(table, self.summary())

    def summary(self) -> str:
        """Return the sums over all conversations, the elapsed time, and an estimate of the time left."""
        tokens = sum(p.tokens for p in self._positions.values())
        calls = sum(p.calls for p in self._positions.values())
        elapsed = self._clock() - self._started_at
        to_write = self._target.conversations * self._target.tokens
        line = f"{tokens:,} of {to_write:,} tokens, " if to_write else ""
        line += f"{calls:,} calls, {duration(elapsed)} so far"
        calls_left = self._outlook.calls_left() if self._outlook is not None else None
        if calls_left is None:
            left = self._time_left(tokens, elapsed)
        else:
            left = elapsed * calls_left / calls if calls else None
        if self._outlook is not None:
            line += f", used {self._outlook.line()}"
        return line if left is None or left < 1 else f"{line}, about {duration(left)} left"

    def _time_left(self, tokens: int, elapsed: float) -> float | None:
        # Tokens of an earlier run cost this run no time.
        before = sum(self._first_tokens.values())
        to_write = self._target.conversations * self._target.tokens - before
        share = (tokens - before) / to_write if to_write > 0 else 1.0
        return elapsed * (1 - share) / share if ENOUGH_SHARE <= share < 1 else None
