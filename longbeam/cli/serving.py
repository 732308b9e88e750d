"""Commands that serve over HTTP until they are stopped: serve-offline, serve-memory."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from enum import StrEnum
from typing import Annotated

import typer

from longbeam.cli.app import DEFAULT_OUT, OK, Out, app
from longbeam.errors import require_extra
from longbeam.schemas import DEFAULT_MODEL


@app.command("serve-offline", short_help="Serve the offline writer over HTTP, with faults.")
def serve_offline(
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[SETTING=VALUE]...", help="Settings; see below.", show_default=False)
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 8000,
    recorded: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Benchmark whose replies answer requests without extras.", show_default=False
        ),
    ] = None,
    out: Out = DEFAULT_OUT,
) -> int:
    """Serve the offline writer at an OpenAI-compatible address, for runs whose endpoint says `sends_extras = true`.

    With --recorded, the replies of the benchmark's models also answer other runs of the same spec.
    docs/models.md describes the settings, such as latency_ms=50 failing=0.05; POST /control changes them.
    """
    require_extra("review", "this server", "uvicorn")
    from longbeam.pipeline import Recording
    from longbeam.store import open_benchmark
    from longbeam.wiring import serve_writer

    def announce(base_url: str) -> None:
        print(f"LISTENING {base_url}", flush=True)

    with nullcontext() if recorded is None else Recording(open_benchmark(out, recorded)) as recording:
        asyncio.run(serve_writer(settings or (), recording, port=port, on_ready=announce))
    return OK


class Gives(StrEnum):
    """Form of the memory server's search results."""

    PASSAGES = "passages"
    CONTEXT = "context"


@app.command("serve-memory", short_help="Serve a memory system to other harnesses.")
def serve_memory(
    system: Annotated[str, typer.Argument(help="A system, as `evaluate --system` names it.", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SYSTEM.SETTING=VALUE", help="A setting of the system.", show_default=False),
    ] = None,
    gives: Annotated[
        Gives, typer.Option("--give", help="passages: one by one; context: what a reader would see, as one memory.")
    ] = Gives.PASSAGES,
    budget: Annotated[int, typer.Option("--budget", help="Tokens of a context.", min=100)] = 4_000,
    extractor: Annotated[str, typer.Option("--extractor", help="Model that prepares the system.")] = DEFAULT_MODEL,
    embedder: Annotated[str, typer.Option("--embedder", help="Embedding model, as for `evaluate`.")] = "",
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 8888,
    out: Out = DEFAULT_OUT,
) -> int:
    """Serve a memory system at the three routes that mem0's memory-benchmarks call (docs/evaluation.md)."""
    require_extra("review", "this server", "fastapi", "uvicorn")
    from longbeam.pipeline import load_spec
    from longbeam.pipeline.evaluate import ServedSystem, run_server
    from longbeam.wiring import services

    spec = load_spec(None, {"name": "memory-server", "models": {"default": extractor}})

    def announce(base_url: str) -> None:
        print(f"LISTENING {base_url}", flush=True)

    served = ServedSystem(system, settings or (), embedder, gives.value, budget, port)
    asyncio.run(run_server(served, spec, services(), out / ".memory-server", announce))
    return OK
