"""Our Prefect server child, for real: 6 to 14 s a start, so that one test asks several things of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from longbeam.errors import LongbeamError, StoreError
from longbeam.flows import server
from longbeam.flows.server import prefect_server, server_settings

PARENT = """
import asyncio, sys
from pathlib import Path
from longbeam.flows.server import prefect_server

async def main():
    async with prefect_server(Path(sys.argv[1])) as url:
        print(url, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def servers_of(pid: int) -> list[int]:
    """Process ids of the server children of a process, zombies apart."""
    listed = subprocess.run(["ps", "-Ao", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True)
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


def test_the_server_dies_with_a_killed_parent(prefect_home: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(prefect_home)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        url = parent.stdout.readline().strip()
        assert urllib.request.urlopen(f"{url}/health", timeout=5).status == 200
        (child,) = servers_of(parent.pid)

        parent.send_signal(signal.SIGKILL)
        parent.wait()

        assert wait_until_gone(child, timeout_s=10)


async def test_the_environment_is_put_back(prefect_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_KEY", "somebody's cloud")
    before = dict(os.environ)
    async with prefect_server(prefect_home) as url:
        assert os.environ["PREFECT_API_URL"] == url
        assert "PREFECT_API_KEY" not in os.environ
        (child,) = servers_of(os.getpid())
    assert dict(os.environ) == before
    assert not is_alive(child)
    assert [name for name in os.listdir(prefect_home) if name.startswith("server-")] == []


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "prefect.db").write_bytes(b"not a database, but long enough to be read as one" * 100)

    with pytest.raises(LongbeamError, match=r"server ended with code \d+ while starting: .*--runner inline"):
        async with prefect_server(tmp_path):
            pass
    assert servers_of(os.getpid()) == []


async def test_a_home_that_cannot_be_made_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot make Prefect's home"):
        async with prefect_server(tmp_path / "file" / ".prefect"):
            pass


def test_nothing_phones_home(tmp_path: Path) -> None:
    settings = server_settings(tmp_path, 1)
    assert settings["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert settings["DO_NOT_TRACK"] == "1"
    assert {v for v in settings.values() if v.startswith("http")} == {"http://127.0.0.1:1/api"}


def test_importing_the_server_module_does_not_import_prefect() -> None:
    code = "import longbeam.flows.runner, sys; print('prefect' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
    assert server.START_TIMEOUT_S > 60
