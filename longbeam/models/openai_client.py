"""A ChatModel over any endpoint that speaks OpenAI's chat completions.

Headers come from the `openai` package, certificates from its HTTP library. Requests go out over connections of our own,
because `chat.completions.create` costs ten times their CPU (docs/design/0012-transport-and-limits.md). Nothing is
retried here: the limits above must see every refusal.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import from_json, to_json

from longbeam.errors import ProviderError, SpecError
from longbeam.models.base import ModelCall
from longbeam.models.batch_api import BatchApi
from longbeam.models.connections import Answer, BrokenOff, Connections, TooLarge, Unreachable
from longbeam.models.loops import LOOP, find_loop
from longbeam.models.outcomes import thought_in
from longbeam.models.provider_errors import error_in_reply, error_of_status, is_web_page
from longbeam.models.redaction import Redactor
from longbeam.models.request_fields import REFUSING, RequestFields
from longbeam.models.streams import ReplyStream
from longbeam.models.structured import Step, StructuredOutput
from longbeam.models.tools import text_of_tools, tools_of
from longbeam.schemas import ChatMessage, Endpoint, Limits, ModelReply, Tool
from longbeam.terminal import printable

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
OPENAI_URL = "https://api.openai.com/v1"
SENT_HEADERS = frozenset(
    {"accept", "authorization", "content-type", "user-agent", "openai-organization", "openai-project"}
)
EXTRA_FIELD = "longbeam"
"""Member of the body that carries the extras of a call to a server that answers by rule."""
LEAST_BYTES, BYTES_PER_TOKEN = 1024**2, 128
"""Size limit of an answer, and its share for each token that the reply may have. A stream may have 32 times as much: an
event that carries one token has 300 bytes at OpenAI, and 1,500 where it names the log probabilities."""
UNLIMITED_TOKENS = 32_768
"""Assumed length limit of a reply whose request names none."""
CHARACTERS_PER_TOKEN = 16
"""At most, on average over a reply: the limit of what is kept in memory."""
ESTIMATED_CHARACTERS = 4
"""Characters per token of a streamed reply whose tokens the endpoint does not count."""
LONGEST_THOUGHT = 8_192
"""Tokens of thought that length limits leave room for twice; a longer one is asked for again with more room."""
MOST_TOKENS = 10**9
"""No call has more; a larger count is an endpoint's mistake and counts as none."""


class OpenAIModel:
    """Answers the calls of one model name. For one event loop; connections are made with the first call."""

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        key: str,
        notice: Callable[[str], None],
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        """`name` as the spec has it; `key` may be empty; `notice` gets a line when a kind of request is given up."""
        # Not at the top: 0.6 s that a run without endpoints need not wait for. Not with the first call: it would hold
        # up the others.
        import httpx2

        self.name = name
        self._endpoint = endpoint
        self._redacted = Redactor(key)
        base_url = self._base_url = endpoint.base_url or OPENAI_URL
        self.where = f"{name} at {base_url}"
        self._model = endpoint.model or name.partition(":")[2]
        self._model_json = to_json(self._model)
        self._most_bytes = None if limits.max_reply_mb is None else int(limits.max_reply_mb * 1024**2)
        self._structured = StructuredOutput(endpoint.structured, notice, self.where)
        self._fields = RequestFields(notice, self.where, endpoint.reasoning, endpoint.streams)
        self._thought_tokens = 0
        """Tokens of the longest thought so far; length limits of requests leave room for one twice as long."""
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
        most = call.sampling.max_tokens
        if most is not None:
            most += 2 * self._thought_tokens
        while True:
            form = self.form_of(call)
            try:
                reply = await self._ask(call, most)
            except ProviderError as exc:
                if exc.kind not in REFUSING:
                    raise
                if self.adapts_to(exc, call, form):
                    continue
                if most is None or not self._fields.is_too_long(str(exc)):
                    raise
                most = None  # the endpoint then takes what its context leaves
                continue
            if call.prompt.output is not None and self._structured.tool_of(call.prompt) is None:
                self._structured.accept(form[0])
            self._thought_tokens = min(max(self._thought_tokens, reply.reasoning_tokens), LONGEST_THOUGHT)
            return reply

    def form_of(self, call: ModelCall) -> tuple[Step, int]:
        """Return what the form of a call's request depends on; it changes when the endpoint refuses a part of one."""
        return self._structured.step_for(call.prompt), self._fields.given_up

    def adapts_to(self, error: ProviderError, call: ModelCall, form: tuple[Step, int]) -> bool:
        """Return whether a call that met an error may be sent again, because its request now has another form."""
        if error.kind not in REFUSING or error.kind == "context_length":
            return False
        if self.form_of(call) != form:
            return True  # another call was refused meanwhile
        message = str(error)
        return (
            self._fields.give_up(call.sampling, message)
            or self._structured.step_down(call.prompt, form[0], message)
            or self._fields.give_up_streaming(message)
        )

    def batch_api(self, key: str) -> BatchApi:
        """Return the batch API beside the chat route."""
        most_bytes = LEAST_BYTES + BYTES_PER_TOKEN * UNLIMITED_TOKENS
        return BatchApi(self._base_url, key, where=self.where, redacted=self._redacted, most_bytes=most_bytes)

    async def aclose(self) -> None:
        """Close the connections."""
        self._connections.close()
        await asyncio.sleep(0)  # in which the loop does it

    def body(self, call: ModelCall, max_tokens: int | None, *, is_streamed: bool = True) -> list[bytes]:
        """Return the body of a call's request, in parts; `is_streamed`: where the endpoint streams."""
        # Most of a request is what the one before it said: the JSON of each message is kept with the message.
        parts = [b'{"model":', self._model_json, b',"messages":[']
        for message in call.messages():
            parts += (message.kept_json, b",")
        parts[-1] = b"]"
        if (tool := self._structured.tool_of(call.prompt)) is not None:
            parts += (b',"tools":', to_json(tools_of(call.prompt, tool, call.inputs)))
        elif (response_format := self._structured.response_format(call.prompt, call.inputs)) is not None:
            parts += (b',"response_format":', response_format)
        parts.append(self._fields.json(call.sampling, max_tokens, is_streamed=is_streamed))
        if call.extras is not None:
            parts += (b',"%s":{"extras":' % EXTRA_FIELD.encode(), call.extras.json, _named(call))
        parts.append(b"}")
        return parts

    async def _ask(self, call: ModelCall, max_tokens: int | None) -> ModelReply:
        tokens = max_tokens or UNLIMITED_TOKENS
        clock, progress = asyncio.get_running_loop().time, call.progress

        def on_heard() -> None:
            progress.heard_at = clock()

        progress.heard_at = None
        most_characters = LEAST_BYTES // 4 + CHARACTERS_PER_TOKEN * tokens
        stream = ReplyStream(most_characters=most_characters, parse=_parsed, on_heard=on_heard)
        most_bytes = self._most_bytes or LEAST_BYTES + BYTES_PER_TOKEN * tokens
        try:
            answer = await self._connections.post(self.body(call, max_tokens), events=stream, most_bytes=most_bytes)
            data = self._streamed(stream) if answer.is_stream else self.data_of(answer)
        except Unreachable as exc:
            reason = f"cannot be reached ({_reason(exc)}); is it running, and is base_url right?"
            raise ProviderError(f"{self.where} {reason}", kind="connection", is_retryable=True) from exc
        except BrokenOff as exc:
            reason = f"the connection broke before the reply was whole ({_reason(exc)})"
            raise ProviderError(f"{self.where}: {reason}", kind="connection", is_retryable=True) from exc
        except ValueError as exc:
            text = f"{self.where}: an event of the stream is not whole JSON ({_reason(exc)})"
            raise ProviderError(text, kind="server_error", is_retryable=True) from exc
        except TooLarge as exc:
            reason = f"the endpoint sent {_reason(exc)}, and was hung up on; limits.max_reply_mb allows more"
            raise ProviderError(f"{self.where}: {reason}", kind="too_large", is_retryable=True) from exc
        return self.reply_of(data, call, is_stream=answer.is_stream)

    def _streamed(self, stream: ReplyStream) -> dict[str, Any]:
        data = stream.finish()
        if data.get("error"):
            raise error_in_reply(self.where, data["error"], self._redacted)
        if not stream.has_ended:
            raise BrokenOff("the stream ended without an end of the reply")
        return data

    def data_of(self, answer: Answer) -> dict[str, Any]:
        """Return the chat completion that an answer holds; raises ProviderError for anything else."""
        body = answer.body
        if answer.status >= 400:
            raise error_of_status(self.where, answer, self._redacted)
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
            text = f"{self.where}: the reply is not whole JSON ({len(body)} bytes: {_reason(exc)})"
            raise ProviderError(text, kind="server_error", is_retryable=True) from exc
        if isinstance(data, dict) and data.get("error"):
            raise error_in_reply(self.where, data["error"], self._redacted)
        if not isinstance(data, dict) or not isinstance(data.get("choices"), list) or not data["choices"]:
            text = f"{self.where}: the reply has no choices; this is not chat completions"
            raise ProviderError(text, kind="not_an_api", is_retryable=True)
        return data

    def reply_of(self, data: dict[str, Any], call: ModelCall, *, is_stream: bool = False) -> ModelReply:
        """Return the reply that a chat completion holds."""
        choice = _object(data["choices"][0])
        message, usage = _object(choice.get("message")), _object(data.get("usage"))
        text, reason = _text(message.get("content")), str(choice.get("finish_reason") or "stop")
        thought = _text(message.get("reasoning_content") or message.get("reasoning"))
        said = len(text) + len(thought)
        if reason == "length" and (find_loop(text) or find_loop(thought)):
            reason = LOOP  # more room would not help
        thought = thought or thought_in(text)
        tool: Tool | None = call.prompt.tool
        if tool is not None and reason in {"stop", "tool_calls"}:
            text, reason = text_of_tools(tool, message, text), "stop"
        is_counted = bool(usage) or not is_stream
        output = _count(usage, "completion_tokens") if is_counted else -(-said // ESTIMATED_CHARACTERS)
        reasoning = _count(_object(usage.get("completion_tokens_details")), "reasoning_tokens")
        return ModelReply(
            text=self._storable(text),
            finish_reason=self._storable(reason)[:40],
            refusal=self._storable(_text(message.get("refusal"))),
            model=self._storable(str(data.get("model") or self._model))[:200],
            prompt_tokens=_count(usage, "prompt_tokens") if is_counted else _estimated_tokens(call.messages()),
            cached_tokens=_count(_object(usage.get("prompt_tokens_details")), "cached_tokens"),
            output_tokens=output,
            reasoning_tokens=reasoning or (thought and output * len(thought) // max(1, said)) or 0,
        )

    def _storable(self, text: str) -> str:
        """Return the text without our key, lone surrogates and characters that steer a terminal."""
        text = self._redacted(text)
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()  # JSON may escape half a pair, which UTF-8 cannot hold
        return _CONTROL.sub("", text)


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
    except ValueError as exc:
        if _SURROGATE.search(body) is None:
            raise
        try:
            return json.loads(body)  # slower, and it takes half a surrogate pair, which some models say
        except RecursionError:
            raise exc from None


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


def _object(value: Any) -> dict[str, Any]:  # Any: what the endpoint sent
    return value if isinstance(value, dict) else {}


def _count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else 0


def _estimated_tokens(messages: Sequence[ChatMessage]) -> int:
    return -(-sum(len(m.content) for m in messages) // ESTIMATED_CHARACTERS)


def _reason(exc: BaseException) -> str:
    """Return a transport's reason in one line."""
    return printable(" ".join(str(exc).split()))[:200] or type(exc).__name__
