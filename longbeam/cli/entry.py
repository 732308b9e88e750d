"""Runs one command: from its arguments to its exit code."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from longbeam.cli.app import INCOMPLETE, INTERRUPTED, OK, USER_ERROR, app
from longbeam.errors import LongbeamError, UserError
from longbeam.stopping import leave_at_once

# Typer's usage errors have a public subclass only; Typer 0.29 carries a Click of its own.
USAGE_ERROR: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; a user's error becomes one line on stderr."""
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
        return _complain("stopped", INTERRUPTED)
    except OSError as exc:
        if exc.errno == errno.ENAMETOOLONG:
            return _complain(f"{str(exc.filename)[:60]!r}...: {exc.strerror}; name another file or folder", USER_ERROR)
        if exc.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        return _complain(f"{exc.filename or 'the disk'}: {exc.strerror}; nothing that was done is lost", USER_ERROR)
    return code if isinstance(code, int) else OK


def _complain(message: str, code: int) -> int:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return code


def main() -> NoReturn:
    """Run the command line of this process; SIGTERM stops it like Ctrl-C."""
    # Records have no reference cycles. Searching for cycles after every 700 objects took 0.5 s of a run of 2,000 calls;
    # this threshold takes 0.1 s.
    gc.set_threshold(20_000)
    if "" not in sys.path:
        sys.path.append(
            ""
        )  # `--system people:PEOPLE` names a module of the current folder, as `python -m` would find it
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        # Shells start background jobs with SIGINT ignored; SIGTERM must stop those cleanly, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run(sys.argv[1:])
        signal.signal(signal.SIGINT, leave_at_once)  # all is done: Python's own end is nothing to interrupt
        sys.stdout.flush()
    except KeyboardInterrupt:  # between two of these lines
        code = _complain("stopped", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has exited (`| head`); without this, Python would report it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = INCOMPLETE
    sys.exit(code)
