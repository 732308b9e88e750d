"""Connections against servers that speak as the test tells them to, byte for byte."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from longbeam.models import BrokenOff, Connections, TooLarge, Unreachable, connections, proxy_of

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve on 127.0.0.1; gives the port."""

    async def whole(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(whole, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def connections_to(
    address: str, headers: dict[str, str] | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Connections]:
    made = Connections(address, headers or {}, create_ssl_context=lambda: tls or ssl.create_default_context())
    try:
        yield made
    finally:
        made.close()
        await asyncio.sleep(0.01)


async def request_of(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
    return head, await reader.readexactly(length)


def answering(*answers: bytes, requests: list[tuple[bytes, bytes]] | None = None) -> Serve:
    """One connection's answers, in turn; then the server hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            found = await request_of(reader)
            if requests is not None:
                requests.append(found)
            writer.write(answer)
            await writer.drain()

    return serve


async def test_a_request_says_its_headers_and_length_once() -> None:
    requests: list[tuple[bytes, bytes]] = []
    async with (
        serving(answering(OK, requests=requests)) as port,
        connections_to(f"http://127.0.0.1:{port}/v1/chat", {"Accept": "application/json"}) as to,
    ):
        answer = await to.post([b"{", b"}"])
    assert (answer.status, answer.body, answer.headers) == (200, b"yes", {"content-length": "3"})
    head = f"POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\nContent-Length: 2\r\n\r\n"
    assert requests == [(head.encode(), b"{}")]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\ny\r\n2\r\nes\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\nyes",  # no length: the connection's end is the body's
        b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nyes",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
    ],
)
async def test_a_body_is_whole_however_it_is_sent(answer: bytes) -> None:
    async with serving(answering(answer)) as port, connections_to(f"http://127.0.0.1:{port}/v1") as to:
        assert (await to.post([b"{}"])).body == b"yes"


async def test_a_connection_is_kept_until_it_was_silent_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request_of(reader)
            ports.append(writer.get_extra_info("peername")[1])
            writer.write(OK)

    async with serving(serve) as port, connections_to(f"http://127.0.0.1:{port}/v1") as to:
        await to.post([b"{}"])
        await to.post([b"{}"])
        monkeypatch.setattr(connections, "KEEP_ALIVE_S", 0.0)
        await to.post([b"{}"])
    assert ports[0] == ports[1] != ports[2]


async def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    closing = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nyes"
    async with serving(answering(closing)) as port, connections_to(f"http://127.0.0.1:{port}/v1") as to:
        assert [(await to.post([b"{}"])).status for _ in range(3)] == [200, 200, 200]
    async with serving(answering(OK)) as port, connections_to(f"http://127.0.0.1:{port}/v1") as to:
        await to.post([b"{}"])
        await asyncio.sleep(0.05)  # the server hangs up without a word
        assert (await to.post([b"{}"])).body == b"yes"


async def test_a_request_that_meets_the_end_of_a_kept_connection_is_sent_again() -> None:
    requests = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await request_of(reader))
        writer.write(OK)
        await request_of(reader)  # on its way when the server hangs up

    async with serving(serve) as port, connections_to(f"http://127.0.0.1:{port}/v1") as to:
        assert [(await to.post([b"{}"])).body for _ in range(3)] == [b"yes"] * 3
    assert len(requests) == 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "the endpoint hung up"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nyes", "the endpoint hung up"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "what came is no HTTP"),
    ],
)
async def test_half_an_answer_is_none(answer: bytes, reason: str) -> None:
    async with serving(answering(answer)) as port, connections_to(f"http://127.0.0.1:{port}/v1") as to:
        with pytest.raises(BrokenOff, match=reason):
            await to.post([b"{}"])


async def test_a_request_that_is_cancelled_ends_its_connection() -> None:
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        await reader.read()
        gone.set()

    async with serving(serve) as port, connections_to(f"http://127.0.0.1:{port}/v1") as to:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await to.post([b"{}"])
        await asyncio.wait_for(gone.wait(), 2)


async def test_a_slow_proxy_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    monkeypatch.setattr(connections, "CONNECT_TIMEOUT_S", 0.05)
    async with serving(silent) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        async with connections_to("https://models.invalid/v1") as to:
            with pytest.raises(Unreachable, match=r"no connection within 0\.05 s"):
                await to.post([b"{}"])


async def test_a_proxy_of_the_environment_gets_whole_addresses_and_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests: list[tuple[bytes, bytes]] = []
    async with serving(answering(OK, requests=requests)) as port:
        monkeypatch.setenv("http_proxy", f"http://user:pa%3Ass@127.0.0.1:{port}")
        async with connections_to("http://models.invalid/v1") as to:
            await to.post([b"{}"])
    lines = requests[0][0].split(b"\r\n")
    assert lines[:2] == [b"POST http://models.invalid/v1 HTTP/1.1", b"Host: models.invalid"]
    assert b"Proxy-Authorization: Basic dXNlcjpwYTpzcw==" in lines  # base64 of user:pa:ss


async def test_https_goes_through_a_proxy_and_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server_tls, client_tls = certified("localhost", tmp_path)
    asked: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0])
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(piped(reader, far_writer), piped(far_reader, writer))

    async with serving(answering(OK, OK), server_tls) as port, serving(proxy) as proxy_port:
        address = f"https://localhost:{port}/v1"
        async with connections_to(address, tls=client_tls) as to:
            assert (await to.post([b"{}"])).body == b"yes"
        async with connections_to(address) as to:
            with pytest.raises(Unreachable, match="certificate verify failed"):
                await to.post([b"{}"])
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy_port}")
        async with connections_to(address, tls=client_tls) as to:
            assert [(await to.post([b"{}"])).body for _ in range(2)] == [b"yes", b"yes"]
    assert asked == [f"CONNECT localhost:{port} HTTP/1.1".encode()]


async def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with serving(answering(refusal)) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        async with connections_to("https://models.invalid/v1") as to:
            with pytest.raises(Unreachable, match=r"the proxy 127\.0\.0\.1 answers HTTP 407"):
                await to.post([b"{}"])


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"https_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ({"all_proxy": "proxy:3128"}, "http://proxy:3128"),
        ({"http_proxy": "http://proxy:3128"}, None),  # that is for http://
        ({"https_proxy": "http://proxy:3128", "no_proxy": "models.invalid"}, None),
    ],
)
def test_the_proxy_is_that_of_the_address(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], proxy: str | None
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = proxy_of(urlsplit("https://models.invalid/v1"))
    assert (found.geturl() if found else None) == proxy


def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://proxy:1080")
    with pytest.raises(ValueError, match="socks5://proxy of the environment is not http:// or https://"):
        proxy_of(urlsplit("https://models.invalid/v1"))


async def piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
    except ConnectionError:
        pass
    finally:
        writer.close()


def certified(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate of its own making, and a client's that trusts it."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, key_pem = folder / "server.pem", folder / "server.key"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem, key_pem)
    return server, ssl.create_default_context(cafile=pem)


def endless(first: bytes, more: bytes) -> Serve:
    """Sends `first` and then `more` for ever."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(first)
        while not writer.is_closing():
            writer.write(more)
            await writer.drain()

    return serve


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "more", "words"),
    [
        (HEAD + b"X-Long: ", b"x" * 65_536, "headers of more than 65,536 bytes"),
        (HEAD, b"X-Many: 1\r\n" * 5_000, "headers of more than 65,536 bytes"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000, "headers of more than 65,536 bytes"),
        (HEAD + b"\r\n", b"x" * 65_536, "an answer of more than 1,000,000 bytes"),
        (HEAD + b"Content-Length: 10000000000\r\n\r\n", b"x" * 65_536, "an answer of more than 1,000,000 bytes"),
        (CHUNKED, b"1;" + b"x" * 8_000 + b"\r\ny\r\n", "an answer of more than 1,000,000 bytes"),
        (CHUNKED + b"0\r\n", b"X-Trailer: 1\r\n" * 5_000, "an answer of more than 1,000,000 bytes"),
    ],
)
async def test_an_answer_without_an_end_is_hung_up_on(first: bytes, more: bytes, words: str) -> None:
    async with serving(endless(first, more)) as port, connections_to(f"http://127.0.0.1:{port}/") as made:
        with pytest.raises(TooLarge, match=words):
            await made.post([b"{}"], most_bytes=1_000_000)


class Collected:
    """Takes in pieces of a stream until it has seen an end."""

    def __init__(self, end: bytes) -> None:
        self.seen, self._end = b"", end

    def feed(self, data: bytes) -> bool:
        self.seen += data
        if b"bad" in data:
            raise ValueError("a bad event")
        return self._end in self.seen


STREAM = HEAD + b"Content-Type: text/event-stream; charset=utf-8\r\n\r\n"


async def test_a_stream_is_given_piece_by_piece_and_ends_when_it_is_enough() -> None:
    collected = Collected(b"end")
    async with serving(endless(STREAM + b"one ", b"end ")) as port, connections_to(f"http://127.0.0.1:{port}/") as made:
        answer = await made.post([b"{}"], events=collected)
        assert (answer.is_stream, answer.body) == (True, b"")
        assert collected.seen.startswith(b"one end")


async def test_an_event_that_cannot_be_read_ends_the_stream() -> None:
    async with serving(endless(STREAM, b"bad ")) as port, connections_to(f"http://127.0.0.1:{port}/") as made:
        with pytest.raises(ValueError, match="a bad event"):
            await made.post([b"{}"], events=Collected(b"end"))


async def test_an_error_is_no_stream_whatever_it_says() -> None:
    answer = b"HTTP/1.1 429 No\r\nContent-Type: text/event-stream\r\nContent-Length: 4\r\n\r\nwait"
    collected = Collected(b"never")
    async with serving(answering(answer)) as port, connections_to(f"http://127.0.0.1:{port}/") as made:
        found = await made.post([b"{}"], events=collected)
    assert (found.status, found.body, found.is_stream, collected.seen) == (429, b"wait", False, b"")
