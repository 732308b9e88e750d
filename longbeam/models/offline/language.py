"""Small grammar for the offline writer: filling templates, putting clauses into sentences, matching them back."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import TypeVar

T = TypeVar("T")

_SENTENCE_START = re.compile(r"(^|[.!?:]\s+|\n\s*(?:[-*]|\d+\.)?\s*)(\{it\})")


def fill(template: str, fields: Mapping[str, str]) -> str:
    """Fill a template; `{it}` is capitalised where it begins a sentence, and the text begins with a capital."""
    if "it" in fields:
        template = _SENTENCE_START.sub(lambda m: m[1] + (m[2] if m[1].endswith(": ") else "{It}"), template)
        fields = {**fields, "It": upper_first(fields["it"])}
    return template.format(**fields)


def upper_first(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """The text with its first letter in lower case, unless its first word is an acronym, a name with capitals, or I."""
    first = text.split(" ", 1)[0]
    if any(c.isupper() for c in first[1:]) or first in {"I", "I'm", "I've", "I'd", "I'll"}:
        return text
    return text[:1].lower() + text[1:]


@lru_cache(maxsize=8192)
def pattern_of(template: str) -> re.Pattern[str]:
    """A pattern that matches what `fill` makes of a template, with a group per field."""
    parts: list[str] = []
    seen: set[str] = set()
    for literal, name, _, _ in Formatter().parse(template):
        parts.append(re.escape(literal))
        if name:
            parts.append(
                f"(?P={name})" if name in seen and name != "it" else f"(?P<{name}>.+?)" if name not in seen else ".+?"
            )
            seen.add(name)
    return re.compile("".join(parts), re.DOTALL)


def match(template: str, text: str) -> dict[str, str] | None:
    """The fields with which a template makes exactly this text, or None."""
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
"""First words of subtopics that are names; any other loses its capital within a sentence."""


def within_sentence(phrase: str) -> str:
    """A phrase that stood as a heading, as it is written within a sentence."""
    first = phrase.split(" ", 1)[0].casefold().rstrip("'s,:")
    return phrase if first in _PROPER or first.removesuffix("'s") in _PROPER else lower_first(phrase)


_FRAMES = (
    "{Do}, because {why}. {how}",
    "{Do}. {how} It pays off: {why}.",
    "{Do}; {why}. {how}",
    "Start here: {do}. {Why}. {how}",
    "I would {do}, since {why}. {how}",
    "It is worth taking the time to {do}. {how} {Why}.",
    "Next, {do}. The reason is simple: {why}. {how}",
    "{how} In other words, {do}: {why}.",
    "Make sure to {do}. {Why}. {how}",
    "{Do}. {Why}, and that is why I put it here. {how}",
    "You will want to {do}: {why}. {how}",
    "Before anything else, {do}. {how} Otherwise you lose the benefit that {why}.",
    "{Do}. {how}",
    "My advice is to {do}. {Why}. {how}",
    "Try to {do}, as {why}. {how}",
)


def advice(do: str, why: str, how: str, rng: random.Random) -> str:
    """One piece of advice as one to three sentences."""
    frame = rng.choice(_FRAMES[:-4] if "benefit that" not in why else _FRAMES)
    if frame.startswith("Before anything else"):
        frame = "Before anything else, {do}, because {why}. {how}"
    text = frame.format(do=lower_first(do), Do=upper_first(do), why=lower_first(why), Why=upper_first(why), how=how)
    return re.sub(r"\s+", " ", text).strip()


def listed(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def shuffled(items: Sequence[T], rng: random.Random) -> list[T]:
    """The items in a drawn order."""
    mixed = list(items)
    rng.shuffle(mixed)
    return mixed


def identifier(thing: str) -> str:
    """A snake_case name for a thing, without its article (`the login page`: `login_page`)."""
    words = [
        w for w in re.findall(r"[a-z0-9]+", thing.casefold()) if w not in {"the", "a", "an", "my", "our", "of", "and"}
    ]
    name = "_".join(words[:3]) or "item"
    return f"_{name}" if name[0].isdigit() else name
