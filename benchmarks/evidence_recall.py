"""Evidence recall of retrieval at equal token budgets, by category of the probes; no reader and no judge.

    python -m benchmarks.evidence_recall NAME [--out output] [--budgets 500,1000,2000,4000] [--embedder minilm]

Recall: share of a probe's cited messages among those that the context was made from, mean over probes. Probes that
cite nothing are left out. `long_context` is the full transcript: the ceiling of what any of them could read.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from longbeam.evaluation import Arm, arm_of
from longbeam.memory import StoredEmbedder, Tools, exchanges_of
from longbeam.models import Asker, load_tokenizer
from longbeam.models.embedders import Embedder, make_embedder
from longbeam.schemas import Question
from longbeam.store import Benchmark, SealedConversation, open_benchmark

EVERYTHING = 10_000_000
"""Tokens: more than any conversation here."""
MANY = 100_000
"""Passages: the budget alone decides."""

Recalls = dict[tuple[str, int], dict[str, list[float]]]
"""By system and budget, then category."""


def arms_with(has_embedder: bool) -> list[Arm]:
    """The systems of the table, floors first."""
    arms = [arm_of(name, {}) for name in ("random_units", "last_turns", "word_overlap", "bm25")]
    if has_embedder:
        arms += [arm_of("rag", {"retriever": r, "k": str(MANY), "order": "time"}) for r in ("dense", "hybrid")]
    return [*arms, arm_of("long_context", {"window": str(EVERYTHING)})]


async def measure(benchmark: Benchmark, budgets: list[int], embedder: Embedder | None) -> tuple[Recalls, list[str]]:
    """Return the recalls, and the systems in their order."""
    recalls: Recalls = defaultdict(lambda: defaultdict(list))
    arms = arms_with(embedder is not None)
    count = load_tokenizer(benchmark.spec.tokenizer).count
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            exchanges = list(exchanges_of(sealed.messages()))
            probes = [p for p in sealed.probes() if p.is_selected and p.evidence]
        asked_at = exchanges[-1].sent_at + timedelta(days=1)
        for arm in arms:
            assert arm.registered is not None
            # None of these systems asks a model.
            key = f"{benchmark.spec.seed}/{conversation_id}/prepare/{arm.name}"
            tools = Tools(count, cast(Asker, cast(Any, None)), embedder, key)
            system = arm.registered.make(arm.settings, tools)
            for exchange in exchanges:
                await system.add(exchange)
            await system.finish()
            for probe in probes:
                cited = {e.message_key for e in probe.evidence}
                question = Question(text=probe.question, asked_at=probe.asked_at or asked_at)
                for budget in budgets:
                    context = await system.context(question, budget=budget)
                    recall = len(cited.intersection(context.message_keys)) / len(cited)
                    for category in ("all", probe.source_category or probe.ability):
                        recalls[arm.name, budget][category].append(recall)
    return recalls, [arm.name for arm in arms]


def main() -> None:
    """Print a Markdown table per budget."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("--out", type=Path, default=Path("output"))
    parser.add_argument("--budgets", default="500,1000,2000,4000")
    parser.add_argument("--embedder", default="", help="as `longbeam evaluate --embedder`; none: no dense retrieval")
    given = parser.parse_args()
    benchmark = open_benchmark(given.out, given.name)
    budgets = [int(b) for b in given.budgets.split(",")]
    embedder: Embedder | None = None
    if given.embedder:
        (benchmark.root / "evaluation").mkdir(exist_ok=True)
        model = make_embedder(given.embedder, benchmark.spec)
        embedder = StoredEmbedder(model, benchmark.root / "evaluation" / "vectors.sqlite")
    recalls, systems = asyncio.run(measure(benchmark, budgets, embedder))
    for budget in budgets:
        counts = recalls[systems[0], budget]
        categories = ["all", *sorted(set(counts) - {"all"})]
        print(f"\n{benchmark.spec.name}, {budget:,} tokens of context; embedder {given.embedder or 'none'}\n")
        print("| system | " + " | ".join(f"{c} ({len(counts[c])})" for c in categories) + " |")
        print("|---|" + "---:|" * len(categories))
        for system in systems:
            cells = (f"{fmean(recalls[system, budget][c]):.3f}" for c in categories)
            print(f"| {system} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
