"""Runs `longbeam` as a user would, kills it with SIGKILL, and finds out what was left behind."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from longbeam.cli import INCOMPLETE, OK, run
from longbeam.store import WorkLog

EXPORTED = ("conversations.jsonl", "messages.jsonl", "probes.jsonl")
MARK = "LONGBEAM_TEST_MARK"
KEY_LINE_BYTES = 65
"""Of the invocation log: a SHA-256 in hex and the end of the line."""


@dataclass(frozen=True)
class Bench:
    """One benchmark being made in a folder of its own."""

    spec: Path
    out: Path
    runner: str = "inline"
    options: tuple[str, ...] = ()
    """More of the command line."""
    timeout_s: float = 600

    @property
    def log(self) -> Path:
        """One line per call that the offline writer answered."""
        return self.out / "invocations.log"

    @property
    def name(self) -> str:
        """The benchmark's name, as the spec file is called."""
        return self.spec.stem

    def invocations(self) -> list[str]:
        """Keys of the calls answered so far, in order."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def answered(self) -> int:
        """How many calls were answered so far; at 10M tokens the log is too long to be read for it all the time."""
        return self.log.stat().st_size // KEY_LINE_BYTES if self.log.exists() else 0

    def committed(self) -> set[str]:
        """Keys of the replies that are in the journals."""
        keys: set[str] = set()
        for path in sorted((self.out / self.name / "work").glob("*.sqlite")):
            with WorkLog.open_read_only(path) as log:
                keys.update(log.journal.reply_keys())
        return keys

    def committed_of(self, prompt_id: str) -> int:
        """How many replies to a prompt are in the journals."""
        count = 0
        for path in (self.out / self.name / "work").glob("*.sqlite"):
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
                try:
                    [(found,)] = db.execute("SELECT count(*) FROM replies WHERE prompt_id = ?", (prompt_id,))
                except sqlite3.OperationalError:  # the file has no tables yet
                    continue
                count += found
        return count

    def command(self, concurrency: int) -> list[str]:
        """The generate command line."""
        return [
            *(sys.executable, "-m", "longbeam", "generate", str(self.spec), "--runner", self.runner),
            *("--out", str(self.out), "--concurrency", str(concurrency), "--invocation-log", str(self.log)),
            *self.options,
        ]

    def run(self, concurrency: int = 16) -> None:
        """Run to the end."""
        assert self.ended(concurrency) == OK

    def ended(self, concurrency: int = 16) -> int:
        """Run to the end and return the exit code: in this process, except for runners that start others."""
        self.out.mkdir(parents=True, exist_ok=True)
        command = self.command(concurrency)
        if self.runner == "inline":
            return run(command[3:])
        done = subprocess.run(command, capture_output=True, text=True, timeout=self.timeout_s)
        print(done.stdout[-2000:] + done.stderr[-4000:])  # pytest shows it where a test fails
        assert done.returncode in (OK, INCOMPLETE)
        return done.returncode

    def run_and_kill(self, after: int, concurrency: int = 16) -> bool:
        """Run until `after` calls have been answered in all, then SIGKILL; False if the run ended before.

        No process that the run started may be alive afterwards.
        """
        return self.run_and_kill_when(lambda: self.answered() >= after, concurrency)

    def run_and_kill_when(self, is_time: Callable[[], bool], concurrency: int = 16) -> bool:
        """Run until `is_time` says so, then SIGKILL; the rest as in `run_and_kill`."""
        self.out.mkdir(parents=True, exist_ok=True)
        mark = uuid.uuid4().hex
        environment = {**os.environ, MARK: mark}
        with subprocess.Popen(
            self.command(concurrency), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while process.poll() is None and not is_time():
                time.sleep(0.005)
            was_running = process.poll() is None
            if was_running:
                process.send_signal(signal.SIGKILL)
            process.wait()
        assert survivors(mark) == [], "processes survive the kill"
        return was_running

    def export(self) -> dict[str, str]:
        """Export as JSONL and return the sha256 of each file."""
        target = self.out / "export"
        assert run(["export", self.name, "--format", "jsonl", "--to", str(target), "--out", str(self.out)]) == OK
        return {name: hashlib.sha256((target / name).read_bytes()).hexdigest() for name in EXPORTED}


def survivors(mark: str, patience_s: float = 10.0) -> list[int]:
    """Processes that carry a mark in their environment, after they had a moment to notice their parent's end."""
    deadline = time.monotonic() + patience_s
    while (alive := _marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return alive


def _marked(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes() and not _is_zombie(entry):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _is_zombie(entry: Path) -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"


def kill_and_resume(bench: Bench, moments: list[int]) -> tuple[int, Counter[str]]:
    """Kill at each moment and go on, then run to the end.

    Returns the number of kills, and how often each call was answered although its reply was committed before.
    """
    kills, paid_twice = 0, Counter[str]()
    for moment in [*moments, None]:
        before, seen = bench.committed() if bench.out.exists() else set(), len(bench.invocations())
        if moment is None:
            bench.run()
        else:
            kills += bench.run_and_kill(moment)
        paid_twice.update(key for key in bench.invocations()[seen:] if key in before)
    return kills, paid_twice
