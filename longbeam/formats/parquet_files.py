"""Parquet through DuckDB: written from JSON Lines with declared types, read row by row; no other library."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import duckdb
from pydantic import BaseModel

from longbeam.errors import StoreError, UserError
from longbeam.store import connect

_SCALARS: Mapping[type, str] = {
    bool: "BOOLEAN",
    int: "BIGINT",
    float: "DOUBLE",
    str: "VARCHAR",
    date: "DATE",
    datetime: "TIMESTAMP_S",
}
_ROWS_PER_GROUP = 4096
"""DuckDB holds a group in memory: about 20 MB of messages."""
_MIN_OBJECT_BYTES = 16 * 2**20


def columns_of(record: type[BaseModel]) -> dict[str, str]:
    """Return a record's fields as DuckDB types by name."""
    return {name: _type_of(field.annotation) for name, field in record.model_fields.items()}


def write_parquet(rows: Path, path: Path, columns: Mapping[str, str]) -> None:
    """Write the objects of a JSON Lines file as parquet, in their order; StoreError if it cannot be written."""
    declared = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    with rows.open("rb") as file:
        longest = max((len(line) for line in file), default=0)
    read = (
        f"read_ndjson({_quoted(rows)}, columns = {{{declared}}}, hive_partitioning = false,"
        f" maximum_object_size = {max(longest + 1, _MIN_OBJECT_BYTES)})"
    )
    with connect(path.parent / ".spill") as connection:
        try:
            # With two, it depends on their speed which rows are packed together, and so do the bytes.
            connection.execute("SET threads = 1")
            connection.execute(
                f"COPY (SELECT * FROM {read}) TO {_quoted(path)}"
                f" (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROWS_PER_GROUP})"
            )
        except duckdb.IOException as exc:
            raise StoreError(f"{path}: {str(exc).splitlines()[0]}") from exc


def read_parquet(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a parquet file as JSON trees, one in memory at a time; UserError if it is none."""
    try:
        with connect() as connection:
            # As JSON text: DuckDB's own objects cost several times the memory, and know dates.
            reading = connection.execute(f"SELECT to_json(r)::VARCHAR FROM read_parquet({_quoted(path)}) r")
            while row := reading.fetchone():
                yield json.loads(row[0])
    except duckdb.Error as exc:
        raise UserError(f"{path}: cannot be read as parquet: {str(exc).splitlines()[0]}") from exc


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _type_of(annotation: Any) -> str:  # Any: a type or a typing construct
    if get_origin(annotation) in (types.UnionType, Union):
        (inner,) = [a for a in get_args(annotation) if a is not type(None)]
        return _type_of(inner)
    if get_origin(annotation) is tuple:
        return f"{_type_of(get_args(annotation)[0])}[]"
    if issubclass(annotation, BaseModel):
        fields = ", ".join(f'"{name}" {kind}' for name, kind in columns_of(annotation).items())
        return f"STRUCT({fields})"
    return "VARCHAR" if issubclass(annotation, Enum) else _SCALARS[annotation]
