"""A ChatModel over any endpoint that speaks OpenAI's chat completions.

Headers come from the `openai` package, certificates from its HTTP library. Requests go out over connections of our own,
because `chat.completions.create` costs ten times their CPU (docs/design/0012-transport-and-limits.md). Nothing is
retried here: the limits above must see every refusal.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import from_json, to_json

from longbeam.errors import ProviderError, SpecError
from longbeam.models.base import ModelCall
from longbeam.models.connections import Answer, BrokenOff, Connections, Unreachable
from longbeam.models.provider_errors import error_in_reply, error_of_status, is_web_page
from longbeam.models.structured import StructuredOutput
from longbeam.models.tools import text_of_tools, tools_of
from longbeam.schemas.calls import ModelReply, Tool
from longbeam.schemas.spec import Endpoint

OPENAI_URL = "https://api.openai.com/v1"
SENT_HEADERS = frozenset(
    {"accept", "authorization", "content-type", "user-agent", "openai-organization", "openai-project"}
)
EXTRA_FIELD = "longbeam"
"""Member of the body that carries the extras of a call to a server that answers by rule."""


class OpenAIModel:
    """Answers the calls of one model name. For one event loop; connections are made with the first call."""

    def __init__(self, name: str, endpoint: Endpoint, *, key: str, notice: Callable[[str], None]) -> None:
        """`name` as the spec has it; `key` may be empty; `notice` gets a line when a kind of request is given up."""
        # Not at the top: 0.6 s that a run without endpoints need not wait for. Not with the first call: it would hold
        # up the others.
        import httpx2

        self._name = name
        self._endpoint = endpoint
        self._key = key
        base_url = endpoint.base_url or OPENAI_URL
        self.where = f"{name} at {base_url}"
        self._model = endpoint.model or name.partition(":")[2]
        self._model_json = to_json(self._model)
        self._structured = StructuredOutput(endpoint.structured, notice, self.where)
        try:
            self._connections = Connections(
                f"{base_url}/chat/completions",
                _headers(key, base_url),
                create_ssl_context=httpx2.create_ssl_context,
            )
        except ValueError as exc:
            raise SpecError(f"{name}: {exc}") from exc

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply; raise ProviderError when there is none. A refused kind of request is sent another way."""
        while True:
            step = self._structured.step_for(call.prompt)
            try:
                data = await self._post(self._body(call))
            except ProviderError as exc:
                if exc.kind in {"bad_request", "server_error"} and self._structured.step_down(
                    call.prompt, step, str(exc)
                ):
                    continue
                raise
            if call.prompt.output is not None and self._structured.tool_of(call.prompt) is None:
                self._structured.accept(step)
            return self._reply(data, call.prompt.tool)

    async def aclose(self) -> None:
        """Close the connections."""
        self._connections.close()
        await asyncio.sleep(0)  # in which the loop does it

    def _body(self, call: ModelCall) -> list[bytes]:
        # Most of a request is what the one before it said: the JSON of each message is kept with the message.
        parts = [b'{"model":', self._model_json, b',"messages":[']
        for message in call.messages():
            parts += (message.kept_json, b",")
        parts[-1] = b"]"
        if (tool := self._structured.tool_of(call.prompt)) is not None:
            parts += (b',"tools":', to_json(tools_of(call.prompt, tool, call.inputs)))
        elif (response_format := self._structured.response_format(call.prompt, call.inputs)) is not None:
            parts += (b',"response_format":', response_format)
        if (most := call.sampling.max_tokens) is not None:
            parts.append(b',"%s":%d' % (b"max_completion_tokens" if self._endpoint.reasoning else b"max_tokens", most))
        if call.sampling.temperature is not None and not self._endpoint.reasoning:
            parts.append(b',"temperature":' + to_json(call.sampling.temperature))
        if call.extras is not None:
            parts += (b',"%s":{"extras":' % EXTRA_FIELD.encode(), call.extras.json, _named(call))
        parts.append(b"}")
        return parts

    async def _post(self, parts: Sequence[bytes]) -> dict[str, Any]:
        try:
            answer = await self._connections.post(parts)
        except Unreachable as exc:
            reason = f"cannot be reached ({_reason(exc)}); is it running, and is base_url right?"
            raise ProviderError(f"{self.where} {reason}", kind="connection", is_retryable=True) from exc
        except BrokenOff as exc:
            reason = f"the connection broke before the reply was whole ({_reason(exc)})"
            raise ProviderError(f"{self.where}: {reason}", kind="connection", is_retryable=True) from exc
        return self._data_of(answer, self._without_key(answer.body))

    def _without_key(self, body: bytes) -> bytes:
        """Return the body with our key masked, should it be there: replies and errors are stored and shown."""
        key = self._key.encode()
        return body.replace(key, b"***") if key and key in body else body

    def _data_of(self, answer: Answer, body: bytes) -> dict[str, Any]:
        if answer.status >= 400:
            raise error_of_status(self.where, answer.status, answer.headers, body)
        if is_web_page(body) or 300 <= answer.status < 400:
            raise ProviderError(
                f"{self.where} answers with a web page or a redirection, not as an API does; "
                "base_url should end as in http://127.0.0.1:8000/v1",
                kind="not_an_api",
                is_retryable=True,
            )
        try:
            data = _parsed(body)
        except ValueError as exc:
            text = f"{self.where}: the reply is not whole JSON ({len(body)} bytes: {exc})"
            raise ProviderError(text, kind="server_error", is_retryable=True) from exc
        if isinstance(data, dict) and data.get("error"):
            raise error_in_reply(self.where, data["error"])
        if not isinstance(data, dict) or not isinstance(data.get("choices"), list) or not data["choices"]:
            text = f"{self.where}: the reply has no choices; this is not chat completions"
            raise ProviderError(text, kind="not_an_api", is_retryable=True)
        return data

    def _reply(self, data: dict[str, Any], tool: Tool | None) -> ModelReply:
        choice = _object(data["choices"][0])
        message, usage = _object(choice.get("message")), _object(data.get("usage"))
        text, reason = _text(message.get("content")), str(choice.get("finish_reason") or "stop")
        if tool is not None and reason in {"stop", "tool_calls"}:
            text, reason = text_of_tools(tool, message, text), "stop"
        return ModelReply(
            text=_storable(text),
            finish_reason=reason,
            refusal=_storable(_text(message.get("refusal"))),
            model=_storable(str(data.get("model") or self._model)),
            prompt_tokens=_count(usage, "prompt_tokens"),
            cached_tokens=_count(_object(usage.get("prompt_tokens_details")), "cached_tokens"),
            output_tokens=_count(usage, "completion_tokens"),
            reasoning_tokens=_count(_object(usage.get("completion_tokens_details")), "reasoning_tokens"),
        )


def _headers(key: str, base_url: str) -> dict[str, str]:
    """Return the headers of each request; the `openai` package finds organisation and project."""
    import openai

    with openai.OpenAI(api_key=key or "none", base_url=base_url) as sdk:
        given = {**sdk.default_headers, **(sdk.auth_headers if key else {})}
    # The rest tells OpenAI about this machine.
    return {n: v for n, v in given.items() if isinstance(v, str) and n.lower() in SENT_HEADERS}


def _parsed(body: bytes) -> Any:  # Any: a JSON tree
    try:
        return from_json(body)
    except ValueError:
        return json.loads(body)  # slower, and it takes half a surrogate pair, which some models say


def _named(call: ModelCall) -> bytes:
    """Return the rest of the member `EXTRA_FIELD`: what identifies the call."""
    named = {
        "prompt_id": call.prompt.prompt_id,
        "prompt_version": call.prompt.version,
        "role": call.role.value,
        "benchmark_seed": call.benchmark_seed,
        "unit_key": call.unit_key,
        "generation": call.generation,
    }
    return b"," + to_json(named)[1:]


def _text(content: Any) -> str:  # Any: what the endpoint sent
    """Return the text of a message's content, which is text or a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _storable(text: str) -> str:
    """Return the text with lone surrogates replaced: JSON may escape them, and UTF-8 cannot hold them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _object(value: Any) -> dict[str, Any]:  # Any: what the endpoint sent
    return value if isinstance(value, dict) else {}


def _count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value >= 0 else 0


def _reason(exc: BaseException) -> str:
    """Return a transport's reason in one line."""
    return " ".join(str(exc).split())[:200] or type(exc).__name__
