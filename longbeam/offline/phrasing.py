"""Wording of one piece of advice: openers, joints and labels, whose combinations make repeated sentences rare.

A point of a card is used some fifty times in a conversation of a million tokens. The parts of its sentence are drawn
independently. If the sentence does not name the thing, its opener or its label often does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longbeam.offline.language import fill, fill_low, has_word, run_on, shuffled, upper_first
from longbeam.offline.packs import Point

_OPENERS = (
    "{Do}", "{Do}", "{Do}", "{Do}", "I would {do}", "My advice is to {do}", "Try to {do}", "Make sure to {do}",
    "It helps to {do}", "It pays to {do}", "Remember to {do}", "You could {do}", "Plan to {do}", "Be sure to {do}",
    "Take the time to {do}", "A good habit is to {do}", "What works well is to {do}", "It is worth the effort to {do}",
    "I recommend that you {do}", "One thing that helps is to {do}", "You might want to {do}", "If you can, {do}",
    "I suggest that you {do}", "A simple rule is to {do}", "It makes sense to {do}", "The safest way is to {do}",
    "A useful move is to {do}", "Do take a moment to {do}",
)  # fmt: skip
_OPENERS_WITH_THING = (
    "For {it}, {do}", "With {it}, {do}", "For {it}, I would {do}", "With {it}, it helps to {do}",
    "When it comes to {it}, {do}", "For {it}, make sure to {do}", "In the case of {it}, {do}", "With {it}, try to {do}",
    "For {it}, it pays to {do}", "With {it} in mind, {do}", "As far as {it} goes, {do}", "For {it}, remember to {do}",
)  # fmt: skip
THING_IN_OPENER = 0.45
"""Share of advice without the thing's name whose opener names it; more would be monotonous."""
_JOINTS = (", because {why}", ", since {why}", ": {why}", "; {why}", " \N{EN DASH} {why}", ", because {why}")
_LABELS = (
    "For example: ", "In practice: ", "For instance: ", "One way to do it: ", "A small example: ",
    "Concretely: ", "An example: ", "To give you an idea: ", "It can look like this: ", "As an illustration: ",
    "What that can look like: ", "Put into practice: ", "Here is one way: ", "Something like this: ",
    "In plain terms: ", "As a picture: ", "Made concrete: ", "One form of it: ", "To make it tangible: ",
    "Seen in practice: ",
)  # fmt: skip
_LABELS_WITH_THING = (
    "For {it}, for example: ", "With {it}, that could mean: ", "Applied to {it}: ", "In the case of {it}: ",
    "For {it} that means: ", "With {it} it can look like this: ", "Take {it} as the example: ",
    "For {it}, one way is this: ", "With {it} in practice: ", "An example with {it}: ", "In practice, for {it}: ",
    "On {it}, that might be: ", "An idea for {it}: ", "How that looks with {it}: ", "For {it}, concretely: ",
)  # fmt: skip
_REASONS = (
    "The reason: {why}.", "Why: {why}.", "The point is that {why}.", "This matters because {why}.",
    "It is worth it because {why}.", "The idea behind it: {why}.", "I say this because {why}.",
    "That helps because {why}.", "The logic is simple: {why}.", "Behind this is that {why}.",
)  # fmt: skip
_REASONS_WITH_THING = (
    "This matters for {it}, because {why}.", "With {it} that helps because {why}.",
    "The reason it matters with {it}: {why}.", "For {it} this counts, since {why}.",
    "With {it} the point is that {why}.", "It is worth it for {it}, because {why}.",
)  # fmt: skip
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


_IN_SHORT = (
    "In short: {one}, then {two}.", "The short answer: {one}, and after that {two}.",
    "If I had to name two things: {one}, and {two}.",
    "Two things carry most of the weight here: {one}, and {two}.", "I would {one} and then {two}.",
    "My short answer is to {one} and to {two}.", "Start like this: {one}, then {two}.",
    "It comes down to two steps: {one}, and {two}.", "Briefly: {one}, and then {two}.",
    "Most of it is done if you {one} and {two}.",
)  # fmt: skip
_IN_SHORT_WITH_THING = (
    "In short, for {it}: {one}, then {two}.", "The short answer for {it}: {one}, and after that {two}.",
    "With {it}, two things carry most of the weight: {one}, and {two}.", "For {it} I would {one} and then {two}.",
    "With {it} it comes down to two steps: {one}, and {two}.", "For {it}, start like this: {one}, then {two}.",
    "My short answer on {it} is to {one} and to {two}.", "With {it}, most of it is done if you {one} and {two}.",
)  # fmt: skip
