"""BEAM's tables on Hugging Face: parquet with its columns, `probing_questions` as a Python literal.

A file holds one conversation, so that neither writer nor reader needs more memory than one takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from longbeam import __version__
from longbeam.formats.beam_json import row_text
from longbeam.formats.beam_write import MANY_PLANS, size_class
from longbeam.formats.dataset_card import format_card
from longbeam.formats.exporting import (
    CARD,
    ExportWriter,
    FormatExporter,
    HashedFile,
)
from longbeam.formats.parquet_files import write_parquet
from longbeam.schemas.conversation import ConversationReader

FORMAT = "huggingface"
FORMAT_VERSION = 1
MOST_PLANS = 10

_MESSAGE = "STRUCT(content VARCHAR, id BIGINT, index VARCHAR, question_type VARCHAR, role VARCHAR, time_anchor VARCHAR)"
_BATCH = f"STRUCT(batch_number BIGINT, time_anchor VARCHAR, turns {_MESSAGE}[][])"
_PROFILE = "STRUCT(user_info VARCHAR, user_relationships VARCHAR)"
_QUESTIONS = 'STRUCT("messages" VARCHAR[], time_anchor VARCHAR)[]'
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
        f" user_profile {_PROFILE}, user_questions {_QUESTIONS})[]",
    },
}
"""BEAM's columns in DuckDB's types, without and with several plans."""

ABOUT = """## Files

`data/<size>-<n>-of-<N>.parquet`, a split per size, one conversation per file, with BEAM's columns. `chat` is a list of
sub-plans, each a list of messages; in the split 10M a list of `plan-1` to `plan-10` structs. `probing_questions` is a
Python literal: read it with `ast.literal_eval`."""


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    parts: dict[str, list[Path]] = {}
    for reader in readers:
        size = size_class(reader)
        listed = parts.setdefault(size, [])
        rows = writer.folder / "row.jsonl"
        with HashedFile(rows) as file:
            for piece in row_text(writer, reader, questions_as_literal=True):
                file.write(piece.replace("\n", ""))  # no line end stands within JSON text
            file.write("\n")
        part = writer.folder / "data" / f"{size}-{len(listed):05d}.parquet"
        part.parent.mkdir(exist_ok=True)
        if len(reader.head.plans) > MOST_PLANS:
            writer.warn(f"BEAM's tables have {MOST_PLANS} plans at most; the chats of further ones are left out")
        write_parquet(rows, part, COLUMNS[size == MANY_PLANS])
        rows.unlink()
        listed.append(part)
    configs = []
    for size, listed in parts.items():
        for i, part in enumerate(listed):
            name = f"data/{size}-{i:05d}-of-{len(listed):05d}.parquet"
            part.rename(writer.folder / name)
            writer.add(name)
        # BEAM's two tables differ in their columns, so they are two data sets there and two configurations here.
        configs.append({"config_name": size, "data_files": [{"split": size, "path": f"data/{size}-*.parquet"}]})
    writer.write_text(CARD, format_card(writer.told, writer.counts, __version__, ABOUT, configs=configs))


export_huggingface = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write the tables below `target` and return what was written; see `Exporter`."""
