"""Runs `longbeam` against `longbeam serve-offline`, both as a user would, and asks the server what it was asked."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.killing import Bench

ENDPOINT = """
[models]
default = "openai:offline"
[endpoints."openai:offline"]
base_url = "{base_url}"
structured = "json_schema"
sends_extras = {sends_extras}
[limits]
concurrency = 16
timeout_s = {timeout_s}
"""


@dataclass(frozen=True)
class Loopback:
    """A server that runs."""

    base_url: str

    def counts(self, *, calls: bool = False) -> dict[str, Any]:
        """What it was asked."""
        return self._get(f"/counts{'?calls=1' if calls else ''}")

    def control(self, **settings: Any) -> None:
        """Change its settings."""
        self._get("/control", json.dumps(settings).encode())

    def _get(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        with urllib.request.urlopen(self.base_url.removesuffix("/v1") + path, body, timeout=30) as reply:
            found = json.load(reply)
        assert isinstance(found, dict)
        return found


@contextmanager
def loopback(*settings: str) -> Iterator[Loopback]:
    """A server with these settings."""
    command = [sys.executable, "-m", "longbeam", "serve-offline", "--port", "0", *settings]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Loopback(process.stdout.readline().split()[1])
        finally:
            process.terminate()


@dataclass(frozen=True)
class HttpRun:
    """One benchmark made over HTTP."""

    bench: Bench
    server: Loopback

    def run(self) -> int:
        """Run or go on to the end; the exit code."""
        return self.bench.ended()

    def kill_after(self, answered: int) -> None:
        """Run until the server has answered so many calls in all, then SIGKILL; wait until the server has noticed."""
        command = self.bench.command(16)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and self.server.counts()["answered"] < answered:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
        self.wait_until_quiet()

    def wait_until_quiet(self) -> None:
        """Wait until the server has noticed a kill."""
        # What lies in the sockets of the killed process is still to be read: quiet is when nothing came for a while.
        before = -1
        while (counts := self.server.counts())["in_flight"] or counts["received"] != before:
            before = counts["received"]
            time.sleep(0.2)

    def journalled(self) -> set[str]:
        """`unit_key#generation` of the replies that are in the journals, and in the reply files of workers."""
        found: set[str] = set()
        benchmark = self.bench.out / self.bench.name
        for path in benchmark.glob("leases/*/*.replies"):
            # The last line of a worker that was killed may be cut off: that reply is lost.
            lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
            found.update(f"{row['unit_key']}#{row['generation']}" for row in (json.loads(line[9:]) for line in lines))
        for path in benchmark.glob("work/*.sqlite"):
            # Closed, because a worker refuses a work log that another process has open.
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
                found.update(f"{key}#{generation}" for key, generation in db.execute(
                    "SELECT unit_key, generation FROM replies"
                ))  # fmt: skip
        return found

    def lost(self) -> int:
        """Calls that the server has answered and no journal has: they were in flight when the run was killed."""
        return len(set(self.server.counts(calls=True)["answered_calls"]) - self.journalled())


def http_run(
    tmp_path: Path, spec: str, server: Loopback, *, timeout_s: float = 60, sends_extras: bool = True
) -> HttpRun:
    """A benchmark of this spec over HTTP, in a folder of its own."""
    path = tmp_path / "http" / f"{spec.split(chr(34))[1]}.toml"
    path.parent.mkdir()
    path.write_text(spec + _endpoint(server, timeout_s=timeout_s, sends_extras=sends_extras))
    return HttpRun(Bench(path, tmp_path / "http" / "out"), server)


def _endpoint(server: Loopback, *, timeout_s: float, sends_extras: bool) -> str:
    said = str(sends_extras).lower()
    return ENDPOINT.format(base_url=server.base_url, timeout_s=timeout_s, sends_extras=said)


def moments(total: int, kills: int) -> list[int]:
    """Numbers of answered calls at which a run is killed."""
    return sorted(random.Random(5).sample(range(total // 20, total), kills))
