"""A ChatModel over any endpoint that speaks OpenAI's chat completions.

The `openai` package sends the requests (`transport`). Nothing is retried here: the limits above must see every refusal.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from longbeam.errors import ProviderError, SpecError
from longbeam.models.base import ModelCall
from longbeam.models.loops import LOOP, LoopWatch, find_loop
from longbeam.models.outcomes import thought_in
from longbeam.models.provider_errors import HttpAnswer, Redactor, TooLarge, error_in_reply, error_of_status, is_web_page
from longbeam.models.request_fields import REFUSING, RequestFields
from longbeam.models.structured import FormStep, StructuredOutput, text_of_tools, tools_of
from longbeam.models.tuning import CALLING
from longbeam.schemas import ChatMessage, Endpoint, Limits, ModelReply, Tool
from longbeam.terminal import printable

ESTIMATED_CHARACTERS = 4
"""Characters per token of a streamed reply whose tokens the endpoint does not count."""
MOST_TOKENS = 10**9
"""No call has more; a larger count is an endpoint's mistake and counts as none."""
NO_TEXT = frozenset({"role", "content", "refusal", "name", "id", "annotations", "index", "type", "object"})
"""Fields of a message in which no answer of the model stands."""
READ_FIELDS = NO_TEXT | {"reasoning_content", "reasoning", "tool_calls"}
"""Fields of a streamed message that are collected, or hold no answer."""
MOST_FIELDS, LONGEST_NAME, DEEPEST = 8, 40, 6
"""Other fields of a streamed message that are kept, characters of a field's name, and levels that are searched."""
_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_TOOL_CALLS = 64
"""Most tool calls of one reply."""


class StreamedReply:
    """Collects one streamed reply."""

    def __init__(self, *, most_characters: int, on_heard: Callable[[], None] = lambda: None) -> None:
        """`on_heard` is called for each event; comments, by which gateways keep connections alive, are none."""
        self.data: dict[str, Any] = {}
        """`model`, `usage` and `error` as the events had them."""
        self.is_looping = False
        self.has_ended = False
        """Whether the endpoint said that the reply is whole."""
        self._most, self._characters = most_characters, 0
        self._on_heard = on_heard
        self._texts: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": []}
        self._lengths = dict.fromkeys(self._texts, 0)
        self._watches = {"content": LoopWatch(), "reasoning": LoopWatch()}
        self._calls: dict[int, dict[str, str]] = {}
        self._finish_reason = ""
        self._others: dict[str, Any] = {}
        """First values of fields that hold no part of the reply, by name."""

    def add(self, data: str) -> bool:
        """Take in the data of an event; returns whether the rest is not wanted. Raises ValueError."""
        self._on_heard()
        try:
            self._add_event(data)
        except ValueError:
            if "\n" not in data:
                raise
            for line in data.split("\n"):  # of an endpoint that leaves no empty line between its events
                self._add_event(line)
        return self.is_looping

    def finish(self) -> dict[str, Any]:
        """Return the whole reply in the form of one that was not streamed."""
        message: dict[str, Any] = dict(self._others)
        message |= {name: "".join(self._texts[name]) for name in ("content", "refusal")}
        message["reasoning_content"] = "".join(self._texts["reasoning"])
        if self._calls:
            message["tool_calls"] = [{"type": "function", "function": call} for _, call in sorted(self._calls.items())]
        reason = LOOP if self.is_looping else self._finish_reason
        self.has_ended = self.has_ended or bool(reason)
        return {**self.data, "choices": [{"message": message, "finish_reason": reason}]}

    def _add_event(self, data: str) -> None:
        payload = data.strip()
        if payload == "[DONE]" or not payload:
            self.has_ended = self.has_ended or bool(payload)
            return
        event = parsed(payload)
        if not isinstance(event, dict):
            return
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        for name in ("model", "usage", "error"):
            if found := event.get(name) or (name == "error" and _object(choice).get(name)):
                self.data[name] = found
        if not isinstance(choice, dict):
            return
        if isinstance(reason := choice.get("finish_reason"), str):
            self._finish_reason = reason
        # Some endpoints that "stream" send one event with a whole message.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._add_delta(delta)
        elif _has_text(choice.get("text")):  # as of an endpoint of plain completions
            self._others.setdefault("text", choice["text"])

    def _add_delta(self, delta: dict[str, Any]) -> None:
        if isinstance(said := delta.get("content"), str):
            self._add_text("content", said)
        elif isinstance(said, list):
            for part in said:
                self._add_text("content", part.get("text") if isinstance(part, dict) else "")
        if len(delta) == 1 and "content" in delta:
            return  # as nearly all are
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and "reasoning_content" not in delta:
            self._others.setdefault("reasoning", thought)
        self._add_text("reasoning", thought)
        self._add_text("refusal", delta.get("refusal"))
        for name, value in delta.items():
            if name not in READ_FIELDS and len(self._others) < MOST_FIELDS and _has_text(value):
                self._others.setdefault(name[:LONGEST_NAME], value)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._add_call(call)

    def _add_text(self, name: str, said: object) -> None:
        if not isinstance(said, str) or not said:
            return
        texts = self._texts[name]
        texts.append(said)
        self._lengths[name] += len(said)
        self._count(len(said))
        watch = self._watches.get(name)
        if watch is not None and watch.is_due(self._lengths[name]):
            texts[:] = ["".join(texts)]
            self.is_looping = self.is_looping or find_loop(texts[0]) is not None

    def _add_call(self, call: object) -> None:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            return
        index = call.get("index")
        index = index if isinstance(index, int) else len(self._calls)
        made = self._calls.setdefault(index, {"name": "", "arguments": ""})
        if len(self._calls) > _TOOL_CALLS:
            raise TooLarge(f"more than {_TOOL_CALLS} tool calls")
        for name in made:
            if isinstance(said := function.get(name), str):
                made[name] += said
                self._count(len(said))

    def _count(self, characters: int) -> None:
        self._characters += characters
        if self._characters > self._most:
            raise TooLarge(f"a reply of more than {self._most:,} characters")


@dataclass(frozen=True)
class CompletionReader:
    """Reads what one endpoint answers."""

    where: str
    """Begins each error."""
    model: str
    """Name that the endpoint knows; a reply may name another."""
    redacted: Callable[[str], str]
    """Masks the endpoint's key."""

    def streamed(self, stream: StreamedReply) -> dict[str, Any]:
        """Return the chat completion that a stream held; raises ProviderError for a stream that is none."""
        data = stream.finish()
        if data.get("error"):
            raise error_in_reply(self.where, data["error"], self.redacted)
        if not stream.has_ended:
            reason = "the connection broke before the reply was whole (the stream ended without an end of the reply)"
            raise ProviderError(f"{self.where}: {reason}", kind="connection", is_retryable=True)
        return data

    def data_of(self, answer: HttpAnswer) -> dict[str, Any]:
        """Return the chat completion that an answer holds; raises ProviderError for anything else."""
        body = answer.body
        if answer.status >= 400:
            raise error_of_status(self.where, answer, self.redacted)
        if is_web_page(body) or 300 <= answer.status < 400:
            raise ProviderError(
                f"{self.where} answers with a web page or a redirection, not as an API does; "
                "base_url should end as in http://127.0.0.1:8000/v1",
                kind="not_an_api",
                is_retryable=True,
            )
        try:
            data = _object(parsed(body))
        except ValueError as exc:
            reason = printable(" ".join(str(exc).split()))[:200]
            text = f"{self.where}: the reply is not whole JSON ({len(body)} bytes: {reason})"
            raise ProviderError(text, kind="server_error", is_retryable=True) from exc
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        # A gateway may pass an error on in the place of the one choice.
        if error := data.get("error") or _object(choice).get("error"):
            raise error_in_reply(self.where, error, self.redacted)
        if choice is None:
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
        made = ModelReply(
            text=self._storable(text),
            finish_reason=self._storable(reason)[:40],
            refusal=self._storable(_text(message.get("refusal"))),
            model=self._storable(str(data.get("model") or self.model))[:200],
            prompt_tokens=_count(usage, "prompt_tokens") if is_counted else _estimated_tokens(call.messages()),
            cached_tokens=_count(_object(usage.get("prompt_tokens_details")), "cached_tokens"),
            output_tokens=output,
            reasoning_tokens=reasoning or (thought and output * len(thought) // max(1, said)) or 0,
        )
        held = "" if text.strip() else self._storable(text_field_of(choice, message))
        return made.with_text_in(held) if held else made

    def _storable(self, text: str) -> str:
        """Return the text without our key, lone surrogates and characters that steer a terminal."""
        text = self.redacted(text)
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()  # JSON may escape half a pair, which UTF-8 cannot hold
        return _CONTROL.sub("", text)


def parsed(body: str | bytes) -> Any:  # Any: a JSON tree
    """Return what JSON says; raises ValueError for what is none, or is nested too deeply."""
    try:
        return from_json(body.removeprefix(_BOM) if isinstance(body, bytes) else body)
    except ValueError:
        text = body if isinstance(body, str) else body.decode("utf-8", "replace")
        if _SURROGATE.search(text) is None:
            raise
        try:
            return json.loads(text)  # slower, and it takes half a surrogate pair, which some models say
        except RecursionError as exc:
            raise ValueError("nested too deeply") from exc


def text_field_of(choice: dict[str, Any], message: dict[str, Any]) -> str:
    """Return the name of the field of a message without content that holds a text; empty if there is none."""
    named = [*message.items(), *(("text", choice.get("text")),)]
    return next((str(name)[:LONGEST_NAME] for name, value in named if name not in NO_TEXT and _has_text(value)), "")


def _has_text(value: Any, depth: int = 0) -> bool:  # Any: what the endpoint sent
    """Return whether a text that is not blank stands in a value or in what it holds."""
    if isinstance(value, str):
        return bool(value.strip())
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth < DEEPEST and any(_has_text(part, depth + 1) for part in inner)


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


OPENAI_URL = "https://api.openai.com/v1"
EXTRA_FIELD = "longbeam"
"""Member of the body that carries the extras of a call to a server that answers by rule."""
LEAST_BYTES, BYTES_PER_TOKEN = 1024**2, 128
"""Size limit of an answer, and its share for each token that the reply may have. A stream may have 32 times as much: an
event that carries one token has 300 bytes at OpenAI, and 1,500 where it names the log probabilities."""
CHARACTERS_PER_TOKEN = 16
"""At most, on average over a reply: the limit of what is kept in memory."""


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
        # Not at the top: 0.8 s that a run without endpoints need not wait for. Not with the first call: it would hold
        # up the others.
        from longbeam.models.transport import EndpointClient

        self.name = name
        self._endpoint = endpoint
        base_url = endpoint.base_url or OPENAI_URL
        self.where = f"{name} at {base_url}"
        self._model = endpoint.model or name.partition(":")[2]
        self._model_json = to_json(self._model)
        self._most_bytes = None if limits.max_reply_mb is None else int(limits.max_reply_mb * 1024**2)
        self._structured = StructuredOutput(endpoint.structured, notice, self.where)
        self._fields = RequestFields(notice, self.where, endpoint.reasoning, endpoint.streams)
        self._thought_tokens = 0
        """Tokens of the longest thought so far; length limits of requests leave room for one twice as long."""
        redacted = Redactor(key)
        self.reader = CompletionReader(self.where, self._model, redacted)
        try:
            self.client = EndpointClient(base_url, key, where=self.where, redacted=redacted)
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
                if most is None or not self._fields.is_too_long(exc.said):
                    raise
                most = None  # the endpoint then takes what its context leaves
                continue
            if call.prompt.output is not None and self._structured.tool_of(call.prompt) is None:
                self._structured.accept(form[0])
            self._thought_tokens = min(max(self._thought_tokens, reply.reasoning_tokens), CALLING.longest_thought)
            return reply

    def form_of(self, call: ModelCall) -> tuple[FormStep, int]:
        """Return what the form of a call's request depends on; it changes when the endpoint refuses a part of one."""
        return self._structured.step_for(call.prompt), self._fields.given_up

    def adapts_to(self, error: ProviderError, call: ModelCall, form: tuple[FormStep, int]) -> bool:
        """Return whether a call that met an error may be sent again, because its request now has another form."""
        if error.kind not in REFUSING or error.kind == "context_length":
            return False
        if self.form_of(call) != form:
            return True  # another call was refused meanwhile
        return (
            self._fields.give_up(call.sampling, error.said)
            or self._structured.step_down(call.prompt, form[0], error.said)
            or self._fields.give_up_streaming(error.said)
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    def body(self, call: ModelCall, max_tokens: int | None, *, is_streamed: bool = True) -> bytes:
        """Return the body of a call's request; `is_streamed`: where the endpoint streams."""
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
        return b"".join(parts)

    async def _ask(self, call: ModelCall, max_tokens: int | None) -> ModelReply:
        tokens = max_tokens or CALLING.unlimited_tokens
        clock, progress = asyncio.get_running_loop().time, call.progress

        def on_heard() -> None:
            progress.heard_at = clock()

        progress.heard_at = None
        stream = StreamedReply(most_characters=LEAST_BYTES // 4 + CHARACTERS_PER_TOKEN * tokens, on_heard=on_heard)
        answer = await self.client.complete(
            self.body(call, max_tokens),
            most_bytes=self._most_bytes or LEAST_BYTES + BYTES_PER_TOKEN * tokens,
            on_event=stream.add,
        )
        data = self.reader.streamed(stream) if answer.is_stream else self.reader.data_of(answer)
        return self.reader.reply_of(data, call, is_stream=answer.is_stream)


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
