"""What Prefect's pages and command line see and do, by Prefect's HTTP API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENDED = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Pages:
    """A Prefect server."""

    url: str

    def is_there(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/health", timeout=2).close()
        except OSError:
            return False
        return True

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, {"Content-Type": "application/json"})
        for left in reversed(range(10)):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    text = answer.read()
                return json.loads(text) if text else None
            except urllib.error.HTTPError as exc:
                if exc.code != 503 or not left:  # its database is busy
                    raise
                time.sleep(1)
        raise AssertionError("unreachable")

    def runs(self, name: str, flow: str = "") -> list[dict[str, Any]]:
        """Flow runs of a name, oldest first."""
        body: dict[str, Any] = {"flow_runs": {"name": {"any_": [name]}}, "sort": "START_TIME_ASC"}
        if flow:
            body["flows"] = {"name": {"any_": [flow]}}
        return list(self.ask("/flow_runs/filter", body))

    def run(self, run_id: str) -> dict[str, Any]:
        return dict(self.ask(f"/flow_runs/{run_id}"))

    def below(self, run_id: str) -> list[str]:
        """Flow runs called by a run, by id, oldest first."""
        tasks = self.ask(
            "/task_runs/filter", {"flow_runs": {"id": {"any_": [run_id]}}, "sort": "EXPECTED_START_TIME_ASC"}
        )
        found = [t["state"]["state_details"].get("child_flow_run_id") for t in tasks]
        return [child for child in found if child]

    def tasks(self, run_id: str) -> dict[str, str]:
        """States of the tasks of a run, by name."""
        rows = self.ask("/task_runs/filter", {"flow_runs": {"id": {"any_": [run_id]}}, "limit": 200})
        return {row["name"]: row["state"]["type"] for row in rows}

    def artifacts(self) -> dict[str, Any]:
        """Latest artifacts by key."""
        return {row["latest_id"] and row["key"]: row for row in self.ask("/artifacts/latest/filter", {})}

    def logs(self, run_id: str) -> list[str]:
        return [row["message"] for row in self.ask("/logs/filter", {"logs": {"flow_run_id": {"any_": [run_id]}}})]

    def start(self, deployment: str, **parameters: object) -> str:
        """Create a run of a deployment, as the pages do, and return its id."""
        found = self.ask(f"/deployments/name/{deployment}")
        body = {"parameters": parameters, "state": {"type": "SCHEDULED"}}
        return str(self.ask(f"/deployments/{found['id']}/create_flow_run", body)["id"])

    def set_state(self, run_id: str, kind: str, name: str | None = None, *, is_forced: bool = False) -> str:
        """Set a run's state as the pages do, and return the server's verdict: ACCEPT, REJECT or ABORT."""
        # A suspended run is scheduled again when it is resumed, a paused one goes on.
        details = {"pause_reschedule": name == "Suspended"}
        state = {"type": kind, "name": name, "state_details": details}
        return str(self.ask(f"/flow_runs/{run_id}/set_state", {"state": state, "force": is_forced})["status"])

    def wait(self, run_id: str, until: Callable[[dict[str, Any]], bool], timeout_s: float = 900) -> dict[str, Any]:
        """Wait until a run's row is as asked for, and return it."""
        deadline = time.monotonic() + timeout_s
        while not until(row := self.run(run_id)):
            assert time.monotonic() < deadline, (row["state"], self.logs(run_id))
            time.sleep(0.2)
        return row

    def wait_for_end(self, run_id: str, timeout_s: float = 900) -> str:
        row = self.wait(run_id, lambda row: row["state_type"] in ENDED, timeout_s)
        return str(row["state_type"])

    def command(self, *arguments: str, timeout_s: float = 900) -> subprocess.CompletedProcess[str]:
        """Run Prefect's command line."""
        return subprocess.run(
            [sys.executable, "-m", "prefect", *arguments],
            env={**os.environ, "PREFECT_API_URL": self.url},
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )


@contextmanager
def serving(pages: Pages, out: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """`longbeam flows serve`, until its deployments are there."""
    log = (out / "serve.log").open("wb")
    command = [sys.executable, "-m", "longbeam", "flows", "serve", "--out", str(out), *options]
    with log, subprocess.Popen(command, stdout=log, stderr=log, cwd=out) as server:
        try:
            deadline = time.monotonic() + 600
            while True:
                try:
                    pages.ask("/deployments/name/evaluate-benchmark/longbeam")
                    if pages.ask("/deployments/name/evaluate-benchmark/longbeam")["status"] == "READY":
                        break
                except urllib.error.HTTPError:
                    pass
                assert server.poll() is None, (out / "serve.log").read_text()
                assert time.monotonic() < deadline, (out / "serve.log").read_text()
                time.sleep(0.3)
            yield server
        finally:
            server.terminate()
            server.wait(60)
