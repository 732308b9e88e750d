"""Look-ups that hold little of what they find: places instead of records, 8 bytes instead of a key."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar
from zlib import crc32

PARTS = 16
"""Parts of many values that are looked at one after the other: a table of all of them would take ten times as much."""
TALLY_PARTS = 64
CHECKSUM_BITS = 32

P = TypeVar("P")
R = TypeVar("R")


class Placed(Mapping[str, R], Generic[P, R]):
    """Records, or groups of them, by key: the places are held, and what lies there is read."""

    def __init__(self, places: Mapping[str, P], read: Callable[[P], R]) -> None:
        self._places = places
        self._read = read

    def __getitem__(self, key: str) -> R:
        return self._read(self._places[key])

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Ordinals:
    """The ordinal of each of many keys, the first one's where a key occurs twice; `key_of` tells the key of an ordinal.

    A checksum of each key is held. What has the one that is looked for is compared, so that two keys with the same do
    no harm.
    """

    def __init__(self, keys: Iterable[str], key_of: Callable[[int], str]) -> None:
        sums = array("I", map(_checksum, keys))
        self._ordinals = array("I")
        for part in range(PARTS):  # those of a PARTS-th of the checksums, by the checksums
            own = (i for i, checksum in enumerate(sums) if checksum * PARTS >> CHECKSUM_BITS == part)
            self._ordinals.extend(sorted(own, key=sums.__getitem__))
        self._sums = array("I", map(sums.__getitem__, self._ordinals))
        self._key_of = key_of

    def get(self, key: str) -> int | None:
        """Return the ordinal of a key; None if there is no such key."""
        checksum = _checksum(key)
        at = bisect_left(self._sums, checksum)
        while at < len(self._sums) and self._sums[at] == checksum:
            if self._key_of(self._ordinals[at]) == key:
                return self._ordinals[at]
            at += 1
        return None

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __getitem__(self, key: str) -> int:
        """Return the ordinal of a key; KeyError if there is no such key."""
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found


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
    """How often each of many numbers was added: 8 bytes for each time, and a table of a part of them when counted."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(TALLY_PARTS)]

    def add(self, value: int) -> None:
        """Count a number from 0 to 2**64 - 1 once more."""
        self._parts[value % TALLY_PARTS].append(value)

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield each number with the times that it was added; the order tells nothing."""
        for part in self._parts:
            yield from Counter(part).items()


def _checksum(key: str) -> int:
    return crc32(key.encode("utf-8", "surrogatepass"))
