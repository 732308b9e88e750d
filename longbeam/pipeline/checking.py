"""Checks and counts over the finished conversations of a benchmark; both are kept in its `benchmark.duckdb`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from longbeam.errors import StoreError
from longbeam.pipeline.evaluate.model_checks import stored_model_findings
from longbeam.pipeline.findings_page import findings_page
from longbeam.schemas import Finding, Seed, Severity, Statistics
from longbeam.store import (
    Benchmark,
    SealedConversation,
    read_findings,
    read_statistics,
    write_atomically,
    write_benchmark,
)
from longbeam.terminal import counted
from longbeam.text import Language, language_of
from longbeam.validation import ConversationIndex, build_index, check_benchmark, check_index, index_statistics, left_out

T = TypeVar("T")
_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
STATISTICS = "benchmark"
"""Name of the tables among the stored statistics."""


@contextmanager
def sealed_conversations(benchmark: Benchmark) -> Iterator[Iterator[SealedConversation]]:
    """Give an iterator over the finished conversations in order, of which one is open at a time."""

    def opened() -> Generator[SealedConversation, None, None]:
        for conversation_id in benchmark.sealed_ids:
            with SealedConversation(benchmark.sealed_path(conversation_id)) as reader:
                yield reader

    with closing(opened()) as readers:
        yield readers


def _read_conversations(benchmark: Benchmark) -> Iterator[ConversationIndex]:
    """Yield the finished conversations in order, read; their files are closed, so that DuckDB holds nothing of them."""
    spec = benchmark.spec
    asked = None if spec.is_given else dict.fromkeys(spec.abilities, spec.probes_per_ability)
    return (_read(benchmark.sealed_path(conversation_id), asked) for conversation_id in benchmark.sealed_ids)


def _read(path: Path, asked: Mapping[str, int] | None) -> ConversationIndex:
    with SealedConversation(path) as reader:
        return build_index(reader, asked=asked)


def check_and_store(benchmark: Benchmark) -> list[Finding]:
    """Return what the checks find: in conversations, across them, and what model-backed ones found of the same."""
    findings: list[Finding] = []
    seeds: list[tuple[str, Seed]] = []
    for index in _read_conversations(benchmark):
        findings += check_index(index, language=language_of(benchmark.spec.language))
        seeds.append((index.head.conversation_id, index.head.seed))
        del index  # before the next one is read
    with sealed_conversations(benchmark) as readers:
        findings += check_benchmark(readers)
    findings += stored_model_findings(benchmark)
    path = benchmark.database_path
    write_benchmark(path, seeds=seeds, findings=findings, statistics=_kept(path, read_statistics) or {})
    return findings


def count_and_store(benchmark: Benchmark) -> Statistics:
    """Return the benchmark's tables."""
    statistics = index_statistics(_read_conversations(benchmark))
    with sealed_conversations(benchmark) as readers:
        seeds = [(reader.head.conversation_id, reader.head.seed) for reader in readers]
    path = benchmark.database_path
    findings = _kept(path, read_findings) or []
    stored = {STATISTICS: statistics.model_dump(mode="json")}
    write_benchmark(path, seeds=seeds, findings=findings, statistics=stored)
    return statistics


def make_again(benchmark: Benchmark) -> None:
    """Make `benchmark.duckdb` again from the finished conversations, with findings and tables."""
    benchmark.database_path.unlink()
    if benchmark.sealed_ids:
        check_and_store(benchmark)
        count_and_store(benchmark)


def _kept(path: Path, read: Callable[[Path], T]) -> T | None:
    """Return what a file holds that is about to be replaced; None if it is damaged or absent."""
    try:
        return read(path)
    except StoreError:
        return None


def render_findings(name: str, conversations: int, findings: Sequence[Finding], most: int) -> str:
    """Return the findings as text, worst first and at most `most` of them, and a line of counts; ends a line."""
    ranked = sorted(findings, key=lambda f: list(Severity).index(f.severity))
    lines = [
        f"{f.severity.value:<7}  {f.conversation_id or name}  {f.subject}  {f.check}: {f.message}"
        for f in ranked[:most]
    ]
    if len(ranked) > most:
        lines.append(f"... and {len(ranked) - most} more; `--json` prints all")
    counts = Counter(f.severity for f in findings)
    summary = ", ".join(counted(counts[s], _NOUNS[s]) for s in Severity)
    lines.append(f"{name}: {counted(conversations, 'conversation')} checked: {summary}")
    return "\n".join(lines) + "\n"


def write_findings_page(benchmark: Benchmark, findings: Sequence[Finding], path: Path) -> None:
    """Write the findings to a file as one self-contained page."""
    with sealed_conversations(benchmark) as readers:
        write_atomically(path, findings_page(benchmark.spec.name, findings, readers))


def render_left_out(language: Language) -> str:
    """Return a line for what is not looked for in a language, grouped by the reason; nothing for English."""
    by_reason: dict[str, list[str]] = {}
    for kind, reason in left_out(language).items():
        by_reason.setdefault(reason, []).append(kind)
    return "".join(
        f"left out in {language.name}: {', '.join(kinds)} ({reason})\n" for reason, kinds in by_reason.items()
    )


def findings_json(findings: Sequence[Finding]) -> str:
    """Return all findings as a JSON list, one line each."""
    lines = (json.dumps(f.model_dump(mode="json"), ensure_ascii=False) for f in findings)
    return "[\n" + ",\n".join(lines) + "\n]\n" if findings else "[]\n"
