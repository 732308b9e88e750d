from __future__ import annotations

from zlib import crc32

import pytest

from longbeam.store import TALLY_PARTS, WRITTEN_AT_ONCE, Grouped, Keyed, Ordinals, Tally, previous_equals

SAME_SUM = ("plumless", "buckeroo")  # both have the CRC-32 0x4ddb0c25


def test_records_are_found_by_key() -> None:
    found = Keyed(["ant", "bee", "ape"], key_of=lambda word: word[0])

    assert (found["a"], found.get("b"), found.get("c")) == ("ant", "bee", None)
    assert ("b" in found, "c" in found, len(found), found.place["b"]) == (True, False, 3, 1)
    with pytest.raises(KeyError, match="c"):
        found["c"]


def test_groups_come_in_the_order_of_their_places_each_record_once() -> None:
    words = [*SAME_SUM, "bee", "ape", "ant"]
    places = [("a", 4), ("b", 2), ("a", 3), ("a", 4), *((word, i) for i, word in enumerate(SAME_SUM))]
    found = Grouped(words, places, is_of=lambda word, key: word.startswith(key))

    assert (found.of("a"), found.of("b"), found.of("c")) == (("ant", "ape"), ("bee",), ())
    assert [found.of(word) for word in SAME_SUM] == [(SAME_SUM[0],), (SAME_SUM[1],)]


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


def test_a_tally_counts_what_it_wrote_down() -> None:
    tally = Tally()
    for _ in range(2 * WRITTEN_AT_ONCE + 1):
        tally.add(5)
        tally.add(5 + TALLY_PARTS)
    times = 2 * WRITTEN_AT_ONCE + 1
    assert sorted(tally.items()) == [(5, times), (5 + TALLY_PARTS, times)]
