"""What the offline writer's assistant says that an amount of money is for."""

from __future__ import annotations

import pytest

from longbeam.offline.advising import purposes
from longbeam.offline.packs import load_pack, pack_paths
from longbeam.prompts.calls.advice import MOST_ITEM_WORDS
from longbeam.text.extraction import values_in
from longbeam.text.words import words_of


def test_every_pool_of_purposes_belongs_to_a_pack() -> None:
    assert purposes().keys() - {"any"} <= {load_pack(path).pack for path in pack_paths()}


@pytest.mark.parametrize("pack", purposes())
def test_purposes_are_different_and_go_on_after_for(pack: str) -> None:
    pool = [*purposes()[pack], *(purposes()["any"] if pack != "any" else ())]
    assert len(pool) >= 12
    assert len(set(pool)) == len(pool)
    for purpose in pool:
        assert not {"you", "your", "i", "my"} & set(words_of(purpose))
        assert not values_in(purpose)
        assert "," not in purpose
        assert len(purpose.split()) <= MOST_ITEM_WORDS
