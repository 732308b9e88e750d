"""Ctrl-C: the first one stops a run cleanly, the third one ends the process, and none of them is a traceback.

asyncio raises KeyboardInterrupt wherever the process is when Ctrl-C is pressed for the second time, in the middle of
what closes a run. Here the second one is answered with a line, and a run is stopped by one thing: its cancelled task.
This module is imported before everything else, so it imports next to nothing at its top.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task
    from collections.abc import Coroutine
    from types import FrameType
    from typing import Any, TypeVar

    T = TypeVar("T")

INTERRUPTED = 130
"""Exit code of a command that was stopped with Ctrl-C."""
PATIENCE = 3
"""Presses of Ctrl-C after which the process ends at once; replies in flight are lost then."""


def leave_at_once(signum: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """End the process without anything of Python's own; a handler of signals."""
    os.write(2, b"error: stopped\n")
    os._exit(INTERRUPTED)


def run_stoppable(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns. Raises KeyboardInterrupt after Ctrl-C, when the coroutine has ended cleanly."""
    import asyncio

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(work)  # somebody else hears Ctrl-C
    presses = _Presses()

    async def stoppable() -> T:
        presses.begin(asyncio.get_running_loop(), asyncio.current_task())
        return await work

    signal.signal(signal.SIGINT, presses.press)
    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Presses:
    """Counts Ctrl-C while a task runs; the first press cancels the task."""

    count = 0
    _loop: AbstractEventLoop | None = None
    _task: Task[Any] | None = None

    def begin(self, loop: AbstractEventLoop, task: Task[Any] | None) -> None:
        """Take the task that the first press cancels."""
        self._loop, self._task = loop, task
        if self.count and task is not None:
            task.cancel()

    def press(self, signum: int, frame: FrameType | None) -> None:
        """Act on a press of Ctrl-C; a handler of signals."""
        self.count += 1
        if self.count >= PATIENCE:
            leave_at_once()
        elif self.count > 1:
            os.write(2, b"\nstopping; once more to leave at once\n")
        elif self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)  # the one call that may wake a loop from a handler
