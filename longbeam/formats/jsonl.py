"""The JSONL export: conversations, messages, probes, a dataset card, Croissant metadata, a manifest; also as parquet.

docs/export-format.md is the contract. Streamed: of a conversation the places of cited messages are held, and one plan.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime

from longbeam import __version__
from longbeam.formats.croissant import CROISSANT, croissant
from longbeam.formats.dataset_card import dataset_card
from longbeam.formats.exporting import (
    ExportWriter,
    FormatExporter,
    HashedFile,
    cited_ids,
    cited_keys,
)
from longbeam.formats.jsonl_lines import (
    LINES,
    ConversationCounts,
    EvidenceLine,
    conversation_line,
    message_line,
    probe_line,
)
from longbeam.formats.parquet_files import columns_of, write_parquet
from longbeam.schemas import ConversationReader, MessageKind, MessageRole

FORMAT = "longbeam-jsonl"
FORMAT_VERSION = 3
"""Version of the columns, which the parquet export shares."""


def write_tables(writer: ExportWriter, readers: Iterable[ConversationReader]) -> dict[str, int]:
    """Write `conversations.jsonl`, `messages.jsonl`, `probes.jsonl`; return their lines by name, with `tokens`."""
    with ExitStack() as stack:
        files = {name: stack.enter_context(writer.open(f"{name}.jsonl")) for name in LINES}
        for reader in readers:
            _write_conversation(writer, reader, files)
        return {name: file.lines for name, file in files.items()} | {"tokens": writer.tokens}


def write_descriptions(writer: ExportWriter, counts: dict[str, int], suffix: str) -> None:
    """Write the dataset card and the Croissant metadata of tables in files of this suffix."""
    writer.write_card(dataset_card(writer.told, LINES, counts, __version__, suffix=suffix))
    tables = {name: (f"{name}.{suffix}", *writer.files[f"{name}.{suffix}"]) for name in LINES}
    writer.write_json(CROISSANT, croissant(writer.told, LINES, tables, __version__))


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    counts = write_tables(writer, readers)
    write_descriptions(writer, counts, "jsonl")


export_jsonl = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write the export to the folder `target` and return what was written; see `Exporter`."""


def _write_parquet(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    counts = write_tables(writer, readers)
    for name, line in LINES.items():
        rows = writer.folder / f"{name}.jsonl"
        write_parquet(rows, writer.folder / f"{name}.parquet", columns_of(line))
        rows.unlink()
        del writer.files[rows.name]
        writer.add(f"{name}.parquet")
    write_descriptions(writer, counts, "parquet")


export_parquet = FormatExporter("longbeam-parquet", FORMAT_VERSION, _write_parquet)
"""Write the same tables as parquet: smaller, typed, and queried without being read whole."""


def _write_conversation(writer: ExportWriter, reader: ConversationReader, files: dict[str, HashedFile]) -> None:
    head = reader.head
    wanted, places, times = cited_keys(reader), dict[str, EvidenceLine](), list[datetime]()
    before = writer.counts
    seen = dict.fromkeys(("user_messages", "user_tokens", "tokens", *MessageKind), 0)
    for ordinal, message in writer.messages_of(reader):
        if message.message_key in wanted:
            places[message.message_key] = EvidenceLine(ordinal, message.role.value, message.speaker)
        times.append(message.sent_at)
        files["messages"].write_line(message_line(head.conversation_id, ordinal, message).model_dump(mode="json"))
        seen[message.kind] += 1
        seen["tokens"] += message.tokens
        if message.role is MessageRole.USER:
            seen["user_messages"] += 1
            seen["user_tokens"] += message.tokens
    for probe, status in writer.probes_of(reader):
        cited = cited_ids(reader, probe, places)
        after = None if probe.asked_at is None else bisect_right(times, probe.asked_at) - 1
        line = probe_line(head.conversation_id, probe, cited, after, status)
        files["probes"].write_line(line.model_dump(mode="json"))
    counts = ConversationCounts(
        messages=writer.messages - before["messages"],
        user_messages=seen["user_messages"],
        replies=seen[MessageKind.REPLY],
        answers=seen[MessageKind.ANSWER],
        follow_ups=seen[MessageKind.FOLLOW_UP],
        turns=seen[MessageKind.QUESTION],
        tokens=seen["tokens"],
        user_tokens=seen["user_tokens"],
        probes=writer.probes - before["probes"],
    )
    told = conversation_line(head, counts).model_dump(mode="json")
    files["conversations"].write_long_line(told, "plans", (plan.model_dump(mode="json") for plan in head.plans))
