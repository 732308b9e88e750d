"""`longbeam serve-offline` as a process: says where it listens, answers, stops when it is told to."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request


def test_server_says_where_it_listens_and_stops_at_sigterm() -> None:
    command = [sys.executable, "-m", "longbeam", "serve-offline", "--port", "0", "latency_ms=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said, base_url = process.stdout.readline().split()
            with urllib.request.urlopen(f"{base_url}/models", timeout=10) as reply:
                models = json.load(reply)
        finally:
            process.terminate()
        assert process.wait(timeout=10) == 0
    assert said == "LISTENING"
    assert models["data"][0]["id"] == "offline"
