"""Calls of stages that can wait are sent together as a batch: half the price, answered within a day.

OpenAI's batch API takes requests as a file; each line of a file of replies is an answer such as the chat route
gives. A call waits until no other came for a while; then all that wait are sent. What was sent is recorded
before the endpoint hears of it, and the endpoint keeps our token beside the batch. So a run that is killed at
any moment and resumed finds the batch again, waits for it, and pays nothing twice. A reply is journalled by the
caller like any other.
"""

from __future__ import annotations

import asyncio
import io
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pydantic_core import from_json, to_json

from longbeam.errors import ProviderError, RunStopped
from longbeam.models.base import ModelCall
from longbeam.models.openai_client import BYTES_PER_TOKEN, LEAST_BYTES, OpenAIModel
from longbeam.models.provider_errors import HttpAnswer, TooLarge
from longbeam.models.structured import LADDER, FormStep
from longbeam.models.tuning import CALLING
from longbeam.schemas import Batch, BatchEntry, BenchmarkSpec, ModelReply, digest_of

if TYPE_CHECKING:
    from longbeam.models.transport import EndpointClient


TOKEN = "longbeam"
"""Name of the metadata that holds our token."""
LISTED = 100
"""Batches on a page of the list."""
MOST_LISTED = 1_000
"""Batches among which a lost one is looked for, newest first."""
MOST_FILE_BYTES = 8 * 1024**3
"""Size limit of a file of replies, of which one line at a time is kept: ten times what 50,000 usual replies have."""
MOST_LINE_BYTES = LEAST_BYTES + BYTES_PER_TOKEN * CALLING.unlimited_tokens
"""Size limit of one answer in a file of replies."""
RETRIES, TIMEOUT_S = 2, 600.0
"""Of the few requests that a batch takes; no limit stands above them."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True)
class BatchState:
    """State of a batch as its endpoint reports it."""

    batch_id: str
    status: str
    files: tuple[str, ...] = ()
    """Ids of the files with replies and errors, once there are some."""
    reason: str = ""
    """Why it failed."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ENDED


@dataclass(frozen=True)
class BatchLine:
    """The answer to one request of a batch."""

    request_id: str
    answer: HttpAnswer | None
    """None: the request was not answered; the batch expired or failed before it."""


class BatchApi:
    """The batch API at one address. For one event loop."""

    def __init__(self, client: EndpointClient, where: str) -> None:
        self._client, self._sdk = client, client.sdk.with_options(max_retries=RETRIES, timeout=TIMEOUT_S)
        self._where = f"{where}, batches"

    async def send(self, lines: Iterable[bytes], token: str) -> BatchState:
        """Upload the lines of a batch and begin it."""
        with self._client.errors(self._where):
            content = io.BytesIO(b"\n".join(lines))
            uploaded = await self._sdk.files.create(file=(f"{token}.jsonl", content), purpose="batch")
            made = await self._sdk.batches.create(
                input_file_id=uploaded.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={TOKEN: token},
            )
        return _state_of(made)

    async def state(self, batch_id: str) -> BatchState:
        """Return the state of a batch."""
        with self._client.errors(self._where):
            return _state_of(await self._sdk.batches.retrieve(batch_id))

    async def find(self, token: str) -> BatchState | None:
        """Return the batch with this token; None if the endpoint has none."""
        with self._client.errors(self._where):
            seen = 0
            async for batch in self._sdk.batches.list(limit=LISTED):
                seen += 1
                if (batch.metadata or {}).get(TOKEN) == token:
                    return _state_of(batch)
                if seen >= MOST_LISTED:
                    break
        return None

    async def lines(self, state: BatchState) -> AsyncIterator[BatchLine]:
        """Yield the answers that the files of a batch hold."""
        for file_id in state.files:
            from longbeam.models.transport import most_header

            asked = self._sdk.files.with_streaming_response.content(file_id, extra_headers=most_header(MOST_FILE_BYTES))
            with self._client.errors(self._where):
                async with asked as response:
                    rest = b""
                    async for piece in response.iter_bytes(65_536):
                        *whole, rest = (rest + piece).split(b"\n")
                        if len(rest) > MOST_LINE_BYTES:
                            raise TooLarge(f"a line of batch {state.batch_id} with more than {MOST_LINE_BYTES:,} bytes")
                        for line in whole:
                            if (found := _line_of(line)) is not None:
                                yield found
                    if (found := _line_of(rest)) is not None:
                        yield found


def _state_of(batch: Any) -> BatchState:  # Any: the package's type, whose fields an endpoint may leave out
    files = tuple(f for f in (batch.output_file_id, batch.error_file_id) if f)
    errors = getattr(batch.errors, "data", None) or ()
    reason = "; ".join(str(getattr(error, "message", "")) for error in errors[:3])
    return BatchState(str(batch.id), str(batch.status), files, reason)


def _line_of(line: bytes) -> BatchLine | None:
    try:
        found = from_json(line)
    except ValueError:
        return None
    request_id = found.get("custom_id") if isinstance(found, dict) else None
    if not isinstance(request_id, str):
        return None
    response = found.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    if not isinstance(status, int):
        return BatchLine(request_id, None)
    return BatchLine(request_id, HttpAnswer(status, to_json(response.get("body"))))


ROUTE = "/v1/chat/completions"
MOST_BYTES = 100 * 1024**2
"""Size of a batch's file; OpenAI takes 200 MB."""


class BatchLog(Protocol):
    """Record of batches that outlives the process; `store.batch_files.BatchFiles` is one."""

    def entries(self) -> Sequence[BatchEntry]:
        """Return the last entry of each batch."""

    def record(self, entry: BatchEntry) -> None:
        """Keep an entry, durably when this returns."""


@dataclass
class _Waiting:
    """A call that waits for a batch."""

    call: ModelCall
    request_id: str
    reply: asyncio.Future[ModelReply]
    form: tuple[FormStep, int] = (LADDER[0], 0)
    """Form in which the request was sent last."""
    tries: int = 0


@dataclass
class BatchingModel:
    """Sends the calls of the spec's batched stages in batches, and all others at once. For one event loop."""

    inner: OpenAIModel
    spec: BenchmarkSpec
    api: BatchApi
    log: BatchLog
    notice: Callable[[str], None]
    """Told a line when a batch is sent or taken up."""
    _queue: list[_Waiting] = field(default_factory=list)
    _timer: asyncio.TimerHandle | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _known: dict[str, BatchEntry] | None = None
    """Batches of earlier runs by the ids of their requests."""
    _taken_up: dict[str, list[_Waiting]] = field(default_factory=dict)
    """Calls that wait for a batch of an earlier run, by its token."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply. Raises ProviderError for the call's own failure, RunStopped where batches do not work."""
        if not is_batched(self.spec, call):
            return await self.inner.complete(call)
        waiting = _Waiting(call, _request_id(call), asyncio.get_running_loop().create_future())
        entry = self._earlier().pop(waiting.request_id, None)
        if entry is None:
            self._enqueue([waiting])
        elif (others := self._taken_up.get(entry.token)) is not None:
            others.append(waiting)
        else:
            self._taken_up[entry.token] = [waiting]
            self._begin(self._take_up(entry))
        return await waiting.reply

    async def aclose(self) -> None:
        """Stop waiting; the batches stay on their way."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.inner.aclose()

    @property
    def _identity(self) -> str:
        return self.spec.identity_of(self.inner.name)

    @property
    def _batch(self) -> Batch:
        return self.spec.batch

    def _earlier(self) -> dict[str, BatchEntry]:
        if self._known is None:
            mine = [entry for entry in self.log.entries() if entry.model == self._identity]
            self._known = {request_id: entry for entry in mine for request_id in entry.request_ids}
        return self._known

    def _enqueue(self, waiting: Sequence[_Waiting]) -> None:
        self._queue += waiting
        if self._timer is not None:
            self._timer.cancel()
        wait_s = 0.0 if len(self._queue) >= self._batch.most_calls else self._batch.wait_s
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._flush)

    def _flush(self) -> None:
        queue = [waiting for waiting in self._queue if not waiting.reply.done()]  # a cancelled call is not paid for
        self._queue = []
        while queue:
            size, count = 0, 0
            lines: list[bytes] = []
            while count < min(len(queue), self._batch.most_calls) and size < MOST_BYTES:
                lines.append(self._line(queue[count]))
                size += len(lines[-1])
                count += 1
            group, queue = queue[:count], queue[count:]
            self._begin(self._send(group, lines))

    def _line(self, waiting: _Waiting) -> bytes:
        call = waiting.call
        waiting.form = self.inner.form_of(call)
        body = self.inner.body(call, call.sampling.max_tokens, is_streamed=False)
        named = to_json({"custom_id": waiting.request_id, "method": "POST", "url": ROUTE})
        return named[:-1] + b',"body":' + body + b"}"

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, group: Sequence[_Waiting], lines: Sequence[bytes]) -> None:
        async with _Failing(group):
            entry = BatchEntry(
                token=secrets.token_hex(12), model=self._identity, request_ids=tuple(w.request_id for w in group)
            )
            self.log.record(entry)
            state = await self.api.send(lines, entry.token)
            self.log.record(entry.model_copy(update={"batch_id": state.batch_id}))
            self.notice(
                f"{self.inner.where}: batch {state.batch_id} with {len(group)} calls was sent; it may take a day."
                " A run that is stopped meanwhile and resumed goes on waiting for it"
            )
            await self._wait(state, group)

    async def _take_up(self, entry: BatchEntry) -> None:
        """Wait for a batch of an earlier run; calls of one that is gone, or was never received, are sent anew."""
        await asyncio.sleep(self._batch.wait_s)  # until all calls that it answers have come
        group = self._taken_up.pop(entry.token)
        async with _Failing(group):
            try:
                state = await (self.api.state(entry.batch_id) if entry.batch_id else self.api.find(entry.token))
            except ProviderError as exc:
                if exc.kind != "not_found":
                    raise
                state = None
            if state is None:
                self._enqueue(group)
                return
            self.notice(f"{self.inner.where}: batch {state.batch_id} of an earlier run is waited for")
            await self._wait(state, group)

    async def _wait(self, state: BatchState, group: Sequence[_Waiting]) -> None:
        silent = 0
        while not state.has_ended:
            await asyncio.sleep(self._batch.poll_s)
            try:
                state = await self.api.state(state.batch_id)
                silent = 0
            except ProviderError as exc:
                silent += 1
                if not exc.is_retryable or silent >= CALLING.silent_polls:
                    raise
        if state.status == "failed" and not state.files:
            text = f"{self.inner.where}: batch {state.batch_id} failed: {state.reason or 'no reason given'}"
            raise ProviderError(text, kind="bad_request", is_retryable=False)
        by_id = {waiting.request_id: waiting for waiting in group}
        async for line in self.api.lines(state):
            if (waiting := by_id.pop(line.request_id, None)) is not None:
                self._settle(waiting, line)
        for waiting in by_id.values():  # the batch ended before they were answered
            self._send_again(waiting, self._unanswered(state))

    def _settle(self, waiting: _Waiting, line: BatchLine) -> None:
        if line.answer is None:
            self._send_again(waiting, self._unanswered(BatchState("", "expired")))
            return
        try:
            reply = self.inner.reader.reply_of(self.inner.reader.data_of(line.answer), waiting.call)
        except ProviderError as exc:
            if exc.is_retryable or self.inner.adapts_to(exc, waiting.call, waiting.form):
                self._send_again(waiting, exc)
            elif not waiting.reply.done():
                waiting.reply.set_exception(exc)
            return
        if not waiting.reply.done():
            waiting.reply.set_result(reply)

    def _unanswered(self, state: BatchState) -> ProviderError:
        text = f"{self.inner.where}: batch {state.batch_id or 'of the call'} ended as {state.status} without its reply"
        return ProviderError(text, kind="timeout", is_retryable=True)

    def _send_again(self, waiting: _Waiting, error: ProviderError) -> None:
        waiting.tries += 1
        if waiting.reply.done():
            return
        if waiting.tries >= CALLING.batch_tries:
            waiting.reply.set_exception(error)
        else:
            self._enqueue([waiting])


class _Failing:
    """Passes an error of a batch on to all calls that wait for it."""

    def __init__(self, group: Iterable[_Waiting]) -> None:
        self._group = group

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if error is None or isinstance(error, asyncio.CancelledError):
            return False
        failure = RunStopped(str(error)) if isinstance(error, ProviderError) else error
        for waiting in self._group:
            if not waiting.reply.done():
                waiting.reply.set_exception(failure)
        return True


def is_batched(spec: BenchmarkSpec, call: ModelCall) -> bool:
    """Return whether a call is sent in a batch."""
    return bool(spec.batch.stages) and spec.is_batched(call.stage, call.prompt.prompt_id, call.model)


def _request_id(call: ModelCall) -> str:
    """Return the id of a call in batches. A cut-off reply is asked for again with more room and the same key."""
    return digest_of(call.key, call.sampling.max_tokens)
