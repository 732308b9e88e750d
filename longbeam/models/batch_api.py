"""OpenAI's batch API: upload requests as a file, make a batch of it, ask for its state, read its replies.

The `openai` package sends these few requests; each line of a reply file is an answer such as the chat route gives.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from longbeam.models.provider_errors import HttpAnswer, TooLarge

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

    def __init__(self, client: EndpointClient, where: str, *, most_bytes: int) -> None:
        """`most_bytes` is the size limit of one answer in a file of replies."""
        self._client, self._sdk = client, client.sdk.with_options(max_retries=RETRIES, timeout=TIMEOUT_S)
        self._where, self._most_bytes = f"{where}, batches", most_bytes

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
                        if len(rest) > self._most_bytes:
                            raise TooLarge(
                                f"a line of batch {state.batch_id} with more than {self._most_bytes:,} bytes"
                            )
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
