"""What the offline writer's assistant says that an amount of money is for."""

from __future__ import annotations

import random

import pytest

from longbeam.generators import PLANNING
from longbeam.offline import advise, load_pack, pack_paths, purposes
from longbeam.prompts.calls import MOST_ITEM_WORDS, AdviceInputs, AdviceLine
from longbeam.schemas import AdviceKind
from longbeam.text import content_words, money, values_in, words_of
from tests.prompts.samples import SAMPLES


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


@pytest.mark.parametrize("pack", purposes())
def test_each_amount_that_is_set_aside_has_several_purposes(pack: str) -> None:
    pool = purposes()["any"] | purposes()[pack]
    for amount in (PLANNING.least_set_aside, 40, 150, 400, 1_500, 4_000, 12_000):
        assert sum(least <= amount <= most for least, most in pool.values()) >= 3


def _advised(*amounts: float, topic: str = "the old house", before: tuple[str, ...] = ()) -> list[str]:
    """Return what the offline writer says that these amounts are for, over twenty draws."""
    sample = SAMPLES["advise"]
    assert isinstance(sample, AdviceInputs)
    bullet = sample.advice[0].bullet.model_copy(update={"topic": topic, "text": f"I plan {topic}."})
    lines = tuple(
        AdviceLine(
            line_id=f"a{i}", kind=AdviceKind.USE, bullet=bullet, topic=topic, attribute="use", value=money(n), count=1
        )
        for i, n in enumerate(amounts)
    )
    inputs = sample.model_copy(update={"advice": lines, "choices": (), "uses_before": before})
    return [draft.items[0] for key in range(20) for draft in advise(inputs, random.Random(key)).advice]


def test_a_purpose_fits_its_amount() -> None:
    known = {purpose: bounds for pool in purposes().values() for purpose, bounds in pool.items()}
    for amount in (PLANNING.least_set_aside, 60, 3_000):
        for purpose in _advised(amount):
            least, most = known[purpose]
            assert least <= amount <= most


def test_a_purpose_has_no_word_of_the_thing() -> None:
    whole = set(_advised(20))
    named = max(whole, key=len)
    assert not any(content_words(purpose) & content_words(named) for purpose in _advised(20, topic=named))


def test_amounts_of_a_stage_and_of_earlier_ones_are_for_different_things() -> None:
    first, *others = _advised(20, 20, 20, before=(_advised(20)[0],))[:3]
    assert len({first, *others, _advised(20)[0]}) == 4
