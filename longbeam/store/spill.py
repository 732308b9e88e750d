"""Collections that may not fit into memory.

Sequences that spill into a temporary file, searched texts, and look-up tables.
"""

from __future__ import annotations

import pickle
import sqlite3
import tempfile
import weakref
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import eq
from typing import Any, Generic, TypeVar, overload
from zlib import crc32

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

    def holder(self, offset: int) -> int:
        """Return the ordinal of the item that has the byte at an offset."""
        return bisect_right(self._ends, offset) - 1

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


FOLDED_BLOCK = 512
"""Texts that are read and searched together."""


class FoldedTexts:
    """Finds the texts that contain some words; only the block that is being searched is in memory.

    The texts are read when the first search begins.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._source = texts

    @cached_property
    def _texts(self) -> SpilledBytes:
        texts = SpilledBytes()
        for text in self._source:
            texts.append(text.casefold().encode("utf-8", "surrogatepass"))
        return texts

    def holding(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield ordinal and case-folded text of those that contain all words, anywhere."""
        longest, *others = sorted((w.encode("utf-8", "surrogatepass") for w in words), key=len, reverse=True) or [b""]
        for first in range(0, len(self._texts), FOLDED_BLOCK):
            end = min(first + FOLDED_BLOCK, len(self._texts))
            data, begin = self._texts.between(first, end), self._texts.start(first)
            # The longest word is in few texts: one search over the block leads from each of them to the next.
            at = data.find(longest)
            while 0 <= at < len(data):
                ordinal = self._texts.holder(begin + at)
                a, b = self._texts.start(ordinal) - begin, self._texts.start(ordinal + 1) - begin
                if data.find(longest, at, b) >= 0 and all(data.find(word, a, b) >= 0 for word in others):
                    yield ordinal, data[a:b].decode("utf-8", "surrogatepass")
                at = data.find(longest, b)


PARTS = 16
"""Values are sorted, and compared, one part at a time: a table of all of them would take ten times the memory."""
TALLY_PARTS = 64
WRITTEN_AT_ONCE = 1_024
"""Numbers of one part of a tally that are held in memory before they are written."""
CHECKSUM_BITS = 32

R = TypeVar("R")


class Checksums:
    """Checksums of many keys, which find the ordinals of the keys that may equal a searched key."""

    def __init__(self, keys: Iterable[str]) -> None:
        sums = array("I", map(_checksum, keys))
        self._ordinals = array("I")
        for part in range(PARTS):  # each part is a range of checksums, so the sorted parts make a sorted whole
            own = (i for i, checksum in enumerate(sums) if checksum * PARTS >> CHECKSUM_BITS == part)
            self._ordinals.extend(sorted(own, key=sums.__getitem__))
        self._sums = array("I", map(sums.__getitem__, self._ordinals))

    def like(self, key: str) -> Iterator[int]:
        """Yield the ordinals, ascending, of the keys with the checksum of this one."""
        checksum = _checksum(key)
        at = bisect_left(self._sums, checksum)
        while at < len(self._sums) and self._sums[at] == checksum:
            yield self._ordinals[at]
            at += 1


class Ordinals:
    """Ordinals of many keys; of a key that occurs twice, the first ordinal.

    `key_of` returns the key of an ordinal.
    """

    def __init__(self, keys: Iterable[str], key_of: Callable[[int], str]) -> None:
        self._checksums = Checksums(keys)
        self._key_of = key_of

    def get(self, key: str) -> int | None:
        """Return the ordinal of a key; None if there is no such key."""
        return next((i for i in self._checksums.like(key) if self._key_of(i) == key), None)

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __getitem__(self, key: str) -> int:
        """Return the ordinal of a key; KeyError if there is no such key."""
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found


class Keyed(Generic[R]):
    """Records of a sequence by key; of a key that occurs twice, the first record."""

    def __init__(self, records: Sequence[R], key_of: Callable[[R], str]) -> None:
        self.records = records
        self.place = Ordinals(map(key_of, records), lambda i: key_of(records[i]))
        """Ordinal of each key's record."""

    def get(self, key: str) -> R | None:
        """Return the record of a key; None if there is no such key."""
        place = self.place.get(key)
        return None if place is None else self.records[place]

    def __getitem__(self, key: str) -> R:
        """Return the record of a key; KeyError if there is no such key."""
        return self.records[self.place[key]]

    def __contains__(self, key: str) -> bool:
        return key in self.place

    def __len__(self) -> int:
        return len(self.records)


class Grouped(Generic[R]):
    """Groups of a sequence's records: `places` yields the key of a group and the ordinal of a record, in their order.

    `is_of` returns whether a record belongs to the group of a key.
    """

    def __init__(
        self, records: Sequence[R], places: Iterable[tuple[str, int]], is_of: Callable[[R, str], bool]
    ) -> None:
        self._records, self._is_of = records, is_of
        self._places = array("I")
        self._checksums = Checksums(self._keys(places))

    def of(self, key: str) -> tuple[R, ...]:
        """Return the records of a group, each once; none if there is no such group."""
        return tuple(record for _, record in self.placed(key))

    def placed(self, key: str) -> Iterator[tuple[int, R]]:
        """Yield the records of a group with their ordinals; each record is read when it is asked for."""
        for place in dict.fromkeys(self._places[i] for i in self._checksums.like(key)):
            if self._is_of(record := self._records[place], key):
                yield place, record

    def _keys(self, places: Iterable[tuple[str, int]]) -> Iterator[str]:
        for key, place in places:
            self._places.append(place)
            yield key


def previous_equals(values: Sequence[int]) -> array[int]:
    """Return for each value the ordinal of the nearest equal value before it; -1 if there is none."""
    previous = array("i", [-1]) * len(values)
    for part in range(PARTS):
        last: dict[int, int] = {}
        for place, value in enumerate(values):
            if value % PARTS == part:
                previous[place] = last.get(value, -1)
                last[value] = place
    return previous


class Tally:
    """Counter of many numbers: they are written to a file part by part, and counted one part at a time."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(TALLY_PARTS)]
        """Numbers of each part that are not written yet."""
        self._written = SpilledBytes()
        self._places = [array("I") for _ in range(TALLY_PARTS)]
        """Ordinals of each part's items in the file."""

    def add(self, value: int) -> None:
        """Count a number from 0 to 2**64 - 1 once more."""
        number = value % TALLY_PARTS
        part = self._parts[number]
        part.append(value)
        if len(part) == WRITTEN_AT_ONCE:
            self._places[number].append(len(self._written))
            self._written.append(part.tobytes())
            self._parts[number] = array("Q")

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield each number and how often it was added, in no particular order."""
        for part, places in zip(self._parts, self._places, strict=True):
            counts = Counter(part)
            for place in places:
                counts.update(array("Q", self._written.between(place, place + 1)))
            yield from counts.items()


def _checksum(key: str) -> int:
    return crc32(key.encode("utf-8", "surrogatepass"))
