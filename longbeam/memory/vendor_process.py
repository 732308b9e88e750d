"""A product in a process of its own: what it does to its memory, its modules or its process reaches nobody else.

Requests and results are JSON, a line each, over the process's standard input and output. A product that goes over a
time limit is killed with its process. It cannot ask models through `Tools.asker`, nor embed texts.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import importlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO, cast

from pydantic import TypeAdapter

from longbeam.errors import MemorySystemError
from longbeam.memory.base import Tools
from longbeam.memory.product import Memory, ProductSettings, read_result
from longbeam.memory.vendors import Host, kept_process
from longbeam.models import load_tokenizer
from longbeam.schemas import Exchange, Message, PreparationUsage, Question

_MOST_LINE = 64 * 2**20
"""Longest result in bytes."""
_START_S = 120.0
"""Longest start of Python with longbeam in it, on a busy machine."""
_RECORDS: Mapping[str, type[Exchange | Message | Question]] = {
    "Exchange": Exchange,
    "Message": Message,
    "Question": Question,
}


class IsolatedProduct:
    """The product that a class makes, in a process of its own."""

    def __init__(self, name: str, settings: ProductSettings, tools: Tools) -> None:
        """`name`: `package.module:Class`."""
        self._first = {
            "make": name,
            "settings": settings.model_dump(mode="json"),
            "conversation_id": tools.conversation_id,
            "budget": tools.budget,
            "rng_key": tools.rng_key,
            "folder": str(tools.folder or ""),
            "tokenizer": tools.tokenizer,
            "path": sys.path,
        }
        self._name = name
        self._limits = settings
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def begin(self) -> None:
        """Begin the process, and make the product in it; no limit of the product's counts the start of Python."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            __name__,
            str(self._first["tokenizer"]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_MOST_LINE,
            start_new_session=True,
        )
        try:
            for request, limit_s in ((None, _START_S), (self._first, self._limits.add_s)):
                async with asyncio.timeout(limit_s):
                    reply = await self._ask(request)
        except (TimeoutError, asyncio.CancelledError) as exc:
            await self._end()
            if not isinstance(exc, TimeoutError):
                raise
            raise MemorySystemError(f"{self._name} was not made within {limit_s:g} s", kind="timeout") from exc
        if "error" in reply:
            await self._end()
            raise MemorySystemError(reply["error"])

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        """Return a method of the product, as it runs in its process; one that the product lacks returns None."""

        async def called(*given: object) -> Any:  # Any: what the product's method returns
            found = await self._call(method, *given)
            read = _RECEIVED.get(method)
            return found if read is None else read(found)

        return called

    async def close(self) -> None:
        """Close the product, and end its process."""
        try:
            if self._process is not None and self._process.returncode is None:
                await self._call("close")
        finally:
            await self._end()

    async def _call(self, method: str, *given: object) -> Any:  # Any: a JSON tree
        async with self._turn:
            try:
                reply = await self._ask({"method": method, "given": [_sent(value) for value in given]})
            except asyncio.CancelledError:  # the time limit, or Ctrl-C
                await self._end()
                raise
        if "error" in reply:
            raise MemorySystemError(reply["error"], kind=reply.get("kind", "system"))
        return reply.get("found")

    async def _ask(self, request: Mapping[str, object] | None) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if request is not None:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                await process.stdin.drain()
            line = await process.stdout.readline()
            reply = json.loads(line) if line else None
        except (ConnectionError, ValueError, RecursionError):  # it is gone, or sent no line of ours
            reply = None
        if not isinstance(reply, dict):
            await self._end()
            raise MemorySystemError(f"{self._name}: its process ended ({_ended(process.returncode)})")
        return reply

    async def _end(self) -> None:
        """Kill the process and its own ones."""
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _ended(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"


def _sent(value: object) -> object:
    if isinstance(value, Exchange | Message | Question):
        return {"record": type(value).__name__, "value": value.model_dump(mode="json")}
    return {"time": value.isoformat()} if isinstance(value, dt.datetime) else value


_MEMORIES = TypeAdapter(list[Memory])
_RECEIVED: Mapping[str, Callable[[Any], object]] = {
    "search": _MEMORIES.validate_python,
    "usage": PreparationUsage.model_validate,
}
"""By method: reads what came from the product's process."""


# --- in the product's process -----------------------------------------------------------------------------


def _serve(tokenizer: str, requests: TextIO, replies: TextIO) -> None:
    """Say that the process has begun, and answer requests until the input ends; the first one makes the product."""
    product: Any = None
    made_by: Any = None
    count_tokens = load_tokenizer(tokenizer).count
    count_tokens("a first text takes longest")
    _reply({}, replies)
    for line in requests:
        request = json.loads(line)
        method = request.get("method", "__init__")
        try:
            with kept_process():
                if product is None:
                    made_by = _class_of(request)
                    product, found = _made(made_by, request, count_tokens), None
                else:
                    found = _done(product, method, [_got(value) for value in request["given"]])
            reply = {"found": found}
        except BaseException as exc:  # noqa: BLE001 - a product may raise anything; it becomes a record
            failure = Host(made_by).failure(exc, method)
            reply = {"error": str(failure), "kind": getattr(failure, "kind", "system")}
        _reply(reply, replies)


def _reply(reply: Mapping[str, object], replies: TextIO) -> None:
    replies.write(json.dumps(reply) + "\n")
    replies.flush()


def _class_of(first: Mapping[str, Any]) -> Any:  # Any: a vendor's class
    sys.path[:] = first["path"]
    module, _, qualified = first["make"].partition(":")
    made_by: Any = importlib.import_module(module)
    for part in qualified.split("."):
        made_by = getattr(made_by, part)
    return made_by


def _made(made_by: Any, first: Mapping[str, Any], count_tokens: Callable[[str], int]) -> Any:  # Any: the product
    settings_type = getattr(made_by, "Settings", ProductSettings)
    tools = Tools(
        count_tokens=count_tokens,
        asker=cast("Any", None),
        rng_key=first["rng_key"],
        conversation_id=first["conversation_id"],
        budget=first["budget"],
        folder=Path(first["folder"]) if first["folder"] else None,
        tokenizer=first["tokenizer"],
    )
    return made_by(settings_type.model_validate(first["settings"]), tools)


def _done(product: Any, method: str, given: Sequence[Any]) -> object:
    called: Callable[..., Any] | None = getattr(product, method, None)
    if called is None:
        return PreparationUsage().model_dump() if method == "usage" else None
    found = read_result(method, given, _waited(called(*given)))
    if method == "search":
        return _MEMORIES.dump_python(cast("list[Memory]", found), mode="json")
    if method == "usage":
        return cast("PreparationUsage", found).model_dump()
    return found if method == "answer" else None


_RUNNER = asyncio.Runner()


def _waited(found: Any) -> Any:  # Any: what the product returned
    if not hasattr(found, "__await__"):
        return found

    async def waited() -> Any:
        return await found

    return _RUNNER.run(waited())


def _got(value: Any) -> Any:  # Any: an argument
    if isinstance(value, dict) and "record" in value:
        return _RECORDS[value["record"]].model_validate(value["value"])
    return dt.datetime.fromisoformat(value["time"]) if isinstance(value, dict) else value


def isolated(name: str) -> Callable[[ProductSettings, Tools], IsolatedProduct]:
    """Return what makes a product of this class in a process of its own."""
    return partial(IsolatedProduct, name)


if __name__ == "__main__":
    # The product's own prints go nowhere: standard output is for replies.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with contextlib.suppress(KeyboardInterrupt):
        _serve(sys.argv[1], os.fdopen(os.dup(0), encoding="utf-8"), channel)
