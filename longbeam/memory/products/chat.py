"""The evaluation's extractor model as an OpenAI-compatible endpoint, for products that ask a model by themselves.

Requests go through the evaluation's own models: replies are journalled, counted and paid for once, the cap on cost
holds, and `--extractor` names the model as for every other system. The endpoint listens on 127.0.0.1 and takes a key
that only this preparation has. Tool calls are not passed on.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from longbeam.errors import LongbeamError, SpecError
from longbeam.memory.base import Tools
from longbeam.models import Asker, ModelCall, Sampling, answers_by_rule, identity_of
from longbeam.schemas import ChatMessage, PromptInputs, Retry, Role, Tool, digest_of

if TYPE_CHECKING:
    from longbeam.serving import Receive, Scope, Send

ROUTE = "/v1/chat/completions"
_ANY_OBJECT = {"type": "object"}


class _Request(PromptInputs):
    """Messages that a product sends, and the form of the reply that it asks for."""

    messages: tuple[ChatMessage, ...]


class _AnyReply(BaseModel):
    """Stands for the product's own schema: the reply is passed on as it is."""


@dataclass(frozen=True)
class _PassedOn:
    """A product's request as a prompt of longbeam."""

    form: dict[str, Any] | None
    prompt_id: str = "product_request"
    version: int = 1
    role: Role = Role.EXTRACTOR
    tool: Tool | None = None

    @property
    def output(self) -> type[BaseModel] | None:
        """A schema where the product asks for JSON."""
        return None if self.form is None else _AnyReply

    def schema(self, inputs: PromptInputs | None = None) -> dict[str, Any] | None:
        """Return the product's schema."""
        return self.form

    def render(self, inputs: PromptInputs, retry: Retry | None = None) -> tuple[ChatMessage, ...]:
        """Return the product's messages."""
        assert isinstance(inputs, _Request)
        return inputs.messages


@dataclass(frozen=True)
class Address:
    """Where a product asks."""

    base_url: str
    key: str


class ModelServer:
    """Serves the extractor model on the event loop on which it was made."""

    def __init__(self, system: str, tools: Tools) -> None:
        self._system = system
        self._asker: Asker = tools.asker
        self._loop = asyncio.get_running_loop()
        self._key = secrets.token_urlsafe(16)
        self._stack = AsyncExitStack()
        self.calls = self.failed = 0

    def require_model(self) -> None:
        """Raise SpecError if the extractor is no language model."""
        if answers_by_rule(self._asker.spec, self._model):
            raise SpecError(
                f"system {self._system!r} asks a language model; name one with `--extractor`, such as gguf:PATH"
            )

    def open_blocking(self) -> Address:
        """Start serving, for code outside of the event loop."""
        return asyncio.run_coroutine_threadsafe(self.open(), self._loop).result()

    def close_blocking(self) -> None:
        """Stop serving, for code outside of the event loop."""
        asyncio.run_coroutine_threadsafe(self.close(), self._loop).result()

    async def open(self) -> Address:
        """Start serving. Raises SpecError if the extractor is no language model."""
        self.require_model()
        from longbeam.serving import LOOPBACK, open_listener, serving  # needs uvicorn, which not every system does

        url = await self._stack.enter_async_context(
            serving(self._app, open_listener(LOOPBACK, 0), log_level="critical")
        )
        return Address(f"{url}/v1", self._key)

    async def close(self) -> None:
        """Stop serving."""
        await self._stack.aclose()

    @property
    def _model(self) -> str:
        return self._asker.spec.model_for(Role.EXTRACTOR)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        status, answer = await self._answered(scope, await _body_of(receive))
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async def _answered(self, scope: Scope, body: bytes) -> tuple[int, dict[str, Any]]:
        if dict(scope["headers"]).get(b"authorization") != b"Bearer " + self._key.encode():
            return 401, _error("wrong key")
        if scope["path"] != ROUTE:
            return 404, _error(f"the only route is {ROUTE}")
        try:
            call = self._call_of(json.loads(body))
        except (ValueError, KeyError, TypeError, ValidationError) as exc:
            return 400, _error(f"unreadable request: {exc}")
        self.calls += 1
        try:
            reply = await self._asker.models.chat.complete(call)
        except LongbeamError as exc:
            self.failed += 1
            return 400, _error(str(exc))  # longbeam has retried what may be retried
        message = {"role": "assistant", "content": reply.text}
        used = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.output_tokens}
        return 200, {
            "id": "longbeam",
            "object": "chat.completion",
            "created": 0,
            "model": reply.model or self._model,
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
            "usage": {**used, "total_tokens": reply.prompt_tokens + reply.output_tokens},
        }

    def _call_of(self, body: dict[str, Any]) -> ModelCall:
        if body.get("tools") or body.get("stream"):
            raise ValueError("tool calls and streams are not passed on")
        inputs = _Request(messages=tuple(ChatMessage(role=m["role"], content=m["content"]) for m in body["messages"]))
        form = _form_of(body.get("response_format") or {})
        spec = self._asker.spec
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        sampling = spec.sampling_for(Role.EXTRACTOR).model_dump()
        asked = {"temperature": body.get("temperature"), "max_tokens": limit}
        place = digest_of(inputs.kept_json.decode(), json.dumps(form, sort_keys=True))[:16]
        return ModelCall(
            prompt=_PassedOn(form),
            inputs=inputs,
            role=Role.EXTRACTOR,
            model=self._model,
            identity=identity_of(spec, self._model, self._asker.models.version_of),
            benchmark_seed=spec.seed,
            unit_key=str(self._asker.unit_key.at(place)),
            sampling=Sampling(**{**sampling, **{k: v for k, v in asked.items() if v is not None}}),
        )


def _form_of(response_format: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema that a request asks for; any object in JSON mode, None for prose."""
    match response_format.get("type", "text"):
        case "json_schema":
            schema: dict[str, Any] = response_format["json_schema"]["schema"]
            return schema
        case "json_object":
            return _ANY_OBJECT
        case _:
            return None


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error"}}


async def _body_of(receive: Receive) -> bytes:
    parts = []
    while True:
        event = await receive()
        parts.append(event.get("body", b""))
        if not event.get("more_body"):
            return b"".join(parts)
