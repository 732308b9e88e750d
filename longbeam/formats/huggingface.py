"""BEAM's tables on Hugging Face: parquet with its columns, `probing_questions` as a Python literal.

A file holds one conversation, so that neither writer nor reader needs more memory than one takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from longbeam import __version__
from longbeam.formats.beam_json import row_text
from longbeam.formats.beam_write import MANY_PLANS, SIZES, size_class
from longbeam.formats.dataset_card import format_card
from longbeam.formats.exporting import (
    ExportWriter,
    FormatExporter,
    HashedFile,
)
from longbeam.formats.parquet_files import write_parquet
from longbeam.schemas import ConversationReader

SHORT_SIZES = {"8K": 12_000, "16K": 24_000, "32K": 48_000, "64K": 80_000}
"""Splits of conversations that are shorter than BEAM's, with the most tokens of one."""
FORMAT = "huggingface"
FORMAT_VERSION = 1
MOST_PLANS = 10

_MESSAGE = "STRUCT(content VARCHAR, id BIGINT, index VARCHAR, question_type VARCHAR, role VARCHAR, time_anchor VARCHAR)"
_BATCH = f"STRUCT(batch_number BIGINT, time_anchor VARCHAR, turns {_MESSAGE}[][])"
_PROFILE = "STRUCT(user_info VARCHAR, user_relationships VARCHAR)"
_QUESTIONS = 'STRUCT("messages" VARCHAR[][], time_anchor VARCHAR)[]'
_SEED = "STRUCT(category VARCHAR, id BIGINT, subtopics VARCHAR[], theme VARCHAR, title VARCHAR{more})"
_PLAN_SEED = (
    "STRUCT(id BIGINT, category VARCHAR, title VARCHAR, theme VARCHAR, subtopics VARCHAR[], timeline VARCHAR,"
    " phase_type VARCHAR, phase_boundaries STRUCT(can_mention VARCHAR[], cannot_mention VARCHAR[],"
    " tense_for_main_action VARCHAR))"
)
_COMMON = {
    "conversation_id": "VARCHAR",
    "conversation_seed": _SEED.format(more=""),
    "narratives": "VARCHAR",
    "user_profile": _PROFILE,
    "conversation_plan": "VARCHAR",
    "user_questions": _QUESTIONS,
    "chat": f"{_MESSAGE}[][]",
    "probing_questions": "VARCHAR",
}
COLUMNS = {
    False: _COMMON,
    True: _COMMON
    | {
        "conversation_seed": _SEED.format(more=", mode VARCHAR, timeline VARCHAR"),
        "chat": "STRUCT(" + ", ".join(f'"plan-{i}" {_BATCH}[]' for i in range(1, MOST_PLANS + 1)) + ")[]",
        "plans": f"STRUCT(conversation_seed {_PLAN_SEED}, conversation_plan VARCHAR, narratives VARCHAR,"
        f" user_profile {_PROFILE}, user_questions {_QUESTIONS}, chat {_MESSAGE}[][])[]",
    },
}
"""BEAM's columns in DuckDB's types, without and with several plans."""

ABOUT = """## Files

`data/<size>-<n>-of-<N>.parquet`, one conversation per file, with BEAM's columns. As in BEAM's two data sets, the
default configuration has the splits 100K, 500K and 1M, and 8K to 64K for what is shorter than BEAM's chats, as far as
there are conversations of these sizes; conversations of several plans are the split 10M of a configuration of that
name. `chat` is a list of sub-plans, each a list of messages; in the split 10M a list of `plan-1` to `plan-10` structs,
and each of `plans` has its own chat with ids from 0. `probing_questions` is a Python literal: read it with
`ast.literal_eval`. The texts of `user_questions` end with the markers of the plan, `->-> 3,14`."""


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    parts: dict[str, list[Path]] = {}
    for reader in readers:
        size = _split(reader)
        listed = parts.setdefault(size, [])
        rows = writer.folder / "row.jsonl"
        with HashedFile(rows) as file:
            for piece in row_text(writer, reader, is_table=True):
                file.write(piece.replace("\n", ""))  # no line end stands within JSON text
            file.write("\n")
        if len(reader.head.plans) > MOST_PLANS:
            writer.warn(f"BEAM's tables have {MOST_PLANS} plans at most; the chats of further ones are left out")
        listed.append(_write_part(writer, rows, f"{size}-{len(listed):05d}", COLUMNS[size == MANY_PLANS]))
    if absent := [size for size in SIZES if size != MANY_PLANS and size not in parts and parts.keys() != {MANY_PLANS}]:
        # A split without rows is no way out: `datasets` refuses to load it.
        what = f"there is no conversation of {' and '.join(absent)}, and BEAM's download_dataset.py asks for every size"
        writer.warn(f"{what}; take the others off its list, or export its folders with --format beam")
    for size, listed in parts.items():
        for i, part in enumerate(listed):
            name = f"data/{size}-{i:05d}-of-{len(listed):05d}.parquet"
            part.rename(writer.folder / name)
            writer.add(name)
    card = format_card(writer.told, writer.counts, __version__, ABOUT, configs=_configs(parts))
    writer.write_card(card)


def _split(reader: ConversationReader) -> str:
    """Return the split of a conversation: BEAM's size, or what its length is where no chat of BEAM's is so short."""
    head, size = reader.head, size_class(reader)
    if size != next(iter(SIZES)) or head.details.get("format") == "beam":
        return size
    tokens = head.target_tokens or sum(m.tokens for m in reader.messages())
    return next((name for name, most in SHORT_SIZES.items() if tokens <= most), size)


def _write_part(writer: ExportWriter, rows: Path, name: str, columns: Mapping[str, str]) -> Path:
    """Write rows as a table and return its file; the file of rows is removed."""
    part = writer.folder / "data" / f"{name}.parquet"
    part.parent.mkdir(exist_ok=True)
    write_parquet(rows, part, columns)
    rows.unlink()
    return part


def _configs(sizes: Iterable[str]) -> list[dict[str, Any]]:
    """Return the card's configurations: BEAM's two tables differ in their columns, and are two data sets there."""
    files = {
        size: {"split": size, "path": f"data/{size}-*.parquet"} for size in (*SHORT_SIZES, *SIZES) if size in set(sizes)
    }
    many = files.pop(MANY_PLANS, None)
    configs: list[dict[str, Any]] = []
    if files:
        configs.append({"config_name": "default", "data_files": list(files.values())})
    if many:
        configs.append({"config_name": MANY_PLANS, "data_files": [many]})
    return configs


export_huggingface = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write the tables below `target` and return what was written; see `Exporter`."""
