"""Serve an ASGI app with uvicorn, the one web server of the package.

Callers bring the app, and turn an OSError of `open_listener` into a message about their own options.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import uvicorn

LOOPBACK = "127.0.0.1"
_BACKLOG = 1_024
_KEEP_ALIVE_S = 75
"""Longer than clients keep their idle connections, so that none sends a request while it is hung up on."""

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI 3 application."""


def foreign_page(headers: Mapping[str, str]) -> str:
    """Return why a request that changes something is not taken: a page of another site sends it. Empty if none does."""
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host"):
        return f"requests from {origin} are not taken"
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return "requests from other sites are not taken"
    return ""


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; port 0 takes a free one. Raises OSError where that is refused."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # asyncio switches Nagle's algorithm off only for sockets that name their protocol. With it, the body of an answer
    # waits 40 ms until its headers, a packet of their own in uvicorn, are acknowledged.
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)  # whoever reads the address may connect at once
    except OSError:
        listener.close()
        raise
    return listener


@asynccontextmanager
async def serving(app: App, listener: socket.socket, *, log_level: str = "error") -> AsyncIterator[str]:
    """Serve on the listener as long as the block lasts, and yield the base URL; close the listener at the end.

    Requests that are not answered by then are cancelled. Signals are left to the caller. `log_level` is uvicorn's,
    which logs an answer that the app broke off as an error.
    """
    config = uvicorn.Config(
        app,
        interface="asgi3",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level=log_level,
        date_header=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=0,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # Not `serve()`: that one takes over the process's signals, and polls whether it should end.
    await server.startup(sockets=[listener])
    try:
        host, port = listener.getsockname()[:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}"
    finally:
        await server.shutdown(sockets=[listener])
        if requests := server.server_state.tasks:
            await asyncio.wait(requests)  # a request may still record a reply that is paid for
