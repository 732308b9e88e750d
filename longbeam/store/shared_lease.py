"""The right to make one conversation, among machines that share a folder: a lease that expires, with a fencing token.

    leases/c000/000003.lease      the third holder, as JSON; its time of change is the last sign of life
    leases/c000/000003.progress   how far that holder is
    leases/c000/000003-*          what that holder made and has not moved into place yet

Taking the lease creates the next number exclusively, which one of several takers can, and then removes what lower
numbers still had to move. A holder moves a file into place by renaming it, after it has looked whether its number is
still the highest. So a holder that was believed dead and wakes up either finds a higher number, or finds its file gone:
nothing it made appears after the next one has begun. No clocks of two machines are compared: both times that count
are given by the file system that holds the folder.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import StoreError
from longbeam.schemas.base import Record
from longbeam.store.files import describe_os_error, is_alive, sync_folder

LEASE_S = 30.0
"""A holder that gave no sign of life for so long has lost its lease."""
BEAT_S = 1.0
"""How often a holder gives one: far more often, because a busy file server may be slow."""
_RELEASED = (0, 0)
"""Time of change of a lease that was given back."""


class Holder(Record):
    """Who makes a conversation."""

    worker: str
    """As people are told: host and process."""
    machine: str
    """What tells whether its process can be looked for here; empty where that cannot be told."""
    pid: int


class Position(Record):
    """How far a holder is."""

    stage: str = ""
    units_done: int = 0
    units_total: int = 0
    tokens: int = 0
    calls: int = 0


class HeldElsewhere(StoreError):
    """Somebody else makes this conversation now."""


class LeaseLost(Exception):
    """Somebody else has taken the lease: nothing may be moved into place any more."""


class SharedLease:
    """Held from `take` to `release`."""

    def __init__(self, folder: Path, token: int) -> None:
        """Use `take`."""
        self.folder = folder
        self.token = token

    @classmethod
    def take(cls, folder: Path, worker: str = "") -> SharedLease:
        """Return the lease on what `folder` stands for; HeldElsewhere if its holder is alive."""
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
        """Raise LeaseLost if somebody else holds it."""
        if _last_token(self.folder) != self.token:
            raise LeaseLost(f"{self.folder.name}: another worker has taken over")

    def renew(self) -> None:
        """Give a sign of life; LeaseLost if it comes too late."""
        self.check()
        try:
            os.utime(self._path)
        except FileNotFoundError as exc:
            raise LeaseLost(f"{self.folder.name}: another worker has taken over") from exc

    def show(self, position: Position) -> None:
        """Tell whoever asks how far the holder is."""
        path = self.source("progress.new")
        path.write_text(position.model_dump_json(), encoding="utf-8")
        path.replace(self.folder / f"{self.token:06d}.progress")

    def source(self, name: str) -> Path:
        """Where the holder writes a file that it will put in place."""
        return self.folder / f"{self.token:06d}-{name}"

    def put_in_place(self, source: Path, target: Path) -> None:
        """Rename a file that `source` named to `target`; LeaseLost, and no change, if somebody else took over."""
        # The look comes after the writing: whoever takes over later finds the file and removes it.
        self.check()
        try:
            source.replace(target)
        except FileNotFoundError as exc:
            raise LeaseLost(f"{self.folder.name}: another worker has taken over") from exc
        sync_folder(target.parent)

    def release(self) -> None:
        """Let others take it at once; without effect if somebody has."""
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
            return False  # another was faster
        return True

    def _retire_lower(self) -> None:
        for path in self.folder.iterdir():
            token = path.name[:6]
            if token.isdecimal() and int(token) < self.token and not path.name.endswith(".replies"):
                path.unlink(missing_ok=True)


def living_holder(folder: Path) -> Holder | None:
    """Return who holds the lease now; None if nobody does."""
    last = _last_token(folder)
    return _living_holder(folder, last) if last else None


def position_of_holder(folder: Path) -> Position | None:
    """Return how far the last holder said it was; None if it has not said, or has ended."""
    try:
        text = (folder / f"{_last_token(folder):06d}.progress").read_text(encoding="utf-8")
        return Position.model_validate_json(text)
    except (OSError, ValidationError):
        return None


def worker_name() -> str:
    """Return host and process, for people."""
    return f"{os.uname().nodename}, process {os.getpid()}"


def machine_id() -> str:
    """Return what two processes share that see each other's process ids; empty where that cannot be told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _last_token(folder: Path) -> int:
    """The highest number ever given; 0 if there is none."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return 0
    return max((int(n[:6]) for n in names if n.endswith(".lease") and n[:6].isdecimal()), default=0)


def _living_holder(folder: Path, token: int) -> Holder | None:
    try:
        # Opened, not only looked at: a network file system asks its server then.
        with (folder / f"{token:06d}.lease").open(encoding="utf-8") as file:
            beat, text = os.fstat(file.fileno()).st_mtime, file.read()
        is_old = beat <= 0 or _now_of(folder) - beat > LEASE_S
    except FileNotFoundError:
        return None  # somebody else has just taken it over
    if is_old:
        return None
    try:
        holder = Holder.model_validate_json(text)
    except ValidationError:  # in the moment of its making
        return Holder(worker="another worker", machine="", pid=0)
    is_dead = holder.machine and holder.machine == machine_id() and not is_alive(holder.pid)
    return None if is_dead else holder


def _now_of(folder: Path) -> float:
    """The time, by the clock of the machine that holds the folder."""
    probe = folder / f".now-{os.uname().nodename}-{os.getpid()}-{time.monotonic_ns()}"
    try:
        probe.write_bytes(b"now")
        return probe.stat().st_mtime
    except OSError:  # whoever may only read here is shown a guess
        return time.time()
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
