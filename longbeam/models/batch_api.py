"""OpenAI's batch API: upload requests as a file, make a batch of it, ask for its state, read its replies.

The `openai` package sends these few requests; each line of a reply file is an answer such as the chat route gives.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from longbeam.errors import ProviderError
from longbeam.models.connections import Answer
from longbeam.models.provider_errors import error_of_status

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TOKEN = "longbeam"
"""Name of the metadata that holds our token."""
LISTED = 100
"""Batches on a page of the list."""
MOST_LISTED = 1_000
"""Batches among which a lost one is looked for, newest first."""
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
    answer: Answer | None
    """None: the request was not answered; the batch expired or failed before it."""


class BatchApi:
    """The batch API at one address. For one event loop."""

    def __init__(self, base_url: str, key: str, *, where: str, redacted: Callable[[str], str], most_bytes: int) -> None:
        """`most_bytes` is the size limit of one answer in a file of replies."""
        self._base_url, self._key = base_url, key
        self._where, self._redacted, self._most_bytes = f"{where}, batches", redacted, most_bytes
        self._made: AsyncOpenAI | None = None

    async def send(self, lines: Iterable[bytes], token: str) -> BatchState:
        """Upload the lines of a batch and begin it."""
        async with self._client() as client:
            content = io.BytesIO(b"\n".join(lines))
            uploaded = await client.files.create(file=(f"{token}.jsonl", content), purpose="batch")
            made = await client.batches.create(
                input_file_id=uploaded.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={TOKEN: token},
            )
        return _state_of(made)

    async def state(self, batch_id: str) -> BatchState:
        """Return the state of a batch."""
        async with self._client() as client:
            return _state_of(await client.batches.retrieve(batch_id))

    async def find(self, token: str) -> BatchState | None:
        """Return the batch with this token; None if the endpoint has none."""
        async with self._client() as client:
            seen = 0
            async for batch in client.batches.list(limit=LISTED):
                seen += 1
                if (batch.metadata or {}).get(TOKEN) == token:
                    return _state_of(batch)
                if seen >= MOST_LISTED:
                    break
        return None

    async def lines(self, state: BatchState) -> AsyncIterator[BatchLine]:
        """Yield the answers that the files of a batch hold."""
        for file_id in state.files:
            async with self._client() as client, client.files.with_streaming_response.content(file_id) as response:
                rest = b""
                async for piece in response.iter_bytes(65_536):
                    *whole, rest = (rest + piece).split(b"\n")
                    if len(rest) > self._most_bytes:
                        text = (
                            f"{self._where}: a line of batch {state.batch_id} has more than {self._most_bytes:,} bytes"
                        )
                        raise ProviderError(text, kind="too_large", is_retryable=True)
                    for line in whole:
                        if (found := _line_of(line)) is not None:
                            yield found
                if (found := _line_of(rest)) is not None:
                    yield found

    async def aclose(self) -> None:
        """Close the connections."""
        if self._made is not None:
            await self._made.close()

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[AsyncOpenAI]:
        """Give the package's client, and turn its errors into ours."""
        import openai

        if self._made is None:
            self._made = openai.AsyncOpenAI(api_key=self._key or "none", base_url=self._base_url, timeout=600)
        try:
            yield self._made
        except openai.APIStatusError as exc:
            answer = Answer(exc.status_code, exc.response.content, exc.response.headers.raw)
            raise error_of_status(self._where, answer, self._redacted) from exc
        except openai.OpenAIError as exc:
            reason = self._redacted(" ".join(str(exc).split())[:200])
            raise ProviderError(f"{self._where}: {reason}", kind="connection", is_retryable=True) from exc


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
    return BatchLine(request_id, Answer(status, to_json(response.get("body")), ()))
