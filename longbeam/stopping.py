"""Ctrl-C: the first one stops a run, the second one drops its replies on their way, the third one ends the process.

The first one cancels the run's task. No call is sent any more; calls that were sent are awaited as long as their
time-outs allow, and their replies are recorded. The second one cancels these calls, and the run still closes cleanly.
None of the three is a traceback: asyncio's own second Ctrl-C would raise KeyboardInterrupt in the middle of what closes
a run. This module is imported before everything else, so it imports next to nothing at its top.
"""

from __future__ import annotations

import contextlib
import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Task
    from collections.abc import Callable, Coroutine
    from subprocess import Popen
    from types import FrameType
    from typing import Any, TypeVar

    T = TypeVar("T")

INTERRUPTED = 130
"""Exit code of a command that was stopped with Ctrl-C."""
PATIENCE = 3
"""Presses of Ctrl-C after which the process ends at once."""
ON_ITS_WAY = "reply on its way"
"""Name of the task of a call that was sent. Cancelling a run spares it; the second Ctrl-C cancels it."""
A_MOMENT_S = 0.3
"""Time between the first Ctrl-C and the line that counts the replies: those that come meanwhile need no line."""


LINGER_S = 5.0
"""Time in which code of others may end after a command: its threads, processes, and hooks of Python's end."""
_WITNESS = """
import os, sys
last = b""
for last in sys.stdin.buffer:
    if not last.strip():
        break
if last.strip():
    os.write(2, b"error: the process ended" + last)
"""


class Others:
    """Calls of code of others in this process, which may end it, change it, or begin what never ends."""

    def __init__(self) -> None:
        self.is_watched = False
        """Whether a process of its own names the last call should this one end without a word, as commands want it."""
        self.have_run = False
        self.suspicion = ""
        """The last call, as the end of an error names it; empty before the first."""
        self._witness: Popen[bytes] | None = None

    def expect(self, call: str) -> None:
        """Note a call that begins; it is empty for longbeam's adapter of a product."""
        import subprocess
        import sys

        self.have_run = True
        if not call:
            return
        self.suspicion = (
            f" after {call}, code of others that ran in this process. If it did this, --isolate runs it in one of its "
            "own; what was answered is kept, and the same command goes on"
        )
        if self.is_watched and self._witness is None:
            command = [sys.executable, "-I", "-S", "-c", _WITNESS]
            self._witness = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0, start_new_session=True)
            assert self._witness.stdin is not None
            os.set_blocking(self._witness.stdin.fileno(), False)
        self._tell(self.suspicion)

    def end(self) -> None:
        """Let the witness end: the process says by itself how it ended, unless its standard error was closed."""
        import subprocess

        with contextlib.suppress(OSError):
            os.fstat(2)
            self._tell("")
        if self._witness is not None:
            # Code of others may have closed the pipe, or have left a copy of this process that holds it.
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._witness.communicate(timeout=LINGER_S)

    def _tell(self, line: str) -> None:
        if self._witness is not None:
            assert self._witness.stdin is not None
            with contextlib.suppress(OSError, ValueError):  # code of others may have ended it, or closed the pipe
                self._witness.stdin.write(f"{line}\n".encode(errors="backslashreplace"))


OTHERS = Others()


def end_anyway(code: int) -> None:
    """End the process with this exit code after a while, if code of others ran in it and Python does not end."""
    import multiprocessing
    import threading
    import time

    def end() -> None:
        time.sleep(LINGER_S)
        for child in multiprocessing.active_children():
            child.kill()
        os._exit(code)

    OTHERS.end()
    if OTHERS.have_run:
        threading.Thread(target=end, daemon=True).start()


def leave_at_once(signum: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """End the process without anything of Python's own; a handler of signals."""
    os.write(2, b"error: stopped\n")
    os._exit(INTERRUPTED)


async def until_answered(send: Callable[[], Coroutine[Any, Any, T]], is_held: Callable[[], bool]) -> T:
    """Return what `send` returns, also when the awaiting task is cancelled meanwhile.

    The cancellation then comes with the task's next await, so that the reply can be recorded first. `is_held` says
    whether the call is still held back before it is sent; such a call is not awaited.
    """
    import asyncio

    awaiting = asyncio.current_task()
    assert awaiting is not None
    if awaiting.cancelling():
        await asyncio.sleep(0)  # a cancellation that another reply put off comes here, before a call is sent
    sent = asyncio.create_task(send(), name=ON_ITS_WAY)
    is_cancelled = False
    while not sent.done():
        try:
            await asyncio.wait([sent])
        except asyncio.CancelledError:
            is_cancelled = True
            if is_held():
                sent.cancel()
    if is_cancelled and not sent.cancelled():
        awaiting.uncancel()  # it stays cancelled as often as it was
        awaiting.cancel()
    return sent.result()


def replies_on_their_way() -> list[Task[Any]]:
    """Return the tasks of the calls that were sent and are not answered, in the running event loop."""
    import asyncio

    return [task for task in asyncio.all_tasks() if task.get_name() == ON_ITS_WAY]


def drop_replies() -> int:
    """Cancel all calls on their way in the running event loop, and return how many there were."""
    dropped = replies_on_their_way()
    for task in dropped:
        task.cancel()
    return len(dropped)


def _tell_on_stderr(line: str) -> None:
    os.write(2, f"\n{line}\n".encode())


def run_stoppable(work: Coroutine[Any, Any, T], *, tell: Callable[[str], None] = _tell_on_stderr) -> T:
    """Return what a coroutine returns. Raises KeyboardInterrupt after Ctrl-C, when the coroutine has ended cleanly.

    Its message says which replies were lost; it is empty if none was. `tell` receives a line when replies are awaited.
    """
    import asyncio

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(work)  # somebody else hears Ctrl-C
    presses = _Presses(tell)

    async def stoppable() -> T:
        presses.begin(asyncio.get_running_loop(), asyncio.current_task())
        return await work

    signal.signal(signal.SIGINT, presses.press)
    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt(*presses.losses()) from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Presses:
    """Counts Ctrl-C while a task runs: the first press cancels the task, the second one the calls that it awaits."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.count = 0
        self._tell = tell
        self._dropped = 0
        self._loop: AbstractEventLoop | None = None
        self._task: Task[Any] | None = None

    def begin(self, loop: AbstractEventLoop, task: Task[Any] | None) -> None:
        """Take the task that the first press cancels."""
        self._loop, self._task = loop, task
        if self.count:
            self._stop()

    def press(self, signum: int, frame: FrameType | None) -> None:
        """Act on a press of Ctrl-C; a handler of signals."""
        self.count += 1
        if self.count >= PATIENCE:
            leave_at_once()
        if self.count > 1:
            os.write(2, b"\nstopping; once more to leave at once\n")
        if self._loop is not None:
            # The one call that may wake a loop from a handler.
            self._loop.call_soon_threadsafe(self._stop if self.count == 1 else self._drop)

    def losses(self) -> list[str]:
        """Return a line about the replies that were lost; no line if none was."""
        return [f"replies lost: {self._dropped}"] if self._dropped else []

    def _stop(self) -> None:
        assert self._loop is not None
        if self._task is not None:
            self._task.cancel()
        self._loop.call_later(A_MOMENT_S, self._count_replies)

    def _count_replies(self) -> None:
        awaited = len(replies_on_their_way())
        if awaited and self.count == 1:
            self._tell(f"stopping; replies awaited: {awaited}. Ctrl-C again ends without them")

    def _drop(self) -> None:
        self._dropped += drop_replies()
