"""The `longbeam` command, also as `python -m longbeam`: from the start of Python to the command line.

Importing the command line takes a tenth of a second. Ctrl-C meanwhile ends the process at once, without a traceback.
"""

from __future__ import annotations

import signal
from typing import NoReturn

from longbeam.stopping import leave_at_once

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, leave_at_once)


def main() -> NoReturn:
    """Import the command line and run it."""
    from longbeam.cli import main as run_command_line

    run_command_line()


if __name__ == "__main__":
    main()
