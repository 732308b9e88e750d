"""The manual endpoint over real loopback: clients wait, writers answer, the server is stopped and started again."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from longbeam.cli import run
from longbeam.errors import UserError
from longbeam.manual import ManualServer, Queue, listening
from longbeam.models import OpenAIModel
from longbeam.prompts import default_registry
from longbeam.schemas import Endpoint
from tests.manual.test_queue import SCHEMA, body
from tests.offline.loopback.asking import sample_call

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@asynccontextmanager
async def manual(folder: Path, files: Path | None = None) -> AsyncIterator[tuple[Queue, httpx.AsyncClient]]:
    """A server of the queue in a folder, and a client."""
    with closing(Queue(folder)) as queue:
        async with (
            listening(ManualServer(queue, poll_s=0.01, sign_of_life_s=0.02), files) as url,
            httpx.AsyncClient(base_url=url) as client,
        ):
            yield queue, client


async def until(claim: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(5):
        while not claim():  # noqa: ASYNC110 - another process or task makes it so
            await asyncio.sleep(0.01)


async def test_a_client_waits_for_the_reply_of_another_process(tmp_path: Path) -> None:
    async with manual(tmp_path) as (queue, client):
        asking = asyncio.create_task(client.post("/v1/chat/completions", json=ASKED))
        await until(lambda: bool(queue.unanswered()))
        with closing(Queue(tmp_path)) as writer:
            writer.reply(writer.claim("w")[0].number, "hello", "w")
        whole = (await asking).json()
        assert whole["choices"][0]["message"]["content"] == "hello"
        assert whole["usage"]["completion_tokens"] == 1
        await until(lambda: queue.slot(1).clients == 0)


async def test_longbeams_own_client_reads_a_stream_with_signs_of_life(tmp_path: Path) -> None:
    call = sample_call("narratives")
    async with manual(tmp_path) as (queue, client):
        model = OpenAIModel("openai:m", Endpoint(base_url=str(client.base_url.join("/v1"))), key="", notice=print)
        asking = asyncio.create_task(model.complete(call))
        await until(lambda: bool(queue.unanswered()))
        await asyncio.sleep(0.1)  # some signs of life
        (slot,) = queue.claim("w")
        assert slot.prompt == "narratives"
        schema = slot.body["response_format"]["json_schema"]["schema"]
        one = {"label": "x", "description": "y", "sub_labels": ["z"]}
        said = json.dumps({"narratives": [one] * schema["properties"]["narratives"]["minItems"]})
        queue.reply(slot.number, f"```json\n{said}\n```", "w")
        reply = await asking
        await model.aclose()
    assert (reply.text, reply.finish_reason) == (said, "stop")


async def test_a_client_that_gives_up_finds_the_reply_when_it_asks_again_after_a_restart(tmp_path: Path) -> None:
    async with manual(tmp_path) as (queue, client):
        for stream in (False, True):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.post("/v1/chat/completions", json=ASKED | {"stream": stream}), 0.1)
            await until(lambda: queue.slot(1).clients == 0)
        queue.reply(1, "late")
    async with manual(tmp_path) as (queue, client):
        answer = await client.post("/v1/chat/completions", json=ASKED, timeout=1)
        assert answer.json()["choices"][0]["message"]["content"] == "late"
        assert len(queue.answered()) == 1


async def test_a_request_waits_through_a_restart(tmp_path: Path) -> None:
    async with manual(tmp_path) as (queue, client):
        asking = asyncio.create_task(client.post("/v1/chat/completions", json=ASKED))
        await until(lambda: bool(queue.unanswered()))
    (outcome,) = await asyncio.gather(asking, return_exceptions=True)
    assert isinstance(outcome, httpx.TransportError) or outcome.status_code == 500  # clients try both again
    async with manual(tmp_path) as (queue, _):
        (slot,) = queue.unanswered()
        assert (slot.asks, slot.clients) == (1, 0)


async def test_the_page_shows_a_request_and_takes_its_reply(tmp_path: Path) -> None:
    async with manual(tmp_path) as (queue, client):
        queue.ask(body("What <b>now</b>?", SCHEMA), "user_turns")
        assert "user_turns" in (await client.get("/")).text
        assert "What &lt;b&gt;now&lt;/b&gt;?" in (await client.get("/requests/1")).text
        assert (await client.get("/requests/1.json")).json()["messages"][0]["content"] == "What <b>now</b>?"
        wrong = await client.post("/requests/1/reply", data={"reply": '{"turns": ["<i>"]}'})
        assert wrong.status_code == 422
        assert "turns: [&#39;&lt;i&gt;&#39;] is too short" in wrong.text
        assert "{&#34;turns&#34;: [&#34;&lt;i&gt;&#34;]}</textarea>" in wrong.text
        right = await client.post("/requests/1/reply", data={"reply": '{"turns": ["a", "b"]}', "prompt": "user_turns"})
        assert right.headers["location"] == "/?prompt=user_turns"
        assert queue.reply_of(1) == '{"turns": ["a", "b"]}'
        await client.post("/requests/1/reopen")
        assert queue.reply_of(1) is None
        assert (await client.get("/requests/2")).status_code == 404


async def test_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    async with manual(tmp_path) as (queue, client):
        queue.ask(ASKED, "p")
        forged = await client.post("/requests/1/reply", data={"reply": "x"}, headers={"Origin": "http://evil.example"})
        assert forged.status_code == 403
        assert (await client.get("/", headers={"Host": "evil.example"})).status_code == 400
        assert queue.reply_of(1) is None


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (b"{", "no JSON"),
        (b"{}", "messages: Field required"),
        (json.dumps(ASKED | {"tools": [{}]}).encode(), "tools are not supported"),
    ],
)
async def test_a_request_that_cannot_be_answered_gets_an_error(tmp_path: Path, sent: bytes, fault: str) -> None:
    async with manual(tmp_path) as (_, client):
        answer = await client.post("/v1/chat/completions", content=sent, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert fault in answer.json()["error"]["message"]


async def test_the_openai_package_is_served_through_the_folder(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    async with manual(tmp_path / "queue", files) as (_, client):
        sdk = openai.AsyncOpenAI(base_url=str(client.base_url.join("/v1")), api_key="none")
        messages: list[Any] = ASKED["messages"]
        asking = asyncio.create_task(sdk.chat.completions.create(model="m", messages=messages))
        await until((files / "0001.request.md").exists)
        (files / "0001.reply.txt").write_text("from a file")
        reply = await asking
        await sdk.close()
    assert reply.choices[0].message.content == "from a file"


def test_requests_are_recognised_by_their_prompts_words() -> None:
    registry = default_registry()
    rendered = {prompt.prompt_id: sample_call(prompt.prompt_id).messages() for prompt in registry}
    found = {name: registry.recognised(" ".join(m.content for m in said)) for name, said in rendered.items()}
    assert {name: other for name, other in found.items() if other != name} == {}
    assert registry.recognised("hello there") is None


def test_the_process_says_where_it_listens_and_writers_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*arguments: str) -> tuple[int, str]:
        code = run(["serve-manual", *arguments, "--queue", str(tmp_path)])
        return code, capsys.readouterr().out

    server = [sys.executable, "-m", "longbeam", "serve-manual", "--port", "0", "--queue", str(tmp_path)]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said, base_url = process.stdout.readline().split()
            sent, kind = json.dumps(ASKED).encode(), {"content-type": "application/json"}
            request = urllib.request.Request(f"{base_url}/chat/completions", sent, kind)
            with pytest.raises(TimeoutError):
                urllib.request.urlopen(request, timeout=0.2)
            while not (listed := write("pending")[1]):  # the request may still be on its way
                pass
            assert listed.startswith("0001 ? (prose; 1 messages, 2 characters): open")
            assert run(["serve-manual", "--queue", str(tmp_path), "pending"]) == 0  # the same queue
            assert capsys.readouterr().out.startswith("0001 ? (prose; 1 messages, 2 characters): open")
            assert "## user\n\nhi" in write("next", "--writer", "w1")[1]
            assert write("next", "--writer", "w2") == (1, "")
            assert run(["serve-manual", "next", "--writer", "w1", "--queue", str(tmp_path)]) == 1
            # Whoever lost the print is told what they hold.
            assert "no request waits; w1 holds 0001: `show` prints them" in capsys.readouterr().err
            monkeypatch.setattr(sys, "stdin", io.StringIO("@@@ 0001\nhello\n@@@ 0002\nx\n"))
            code, told = write("reply", "--writer", "w1")
            assert told.startswith("accepted: 0001\nrefused: there is no request 2")
            assert code == 1
            assert write("show", "1")[1].endswith("## Reply\n\nhello\n")
            with urllib.request.urlopen(request, timeout=5) as reply:
                answer = json.load(reply)
        finally:
            process.terminate()
        assert process.wait(timeout=10) == 0
    assert said == "LISTENING"
    assert answer["choices"][0]["message"]["content"] == "hello"


def test_replies_without_a_number_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello"))
    assert run(["serve-manual", "reply", "--queue", str(tmp_path)]) == 2
    assert "begins with 'hello'; give a NUMBER, or begin with a line `@@@ 0007`" in capsys.readouterr().err


def test_a_mistyped_line_between_replies_sends_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("@@@ 0001\nhello\n@@@ 0002x\nyes\n"))
    assert run(["serve-manual", "reply", "--queue", str(tmp_path)]) == 2
    assert "the line '@@@ 0002x' names no request; write it like `@@@ 0007`" in capsys.readouterr().err


def formed(schema: Any) -> dict[str, Any]:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    return {**ASKED, "response_format": form}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_no_request_of_a_page_of_another_site_is_taken(tmp_path: Path, origin: str) -> None:
    async with manual(tmp_path) as (queue, client):
        for headers in ({"origin": origin}, {"sec-fetch-site": "cross-site"}):
            answer = await client.post("/v1/chat/completions", json=ASKED, headers=headers)
            assert answer.status_code == 403
        for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
            sent = {"content": json.dumps(ASKED), "headers": {"content-type": kind}}
            assert (await client.post("/v1/chat/completions", **sent)).status_code == 400
        assert not queue.unanswered()


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        *(
            ({**ASKED, "response_format": form}, "response_format")
            for form in (
                [],
                ["json_object"],
                "json_object",
                "",
                0,
                False,
                {"type": ["text"]},
                {"type": None},
                {"type": "json_schema"},
                {"type": "json_schema", "json_schema": "x"},
                {"type": "json_schema", "json_schema": {}},
                {"type": "json_schema", "json_schema": None},
                {"type": "json_schema", "json_schema": {"name": ["n"], "schema": {}}},
            )
        ),
        *((formed(schema), "response_format.json_schema.schema") for schema in (5, 0, True, False, [], "", "x")),
        ({**ASKED, "stream": True, "stream_options": "x"}, "stream_options: "),
        ({**ASKED, "stream": "x"}, "stream: "),
        ({**ASKED, "model": 5}, "model: "),
        ({**ASKED, "tools": 5}, "tools: "),
        ({**ASKED, "tools": [{"type": "function"}]}, "tools are not"),
        *(
            ({**ASKED, "messages": said}, "messages")
            for said in (
                "x",
                [],
                [5],
                None,
                [{"role": ["x"], "content": "c"}],
                [{"role": "user", "content": 5}],
                [{"content": "c"}],
            )
        ),
        (formed({"$ref": "http://127.0.0.1:9/schema.json"}), "only references within it"),
        (formed({"properties": {"a": {"$ref": "file:///etc/passwd"}}}), "only references within it"),
        (formed({"$ref": "#/$defs/gone"}), "refers to what it does not hold"),
        (formed({"$ref": "#"}), "no JSON schema that can be checked"),
        (formed({"type": 3}), "no JSON schema that can be checked"),
        (formed({"pattern": "(?<=a)b"}), "no JSON schema that can be checked"),
        (formed({"patternProperties": {"(a+)+$": {}}}), "patternProperties"),
    ],
)
async def test_a_form_that_cannot_be_checked_is_refused(tmp_path: Path, asked: dict[str, Any], fault: str) -> None:
    async with manual(tmp_path) as (_, client):
        answer = await client.post("/v1/chat/completions", json=asked)
        assert answer.status_code == 400
        assert fault in answer.json()["error"]["message"]


async def test_a_catastrophic_pattern_takes_no_time(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    async with manual(tmp_path) as (queue, client):
        asking = asyncio.create_task(client.post("/v1/chat/completions", json=formed(schema)))
        await until(lambda: bool(queue.unanswered()))
        async with asyncio.timeout(5):
            refused = await client.post("/requests/1/reply", data={"reply": json.dumps({"a": "a" * 40 + "!"})})
        assert refused.status_code == 422
        queue.reply(1, '{"a": "aaa"}')
        await asking


@pytest.mark.parametrize("number", ["9e22", "9" * 23, "-1", "x"])
async def test_a_number_that_no_request_has_is_not_found(tmp_path: Path, number: str) -> None:
    async with manual(tmp_path) as (queue, client):
        assert (await client.get(f"/requests/{number}")).status_code in {404, 422}
        assert (await client.get(f"/requests/{number}.json")).status_code in {404, 422}
        with pytest.raises(UserError, match="there is no request"):
            queue.slot(10**23)


async def test_a_folder_in_place_of_a_reply_ends_nothing(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    async with manual(tmp_path, files) as (queue, client):
        asking = asyncio.create_task(client.post("/v1/chat/completions", json=ASKED))
        await until(lambda: bool(queue.unanswered()))
        (files / "0001.reply.txt").mkdir()
        await until(lambda: (files / "0001.fault.txt").exists())
        assert "is no file" in (files / "0001.fault.txt").read_text()
        (files / "0001.reply.txt").rmdir()
        (files / "0001.reply.txt").write_text("hello")
        assert (await asking).json()["choices"][0]["message"]["content"] == "hello"
