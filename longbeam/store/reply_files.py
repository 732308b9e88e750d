"""Append-only files of replies and of sent batches, one file per process, for network file systems without a
write-ahead log.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import zlib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import StoreError
from longbeam.schemas import BatchEntry, ChatMessage, JournalEntry, ModelReply
from longbeam.store.files import describe_os_error
from longbeam.store.journal import ReplyJournal
from longbeam.store.lease import SharedLease
from longbeam.store.worklog import WorkLog

REPLY_SUFFIX = ".replies"
HELD = "reply_files"
"""Name in a work log's `meta`: [token, part] of the last reply file that the log includes."""

_PLAIN_FIELDS = tuple(f.name for f in fields(JournalEntry) if f.name not in ("request", "reply"))
"""Fields of an entry that are written as they are."""

FilePlace = tuple[int, int]
"""Token of the holder, and number of the file."""


class ReplyFiles:
    """The reply files of one holder, one of which is open. Safe to share by threads."""

    def __init__(self, lease: SharedLease) -> None:
        self._lease = lease
        self._part = 0
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], int] = {}
        self._is_synced = True
        self._descriptor = -1

    def append(self, entry: JournalEntry) -> None:
        """Write a reply. It survives a kill of this process and, once `sync` was called, a crash of the machine."""
        with self._lock:
            new: list[tuple[str, str]] = []
            request = [self._ordinal(m.role, m.content, new) for m in entry.request]
            asked = {name: getattr(entry, name) for name in _PLAIN_FIELDS}
            row = {**asked, "new": new, "request": request, "reply": entry.reply.model_dump(mode="json")}
            text = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")
            self._write(b"%08x %s\n" % (zlib.crc32(text), text))
            self._is_synced = False

    def sync(self) -> None:
        """Return when every reply is on the disk of the machine that holds the folder."""
        with self._lock:
            if not self._is_synced:
                os.fsync(self._descriptor)
                self._is_synced = True

    def rotate(self) -> FilePlace:
        """Begin another file; return the place of the one before, which is complete."""
        with self._lock:
            self._close()
            self._part += 1
            self._known = {}
            return self._lease.token, self._part - 1

    def close(self) -> None:
        """Close the open file."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            try:
                os.fsync(self._descriptor)
                # Gone, whatever `close` says: the number may be another file's the next time.
                descriptor, self._descriptor, self._is_synced = self._descriptor, -1, True
                os.close(descriptor)
            except OSError as exc:
                path = _path_of(self._lease.folder, (self._lease.token, self._part))
                raise StoreError(describe_os_error(path, exc)) from exc

    def _ordinal(self, role: str, content: str, new: list[tuple[str, str]]) -> int:
        text = (role, content)
        if text not in self._known:
            self._known[text] = len(self._known)
            new.append(text)
        return self._known[text]

    def _write(self, line: bytes) -> None:
        path = _path_of(self._lease.folder, (self._lease.token, self._part))
        try:
            if self._descriptor < 0:
                self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as exc:
            raise StoreError(describe_os_error(path, exc)) from exc


class CopiedJournal:
    """A journal that writes each reply to the work log's journal and to the reply files."""

    def __init__(self, journal: ReplyJournal, files: ReplyFiles) -> None:
        self._journal = journal
        self._files = files
        self.reply_of = journal.reply_of
        self.max_tokens_of = journal.max_tokens_of
        self.require_room = journal.require_room

    def record(self, entry: JournalEntry) -> None:
        """Record the reply in both, the work log first, so that it holds every reply of older reply files."""
        self._journal.record(entry)
        self._files.append(entry)


def merge_replies(folder: Path, log: WorkLog) -> list[Path]:
    """Record the replies of all files in `folder` that the log lacks; return the files, which the log now includes."""
    held = tuple(log.meta_get(HELD) or (0, 0))
    places = _places(folder)
    for place in places:
        if place > held:
            for entry in _read(_path_of(folder, place)):
                if log.journal.reply_of(entry.key) != entry.reply:
                    log.journal.record(entry)
    if places and places[-1] > held:
        log.meta_set(HELD, list(places[-1]))
    return [_path_of(folder, place) for place in places]


def take_back(folder: Path, log: WorkLog) -> None:
    """Record the replies of other machines' workers in the work log in place; HeldElsewhere while one is running.

    Afterwards none of these workers can replace the log. `log` is open for writing, so that no worker begins.
    """
    if folder.exists():
        lease = SharedLease.take(folder)
        try:
            for path in merge_replies(folder, log):
                path.unlink(missing_ok=True)
        finally:
            lease.release()


def remove_replies(folder: Path, up_to: FilePlace) -> None:
    """Remove the files up to this one, which the work log in place includes."""
    for place in _places(folder):
        if place <= up_to:
            _path_of(folder, place).unlink(missing_ok=True)


def has_replies(folder: Path) -> bool:
    """Return whether there are files whose replies the work log in place may lack."""
    return bool(_places(folder))


def faults_of_replies(path: Path) -> Iterator[str]:
    """Yield a line for each reply of a file that is damaged; the last one may be cut off by a crash."""
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if not _is_whole(line) and number < len(lines):
            yield f"line {number} is not what its checksum says"


def _is_whole(line: bytes) -> bool:
    return line.endswith(b"\n") and line[:8] == b"%08x" % zlib.crc32(line[9:-1])


def _path_of(folder: Path, place: FilePlace) -> Path:
    return folder / f"{place[0]:06d}-{place[1]:04d}{REPLY_SUFFIX}"


def _places(folder: Path) -> list[FilePlace]:
    stems = (path.stem.partition("-") for path in folder.glob(f"*{REPLY_SUFFIX}"))
    return sorted((int(token), int(part)) for token, _, part in stems if token.isdecimal() and part.isdecimal())


def _read(path: Path) -> Iterator[JournalEntry]:
    texts: list[ChatMessage] = []
    with path.open("rb") as file:
        for line in file:
            if not _is_whole(line):
                return  # cut off by a crash: what follows is not whole
            row = json.loads(line[9:-1].decode("utf-8", "surrogatepass"))
            texts += [ChatMessage(role=role, content=content) for role, content in row.pop("new")]
            request = [texts[i] for i in row.pop("request")]
            yield JournalEntry(request=request, reply=ModelReply.model_validate(row.pop("reply")), **row)


BATCH_SUFFIX = ".batches"


class BatchFiles:
    """The batches of one benchmark."""

    def __init__(self, folder: Path) -> None:
        """`folder` is made with the first batch."""
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}{BATCH_SUFFIX}"

    def entries(self) -> tuple[BatchEntry, ...]:
        """Return the last entry of each batch; a line that a crash cut off is left out."""
        found: dict[str, BatchEntry] = {}
        for path in sorted(self._folder.glob(f"*{BATCH_SUFFIX}")):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    entry = BatchEntry.model_validate_json(line)
                except ValidationError:
                    continue
                found[entry.token] = entry
        return tuple(found.values())

    def record(self, entry: BatchEntry) -> None:
        """Append an entry; it is on the disk when this returns. Raises StoreError where that is refused."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(json.dumps(entry.model_dump(mode="json")).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as exc:
            raise StoreError(describe_os_error(self._path, exc)) from exc
