"""Append-only files of the batches that a benchmark's runs have sent, one file per process.

The files outlive a killed run: the next run takes up the batches that are on their way. All processes read all files,
because a conversation may have moved to another machine.
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import StoreError
from longbeam.schemas.batches import BatchEntry
from longbeam.store.files import describe_os_error

SUFFIX = ".batches"


class BatchFiles:
    """The batches of one benchmark."""

    def __init__(self, folder: Path) -> None:
        """`folder` is made with the first batch."""
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"

    def entries(self) -> tuple[BatchEntry, ...]:
        """Return the last entry of each batch; a line that a crash cut off is left out."""
        found: dict[str, BatchEntry] = {}
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
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
