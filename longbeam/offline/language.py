"""Small grammar of the offline writer: fill templates, put clauses into sentences, match text to templates."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

from longbeam.offline.packs import read_yaml

T = TypeVar("T")

_SENTENCE_START = re.compile(r"(^|[.!?]\s+|\n\s*(?:[-*]|\d+\.)?\s*)\{(\w+)\}")


@cache
def _phrase_book() -> Mapping[str, Mapping[str, Any]]:  # Any: YAML
    book: Mapping[str, Mapping[str, Any]] = read_yaml(Path(__file__).parent / "data" / "phrases.yaml")
    return book


def phrases(module: str, occasion: str) -> tuple[str, ...]:
    """Return the phrases of `data/phrases.yaml` for an occasion, in its order."""
    return tuple(_phrase_book()[module][occasion])


def phrase_groups(module: str, occasion: str) -> Mapping[str, tuple[str, ...]]:
    """Return the phrases for an occasion, by the kinds that it distinguishes."""
    return {kind: tuple(found) for kind, found in _phrase_book()[module][occasion].items()}


def fill(template: str, fields: Mapping[str, str]) -> str:
    """Return a filled template; a field at the beginning of a sentence gets a capital."""
    capitals = {name for _, name in _SENTENCE_START.findall(template)}
    if capitals:
        template = _SENTENCE_START.sub(lambda m: f"{m[1]}{{At_start_{m[2]}}}", template)
        fields = {**fields, **{f"At_start_{n}": upper_first(fields[n]) for n in capitals if n in fields}}
    return template.format(**fields)


def upper_first(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """Return the text with its first letter in lower case, except for acronyms, mixed-case names and I."""
    first = text.split(" ", 1)[0].rstrip(",:")
    if any(c.isupper() for c in first[1:]) or first in {"I", "I'm", "I've", "I'd", "I'll"}:
        return text
    return text[:1].lower() + text[1:]


@lru_cache(maxsize=512)
def pattern_of(template: str, forms: tuple[tuple[str, str], ...] = ()) -> re.Pattern[str]:
    """Return a pattern that matches filled forms of a template, with a group for each field.

    `forms`: pairs of a field's name and the pattern of its values; other fields match any text.
    """
    known = dict(forms)
    parts: list[str] = []
    seen: set[str] = set()
    for literal, name, _, _ in Formatter().parse(template):
        parts.append(re.escape(literal))
        if name:
            if name not in seen:
                parts.append(f"(?P<{name}>{known.get(name, '.+?')})")
            else:
                parts.append(".+?" if name == "it" else f"(?P={name})")
            seen.add(name)
    return re.compile("".join(parts), re.DOTALL)


def match(template: str, text: str) -> dict[str, str] | None:
    """Return the fields with which a template gives exactly this text; None if there are none."""
    found = pattern_of(template).fullmatch(text)
    return found.groupdict() if found else None


_PROPER = frozenset(
    (
        "python", "flask", "django", "javascript", "typescript", "html", "css", "react", "node", "sql", "sqlite",
        "postgresql", "docker", "git", "github", "excel", "google", "linux", "java", "kotlin", "swift", "rust", "go",
        "english", "french", "german", "spanish", "italian", "japanese", "chinese", "korean", "portuguese", "thai",
        "indian", "mexican", "greek", "turkish", "american", "british", "european", "asian", "african", "irish",
        "japan", "china", "india", "italy", "france", "germany", "spain", "greece", "mexico", "kerala", "punjab",
        "patagonia", "tokyo", "kyoto", "paris", "london", "rome", "africa", "europe", "asia", "america", "vietnam",
        "christmas", "easter", "halloween", "thanksgiving", "monday", "tuesday", "wednesday", "thursday", "friday",
        "saturday", "sunday", "january", "february", "march", "april", "june", "july", "august", "september",
        "october", "november", "december", "bayes", "euler", "pythagoras", "markov", "fermat", "gauss", "taylor",
        "newton", "fourier", "laplace", "pascal", "venn", "kant", "stoics", "aristotle", "plato", "nba", "fifa",
    )
)  # fmt: skip
"""First words of subtopics that are names and so keep their capital within a sentence."""


def run_on(sentence: str) -> str:
    """Return a sentence as it stands after a colon: in lower case, unless its first word is a name."""
    first = re.split(r"[ ,:'-]", sentence, maxsplit=1)[0].casefold()
    return sentence if first in _PROPER - {"go"} else lower_first(sentence)


def within_sentence(phrase: str) -> str:
    """Return a heading as it is written within a sentence."""
    first = phrase.split(" ", 1)[0].casefold().rstrip(",:")
    if first in {"how", "what", "why", "when", "where", "who", "which", "whether"}:
        return f"the question of {lower_first(phrase)}"  # A clause cannot stand where the templates want a noun.
    return phrase if first in _PROPER or first.removesuffix("'s") in _PROPER else lower_first(phrase)


def fill_low(template: str, fields: dict[str, str]) -> str:
    """Return a filled clause within a sentence; a field at its beginning keeps its case, as it may be a name."""
    filled = template.format(**fields)
    return filled if template.startswith("{") else lower_first(filled)


def is_new(text: str, said: str) -> bool:
    """Whether a text is absent from recently said text, whatever the case of its first letter."""
    return text[1:] not in said


def has_word(text: str, phrase: str) -> bool:
    """Whether a text contains a phrase, in any case."""
    return phrase.casefold() in text.casefold()


def shuffled(items: Sequence[T], rng: random.Random) -> list[T]:
    """Return the items in a random order."""
    mixed = list(items)
    rng.shuffle(mixed)
    return mixed


def identifier(thing: str) -> str:
    """Return a snake_case name for a thing, without its article: `login_page` for `the login page`."""
    words = [
        w for w in re.findall(r"[a-z0-9]+", thing.casefold()) if w not in {"the", "a", "an", "my", "our", "of", "and"}
    ]
    name = "_".join(words[:3]) or "item"
    return f"_{name}" if name[0].isdigit() else name


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
