"""Names of things: a seed's subtopics as things of the story, and short names for second mentions."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from longbeam.offline.language import within_sentence

LONG = 4
"""Number of words above which a subtopic is shortened, if it stays clear."""
_ASIDES = re.compile(r"\s*\([^)]*\)|:.*$|\s+[-\u2013\u2014]\s.*$")
_EXAMPLES = re.compile(r",?\s+(?:such as|like|including|based on|that|which)\s.*$")
_TAILS = re.compile(
    r"\s+(?:suited (?:for|to)|from|without|while|with|using|through|in|across|before|after|during|for|to)\s.*$"
)
_DETERMINED = re.compile(r"^(the|my|our|this|that) (.+)$", re.IGNORECASE)
_AFTER_HEAD = re.compile(
    r"\s+(?:of|near|for|in|with|without|outside|at|on|from|to|by|between|against|and|about|among|under|over|before|"
    r"after|behind|that|as)\s.*$"
)
_PRONOUN_FITS = re.compile(r"\b(?<!comes )(?:for|with|on|about|of|from|to|at|in|around|behind|by) \{it\}(?=[ ?.,;:]|$)")
_ADJECTIVE = re.compile(
    r"[a-z-]{3,}(?:ed|al|ous|ive|ful|ic|able|ible|ern|ish)|main|first|second|third|last|next|final|new|old|big|small|"
    r"little|long|short|quiet|early|late|free|whole|open|red|blue|green|white|black|yellow|daily|weekly|monthly|"
    r"yearly|quarterly|sunday|monday|tuesday|wednesday|thursday|friday|saturday|standard|practical|simple|rainy|great"
)
"""Adjectives that a second mention leaves out. It keeps a first noun: `the power bank` needs both."""
PRONOUN_SHARE = 0.45
"""Share of `it` among second mentions, where the sentence allows it."""


def things_of(subtopics: Iterable[str]) -> list[str]:
    """Return a seed's subtopics as things of a story, shortened if they stay distinct and keep two words."""
    full = list(subtopics)
    cut = [_cut(s) for s in full]
    return [within_sentence(c if cut.count(c) == 1 else f) for c, f in zip(cut, full, strict=True)]


def _cut(subtopic: str) -> str:
    plain = _EXAMPLES.sub("", _ASIDES.sub("", subtopic)).strip() or subtopic
    words = plain.split()
    if len(words) <= LONG or words[0].casefold() in {"balancing", "how", "when", "where", "what"}:
        return plain
    short = _TAILS.sub("", plain).rstrip(" ,").split()
    # "Using geometry" needs its purpose to be clear; "safety tips" does not.
    enough = 3 if words[0].endswith("ing") else 2
    return " ".join(short) if len(short) >= enough else plain


def short_name(thing: str) -> str:
    """Return the name for a second mention: `the room` for `the room near the station`.

    A name without article (a person, a subtopic of one or two words) stays; a longer one becomes `this`.
    """
    found = _DETERMINED.match(thing)
    if found is None:
        return thing if len(thing.split()) <= 2 else "this"
    head = _AFTER_HEAD.sub("", found[2])
    words = head.split()
    owner = next((i for i, w in enumerate(words[:-1]) if w.endswith(("'s", "s'"))), None)
    if owner is not None:
        return f"the {' '.join(words[owner + 1 :])}"
    while len(words) > 1 and _ADJECTIVE.fullmatch(words[0].casefold()):
        words.pop(0)
    return f"{found[1]} {' '.join(words)}"


def is_plural(thing: str) -> bool:
    """Whether a thing's name looks like a plural, for which `it` is wrong."""
    last = short_name(thing).split()[-1]
    return last.endswith("s") and not last.endswith(("ss", "us", "is", "series", "news"))


def mention(template: str, thing: str, rng: random.Random) -> str:
    """Return the text for {it} where the same message has named the thing before: a short name or `it`."""
    short = short_name(thing)
    if template.count("{it}") == 1 and _PRONOUN_FITS.search(template) and not is_plural(thing):
        share = 1.0 if short == "this" else PRONOUN_SHARE if short != thing else 0.8
        return "it" if rng.random() < share else short
    return short


def names_of(thing: str) -> tuple[str, ...]:
    """Return all names of a thing, its full name first."""
    return tuple(dict.fromkeys((thing, short_name(thing), "it", "this")))
