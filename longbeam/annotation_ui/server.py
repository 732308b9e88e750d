"""The review app and its server: routes, static files, refusals as JSON; it listens on one address until stopped."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import JsonValue
from starlette.exceptions import HTTPException

from longbeam.annotation_ui import acts, pages
from longbeam.annotation_ui.rendering import STATIC
from longbeam.annotation_ui.security import Access, Guard, Reach, open_access
from longbeam.errors import StoreError, UserError
from longbeam.review import (
    Checker,
    PeopleProblem,
    Refusal,
    ReviewLog,
    RubricJudge,
    Viewer,
    Workspace,
    forbidden,
    open_workspace,
    stamp_of,
)
from longbeam.store import Benchmark

_STATUS = {"not_found": 404, "forbidden": 403, "csrf": 403, "signed_out": 403, "invalid": 422}
"""HTTP status by kind of refusal; all other kinds are conflicts with the state of the item: 409."""


def create_app(workspace: Workspace, access: Access) -> FastAPI:
    """Return the app over one benchmark."""
    # No documentation pages of FastAPI's: they load scripts from elsewhere. The schema itself is at /api/openapi.json.
    app = FastAPI(title="longbeam review", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    app.state.workspace, app.state.access, app.state.checker = workspace, access, Checker(workspace)
    app.include_router(acts.router)
    app.include_router(acts.aids)
    app.include_router(pages.router)
    app.add_api_route("/join/{token}", join, methods=["GET"], include_in_schema=False, response_model=None)
    app.mount(pages.STATIC_PATH, StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _missing)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UserError, _broken)
    app.add_middleware(Guard, access=access)
    return app


def join(request: Request, token: str) -> Response:
    """Let in the reviewer whose personal link this is."""
    access: Access = request.app.state.access
    viewer = access.invited(token)
    if not viewer.can_write:
        raise forbidden("this link has ended or is of another benchmark; ask the lead of the review for a new one")
    answer = RedirectResponse("/queue", status_code=303)
    access.keep_session(answer, viewer)
    return answer


def _refused(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, Refusal)
    return _answer(request, exc.problem, _STATUS.get(exc.problem.error, 409))


def _missing(request: Request, exc: Exception) -> Response:
    """Answer for an address that no route has."""
    assert isinstance(exc, HTTPException)
    kind = "not_found" if exc.status_code == 404 else "invalid"
    message = f"there is no page {request.url.path}" if exc.status_code == 404 else str(exc.detail)
    return _answer(request, PeopleProblem(error=kind, message=message), exc.status_code)


def _answer(request: Request, problem: PeopleProblem, status: int) -> Response:
    """Return a refusal as a page to a browser that asks for one, and as JSON to a script."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return pages.problem_page(request, problem, status)
    return JSONResponse(problem.model_dump(mode="json"), status_code=status)


def _invalid(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    first = exc.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    problem = PeopleProblem(error="invalid", message=f"{where}: {first['msg']}")
    return _answer(request, problem, 422)


def _broken(request: Request, exc: Exception) -> Response:
    """Answer for a file that cannot be read or written; the message names the file and the remedy."""
    return _answer(request, PeopleProblem(error="store", message=str(exc)), 503)


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
    settings: Mapping[str, JsonValue]
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
        listening(host, options.port) as listener,
        _folding(workspace.log),
        _checking(workspace),
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
def _checking(workspace: Workspace) -> Iterator[None]:
    """Run `validate` in a process of its own if the benchmark was not checked since its last conversation was sealed.

    At 10M tokens this takes minutes and hundreds of megabytes, which the server's own process must not lend.
    """
    benchmark = workspace.archive.benchmark
    sealed = [stamp_of(benchmark.sealed_path(i))[0] for i in benchmark.sealed_ids]
    if not sealed or stamp_of(benchmark.database_path)[0] >= max(sealed):
        yield
        return
    command = [sys.executable, "-m", "longbeam", "validate", benchmark.spec.name, "--out", str(benchmark.root.parent)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    workspace.is_checking = True

    def wait() -> None:
        process.wait()
        workspace.is_checking = False

    waiting = threading.Thread(target=wait, name="checking", daemon=True)
    waiting.start()
    try:
        yield
    finally:
        process.terminate()
        waiting.join(10)


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens on an address; UserError if that is refused."""
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
