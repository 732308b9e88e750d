"""What runs on this system, as `ps` says."""

from __future__ import annotations

import subprocess
import time


def servers_of(pid: int) -> list[int]:
    """Process ids of the server children of a process, zombies apart."""
    # -ww: else ps cuts its lines at $COLUMNS, and a long path to Python hides what it runs.
    command = ["ps", "-ww", "-Ao", "pid=,ppid=,stat=,args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=3) for line in listed.stdout.splitlines()]
    return [
        int(child)
        for child, parent, state, command in rows
        if int(parent) == pid and "server_child" in command and not state.startswith("Z")
    ]


def is_alive(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.returncode == 0 and not listed.stdout.strip().startswith("Z")


def wait_until_gone(pid: int, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
