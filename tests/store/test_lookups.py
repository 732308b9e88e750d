from __future__ import annotations

from zlib import crc32

import pytest

from longbeam.store.lookups import TALLY_PARTS, Ordinals, Placed, Tally, previous_equals

SAME_SUM = ("plumless", "buckeroo")  # both have the CRC-32 0x4ddb0c25


def test_a_record_is_read_where_it_is_placed() -> None:
    read: list[int] = []
    found = Placed({"a": 2, "b": 0}, lambda place: read.append(place) or "xyz"[place])

    assert ("a" in found, "c" in found, len(found), list(found)) == (True, False, 2, ["a", "b"])
    assert read == []
    assert (found["a"], found.get("c"), list(found.values())) == ("z", None, ["z", "x"])
    assert read == [2, 2, 0]


def test_the_ordinal_of_a_key_is_that_of_the_first_one() -> None:
    keys = ["p0.s0.t0.n0", "p0.s0.t0.n1", "p0.s0.t0.n0", "\ud800", ""]
    ordinals = Ordinals(keys, keys.__getitem__)

    assert [ordinals[key] for key in keys] == [0, 1, 0, 3, 4]
    assert "p0.s0.t0.n2" not in ordinals
    assert ordinals.get("p0.s0.t0.n2") is None
    with pytest.raises(KeyError, match="n2"):
        ordinals["p0.s0.t0.n2"]


def test_keys_with_the_same_checksum_are_told_apart() -> None:
    assert crc32(SAME_SUM[0].encode()) == crc32(SAME_SUM[1].encode())
    both = Ordinals(SAME_SUM, SAME_SUM.__getitem__)
    assert [both[key] for key in SAME_SUM] == [0, 1]
    assert SAME_SUM[1] not in Ordinals(SAME_SUM[:1], SAME_SUM.__getitem__)


def test_the_last_equal_one_before_is_found() -> None:
    assert list(previous_equals([5, -3, 5, 13, -3, 5])) == [-1, -1, 0, -1, 1, 2]
    assert list(previous_equals([])) == []


def test_a_tally_counts_over_all_its_parts() -> None:
    tally = Tally()
    for value in range(3 * TALLY_PARTS):
        for _ in range(value % 3 + 1):
            tally.add(value)
    assert sorted(tally.items()) == [(value, value % 3 + 1) for value in range(3 * TALLY_PARTS)]
