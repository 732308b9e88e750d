"""Shared parts of the commands: the app, common options, exit codes and messages."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longbeam import __version__
from longbeam.cli.huge_pages import begin_with_huge_pages
from longbeam.errors import UserError

if TYPE_CHECKING:
    from longbeam.store import Benchmark


OK, INCOMPLETE, USER_ERROR, INTERRUPTED = 0, 1, 2, 130
DEFAULT_NAME = "demo"
DEFAULT_OUT = Path("output")

app = typer.Typer(
    help="Benchmarks of long conversational memory: generate, check, review, export, evaluate.",
    epilog="Begin with `longbeam generate`: one conversation of 128K tokens with its probes, offline.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="The benchmark's name.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Folder that holds the benchmarks.")]
InvocationLog = Annotated[Path | None, typer.Option("--invocation-log", hidden=True)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


class LogLevel(StrEnum):
    """Least level of log lines."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"longbeam {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
    huge_pages: Annotated[
        bool, typer.Option("--huge-pages", help="Linux: use memory pages of 2 MB, which saves CPU time in long runs.")
    ] = False,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", help="Least level of log lines of libraries on stderr.")
    ] = LogLevel.WARNING,
) -> None:
    if log_level is not LogLevel.WARNING:  # Python's own default
        _log_from(log_level)
    if huge_pages:
        begin_with_huge_pages()


def _log_from(level: LogLevel) -> None:
    import logging

    logging.basicConfig(
        level=level.value.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )


def refuse_nothing_sealed(benchmark: Benchmark, out: Path) -> None:
    """Raise UserError if no conversation is finished."""
    if not benchmark.sealed_ids:
        name = benchmark.spec.name
        advice = command_line("resume", name, out)
        raise UserError(f"benchmark {name!r} has no finished conversation; go on with: {advice}")


def warn_of_unfinished(benchmark: Benchmark, out: Path) -> bool:
    """Return whether conversations are unfinished, and say so on stderr."""
    missing = len(benchmark.conversation_ids) - len(benchmark.sealed_ids)
    if missing:
        print(
            f"{missing} of {len(benchmark.conversation_ids)} conversations are not finished and not counted; "
            f"go on with: {command_line('resume', benchmark.spec.name, out)}",
            file=sys.stderr,
        )
    return missing > 0


def say_stopped(stop: KeyboardInterrupt, going_on: str) -> int:
    """Say that a run was stopped, which replies were lost, and the command that goes on; return the exit code."""
    print(f"\nstopped; {str(stop) or 'nothing is lost'}. Go on with: {going_on}", file=sys.stderr)
    return INTERRUPTED


def command_line(command: str, name: str, out: Path) -> str:
    """Return a command line to copy."""
    return " ".join(["longbeam", command, name, *(["--out", shlex.quote(str(out))] if out != DEFAULT_OUT else [])])
