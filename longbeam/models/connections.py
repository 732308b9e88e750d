"""HTTP/1.1 POSTs to one address over connections that are kept, with as little CPU as they need.

A model call is one POST with one reply, as JSON or as a stream of events; leaving out sessions, cookies, redirects and
content codings saves four fifths of the transport's CPU (docs/design/0012-transport-and-limits.md). asyncio connects
and encrypts, httptools (llhttp, the parser of Node) reads what comes back. A proxy of the environment is used, by
CONNECT for https. Heads and bodies have a size limit, which is counted while they arrive.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from httptools import HttpParserError, HttpResponseParser

CONNECT_TIMEOUT_S = 20.0
KEEP_ALIVE_S = 4.0
"""Uvicorn, and so vLLM, hangs up after five seconds of silence; a request sent in that moment would be lost."""
MOST_HEAD_BYTES = 64 * 1024
"""Size limit of an answer's status line and headers; servers and proxies send one or two kilobytes."""
MOST_BYTES = 8 * 1024**2
"""Size limit of an answer where the caller names none."""
STREAM_FACTOR = 32
"""Size limit of a stream as a factor of a whole answer's: each event repeats the names around a token, none is kept."""
EVENT_STREAM = "text/event-stream"
_PORTS = {"http": 80, "https": 443}


class Unreachable(Exception):
    """No connection could be made; the message says why."""


class BrokenOff(Exception):
    """The connection ended, or what came is no HTTP, before the answer was whole; the message says why."""


class TooLarge(Exception):
    """The answer exceeded its limit, and the connection was closed; the message says which part and which limit."""


class Events(Protocol):
    """Receiver of the body of an event stream, piece by piece."""

    def feed(self, data: bytes) -> bool:
        """Take in a piece; returns whether that is enough, upon which the connection is closed.

        A TooLarge or ValueError that it raises is raised by the request.
        """


@dataclass(frozen=True)
class Answer:
    """The response to a request."""

    status: int
    body: bytes
    """Empty for an event stream that the request's `events` received."""
    raw_headers: Sequence[tuple[bytes, bytes]]
    is_stream: bool = False
    """Whether `events` received the body."""

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """By name in small letters; of two of one name the last."""
        return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self.raw_headers}


class Connections:
    """The connections to one address. For one event loop; as many are open as there are requests at a time."""

    def __init__(
        self, address: str, headers: Mapping[str, str], *, create_ssl_context: Callable[[], ssl.SSLContext]
    ) -> None:
        """`headers` go with each request; `create_ssl_context` is called for an https address.

        Raises ValueError for a proxy that is neither http:// nor https://.
        """
        url = urlsplit(address)
        self._host, self._port = url.hostname or "", url.port or _PORTS[url.scheme]
        self._tls = create_ssl_context() if url.scheme == "https" else None
        self._proxy = proxy_of(url)
        self._idle: list[tuple[_Connection, float]] = []
        self._open: set[_Connection] = set()
        target = url.path or "/"
        if self._proxy is not None and self._tls is None:
            target = f"http://{url.netloc}{target}"
            headers = {**headers, **_proxy_authorization(self._proxy)}
        self._head = _head(f"POST {target}", {"Host": url.netloc, **headers}) + b"Content-Length: "

    async def post(
        self, parts: Sequence[bytes], *, events: Events | None = None, most_bytes: int = MOST_BYTES
    ) -> Answer:
        """Send a body, given in parts, and return the answer of at most `most_bytes`, or STREAM_FACTOR times as many.

        `events` receives the body of an answer that is an event stream. Raises Unreachable, BrokenOff or TooLarge.
        """
        length = sum(map(len, parts))
        # One copy, and one packet for a short request: the server wakes up once.
        request = b"".join((self._head, b"%d\r\n\r\n" % length, *parts))
        while True:
            kept = self._kept()
            connection = kept or await self._connected()
            try:
                answer = await connection.ask(request, events=events, most_bytes=most_bytes)
            except BaseException as exc:
                connection.close()
                # llama.cpp hangs up behind a stream although it announces to keep the connection. Where a request met
                # that, no byte of an answer came: it is sent again on another connection.
                if kept is not None and isinstance(exc, BrokenOff) and not connection.has_received:
                    continue
                raise
            if connection.is_usable:
                self._idle.append((connection, time.monotonic()))
            return answer

    def close(self) -> None:
        """Close all connections."""
        self._idle.clear()
        for connection in tuple(self._open):
            connection.close()

    def _kept(self) -> _Connection | None:
        while self._idle:
            connection, since = self._idle.pop()  # the one used last: the others may time out
            if connection.is_usable and time.monotonic() - since < KEEP_ALIVE_S:
                return connection
            connection.close()
        return None

    async def _connected(self) -> _Connection:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                if self._proxy is None:
                    return await self._opened(self._host, self._port, self._tls)
                proxy, scheme = self._proxy, self._proxy.scheme
                tls = ssl.create_default_context() if scheme == "https" else None
                connection = await self._opened(proxy.hostname or "", proxy.port or _PORTS[scheme], tls)
                return connection if self._tls is None else await self._tunnelled(connection, self._tls)
        except TimeoutError as exc:
            raise Unreachable(str(exc) or f"no connection within {CONNECT_TIMEOUT_S:g} s") from exc
        except (OSError, UnicodeError, BrokenOff, TooLarge) as exc:
            raise Unreachable(str(exc)) from exc

    async def _opened(self, host: str, port: int, tls: ssl.SSLContext | None) -> _Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(lambda: _Connection(self._open.discard), host, port, ssl=tls)
        self._open.add(connection)
        return connection

    async def _tunnelled(self, through: _Connection, tls: ssl.SSLContext) -> _Connection:
        """Have the proxy connect to the address, and encrypt from here to there."""
        assert self._proxy is not None
        where = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
        try:
            headers = {"Host": where, **_proxy_authorization(self._proxy)}
            answer = await through.ask(_head(f"CONNECT {where}", headers) + b"\r\n", is_connect=True)
            if answer.status != 200:
                raise OSError(f"the proxy {self._proxy.hostname} answers HTTP {answer.status}")
            connection = _Connection(self._open.discard)
            loop = asyncio.get_running_loop()
            transport = await loop.start_tls(through.transport, connection, tls, server_hostname=self._host)
        except BaseException:
            through.close()
            raise
        if transport is None:
            raise OSError("the proxy hung up")
        connection.connection_made(transport)
        self._open.discard(through)
        self._open.add(connection)
        return connection


class _Connection(asyncio.Protocol):
    """One connection, with one request on its way at a time. The methods named `on_` are the parser's."""

    def __init__(self, on_lost: Callable[[_Connection], None]) -> None:
        self._on_lost = on_lost
        self._parser = HttpResponseParser(self)
        self._waiting: asyncio.Future[Answer] | None = None
        self._is_connect = False
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._has_head = False
        self._events: Events | None = None
        self._is_stream = False
        self._received, self._most_bytes = 0, MOST_BYTES
        self.is_usable = False

    def ask(
        self,
        request: bytes,
        *,
        is_connect: bool = False,
        events: Events | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> asyncio.Future[Answer]:
        """Send a request; gives its answer, BrokenOff or TooLarge. The answer to CONNECT is its head."""
        self._is_connect, self._has_head = is_connect, False
        self._events, self._is_stream = events, False
        self._received, self._most_bytes = 0, most_bytes
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._waiting

    @property
    def has_received(self) -> bool:
        """Whether a byte of the answer to the last request came."""
        return self._received > 0

    def close(self) -> None:
        """Hang up, whatever is on its way."""
        self.is_usable = False
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.is_usable = True

    def data_received(self, data: bytes) -> None:
        # All bytes count, so that neither chunk extensions nor trailers are without a limit.
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserError as exc:
            cause = exc.__context__
            if isinstance(cause, TooLarge | ValueError):  # the events' receiver raised it
                self._fail(cause)
            else:
                self._fail(BrokenOff(f"what came is no HTTP: {exc}"))
            return
        if self._waiting is None:
            return
        if not self._has_head and self._received > MOST_HEAD_BYTES:
            self._fail(TooLarge(f"headers of more than {MOST_HEAD_BYTES:,} bytes"))
        elif self._received > self._most_bytes:
            self._fail(TooLarge(f"an answer of more than {self._most_bytes:,} bytes"))

    def on_message_begin(self) -> None:
        self._headers, self._body = [], []

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._has_head = self._parser.get_status_code() >= 200
        if self._is_connect:
            self.on_message_complete()
        elif self._events is not None and self._has_head:
            self._is_stream = self._parser.get_status_code() == 200 and _is_event_stream(self._headers)
            if self._is_stream:
                self._most_bytes *= STREAM_FACTOR

    def on_body(self, data: bytes) -> None:
        if not self._is_stream:
            self._body.append(data)
        elif self._waiting is not None and self._events is not None and self._events.feed(data):
            self._give(is_usable=False)
            self.close()

    def on_message_complete(self) -> None:
        if not self._has_head:  # "100 Continue" and its like come before the answer
            return
        if self._waiting is None:
            self.close()  # nobody had asked, or nobody waits any longer
        else:
            self._give(is_usable=self._parser.should_keep_alive())

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_usable = False
        self._on_lost(self)
        lengths = {b"content-length", b"transfer-encoding"}
        if exc is None and self._has_head and not any(name.lower() in lengths for name, _ in self._headers):
            self.on_message_complete()  # where no length is given, the end of the connection is that of the body
        self._fail(BrokenOff(str(exc or "") or "the endpoint hung up"))

    def _give(self, *, is_usable: bool) -> None:
        waiting, self._waiting = self._waiting, None
        self.is_usable, self._events = is_usable, None
        body, self._body = b"".join(self._body), []
        if waiting is not None and not waiting.done():
            waiting.set_result(Answer(self._parser.get_status_code(), body, self._headers, self._is_stream))

    def _fail(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, None
        self._events, self._body = None, []
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)
        self.close()


def proxy_of(url: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) or the system names, if any.

    Raises ValueError for one that is neither http:// nor https://.
    """
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named or proxy_bypass(url.netloc):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme not in _PORTS or not proxy.hostname:
        raise ValueError(
            f"the proxy {proxy.scheme}://{proxy.hostname or ''} of the environment is not http:// or https://"
        )
    return proxy


def _is_event_stream(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and EVENT_STREAM.encode() in value.lower() for name, value in headers)


def _proxy_authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _head(request: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{request} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), ""]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header holds a line break")
    return "\r\n".join(lines).encode("latin-1")
