"""The file `benchmark.duckdb`: seeds, findings and statistics of a benchmark.

Every run of `validate` or `stats` replaces the file as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from longbeam.errors import StoreError
from longbeam.schemas import Finding, Seed
from longbeam.store.duck import Kind, attach_read_only, connect, replaced_file, select, translated_errors

BENCHMARK = Kind(
    name="benchmark file",
    version=2,
    oldest_readable=1,
    remedy="`longbeam validate` and `longbeam stats` make it again",
    tables=(
        """
CREATE TABLE seeds (
    ordinal INTEGER NOT NULL,
    conversation_id VARCHAR NOT NULL,
    domain VARCHAR NOT NULL,
    about VARCHAR,  -- paragraph on a domain of the makers' own; null in files of version 1
    title VARCHAR NOT NULL,
    theme VARCHAR NOT NULL,
    subtopics VARCHAR[] NOT NULL,
    timeline STRUCT("start" DATE, "end" DATE),
    "mode" VARCHAR,
    touches VARCHAR,
    source VARCHAR NOT NULL
)""",
        """
CREATE TABLE findings (
    ordinal INTEGER NOT NULL,
    "check" VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    conversation_id VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    message VARCHAR NOT NULL,
    evidence VARCHAR[] NOT NULL  -- message keys
)""",
        """
CREATE TABLE statistics (
    ordinal INTEGER NOT NULL,
    "name" VARCHAR NOT NULL,
    "value" JSON NOT NULL
)""",
    ),
)


def write_benchmark(
    path: Path, *, seeds: Sequence[tuple[str, Seed]], findings: Sequence[Finding], statistics: Mapping[str, Any]
) -> None:
    """Write the file in place of a former one: seeds by conversation_id, findings, JSON statistics by name.

    Raises StoreError if the disk is full or refuses; then `path` is as it was.
    """
    with replaced_file(path, BENCHMARK) as file:
        file.load(
            "seeds",
            (
                {"ordinal": i, "conversation_id": conversation_id, "about": "", **seed.model_dump(mode="json")}
                for i, (conversation_id, seed) in enumerate(seeds)
            ),
        )
        file.load("findings", ({"ordinal": i, **f.model_dump(mode="json")} for i, f in enumerate(findings)))
        file.load(
            "statistics",
            (
                {"ordinal": i, "name": name, "value": json.dumps(value, ensure_ascii=False, allow_nan=False)}
                for i, (name, value) in enumerate(statistics.items())
            ),
        )


def is_sound(path: Path) -> bool:
    """Return whether everything in the file can be read."""
    try:
        with _opened(path) as connection, translated_errors(path, BENCHMARK):
            for table in ("seeds", "findings", "statistics"):
                connection.execute(f"SELECT * FROM benchmark.{table}").fetchall()
    except StoreError:
        return False
    return True


def read_findings(path: Path) -> list[Finding]:
    """Return the findings in the order given."""
    fields = list(Finding.model_fields)
    rows = _rows(path, "findings", fields)
    return [Finding.model_validate(dict(zip(fields, row, strict=True))) for row in rows]


def read_statistics(path: Path) -> dict[str, Any]:
    """Return the statistics by name, in the order given."""
    return {name: json.loads(value) for name, value in _rows(path, "statistics", ["name", "value"])}


def _rows(path: Path, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    with _opened(path) as connection, translated_errors(path, BENCHMARK):
        return connection.execute(select(columns, f"benchmark.{table}", "ORDER BY ordinal")).fetchall()


@contextmanager
def _opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        attach_read_only(connection, path, "benchmark", BENCHMARK)
        yield connection
