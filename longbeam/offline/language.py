"""Small grammar of the offline writer: fill templates, put clauses into sentences, match text to templates."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
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
