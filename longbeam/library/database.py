"""A benchmark as one database for SQL: views with plain names over all of its conversations.

The database is in memory. Sealed conversations and `benchmark.duckdb` are attached read-only; opinions of the review
and results of evaluations are copied into tables when it is opened, so that an open review or a run is not disturbed.
No extension of DuckDB is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import duckdb

from longbeam.errors import UserError
from longbeam.evaluation import Control, read_results
from longbeam.pipeline.evaluate import results_path
from longbeam.review import item_states
from longbeam.schemas import EvaluationRun, Result
from longbeam.store import BENCHMARK, SEALED_CONVERSATION, Benchmark, attach_read_only, connect, explain

Column: TypeAlias = tuple[str, str, str]
"""Name, type and explanation."""

RENAMED: Mapping[str, Mapping[str, str]] = {"evidence": {"group": "item"}, "findings": {"check": "check_kind"}}
"""Columns whose names are reserved words of SQL, by table, and their names in the views."""
_CONVERSATION = (
    "SELECT * EXCLUDE (conversation_id, seed, profile), seed.domain, seed.title, seed.theme, seed.subtopics,"
    ' seed.timeline."start" AS first_day, seed.timeline."end" AS last_day, profile."name" AS user_name,'
    " profile.age AS user_age, profile.profession AS user_profession FROM {file}.conversation"
)
OPINIONS: Sequence[Column] = (
    ("conversation_id", "VARCHAR", ""),
    ("probe_id", "VARCHAR", ""),
    ("ability", "VARCHAR", ""),
    ("reviewer", "VARCHAR", ""),
    ("verdict", "VARCHAR", "accept, reject or skip; null: none is in force"),
    ("reason_code", "VARCHAR", "why it was rejected"),
    ("note", "VARCHAR", ""),
    ("is_edited", "BOOLEAN", "whether the reviewer changed the probe"),
    ("question", "VARCHAR", "with the reviewer's edits"),
    ("gold_answer", "VARCHAR", "with the reviewer's edits"),
    ("labels", "JSON", "the reviewer's label of each nugget"),
    ("saved_at", "TIMESTAMP WITH TIME ZONE", ""),
    ("active_s", "DOUBLE", "seconds spent on the probe, without pauses"),
    ("status", "VARCHAR", "status of the probe over all opinions"),
)
RUNS: Sequence[Column] = (
    ("run", "VARCHAR", "evaluation, or the name of a negative control"),
    ("system", "VARCHAR", ""),
    ("reader", "VARCHAR", ""),
    ("judge", "VARCHAR", "model, prompts with their hashes, and strictness"),
    ("budget", "INTEGER", "tokens of context"),
    ("answers", "BIGINT", ""),
    ("score", "DOUBLE", "mean under the rule of the paper; answers without a score are left out"),
    ("evidence_recall", "DOUBLE", "mean share of the cited messages that the context contains"),
    ("calls", "BIGINT", "model calls in the journal: to prepare, answer and judge"),
    ("prompt_tokens", "BIGINT", ""),
    ("output_tokens", "BIGINT", ""),
    ("cost_usd", "DOUBLE", "null: a price is unknown"),
    ("longbeam", "VARCHAR", "version that made the run"),
)
ANSWERS: Sequence[Column] = (
    ("run", "VARCHAR", "runs.run"),
    ("system", "VARCHAR", ""),
    ("conversation_id", "VARCHAR", ""),
    ("probe_id", "VARCHAR", ""),
    ("ability", "VARCHAR", ""),
    ("answer", "VARCHAR", ""),
    ("score", "DOUBLE", "under the rule of the paper; null: the judge failed"),
    ("score_released", "DOUBLE", "under the rule of BEAM's released code"),
    ("evidence_recall", "DOUBLE", ""),
    ("context_tokens", "INTEGER", "tokens that the reader saw before the question"),
    ("reasons", "VARCHAR[]", "the judge's reason for each nugget"),
    ("error", "VARCHAR", "why there is no answer; empty: there is one"),
)


def open_database(benchmark: Benchmark) -> duckdb.DuckDBPyConnection:
    """Return a database in memory over the benchmark's finished conversations; the caller closes it.

    Raises StoreError if a file is damaged, and UserError if nothing is finished.
    """
    if not benchmark.sealed_ids:
        raise UserError(f"benchmark {benchmark.spec.name!r} has no finished conversation to query")
    db = connect()
    try:
        for conversation_id in benchmark.sealed_ids:
            attach_read_only(db, benchmark.sealed_path(conversation_id), conversation_id, SEALED_CONVERSATION)
        for table, comments in SEALED_CONVERSATION.explained():
            _view(db, table, [_part(db, i, table) for i in benchmark.sealed_ids], comments)
        _add_benchmark_file(db, benchmark)
        _fill(db, "opinions", OPINIONS, _opinion_rows(benchmark))
        runs = list(_runs(benchmark))
        _fill(db, "runs", RUNS, (row for name, run, results in runs for row in _run_rows(name, run, results)))
        _fill(db, "answers", ANSWERS, (_answer_row(name, r) for name, _, results in runs for r in results))
        db.execute(
            "CREATE VIEW dictionary AS SELECT table_name AS view_name, column_name, data_type, comment AS explanation"
            " FROM duckdb_columns() WHERE database_name = 'memory' AND schema_name = 'main' AND NOT internal"
            " AND table_name <> 'dictionary' ORDER BY table_name, column_index"
        )
    except BaseException:
        db.close()
        raise
    return db


def view_names(db: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the views, in alphabetical order."""
    return [name for (name,) in db.execute("SELECT DISTINCT view_name FROM dictionary ORDER BY 1").fetchall()]


def _part(db: duckdb.DuckDBPyConnection, conversation_id: str, table: str) -> str:
    """Return the SELECT over one conversation's table; empty where an older file lacks it."""
    found = db.execute(
        "SELECT 1 FROM duckdb_tables() WHERE database_name = ? AND table_name = ?", [conversation_id, table]
    ).fetchone()
    if not found:
        return ""
    source = _CONVERSATION.format(file=conversation_id) if table == "conversation" else ""
    return _selected(table, source or f"SELECT * FROM {conversation_id}.{table}", conversation_id)


def _selected(table: str, source: str, conversation_id: str = "") -> str:
    names = ", ".join(f'"{old}" AS {new}' for old, new in RENAMED.get(table, {}).items())
    columns = f"* RENAME ({names})" if names else "*"
    place = f"'{conversation_id}' AS conversation_id, " if conversation_id else ""
    return f"SELECT {place}{columns} FROM ({source})"


def _view(db: duckdb.DuckDBPyConnection, table: str, parts: Sequence[str], comments: Mapping[str, str]) -> None:
    name = "conversations" if table == "conversation" else table
    # Older files lack columns, which are null then.
    db.execute(f"CREATE VIEW {name} AS {' UNION ALL BY NAME '.join(filter(None, parts))}")
    there = {row[0] for row in db.execute(f"DESCRIBE {name}").fetchall()}
    shown = {RENAMED.get(table, {}).get(column, column): comment for column, comment in comments.items()}
    explain(db, {f"{name}.{column}": comment for column, comment in shown.items() if column in there})


def _add_benchmark_file(db: duckdb.DuckDBPyConnection, benchmark: Benchmark) -> None:
    """Add seeds, findings and statistics; they are empty before `validate` or `stats` has run."""
    if benchmark.database_path.exists():
        attach_read_only(db, benchmark.database_path, "benchmark", BENCHMARK)
    else:
        db.execute("ATTACH ':memory:' AS benchmark; USE benchmark")
        for statement in BENCHMARK.tables:
            db.execute(statement)
        db.execute("USE memory")
    for table, comments in BENCHMARK.explained():
        _view(db, table, [_selected(table, f"SELECT * FROM benchmark.{table}")], comments)


def _fill(
    db: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Column], rows: Iterable[Sequence[object]]
) -> None:
    db.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind, _ in columns)})")
    if found := list(rows):
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", found)
    explain(db, {f"{table}.{name}": comment for name, _, comment in columns if comment})


def _opinion_rows(benchmark: Benchmark) -> Iterator[Sequence[object]]:
    for conversation_id, state in item_states(benchmark):
        for opinion in state.opinions.values():
            probe = opinion.probe
            yield (
                *(conversation_id, probe.probe_id, probe.ability, opinion.reviewer_id),
                *(opinion.verdict and opinion.verdict.value, opinion.reason_code, opinion.note, opinion.is_edited),
                *(probe.question, probe.gold_answer, json.dumps(opinion.labels), opinion.saved_at),
                *(opinion.active_ms / 1000, state.status.value),
            )


def _runs(benchmark: Benchmark) -> Iterator[tuple[str, EvaluationRun, Sequence[Result]]]:
    """Yield the evaluation and the negative controls that were run, each with its name."""
    for control in (None, *Control):
        path = results_path(benchmark, control)
        if path.exists():
            found = read_results(path)
            yield found.run.control or "evaluation", found.run, found.results


def _run_rows(name: str, run: EvaluationRun, results: Sequence[Result]) -> Iterator[Sequence[object]]:
    for system in dict.fromkeys(r.system for r in results):
        own = [r for r in results if r.system == system]
        spent = [s for s in run.spending if s.system == system]
        costs = [s.cost_usd for s in spent]
        yield (
            *(name, system, run.reader, run.judge, run.settings.budget, len(own)),
            *(_mean(own, lambda r: r.score("paper")), _mean(own, lambda r: r.retrieval.evidence_recall)),
            *(sum(s.calls for s in spent), sum(s.prompt_tokens for s in spent), sum(s.output_tokens for s in spent)),
            *(None if None in costs else sum(c or 0.0 for c in costs), run.longbeam),
        )


def _answer_row(name: str, result: Result) -> Sequence[object]:
    judged = result.judgement.nuggets if result.judgement else ()
    return (
        *(name, result.system, result.conversation_id, result.probe_id, result.ability, result.answer.text),
        *(result.score("paper"), result.score("released"), result.retrieval.evidence_recall, result.retrieval.tokens),
        *([n.reason or n.error for n in judged], result.answer.error),
    )


def _mean(results: Sequence[Result], figure: Callable[[Result], float | None]) -> float | None:
    found = [x for x in map(figure, results) if x is not None]
    return sum(found) / len(found) if found else None
