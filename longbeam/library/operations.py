"""Operations of the library, as coroutines: `await` them, or give them to `run` where nothing can be awaited.

Each takes names and folders as strings or paths. Errors are those of the command line: `UserError` in one line.
"""

from __future__ import annotations

import asyncio
import shutil
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from longbeam.errors import LongbeamError, UserError
from longbeam.evaluation import (
    Arm,
    Row,
    arm_of,
    few_conversations,
    grouped_failures,
    kind_of,
    ranked_rows,
    rows_of,
)
from longbeam.formats import LOCOMO_SESSIONS, ExportOptions, ExportReport, ImportOptions, exporter, importer
from longbeam.library.benchmark import LoadedBenchmark
from longbeam.library.measuring import MeasuringOptions, measurement_of
from longbeam.library.tables import Table
from longbeam.pipeline import Origin, check_and_store, import_benchmark as keep_import, load_spec, with_overrides
from longbeam.pipeline.run import Progress
from longbeam.review import reviewed_conversations
from longbeam.schemas import BenchmarkSpec, EvaluationRun, Finding, Result
from longbeam.store import SPEC, Benchmark, open_benchmark
from longbeam.terminal import followed_by
from longbeam.wiring import generate as make_benchmark

if TYPE_CHECKING:
    import pandas as pd

    from longbeam.models import ChatModel

PathLike = str | Path
Given: TypeAlias = LoadedBenchmark | Benchmark
System = str | type
"""A system's name, as `--system` has it, or a class with `add` and `search`."""


class GenerateOptions(TypedDict, total=False):
    """Fields of a spec that may be given in place of those of its file, and what a run reports to."""

    name: str
    length: int | str
    conversations: int
    seed: int
    domains: Sequence[str]
    abilities: Sequence[str]
    probes_per_ability: int
    models: Mapping[str, str]
    limits: Mapping[str, object]


async def generate(
    spec: BenchmarkSpec | PathLike | None = None,
    out: PathLike = "output",
    *,
    progress: Progress | None = None,
    model: ChatModel | None = None,
    **fields: Unpack[GenerateOptions],
) -> LoadedBenchmark:
    """Make a benchmark under the folder `out`, or go on with it, and return it.

    `spec`: a spec, the path of a spec file, or None for the defaults; `fields` win over it. `model` answers every call
    in place of the spec's models. Raises UserError for a spec that cannot be used, and LongbeamError when
    conversations are unfinished: what was made is kept, and the same call goes on.
    """
    given = with_overrides(spec, fields) if isinstance(spec, BenchmarkSpec) and fields else spec
    if not isinstance(given, BenchmarkSpec):
        given = load_spec(None if given is None else Path(given), fields)
    summary = await make_benchmark(given, out, progress=progress, model=model)
    if summary.finished < summary.conversations:
        why = summary.stopped or "; ".join(str(unit.error) for _, unit in summary.failures[:1]) or "it was stopped"
        raise LongbeamError(
            followed_by(
                f"{given.name}: {summary.finished} of {summary.conversations} conversations finished: {why}",
                "What was made is kept; the same call goes on",
            )
        )
    return LoadedBenchmark(open_benchmark(out, given.name))


class ReadOptions(TypedDict, total=False):
    """How another format is read."""

    full_chat: bool
    """BEAM: the whole chat of the release (the default), or the truncated chat of its paper's evaluation."""
    tokenizer: str
    licence: str
    """Licence of the data, which exports name."""


async def load(
    source: PathLike, path: PathLike | None = None, *, out: PathLike = "output", **options: Unpack[ReadOptions]
) -> LoadedBenchmark:
    """Return a benchmark: `load("demo")` by name under `out`, `load("output/demo")` by its folder.

    `load("beam", path)` reads another format (`beam`, `locomo`, `longmemeval`, `jsonl`) into a temporary folder that is
    removed with the returned object; `import_benchmark` keeps it.
    """
    if path is not None:
        folder = mkdtemp(prefix="longbeam-")
        try:
            imported = await import_benchmark(str(source), path, str(source), out=folder, **options)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(imported, shutil.rmtree, folder, ignore_errors=True)
        return imported
    return LoadedBenchmark(await asyncio.to_thread(_opened, Path(source), out))


def _opened(source: Path, out: PathLike) -> Benchmark:
    if (source / SPEC).is_file():
        return open_benchmark(source.absolute().parent, source.absolute().name)
    return open_benchmark(out, str(source))


async def import_benchmark(
    format: str, path: PathLike, name: str, *, out: PathLike = "output", **options: Unpack[ReadOptions]
) -> LoadedBenchmark:
    """Read a benchmark of another format, keep it as `name` under `out`, and return it."""
    tokenizer = options.get("tokenizer", "o200k_base")
    reading = ImportOptions(tokenizer=tokenizer, full_chat=options.get("full_chat", True))
    conversations = importer(format)(Path(path), reading)
    origin = Origin(format, options.get("licence", ""), tokenizer)
    report = await asyncio.to_thread(keep_import, conversations, name, Path(out), origin)
    return LoadedBenchmark(report.benchmark)


async def validate(benchmark: Given) -> Table[Finding]:
    """Return the findings of all checks on the finished conversations, and keep them in the benchmark."""
    stored = _finished(benchmark)
    findings = await asyncio.to_thread(check_and_store, stored)
    return Table(findings, "finding", lambda: (finding.model_dump() for finding in findings))


async def export(
    benchmark: Given,
    to: PathLike,
    *,
    format: str = "jsonl",
    reviewed_only: bool = False,
    most_sessions: int = LOCOMO_SESSIONS,
) -> ExportReport:
    """Write the finished conversations and their selected probes to the folder `to`, and return the counts.

    An earlier export of the same format there is replaced. `reviewed_only`: only probes that a reviewer accepted or
    edited. `most_sessions`: LoCoMo's sessions at most; 0 merges none.
    """
    stored, write = _finished(benchmark), exporter(format)

    def written() -> ExportReport:
        with reviewed_conversations(stored) as reviewed:
            options = ExportOptions(reviewed.statuses, reviewed_only, most_sessions)
            return write(reviewed.readers, stored.spec, Path(to), options)

    return await asyncio.to_thread(written)


@dataclass(frozen=True)
class Evaluation:
    """An evaluation: its settings, its results, and a row of means for each system."""

    run: EvaluationRun
    results: Sequence[Result]

    @property
    def table(self) -> Table[Row]:
        """Means of each system, best first; floors and ceilings below."""
        rows = [row for _, row in ranked_rows(self.run, rows_of(self.results, self.run.spending))]
        return Table(rows, "system", lambda: (_columns(row) for row in rows))

    @property
    def failures(self) -> tuple[str, ...]:
        """Answers and verdicts that failed and are in no result: one line for all probes of a system and reason.

        `run.failures` has a line for each.
        """
        return grouped_failures(self.run.failures)

    def scores(self) -> dict[str, float | None]:
        """Return each system's score under the paper's rule, 0 to 1; None where nothing could be scored."""
        return {row.system: row.score for row in self.table}

    @property
    def warning(self) -> str:
        """Line on the limits of intervals over so few conversations; empty where there are enough."""
        return few_conversations(self.run.conversations)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each answer: system, conversation, probe, ability, score, recall, tokens, texts."""
        return Table(self.results, "answer", lambda: map(_answer_row, self.results)).to_pandas()

    def __repr__(self) -> str:
        return "\n".join(
            [f"<evaluation of {self.run.benchmark}: {len(self.results)} answers>", *filter(None, [self.warning])]
        )

    def _repr_html_(self) -> str:
        note = f"<p>{escape(self.warning)}</p>" if self.warning else ""
        return self.table._repr_html_() + note


def _answer_row(result: Result) -> Mapping[str, Any]:
    return {
        "system": result.system,
        "conversation_id": result.conversation_id,
        "probe_id": result.probe_id,
        "ability": result.ability,
        "score": result.score("paper"),
        "recall": result.retrieval.evidence_recall,
        "tokens": result.retrieval.tokens,
        "answer": result.answer.text,
    }


class EvaluateOptions(MeasuringOptions, total=False):
    """Options of an evaluation, as those of `longbeam evaluate`."""

    settings: Mapping[str, Mapping[str, object]]
    """By system: `{"rag": {"k": 10}}`."""


async def evaluate(
    benchmark: Given,
    systems: System | Sequence[System] = ("long_context", "rag"),
    *,
    progress: Progress | None = None,
    **options: Unpack[EvaluateOptions],
) -> Evaluation:
    """Measure memory systems on the finished conversations; floors and ceilings are always included.

    A system is a name, `package.module:object`, a server's address, or a class with `add` and `search`. Replies are
    kept in the benchmark, so a stopped evaluation goes on with the same call. Probes are asked in their reviewed form.
    A system that fails is in `failures`, not in the table. Raises UserError for what cannot be evaluated.
    """
    stored = _finished(benchmark)
    measurement = measurement_of(stored, _arms(systems, options.get("settings", {})), options)
    run, results = await measurement.run(measurement.make_meter(), progress)
    return Evaluation(run, results)


def _arms(systems: System | Sequence[System], settings: Mapping[str, Mapping[str, object]]) -> list[Arm]:
    listed = [systems] if isinstance(systems, str | type) else list(systems)
    names = [system if isinstance(system, str) else system.__name__ for system in listed]
    if doubled := [name for name in names if names.count(name) > 1]:
        raise UserError(f"system {doubled[0]} is asked for twice; name it once")
    if unknown := [name for name in settings if name not in names]:
        raise UserError(f"settings of {unknown[0]!r}: systems are {', '.join(names)}")
    return [arm_of(system, settings.get(name, {})) for system, name in zip(listed, names, strict=True)]


def _columns(row: Row) -> Mapping[str, Any]:
    return {
        "system": row.system,
        "kind": kind_of(row.system),
        "score": row.score,
        "low": row.interval.low if row.interval else None,
        "high": row.interval.high if row.interval else None,
        "score_released": row.released,
        "recall": row.recall,
        "values_found": row.values_found,
        "tokens": row.tokens,
        "cost": row.cost,
        "unscored": row.unscored,
        **row.by_ability,
    }


def _finished(benchmark: Given) -> Benchmark:
    stored = benchmark.stored if isinstance(benchmark, LoadedBenchmark) else benchmark
    if not stored.sealed_ids:
        raise UserError(f"benchmark {stored.spec.name!r} has no finished conversation; generate it to the end first")
    return stored
