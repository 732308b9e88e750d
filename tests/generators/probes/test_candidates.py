"""How a pool of candidates is thinned out."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from longbeam.generators.probes import Quote, Sketch, cite, deciles_of, is_narrow, thin_out
from longbeam.schemas import Difficulty
from longbeam.text import money
from tests.generators.probes.story import START

MESSAGES = 100


def _sketch(ordinal: int, rng: random.Random) -> Sketch:
    """A candidate on one to three of thirty bullets; one in ten gives its answer away."""
    said = [
        Quote(
            message_key=f"m{bullet}",
            position=3 * bullet,
            session=bullet // 3,
            said_on=START,
            quote="x",
            bullet_id=f"p{bullet // 10}.s0.b{bullet}",
            topic="x",
            narrative="x",
        )
        for bullet in rng.sample(range(30), rng.randint(1, 3))
    ]
    return Sketch.of(
        "a",
        cite(said),
        difficulty=rng.choice(list(Difficulty)),
        topic="the $80 desk" if rng.random() < 0.1 else "the desk",
        can_spare=rng.random() < 0.3,
        answers=(money(80),),
        summary=str(ordinal),
    )


def _best_first(sketches: list[Sketch], limit: int) -> list[str]:
    """The same by looking at all that are left for each that is taken."""
    fit = [s for s in sketches if not s.gives_itself_away()]
    asked = set[frozenset[str]]()
    of_many = len({plan for s in fit for plan in s.plans}) > 1
    uses, levels, deciles = Counter[str](), Counter[Difficulty](), Counter[int]()

    def cost(s: Sketch) -> tuple[bool, float, bool, int, float]:
        here = deciles_of(s.positions, MESSAGES)
        return (
            s.can_spare,
            sum(uses[subject] for subject in s.subjects) / len(s.subjects),
            of_many and is_narrow(s.bullet_ids),
            levels[s.difficulty],
            sum(deciles[d] for d in here) / len(here),
        )

    taken: list[str] = []
    while fit and len(taken) < limit:
        best = min(fit, key=cost)
        fit.remove(best)
        if best.asked in asked:
            continue
        asked.add(best.asked)
        uses.update(best.subjects)
        levels[best.difficulty] += 1
        deciles.update(deciles_of(best.positions, MESSAGES))
        taken.append(best.fields["summary"])
    return taken


@pytest.mark.parametrize("seed", range(5))
def test_each_one_taken_is_the_best_of_all_that_are_left(seed: int) -> None:
    rng = random.Random(seed)
    sketches = [_sketch(i, rng) for i in range(60)]
    chosen = thin_out(range(60), lambda i: sketches[i], MESSAGES, 24)
    assert [c.summary for c in chosen] == _best_first(sketches, 24)
    assert [c.candidate_id for c in chosen] == [f"a.{i}" for i in range(24)]


def test_what_makes_no_candidate_is_left_out() -> None:
    rng = random.Random(0)
    sketches = [_sketch(i, rng) if i % 2 else None for i in range(6)]
    assert {c.summary for c in thin_out(range(6), lambda i: sketches[i], MESSAGES)} <= {"1", "3", "5"}
