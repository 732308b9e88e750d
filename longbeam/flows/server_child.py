"""The Prefect server as a child process that never outlives its parent: `python -m longbeam.flows.server_child FD`.

The parent holds the other end of this process's stdin. When it ends, even by SIGKILL, stdin is at its end and
the child stops. A watch on the parent's process id stands beside it, because a forked sibling may hold the
pipe's other end open too. Both work on every POSIX system.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
import time

GRACE_S = 3.0
"""Time for a clean stop, in which the recorder writes what it holds; then the process ends as it is."""
WATCH_S = 0.5
"""How often the parent's process id is looked at."""


def main() -> None:
    """Serve Prefect's API on the listening socket whose file descriptor is the first argument."""
    import uvicorn

    listener = socket.socket(fileno=int(sys.argv[1]))
    config = uvicorn.Config(
        "prefect.server.api.server:create_app",
        factory=True,
        lifespan="on",
        log_level="error",
        # A client that keeps its connection open must not hold up the stop.
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    threading.Thread(target=_stop_with_parent, args=(server, os.getppid()), daemon=True).start()
    server.run(sockets=[listener])
    # Everything is committed. Python's own end, which frees what a server of this size holds, took 3 s.
    os._exit(0)


def _stop_with_parent(server: object, parent_pid: int) -> None:
    """Wait until the parent has closed the pipe or is gone; then stop the server, and the process if need be."""
    while os.getppid() == parent_pid:
        if select.select([0], [], [], WATCH_S)[0] and not os.read(0, 1024):
            break
    setattr(server, "should_exit", True)  # noqa: B010 -- uvicorn's own way to be stopped, untyped here
    time.sleep(GRACE_S)
    os._exit(0)


if __name__ == "__main__":
    main()
