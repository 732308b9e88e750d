"""A memory system behind the three HTTP routes that mem0's memory-benchmarks call, so that it runs in their harness.

    POST   /memories            {messages, user_id, timestamp?, ...}   the next messages of a user
    POST   /search              {query, user_id, limit?, timestamp?}   what the system finds for a query
    DELETE /memories?user_id=   forgets a user

A user is a conversation. Our systems take in a whole conversation before they answer questions, so a search after a
new message prepares the system again, with model replies from the journal. Memories live as long as the process. The
server listens on 127.0.0.1 only.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from longbeam.errors import LongbeamError, UserError
from longbeam.evaluation import arms_of
from longbeam.keys import UnitKey
from longbeam.memory import MemorySystem, Registered, StoredEmbedder, Tools, close_system, exchanges_of
from longbeam.models import Asker, JournalledModel, LimitedModel, Models, close_model, load_tokenizer
from longbeam.models.embedders import Embedder, make_embedder
from longbeam.pipeline.services import Services
from longbeam.prompts import registry_for
from longbeam.schemas import BenchmarkSpec, Message, MessageKind, MessageRole, Question, Record
from longbeam.serving import LOOPBACK, open_listener, serving
from longbeam.stopping import drop_replies
from longbeam.store import WorkLog

MAX_BODY = 64 * 1024**2
Gives = Literal["passages", "context"]
"""Results of a search: passages one by one, or the context that a reader would see as one memory."""


class _GivenMessage(BaseModel):
    """One message of a request; further fields of a harness are ignored."""

    model_config = ConfigDict(extra="ignore")
    role: Literal["user", "assistant", "system"]
    content: str
    name: str = ""


class _AddRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")
    messages: list[_GivenMessage] = Field(min_length=1)
    user_id: str = Field(min_length=1)
    timestamp: datetime | None = None
    """Seconds since 1970, or an ISO time."""


class _SearchRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")
    query: str
    user_id: str = Field(min_length=1)
    limit: int = Field(default=10, ge=1, le=10_000)
    timestamp: datetime | None = None
    """Time of the question; None: that of the last message."""


_Body = TypeVar("_Body", _AddRequest, _SearchRequest)


@dataclass
class _User:
    """A user's conversation and the system that has read it."""

    messages: list[Message] = field(default_factory=list)
    posts: int = 0
    system: MemorySystem | None = None
    """None if messages came after it was prepared."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def close(self) -> None:
        """Close the system, if there is one. The caller holds the lock."""
        system, self.system = self.system, None
        await close_system(system)


@dataclass(frozen=True)
class ServedSystem:
    """The memory system to serve and how it answers, as the command line names them."""

    name: str
    settings: Sequence[str] = ()
    """`k=10`, ..."""
    embedder: str = ""
    """Embedding model; empty for none."""
    gives: Gives = "passages"
    budget: int = 4_000
    """Tokens of a context."""
    port: int = 0
    """Port on 127.0.0.1; 0 takes a free one."""


@dataclass
class MemoryServer:
    """The users and their memories. For one event loop."""

    name: str
    registered: Registered
    settings: Record
    models: Models
    spec: BenchmarkSpec
    embedder: Embedder | None = None
    gives: Gives = "passages"
    budget: int = 4_000
    users: dict[str, _User] = field(default_factory=dict)

    def app(self) -> FastAPI:
        """Return the app with its three routes."""
        app = FastAPI(title=f"Memory server: {self.name}", openapi_url=None)
        app.add_exception_handler(LongbeamError, _failed)
        app.add_api_route("/memories", self.add, methods=["POST"])
        app.add_api_route("/search", self.search, methods=["POST"])
        app.add_api_route("/memories", self.forget, methods=["DELETE"])
        return app

    async def add(self, request: Request) -> Response:
        """Keep the messages."""
        asked = await _read(_AddRequest, request)
        user = self.users.setdefault(asked.user_id, _User())
        async with user.lock:
            await user.close()  # before the messages are kept: a request that fails here may be sent again
            added = self._messages(asked, user)
            user.messages += added
            user.posts += 1
        results = [{"id": m.message_key, "memory": m.content, "event": "ADD"} for m in added]
        return _json({"results": results})

    def _messages(self, asked: _AddRequest, user: _User) -> list[Message]:
        count = load_tokenizer(self.spec.tokenizer).count
        last = user.messages[-1].sent_at if user.messages else datetime(1970, 1, 1)
        said_at = _local(asked.timestamp) if asked.timestamp else last
        return [
            Message(
                message_key=f"{asked.user_id}.{user.posts}.{i}",
                role=MessageRole.ASSISTANT if said.role == "assistant" else MessageRole.USER,
                speaker=said.name or said.role,
                kind=MessageKind.REPLY if said.role == "assistant" else MessageKind.QUESTION,
                session=user.posts,
                sent_at=max(said_at, last),  # time never goes back in a conversation
                content=said.content,
                tokens=count(said.content),
            )
            for i, said in enumerate(asked.messages)
        ]

    async def search(self, request: Request) -> Response:
        """Return what the system finds; nothing for a user that is not known."""
        asked = await _read(_SearchRequest, request)
        user = self.users.get(asked.user_id)
        if user is None:
            return _json({"results": []})
        async with user.lock:
            system = user.system = user.system or await self._prepared(asked.user_id, user)
            return _json({"results": await self._found(system, asked, user)})

    async def _found(self, system: MemorySystem, asked: _SearchRequest, user: _User) -> list[dict[str, Any]]:
        last = user.messages[-1].sent_at
        question = Question(text=asked.query, asked_at=_local(asked.timestamp) if asked.timestamp else last)
        passages = await system.retrieve(question, k=asked.limit) if self.gives == "passages" else ()
        if passages:
            return [_memory(p.passage_id, p.text, p.score, p.sent_at or last) for p in passages]
        # Systems that rank no passages have a context all the same.
        context = await system.context(question, budget=self.budget)
        return [_memory("context", context.text, 1.0, last)] if context.text else []

    async def _prepared(self, user_id: str, user: _User) -> MemorySystem:
        place = UnitKey(user_id.replace("/", "_"), "prepare", self.name)
        asker = Asker(models=self.models, prompts=registry_for(self.spec), spec=self.spec, unit_key=place)
        count = load_tokenizer(self.spec.tokenizer).count
        system = self.registered.make(self.settings, Tools(count, asker, self.embedder, f"{self.spec.seed}/{place}"))
        async with AsyncExitStack() as on_failure:
            on_failure.push_async_callback(close_system, system)
            for exchange in exchanges_of(user.messages):
                await system.add(exchange)
            await system.finish()
            on_failure.pop_all()  # the system stays open
        return system

    async def forget(self, user_id: str = "") -> Response:
        """Forget a user; one that is not known is forgotten already."""
        if not user_id:
            raise HTTPException(400, "user_id is missing: DELETE /memories?user_id=NAME")
        if (user := self.users.pop(user_id, None)) is not None:
            async with user.lock:  # earlier requests of the user come first: the lock is fair
                await user.close()
        return _json({"message": f"the memories of {user_id} are deleted"})

    async def close(self) -> None:
        """Close the systems of all users; one that fails to close keeps no other open."""
        async with AsyncExitStack() as stack:
            for user in self.users.values():
                await stack.enter_async_context(user.lock)
                stack.push_async_callback(user.close)


async def _failed(_: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, status_code=500)


def _memory(passage_id: str, text: str, score: float, sent_at: datetime) -> dict[str, Any]:
    return {"id": passage_id, "memory": text, "score": score, "created_at": sent_at.isoformat()}


def _local(time: datetime) -> datetime:
    """Times of conversations have no zone; those of requests are taken as UTC."""
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


async def _read(kind: type[_Body], request: Request) -> _Body:
    """Return the body of a request. Raises HTTPException, which names the field, for one that does not fit."""
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > MAX_BODY:
            raise HTTPException(413, f"the body is longer than {MAX_BODY:,} bytes")
    try:
        return kind.model_validate_json(bytes(raw))
    except ValidationError as exc:
        error = exc.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in error["loc"])
        raise HTTPException(400, f"{where or 'the body'}: {error['msg']}") from exc


def _json(content: object) -> Response:
    return Response(to_json(content), media_type="application/json")


@asynccontextmanager
async def listening(server: MemoryServer, port: int = 0) -> AsyncIterator[str]:
    """Yield the base URL of the server while it runs, and close its systems; UserError when the port is taken."""
    try:
        listener = open_listener(LOOPBACK, port)
    except OSError as exc:
        raise UserError(f"--port {port}: cannot listen on {LOOPBACK}: {exc.strerror}; choose another") from exc
    async with AsyncExitStack() as stack:
        stack.push_async_callback(server.close)  # after the last request
        yield await stack.enter_async_context(serving(server.app(), listener))


async def run_server(
    served: ServedSystem, spec: BenchmarkSpec, services: Services, folder: Path, on_ready: Callable[[str], None]
) -> None:
    """Serve the system until SIGINT or SIGTERM; `on_ready` receives the base URL.

    Replies on their way are then awaited until a second signal. `folder` keeps replies and vectors, so that nothing is
    paid twice. Raises UserError for a system that cannot be served.
    """
    (arm,) = arms_of(served.name, served.settings, ())
    assert arm.registered is not None
    assert arm.settings is not None
    async with AsyncExitStack() as stack:
        embedder: Embedder | None = None
        if served.embedder:
            embedder = StoredEmbedder(make_embedder(served.embedder, spec), folder / "vectors.sqlite")
            stack.callback(embedder.close)
        log = stack.enter_context(WorkLog.open(folder / "journal.sqlite"))
        clients = services.make_model(spec, home=folder)
        stack.push_async_callback(close_model, clients)
        server = MemoryServer(
            name=arm.name,
            registered=arm.registered,
            settings=arm.settings,
            models=services.models(JournalledModel(LimitedModel(clients, spec), log.journal)),
            spec=spec,
            embedder=embedder,
            gives=served.gives,
            budget=served.budget,
        )
        stopped = asyncio.Event()

        def stop() -> None:
            if stopped.is_set():
                drop_replies()
            stopped.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        on_ready(await stack.enter_async_context(listening(server, served.port)))
        await stopped.wait()
