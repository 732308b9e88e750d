"""The `openai` package's client for one endpoint, over an httpx2 transport that trusts the endpoint with nothing.

All requests to endpoints go this way: calls, batches, embeddings. The transport counts the bytes of heads and bodies
while they arrive and hangs up beyond a limit. It follows no redirection, keeps no cookies, undoes no content coding (a
kilobyte may unpack to a gigabyte), and sends no header that tells the endpoint about this machine. A proxy of the
environment is used. Imported with the first client: the packages take 0.8 s to load.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
import openai

from longbeam.errors import ProviderError
from longbeam.models.provider_errors import HttpAnswer, TooLarge, error_of_status
from longbeam.terminal import printable

with suppress(ImportError):
    # openai looks for httpx among the loaded modules, and finds half of it while a memory system's thread loads it.
    import httpx  # noqa: F401

CONNECT_TIMEOUT_S = 20.0
READ_BYTES = 64 * 1024
"""Held back of an answer that is not read as fast as it comes, twice."""
KEEP_ALIVE_S = 4.0
"""Uvicorn, and so vLLM, hangs up after five seconds of silence; a request sent in that moment would be lost."""
MOST_HEAD_BYTES = 64 * 1024
"""Size limit of an answer's status line and headers; servers and proxies send one or two kilobytes."""
MOST_BYTES = 8 * 1024**2
"""Size limit of an answer where the caller names none."""
STREAM_FACTOR = 32
"""Size limit of a stream as a factor of a whole answer's: each event repeats the names around a token, none is kept."""
EVENT_STREAM = "text/event-stream"
SENT_HEADERS = frozenset(
    {
        b"accept", b"authorization", b"content-length", b"content-type", b"host", b"transfer-encoding", b"user-agent",
        b"openai-organization", b"openai-project",
    }
)  # fmt: skip
"""Headers of a request that are sent; the package's others tell OpenAI about this machine."""
_MOST_HEADER = "x-most-bytes"
"""Header by which a request tells the transport the size limit of its answer; it is not sent."""


class _Exchange:
    """One request and the bytes of its answer. Reset by the first bytes that are sent on a connection."""

    __slots__ = ("is_kept", "is_tunnel", "most", "part", "received")

    def __init__(self) -> None:
        self.begin(is_kept=False, is_tunnel=False)

    def begin(self, *, is_kept: bool, is_tunnel: bool) -> None:
        """Note that a request was sent: on a connection that had served before, or to a proxy for a tunnel."""
        self.is_kept, self.is_tunnel = is_kept, is_tunnel
        self.received, self.most, self.part = 0, MOST_HEAD_BYTES, "headers"

    def allow(self, most: int) -> None:
        """Set the limit of the whole answer, when its head was received."""
        self.most, self.part = most, "an answer"

    def count(self, size: int) -> None:
        """Add received bytes; raises TooLarge."""
        # All bytes count, so that neither chunk extensions nor trailers are without a limit.
        self.received += size
        if self.received > self.most:
            raise TooLarge(f"{self.part} of more than {self.most:,} bytes")


_EXCHANGE: ContextVar[_Exchange] = ContextVar("exchange")
"""The request that the running task sends: the pool does not tell a connection whose bytes it carries."""


class _CappedReader(asyncio.StreamReader):
    """A reader that knows how much of what came was not yet read."""

    waiting = 0

    def feed_data(self, data: Any) -> None:  # Any: bytes, which typeshed has as their integers
        self.waiting += len(data)
        super().feed_data(data)


class _Connection(httpcore2.AsyncNetworkStream):
    """A connection that counts what it receives."""

    def __init__(self, reader: _CappedReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._exchange: _Exchange | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        exchange = self._exchange
        assert exchange is not None
        try:
            # Time-outs of calls are those of the limits; only a proxy's tunnel and requests of batches have one here.
            async with _within(CONNECT_TIMEOUT_S if exchange.is_tunnel else timeout):
                data = await self._reader.read(max_bytes)
        except TimeoutError as exc:
            raise (httpcore2.ConnectTimeout if exchange.is_tunnel else httpcore2.ReadTimeout) from exc
        except OSError as exc:
            raise httpcore2.ReadError(str(exc)) from exc
        self._reader.waiting -= len(data)
        if not exchange.received and data[:5] != b"HTTP/"[: len(data)]:
            raise httpcore2.RemoteProtocolError(f"what came is no HTTP: {data[:40]!r}")
        exchange.count(len(data))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        exchange = _EXCHANGE.get()
        if exchange is not self._exchange:
            exchange.begin(is_kept=self._exchange is not None, is_tunnel=buffer.startswith(b"CONNECT "))
            self._exchange = exchange
        try:
            self._writer.write(buffer)
            async with _within(timeout):
                await self._writer.drain()
        except TimeoutError as exc:
            raise httpcore2.WriteTimeout from exc
        except OSError as exc:
            raise httpcore2.WriteError(str(exc)) from exc

    async def aclose(self) -> None:
        self._writer.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        try:
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname, ssl_handshake_timeout=timeout)
        except BaseException as exc:
            await self.aclose()
            if isinstance(exc, OSError):
                raise httpcore2.ConnectError(str(exc)) from exc
            raise
        return _Connection(self._reader, self._writer)

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            # Asked of an idle connection: its end came, or an answer that nobody had asked for, such as nginx's 408.
            return self._reader.waiting or self._reader.at_eof() or self._writer.is_closing()
        return self._writer.get_extra_info(info)


class _Network(httpcore2.AsyncNetworkBackend):
    """Connections of asyncio: a call costs 0.8 ms less than over anyio's, the event of a stream half."""

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *given: object, **options: object
    ) -> httpcore2.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        reader = _CappedReader(limit=READ_BYTES, loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        try:
            async with asyncio.timeout(timeout):
                transport, _ = await loop.create_connection(lambda: protocol, host, port)
        except TimeoutError as exc:
            raise httpcore2.ConnectTimeout from exc
        except (OSError, UnicodeError) as exc:
            raise httpcore2.ConnectError(str(exc)) from exc
        return _Connection(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


_WITHOUT_LIMIT = nullcontext()


def _within(timeout: float | None) -> AbstractAsyncContextManager[object]:
    return _WITHOUT_LIMIT if timeout is None else asyncio.timeout(timeout)


class CappedTransport(httpx2.AsyncHTTPTransport):
    """HTTP/1.1 to endpoints, with a limit on everything that they send. For one event loop."""

    def __init__(self, verify: ssl.SSLContext | bool, proxy: httpx2.Proxy | None, *, sends_key: bool) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=KEEP_ALIVE_S)
        super().__init__(verify=verify, trust_env=False, limits=limits, proxy=proxy)
        self._sent = SENT_HEADERS if sends_key else SENT_HEADERS - {b"authorization"}
        # httpx2 has no argument that hands a network on to the pool.
        self._pool._network_backend = _Network()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer, whose body is counted when it is read. Raises httpx2's errors and TooLarge."""
        most = int(request.headers.get(_MOST_HEADER, MOST_BYTES))
        request.headers = httpx2.Headers([(n, v) for n, v in request.headers.raw if n.lower() in self._sent])
        exchange = _Exchange()
        while True:
            before = _EXCHANGE.set(exchange)
            try:
                response = await super().handle_async_request(request)
                break
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                # llama.cpp hangs up behind a stream although it announces to keep the connection. Where a request met
                # that, no byte of an answer came: it is sent again on another connection.
                if not exchange.is_kept or exchange.received or not isinstance(request.stream, httpx2.ByteStream):
                    raise
            finally:
                _EXCHANGE.reset(before)
        exchange.allow(most * STREAM_FACTOR if is_event_stream(response) else most)
        for name in ("content-encoding", "set-cookie"):
            response.headers.pop(name, None)
        if is_event_stream(response):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _EndedStream(response.stream)
        return response


class _EndedStream(httpx2.AsyncByteStream):
    """The body of an event stream, whose last event is whole although no empty line follows it."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            yield piece
        yield b"\n\n"

    async def aclose(self) -> None:
        await self._inner.aclose()


def most_header(most_bytes: int) -> dict[str, str]:
    """Return the header of a request whose answer may have so many bytes; of a stream, STREAM_FACTOR times as many."""
    return {_MOST_HEADER: str(most_bytes)}


def is_event_stream(response: httpx2.Response) -> bool:
    """Return whether an answer is a stream of events; an error is none, whatever its headers say."""
    return response.status_code == 200 and EVENT_STREAM in response.headers.get("content-type", "").lower()


class EndpointClient:
    """The package's client of one endpoint. For one event loop; connections are made with the first request."""

    def __init__(self, base_url: str, key: str, *, where: str, redacted: Callable[[str], str]) -> None:
        """`where` begins each error. Raises ValueError for a proxy that is neither http:// nor https://."""
        self._where, self._redacted = where, redacted
        url = urlsplit(base_url)
        proxy = proxy_of(url)
        self._proxy_host = proxy.hostname if proxy is not None else None
        transport = CappedTransport(
            httpx2.create_ssl_context() if url.scheme == "https" else False,
            None if proxy is None else httpx2.Proxy(proxy.geturl()),
            sends_key=bool(key),
        )
        self.sdk = openai.AsyncOpenAI(
            api_key=key or "none",  # it wants one; without a key, none is sent
            base_url=base_url,
            max_retries=0,  # the limits above must see every refusal
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
            http_client=httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False, timeout=None),
        )

    async def complete(
        self, body: bytes, *, most_bytes: int = MOST_BYTES, on_event: Callable[[str], bool] | None = None
    ) -> HttpAnswer:
        """Send the body of a chat completion; return the answer of at most `most_bytes`. Raises ProviderError.

        `on_event` receives the data of each event of a stream, which may have STREAM_FACTOR times the size; the
        stream ends when it returns True. It may raise TooLarge, and ValueError for what is no JSON.
        """
        with self.errors():
            try:
                given: object = await self.sdk.post(
                    "/chat/completions",
                    content=body,
                    cast_to=httpx2.Response,
                    options={"headers": most_header(most_bytes)},
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
            except openai.APIStatusError as exc:
                return _answer_of(exc.response)
            response = cast(httpx2.Response, given)  # as `cast_to` says, unread because of `stream`
            async with aclosing(response):
                if on_event is None or not is_event_stream(response):
                    await response.aread()
                    return _answer_of(response)
                async for event in httpx2.EventSource(response, max_event_size=most_bytes):
                    try:
                        if on_event(event.data):
                            break
                    except ValueError as exc:
                        text = f"{self._where}: an event of the stream is not whole JSON ({_reason(exc)})"
                        raise ProviderError(text, kind="server_error", is_retryable=True) from exc
                return HttpAnswer(response.status_code, b"", response.headers, is_stream=True)

    @contextmanager
    def errors(self, where: str = "") -> Iterator[None]:
        """Turn what the package and the network raise within the block into a ProviderError.

        `where` begins its line in place of the client's own.
        """
        where = where or self._where
        try:
            yield
        except openai.APIStatusError as exc:
            raise error_of_status(where, _answer_of(exc.response), self._redacted) from exc
        except (openai.OpenAIError, httpx2.TransportError, TooLarge, OSError, ValueError) as exc:
            cause = exc.__cause__ if isinstance(exc, openai.APIConnectionError) else None
            raise self._error_of(where, cause or exc) from exc

    async def aclose(self) -> None:
        """Close the connections."""
        await self.sdk.close()
        await asyncio.sleep(0)  # in which the loop does it

    def _error_of(self, where: str, exc: BaseException) -> ProviderError:
        kind, reason = "connection", _reason(exc)
        if reason == "Receive buffer too long":  # of h11: a head of a chunk, or trailers
            exc, reason = TooLarge(), "a part of more than 102,400 bytes"
        match exc:
            case TooLarge() | httpx2.SSEError():
                kind = "too_large"
                said = f": the endpoint sent {reason}, and was hung up on; limits.max_reply_mb allows more"
            case httpx2.ConnectTimeout():
                said = _unreachable(f"no connection within {CONNECT_TIMEOUT_S:g} s")
            case httpx2.ProxyError():
                said = _unreachable(f"the proxy {self._proxy_host} answers HTTP {reason}")
            case httpx2.ConnectError():
                said = _unreachable(reason)
            case ValueError():
                kind, said = "server_error", f": the answer is not whole JSON ({reason})"
            case _:
                said = f": the connection broke before the reply was whole ({reason})"
        return ProviderError(f"{where}{said}", kind=kind, is_retryable=True)


def proxy_of(url: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) or the system names, if any.

    Raises ValueError for one that is neither http:// nor https://.
    """
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named or proxy_bypass(url.netloc):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme not in {"http", "https"} or not proxy.hostname:
        raise ValueError(
            f"the proxy {proxy.scheme}://{proxy.hostname or ''} of the environment is not http:// or https://"
        )
    return proxy


def _answer_of(response: httpx2.Response) -> HttpAnswer:
    return HttpAnswer(response.status_code, response.content, response.headers)


def _unreachable(reason: str) -> str:
    return f" cannot be reached ({reason}); is it running, and is base_url right?"


def _reason(exc: BaseException) -> str:
    """Return the words of an error or of the first that it comes from, in one line."""
    while not str(exc) and (cause := exc.__cause__ or exc.__context__) is not None:
        exc = cause
    return printable(" ".join(str(exc).split()))[:200] or type(exc).__name__
