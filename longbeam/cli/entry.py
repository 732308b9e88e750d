"""Runs one command: from its arguments to its exit code."""

from __future__ import annotations

import errno
import gc
import io
import os
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn, TextIO, cast

import typer

from longbeam.cli.app import INCOMPLETE, INTERRUPTED, OK, USER_ERROR, app
from longbeam.errors import LongbeamError, UserError
from longbeam.plugins import culprit, failure_of
from longbeam.stopping import OTHERS, end_anyway, leave_at_once
from longbeam.terminal import both_ends, printable

# Typer's usage errors have a public subclass only; Typer 0.29 carries a Click of its own.
USAGE_ERROR: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


_NO_MEMORY = "there is not enough memory; close other programs, or raise the limit (`ulimit -v`). Nothing done is lost"

_LONGEST_ERROR = 4_000
"""Characters of an error's line: a name out of a file may be longer than any terminal."""
_LEAST_MEMORY = 1_200_000_000
"""Bytes of address space: with fewer, libraries end the process by themselves while they are loaded."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; a user's error becomes one line on stderr, a plug-in's failure, too."""
    try:
        return _run(arguments)
    except BaseException as exc:
        if line := "" if isinstance(exc, KeyboardInterrupt) else culprit(exc):
            return _complain(line, USER_ERROR)
        if OTHERS.suspicion:
            sys.unraisablehook = lambda _: None  # what breaks behind it, while Python ends, is no news
            return _complain(failure_of(exc) + OTHERS.suspicion, INCOMPLETE)
        raise


def _run(arguments: Sequence[str]) -> int:
    try:
        code = app(args=list(arguments), prog_name="longbeam", standalone_mode=False)
    except UserError as exc:
        return _complain(str(exc), USER_ERROR)
    except LongbeamError as exc:
        return _complain(str(exc), INCOMPLETE)
    except USAGE_ERROR as exc:
        message = exc.format_message() if hasattr(exc, "format_message") else str(exc)
        end = "" if message.endswith((".", "?")) else "."
        return _complain(f"{message}{end} See `longbeam --help`", USER_ERROR) if message else USER_ERROR
    except (KeyboardInterrupt, typer.Abort):
        return _complain("stopped" + OTHERS.suspicion, INTERRUPTED)
    except OSError as exc:
        if exc.errno == errno.ENAMETOOLONG:
            return _complain(f"{str(exc.filename)[:60]!r}...: {exc.strerror}; name another file or folder", USER_ERROR)
        if exc.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        return _complain(
            f"{exc.filename or 'the disk or standard output'}: {exc.strerror}; nothing that was done is lost",
            USER_ERROR,
        )
    except (MemoryError, ImportError, RuntimeError) as exc:
        if not _is_out_of_memory(exc):
            raise
        return _complain(_NO_MEMORY, INCOMPLETE)
    if code == INTERRUPTED and OTHERS.suspicion:  # Typer turns KeyboardInterrupt into this code
        return _complain("stopped" + OTHERS.suspicion, code)
    return code if isinstance(code, int) else OK


def _too_little() -> str:
    """Return that the limit on memory is below what any command on a benchmark needs; empty if it is not."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= _LEAST_MEMORY or "--help" in sys.argv:
        return ""
    needed = _LEAST_MEMORY // 2**20
    return f"the limit on memory (`ulimit -v`) is {limit // 2**20:,} MiB; longbeam needs {needed:,} MiB or more"


def _is_out_of_memory(exc: BaseException) -> bool:
    """Whether memory ran out, while an array was made, a library was loaded, or a thread was started."""
    said = str(exc).casefold()
    return isinstance(exc, MemoryError) or any(
        sign in said
        for sign in ("cannot allocate memory", "failed to map segment", "can't start new thread", "bad_alloc")
    )


class _Unfailing:
    """Standard error that loses what cannot be written: a full disk behind it stops no run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def _open_streams() -> bool:
    """Give closed standard streams somewhere to go, as files would get their numbers; return whether output is lost."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    is_lost = sys.stdout is None
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal of another encoding shows \\u escapes for the rest
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = cast("TextIO", _Unfailing(sys.stderr or os.fdopen(2, "w", closefd=False)))
    return is_lost


def _flushed(code: int, *, is_lost: bool) -> int:
    """Write what is left of the output, and return the exit code: output that nobody gets is no success."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as exc:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _complain(f"standard output: {exc.strerror}; some of what was printed is lost", code or INCOMPLETE)
    if is_lost:
        return _complain("standard output is closed, so nothing was printed", code or INCOMPLETE)
    return code


def _complain(message: str, code: int) -> int:
    print("error: " + both_ends(printable(" ".join(message.split())), _LONGEST_ERROR), file=sys.stderr)
    return code


def main() -> NoReturn:
    """Run the command line of this process; SIGTERM stops it like Ctrl-C."""
    # Records have no reference cycles. Searching for cycles after every 700 objects took 0.5 s of a run of 2,000 calls;
    # this threshold takes 0.1 s.
    gc.set_threshold(20_000)
    is_lost = _open_streams()
    if "" not in sys.path:
        sys.path.append(
            ""
        )  # `--system people:PEOPLE` names a module of the current folder, as `python -m` would find it
    OTHERS.is_watched = True
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        # Shells start background jobs with SIGINT ignored; SIGTERM must stop those cleanly, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = _complain(_too_little(), INCOMPLETE) if _too_little() else run(sys.argv[1:])
        signal.signal(signal.SIGINT, leave_at_once)  # all is done: Python's own end is nothing to interrupt
        code = _flushed(code, is_lost=is_lost)
    except KeyboardInterrupt:  # between two of these lines
        code = _complain("stopped", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has exited (`| head`); without this, Python would report it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = INCOMPLETE
    end_anyway(code)
    sys.exit(code)
