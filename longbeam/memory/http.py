"""A memory product behind HTTP, at the three routes that mem0's memory-benchmarks call; servers made for it work here.

    POST   /memories  {messages: [{role, content, name?}], user_id, timestamp, metadata: {message_keys}}
    POST   /search    {query, user_id, limit}  ->  {results: [{memory, score?, id?, created_at?, metadata?}]}
    DELETE /memories?user_id=...

Exchanges are sent in order, one request at a time. A message is a source of a memory if the memory's metadata returns
the message's key, or if it repeats the message word for word. For servers that reword messages, the share of values
found says more than evidence recall.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import ssl
from collections.abc import Sequence
from functools import cache
from typing import Any

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from longbeam.errors import MemorySystemError
from longbeam.memory.base import Tools
from longbeam.memory.product import Memory, ProductSettings
from longbeam.plugins import failure_of
from longbeam.schemas import Exchange
from longbeam.terminal import printable

_LONGEST_REASON = 200
_MOST_BYTES = 16 * 2**20
"""Longest answer: a hundred memories of the longest that are read, in their longest spelling."""
_PLAIN = {"Accept-Encoding": "identity"}
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}


class HttpSettings(ProductSettings):
    """How requests to a memory server are made."""

    timeout_s: float = Field(default=120, gt=0)
    """Longest time of one request."""
    version: str = ""
    """Version of the server, of your choice: answers are used again only while it is equal."""


class _HttpHit(BaseModel):
    """The fields of a search result that are used."""

    model_config = ConfigDict(extra="ignore")

    memory: str
    score: float | None = None
    id: str | None = None
    created_at: str | None = None
    metadata: dict[str, Any] | None = None


class _Results(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[_HttpHit]


class HttpProduct:
    """Sends exchanges to a server, and searches there. A row of the table and conversation is a user of the server."""

    def __init__(self, base_url: str, settings: HttpSettings, tools: Tools) -> None:
        """`base_url`: `http://127.0.0.1:8888`."""
        self._base_url = base_url.rstrip("/")
        self._timeout_s = settings.timeout_s
        self._user = tools.rng_key

    async def delete(self) -> None:
        """Delete the memories of an earlier preparation."""
        await self._request("DELETE", "/memories", params={"user_id": self._user})

    async def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Send the exchange and wait for the server's answer."""
        messages = [{"role": m.role.value, "content": m.content, "name": m.speaker} for m in exchange.messages]
        body = {
            "messages": messages,
            "user_id": self._user,
            "timestamp": int(timestamp.replace(tzinfo=dt.UTC).timestamp()),
            "metadata": {"message_keys": list(exchange.message_keys)},
        }
        await self._request("POST", "/memories", body)

    async def search(self, query: str, k: int) -> Sequence[Memory]:
        """Return the memories found, in the server's order."""
        answer = await self._request("POST", "/search", {"query": query, "user_id": self._user, "limit": k})
        try:
            return [_memory(found) for found in _Results.model_validate(answer).results]
        except ValidationError as exc:
            error = exc.errors(include_url=False)[0]
            where = ".".join(str(part) for part in error["loc"])
            raise MemorySystemError(
                f"{self._base_url}/search: {where}: {error['msg']}; the answer is "
                "{results: [{memory, score, id, created_at}]}"
            ) from exc

    async def _request(
        self, method: str, route: str, body: dict[str, Any] | None = None, params: dict[str, str] | None = None
    ) -> Any:  # Any: a JSON tree
        where = f"{method} {self._base_url}{route}"
        try:
            async with (
                asyncio.timeout(self._timeout_s),  # of the whole request; httpx counts its steps one by one
                httpx2.AsyncClient(verify=_tls(), timeout=None, trust_env=False, headers=_PLAIN) as client,
                client.stream(method, f"{self._base_url}{route}", json=body, params=params) as answer,
            ):
                content = await _content(answer, where)
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as exc:
            reason = failure_of(exc) if str(exc) else f"no answer within {self._timeout_s:g} s"
            raise ConnectionError(f"memory server, {where}: {reason}; is it running?") from exc
        text = content.decode("utf-8", "replace")
        if answer.status_code >= 400:
            said = printable(" ".join(text.split()))[:_LONGEST_REASON]
            line = f"memory server, {where}: HTTP {answer.status_code}: {said}"
            raise ConnectionError(line) if answer.status_code in _TRANSIENT else MemorySystemError(line)
        try:
            return json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError) as exc:
            raise MemorySystemError(f"memory server, {where}: the answer is not JSON") from exc


async def _content(answer: httpx2.Response, where: str) -> bytes:
    """Return the bytes of an answer; MemorySystemError for one that is too long or compressed."""
    coding = answer.headers.get("content-encoding", "identity").strip().casefold()
    if coding not in {"", "identity"}:  # a few kilobytes could become gigabytes
        raise MemorySystemError(
            f"memory server, {where}: the answer is compressed ({printable(coding)[:20]}); send it plain"
        )
    content = bytearray()
    async for piece in answer.aiter_raw():
        content += piece
        if len(content) > _MOST_BYTES:
            raise MemorySystemError(f"memory server, {where}: the answer is longer than {_MOST_BYTES // 2**20} MiB")
    return bytes(content)


@cache
def _tls() -> ssl.SSLContext:
    """Return the certificates to trust. Reading them takes 20 ms, so all requests share them."""
    return httpx2.create_ssl_context()


def _memory(found: _HttpHit) -> Memory:
    told = (found.metadata or {}).get("message_keys")
    keys = tuple(key for key in told if isinstance(key, str)) if isinstance(told, list) else ()
    return Memory(found.memory, found.score, found.id or "", _time(found.created_at), keys)


def _time(created_at: str | None) -> dt.datetime | None:
    """Return the creation time of a memory, without its zone, as message times have none; None if it is unreadable."""
    try:
        return dt.datetime.fromisoformat(created_at).replace(tzinfo=None) if created_at else None
    except ValueError:
        return None
