"""Look-up tables that hold neither keys nor records: 8 bytes a key, whatever its length.

A table knows a checksum and an ordinal of each key. The keys with the checksum of a searched key are read again and
compared with it. A dictionary would take some 200 bytes a key, and a conversation of 50M tokens has 200,000 keys.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar
from zlib import crc32

from longbeam.store.spill import SpilledBytes

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
