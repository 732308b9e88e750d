"""A memory system behind HTTP, at the three routes that mem0's memory-benchmarks call; servers made for it work here.

    POST   /memories  {messages: [{role, content, name?}], user_id, timestamp, metadata: {message_keys}}
    POST   /search    {query, user_id, limit}  ->  {results: [{memory, score?, id?, created_at?, metadata?}]}
    DELETE /memories?user_id=...

A memory counts as made from a message if its metadata returns the message's key, or if it repeats the message word for
word. For servers that reword messages, evidence recall says little; the share of values found says more.
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

from longbeam.errors import UserError
from longbeam.memory.base import Tools
from longbeam.memory.context import ContextBuilder
from longbeam.schemas.base import Record
from longbeam.schemas.evaluation import Context, Exchange, Passage, PreparationUsage, Question
from longbeam.text.times import format_date

_LONGEST_REASON = 200


class HttpSettings(Record):
    """How requests to a memory server are made."""

    k: int = Field(default=20, ge=1)
    """Memories requested; memories of lowest rank are left out first when they exceed the budget."""
    timeout_s: float = Field(default=120, gt=0)
    """Longest time of one request."""
    order: str = Field(default="time", pattern="^(time|rank)$")
    """Order of the memories in the context; `time` moves only memories with a creation time."""


class Found(BaseModel):
    """The fields of a search result that are used."""

    model_config = ConfigDict(extra="ignore")

    memory: str
    score: float | None = None
    id: str | None = None
    created_at: str | None = None
    metadata: dict[str, Any] | None = None


class _Results(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[Found]


class HttpMemory:
    """Sends the exchanges to a server in order, one request at a time, and searches there.

    A killed preparation starts from nothing: the memories of an earlier one are deleted first.
    """

    def __init__(self, base_url: str, settings: HttpSettings, tools: Tools) -> None:
        """`base_url`: `http://127.0.0.1:8888`."""
        self._base_url = base_url.rstrip("/")
        self._settings = settings
        self._tools = tools
        self._user = tools.rng_key
        self._contents: dict[str, str] = {}
        self._told = 0

    async def add(self, exchange: Exchange) -> None:
        """Send the exchange and wait for the server's answer."""
        if not self._told:
            await self._call("DELETE", "/memories", params={"user_id": self._user})
        messages = [{"role": m.role.value, "content": m.content, "name": m.speaker} for m in exchange.messages]
        body = {
            "messages": messages,
            "user_id": self._user,
            "timestamp": int(exchange.sent_at.replace(tzinfo=dt.UTC).timestamp()),
            "metadata": {"message_keys": list(exchange.message_keys)},
        }
        await self._call("POST", "/memories", body)
        self._told += 1
        self._contents.update((m.message_key, m.content) for m in exchange.messages)

    async def finish(self) -> None:
        """Do nothing: the server indexes while it receives exchanges."""

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the memories found, in the server's order."""
        body = {"query": question.text, "user_id": self._user, "limit": k}
        answer = await self._call("POST", "/search", body)
        try:
            found = _Results.model_validate(answer).results
        except ValidationError as exc:
            error = exc.errors(include_url=False)[0]
            where = ".".join(str(part) for part in error["loc"])
            raise UserError(
                f"{self._base_url}/search: {where}: {error['msg']}; the answer is "
                "{results: [{memory, score, id, created_at}]}"
            ) from exc
        return [self._passage(memory, rank) for rank, memory in enumerate(found[:k])]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the best memories that fit, each with its day."""
        builder = ContextBuilder(budget, self._tools.count_tokens)
        found = await self.retrieve(question, k=self._settings.k)
        by_time = sorted(range(len(found)), key=lambda i: (found[i].sent_at or dt.datetime.min, i))
        place = {i: n for n, i in enumerate(by_time)} if self._settings.order == "time" else {}
        for rank, passage in enumerate(found):
            day = f"[{format_date(passage.sent_at.date())}] " if passage.sent_at else ""
            builder.put("memories", day + passage.text, passage.message_keys, place=place.get(rank, rank))
        return builder.build()

    def usage(self) -> PreparationUsage:
        """Return nothing: a server does not report its costs."""
        return PreparationUsage()

    def _passage(self, found: Found, rank: int) -> Passage:
        told = (found.metadata or {}).get("message_keys")
        named = [key for key in told if key in self._contents] if isinstance(told, list) else []
        # A short message, "yes" or "thanks", would be found in everything.
        keys = named or [key for key, said in self._contents.items() if len(said) >= 20 and said in found.memory]
        return Passage(
            passage_id=found.id or str(rank),
            text=found.memory,
            score=1 / (1 + rank) if found.score is None else found.score,
            message_keys=tuple(keys),
            tokens=self._tools.count_tokens(found.memory),
            sent_at=_day(found.created_at),
        )

    async def _call(
        self, method: str, route: str, body: dict[str, Any] | None = None, params: dict[str, str] | None = None
    ) -> Any:  # Any: a JSON tree
        where = f"{method} {self._base_url}{route}"
        try:
            async with (
                asyncio.timeout(self._settings.timeout_s),  # of the whole request; httpx counts its steps one by one
                httpx2.AsyncClient(verify=_tls(), timeout=None, trust_env=False) as client,
            ):
                answer = await client.request(method, f"{self._base_url}{route}", json=body, params=params)
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as exc:
            reason = str(exc) or f"no answer within {self._settings.timeout_s:g} s"
            raise UserError(f"memory server, {where}: {reason}; is it running?") from exc
        text = answer.text
        if answer.status_code >= 400:
            reason = " ".join(text.split())[:_LONGEST_REASON]
            raise UserError(f"memory server, {where}: HTTP {answer.status_code}: {reason}")
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError as exc:
            raise UserError(f"memory server, {where}: the answer is not JSON") from exc


@cache
def _tls() -> ssl.SSLContext:
    """Return the certificates to trust. Reading them takes 20 ms, so all requests share them."""
    return httpx2.create_ssl_context()


def _day(created_at: str | None) -> dt.datetime | None:
    """Return the creation time of a memory, without its zone, as message times have none; None if it is unreadable."""
    try:
        return dt.datetime.fromisoformat(created_at).replace(tzinfo=None) if created_at else None
    except ValueError:
        return None
