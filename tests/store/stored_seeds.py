"""The table of seeds of a benchmark file; the package only writes it."""

from __future__ import annotations

from pathlib import Path

import duckdb

from longbeam.schemas import Seed


def stored_seeds(path: Path) -> list[tuple[str, Seed]]:
    """Return the seeds with the ids of their conversations, in the order of the file."""
    fields = list(Seed.model_fields)
    columns = ", ".join(["conversation_id", *fields])
    with duckdb.connect(path, read_only=True) as db:
        rows = db.execute(f"SELECT {columns} FROM seeds ORDER BY ordinal").fetchall()
    return [(row[0], Seed.model_validate(dict(zip(fields, row[1:], strict=True)))) for row in rows]
