"""A review server in a process of its own, and Chromium that opens its pages.

Without a browser these tests are skipped on a developer's machine and fail where `CI` is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

IS_CI = bool(os.environ.get("CI"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
Opened = Callable[..., Page]
GUIDE_CLOSED = "try { localStorage.setItem('longbeam/guide-closed', '1') } catch {}"
"""Script of a browser in which the walk-through of the first item was closed."""


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a skipped test fail the run if `CI` is set: `.ci/run` must run all of them."""
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if IS_CI and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


# For a module, not for the session: while it is open, Playwright's loop runs in this thread, and no other may.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        if IS_CI:
            pytest.fail("no Chromium: install Debian's `chromium` (see CONTRIBUTING.md)")
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a checked benchmark `made` of two conversations; tests copy it."""
    out = tmp_path_factory.mktemp("generated")
    generate_made(out)
    return out


def generate_made(out: Path) -> None:
    """Generate and check the benchmark `made`."""
    given = ["--name", "made", "--length", "16K", "--conversations", "2", "--runner", "inline"]
    for command in (["generate", *given], ["validate", "made"]):
        subprocess.run(
            [sys.executable, "-m", "longbeam", *command, "--out", str(out)], check=True, capture_output=True, text=True
        )


@dataclass
class Server:
    """A running `longbeam review`."""

    base: str
    out: Path
    process: subprocess.Popen[str]

    @property
    def port(self) -> str:
        return self.base.rsplit(":", 1)[1]

    def kill(self) -> None:
        """Kill the server as a power cut would: no handler of its own runs."""
        self.process.kill()
        self.process.communicate(timeout=20)

    def start_again(self, name: str, *more: str) -> None:
        """Start the server again on the port and the files that it had."""
        self.process = serve(self.out, name, *more, port=self.port).process


def serve(out: Path, name: str, *more: str, port: str = "0") -> Server:
    command = [sys.executable, "-m", "longbeam", "review", name, "--port", port, "--out", str(out), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("LISTENING "), line
    return Server(line.split()[1], out, process)


@pytest.fixture(scope="module")
def shared(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that the tests of a module share; each works on items of its own."""
    out = tmp_path_factory.mktemp("shared")
    shutil.copytree(generated, out, dirs_exist_ok=True)
    server = serve(out, "made")
    yield server
    server.process.terminate()
    server.process.communicate(timeout=20)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start a server over a copy of a folder of benchmarks; it is stopped afterwards."""
    running: list[Server] = []

    def started(folder: Path, name: str, *more: str) -> Server:
        out = tmp_path / f"out{len(running)}"
        shutil.copytree(folder, out)
        running.append(serve(out, name, *more))
        return running[-1]

    yield started
    for server in running:
        server.process.terminate()
        server.process.communicate(timeout=20)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opened]:
    """Open a page as a reviewer, in a fresh profile; requests to other hosts and script errors fail the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def opened(
        server: Server, name: str = "", role: str = "annotator", *, is_new: bool = False, **options: Any
    ) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        if not is_new:
            context.add_init_script(GUIDE_CLOSED)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
        page.on("request", lambda r: wrong.append(f"asks {r.url}") if not r.url.startswith(server.base) else None)
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        if name:
            answer = context.request.post(f"{server.base}/api/session", data={"reviewer_id": name, "role": role})
            assert answer.ok, answer.text()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
