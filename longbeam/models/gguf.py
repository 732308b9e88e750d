"""llama.cpp's own server in a process of its own, started by `models.gguf`.

The settings come as one line of JSON on stdin; the address, or the reason why there is none, goes as one line of JSON
to stdout. The process ends when its stdin ends, so it never outlives the process that started it, however that ends.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from longbeam.errors import ProviderError, RunStopped, SpecError
from longbeam.models.base import ModelCall
from longbeam.models.openai_client import OpenAIModel
from longbeam.models.tuning import CALLING
from longbeam.models.weights import default_context, trained_context
from longbeam.schemas import Endpoint, ModelReply


def main() -> None:
    """Serve a model on a free port of 127.0.0.1 until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the starter's: it awaits the replies on their way
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what llama.cpp prints belongs into the log
    settings = json.loads(sys.stdin.readline())
    watch = threading.Thread(target=_end_with_stdin, daemon=True)
    watch.start()
    try:
        server = _started(settings)
        answer = {"address": server.listening_address}
    except Exception as exc:  # noqa: BLE001 - the seam to llama.cpp; the starter reports the reason
        answer = {"error": " ".join(str(exc).split()) or type(exc).__name__}
    print(json.dumps(answer), file=answers, flush=True)
    if "address" in answer:
        watch.join()


def _started(given: dict[str, Any]) -> Any:  # Any: xllamacpp has no types
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = given["path"]
    settings.model_alias = {given["alias"]}
    settings.hostnames, settings.port, settings.api_keys = ["127.0.0.1"], 0, [given["key"]]
    settings.ui = settings.endpoint_slots = False
    settings.n_parallel, settings.n_ctx = given["slots"], given["slots"] * given["context"]
    if given["threads"] is not None:
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = given["threads"]
    if given["gpu_layers"] is not None:
        settings.n_gpu_layers = given["gpu_layers"]
    settings.use_jinja = True
    settings.default_template_kwargs = {"enable_thinking": json.dumps(given["reasoning"])}
    settings.warmup = False
    return xllamacpp.Server(settings)


def _end_with_stdin() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()


_ERROR = re.compile(r"^[\d.]+ E [^:\n]*: (.+)$", re.MULTILINE)
"""An error in llama.cpp's log: time, letter, part of the program, text."""
_END_S = 5.0
"""Seconds that the server has to end by itself."""


def check_gguf(name: str, role: str, path: Path, endpoint: Endpoint) -> None:
    """Raise SpecError, in one line, for a model that cannot be served; nothing is loaded for that."""
    try:
        trained = trained_context(path)
    except SpecError as exc:
        raise SpecError(f"models.{role} = {name!r}: {exc}") from exc
    if endpoint.context is not None and trained is not None and endpoint.context > trained:
        raise SpecError(
            f"endpoints.{name!r}.context = {endpoint.context}: the model was trained with {trained} tokens, and"
            " llama.cpp gives no more; lower it, or leave it out"
        )
    if importlib.util.find_spec("xllamacpp") is None:
        raise SpecError(
            f"models.{role} = {name!r}: xllamacpp, which brings llama.cpp's server, is not installed;"
            " pip install 'longbeam[llama]' (docs/local-models.md)"
        )


@dataclass(frozen=True)
class _Running:
    """A server that runs, and its client."""

    process: asyncio.subprocess.Process
    client: OpenAIModel


class GgufModel:
    """Answers the calls of one model name. For one event loop; the server starts with the first call."""

    def __init__(
        self,
        name: str,
        path: Path,
        endpoint: Endpoint,
        *,
        logs: Path | None,
        notice: Callable[[str], None],
    ) -> None:
        """`name` as the spec has it; the server's log is kept in the folder `logs`, if one is given."""
        self._name, self._path, self._endpoint = name, path, endpoint
        self._log_path = None if logs is None else logs / f"llama-{path.stem}.log"
        self._notice = notice
        self._starting = asyncio.Lock()
        self._running: _Running | None = None
        self._stopped = ""
        self._deaths = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the reply. Raises ProviderError for the call's own failure, RunStopped where there is no server."""
        with call.progress.held():
            running = await self._served()
        try:
            reply = await running.client.complete(call)
        except ProviderError as exc:
            raise await self._explained(running, exc) from exc
        self._deaths = 0
        return reply

    async def aclose(self) -> None:
        """End the server."""
        running, self._running = self._running, None
        if running is not None:
            await running.client.aclose()
            await _end(running.process)

    async def _served(self) -> _Running:
        async with self._starting:
            if self._stopped:
                raise RunStopped(self._stopped)
            if self._running is None:
                self._running = await self._start()
            return self._running

    async def _start(self) -> _Running:
        key = secrets.token_urlsafe(24)
        settings = {
            "path": str(self._path),
            "alias": self._path.name,
            "key": key,
            "slots": self._endpoint.slots,
            "context": self._context(),
            "threads": self._endpoint.threads,
            "gpu_layers": self._endpoint.gpu_layers,
            "reasoning": self._endpoint.reasoning,
        }
        with ExitStack() as opened:
            log = opened.enter_context(self._open_log())
            start = log.seek(0, os.SEEK_END)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "longbeam.models.gguf"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
            try:
                answer = await _asked(process, settings)
            except BaseException:
                await _end(process)
                raise
            if "address" not in answer:
                await _end(process)
                reason = _first_error(log, start) or answer.get("error") or _ending(process)
                raise self._stop(f"llama.cpp cannot serve the model: {reason}{self._see_log()}")
        served = self._endpoint.model_copy(
            update={"base_url": f"{answer['address']}/v1", "model": self._path.name, "key_env": None}
        )
        return _Running(process, OpenAIModel(self._name, served, key=key, notice=self._notice))

    def _context(self) -> int:
        return self._endpoint.context or default_context(self._path)

    def _open_log(self) -> IO[bytes]:
        if self._log_path is None:
            return tempfile.TemporaryFile()
        try:
            self._log_path.parent.mkdir(parents=True, exist_ok=True)
            return self._log_path.open("ab+")
        except OSError as exc:
            raise self._stop(f"the server's log cannot be written: {self._log_path}: {exc.strerror or exc}") from exc

    async def _explained(self, running: _Running, exc: ProviderError) -> ProviderError | RunStopped:
        """Return the error of a call in words that fit a server of our own."""
        if exc.kind == "context_length":
            return ProviderError(
                f"{self._name}: a prompt does not fit into the context of {self._context():,} tokens; raise context in"
                f' [endpoints."{self._name}"], or name a model with a longer one for this role',
                kind="context_length",
                is_retryable=False,
            )
        if exc.kind != "connection" or not await _has_ended(running.process):
            return exc
        await self._count_death(running)
        if self._stopped:
            return RunStopped(self._stopped, failure=ProviderError(self._stopped, kind="engine", is_retryable=False))
        text = f"{self._name}: llama.cpp's server has died ({_ending(running.process)}){self._see_log()}"
        return ProviderError(text, kind="server_error", is_retryable=True)

    async def _count_death(self, running: _Running) -> None:
        """Count a death once, however many calls were on their way."""
        if self._running is not running:
            return
        self._running, self._deaths = None, self._deaths + 1
        await running.client.aclose()
        ending = _ending(running.process)
        if self._deaths >= CALLING.server_deaths:
            self._stop(
                f"llama.cpp's server has died {CALLING.server_deaths} times without a reply ({ending}){self._see_log()}"
            )
        else:
            self._notice(f"{self._name}: llama.cpp's server has died ({ending}) and is started again{self._see_log()}")

    def _see_log(self) -> str:
        return f"; its log is {self._log_path}" if self._log_path is not None else ""

    def _stop(self, reason: str) -> RunStopped:
        self._stopped = f"{self._name}: {reason}"
        return RunStopped(self._stopped, failure=ProviderError(self._stopped, kind="engine", is_retryable=False))


async def _asked(process: asyncio.subprocess.Process, settings: dict[str, object]) -> dict[str, str]:
    """Send the settings and return the process's answer; empty if it ends without one."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        await process.stdin.drain()
    line = await process.stdout.readline()
    answer: dict[str, str] = json.loads(line) if line else {}
    return answer


async def _end(process: asyncio.subprocess.Process) -> None:
    """Have a process end by closing its stdin, or kill it."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether a process has ended; its connections break a moment before."""
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            await process.wait()
    return process.returncode is not None


def _ending(process: asyncio.subprocess.Process) -> str:
    """`exit code 1` or `SIGKILL`."""
    code = process.returncode
    if code is not None and code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _first_error(log: IO[bytes], start: int) -> str:
    """Return the first error that a log reports after a position; empty if there is none."""
    log.seek(start)
    found = _ERROR.search(log.read().decode("utf-8", "replace"))
    return " ".join(found[1].split())[:200] if found else ""
