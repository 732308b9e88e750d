from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from longbeam.errors import StoreError
from longbeam.store import MAPPING_CACHE_KB, SpilledMapping

MANY = [(f"key {i}", "record " * 100 + str(i)) for i in range(MAPPING_CACHE_KB * 4)]
"""Some 700 bytes each: nearly three times what is at hand."""


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may have more than a megabyte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_mapping_is_the_mapping_that_it_was_made_of_in_its_order() -> None:
    mapping: SpilledMapping[str] = SpilledMapping()
    mapping.put(MANY[5:])
    mapping.put(MANY[:5])

    assert list(mapping.items()) == [*MANY[5:], *MANY[:5]]
    assert len(mapping) == len(MANY)
    assert MANY[7][0] in mapping
    assert (mapping.get("another"), "another" in mapping) == (None, False)
    with pytest.raises(KeyError, match="another"):
        mapping["another"]


def test_the_newest_record_of_a_key_stands_where_its_first_one_stood() -> None:
    mapping: SpilledMapping[int] = SpilledMapping()
    mapping.put([("a", 1), ("b", 2), ("a", 3)])
    mapping.put([("b", 4)])
    assert list(mapping.items()) == [("a", 3), ("b", 4)]


def test_no_room_is_said_in_one_line(small_files: None) -> None:
    mapping: SpilledMapping[str] = SpilledMapping()
    with pytest.raises(StoreError, match=r"no room for temporary files \(.+\); free some or set TMPDIR"):
        mapping.put((key, record * 9) for key, record in MANY)
