"""Which bullets are about a thing, or name it."""

from __future__ import annotations

from longbeam.generators import Ledger, Mentions
from tests.generators.test_choices import _plan, _with_text


def test_bullets_of_the_topic_and_those_that_name_the_thing_are_found_in_order() -> None:
    plan = _with_text(_plan(), "p0.s1.b4", "The wet grinder hums.", "kitchen")
    plan = _with_text(plan, "p0.s0.b3", "It came on Monday.", "the wet grinder")
    plan = _with_text(plan, "p0.s1.b6", "The coffee grinder is dead.", "mill")
    assert [b.bullet_id for b in Mentions(Ledger.of(plan)).of("the wet grinder")] == ["p0.s0.b3", "p0.s1.b4"]


def test_a_thing_that_nobody_names_is_in_no_bullet() -> None:
    assert Mentions(Ledger.of(_plan())).of("the moon") == ()


def test_a_thing_ends_with_the_word_that_ends_it_and_so_does_what_names_it() -> None:
    plan = _with_text(_plan(), "p0.s0.b1", "The coach asks $101 for the spring choir.", "the coach")
    plan = _with_text(plan, "p0.s0.b2", "Rehearsals of the spring choir cost $102.", "rehearsals")
    plan = _with_text(plan, "p0.s0.b5", "Dana called the spring choir off.", "the spring choir")
    mentions = Mentions(Ledger.of(plan))
    bullets = plan.bullets()
    assert not any(mentions.has_ended(b, 4) for b in bullets[:4])
    assert [i for i, b in enumerate(bullets) if mentions.has_ended(b, len(bullets))] == [1, 2]
