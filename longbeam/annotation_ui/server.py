"""Server of the review app: listens on one address until it is stopped."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from longbeam.annotation_ui.app import create_app
from longbeam.annotation_ui.security import Access, Reach, open_access
from longbeam.errors import StoreError, UserError
from longbeam.review.log import ReviewLog
from longbeam.review.people import Viewer
from longbeam.review.rubric_trial import RubricJudge
from longbeam.review.workspace import open_workspace
from longbeam.store.layout import Benchmark

FOLD_EVERY_S = 5.0
"""Longest time that an event is in the write-ahead log only."""


@dataclass(frozen=True)
class Certificate:
    """Files with which the server speaks HTTPS."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class ServerOptions:
    """Options of one run of the server."""

    reach: Reach
    port: int
    """0 takes a free port."""
    settings: Mapping[str, int]
    """Settings of the review; those that are not in force yet become events."""
    certificate: Certificate | None = None


def serve(
    benchmark: Benchmark,
    judge: RubricJudge,
    options: ServerOptions,
    on_ready: Callable[[str, Mapping[str, str]], None],
) -> None:
    """Serve until SIGINT or SIGTERM.

    `on_ready` receives the base URL and, if access needs a token, the link of each reviewer. Raises UserError if the
    address cannot be listened on.
    """
    host, given = options.reach.host, options.certificate
    with (
        open_workspace(benchmark, judge, options.settings) as workspace,
        _listening(host, options.port) as listener,
        _folding(workspace.log),
    ):
        access = open_access(workspace.log.store, benchmark.spec.name, options.reach)
        base = f"{'https' if given else 'http'}://{_shown(host)}:{listener.getsockname()[1]}"
        on_ready(base, invitations(access, base))
        config = uvicorn.Config(
            create_app(workspace, access),
            log_level="warning",
            access_log=False,
            lifespan="off",
            ssl_certfile=given.certificate if given else None,
            ssl_keyfile=given.key if given else None,
        )
        uvicorn.Server(config).run(sockets=[listener])


def invitations(access: Access, base: str) -> dict[str, str]:
    """Return the personal link of each reviewer; empty if reviewers choose their names."""
    if not access.reach.needs_token:
        return {}
    return {name: f"{base}/join/{access.invitation(Viewer(name, role))}" for name, role in access.reach.offered.items()}


def _shown(host: str) -> str:
    """Return the host as addresses name it: of a server on all addresses, the one that other machines reach."""
    if host in ("0.0.0.0", "::"):
        host = _own_address()
    return f"[{host}]" if ":" in host else host


def _own_address() -> str:
    """Return the address of this machine in its network; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # reserved for documentation: only the route to it is looked up
        return str(probe.getsockname()[0])
    return socket.gethostname()


@contextmanager
def _folding(log: ReviewLog) -> Iterator[None]:
    """Copy the write-ahead log into the file every few seconds if it has grown, so that a plain copy is whole."""
    stopped = threading.Event()

    def fold() -> None:
        folded = -1
        while not stopped.wait(FOLD_EVERY_S):
            position = log.position
            if position != folded:
                with suppress(StoreError):  # locked just now: the next turn comes soon
                    folded = position if log.store.fold() else folded

    thread = threading.Thread(target=fold, name="fold", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)  # before the address is printed: a client may connect at once
    except OSError as exc:
        raise UserError(f"--host {host} --port {port}: cannot listen there: {exc.strerror}; choose another") from exc
    with listener:
        yield listener
