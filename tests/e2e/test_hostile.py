"""Endpoints that send too much, or what harms a terminal: one line each, a bounded memory, and nothing of the key."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from longbeam.cli import INCOMPLETE, run
from tests.e2e.test_bad_endpoints import CANARY, everything_under, serving

HEAD = b"HTTP/1.1 200 OK\r\n"
STREAM = HEAD + b"Content-Type: text/event-stream\r\n\r\n"
EVENT = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n'
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(b" " * 100_000_000)
"""A hundred megabytes as a hundred kilobytes."""
MOST_MB = 400
SLOW = pytest.mark.slow
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def endless(first: bytes, more: bytes) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(first)
            while not writer.is_closing():
                writer.write(more)
                await writer.drain()
                if not more:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    return serve


class _Server:
    """An asyncio server as an async context manager that gives its base URL."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()


SPEC = """
name = "bad"
length = "16K"
domains = ["coding"]
models = {{ default = "openai:bad" }}
[endpoints."openai:bad"]
base_url = "{base_url}"
key_env = "BAD_KEY"
[limits]
timeout_s = 20
"""
RUN = """
import sys
from longbeam.cli import run
code = run(["generate", sys.argv[1], "--runner", "inline", "--out", sys.argv[2]])
# Of this program alone: `ru_maxrss` counts what the process that started it held, too.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("peak", peak.split()[1])
sys.exit(code)
"""


def _run(tmp_path: Path, serve: Serve) -> tuple[int, str, float]:
    with serving(lambda: _Server(serve)) as base_url:
        (tmp_path / "spec.toml").write_text(SPEC.format(base_url=base_url))
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(tmp_path / "spec.toml"), str(tmp_path / "out")],
            capture_output=True,
            timeout=240,
            env={"BAD_KEY": CANARY, "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        )
    out = done.stdout.decode()
    return done.returncode, out + done.stderr.decode(), int(out.rpartition("peak ")[2].split()[0]) / 1024


@pytest.mark.parametrize(
    ("first", "more"),
    [
        pytest.param(HEAD + b"X-Long: ", b"x" * 65_536, id="endless-header", marks=SLOW),
        pytest.param(HEAD, b"X-Many: 1\r\n" * 5_000, id="endless-headers", marks=SLOW),
        pytest.param(HEAD + b"\r\n", b"x" * 65_536, id="endless-body", marks=SLOW),
        pytest.param(HEAD + b"Content-Length: 500000000\r\n\r\n", b" " * 65_536, id="half-a-gigabyte", marks=SLOW),
        pytest.param(STREAM, (EVENT % (b"w " * 500)) * 60, id="endless-stream"),
        pytest.param(STREAM + b"data: ", b"x" * 65_536, id="endless-event", marks=SLOW),
        pytest.param(STREAM, b": ping\n\n" * 8_000, id="endless-comments", marks=SLOW),
        pytest.param(CONTINUE, CONTINUE * 2_000, id="endless-continues", marks=SLOW),
        pytest.param(b"HTTP/1.1 200 O", b"K" * 65_536, id="endless-status", marks=SLOW),
        pytest.param(CHUNKED, b"FFFFFFF\r\n" + b"x" * 65_536, id="huge-chunk", marks=SLOW),
        pytest.param(CHUNKED + b"1;", b"a" * 65_536, id="endless-chunk-head", marks=SLOW),
        pytest.param(HEAD + b"Content-Encoding: gzip\r\n\r\n" + BOMB, b"", id="gzip-bomb", marks=SLOW),
        pytest.param(HEAD + b"Content-Length: 99999999\r\n\r\n", b'{"a":[' * 10_000, id="deep-json", marks=SLOW),
    ],
)
def test_an_endpoint_that_sends_without_an_end_is_one_line_and_bounded_memory(
    tmp_path: Path, first: bytes, more: bytes
) -> None:
    code, said, peak_mb = _run(tmp_path, endless(first, more))
    print(f"at most {peak_mb:.0f} MB")
    assert code == 1
    assert "Traceback" not in said
    assert peak_mb < MOST_MB


def _answering(body: bytes, status: bytes = b"200 OK") -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
                writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    return serve


ESCAPED = "".join(f"\\u{ord(c):04x}" for c in CANARY)
STEERING = "\\u001b]0;owned\\u0007\\u001b[2J"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (f'{{"error": {{"message": "bad key {ESCAPED} {STEERING}"}}}}', b"401 No"),
        (f'{{"error": {{"message": "bad key {ESCAPED} {STEERING}"}}}}', b"200 OK"),
        (json.dumps({"choices": [{"message": {"content": "@"}}]}).replace("@", f"{ESCAPED} {STEERING}"), b"200 OK"),
    ],
)
def test_neither_the_key_nor_an_escape_of_an_endpoint_is_kept_or_printed(
    tmp_path: Path, body: str, status: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BAD_KEY", CANARY)
    with serving(lambda: _Server(_answering(body.encode(), status))) as base_url:
        (tmp_path / "spec.toml").write_text(SPEC.format(base_url=base_url))
        spec, out = tmp_path / "spec.toml", tmp_path / "out"
        assert run(["generate", str(spec), "--runner", "inline", "--out", str(out)]) == INCOMPLETE
    said = "".join(capsys.readouterr())
    assert "Traceback" not in said
    for text in (said.encode(), everything_under(tmp_path / "out")):
        assert CANARY.encode() not in text
        assert b"\x1b]" not in text
        assert b"\x1b[2J" not in text
