"""How a run shows that it moves: a live table on a terminal, plain lines everywhere else.

Only what is shown depends on the clock. Both displays take what `pipeline.units.Progress` is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType

LINE_INTERVAL_S = 5.0
"""Plain lines about one conversation come no faster, but for a stage that ends."""
MOST_ROWS = 12
"""Conversations shown at the same time."""
ENOUGH_SHARE = 0.05
"""Share of the work after which an estimate of the time left is shown."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class Target:
    """What a run is to make, for the estimate of the time left."""

    conversations: int
    tokens: int
    """Per conversation; 0 for work that writes none."""


@dataclass(frozen=True)
class Position:
    """Where one conversation is."""

    stage: str
    units_done: int
    units_total: int
    tokens: int
    calls: int


class Display(Protocol):
    """A progress that is shown for as long as a `with` block lasts."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cease to show."""

    def update(
        self, conversation_id: str, stage: str, *, units_done: int, units_total: int, tokens: int, calls: int
    ) -> None:
        """Show where a conversation is."""


class Outlook(Protocol):
    """What is known of tokens and money while a run goes on."""

    def line(self) -> str:
        """What was used, and of how much."""

    def calls_left(self) -> int | None:
        """Calls that are expected still; None where nothing is."""


def display_for(stream: TextIO, target: Target, outlook: Outlook | None = None) -> Display:
    """Return the live display for a terminal, plain lines for anything else; with an outlook, they say that, too."""
    return LiveDisplay(stream, target, outlook=outlook) if stream.isatty() else PlainDisplay(stream, outlook=outlook)


class PlainDisplay:
    """One line when a stage ends, and now and then while it lasts."""

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

    def update(
        self, conversation_id: str, stage: str, *, units_done: int, units_total: int, tokens: int, calls: int
    ) -> None:
        """Write a line unless one about this conversation was just written and the stage goes on."""
        now = self._clock()
        is_due = now - self._shown_at.get(conversation_id, -LINE_INTERVAL_S) >= LINE_INTERVAL_S
        if is_due or units_done == units_total:
            self._shown_at[conversation_id] = now
            self._stream.write(
                f"{conversation_id} {stage}: {units_done}/{units_total} units, "
                f"{f'{tokens:,} tokens, ' if tokens else ''}{calls:,} calls"
                f"{'; all used ' + self._outlook.line() if self._outlook is not None else ''}\n"
            )
            self._stream.flush()


class LiveDisplay:
    """A table of the conversations that moved last, and a line of sums."""

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

    def update(
        self, conversation_id: str, stage: str, *, units_done: int, units_total: int, tokens: int, calls: int
    ) -> None:
        """Take the position in; it is drawn four times a second."""
        self._positions.pop(conversation_id, None)  # so that those that moved last come last
        self._positions[conversation_id] = Position(stage, units_done, units_total, tokens, calls)
        self._first_tokens.setdefault(conversation_id, tokens)

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
        """Sums over all conversations, the time so far, and an estimate of what is left."""
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
        # Tokens that an earlier run wrote cost this one no time.
        before = sum(self._first_tokens.values())
        to_write = self._target.conversations * self._target.tokens - before
        share = (tokens - before) / to_write if to_write > 0 else 1.0
        return elapsed * (1 - share) / share if ENOUGH_SHARE <= share < 1 else None


def counted(count: int, noun: str) -> str:
    """`1 probe`, `2,000 probes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """`42 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
