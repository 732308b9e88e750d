"""Runs against endpoints that are wrong in every way: one clear line, the unit recorded, `resume` goes on.

Over real HTTP to a server of this process, through the command line's own code; nothing of a key is ever written.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from longbeam.cli import run
from longbeam.models import CALLING
from longbeam.offline.loopback import LoopbackServer, ServerSettings, listening
from longbeam.prompts import default_registry
from tests.models.endpoint import Answer, completion, endpoint

CANARY = "sk-canary-5a5a5a5a5a"
PAGE = "<!DOCTYPE html><html><body>Sign in</body></html>"


@contextlib.contextmanager
def serving(context: Callable[[], Any]) -> Iterator[Any]:
    """What an async context manager gives, kept open in a thread with a loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def wait_for(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(20)

    manager = context()
    try:
        yield wait_for(manager.__aenter__())
    finally:
        wait_for(manager.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextlib.contextmanager
def offline_server(**settings: Any) -> Iterator[str]:
    server = LoopbackServer(default_registry(), ServerSettings(**settings))
    with serving(lambda: listening(server)) as base_url:
        yield base_url


def spec_file(folder: Path, base_url: str, **settings: Any) -> Path:
    table = {"base_url": base_url, "model": "offline", "sends_extras": True, "key_env": "BAD_KEY", **settings}
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    path = folder / "spec.toml"
    path.write_text(
        'name = "bad"\nlength = "16K"\ndomains = ["coding"]\n[models]\ndefault = "openai:bad"\n'
        '[endpoints."openai:bad"]\n' + "\n".join(lines) + "\n",
        encoding="utf-8",
    )
    return path


def longbeam(*words: str, out: Path) -> int:
    return run([*words, "--runner", "inline", "--out", str(out)])


def failures_of(out: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["status", "bad", "--json", "--out", str(out)]) == 0
    status = json.loads(capsys.readouterr().out)
    return [unit for conversation in status["conversations"] for unit in conversation["failures"]]


def everything_under(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD_KEY", CANARY)


@pytest.mark.parametrize(
    ("answer", "kind", "line"),
    [
        (Answer({"error": {"message": f"no such key: {CANARY}"}}, 401), "authentication", "HTTP 401: no such key: ***"),
        (Answer({"error": {"message": "no model x", "code": "model_not_found"}}, 404), "not_found", "HTTP 404: no mod"),
        (Answer({"error": {"message": "pay", "code": "insufficient_quota"}}, 429), "quota", "HTTP 429: pay"),
        (Answer(PAGE), "not_an_api", "answers with a web page"),
        (Answer(b'{"choices": [{"message": {"con'), "server_error", "the reply is not whole JSON"),
        (Answer({"error": {"message": "broken"}}), "not_an_api", "HTTP 200 with an error: broken"),
    ],
)
def test_an_endpoint_that_is_no_use_stops_the_run(
    answer: Answer, kind: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with serving(lambda: endpoint(answer)) as (_, base_url):
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 1
    said = capsys.readouterr()
    stopped = [text for text in said.err.splitlines() if text.startswith("stopped: ")]
    assert len(stopped) == 1
    assert line in stopped[0]
    assert f"Go on with: longbeam resume bad --out {out}" in said.err
    assert "Traceback" not in said.err
    assert CANARY not in said.out + said.err
    assert [(u["stage"], u["error_kind"]) for u in failures_of(out, capsys)] == [("persona", kind)]
    assert CANARY.encode() not in everything_under(tmp_path)


def test_a_refused_key_is_put_right_and_the_run_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    with offline_server(key="sk-another") as base_url:
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 1
    assert [u["error_kind"] for u in failures_of(out, capsys)] == ["authentication"]
    with offline_server(key=CANARY) as base_url:
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 0
    assert failures_of(out, capsys) == []
    assert run(["export", "bad", "--to", str(tmp_path / "export"), "--out", str(out)]) == 0
    written = everything_under(tmp_path)
    assert CANARY.encode() not in written
    assert b"127.0.0.1" not in everything_under(tmp_path / "export")


def _reply(text: str = "", reason: str = "stop", **message: str) -> Answer:
    return Answer(completion(choices=[{"message": {"content": text, **message}, "finish_reason": reason}]))


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            _reply(),
            'all 12 were empty. Check the name of the model and the chat template of its server ([endpoints."op',
        ),
        (
            _reply("", "length", reasoning_content="Let me think about it."),
            "all 12 spent their whole length limit on reasoning. In the spec, raise max_tokens in [sampling.",
        ),
        (
            _reply("I'm sorry, but I can't help with that."),
            "all 12 were refusals (the last: I'm sorry, but I can't help",
        ),
    ],
)
def test_an_endpoint_without_a_usable_reply_stops_the_run_and_resume_goes_on(
    answer: Answer, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with serving(lambda: endpoint(answer)) as (fake, base_url):
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 1
        assert len(fake.bodies) == 12
    said = capsys.readouterr().err
    stopped = [text for text in said.splitlines() if text.startswith("stopped: ")]
    assert len(stopped) == 1
    assert stopped[0].startswith("stopped: openai:bad has given no usable reply since this run began: ")
    assert line in stopped[0]
    assert "Traceback" not in said
    assert "fiction" not in said
    assert f"Go on with: longbeam resume bad --out {out}" in said
    with offline_server() as base_url:
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 0
    assert "sealed without" not in capsys.readouterr().err  # what failed before is no gap
    assert failures_of(out, capsys) == []


def test_an_endpoint_that_is_down_stops_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.closing(socket.socket()) as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        path = spec_file(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        assert longbeam("generate", str(path), out=tmp_path / "out") == 1
    assert "cannot be reached" in capsys.readouterr().err
    assert [u["error_kind"] for u in failures_of(tmp_path / "out", capsys)] == ["connection"]


def test_a_context_length_error_fails_its_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    too_long = Answer({"error": {"message": "maximum context length is 4096 tokens, you asked for 9000"}}, 400)
    out = tmp_path / "out"
    with serving(lambda: endpoint(too_long)) as (_, base_url):
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 1
    assert {u["error_kind"] for u in failures_of(out, capsys)} == {"context_length"}
    with offline_server() as base_url:
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 0


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"key_env": "NOT_SET_ANYWHERE"}, "openai:bad: its key is read from NOT_SET_ANYWHERE, which is not set"),
        ({"base_url": "htp:/x"}, 'endpoints."openai:bad".base_url is not an address'),
        ({"base_url": f"http://me:{CANARY}@x/v1"}, "base_url may hold no user, password or query"),
        ({"key_env": CANARY}, "key_env is the name of an environment variable"),
    ],
)
def test_a_wrong_endpoint_table_is_said_before_anything_is_asked(
    settings: dict[str, Any], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda: endpoint(Answer())) as (fake, base_url):
        path = spec_file(tmp_path, **{"base_url": base_url, **settings})
        assert longbeam("generate", str(path), out=tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert line in error
    assert CANARY not in error
    assert fake.bodies == []
    assert not (tmp_path / "out").exists()


def test_a_poisoned_prompt_costs_its_turn_alone_over_http(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    with serving(lambda: _counting(poison=("*/dialogue/p0.s1/p0.s1.t3/*",))) as (server, base_url):
        assert longbeam("generate", str(spec_file(tmp_path, base_url)), out=out) == 1
        assert re.search(r"sealed without (0\.\d|1\.\d)% of its parts", capsys.readouterr().err)
        assert failures_of(out, capsys) == []
        # The request and its texts in neutral words, asked for in halves: the poison is in every request of the turn.
        assert server.counts.refused == {"400": 2 + CALLING.search_calls}
        answered = server.counts.answered
        # A gap stays one: a finished conversation asks nothing more.
        server.settings = ServerSettings()
        assert longbeam("resume", "bad", out=out) == 1
        assert server.counts.answered == answered


@contextlib.asynccontextmanager
async def _counting(**settings: Any) -> Any:
    server = LoopbackServer(default_registry(), ServerSettings(**settings))
    async with listening(server) as base_url:
        yield server, base_url
