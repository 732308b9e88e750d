"""Independent calls through every layer that a run puts between a stage and an endpoint.

Each call renders its prompt, waits for its turn and for the limits, is sent over HTTP, streamed, priced, recorded in
the work log and parsed. Nothing checks what the replies say of a story: that part of a run grows with the story.
`benchmarks.bench_http` runs this module in a process of its own.
Run: `python -m benchmarks.own_calls BASE_URL CALLS AT_ONCE`; prints CPU (ms) per call and the wall time (s).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from longbeam.keys import UnitKey
from longbeam.models import Asker, JournalledModel
from longbeam.pipeline.run import Schedule, limited_models
from longbeam.prompts import default_registry
from longbeam.prompts.calls import PersonalityInputs
from longbeam.schemas import BenchmarkSpec
from longbeam.store import WorkLog
from longbeam.wiring import services

WARM_UP = 8
"""Calls that open connections and compile the prompt, before the clock starts."""


async def measure(base_url: str, calls: int, at_once: int) -> tuple[float, float]:
    """Return the CPU per call (ms) and the wall time (s) of `calls` calls, `at_once` of them in flight."""
    spec = BenchmarkSpec.model_validate(
        {
            "name": "calls",
            "models": {"default": "openai:offline"},
            "endpoints": {"openai:offline": {"base_url": base_url, "limits": {"concurrency": at_once}}},
            "limits": {"concurrency": at_once},
        }
    )
    with tempfile.TemporaryDirectory() as name, WorkLog.open(Path(name, "work.sqlite")) as log:
        log.commit_in_groups(asyncio.get_running_loop().call_soon, at_once)
        given = services()
        async with limited_models(given.models(given.make_model(spec, home=Path(name))), spec) as limited:
            schedule = Schedule(at_once)
            chat = JournalledModel(schedule.ordered(limited.chat), log.journal)
            asker = Asker(replace(limited, chat=chat), default_registry(), spec, UnitKey("calls", "persona", "p"))

            async def ask(i: int) -> str:
                # As long as the yardstick's message: 200 words.
                return await asker.prose(
                    "personality", PersonalityInputs(gender="female", traits=(f"{i} " + "word " * 200,))
                )

            with schedule.committing(log.commit):
                await asyncio.gather(*map(ask, range(WARM_UP)))
                cpu, wall = time.process_time(), time.monotonic()
                await asyncio.gather(*map(ask, range(WARM_UP, WARM_UP + calls)))
                return (time.process_time() - cpu) / calls * 1000, time.monotonic() - wall


if __name__ == "__main__":
    print(*asyncio.run(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
