"""Exclusive right to write one file: an OS lock that ends with its process, also on SIGKILL.

`flock` and not `lockf`: a POSIX lock would let the same process in twice, and would be lost when any other
descriptor of the file is closed. The lock file is never removed: otherwise two processes could hold locks on two
files of the same name.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from longbeam.errors import StoreError
from longbeam.store.files import describe_os_error

LOCK_SUFFIX = ".lock"


class Lease:
    """A lease, held from construction to `release`."""

    def __init__(self, path: Path) -> None:
        """Take the lease on `path` through `<path>.lock`; StoreError if another holds it."""
        lock = path.with_name(path.name + LOCK_SUFFIX)
        try:
            self._descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as exc:
            raise StoreError(describe_os_error(lock, exc)) from exc
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The error message of a second process names this one; the lock does not depend on the content.
            os.truncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as exc:
            holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            if exc.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise StoreError(describe_os_error(lock, exc)) from exc
            who = f"process {holder}" if holder.isdecimal() else "another process"
            raise StoreError(
                f"{path}: {who} is writing it; wait until that run has ended, or stop it and run the command again"
            ) from exc

    def release(self) -> None:
        """Give the lease up, so that another process can take it."""
        os.close(self._descriptor)
