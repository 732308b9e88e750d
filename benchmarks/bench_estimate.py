"""How near an estimate is to what a run uses: before the run, and while it runs with models that answer otherwise.

Each run is made by the offline writer in this process, scaled as `longbeam serve-offline` scales it: replies half or
twice as long, detectors that fire half or twice as often. The running estimate is read when a share of all calls
has been made. Conversations of a benchmark run four at a time; those of one begin with its plan, so that of a
benchmark of a single conversation the first tenth of the calls tells nothing of its dialogue.

Run: `python -m benchmarks.bench_estimate [--length 32K] [--conversations 20] [--domain trip,...]`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longbeam.models import CostMeter, ModelCall, PrefixCache, PromptEncoder, load_tokenizer, tokens_in
from longbeam.offline import OfflineWriter
from longbeam.offline.loopback import ServerSettings, answer
from longbeam.pipeline import load_spec
from longbeam.pipeline.cost import Rehearsal, forecast, rehearse
from longbeam.pipeline.run import run_inline
from longbeam.schemas import BenchmarkSpec, ModelReply, Usage
from longbeam.store import create_benchmark
from longbeam.wiring import services

FACTORS = (0.5, 1.0, 2.0)
SHARES = (0.0, 0.02, 0.05, 0.1, 0.25)


@dataclass
class ScaledWriter:
    """The offline writer as the loopback server scales it, with token counts."""

    settings: ServerSettings
    writer: OfflineWriter = field(default_factory=OfflineWriter)
    cache: PrefixCache = field(default_factory=PrefixCache)

    def __post_init__(self) -> None:
        self.tokenizer = load_tokenizer("o200k_base")
        self.encode = PromptEncoder(self.tokenizer.encode)

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer, with tokens."""
        await asyncio.sleep(0)
        prompt = self.encode(call.messages())
        text = answer(self.writer, call, self.settings)
        return ModelReply(
            text=text,
            prompt_tokens=tokens_in(prompt),
            cached_tokens=self.cache.serve(prompt),
            output_tokens=self.tokenizer.count(text),
        )


@dataclass
class Watched:
    """A meter that notes what was used after every call that a share of the calls is looked at."""

    meter: CostMeter
    every: int = 20
    seen: list[list[Usage]] = field(default_factory=list)
    calls: int = 0

    async def complete(self, call: ModelCall) -> ModelReply:
        """Answer and note."""
        reply = await self.meter.complete(call)
        self.calls += 1
        if self.calls % self.every == 1:
            self.seen.append(self.meter.usage())
        return reply


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", default="32K")
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--domain", default="", help="comma-separated; all nineteen without it")
    parser.add_argument("--replies", default=",".join(map(str, FACTORS)), help="factors on the length of replies")
    parser.add_argument("--detectors", default=",".join(map(str, FACTORS)), help="factors on the detectors' rates")
    arguments = parser.parse_args()
    fields = {"name": "bench", "length": arguments.length, "conversations": arguments.conversations}
    if arguments.domain:
        fields["domains"] = arguments.domain.split(",")
    spec = load_spec(None, fields)
    begun = time.monotonic()
    rehearsal = asyncio.run(rehearse(spec, services()))
    print(f"{arguments.conversations} conversations of {arguments.length}; {rehearsal.rehearsed} rehearsed in", end=" ")
    print(f"{time.monotonic() - begun:.1f} s\n")
    print("error of calls / prompt tokens / output tokens, in % of what the run used, by share of the calls made\n")
    print(
        f"| replies | detectors | calls | {' | '.join(f'{s:.0%}' for s in SHARES)} |\n{'| --- ' * (3 + len(SHARES))}|"
    )
    for replies in map(float, arguments.replies.split(",")):
        for detectors in map(float, arguments.detectors.split(",")):
            settings = ServerSettings(reply_factor=replies, detector_factor=detectors)
            print_row(settings, asyncio.run(run(spec, settings)), rehearsal)


async def run(spec: BenchmarkSpec, settings: ServerSettings) -> Watched:
    """Make the benchmark with a scaled writer."""
    watched = Watched(CostMeter(ScaledWriter(settings), spec))
    with tempfile.TemporaryDirectory() as out:
        await run_inline(create_benchmark(spec, Path(out)), services().models(watched))
    return watched


def print_row(settings: ServerSettings, watched: Watched, rehearsal: Rehearsal) -> None:
    """Print the errors of one run."""
    used = watched.meter.usage()
    cells = []
    for share in SHARES:
        rows = watched.seen[round(share * watched.calls) // watched.every] if share else []
        expected = forecast(rehearsal, rows)
        errors = (_sum(expected, n) / _sum(used, n) - 1 for n in ("calls", "prompt_tokens", "output_tokens"))
        cells.append(" / ".join(f"{100 * e:+.0f}" for e in errors))
    print(f"| {settings.reply_factor:g} | {settings.detector_factor:g} | {watched.calls:,} | {' | '.join(cells)} |")


def _sum(rows: Sequence[Usage], name: str) -> int:
    return sum(getattr(row, name) for row in rows)


if __name__ == "__main__":
    main()
