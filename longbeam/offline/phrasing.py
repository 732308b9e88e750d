"""Wording of one piece of advice: openers, joints and labels, whose combinations make repeated sentences rare.

A point of a card is used some fifty times in a conversation of a million tokens. The parts of its sentence are drawn
independently. If the sentence does not name the thing, its opener or its label often does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longbeam.offline.language import fill, fill_low, has_word, phrases, run_on, shuffled, upper_first
from longbeam.offline.packs import Point

_OPENERS = phrases("phrasing", "openers")
_OPENERS_WITH_THING = phrases("phrasing", "openers_with_thing")
THING_IN_OPENER = 0.45
"""Share of advice without the thing's name whose opener names it; more would be monotonous."""
_JOINTS = (", because {why}", ", since {why}", ": {why}", "; {why}", " \N{EN DASH} {why}", ", because {why}")
_LABELS = phrases("phrasing", "labels")
_LABELS_WITH_THING = phrases("phrasing", "labels_with_thing")
_REASONS = phrases("phrasing", "reasons")
_REASONS_WITH_THING = phrases("phrasing", "reasons_with_thing")
_EXAMPLE_WORDS = re.compile(r"^(?:For instance|For example|In practice)[:,]?\s+")
_FORMS = (("reason", 6), ("both", 76), ("way", 18))
"""Weights of the forms of advice: with its reason, with reason and example in two sentences, with the example."""


@dataclass(frozen=True)
class PhrasePiece:
    """A point with the thing filled in."""

    do: str
    why: str
    how: str

    @property
    def can_run_on(self) -> bool:
        """Whether the example can follow the advice after a colon."""
        first = re.split(r"(?<=[.!?]) ", self.how, maxsplit=1)[0]
        return self.how[0].isalpha() and not any(sign in first for sign in ":?") and ":" not in self.do


def piece_of(point: Point, fields: dict[str, str]) -> PhrasePiece:
    """Return a point with its fields filled."""
    how = upper_first(_EXAMPLE_WORDS.sub("", fill(point.how, fields)))  # The label says it.
    return PhrasePiece(fill_low(point.do, fields), fill_low(point.why, fields), how)


def cycle(items: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Yield the items in a random order, again and again, so that none repeats before all were yielded."""
    while True:
        yield from shuffled(items, rng)


def advice(piece: PhrasePiece, it: str, openers: Iterator[str], rng: random.Random) -> str:
    """Return one piece of advice as one or two sentences: what to do, and why or how."""
    form = rng.choices([name for name, _ in _FORMS], [weight for _, weight in _FORMS])[0]
    opened = _opened(piece, it, openers, rng)
    if form == "way" and piece.can_run_on:
        return f"{opened}: {run_on(piece.how)}"
    joints = _JOINTS if ":" not in piece.do and ";" not in piece.do else _JOINTS[:2]
    text = f"{opened}{rng.choice(joints).format(why=piece.why)}."
    return text if form == "reason" else f"{text} {example(piece.how, it, rng)}"


def _opened(piece: PhrasePiece, it: str, openers: Iterator[str], rng: random.Random) -> str:
    verb = piece.do.split(" ", 1)[0].casefold()
    names = {"do": piece.do, "Do": upper_first(piece.do), "it": it}
    if not has_word(piece.do, it) and rng.random() < THING_IN_OPENER:
        fitting = [o for o in _OPENERS_WITH_THING if verb not in o.casefold().split()]
        return upper_first(rng.choice(fitting).format(**names))
    return next(o for o in openers if verb not in o.casefold().split()).format(**names)


def openers(rng: random.Random) -> Iterator[str]:
    """Return an endless iterator of openers; none but the empty one repeats before all were used."""
    return cycle(_OPENERS, rng)


def example(how: str, it: str, rng: random.Random) -> str:
    """Return an example sentence with a label, which names the thing if the sentence does not."""
    if has_word(how, it):
        return rng.choice(("", "", *_LABELS)) + how
    if rng.random() < 0.25:
        return rng.choice(_LABELS) + how
    return rng.choice(_LABELS_WITH_THING).format(it=it) + how


def reason(why: str, it: str, rng: random.Random) -> str:
    """Return a reason as a sentence of its own."""
    frames = _REASONS if has_word(why, it) or rng.random() < 0.4 else _REASONS_WITH_THING
    return rng.choice(frames).format(why=why, it=it)


def labelled(
    texts: Sequence[str], labels: Sequence[str], labels_with_thing: Sequence[str], it: str, rng: random.Random
) -> list[str]:
    """Return sentences with different labels; a label names the thing if its sentence does not."""
    bare, named = cycle(labels, rng), cycle(labels_with_thing, rng)
    return [next(bare if has_word(t, it) else named).format(it=it) + t for t in texts]


def in_short(first: PhrasePiece, second: PhrasePiece, it: str, rng: random.Random) -> str:
    """Return the essence of an answer in one sentence."""
    both = has_word(first.do + second.do, it)
    frame = rng.choice(_IN_SHORT if both else _IN_SHORT_WITH_THING)
    return upper_first(frame.format(one=first.do, two=second.do, why=first.why, it=it))


_IN_SHORT = phrases("phrasing", "in_short")
_IN_SHORT_WITH_THING = phrases("phrasing", "in_short_with_thing")
