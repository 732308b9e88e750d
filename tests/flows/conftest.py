from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longbeam.flows import HOME, server_settings
from tests.flows.pages import Pages


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all tests of this folder, in an output folder: making its database takes 8 s."""
    return tmp_path_factory.mktemp("output") / HOME


@pytest.fixture(scope="module")
def user_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server as a user starts it, with `prefect server start`; the address of its API."""
    home = tmp_path_factory.mktemp("user") / ".prefect"
    home.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {**os.environ, **server_settings(home, port), "PREFECT_SERVER_UI_ENABLED": "false"}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    log = (home / "server.log").open("wb")
    with log, subprocess.Popen(command, env=settings, stdout=log, stderr=log, cwd=home) as server:
        url = settings["PREFECT_API_URL"]
        try:
            deadline = time.monotonic() + 180
            while not Pages(url).is_there():
                assert server.poll() is None, (home / "server.log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield url
        finally:
            server.terminate()
            server.wait(30)


@pytest.fixture
def pages(user_server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pages:
    """The user's server, named by the environment of this process."""
    monkeypatch.setenv("PREFECT_API_URL", user_server)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    return Pages(user_server)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where benchmarks land."""
    (tmp_path / "output").mkdir()
    return tmp_path / "output"


@pytest.fixture(autouse=True)
def collected_here() -> Iterator[None]:
    """Prefect leaves its client's sockets to the garbage collector: collect them where that is known of."""
    yield
    gc.collect()
