"""The loopback server: the offline writer behind an OpenAI-compatible address, with the faults of real ones.

    POST /v1/chat/completions   the reply to the extras in the body's `longbeam` member, or a recorded one
    POST /v1/files, POST and GET /v1/batches, GET /v1/files/ID/content: the batch API
    GET  /v1/models
    GET  /counts                what was asked and answered; `?calls=1` adds the answered calls, and latencies by unit
    POST /control               a JSON object of settings to change; `{"reset": true}` zeroes the counts

It listens on 127.0.0.1 only.
"""

from __future__ import annotations

import asyncio
import hashlib
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from pydantic_core import from_json, to_json

from longbeam.errors import UserError
from longbeam.models import DEFAULT_TOKENIZER, EXTRA_FIELD, load_tokenizer
from longbeam.offline.loopback.answers import Batches, Prompts, UnknownRequest, answer, call_of
from longbeam.offline.loopback.requests import (
    LOOP_TOKENS,
    THOUGHT,
    CutOff,
    Refusal,
    Request,
    Said,
    break_json,
    check_members,
    draw_fault,
    envelope,
    latency_s,
    looping,
    refuse_poisoned,
    send_said,
)
from longbeam.offline.loopback.settings import Counts, PromptUsage, ServerSettings, UsageMeter, changed
from longbeam.offline.writer import OfflineWriter
from longbeam.schemas import ModelReply
from longbeam.serving import LOOPBACK, Receive, Scope, Send, open_listener, serving


class RecordedReply(Protocol):
    """A model's reply, and the call that it answered."""

    @property
    def unit_key(self) -> str:
        """Unit key of the call."""

    @property
    def generation(self) -> int:
        """Generation of the call."""

    @property
    def reply(self) -> ModelReply:
        """The reply."""


class Recording(Protocol):
    """Replies of an earlier run; `pipeline.recording.Recording` is one."""

    @property
    def name(self) -> str:
        """The benchmark's."""

    def reply_to(self, messages: Sequence[tuple[str, str]]) -> RecordedReply | None:
        """The reply to messages, each a role and a content; None if nobody asked them."""


@dataclass(frozen=True)
class Asked:
    """A request that can be answered."""

    unit_key: str
    generation: int
    wants_json: bool
    answer: Callable[[], ModelReply]
    """Works the reply out; its tokens are 0 if nobody counted them."""


@dataclass
class LoopbackServer:
    """The state of one server; one event loop."""

    prompts: Prompts
    settings: ServerSettings
    recording: Recording | None = None
    """Answers requests without extras."""
    counts: Counts = field(default_factory=Counts)
    writer: OfflineWriter = field(default_factory=OfflineWriter)
    batches: Batches = field(init=False)
    usage: UsageMeter = field(default_factory=lambda: UsageMeter(load_tokenizer(DEFAULT_TOKENIZER)))

    def __post_init__(self) -> None:
        self.batches = Batches(self._answer_line)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request at one of the routes; an ASGI app."""
        if scope["path"].startswith(("/v1/files", "/v1/batches")) and self.settings.batches:
            await Request(scope, receive, send).handle(partial(self._batch, scope["method"]))
            return
        work = _ROUTES.get((scope["method"], scope["path"]), _refuse_route)
        await Request(scope, receive, send).handle(partial(work, self))

    async def models(self, request: Request) -> None:
        """Answer with the one model there is; any name is served."""
        model = {"id": "offline", "object": "model", "created": 0, "owned_by": "longbeam"}
        await request.answer(to_json({"object": "list", "data": [model]}))

    async def show_counts(self, request: Request) -> None:
        """Answer with the counts, and with the answered calls when they are asked for."""
        shown = self.counts.as_json()
        if request.query.get("calls"):
            shown["answered_calls"] = list(self.counts.answered_calls.values())
            shown["latencies_s"] = dict(sorted(self.counts.latencies_s.items()))
        await request.answer(to_json(shown))

    async def control(self, request: Request) -> None:
        """Change settings, zero the counts; the answer is the settings as they are now."""
        try:
            values = from_json(await request.read())
            if not isinstance(values, dict):
                raise UserError("a JSON object of settings is expected")
            reset = values.pop("reset", False)
            self.settings = changed(self.settings, values)
        except (UserError, ValueError) as exc:
            await _answer_error(request, Refusal(400, "bad_request", str(exc)))
            return
        except Refusal as exc:
            await _answer_error(request, exc)
            return
        if reset:
            self.counts = Counts(in_flight=self.counts.in_flight)
        await request.answer(to_json(self.settings.model_dump(mode="json")))

    async def chat(self, request: Request) -> None:
        """Answer a request, or refuse it."""
        arrived = asyncio.get_running_loop().time()
        settings = self.settings
        self.counts.begin()
        try:
            self._admit(request, settings)
        except Refusal as exc:
            await self._refuse(request, exc)
            return
        self.counts.enter()
        try:
            await self._serve(request, settings, arrived)
        except Refusal as exc:
            await self._refuse(request, exc)
        except CutOff:
            self.counts.refused["cut_off"] += 1
            raise
        except (asyncio.CancelledError, ConnectionError):
            self.counts.abandoned += 1
            raise
        finally:
            self.counts.in_flight -= 1

    async def _batch(self, method: str, request: Request) -> None:
        try:
            self._admit(request, self.settings)
            found = await self.batches.answer(method, request, self.settings)
        except Refusal as exc:
            await self._refuse(request, exc)
            return
        await request.answer(found if isinstance(found, bytes) else to_json(found))

    def _answer_line(self, body: dict[str, Any], raw: bytes) -> tuple[int, dict[str, Any]]:
        """Answer a request of a batch; returns status and body."""
        self.counts.begin()
        try:
            check_members(body, self.settings)
            asked = self._asked(body, self.settings)
            refuse_poisoned(self.settings, asked.unit_key)
            key = hashlib.sha256(raw).hexdigest()
            attempt = self.counts.ask(key)
            fault = draw_fault(self.settings, key, attempt)
            if fault in ("rate_limited", "failing"):
                raise Refusal(500, "server_error", "the server had an error while processing the request")
            said = self._said(body, asked, fault, f"{key}/{attempt}")
        except Refusal as exc:
            self.counts.refused[str(exc.status)] += 1
            return exc.status, {"error": _error_of(exc)}
        self.counts.answer(key, asked.unit_key, asked.generation, 0.0)
        return 200, envelope(body, said)

    def _admit(self, request: Request, settings: ServerSettings) -> None:
        if settings.key and request.header(b"authorization") != f"Bearer {settings.key}":
            raise Refusal(401, "invalid_api_key", "Incorrect API key provided.")
        if settings.max_in_flight is not None and self.counts.in_flight >= settings.max_in_flight:
            raise _too_many(settings, f"{settings.max_in_flight} requests are being served; no more at once")

    async def _serve(self, request: Request, settings: ServerSettings, arrived: float) -> None:
        # Everything that came in together is looked at before the first of it is answered, so that waiting for the
        # others' answers is part of each one's latency.
        await asyncio.sleep(0)
        raw = await request.read()
        body = _body(raw)
        check_members(body, settings)
        if settings.fixed_reply_tokens and EXTRA_FIELD not in body:
            await self._serve_fixed(request, body, settings, arrived)
            return
        asked = self._asked(body, settings)
        refuse_poisoned(settings, asked.unit_key)
        key = hashlib.sha256(raw).hexdigest()  # not the client's: this is to show whether it asks twice
        attempt = self.counts.ask(key)
        fault = draw_fault(settings, key, attempt)
        if fault == "hanging":
            await request.wait(None)
        # Worked out at once, so that the time it takes is part of the latency.
        said = None
        if fault not in ("rate_limited", "failing"):
            said = self._said(body, asked, fault, f"{key}/{attempt}")
        latency = latency_s(settings, key, attempt)
        await _wait_until(request, arrived + latency)
        if fault == "rate_limited":
            raise _too_many(settings, "rate limit reached")
        if said is None:
            raise Refusal(500, "server_error", "the server had an error while processing the request")
        await send_said(request, body, said, settings, fault)
        self.counts.answer(key, asked.unit_key, asked.generation, latency)

    def _asked(self, body: dict[str, Any], settings: ServerSettings) -> Asked:
        if self.recording is not None and EXTRA_FIELD not in body:
            found = self.recording.reply_to(_messages(body))
            if found is None:
                text = f"benchmark {self.recording.name!r} has no reply to these messages; was it made with this spec?"
                raise Refusal(400, "not_recorded", text)
            return Asked(found.unit_key, found.generation, "response_format" in body, lambda: found.reply)
        try:
            call = call_of(body, self.prompts)
        except UnknownRequest as exc:
            raise Refusal(400, "no_typed_inputs", str(exc)) from exc
        wants_json = call.prompt.output is not None
        return Asked(
            call.unit_key, call.generation, wants_json, lambda: ModelReply(text=answer(self.writer, call, settings))
        )

    async def _serve_fixed(
        self, request: Request, body: dict[str, Any], settings: ServerSettings, arrived: float
    ) -> None:
        await _wait_until(request, arrived + latency_s(settings, "", self.counts.received))
        words = settings.fixed_reply_tokens
        said = Said("word " * words, usage={"prompt_tokens": 0, "completion_tokens": words, "total_tokens": words})
        await send_said(request, body, said, settings, None)
        self.counts.answered += 1
        self.counts.last_at = time.monotonic()

    def _said(self, body: dict[str, Any], asked: Asked, fault: str | None, draw: str) -> Said:
        reply = asked.answer()
        text, finish_reason, settings = reply.text, reply.finish_reason, self.settings
        if asked.wants_json:
            if fault == "malformed":
                text = break_json(text, draw)
            if (body.get("response_format") or {}).get("type", "text") == "text":
                text = f"Here is what you asked for:\n```json\n{text}\n```"  # as models do that nobody holds to a form
        if fault == "truncated":
            text, finish_reason = text[: len(text) // 2], "length"
        if fault == "looping":
            limit = body.get("max_tokens") or body.get("max_completion_tokens") or LOOP_TOKENS
            text, finish_reason = looping(text, limit, self.usage.count), "length"
        thought = "" if settings.thinks == "no" else THOUGHT
        if settings.thinks in {"tag", "text"}:
            text, thought = (f"<think>{thought}</think>\n{text}" if settings.thinks == "tag" else thought + text), ""
        prompt = PromptUsage(reply.prompt_tokens, reply.cached_tokens)
        if not prompt.prompt:
            prompt = self.usage.measure(body.get("messages") or ())
        output = reply.output_tokens or self.usage.count(text) + ((thought and self.usage.count(thought)) or 0)
        self.counts.prompt_tokens += prompt.prompt
        self.counts.cached_tokens += prompt.cached
        self.counts.output_tokens += output
        usage = {
            "prompt_tokens": prompt.prompt,
            "completion_tokens": output,
            "total_tokens": prompt.prompt + output,
            "prompt_tokens_details": {"cached_tokens": prompt.cached},
        }
        return Said(text, thought, finish_reason, usage)

    async def _refuse(self, request: Request, refusal: Refusal) -> None:
        self.counts.refused[str(refusal.status)] += 1
        await _answer_error(request, refusal)


_ROUTES: Mapping[tuple[str, str], Callable[[LoopbackServer, Request], Awaitable[None]]] = {
    ("POST", "/v1/chat/completions"): LoopbackServer.chat,
    ("GET", "/v1/models"): LoopbackServer.models,
    ("GET", "/counts"): LoopbackServer.show_counts,
    ("POST", "/control"): LoopbackServer.control,
}


async def _refuse_route(server: LoopbackServer, request: Request) -> None:
    await _answer_error(request, Refusal(404, "not_found", f"there are {', '.join(map(' '.join, _ROUTES))}"))


@asynccontextmanager
async def listening(server: LoopbackServer, port: int = 0) -> AsyncIterator[str]:
    """Serve on 127.0.0.1 as long as the block lasts; gives the base URL. Port 0 takes a free one.

    Raises UserError when the port is taken.
    """
    try:
        listener = open_listener(LOOPBACK, port)
    except OSError as exc:
        raise UserError(f"--port {port}: cannot listen on {LOOPBACK}: {exc.strerror}; choose another") from exc
    # Answers are cut off on purpose, and `Request.handle` logs all other errors.
    async with serving(server.app, listener, log_level="critical") as base_url:
        yield f"{base_url}/v1"


async def serve(
    prompts: Prompts,
    settings: ServerSettings,
    recording: Recording | None = None,
    *,
    port: int,
    on_ready: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` gets the base URL. Raises UserError when the port is taken."""
    server = LoopbackServer(prompts, settings, recording)
    server.writer.load()
    server.usage.count("loaded")
    async with listening(server, port) as base_url:
        stopped = asyncio.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, stopped.set)
        on_ready(base_url)
        await stopped.wait()


def _body(raw: bytes) -> dict[str, Any]:
    try:
        body = from_json(raw)
    except ValueError as exc:
        raise Refusal(400, "bad_request", f"the request's body is no JSON: {exc}") from exc
    if not isinstance(body, dict):
        raise Refusal(400, "bad_request", "the request's body is no JSON object")
    return body


def _messages(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Role and content of each message. A content that is no text becomes one that nobody has recorded."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise Refusal(400, "bad_request", "messages is a list of objects with role and content")
    return [(str(m.get("role")), str(m.get("content"))) for m in messages]


def _too_many(settings: ServerSettings, message: str) -> Refusal:
    headers = {"Retry-After": f"{settings.retry_after_s:g}"} if settings.retry_after_s else {}
    return Refusal(429, "rate_limit_exceeded", message, headers=headers)


async def _wait_until(request: Request, moment: float) -> None:
    left = moment - asyncio.get_running_loop().time()
    if left > 0:
        await request.wait(left)


async def _answer_error(request: Request, refusal: Refusal) -> None:
    await request.answer(to_json({"error": _error_of(refusal)}), refusal.status, refusal.headers)


def _error_of(refusal: Refusal) -> dict[str, Any]:
    kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
    return {"message": str(refusal), "type": kind, "param": None, "code": refusal.code}
