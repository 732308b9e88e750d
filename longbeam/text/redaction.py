"""Tables of first names, family names and jobs, as Faker 40.54.0 lists them (MIT, `data/LICENSE-faker`).

The tables are files of longbeam, because Faker's other 60 languages take 25 MB and 0.2 s, and because another version
of Faker would draw other people from the same seed. `tests/text/test_name_tables.py` compares them with Faker.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "data"
PLACES = ("en_US", "en_GB", "en_IN", "de_DE", "fr_FR", "es_ES", "it_IT")


@dataclass(frozen=True)
class NameTable:
    """Names of one country and language, each table sorted."""

    first_names_female: tuple[str, ...]
    first_names_male: tuple[str, ...]
    last_names: tuple[str, ...]

    @property
    def first_names(self) -> frozenset[str]:
        """First names of either gender."""
        return frozenset((*self.first_names_female, *self.first_names_male))


@cache
def names_of(place: str) -> NameTable:
    """Return the names of one of PLACES."""
    return NameTable(**{kind: tuple(names) for kind, names in _read("names.json")[place].items()})


@cache
def jobs() -> tuple[str, ...]:
    """Return jobs in English, sorted, as Faker writes them ("Engineer, mining")."""
    return tuple(_read("jobs.json"))


@cache
def _read(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))


_KEY = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----"
    r"|\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abps]|hf|AIza|AKIA|ASIA|ya29)[-_.]?[A-Za-z0-9_\-]{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
    r"|(?i:(?<=password: )|(?<=password is )|(?<=passwort: )|(?<=token: )|(?<=secret: )|(?<=api_key=))\S{6,}"
)
_PHONE = (
    r"(?<![\w.])\+\d{1,3}[ .-]?(?:\(\d+\)[ .-]?)?\d(?:[ .-]?\d){6,12}(?!\w)"
    r"|(?<![\w.$-])(?:\(\d{2,5}\) ?|0\d{1,4}[ /-]|\d{3}[.-](?=\d{3}[.-]\d{4}))"
    r"\d{3,4}(?:[ .-]?\d{2,4}){1,3}(?![\w-])"
)
_RULES = (
    ("key", re.compile(_KEY)),
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("iban", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")),
    ("card", re.compile(r"(?<![\d-])\d{4}(?:[ -]?\d{4}){3}(?![\d-])")),
    ("phone", re.compile(_PHONE)),
)
_PLACEHOLDER = re.compile(
    rf"\bPerson (?P<person>\d{{1,6}})\b|\[(?P<kind>{'|'.join(kind for kind, _ in _RULES)}) (?P<number>\d{{1,6}})\]"
)
_NAME = re.compile(r"\b([A-Z][\w'’-]+)((?: [A-Z][\w'’-]+)?)")
_WORDS = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "amber angel april art august austin autumn bill brandy brooke brooklyn candy carol charity charlotte chase "
        "chelsea china christian cliff crystal daisy dakota dale dallas dawn dean destiny don drew edit else faith "
        "florence forest frank gala gene georgia ginger glen grace grant guy harmony heather holly hope hunter iris "
        "israel ivy jack jackson jade jasmine jean jewel jordan joy june kelly lance lane laurel lily logan madison "
        "marina mark mason max may melody mercedes miles misty nick norma olive paige paris pat patience pearl peer "
        "penny phoenix precious ray rich rob robin rocky rose ruby rusty sandy savannah sierra sky skyler stacy stone "
        "summer sue sydney taylor terry tiffany timber tracy trinity tyler urban van victoria violet virginia wade will"
    ).split()
)
"""First names that are words or places, too: taken for names only before a family name."""


@dataclass(frozen=True)
class Found:
    """One private text, and what stands in its place."""

    kind: str
    text: str
    placeholder: str
    count: int
    """Times that it was met."""


@dataclass
class Redaction:
    """Replaces private texts of one source, and keeps what it found."""

    names: Collection[str] = ()
    """Names to replace besides those that the rules find."""
    _placeholders: dict[tuple[str, str], str] = field(default_factory=dict)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _taken: dict[str, int] = field(default_factory=dict)
    """Highest number of an earlier redaction's placeholders, by kind."""

    def pass_over(self, text: str) -> None:
        """Number new placeholders behind those that a text has already, which stand for others."""
        for match in _PLACEHOLDER.finditer(text):
            kind, number = match["kind"] or "name", int(match["person"] or match["number"])
            self._taken[kind] = max(self._taken.get(kind, 0), number)

    def redacted(self, text: str) -> str:
        """Return a text with placeholders."""
        for kind, pattern in _RULES:
            text = pattern.sub(partial(self._replaced, kind), text)
        if self.names:
            text = self._given.sub(partial(self._replaced, "name"), text)
        return _NAME.sub(self._name, text)

    def found(self) -> list[Found]:
        """Return everything that was replaced, in the order of finding."""
        return [Found(kind, text, self._placeholders[kind, text], n) for (kind, text), n in self._counts.items()]

    @cached_property
    def _given(self) -> re.Pattern[str]:
        longest_first = sorted(filter(None, self.names), key=len, reverse=True)
        return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b")

    def _replaced(self, kind: str, match: re.Match[str]) -> str:
        return self._put(kind, match.group())

    def _name(self, match: re.Match[str]) -> str:
        first, last = match[1].removesuffix("'s").removesuffix("’s"), match[2].strip()
        is_word = first.casefold() in _WORDS
        has_family = last.removesuffix("'s") in family_names()
        if first not in first_names() or (is_word and not has_family):
            return match.group()
        whole = match.group() if has_family else match[1]
        bare = whole.removesuffix("'s").removesuffix("’s")
        return self._put("name", bare) + whole[len(bare) :] + match.group()[len(whole) :]

    def _put(self, kind: str, text: str) -> str:
        key = kind, text
        if kind == "name" and (whole := self._whole_name(text)):
            key = kind, whole
        if key not in self._placeholders:
            number = 1 + self._taken.get(kind, 0) + sum(known == kind for known, _ in self._placeholders)
            self._placeholders[key] = f"Person {number}" if kind == "name" else f"[{kind} {number}]"
        self._counts[key] += 1
        return self._placeholders[key]

    def _whole_name(self, first: str) -> str:
        """Return the first full name met that a first name belongs to; empty if there is none."""
        return next((n for k, n in self._placeholders if k == "name" and n.split()[0] == first), "")


@cache
def first_names() -> frozenset[str]:
    """Return the first names of the lists of seven countries."""
    return _listed("first_names")


@cache
def family_names() -> frozenset[str]:
    """Return the family names of the same lists."""
    return _listed("last_names")


def _listed(which: str) -> frozenset[str]:
    return frozenset(name for place in PLACES for name in getattr(names_of(place), which) if len(name) > 2)


def render_found(found: Collection[Found]) -> str:
    """Return a table of private texts, a line each; ends a line. It is for the owner's eyes: it shows the texts."""
    if not found:
        return "No name, address, number or key was found by the rules; read the text before you send it anywhere.\n"
    width = max(len(one.placeholder) for one in found)
    lines = (f"{one.placeholder.ljust(width)}  {one.count:>4}  {_one_line(one.text)}" for one in found)
    return "".join(f"{line}\n" for line in lines)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
