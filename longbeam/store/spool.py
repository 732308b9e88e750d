"""What is read several times and may not fit into memory: kept in a temporary file, a little of it at hand.

The file has no name, is nobody else's, and goes with the object. It lies where temporary files lie (`TMPDIR`).
"""

from __future__ import annotations

import pickle
import tempfile
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from longbeam.errors import StoreError

T = TypeVar("T")
IN_MEMORY = 8 * 2**20
"""Bytes up to which there is no file."""
BLOCK = 16
"""Items that are read at once."""
HELD_BLOCKS = 128
"""The first blocks, which are never written: a conversation of up to 850K tokens costs no pickling."""
KEPT_BLOCKS = 32
"""Of the others, those read last."""


class Pieces:
    """Pieces of bytes, appended once and read by their ordinals."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - lives as long as the object
        self._ends = array("Q", [0])
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, piece: bytes) -> None:
        """Add a piece; StoreError if there is no room for it."""
        try:
            self._file.seek(self._ends[-1])
            self._file.write(piece)
        except OSError as exc:
            where = tempfile.gettempdir()
            raise StoreError(f"{where}: no room for temporary files ({exc.strerror}); free some or set TMPDIR") from exc
        self._ends.append(self._ends[-1] + len(piece))

    def between(self, first: int, end: int) -> bytes:
        """Return the pieces `first` to `end - 1`, one behind the other."""
        self._file.seek(self._ends[first])
        return self._file.read(self._ends[end] - self._ends[first])

    def start(self, ordinal: int) -> int:
        """Return the offset at which a piece begins; of `len(self)`: at which the last one ends."""
        return self._ends[ordinal]


class Spool(Sequence[T], Generic[T]):
    """A sequence of records of which some four thousand are in memory.

    Items are read in blocks, so going through them is cheap (3 to 5 µs a message) and jumping about costs a block each
    (50 µs).
    """

    def __init__(self, items: Iterable[T]) -> None:
        self._held: list[list[T]] = []
        self._written = Pieces()
        self._recent: OrderedDict[int, list[T]] = OrderedDict()
        self._length = 0
        block: list[T] = []
        for item in items:
            block.append(item)
            if len(block) == BLOCK:
                self._append(block)
                block = []
        if block:
            self._append(block)

    def _append(self, block: list[T]) -> None:
        if len(self._held) < HELD_BLOCKS:
            self._held.append(block)
        else:
            self._written.append(pickle.dumps(block, protocol=pickle.HIGHEST_PROTOCOL))
        self._length += len(block)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        for number in range(len(self._held) + len(self._written)):
            yield from self._block(number)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        """Return an item, or those of a slice, which are all in memory then."""
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self._length))]
        place = at + self._length if at < 0 else at
        if not 0 <= place < self._length:
            raise IndexError(at)
        return self._block(place // BLOCK)[place % BLOCK]

    def _block(self, number: int) -> list[T]:
        if number < len(self._held):
            return self._held[number]
        # Nobody but this object writes the file, so unpickling it is safe.
        if (block := self._recent.get(number)) is None:
            place = number - len(self._held)
            found: Any = pickle.loads(self._written.between(place, place + 1))
            block = self._recent[number] = found
            if len(self._recent) > KEPT_BLOCKS:
                self._recent.popitem(last=False)
        else:
            self._recent.move_to_end(number)
        return block
