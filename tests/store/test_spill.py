from __future__ import annotations

import gc
import tempfile
from typing import Any

import pytest

from longbeam.errors import StoreError
from longbeam.store import BLOCK, HELD_BLOCKS, KEPT_BLOCKS, LazySequence, SpilledBytes, SpilledSequence, spill as module


def test_a_spilled_sequence_is_the_sequence_that_it_was_made_of() -> None:
    # 9 MB behind the blocks that are held: more than is kept without a file.
    items = [f"item {i} " * 500 for i in range(BLOCK * (HELD_BLOCKS + KEPT_BLOCKS + 3) + 5)]
    spilled = SpilledSequence(iter(items))

    assert len(spilled) == len(items)
    assert list(spilled) == items
    for at in (0, 63, 64, -1, len(items) // 2, len(items) - 1):
        assert spilled[at] == items[at]
    assert spilled[10:200:7] == items[10:200:7]
    assert spilled[::-1][:3] == items[::-1][:3]
    with pytest.raises(IndexError):
        spilled[len(items)]


def test_an_empty_sequence_has_nothing() -> None:
    assert list(SpilledSequence(())) == []
    assert not SpilledSequence(())


def test_a_spilled_sequence_grows_while_it_is_read() -> None:
    spilled: SpilledSequence[int] = SpilledSequence(block=1, held=0, kept=2)
    for i in range(10):
        spilled.append(i)
        assert list(spilled) == list(range(i + 1))
    assert spilled[-1] == 9
    assert spilled == tuple(range(10))
    assert spilled != tuple(range(9))


def test_a_lazy_sequence_is_made_once_and_when_it_is_asked() -> None:
    made: list[SpilledSequence[int]] = []

    def make() -> SpilledSequence[int]:
        made.append(SpilledSequence(range(5)))
        return made[-1]

    lazy = LazySequence(make)
    assert made == []
    assert (len(lazy), lazy[-1], list(lazy[1:3]), list(lazy)) == (5, 4, [1, 2], [0, 1, 2, 3, 4])
    assert lazy == (0, 1, 2, 3, 4)
    assert len(made) == 1


def test_a_spilled_sequence_can_be_read_at_several_places_at_once() -> None:
    spilled = SpilledSequence(range(3000))
    assert [a + b for a, b in zip(spilled, spilled, strict=True)] == [2 * i for i in range(3000)]
    assert sum(spilled[i] for i in spilled) == sum(range(3000))


def test_pieces_are_read_alone_and_together() -> None:
    pieces = SpilledBytes()
    for piece in (b"one", b"", b"three"):
        pieces.append(piece)
    assert [pieces.between(i, i + 1) for i in range(len(pieces))] == [b"one", b"", b"three"]
    assert pieces.between(0, 3) == b"onethree"
    assert [pieces.start(i) for i in range(4)] == [0, 3, 3, 8]


def test_the_file_goes_with_the_object(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(module, "IN_MEMORY", 100)
    spilled = SpilledSequence(range(3000))  # an unclosed file would be a warning, and warnings are errors here
    assert sum(spilled) == 4_498_500
    assert list(tmp_path.iterdir()) == []
    del spilled
    gc.collect()


def test_a_full_disk_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IN_MEMORY", 10)
    monkeypatch.setattr(tempfile, "tempdir", "/dev/full")
    with pytest.raises(StoreError, match="temporary files"):
        SpilledBytes().append(b"more than ten bytes")
