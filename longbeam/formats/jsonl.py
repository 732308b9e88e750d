"""The JSONL export: conversations, messages, probes, a dataset card, a manifest (docs/export-format.md).

Streamed: of a conversation only the message keys are held. The bytes depend on the conversations, the public
part of the spec and the reviews alone: no clock, no path, no address, no prompt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from longbeam import __version__
from longbeam.errors import UserError
from longbeam.formats.dataset_card import dataset_card
from longbeam.formats.folders import replaced_folder
from longbeam.formats.jsonl_lines import (
    LINES,
    ConversationCounts,
    conversation_line,
    json_text,
    message_line,
    probe_line,
)
from longbeam.schemas.base import Record
from longbeam.schemas.conversation import ConversationReader
from longbeam.schemas.dialogue import MessageKind, Role
from longbeam.schemas.probes import Probe
from longbeam.schemas.spec import BenchmarkSpec

FORMAT = "longbeam-jsonl"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
CARD = "README.md"
FILES = frozenset({f"{name}.jsonl" for name in LINES} | {MANIFEST, CARD})

UNREVIEWED = "unreviewed"
KEPT_STATUSES = frozenset({"accepted", "edited"})
"""Statuses that `reviewed_only` keeps; `rejected` is always left out."""

Reviews = Mapping[tuple[str, str], str]
"""(conversation_id, probe_id) to the probe's review status; a probe that is not in it is unreviewed."""
NO_REVIEWS: Reviews = MappingProxyType({})


@dataclass(frozen=True)
class ExportReport:
    """What was written, and what was left out."""

    target: Path
    conversations: int
    messages: int
    probes: int
    tokens: int
    rejected: int
    """Selected probes left out because a reviewer rejected them."""
    not_reviewed: int
    """Selected probes left out because only reviewed ones were asked for."""
    sha256: Mapping[str, str]
    """Of each file by its name, but for the manifest."""


def export_jsonl(
    readers: Iterable[ConversationReader],
    spec: BenchmarkSpec,
    target: Path,
    *,
    reviews: Reviews = NO_REVIEWS,
    reviewed_only: bool = False,
) -> ExportReport:
    """Write the export to the folder `target` and return what was written; conversations in the given order.

    `target` appears whole or stays as it was. Raises UserError if it is a file or a folder with anything but
    a former export, if there is no conversation, or if a probe cites a message that does not exist;
    StoreError if it cannot be written.
    """
    with replaced_folder(target, why_not_ours) as folder:
        tally = _Tally(reviews, reviewed_only)
        with ExitStack() as stack:
            files = {name: stack.enter_context(_HashedFile(folder / f"{name}.jsonl")) for name in LINES}
            for reader in readers:
                _write_conversation(reader, files, tally)
        if not files["conversations"].lines:
            raise UserError(f"benchmark {spec.name!r} has no finished conversation to export")
        counts = {name: file.lines for name, file in files.items()} | {"tokens": tally.tokens}
        with _HashedFile(folder / CARD) as card:
            card.write(dataset_card(spec, LINES, counts, __version__))
        written = [*files.values(), card]
        manifest = _manifest(spec, counts, written, reviewed_only=reviewed_only)
        (folder / MANIFEST).write_text(
            json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n"
        )
    return ExportReport(
        target=target,
        conversations=counts["conversations"],
        messages=counts["messages"],
        probes=counts["probes"],
        tokens=tally.tokens,
        rejected=tally.rejected,
        not_reviewed=tally.not_reviewed,
        sha256={file.path.name: file.sha256 for file in written},
    )


def public_spec(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return what a spec says about the data: no limits of the run, no endpoint, no path."""
    public = spec.model_dump(mode="json", exclude={"limits", "endpoints"})
    if spec.seeds_file is not None:
        public["seeds_file"] = spec.seeds_file.replace("\\", "/").rsplit("/", 1)[-1]
    return public


def why_not_ours(folder: Path) -> str | None:
    """Return why a folder is not a former export that may be replaced; None if it is one."""
    names = sorted(p.name for p in folder.iterdir())
    if MANIFEST not in names:
        return "is not empty and not an export of longbeam"
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        return "is not empty and not a JSONL export of longbeam"
    if strange := [name for name in names if name not in FILES]:
        return f"holds {strange[0]!r} beside a former export"
    return None


@dataclass
class _Tally:
    """What is counted over all conversations, and which probes are wanted."""

    reviews: Reviews
    reviewed_only: bool
    tokens: int = 0
    rejected: int = 0
    not_reviewed: int = 0

    def wants(self, probe: Probe, status: str) -> bool:
        if not probe.is_selected:
            return False
        if status == "rejected":
            self.rejected += 1
            return False
        if self.reviewed_only and status not in KEPT_STATUSES:
            self.not_reviewed += 1
            return False
        return True


def _write_conversation(reader: ConversationReader, files: Mapping[str, _HashedFile], tally: _Tally) -> None:
    head = reader.head
    message_ids: dict[str, int] = {}
    seen = dict.fromkeys(("user_messages", "user_tokens", "tokens", *MessageKind), 0)
    for ordinal, message in enumerate(reader.messages()):
        message_ids[message.message_key] = ordinal
        files["messages"].write_line(message_line(head.conversation_id, ordinal, message))
        seen[message.kind] += 1
        seen["tokens"] += message.tokens
        if message.role is Role.USER:
            seen["user_messages"] += 1
            seen["user_tokens"] += message.tokens
    probes = _write_probes(reader, files["probes"], message_ids, tally)
    tally.tokens += seen["tokens"]
    counts = ConversationCounts(
        messages=len(message_ids),
        user_messages=seen["user_messages"],
        replies=seen[MessageKind.REPLY],
        answers=seen[MessageKind.ANSWER],
        follow_ups=seen[MessageKind.FOLLOW_UP],
        turns=seen[MessageKind.QUESTION],
        tokens=seen["tokens"],
        user_tokens=seen["user_tokens"],
        probes=probes,
    )
    files["conversations"].write_line(conversation_line(head, counts))


def _write_probes(reader: ConversationReader, file: _HashedFile, message_ids: Mapping[str, int], tally: _Tally) -> int:
    """Write the wanted probes of a conversation and return how many."""
    conversation_id = reader.head.conversation_id
    written = 0
    for probe in reader.probes():
        status = tally.reviews.get((conversation_id, probe.probe_id), UNREVIEWED)
        if not tally.wants(probe, status):
            continue
        try:
            line = probe_line(conversation_id, probe, message_ids, status)
        except KeyError as exc:
            raise UserError(
                f"conversation {conversation_id}: probe {probe.probe_id!r} cites message {exc.args[0]!r}, "
                "which does not exist; run `longbeam validate` and repair it before exporting"
            ) from exc
        file.write_line(line)
        written += 1
    return written


def _manifest(
    spec: BenchmarkSpec, counts: Mapping[str, int], written: Iterable[_HashedFile], *, reviewed_only: bool
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "longbeam_version": __version__,
        "spec": public_spec(spec),
        "reviewed_only": reviewed_only,
        "counts": dict(counts),
        "files": {f.path.name: {"sha256": f.sha256, "bytes": f.size} for f in written},
    }


@dataclass
class _HashedFile:
    """A text file that is hashed while it is written."""

    path: Path
    lines: int = 0
    size: int = 0
    sha256: str = ""
    """Known when the file is closed."""
    _hash: Any = field(default_factory=hashlib.sha256)  # Any: hashlib's type has no public name

    def __enter__(self) -> Self:
        self._file = self.path.open("wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self.sha256 = self._hash.hexdigest()

    def write(self, text: str) -> None:
        """Append text."""
        data = text.encode()
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def write_line(self, line: Record) -> None:
        """Append a record as one line of JSON."""
        self.write(json_text(line.model_dump(mode="json")) + "\n")
        self.lines += 1
