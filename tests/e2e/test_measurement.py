"""docs/show-a-measurement.md as written: a class, a server, two runs, a comparison, the pages, the report, a gate."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.test_docs_commands import REPOSITORY, blocks

pytestmark = pytest.mark.slow

PAGE = REPOSITORY / "docs" / "show-a-measurement.md"
SERVER, VIEW, MEM0 = "python server.py", "longbeam view", "longbeam evaluate ours --system 'mem0"

LOCAL = """
[models]
extractor = "openai:fake"
[endpoints."openai:fake"]
base_url = "http://127.0.0.1:{port}/v1"
"""


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    env = {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    return env | {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else env


@pytest.fixture
def server(tmp_path: Path, environment: dict[str, str]) -> Iterator[str]:
    """The port of the page's server."""
    for code in blocks(PAGE, "python"):
        (tmp_path / code.split()[1]).write_text(code)
    port = free_port()
    process = subprocess.Popen(["python", "server.py", port], cwd=tmp_path, env=environment)
    yield port
    process.terminate()
    process.wait(20)


@pytest.fixture
def extractor() -> Iterator[int]:
    """The port of a model that keeps the last words of what mem0 asks it as one fact."""

    class Extractor(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            fact = {"id": "0", "text": asked["messages"][-1]["content"][-600:], "attributed_to": "user"}
            choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps({"memory": [fact]})}}
            reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice]}
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Extractor) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield listening.server_port
        listening.shutdown()


@pytest.mark.timeout(900)  # fifteen commands, on a machine that may be busy
def test_the_afternoon_runs_as_written(
    tmp_path: Path, environment: dict[str, str], server: str, extractor: int
) -> None:
    shown = ""
    for block in blocks(PAGE, "sh"):
        script = block.replace("8899", server)
        if script.startswith(SERVER):
            continue
        if script.startswith(MEM0):
            (tmp_path / "local.toml").write_text(LOCAL.format(port=extractor))
            ran = subprocess.run(
                ["bash", "-e", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert (ran.returncode == 0) is (find_spec("mem0") is not None), ran.stderr
            assert ("mem0[infer,embedder=hashed]" in ran.stdout) is (find_spec("mem0") is not None)
        elif script.startswith(VIEW):
            command = ["longbeam", *script.split()[1:], "--port", "0", "--no-open"]
            with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as viewing:
                assert viewing.stdout is not None
                with urllib.request.urlopen(viewing.stdout.readline().split()[1]) as answered:
                    page = answered.read().decode()
                viewing.terminate()
            assert "Our memory, December" in page
        else:
            ran = subprocess.run(
                ["bash", "-e", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert ran.returncode == 0, f"{script}\n{ran.stderr}"
            shown += ran.stdout
    for system in ("recent", "words", "rag", "light"):
        assert re.search(rf"^    {re.escape(system)}", shown, re.M), system
    assert re.search(r"^recent: [+-]\d\.\d{3} ", shown, re.M)
    assert "you need about" in shown
    assert "Our memory, November; Our memory, December" in (tmp_path / "report.html").read_text("utf-8")
