"""Collections that may not fit into memory: they spill into a temporary file and keep a few items in memory.

The file has no name, so no other process can open it, and it is deleted with the object. It lies in `TMPDIR`.
"""

from __future__ import annotations

import pickle
import sqlite3
import tempfile
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import eq
from typing import Any, Generic, TypeVar, overload

from longbeam.store.files import no_temporary_room

T = TypeVar("T")
IN_MEMORY = 2**18
"""Bytes that are held in memory before a file is made."""
BLOCK = 16
"""Items that are written and read together."""
HELD_BLOCKS = 160
"""Blocks that are held in memory before any is written, so that a conversation of 1M tokens costs no pickling."""
KEPT_BLOCKS = 32
"""Blocks that stay in memory once they are written: those read last."""
MAPPING_CACHE_KB = 256
"""Pages of a mapping that SQLite holds in memory; a mapping of this size has no file."""


class SpilledBytes:
    """A sequence of byte strings, appended once and read by ordinal."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - lives as long as the object
        self._ends = array("Q", [0])
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, data: bytes) -> None:
        """Append a byte string; StoreError if there is no room for it."""
        try:
            self._file.seek(self._ends[-1])
            self._file.write(data)
        except OSError as exc:
            raise no_temporary_room(exc.strerror) from exc
        self._ends.append(self._ends[-1] + len(data))

    def between(self, first: int, end: int) -> bytes:
        """Return items `first` to `end - 1`, joined."""
        self._file.seek(self._ends[first])
        return self._file.read(self._ends[end] - self._ends[first])

    def start(self, ordinal: int) -> int:
        """Return the offset at which an item begins; for `len(self)`, the offset at which the last one ends."""
        return self._ends[ordinal]


class SpilledSequence(Sequence[T], Generic[T]):
    """A sequence of records: up to some 2,500 are all in memory; of more, only 500 are.

    Items are read in blocks, so iterating is cheap (3 to 5 µs a message), and a random access reads a block (50 µs).
    `block`, `held` and `kept` replace BLOCK, HELD_BLOCKS and KEPT_BLOCKS for large records.
    """

    def __init__(
        self, items: Iterable[T] = (), *, block: int = BLOCK, held: int = HELD_BLOCKS, kept: int = KEPT_BLOCKS
    ) -> None:
        self._size, self._most_held, self._most_kept = block, held, kept
        self._held: list[list[T]] = []
        self._written = SpilledBytes()
        self._recent: OrderedDict[int, list[T]] = OrderedDict()
        self._last: list[T] = []
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        """Append an item; StoreError if there is no room for it."""
        self._last.append(item)
        if len(self._last) < self._size:
            return
        self._held.append(self._last)
        self._last = []
        if self._written or len(self._held) > self._most_held:
            for block in self._held:
                self._written.append(pickle.dumps(block, protocol=pickle.HIGHEST_PROTOCOL))
            self._held.clear()

    @property
    def _blocks(self) -> int:
        return len(self._held) + len(self._written)

    def __len__(self) -> int:
        return self._blocks * self._size + len(self._last)

    def __iter__(self) -> Iterator[T]:
        for number in range(self._blocks):
            yield from self._block(number)
        yield from self._last

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a sequence of the same items."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        """Return an item, or the items of a slice, which are then all in memory."""
        length = len(self)
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(length))]
        place = at + length if at < 0 else at
        if not 0 <= place < length:
            raise IndexError(at)
        return self._block(place // self._size)[place % self._size]

    def _block(self, number: int) -> list[T]:
        if number < len(self._held):
            return self._held[number]
        if number == self._blocks:
            return self._last
        # Nobody but this object writes the file, so unpickling it is safe.
        if (block := self._recent.get(number)) is None:
            found: Any = pickle.loads(self._written.between(number, number + 1))
            block = self._recent[number] = found
            if len(self._recent) > self._most_kept:
                self._recent.popitem(last=False)
        else:
            self._recent.move_to_end(number)
        return block


class SpilledMapping(Mapping[str, T], Generic[T]):
    """Records by key, in the order in which their keys were first put; SQLite holds them.

    Reading a record takes 12 µs, finding a key 2 µs.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._db.close)
        self._db.execute(f"PRAGMA cache_size = -{MAPPING_CACHE_KB}")
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("CREATE TABLE records (key TEXT NOT NULL UNIQUE, record BLOB NOT NULL)")

    def put(self, records: Iterable[tuple[str, T]]) -> None:
        """Add records, or replace those of their keys; StoreError if there is no room for them."""
        pickled = ((key, pickle.dumps(record, protocol=pickle.HIGHEST_PROTOCOL)) for key, record in records)
        try:
            self._db.execute("BEGIN")
            self._db.executemany(
                "INSERT INTO records VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET record = excluded.record", pickled
            )
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as exc:
            raise no_temporary_room(exc) from exc

    def __getitem__(self, key: str) -> T:
        """Return a new copy of a key's record; KeyError if there is no such key."""
        row = self._db.execute("SELECT record FROM records WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        # Nobody but this object writes the file, so unpickling it is safe.
        record: T = pickle.loads(row[0])
        return record

    def __contains__(self, key: object) -> bool:
        return self._db.execute("SELECT 1 FROM records WHERE key = ?", (key,)).fetchone() is not None

    def __iter__(self) -> Iterator[str]:
        return (key for (key,) in self._db.execute("SELECT key FROM records ORDER BY rowid"))

    def __len__(self) -> int:
        count: int = self._db.execute("SELECT count(*) FROM records").fetchone()[0]
        return count


class LazySequence(Sequence[T], Generic[T]):
    """A sequence that is made when it is first used."""

    def __init__(self, make: Callable[[], Sequence[T]]) -> None:
        self._make = make

    @cached_property
    def _items(self) -> Sequence[T]:
        return self._make()

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        """Return an item, or the items of a slice."""
        return self._items[at]

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a sequence of the same items."""
        return self._items == other

    __hash__ = None  # type: ignore[assignment]
