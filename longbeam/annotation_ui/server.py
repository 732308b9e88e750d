"""Runs the review app on one address until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import uvicorn

from longbeam.annotation_ui.app import create_app
from longbeam.annotation_ui.archive import Archive
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.log import BENCHMARK_ITEM, ReviewLog, new_event
from longbeam.annotation_ui.people import Viewer
from longbeam.annotation_ui.security import Access, open_access
from longbeam.errors import UserError
from longbeam.schemas.review import EventKind, ReviewerRole
from longbeam.store.layout import Benchmark
from longbeam.store.reviews import ReviewStore

OWNER = "longbeam"
"""Whose settings are those of the command line."""


@contextmanager
def open_desk(benchmark: Benchmark, settings: Mapping[str, int] | None = None) -> Iterator[Desk]:
    """Yield the desk of a benchmark; settings that are not in force yet become events."""
    with ReviewStore(benchmark.reviews_path) as store:
        log = ReviewLog(store)
        log.refresh()
        in_force = log.settings().model_dump()
        changed = {name: value for name, value in (settings or {}).items() if in_force[name] != value}
        log.append(
            *(
                new_event(EventKind.CONFIGURED, BENCHMARK_ITEM, OWNER, target=n, before=in_force[n], after=v)
                for n, v in changed.items()
            )
        )
        yield Desk(Archive(benchmark), log)


def serve(
    benchmark: Benchmark,
    *,
    host: str,
    port: int,
    settings: Mapping[str, int],
    reviewers: Mapping[str, ReviewerRole],
    needs_token: bool,
    allowed_hosts: frozenset[str],
    on_ready: Callable[[str, Mapping[str, str]], None],
) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` gets the base URL and, where one is needed, the link of each reviewer.

    Raises UserError when the address cannot be listened on.
    """
    with open_desk(benchmark, settings) as desk, _listening(host, port) as listener:
        access = open_access(
            desk.log.store,
            benchmark.spec.name,
            host=host,
            needs_token=needs_token,
            offered=reviewers,
            extra_hosts=allowed_hosts,
        )
        shown = f"[{host}]" if ":" in host else host
        base = f"http://{shown}:{listener.getsockname()[1]}"
        on_ready(base, invitations(access, base))
        config = uvicorn.Config(create_app(desk, access), log_level="warning", access_log=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])


def invitations(access: Access, base: str) -> dict[str, str]:
    """Return the link that lets each reviewer in; none where names are chosen."""
    if not access.needs_token:
        return {}
    return {name: f"{base}/join/{access.invitation(Viewer(name, role))}" for name, role in access.offered.items()}


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)  # whoever reads the address may connect at once
    except OSError as exc:
        raise UserError(f"--host {host} --port {port}: cannot listen there: {exc.strerror}; choose another") from exc
    with listener:
        yield listener
