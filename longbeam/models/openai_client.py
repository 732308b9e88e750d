"""A ChatModel over any endpoint that speaks OpenAI's chat completions.

The `openai` package sends the requests (`transport`). Nothing is retried here: the limits above must see every refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic_core import to_json

from longbeam.errors import ProviderError, SpecError
from longbeam.models.base import ModelCall
from longbeam.models.completions import CompletionReader, StreamedReply
from longbeam.models.provider_errors import Redactor
from longbeam.models.request_fields import REFUSING, RequestFields
from longbeam.models.structured import Step, StructuredOutput, tools_of
from longbeam.schemas import Endpoint, Limits, ModelReply

OPENAI_URL = "https://api.openai.com/v1"
EXTRA_FIELD = "longbeam"
"""Member of the body that carries the extras of a call to a server that answers by rule."""
LEAST_BYTES, BYTES_PER_TOKEN = 1024**2, 128
"""Size limit of an answer, and its share for each token that the reply may have. A stream may have 32 times as much: an
event that carries one token has 300 bytes at OpenAI, and 1,500 where it names the log probabilities."""
UNLIMITED_TOKENS = 32_768
"""Assumed length limit of a reply whose request names none."""
CHARACTERS_PER_TOKEN = 16
"""At most, on average over a reply: the limit of what is kept in memory."""
LONGEST_THOUGHT = 8_192
"""Tokens of thought that length limits leave room for twice; a longer one is asked for again with more room."""


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
        tokens = max_tokens or UNLIMITED_TOKENS
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
