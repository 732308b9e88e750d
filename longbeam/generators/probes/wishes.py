"""The user's wishes that hold at the end, and those of them that may apply to a question.

A wish about a thing of the story applies to what speaks of it; a wish about a kind of request may apply to any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longbeam.generators.probes.evidence import words_of
from longbeam.generators.probes.histories import STANDING, Histories


class HeldWish(NamedTuple):
    """A wish in force at the end."""

    line: str
    """When it applies, and what an answer does then."""
    words: frozenset[str]
    """Words of which a text that it applies to has one; empty: it may apply to any text."""


def held_wishes(histories: Histories) -> tuple[HeldWish, ...]:
    """Return the wishes in force at the end, those of each kind in the order of the story."""
    told = (bullet.topic for bullet in histories.bullets() if bullet.kind not in STANDING)
    subjects = (fact.subject for plan in histories.plans for fact in plan.facts)
    things = {words for name in {*told, *subjects} if (words := words_of(name))}
    held = []
    for wish in (wish for kind in STANDING for wish, _ in histories.standing(kind) if wish.requirement):
        words = words_of(wish.condition)
        line = ": ".join(filter(None, (wish.condition, wish.requirement)))
        held.append(HeldWish(line, words if any(thing <= words for thing in things) else frozenset()))
    return tuple(held)


def wishes_on(held: Sequence[HeldWish], *texts: str) -> tuple[str, ...]:
    """Return the wishes that may apply to a question, given the texts that it is about, each in a line."""
    said = frozenset[str]().union(*map(words_of, texts))
    return tuple(wish.line for wish in held if not wish.words or wish.words & said)
