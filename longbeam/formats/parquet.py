"""The same tables as the JSONL export, as parquet: smaller, typed, and queried without being read whole."""

from __future__ import annotations

from collections.abc import Iterable

from longbeam.formats.exporting import ExportWriter, FormatExporter
from longbeam.formats.jsonl import FORMAT_VERSION, write_descriptions, write_tables
from longbeam.formats.jsonl_lines import LINES
from longbeam.formats.parquet_files import columns_of, write_parquet
from longbeam.schemas import ConversationReader

FORMAT = "longbeam-parquet"


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    counts = write_tables(writer, readers)
    for name, line in LINES.items():
        rows = writer.folder / f"{name}.jsonl"
        write_parquet(rows, writer.folder / f"{name}.parquet", columns_of(line))
        rows.unlink()
        del writer.files[rows.name]
        writer.add(f"{name}.parquet")
    write_descriptions(writer, counts, "parquet")


export_parquet = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write the export to the folder `target` and return what was written; see `Exporter`."""
