"""The table of docs/products.md, from the results of an evaluation.

    python -m benchmarks.products_table output/NAME

Calls (all but the reader's and the judge's) and stored bytes are means of a conversation; ingestion is measured where
the run that wrote the timings took exchanges in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from longbeam.evaluation import Evaluated, ReportLine, last_results, read_results, sections_of

HEAD = (
    "system",
    "score",
    "95 % interval",
    "evidence recall",
    "source recall",
    "tokens",
    "calls",
    "ingestion p95, ms",
    "preparation, s",
    "stored, MB",
)


def main(root: str) -> None:
    """Print the table as Markdown."""
    evaluated = read_results(last_results(Path(root) / "evaluation"))
    (section,) = sections_of([evaluated], against=())
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for line in section.lines:
        print(f"| {' | '.join(_cells(evaluated, line))} |")


def _cells(evaluated: Evaluated, line: ReportLine) -> Iterator[str]:
    row, usage, seconds = line.row, line.usage, line.latency
    conversations = evaluated.run.conversations
    calls = sum(s.calls for s in evaluated.run.spending if s.system == row.system and s.stage == "prepare")
    yield f"`{row.system}`"
    yield _share(row.score)
    yield f"{_share(line.interval.low)} to {_share(line.interval.high)}" if line.interval else "–"
    yield _share(row.recall)
    yield _share(row.source_recall)
    yield f"{row.tokens:,.0f}" if row.tokens else "–"
    yield f"{calls / conversations:,.0f}" if calls else "–"
    yield f"{seconds.add_p95_s * 1_000:,.1f}" if seconds and seconds.add_p95_s is not None else "–"
    yield f"{seconds.prepare_s:,.1f}" if seconds and seconds.prepare_s is not None else "–"
    yield f"{usage.index_bytes / conversations / 1e6:.1f}" if usage and usage.index_bytes else "–"


def _share(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.3f}".removeprefix("0")


if __name__ == "__main__":
    main(sys.argv[1])
