"""A request to the loopback server, as bare ASGI: read its body, wait, answer it, break the answer off.

No framework stands between uvicorn and the handlers: the server's CPU is what a benchmark of clients leaves them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import parse_qs

from longbeam.serving import Receive, Scope, Send

MAX_BODY = 64 * 1024**2


class Refusal(Exception):
    """A request that gets an error; `status` is HTTP's."""

    def __init__(
        self, status: int, code: str | None, message: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers or {}


class CutOff(ConnectionError):
    """The connection was ended on purpose, in the middle of a reply."""


class ClientGone(ConnectionError):
    """The client hung up before it had its answer."""


class Request:
    """One request, in the task that handles it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send

    @property
    def query(self) -> Mapping[str, list[str]]:
        """The parameters after `?`."""
        return parse_qs(self._scope["query_string"].decode())

    @property
    def path(self) -> str:
        """The path of the address."""
        path: str = self._scope["path"]
        return path

    def header(self, name: bytes) -> str:
        """Return the header of this name, which is in small letters; empty if there is none."""
        return next((value.decode("latin-1") for key, value in self._scope["headers"] if key == name), "")

    async def read(self) -> bytes:
        """Return the body. Raises Refusal for one that is too long, ClientGone for half of one."""
        pieces: list[bytes] = []
        size = 0
        is_whole = False
        while not is_whole:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientGone
            pieces.append(event["body"])
            size += len(event["body"])
            if size > MAX_BODY:
                raise Refusal(413, "too_large", f"the request's body is longer than {MAX_BODY:,} bytes")
            is_whole = not event["more_body"]
        return b"".join(pieces)

    async def wait(self, seconds: float | None) -> None:
        """Wait, without an end if `seconds` is None; the body has been read. Raises ClientGone when the client goes."""
        # After the body there is nothing to receive but that the client has gone.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._receive()
            raise ClientGone

    async def answer(self, payload: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send a JSON answer."""
        await self._start(len(payload), status, headers or {})
        await self._send({"type": "http.response.body", "body": payload})

    async def cut_off(self, payload: bytes) -> None:
        """Send the first half of a JSON answer. Raises CutOff, upon which the connection is ended."""
        await self._start(len(payload), 200, {})
        await self._send({"type": "http.response.body", "body": payload[: len(payload) // 2], "more_body": True})
        raise CutOff

    async def stream(self, events: Sequence[bytes], wait_s: float) -> None:
        """Send a stream of events; `wait_s` lies between two. Raises ClientGone when the client goes meanwhile."""
        await self._start_stream()
        if not wait_s:
            events = [b"".join(events)]
        for event in events[:-1]:
            await self._send({"type": "http.response.body", "body": event, "more_body": True})
            await self.wait(wait_s)
        await self._send({"type": "http.response.body", "body": events[-1]})

    async def stream_and_leave(self, events: Iterable[bytes], *, is_cut: bool) -> None:
        """Send events and no end; the connection stays open until the client goes, or is ended if `is_cut`.

        Raises ClientGone or CutOff.
        """
        await self._start_stream()
        for event in events:
            await self._send({"type": "http.response.body", "body": event, "more_body": True})
            await asyncio.sleep(0)
        if is_cut:
            raise CutOff
        await self.wait(None)

    async def handle(self, work: Callable[[Request], Awaitable[None]]) -> None:
        """Run a handler to its end; one whose client has gone, or is not to hear the rest, leaves quietly."""
        try:
            await work(self)
        except ConnectionError:
            pass
        except Exception:
            logging.getLogger(__name__).exception("a request to the loopback server failed")
            raise  # uvicorn answers 500, and is told to log nothing

    async def _start_stream(self) -> None:
        listed = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await self._send({"type": "http.response.start", "status": 200, "headers": listed})

    async def _start(self, length: int, status: int, headers: Mapping[str, str]) -> None:
        listed = [(b"content-type", b"application/json"), (b"content-length", b"%d" % length)]
        listed += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": listed})
