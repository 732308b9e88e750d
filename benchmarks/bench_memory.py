"""Cost of memory systems at 10M tokens, and the effect of the copies in BEAM's released code on evidence recall.

`index` prepares LIGHT on each finished conversation of a benchmark with the model-free extractor, through the
journal as an evaluation does, and times `retrieve` and `context` on its probes. `copies` reads what each system
retrieves for the probes of a benchmark, asks no reader and no judge, and prints evidence recall: no model is involved
but the embedder.

Run: `python -m benchmarks.bench_memory index output/ten [--embedder hashed] [--set z=10 ...]`
     `python -m benchmarks.bench_memory copies output/beam100k --embedder minilm`
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from longbeam.evaluation import Arm, arm_of, retrieval_of
from longbeam.keys import UnitKey
from longbeam.memory import MemorySystem, StoredEmbedder, Tools, exchanges_of
from longbeam.models import Asker, JournalledModel, load_tokenizer
from longbeam.models.embedders import Embedder, make_embedder
from longbeam.offline import OfflineWriter
from longbeam.prompts import default_registry
from longbeam.schemas import Answer, Exchange, Probe, Question
from longbeam.store import Benchmark, SealedConversation, WorkLog, open_benchmark
from longbeam.wiring import services

MILLISECONDS = 1_000
READER_BUDGET = 29_000
"""Tokens of context that BEAM's code reads with RAG; its working memory has 14,000."""
WORKING_BUDGET = 14_000


@dataclass
class Subject:
    """A conversation with its probes."""

    conversation_id: str
    exchanges: tuple[Exchange, ...]
    probes: tuple[Probe, ...]

    def question(self, probe: Probe) -> Question:
        """Return the probe as a question to a system."""
        return Question(text=probe.question, asked_at=self.exchanges[-1].sent_at + timedelta(days=1))


def subjects(benchmark: Benchmark) -> list[Subject]:
    """Return all finished conversations."""
    found = []
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            probes = tuple(p for p in sealed.probes() if p.is_selected)
            found.append(Subject(conversation_id, tuple(exchanges_of(sealed.messages())), probes))
    return found


async def prepared(
    benchmark: Benchmark, subject: Subject, arm: Arm, log: WorkLog, embedder: Embedder | None
) -> MemorySystem:
    """Return the arm's system after it was given the whole conversation."""
    place = UnitKey(subject.conversation_id, "prepare", arm.name.partition("[")[0])
    model = JournalledModel(OfflineWriter(), log.journal)
    tools = Tools(
        count_tokens=load_tokenizer(benchmark.spec.tokenizer).count,
        asker=Asker(models=services().models(model), prompts=default_registry(), spec=benchmark.spec, unit_key=place),
        embedder=embedder,
        rng_key=str(place),
    )
    assert arm.registered is not None
    system = arm.registered.make(arm.settings, tools)
    for exchange in subject.exchanges:
        await system.add(exchange)
    await system.finish()
    return system


async def index(benchmark: Benchmark, embedder: Embedder | None, settings: dict[str, object], folder: Path) -> None:
    """Print time and memory of preparing LIGHT, and of its questions."""
    arm = arm_of("light", settings)
    for subject in subjects(benchmark):
        with WorkLog.open(folder / f"{subject.conversation_id}.sqlite") as log:
            tokens = sum(m.tokens for e in subject.exchanges for m in e.messages)
            before, cpu = time.perf_counter(), time.process_time()
            system = await prepared(benchmark, subject, arm, log, embedder)
            took, cpu = time.perf_counter() - before, time.process_time() - cpu
            print(
                f"{subject.conversation_id} {arm.name}, embedder {embedder.name if embedder else 'none (BM25 keys)'}: "
                f"{tokens:,} tokens, {len(subject.exchanges):,} exchanges; prepared in {took:.1f} s ({cpu:.1f} s CPU), "
                f"{system.usage().model_calls:,} calls, index {system.usage().index_bytes / 2**20:.1f} MiB, "
                f"peak {_peak_mib():,.0f} MiB"
            )

            async def retrieve(question: Question, system: MemorySystem = system) -> object:
                return await system.retrieve(question, k=15)

            async def context(question: Question, system: MemorySystem = system) -> object:
                return await system.context(question, budget=4_000)

            for what, ask in (("retrieve", retrieve), ("context", context)):
                print(f"  {what}: {await _timed(subject, ask)}")


async def _timed(subject: Subject, ask: Callable[[Question], Awaitable[object]]) -> str:
    times = []
    for probe in subject.probes:
        before = time.perf_counter()
        await ask(subject.question(probe))
        times.append((time.perf_counter() - before) * MILLISECONDS)
    p95 = statistics.quantiles(times, n=20)[-1]
    return f"median {statistics.median(times):.1f} ms, p95 {p95:.1f} ms, {len(times)} probes"


def _peak_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def arms_of_copies(embedder: Embedder | None) -> list[tuple[Arm, int]]:
    """Return RAG and working memory as released, with one fault mended at a time, and mended; each with its budget."""
    retrievers = ("bm25", "dense", "hybrid") if embedder else ("bm25",)
    rag = [
        arm_of("rag", {"retriever": retriever, "k": k, "copies": copies})
        for retriever in retrievers
        for k in (5, 15)
        for copies in ("released", "once")
    ]
    # Nothing but working memory is read: no index, and no room for the scratchpad.
    alone: dict[str, object] = {"without": "retrieval", "z": 100, "recent_share": 1, "pad_share": 0}
    working = [
        arm_of("light", {**alone, "copies": copies, "fill": fill})
        for copies in ("released", "once")
        for fill in ("oldest", "newest")
    ]
    return [*((arm, READER_BUDGET) for arm in rag), *((arm, WORKING_BUDGET) for arm in working)]


async def copies(benchmark: Benchmark, embedder: Embedder | None, folder: Path) -> None:
    """Print evidence recall of each system."""
    everything = subjects(benchmark)
    print("| system | distinct exchanges read | tokens | evidence recall | whole evidence read |")
    print("|---|---|---|---|---|")
    for arm, budget in arms_of_copies(embedder):
        recalls, tokens, read = [], [], []
        for subject in everything:
            with WorkLog.open(folder / f"{subject.conversation_id}.sqlite") as log:
                system = await prepared(benchmark, subject, arm, log, embedder)
                contents = {m.message_key: m.content for e in subject.exchanges for m in e.messages}
                exchange_of = {key: e.position for e in subject.exchanges for key in e.message_keys}
                for probe in subject.probes:
                    context = await system.context(subject.question(probe), budget=budget)
                    answer = Answer(
                        conversation_id=subject.conversation_id,
                        probe_id=probe.probe_id,
                        system=arm.name,
                        text="",
                        context=context,
                    )
                    tokens.append(context.tokens)
                    read.append(len({exchange_of[key] for key in context.message_keys}))
                    if (recall := retrieval_of(probe, answer, contents).evidence_recall) is not None:
                        recalls.append(recall)
        print(
            f"| {arm.name} | {statistics.mean(read):.2f} | {statistics.mean(tokens):,.0f} "
            f"| {statistics.mean(recalls):.3f} | {statistics.mean(r == 1 for r in recalls):.3f} |"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("index", "copies"))
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("--embedder", default="")
    parser.add_argument("--set", action="append", default=[], metavar="SETTING=VALUE", help="of LIGHT, for index")
    given = parser.parse_args(arguments)
    benchmark = open_benchmark(given.benchmark.parent, given.benchmark.name)
    values: dict[str, object] = dict(pair.split("=", 1) for pair in given.set)
    with tempfile.TemporaryDirectory() as folder:
        embedder: Embedder | None = None
        if given.embedder:
            embedder = StoredEmbedder(make_embedder(given.embedder, benchmark.spec), Path(folder) / "vectors.sqlite")
        work = (
            index(benchmark, embedder, values, Path(folder))
            if given.what == "index"
            else copies(benchmark, embedder, Path(folder))
        )
        asyncio.run(work)


if __name__ == "__main__":
    main()
