"""Exclusive rights.

To write one file (an OS lock that ends with its process), and to generate one conversation among machines.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import StoreError
from longbeam.schemas import Position, Record
from longbeam.store.files import describe_os_error, is_alive, sync_folder

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


LEASE_S = 30.0
"""Seconds without a heartbeat after which a holder loses its lease."""
BEAT_S = 1.0
"""Seconds between heartbeats; far fewer than LEASE_S, because a busy file server may be slow."""
_RELEASED = (0, 0)
"""Modification time of a released lease."""


class Holder(Record):
    """The worker that generates a conversation."""

    worker: str
    """Host and process, for messages."""
    machine: str
    """`machine_id` of the worker, by which another process knows whether `pid` is one of its own machine."""
    pid: int


class HeldElsewhere(StoreError):
    """Another worker generates this conversation now."""


class LeaseLost(Exception):
    """Another worker has taken the lease: no file may be moved into place any more."""


class SharedLease:
    """A lease, held from `take` to `release`."""

    def __init__(self, folder: Path, token: int) -> None:
        """Use `take`."""
        self.folder = folder
        self.token = token

    @classmethod
    def take(cls, folder: Path, worker: str = "") -> SharedLease:
        """Return the lease of this folder; HeldElsewhere if its holder is alive."""
        holder = Holder(worker=worker or worker_name(), machine=machine_id(), pid=os.getpid())
        try:
            folder.mkdir(parents=True, exist_ok=True)
            while True:
                last = _last_token(folder)
                if last and (living := _living_holder(folder, last)) is not None:
                    raise HeldElsewhere(
                        f"{folder.name} is being made by {living.worker}; wait until it has ended, or stop it. A "
                        f"worker that died is noticed after {LEASE_S:.0f} s"
                    )
                lease = cls(folder, last + 1)
                if lease._create(holder):
                    lease._retire_lower()
                    return lease
        except OSError as exc:
            raise StoreError(describe_os_error(folder, exc)) from exc

    def check(self) -> None:
        """Raise LeaseLost if another worker holds the lease."""
        if _last_token(self.folder) != self.token:
            raise LeaseLost(f"{self.folder.name}: another worker has taken over")

    def renew(self) -> None:
        """Give a heartbeat; LeaseLost if it comes too late."""
        self.check()
        try:
            os.utime(self._path)
        except FileNotFoundError as exc:
            raise LeaseLost(f"{self.folder.name}: another worker has taken over") from exc

    def show(self, position: Position) -> None:
        """Publish the holder's progress."""
        path = self.source("progress.new")
        path.write_text(position.model_dump_json(), encoding="utf-8")
        path.replace(self.folder / f"{self.token:06d}.progress")

    def source(self, name: str) -> Path:
        """Return where the holder writes a file before it moves the file into place."""
        return self.folder / f"{self.token:06d}-{name}"

    def put_in_place(self, source: Path, target: Path) -> None:
        """Rename a file of `source` to `target`; LeaseLost, and no change, if another worker took over."""
        # The check comes after the writing: a later holder finds the file and removes it.
        self.check()
        try:
            source.replace(target)
        except FileNotFoundError as exc:
            raise LeaseLost(f"{self.folder.name}: another worker has taken over") from exc
        sync_folder(target.parent)

    def release(self) -> None:
        """Release the lease at once; without effect if another worker has taken it."""
        (self.folder / f"{self.token:06d}.progress").unlink(missing_ok=True)
        try:
            os.utime(self._path, _RELEASED)
        except FileNotFoundError:
            return

    @property
    def _path(self) -> Path:
        return self.folder / f"{self.token:06d}.lease"

    def _create(self, holder: Holder) -> bool:
        try:
            with self._path.open("x", encoding="utf-8") as file:
                file.write(holder.model_dump_json())
        except FileExistsError:
            return False  # another worker was faster
        return True

    def _retire_lower(self) -> None:
        for path in self.folder.iterdir():
            token = path.name[:6]
            if token.isdecimal() and int(token) < self.token and not path.name.endswith(".replies"):
                path.unlink(missing_ok=True)


def living_holder(folder: Path) -> Holder | None:
    """Return the holder of the lease; None if nobody holds it."""
    last = _last_token(folder)
    return _living_holder(folder, last) if last else None


def position_of_holder(folder: Path) -> Position | None:
    """Return the last holder's progress; None if it has published none, or has ended."""
    try:
        text = (folder / f"{_last_token(folder):06d}.progress").read_text(encoding="utf-8")
        return Position.model_validate_json(text)
    except (OSError, ValidationError):
        return None


def worker_name() -> str:
    """Return host and process, for messages."""
    return f"{os.uname().nodename}, process {os.getpid()}"


def machine_id() -> str:
    """Return an id that processes share if they see each other's process ids; empty if the system gives none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _last_token(folder: Path) -> int:
    """Return the highest number ever given; 0 if there is none."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return 0
    return max((int(n[:6]) for n in names if n.endswith(".lease") and n[:6].isdecimal()), default=0)


def _living_holder(folder: Path, token: int) -> Holder | None:
    try:
        # Opening the file, unlike `stat`, makes a network file system ask its server.
        with (folder / f"{token:06d}.lease").open(encoding="utf-8") as file:
            beat, text = os.fstat(file.fileno()).st_mtime, file.read()
        is_old = beat <= 0 or _now_of(folder) - beat > LEASE_S
    except FileNotFoundError:
        return None  # another worker has just taken over
    if is_old:
        return None
    try:
        holder = Holder.model_validate_json(text)
    except ValidationError:  # the holder is still writing the file
        return Holder(worker="another worker", machine="", pid=0)
    is_dead = holder.machine and holder.machine == machine_id() and not is_alive(holder.pid)
    return None if is_dead else holder


def _now_of(folder: Path) -> float:
    """Return the time by the clock of the machine that holds the folder."""
    probe = folder / f".now-{os.uname().nodename}-{os.getpid()}-{time.monotonic_ns()}"
    try:
        probe.write_bytes(b"now")
        return probe.stat().st_mtime
    except OSError:  # a process that may only read here gets a guess
        return time.time()
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
