"""The manual endpoint: requests of chat completions wait here until somebody has written their replies.

    POST /v1/chat/completions      waits for the reply; the same messages and form get the same one
    GET  /v1/models
    GET  /                         the requests by prompt; ?prompt=NAME shows one prompt's
    GET  /requests/NNNN            one request whole, with a box for its reply; with .json as it was sent
    POST /requests/NNNN/reply      the box; /requests/NNNN/reopen drops an accepted reply

It listens on 127.0.0.1 only. A request of a page of another site is refused.
"""

from __future__ import annotations

import asyncio
import json
import signal
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic_core import from_json, to_json
from starlette.middleware.trustedhost import TrustedHostMiddleware

from longbeam.errors import UserError
from longbeam.manual.forms import fault_of_body, schema_name, schema_of, text_of
from longbeam.manual.queue import Queue, QueueSlot, name_of
from longbeam.manual.showing import as_markdown, headline
from longbeam.models import DEFAULT_TOKENIZER, load_tokenizer
from longbeam.prompts import default_registry
from longbeam.serving import LOOPBACK, foreign_page, open_listener, serving
from longbeam.store import write_atomically
from longbeam.terminal import printable

REQUEST, BODY, REPLY = "request.md", "request.json", "reply.txt"
ACCEPTED, REFUSED, FAULT = "accepted.txt", "refused.txt", "fault.txt"


class RequestFolder:
    """One folder with the unanswered requests of a queue."""

    def __init__(self, queue: Queue, folder: Path) -> None:
        """The folder may hold files of an earlier server."""
        self._queue, self._folder = queue, folder
        self._looks: dict[int, tuple[int, int]] = {}
        """Size and time of change of replies at the last look."""
        names = (path.name.partition(".")[0] for path in folder.glob(f"*.{REQUEST}"))
        self._written = {int(name) for name in names if name.isdecimal()}

    def exchange(self) -> None:
        """Write the requests that are new, and take in the replies that are whole."""
        waiting = self._queue.unanswered()
        for slot in waiting:
            if slot.number not in self._written:
                self._write(slot)
            if self._is_whole(slot.number):
                self._take(slot.number)
        for number in self._written - {slot.number for slot in waiting}:
            for kind in (REQUEST, BODY, REFUSED, FAULT):
                self._path(number, kind).unlink(missing_ok=True)
            self._written.remove(number)

    def _write(self, slot: QueueSlot) -> None:
        write_atomically(self._path(slot.number, REQUEST), as_markdown(slot))
        write_atomically(self._path(slot.number, BODY), json.dumps(slot.body, ensure_ascii=False, indent=1) + "\n")
        self._written.add(slot.number)

    def _is_whole(self, number: int) -> bool:
        """Return whether a reply is there and did not change since the last look: an editor may still write it."""
        try:
            found = self._path(number, REPLY).stat()
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(found.st_mode):
            text = f"{self._path(number, REPLY).name} is no file; put the reply into a file of this name\n"
            write_atomically(self._path(number, FAULT), text)
            return False
        look = (found.st_size, found.st_mtime_ns)
        last, self._looks[number] = self._looks.get(number), look
        return last == look

    def _take(self, number: int) -> None:
        path = self._path(number, REPLY)
        try:
            self._queue.reply(number, path.read_text(encoding="utf-8", errors="replace"))
        except UserError as exc:
            path.replace(self._path(number, REFUSED))
            write_atomically(self._path(number, FAULT), f"{exc}\n")
        else:
            path.replace(self._path(number, ACCEPTED))
        del self._looks[number]

    def _path(self, number: int, kind: str) -> Path:
        return self._folder / f"{name_of(number)}.{kind}"


MAX_BODY = 64 * 1024**2
POLL_S = 0.3
"""Time between two looks for replies: other processes write them into the queue."""
SIGN_OF_LIFE_S = 15.0
"""Time between two comments in a stream that waits, so that clients and proxies keep the connection."""
_PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class ManualRefusal(Exception):
    """A request that gets an error of the API with status 400."""


@dataclass(frozen=True)
class ManualServer:
    """The endpoint and its pages around one queue. For one event loop."""

    queue: Queue
    poll_s: float = POLL_S
    sign_of_life_s: float = SIGN_OF_LIFE_S

    def app(self) -> FastAPI:
        """Return the app with its routes."""
        app = FastAPI(title="longbeam serve-manual", openapi_url=None)
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK, "localhost"])
        app.add_api_route("/v1/chat/completions", self.chat, methods=["POST"])
        app.add_api_route("/v1/models", self.models, methods=["GET"])
        app.add_api_route("/", self.show_list, methods=["GET"])
        app.add_api_route("/requests/{number}.json", self.show_body, methods=["GET"])
        app.add_api_route("/requests/{number}", self.show_request, methods=["GET"])
        app.add_api_route("/requests/{number}/reply", self.take_reply, methods=["POST"])
        app.add_api_route("/requests/{number}/reopen", self.reopen, methods=["POST"])
        return app

    async def models(self) -> Response:
        """Answer with the one model there is; any name is served."""
        model = {"id": "manual", "object": "model", "created": 0, "owned_by": "longbeam"}
        return JSONResponse({"object": "list", "data": [model]})

    async def chat(self, request: Request) -> Response:
        """Answer a request when its reply is accepted; at once where that is so already."""
        try:
            body = _chat_body(request, await _read(request))
        except ManualRefusal as exc:
            error = {"message": str(exc), "type": "invalid_request_error", "param": None, "code": "bad_request"}
            return JSONResponse({"error": error}, 400)
        slot = self.queue.ask(body, _prompt_of(body))
        if body.get("stream"):
            return StreamingResponse(self._streamed(slot), media_type="text/event-stream; charset=utf-8")
        try:
            while (text := self.queue.reply_of(slot.number)) is None:
                if await request.is_disconnected():
                    return Response(status_code=499)  # nobody reads it
                await asyncio.sleep(self.poll_s)
        finally:
            self.queue.leave(slot.number)
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        whole = {**_named(slot, "chat.completion"), "choices": [choice], "usage": _usage(slot, text)}
        return Response(to_json(whole), media_type="application/json")

    async def _streamed(self, slot: QueueSlot) -> AsyncIterator[bytes]:
        clock = asyncio.get_running_loop().time
        spoke_at = clock()
        try:
            while (text := self.queue.reply_of(slot.number)) is None:
                await asyncio.sleep(self.poll_s)  # cancelled when the client goes
                if clock() - spoke_at >= self.sign_of_life_s:
                    yield b": waiting\n\n"
                    spoke_at = clock()
        finally:
            self.queue.leave(slot.number)
        named = _named(slot, "chat.completion.chunk")
        for delta, reason in (({"role": "assistant", "content": text}, None), (dict[str, str](), "stop")):
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            yield _event({**named, "choices": [choice]})
        if (slot.body.get("stream_options") or {}).get("include_usage"):
            yield _event({**named, "choices": [], "usage": _usage(slot, text)})
        yield b"data: [DONE]\n\n"

    async def show_list(self, prompt: str = "") -> Response:
        """Show the requests: those without a reply, and the last that were answered."""
        now, counts = time.time(), self.queue.counts()
        waiting, answered = self.queue.unanswered(prompt), self.queue.answered(prompt)
        return _page("list.html", prompt=prompt, counts=counts, waiting=waiting, answered=answered, now=now)

    async def show_body(self, number: int) -> Response:
        """Answer with a request as it was sent."""
        return Response(to_json(self._slot(number).body), media_type="application/json")

    async def show_request(self, number: int) -> Response:
        """Show one request whole, with its reply or a box for it."""
        return self._request_page(self._slot(number))

    async def take_reply(self, request: Request, number: int) -> Response:
        """Accept the box's reply and show the list; show the box with the fault again if it has another form."""
        slot, form = self._slot(number), parse_qs((await _read(request)).decode("utf-8", "replace"))
        text = form.get("reply", [""])[0]
        try:
            self.queue.reply(number, text)
        except UserError as exc:
            return self._request_page(slot, fault=str(exc), text=text)
        return RedirectResponse(f"/?{urlencode({'prompt': form.get('prompt', [''])[0]})}", 303)

    async def reopen(self, request: Request, number: int) -> Response:
        """Drop an accepted reply and show the request again."""
        await _read(request)
        self._slot(number)
        self.queue.reopen(number)
        return RedirectResponse(f"/requests/{number}", 303)

    def _request_page(self, slot: QueueSlot, *, fault: str = "", text: str = "") -> Response:
        messages = [(str(m.get("role")), text_of(m)) for m in slot.body["messages"]]
        shown = {"slot": slot, "messages": messages, "schema": schema_of(slot.body), "fault": fault, "text": text}
        return _page("request.html", headline=headline(slot), now=time.time(), status=422 if fault else 200, **shown)

    def _slot(self, number: int) -> QueueSlot:
        try:
            return self.queue.slot(number)
        except UserError as exc:
            raise HTTPException(404, str(exc)) from exc


def _prompt_of(body: dict[str, Any]) -> str:
    """Return the name of a request's prompt, which the schema names; prose is recognised by its prompt's words."""
    return schema_name(body) or default_registry().recognised(" ".join(map(text_of, body["messages"]))) or ""


def _chat_body(request: Request, raw: bytes) -> dict[str, Any]:
    """Return the body of a request that can be answered by hand; raises ManualRefusal for another."""
    # A form of any page may send text; only our own pages, and programs, send JSON.
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise ManualRefusal("bodies are JSON: send Content-Type: application/json")
    try:
        body = from_json(raw)
    except ValueError as exc:
        raise ManualRefusal(f"the request's body is no JSON: {exc}") from exc
    if (fault := fault_of_body(body)) is not None:
        raise ManualRefusal(fault)
    return body  # type: ignore[no-any-return]


async def _read(request: Request) -> bytes:
    """Return the body of a request; raises HTTPException for one too long, or sent by a page of another site."""
    if why := foreign_page(request.headers):
        raise HTTPException(403, why)
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > MAX_BODY:
            raise HTTPException(413, f"the body is longer than {MAX_BODY:,} bytes")
    return bytes(raw)


def _page(name: str, *, status: int = 200, **values: object) -> Response:
    return HTMLResponse(_PAGES.get_template(name).render(**values), status)


def _named(slot: QueueSlot, kind: str) -> dict[str, Any]:
    made = {"object": kind, "created": int(slot.asked_at), "model": slot.body.get("model", "manual")}
    return {"id": f"chatcmpl-manual-{slot.name}", **made}


def _usage(slot: QueueSlot, text: str) -> dict[str, int]:
    count = load_tokenizer(DEFAULT_TOKENIZER).count
    prompt, output = sum(count(text_of(m)) for m in slot.body["messages"]), count(text)
    return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + to_json(data) + b"\n\n"


async def _exchange(folder: RequestFolder, poll_s: float) -> None:
    told = ""
    while True:
        try:
            folder.exchange()
        except (OSError, UserError) as exc:  # the folder may be in order again at the next look
            if str(exc) != told:
                told = str(exc)
                print(f"error: the folder of requests: {printable(told)}", file=sys.stderr)
        await asyncio.sleep(poll_s)


@asynccontextmanager
async def listening(server: ManualServer, folder: Path | None = None, port: int = 0) -> AsyncIterator[str]:
    """Yield the base URL of the server while it runs; UserError when the port is taken.

    `folder` gets the requests as files, and replies are read from there.
    """
    try:
        listener = open_listener(LOOPBACK, port)
    except OSError as exc:
        raise UserError(f"--port {port}: cannot listen on {LOOPBACK}: {exc.strerror}; choose another") from exc
    server.queue.begin()
    exchanging = asyncio.create_task(_exchange(RequestFolder(server.queue, folder), server.poll_s)) if folder else None
    try:
        # Requests that wait when the server stops are cancelled, which uvicorn would log as errors.
        async with serving(server.app(), listener, log_level="critical") as base_url:
            yield base_url
    finally:
        if exchanging is not None:
            exchanging.cancel()
            with suppress(asyncio.CancelledError):
                await exchanging


async def run_server(queue_folder: Path, folder: Path | None, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve a queue until SIGINT or SIGTERM; `on_ready` receives the base URL."""
    default_registry()  # read now, not with the first request
    queue = Queue(queue_folder)
    async with AsyncExitStack() as stack:
        stack.callback(queue.close)
        base_url = await stack.enter_async_context(listening(ManualServer(queue), folder, port))
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        on_ready(base_url)
        await stopped.wait()
