"""The `longbeam` command: arguments in, exit codes out.

Exit codes: 0 done; 1 failed units, unfinished conversations or error findings; 2 a mistake of the user, said in
one line; 130 stopped with Ctrl-C. Heavy imports stand inside the commands, so that help is instant.
There is one module of commands for each part of the work; `app` holds what they share.
"""

from __future__ import annotations

# isort: off
# Each module registers its commands; help lists them in this order, which is the order of the work.
from longbeam.cli import (
    starting,
    making,
    showing,
    sampling,
    proving,
    probing,
    mending,
    reviewing,
    measuring,
    studying,
    serving,
    manual,
    sessions,
    flows,
)

# isort: on
from longbeam.cli.app import INCOMPLETE, INTERRUPTED, OK, USER_ERROR
from longbeam.cli.entry import main, run
from longbeam.cli.making import report_run

COMMANDS = (
    starting,
    making,
    showing,
    sampling,
    proving,
    probing,
    mending,
    reviewing,
    measuring,
    studying,
    serving,
    manual,
    sessions,
    flows,
)

__all__ = ["COMMANDS", "INCOMPLETE", "INTERRUPTED", "OK", "USER_ERROR", "main", "report_run", "run"]
