"""Our Prefect server child, for real: 6 to 14 s a start."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from longbeam.errors import LongbeamError, StoreError
from longbeam.flows import is_configured, prefect_server, server, server_settings
from tests.flows.processes import is_alive, servers_of

# Prefect leaves its client's sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


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


async def test_a_new_home_begins_with_the_prepared_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with prefect_server(tmp_path / "first"):
        pass
    (kept,) = (tmp_path / "cache" / "longbeam").iterdir()
    with closing(sqlite3.connect(kept)) as db:
        db.execute("CREATE TABLE mark (x)")
    async with prefect_server(tmp_path / "second"):
        pass
    with closing(sqlite3.connect(tmp_path / "second" / "prefect.db")) as db:
        assert db.execute("SELECT count(*) FROM mark").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM flow_run").fetchone() == (0,)


async def test_a_home_that_cannot_be_made_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot make Prefect's home"):
        async with prefect_server(tmp_path / "file" / ".prefect"):
            pass


def test_a_server_is_configured_by_the_environment_or_the_active_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.delenv("PREFECT_PROFILE", raising=False)
    assert not is_configured()
    profiles = 'active = "local"\n[profiles.local]\n[profiles.cloud]\nPREFECT_API_URL = "http://127.0.0.1:1/api"\n'
    (tmp_path / "profiles.toml").write_text(profiles)
    assert not is_configured()
    monkeypatch.setenv("PREFECT_PROFILE", "cloud")
    assert is_configured()
    monkeypatch.setenv("PREFECT_PROFILE", "no such profile")
    assert not is_configured()
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    assert is_configured()


def test_nothing_phones_home(tmp_path: Path) -> None:
    settings = server_settings(tmp_path, 1)
    assert settings["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert settings["DO_NOT_TRACK"] == "1"
    assert {v for v in settings.values() if v.startswith("http")} == {"http://127.0.0.1:1/api"}


def test_the_recorder_sleeps_between_flushes(tmp_path: Path) -> None:
    """It takes the interval as a whole number: of a fraction nothing is left, and its loop would never sleep."""
    interval = server_settings(tmp_path, 4200)["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL"]
    assert int(float(interval)) >= 1


def test_importing_the_server_module_does_not_import_prefect() -> None:
    code = "import longbeam.flows.runner, sys; print('prefect' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
    assert server.START_TIMEOUT_S > 60
