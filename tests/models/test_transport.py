"""Connections against servers that speak as the test tells them to, byte for byte."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import os
import ssl
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from longbeam.errors import ProviderError
from longbeam.models import EndpointClient, proxy_of, transport

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
async def client_to(address: str, *, key: str = "") -> AsyncIterator[EndpointClient]:
    made = EndpointClient(address, key, where="openai:m", redacted=str)
    try:
        yield made
    finally:
        await made.aclose()
        await asyncio.sleep(0.01)


@asynccontextmanager
async def client_of(serve: Serve) -> AsyncIterator[EndpointClient]:
    """Give a client of a server on 127.0.0.1."""
    async with serving(serve) as port, client_to(f"http://127.0.0.1:{port}/v1") as made:
        yield made


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


async def test_a_request_says_no_more_than_it_must() -> None:
    requests: list[tuple[bytes, bytes]] = []
    async with serving(answering(OK, requests=requests)) as port, client_to(f"http://127.0.0.1:{port}/v1") as to:
        answer = await to.complete(b"{}")
    assert (answer.status, answer.body, dict(answer.headers)) == (200, b"yes", {"content-length": "3"})
    ((head, body),) = requests
    first, *headers = head.decode().split("\r\n")[:-2]
    assert (first, body) == ("POST /v1/chat/completions HTTP/1.1", b"{}")
    named = dict(line.lower().split(": ") for line in headers)
    assert named.pop("user-agent").startswith("asyncopenai/python")
    assert named == {
        "host": f"127.0.0.1:{port}",
        "accept": "application/json",
        "content-type": "application/json",
        "content-length": "2",
    }


SLOW_MODULE = """
import time
time.sleep(1)
def __getattr__(name):
    return type(name, (), {})
"""
ASKS_BESIDE_A_THREAD = """
import asyncio, sys, threading
from longbeam.models import EndpointClient

async def main():
    client = EndpointClient(sys.argv[1], "", where="openai:m", redacted=str)
    threading.Thread(target=__import__, args=("httpx",)).start()
    await asyncio.sleep(0.1)
    print((await client.complete(b"{}")).body)
    await client.aclose()

asyncio.run(main())
"""


async def test_a_thread_that_loads_httpx_disturbs_no_request(tmp_path: Path) -> None:
    (tmp_path / "httpx.py").write_text(SLOW_MODULE)
    async with serving(answering(OK)) as port:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ASKS_BESIDE_A_THREAD, f"http://127.0.0.1:{port}/v1"),
            env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
            stdout=PIPE,
            stderr=PIPE,
        )
        told, failed = await process.communicate()
    assert (told, failed[-300:]) == (b"b'yes'\n", b"")


async def test_neither_a_cookie_nor_a_redirection_nor_a_content_coding_is_followed() -> None:
    packed = gzip.compress(b" " * 1_000_000)
    coded = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: a=b\r\nContent-Length: %d\r\n\r\n%s"
    moved = b"HTTP/1.1 307 Moved\r\nLocation: /v1/elsewhere\r\nContent-Length: 0\r\n\r\n"
    requests: list[tuple[bytes, bytes]] = []
    answers = answering(coded % (len(packed), packed), moved, OK, requests=requests)
    async with client_of(answers) as to:
        assert (await to.complete(b"{}")).body == packed
        assert (await to.complete(b"{}")).status == 307
        assert (await to.complete(b"{}")).body == b"yes"
    assert [head.partition(b" HTTP")[0] for head, _ in requests] == [b"POST /v1/chat/completions"] * 3
    assert b"cookie" not in requests[1][0].lower()


async def test_an_answer_that_nobody_asked_for_ends_its_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(OK)
        await asyncio.sleep(0.02)
        writer.write(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nslow")
        await reader.read()

    async with client_of(serve) as to:
        assert (await to.complete(b"{}")).body == b"yes"
        await asyncio.sleep(0.05)
        assert (await to.complete(b"{}")).body == b"yes"


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
    async with client_of(answering(answer)) as to:
        assert (await to.complete(b"{}")).body == b"yes"


async def test_a_connection_is_kept_until_it_was_silent_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request_of(reader)
            ports.append(writer.get_extra_info("peername")[1])
            writer.write(OK)

    monkeypatch.setattr(transport, "KEEP_ALIVE_S", 0.1)
    async with client_of(serve) as to:
        await to.complete(b"{}")
        await to.complete(b"{}")
        await asyncio.sleep(0.2)
        await to.complete(b"{}")
    assert ports[0] == ports[1] != ports[2]


async def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    closing = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nyes"
    async with client_of(answering(closing)) as to:
        assert [(await to.complete(b"{}")).status for _ in range(3)] == [200, 200, 200]
    async with client_of(answering(OK)) as to:
        await to.complete(b"{}")
        await asyncio.sleep(0.05)  # the server hangs up without a word
        assert (await to.complete(b"{}")).body == b"yes"


async def test_a_request_that_meets_the_end_of_a_kept_connection_is_sent_again() -> None:
    requests = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await request_of(reader))
        writer.write(OK)
        await request_of(reader)  # on its way when the server hangs up

    async with client_of(serve) as to:
        assert [(await to.complete(b"{}")).body for _ in range(3)] == [b"yes"] * 3
    assert len(requests) == 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "disconnected without sending a response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nyes", "received 3 bytes, expected 5"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "what came is no HTTP"),
    ],
)
async def test_half_an_answer_is_none(answer: bytes, reason: str) -> None:
    async with client_of(answering(answer)) as to:
        with pytest.raises(ProviderError, match=f"broke before the reply was whole .*{reason}"):
            await to.complete(b"{}")


async def test_a_request_that_is_cancelled_ends_its_connection() -> None:
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        await reader.read()
        gone.set()

    async with client_of(serve) as to:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await to.complete(b"{}")
        await asyncio.wait_for(gone.wait(), 2)


async def test_a_slow_proxy_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    monkeypatch.setattr(transport, "CONNECT_TIMEOUT_S", 0.05)
    async with serving(silent) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        async with client_to("https://models.invalid/v1") as to:
            with pytest.raises(ProviderError, match=r"no connection within 0\.05 s"):
                await to.complete(b"{}")


async def test_a_proxy_of_the_environment_gets_whole_addresses_and_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests: list[tuple[bytes, bytes]] = []
    async with serving(answering(OK, requests=requests)) as port:
        monkeypatch.setenv("http_proxy", f"http://user:pa%3Ass@127.0.0.1:{port}")
        async with client_to("http://models.invalid/v1") as to:
            await to.complete(b"{}")
    lines = requests[0][0].split(b"\r\n")
    assert lines[:2] == [b"POST http://models.invalid/v1/chat/completions HTTP/1.1", b"Host: models.invalid"]
    assert b"Proxy-Authorization: Basic dXNlcjpwYTpzcw==" in lines  # base64 of user:pa:ss


async def test_https_goes_through_a_proxy_and_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server_tls, trusted = certified("localhost", tmp_path)
    asked: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0])
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(piped(reader, far_writer), piped(far_reader, writer))

    async with serving(answering(OK, OK), server_tls) as port, serving(proxy) as proxy_port:
        address = f"https://localhost:{port}/v1"
        async with client_to(address) as to:
            with pytest.raises(ProviderError, match="certificate verify failed"):
                await to.complete(b"{}")
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        async with client_to(address) as to:
            assert (await to.complete(b"{}")).body == b"yes"
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy_port}")
        async with client_to(address) as to:
            assert [(await to.complete(b"{}")).body for _ in range(2)] == [b"yes", b"yes"]
    assert asked == [f"CONNECT localhost:{port} HTTP/1.1".encode()]


async def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with serving(answering(refusal)) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        async with client_to("https://models.invalid/v1") as to:
            with pytest.raises(ProviderError, match=r"the proxy 127\.0\.0\.1 answers HTTP 407"):
                await to.complete(b"{}")


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


def certified(name: str, folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's context with a certificate of its own making, and the file by which a client trusts it."""
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
    return server, pem


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
        (CHUNKED + b"0\r\n", b"X-Trailer: 1\r\n" * 5_000, "a part of more than 102,400 bytes"),
    ],
)
async def test_an_answer_without_an_end_is_hung_up_on(first: bytes, more: bytes, words: str) -> None:
    async with client_of(endless(first, more)) as made:
        with pytest.raises(ProviderError, match=words):
            await made.complete(b"{}", most_bytes=1_000_000)


class Collected:
    """Takes in events of a stream until it has seen an end."""

    def __init__(self, end: str = "") -> None:
        self.seen: list[str] = []
        self._end = end

    def add(self, data: str) -> bool:
        self.seen.append(data)
        if data == "bad":
            raise ValueError("a bad event")
        return data == self._end


STREAM = HEAD + b"Content-Type: text/event-stream; charset=utf-8\r\n\r\n"


async def test_a_stream_is_given_event_by_event_and_ends_when_it_is_enough() -> None:
    collected = Collected("end")
    async with client_of(endless(STREAM + b": ping\n\ndata: one\n\n", b"data: end\n\n")) as to:
        answer = await to.complete(b"{}", on_event=collected.add)
    assert (answer.is_stream, answer.body) == (True, b"")
    assert collected.seen == ["one", "end"]


async def test_the_last_event_needs_no_empty_line() -> None:
    collected = Collected()
    async with client_of(answering(STREAM + b"data: one\r\n\r\ndata: two")) as to:
        await to.complete(b"{}", on_event=collected.add)
    assert collected.seen == ["one", "two"]


async def test_an_event_that_cannot_be_read_ends_the_stream() -> None:
    async with client_of(endless(STREAM, b"data: bad\n\n")) as to:
        with pytest.raises(ProviderError, match="an event of the stream is not whole JSON"):
            await to.complete(b"{}", on_event=Collected().add)


@pytest.mark.parametrize("more", [b"x" * 65_536, b"data: x\n" * 5_000])
async def test_an_event_without_an_end_is_hung_up_on(more: bytes) -> None:
    async with client_of(endless(STREAM + b"data: ", more)) as to:
        with pytest.raises(ProviderError, match="1000000 byte limit") as caught:
            await to.complete(b"{}", most_bytes=1_000_000, on_event=Collected().add)
    assert caught.value.kind == "too_large"


async def test_an_error_is_no_stream_whatever_it_says() -> None:
    answer = b"HTTP/1.1 429 No\r\nContent-Type: text/event-stream\r\nContent-Length: 4\r\n\r\nwait"
    collected = Collected()
    async with client_of(answering(answer)) as to:
        found = await to.complete(b"{}", on_event=collected.add)
    assert (found.status, found.body, found.is_stream, collected.seen) == (429, b"wait", False, [])
