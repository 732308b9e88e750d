"""Access of the review to a benchmark's sealed conversations; files are opened on demand, few at a time.

Messages are read by ordinal, one window at a time. Memory holds one line per message without its text. When a run seals
a conversation again, the new file takes the place of the former one.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

from longbeam.errors import StoreError
from longbeam.schemas import ConversationHead, Finding, Message, Probe
from longbeam.store import Benchmark, SealedConversation, open_benchmark, read_findings

MOST_OPEN = 4
"""Conversations kept open; at 10M tokens an open one takes some 80 MB."""
_MOST_KEPT_CHARS = 8_000_000
"""Characters of messages kept in memory, per conversation."""
_MOST_PLACES = 6
"""Most places that are read one by one; more are read in one scan."""
_COLUMNS = (
    "message_id",
    "message_key",
    "role",
    "speaker",
    "session",
    "plan_index",
    "sub_plan_index",
    "turn_index",
    "sent_at",
    "tokens",
)


_MISSING = (0, 0)


@dataclass(frozen=True, slots=True)
class Line:
    """A message without its text."""

    message_id: int
    message_key: str
    role: str
    speaker: str
    session: int
    plan_index: int | None
    sub_plan_index: int | None
    turn_index: int | None
    sent_at: datetime
    tokens: int
    chars: int


class OpenConversation:
    """A sealed conversation; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self.stamp = stamp_of(path)
        self.reader = SealedConversation(path)
        self._lock = RLock()
        self._kept: dict[int, Message] = {}
        self._kept_chars = 0
        self.reader.connection.execute("SET memory_limit = '150MB'")
        self.reader.connection.execute("SET threads = 2")

    @cached_property
    def head(self) -> ConversationHead:
        """All but messages and probes."""
        return self.reader.head

    @cached_property
    def title(self) -> str:
        """Title of the conversation; read without the head, because a long head takes a while."""
        return str(self.rows("SELECT seed.title FROM sealed.conversation")[0][0])

    @cached_property
    def probes(self) -> dict[str, Probe]:
        """All candidates by id, in the order of ability and rank."""
        return {p.probe_id: p for p in self.reader.probes()}

    @cached_property
    def lines(self) -> list[Line]:
        """All messages without their text, by message_id."""
        columns = ", ".join(f'"{name}"' for name in _COLUMNS)
        rows = self.rows(f"SELECT {columns}, length(content) FROM sealed.messages ORDER BY message_id")
        return [Line(*row) for row in rows]

    @cached_property
    def lowered(self) -> list[bytes]:
        """All texts in lower case, as UTF-8, by message_id; searches scan them.

        They take 45 MB at 10M tokens. There, a scan in DuckDB takes 0.2 to 0.5 s of CPU, a scan of these bytes 0.05 to
        0.1 s.
        """
        with self._lock:
            found = self.rows("SELECT lower(content) FROM sealed.messages ORDER BY message_id")
            return [text.encode() for (text,) in found]

    @cached_property
    def ids(self) -> dict[str, int]:
        """message_id by message_key."""
        return {line.message_key: line.message_id for line in self.lines}

    def messages(self, first: int, count: int) -> list[Message]:
        """Return the messages of these ordinals that exist."""
        return self._messages("WHERE message_id >= ? AND message_id < ?", [first, first + count])

    def messages_of(self, message_ids: Iterable[int]) -> list[Message]:
        """Return the messages of these ordinals that exist, in order; messages read lately come from memory.

        Measured at 10M tokens: one place costs 25 ms of CPU, because DuckDB unpacks its neighbours, too; a scan of the
        whole file costs 250 ms. So evidence in many places is read in one scan, and once.
        """
        wanted = sorted(set(message_ids))
        with self._lock:
            found = {i: self._kept[i] for i in wanted if i in self._kept}
        if missing := [i for i in wanted if i not in found]:
            ranges = _ranges(missing)
            if len(ranges) > _MOST_PLACES:
                read = self._messages("WHERE list_contains(?, message_id)", [missing])
            else:
                read = [m for first, last in ranges for m in self.messages(first, last - first + 1)]
            fresh = {m.message_id: m for m in read if m.message_id is not None}
            self._keep(fresh)
            found |= fresh
        return [found[i] for i in wanted if i in found]

    def content(self, message_id: int) -> str:
        """Return the whole text of one message."""
        found = self.messages_of([message_id])
        return found[0].content if found else ""

    def _keep(self, messages: Mapping[int, Message]) -> None:
        with self._lock:
            self._kept_chars += sum(len(m.content) for i, m in messages.items() if i not in self._kept)
            if self._kept_chars > _MOST_KEPT_CHARS:
                self._kept.clear()
                self._kept_chars = sum(len(m.content) for m in messages.values())
            self._kept.update(messages)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query over the sealed tables."""
        with self.reader.connection.cursor() as cursor:
            return cursor.execute(sql, list(values)).fetchall()

    def _messages(self, where: str, values: Sequence[object]) -> list[Message]:
        names = list(Message.model_fields)
        columns = ", ".join(f'"{name}"' for name in names)
        rows = self.rows(f"SELECT {columns} FROM sealed.messages {where} ORDER BY message_id", values)
        return [_message(dict(zip(names, row, strict=True))) for row in rows]

    def close(self) -> None:
        """Close the file."""
        self.reader.close()


class Archive:
    """Conversations, spec and findings of a benchmark, each as it is on disk now."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.name = benchmark.spec.name
        self.root = benchmark.root
        self._lock = RLock()
        self._open: OrderedDict[str, OpenConversation] = OrderedDict()
        self._benchmark = benchmark
        self._spec_stamp = stamp_of(self.root / "spec.json")
        self._findings: tuple[tuple[int, int], list[Finding]] | None = None

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark, read again if a run has added conversations to its spec."""
        stamp = stamp_of(self.root / "spec.json")
        if stamp != self._spec_stamp:
            self._benchmark = open_benchmark(self.root.parent, self.name)
            self._spec_stamp = stamp
        return self._benchmark

    @property
    def conversation_ids(self) -> tuple[str, ...]:
        """Ids of the sealed conversations."""
        return self.benchmark.sealed_ids

    def stamp(self, conversation_id: str) -> tuple[int, int]:
        """Return the stamp of a sealed file, which changes when the file is replaced; KeyError if it is not sealed."""
        if conversation_id not in self.benchmark.conversation_ids:
            raise KeyError(conversation_id)
        found = stamp_of(self.benchmark.sealed_path(conversation_id))
        if found == _MISSING:
            raise KeyError(conversation_id)
        return found

    def conversation(self, conversation_id: str) -> OpenConversation:
        """Return an open conversation; KeyError for one that is not sealed.

        The id must be one of the benchmark's: no text of an address becomes part of a path.
        """
        with self._lock:
            stamp = self.stamp(conversation_id)
            found = self._open.get(conversation_id)
            if found is None or found.stamp != stamp:
                # The former one stays open, because another thread may be reading it; its last reader frees it.
                found = self._open[conversation_id] = OpenConversation(self.benchmark.sealed_path(conversation_id))
            self._open.move_to_end(conversation_id)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
            return found

    def probes(self) -> Iterable[tuple[str, dict[str, Probe]]]:
        """Yield the candidates of each conversation."""
        for conversation_id in self.conversation_ids:
            yield conversation_id, self.conversation(conversation_id).probes

    @property
    def findings(self) -> list[Finding]:
        """Findings of the last `validate`; empty if it never ran."""
        path = self.benchmark.database_path
        with self._lock:
            if not path.exists():
                return []
            stamp = stamp_of(path)
            if self._findings is None or self._findings[0] != stamp:
                try:
                    self._findings = stamp, read_findings(path)
                except StoreError:  # written by a former version; `validate` writes it again
                    self._findings = stamp, []
            return self._findings[1]

    @property
    def is_checked(self) -> bool:
        """Whether `validate` has run on the benchmark."""
        return self.benchmark.database_path.exists()


def stamp_of(path: Path) -> tuple[int, int]:
    """Return modification time and inode of a file, which change when it is replaced; zeros if it is missing."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return _MISSING
    return found.st_mtime_ns, found.st_ino


def _message(row: dict[str, Any]) -> Message:
    return Message.model_validate({**row, "parts": json.loads(row["parts"]), "details": json.loads(row["details"])})


def _ranges(ordinals: Sequence[int], gap: int = 8) -> list[tuple[int, int]]:
    """Return first and last ordinal of each run; ordinals at most `gap` apart are read together."""
    ranges = [(ordinals[0], ordinals[0])]
    for ordinal in ordinals[1:]:
        if ordinal - ranges[-1][1] <= gap:
            ranges[-1] = ranges[-1][0], ordinal
        else:
            ranges.append((ordinal, ordinal))
    return ranges
