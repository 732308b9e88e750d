from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from longbeam.errors import StoreError
from longbeam.store.shelf import AT_HAND_KB, Shelf

MANY = [(f"key {i}", "record " * 100 + str(i)) for i in range(AT_HAND_KB * 4)]
"""Some 700 bytes each: nearly three times what is at hand."""


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may have more than a megabyte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_shelf_is_the_mapping_that_it_was_made_of_in_its_order() -> None:
    shelf: Shelf[str] = Shelf()
    shelf.put(MANY[5:])
    shelf.put(MANY[:5])

    assert list(shelf.items()) == [*MANY[5:], *MANY[:5]]
    assert len(shelf) == len(MANY)
    assert MANY[7][0] in shelf
    assert (shelf.get("another"), "another" in shelf) == (None, False)
    with pytest.raises(KeyError, match="another"):
        shelf["another"]


def test_the_newest_record_of_a_key_stands_where_its_first_one_stood() -> None:
    shelf: Shelf[int] = Shelf()
    shelf.put([("a", 1), ("b", 2), ("a", 3)])
    shelf.put([("b", 4)])
    assert list(shelf.items()) == [("a", 3), ("b", 4)]


def test_no_room_is_said_in_one_line(small_files: None) -> None:
    shelf: Shelf[str] = Shelf()
    with pytest.raises(StoreError, match=r"no room for temporary files \(.+\); free some or set TMPDIR"):
        shelf.put((key, record * 9) for key, record in MANY)
