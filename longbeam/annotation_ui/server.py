"""Server of the review app: listens on one address until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from longbeam.annotation_ui.app import create_app
from longbeam.annotation_ui.security import Access, Reach, open_access
from longbeam.errors import UserError
from longbeam.review.people import Viewer
from longbeam.review.rubric_trial import RubricJudge
from longbeam.review.workspace import open_workspace
from longbeam.store.layout import Benchmark


@dataclass(frozen=True)
class ServerOptions:
    """Options of one run of the server."""

    reach: Reach
    port: int
    """0 takes a free port."""
    settings: Mapping[str, int]
    """Settings of the review; those that are not in force yet become events."""


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
    host = options.reach.host
    with open_workspace(benchmark, judge, options.settings) as workspace, _listening(host, options.port) as listener:
        access = open_access(workspace.log.store, benchmark.spec.name, options.reach)
        shown = f"[{host}]" if ":" in host else host
        base = f"http://{shown}:{listener.getsockname()[1]}"
        on_ready(base, invitations(access, base))
        config = uvicorn.Config(create_app(workspace, access), log_level="warning", access_log=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])


def invitations(access: Access, base: str) -> dict[str, str]:
    """Return the personal link of each reviewer; empty if reviewers choose their names."""
    if not access.reach.needs_token:
        return {}
    return {name: f"{base}/join/{access.invitation(Viewer(name, role))}" for name, role in access.reach.offered.items()}


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
