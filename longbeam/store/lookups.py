"""Look-ups that hold little of what they find: places instead of records, 8 bytes instead of a key."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar
from zlib import crc32

from longbeam.store.spill import SpilledBytes

PARTS = 16
"""Parts of many values that are looked at one after the other: a table of all of them would take ten times as much."""
TALLY_PARTS = 64
WRITTEN_AT_ONCE = 1_024
"""Numbers of a part of a tally that wait in memory."""
CHECKSUM_BITS = 32

R = TypeVar("R")


class Checksums:
    """A checksum of each of many keys: which of them may be a key that is looked for, to be compared with it.

    8 bytes a key are held, whatever its length.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        sums = array("I", map(_checksum, keys))
        self._ordinals = array("I")
        for part in range(PARTS):  # those of a PARTS-th of the checksums, by the checksums
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
    """The ordinal of each of many keys, the first one's where a key occurs twice.

    `key_of` tells the key of an ordinal.
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
    """The records of a sequence by their keys; the first one where a key occurs twice."""

    def __init__(self, records: Sequence[R], key_of: Callable[[R], str]) -> None:
        self.records = records
        self.place = Ordinals(map(key_of, records), lambda i: key_of(records[i]))
        """Where the record of each key stands."""

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
    """Groups of records of a sequence: `places` names the key of a group and the place of a record, in their order.

    `is_of` tells whether a record is of the group of a key.
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
        """Yield the same with their places; each is read when it is asked for."""
        for place in dict.fromkeys(self._places[i] for i in self._checksums.like(key)):
            if self._is_of(record := self._records[place], key):
                yield place, record

    def _keys(self, places: Iterable[tuple[str, int]]) -> Iterator[str]:
        for key, place in places:
            self._places.append(place)
            yield key


def previous_equals(values: Sequence[int]) -> array[int]:
    """Return for each value the place of the last equal one before it, -1 where there is none."""
    previous = array("i", [-1]) * len(values)
    for part in range(PARTS):
        last: dict[int, int] = {}
        for place, value in enumerate(values):
            if value % PARTS == part:
                previous[place] = last.get(value, -1)
                last[value] = place
    return previous


class Tally:
    """How often each of many numbers was added: written down part by part, and a table of one part when counted."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(TALLY_PARTS)]
        """What was added last."""
        self._pieces = SpilledBytes()
        self._places = [array("I") for _ in range(TALLY_PARTS)]
        """The pieces of each part."""

    def add(self, value: int) -> None:
        """Count a number from 0 to 2**64 - 1 once more."""
        number = value % TALLY_PARTS
        part = self._parts[number]
        part.append(value)
        if len(part) == WRITTEN_AT_ONCE:
            self._places[number].append(len(self._pieces))
            self._pieces.append(part.tobytes())
            self._parts[number] = array("Q")

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield each number with the times that it was added; the order tells nothing."""
        for part, places in zip(self._parts, self._places, strict=True):
            counts = Counter(part)
            for place in places:
                counts.update(array("Q", self._pieces.between(place, place + 1)))
            yield from counts.items()


def _checksum(key: str) -> int:
    return crc32(key.encode("utf-8", "surrogatepass"))
