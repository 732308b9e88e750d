"""Our own Prefect server, where none is configured: a child on 127.0.0.1, with its home beside the benchmarks.

Not Prefect's ephemeral one, which outlives a killed parent, gives up after 20 s on a slow machine and loses
most of what it is told (measured; docs/cli.md). Prefect reads its settings when it is imported: that happens
in `prefect_server`, while the server starts, and nothing may import it at its top.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import http.client
import importlib
import os
import secrets
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from longbeam.errors import LongbeamError, StoreError, UserError
from longbeam.flows.server_child import GRACE_S
from longbeam.models import cache_folder
from longbeam.store import put_in_place, scratch_beside, write_atomically

START_TIMEOUT_S = 180.0
"""The first start creates Prefect's database: 14 s on two cores, several times that on a busy machine."""
POLL_S = 0.05
LOOPBACK = "127.0.0.1"
DATABASE = "prefect.db"
PORT = 4200
"""Prefect's own port, which our server takes where it is free."""
QUIET = {
    # What escapes a flow reaches the caller as an exception; printed by Prefect too, it would come twice.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_FLOW_RUNS_LEVEL": "CRITICAL",
    "DO_NOT_TRACK": "1",
}
"""Settings of a command that uses Prefect: logs go to the server, not to the terminal."""
INSTEAD = "`--runner inline`, which does the same work without Prefect"


def is_configured() -> bool:
    """Return whether the environment or a profile names a Prefect server; Prefect itself is not imported."""
    if find_spec("prefect") is None:
        return False
    if os.environ.get("PREFECT_API_URL"):
        return True
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    try:
        profiles = tomllib.loads((home / "profiles.toml").read_text(encoding="utf-8"))
        active = os.environ.get("PREFECT_PROFILE") or profiles.get("active")
        return bool(profiles.get("profiles", {}).get(active, {}).get("PREFECT_API_URL"))
    except (OSError, ValueError, AttributeError):
        return False


def server_settings(home: Path, port: int, host: str = LOOPBACK) -> dict[str, str]:
    """Return the environment variables of the server and its client: nothing phones home, nothing is lost.

    A server that other machines can reach asks for a password made for this run; workers receive it with their tasks.
    """
    url = f"http://{host}:{port}/api"
    secret = f"longbeam:{secrets.token_urlsafe(24)}"
    locked = {"PREFECT_SERVER_API_AUTH_STRING": secret, "PREFECT_API_AUTH_STRING": secret}
    return {
        **(locked if host != LOOPBACK else {}),
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": url,
        "PREFECT_SERVER_UI_API_URL": url,
        # Else the pages are unpacked into site-packages, which may be read-only.
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "ui"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
        **QUIET,
        # A server that has died is noticed in one minute, not three.
        "PREFECT_CLIENT_MAX_RETRIES": "2",
        # With the recorder's default batch sizes, task runs are lost when the server stops.
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
        # Whole seconds: the recorder cuts fractions off, and with .5 its loop never slept and took all of a core.
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "[]",
        "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    }


@asynccontextmanager
async def prefect_server(home: Path, host: str = LOOPBACK, say: Callable[[str], None] = print) -> AsyncIterator[str]:
    """Yield the API's address while a server runs; in the block Prefect is imported and set up for it.

    `host` is the address of this machine that it listens at; `say` receives the address of its pages, before it starts.

    The server stops with the block, and with this process however it ends. Raises LongbeamError, with the
    server's last words, when it does not start; StoreError when `home` cannot be written.
    """
    home = _make_home(home)
    with contextlib.closing(socket.socket()) as listener:
        _listen(listener, host)
        port = listener.getsockname()[1]
        settings = server_settings(home, port, host)
        log = home / f"server-{os.getpid()}.log"
        say(f"Prefect's pages: http://{host}:{port} until this command ends. To keep them: {keeping(home)}")
        async with _only_one_starting(home):
            _remove_logs_of_killed(home)
            is_new = _begin_with_prepared(home / DATABASE)
            child = _start(listener, settings, log)
            try:
                with _environment(settings, host):
                    importing = asyncio.to_thread(importlib.import_module, "prefect")  # 2 s, of no use later
                    await asyncio.gather(_wait_until_ready(child, (host, port), log), importing)
                if is_new:
                    _keep_prepared(home / DATABASE)
            except BaseException:
                await _stop(child)
                raise
    try:
        with _environment(settings, host):
            yield settings["PREFECT_API_URL"]
    except Exception as exc:
        if child.poll() is None:
            raise
        # What Prefect's client says of a server that is gone is long, and no fault of the run.
        raise LongbeamError(
            f"the Prefect server ended with code {child.returncode} during the run: {_last_line(log)}; nothing "
            f"is lost: go on with `longbeam resume`, or with {INSTEAD}"
        ) from exc
    finally:
        # Shielded: Ctrl-C pressed twice must not leave the child to its watch.
        await asyncio.shield(_stop(child))
        log.unlink(missing_ok=True)


def keeping(home: Path) -> str:
    """Return the command that serves the same pages for as long as it runs."""
    return f"PREFECT_HOME={shlex.quote(str(home))} prefect server start"


def own_host(address: str, asked: str) -> str:
    """Return the address under which workers of the cluster at `address` reach this machine."""
    if asked:
        return asked
    if not address:
        return LOOPBACK
    parts = urlsplit(address if "//" in address else f"//{address}")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((parts.hostname or LOOPBACK, parts.port or 9))  # nothing is sent
            return str(probe.getsockname()[0])
    except (OSError, ValueError) as exc:
        raise UserError(f"--address {address!r}: {exc}; write it as in tcp://10.0.0.5:8786") from exc


@contextmanager
def quiet_prefect() -> Iterator[None]:
    """Keep Prefect's logs off the terminal while the block lasts, where the user did not ask for them."""
    before = dict(os.environ)
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        yield
    finally:
        for name in QUIET.keys() - before.keys():
            del os.environ[name]


def _make_home(home: Path) -> Path:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StoreError(f"{home}: cannot make Prefect's home: {exc.strerror}; there is {INSTEAD}") from exc
    return home.resolve()


def _prepared() -> Path:
    """A database as this version of Prefect makes it, without any run: making one takes 6 s, copying one none."""
    return cache_folder() / f"prefect-{version('prefect')}.db"


def _begin_with_prepared(database: Path) -> bool:
    """Copy the prepared database where there is none; return whether the server must make one."""
    if database.exists():
        return False
    try:
        write_atomically(database, _prepared().read_bytes())
    except OSError:
        return True
    return False


def _keep_prepared(database: Path) -> None:
    """Keep a new database for the next folder; a cache that cannot be written only costs time."""
    with contextlib.suppress(StoreError, sqlite3.Error), scratch_beside(_prepared()) as folder:
        copy = folder / DATABASE
        with contextlib.closing(sqlite3.connect(database)) as made, contextlib.closing(sqlite3.connect(copy)) as kept:
            made.backup(kept)
        put_in_place(copy, _prepared())


def _listen(listener: socket.socket, host: str) -> None:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the port of the command before
    with contextlib.suppress(OSError):  # in use
        listener.bind((host, PORT))
        return
    try:
        listener.bind((host, 0))
    except OSError as exc:
        raise UserError(f"--host {host!r} is no address of this machine: {exc.strerror or exc}") from exc


def _start(listener: socket.socket, settings: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "longbeam.flows.server_child", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=[listener.fileno()],
            env={**_foreign_environment(), **settings, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            cwd=settings["PREFECT_HOME"],  # away from a prefect.toml or .env of the caller's folder
            start_new_session=True,  # Ctrl-C is ours to hear: the server must live until the runs are closed
        )


async def _wait_until_ready(child: subprocess.Popen[bytes], address: tuple[str, int], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not await asyncio.to_thread(_is_healthy, *address):
        if child.poll() is not None:
            raise LongbeamError(
                f"the Prefect server ended with code {child.returncode} while starting: {_last_line(log)} "
                f"(all of it: {log}); there is {INSTEAD}"
            )
        if time.monotonic() > deadline:
            raise LongbeamError(
                f"the Prefect server was not ready after {START_TIMEOUT_S:.0f} s (see {log}); there is {INSTEAD}"
            )
        await asyncio.sleep(POLL_S)


def _is_healthy(host: str, port: int) -> bool:
    # http.client takes no notice of proxies, which would not know our 127.0.0.1.
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


async def _stop(child: subprocess.Popen[bytes]) -> None:
    """Close the child's stdin, which stops it; kill it if it has not heard."""
    assert child.stdin is not None
    child.stdin.close()
    try:
        await asyncio.to_thread(child.wait, GRACE_S + 2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _remove_logs_of_killed(home: Path) -> None:
    for log in home.glob("server-*.log"):
        try:
            os.kill(int(log.stem.removeprefix("server-")), 0)
        except ProcessLookupError:
            log.unlink(missing_ok=True)
        except (OSError, ValueError):  # somebody else's process, or no log of ours
            continue


@asynccontextmanager
async def _only_one_starting(home: Path) -> AsyncIterator[None]:
    """Let one process at a time start a server here: two would both create the database."""
    with (home / "starting.lock").open("wb") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(POLL_S)
        yield


@contextmanager
def _environment(settings: Mapping[str, str], host: str) -> Iterator[None]:
    """Set this process's environment for Prefect, and put it back."""
    before = dict(os.environ)
    direct = {name: ",".join(filter(None, [before.get(name), host])) for name in ("NO_PROXY", "no_proxy")}
    os.environ.clear()
    os.environ.update({**_foreign_environment(before), **settings, **direct})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _foreign_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without settings for some other Prefect server: its address, its key, its profile."""
    source = os.environ if environment is None else environment
    return {name: value for name, value in source.items() if not name.startswith("PREFECT_")}


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "it said nothing")
