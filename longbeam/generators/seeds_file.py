"""Reader of seeds files, which people write by hand: entries become `Seed` records, or are refused in one line.

Categories are matched without case, punctuation and conjunctions, so that BEAM's spellings of one domain are one
domain. Unknown keys that are harmless give a warning; an entry that would silently change the benchmark is an error.
"""

from __future__ import annotations

import calendar
import datetime as dt
import json
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.schemas import DOMAIN_PATTERN, Domain, Seed, Timeline
from longbeam.text import MONTHS

KNOWN_KEYS = ("id", "category", "domain", "title", "theme", "subtopics", "mode", "timeline")
MODES = {
    "hierarchical": "hierarchical",
    "similar": "hierarchical",  # BEAM's files
    "sequential": "sequential",
    "following": "sequential",
}

_CONJUNCTIONS = frozenset({"and", "or", "the"})
_ALIASES: dict[Domain, tuple[str, ...]] = {
    Domain.CODING: ("code", "programming", "software", "software development", "software engineering"),
    Domain.MATH: ("maths", "mathematics"),
    Domain.WRITING: ("writing", "writing assistant", "writing assistance", "writing learning"),
    Domain.THERAPY: ("therapy", "emotional support", "mental health", "mental health support"),
    Domain.CAREER: ("career", "careers", "professional development", "career development", "work"),
    Domain.INVESTMENT: ("finance", "financial", "personal finance", "investing", "investment", "investments"),
    Domain.HEALTH: ("health", "wellness", "fitness", "health fitness", "wellbeing"),
    Domain.RELATIONSHIP: ("relationship", "relationships", "family", "relationships family", "parenting"),
    Domain.EDUCATION: ("education", "learning"),
    Domain.HOME: ("home", "real estate", "housing", "home improvement"),
    Domain.LIFESTYLE: ("life style",),
    Domain.COOKING: ("food", "cooking food", "food cooking", "recipes"),
    Domain.BUSINESS: ("business", "entrepreneurship", "startup", "startups"),
    Domain.TRIP: ("trip", "trips", "travel", "travel planning", "traveling", "travelling"),
    Domain.SPORT: ("sports",),
    Domain.EVENT: ("event", "events", "events planning"),
    Domain.RECOMMENDATION: (
        "recommendation",
        "recommendations",
        "asking recommendations",
        "asking for recommendation",
        "asking for recommendations",
    ),
    Domain.LEGAL: ("legal", "law", "administrative", "legal administration"),
    Domain.PHILOSOPHY: (
        "philosophy",
        "ethics",
        "philosophy ethics",
        "philosophical discussion",
        "ethical discussion",
        "philosophical ethical discussions",
    ),
    Domain.GENERAL: ("other", "miscellaneous"),
}


def read_seeds_file(path: Path, *, name: str | None = None) -> tuple[list[Seed], list[str]]:
    """Return the seeds of a JSON file, or of the tables `[[seed]]` of a TOML file, in its order, and warnings.

    `name` replaces the path in messages and in the seeds' sources, if `path` is a copy of the file.
    Raises UserError with one line: file, entry number (from 1), field, the value found and the values allowed.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as exc:
        raise UserError(f"seeds file {str(path)!r}: cannot be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise UserError(f"seeds file {str(path)!r}: not UTF-8 text (byte {exc.start})") from exc
    except ValueError as exc:  # a null byte in the path
        raise UserError(f"seeds file {str(path)!r}: cannot be read: {exc}") from exc
    return parse_seeds(text, name=name or str(path))


def parse_seeds(text: str, *, name: str, source: str | None = None) -> tuple[list[Seed], list[str]]:
    """Return the seeds and warnings of a seeds file's text.

    `name` is the file's name in messages. `source` is written into every seed instead of the file's name and the
    entry's id.
    """
    entries = _toml_entries(text, name) if Path(name).suffix == ".toml" else _load_entries(text, name)
    warnings: list[str] = []
    seeds: list[Seed] = []
    numbers: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        parser = _EntryParser(entry, f"seeds file {name!r}: entry {number}", warnings)
        seed = parser.parse(source or f"{Path(name).name}#{parser.entry_id(number)}")
        key = seed.title.casefold()
        if key in numbers:
            parser.refuse("title", seed.title, f"titles that differ; entry {numbers[key]} has the same")
        numbers[key] = number
        seeds.append(seed)
    return seeds, warnings


def domain_of(category: str) -> Domain | None:
    """Return the domain that a category's name means, or None."""
    return _DOMAINS.get(_normalise(category))


def _normalise(name: str) -> str:
    words = re.findall(r"[^\W_]+", name.casefold())
    return " ".join(word for word in words if word not in _CONJUNCTIONS)


_DOMAINS = {
    **{alias: domain for domain, aliases in _ALIASES.items() for alias in aliases},
    **{_normalise(domain.value): domain for domain in Domain},
}


def _toml_entries(text: str, name: str) -> list[Any]:
    where = f"seeds file {name!r}"
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as exc:
        raise UserError(f"{where}: not TOML: {exc}") from exc
    entries = data.get("seed")
    if not isinstance(entries, list) or not entries or data.keys() != {"seed"}:
        found = ", ".join(data) or "nothing"
        raise UserError(f"{where}: found {found[:80]}; one or more tables [[seed]] are needed, and nothing else")
    return [{key: _as_json(value) for key, value in e.items()} if isinstance(e, dict) else e for e in entries]


def _as_json(value: Any) -> Any:  # Any: TOML
    """Return a value with dates as texts, as JSON has them."""
    if isinstance(value, dict):
        return {key: _as_json(part) for key, part in value.items()}
    return value.isoformat() if isinstance(value, dt.date) else value


def _load_entries(text: str, name: str) -> list[Any]:
    where = f"seeds file {name!r}"
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as exc:
        raise UserError(f"{where}: not JSON: {exc.msg} (line {exc.lineno}, column {exc.colno})") from exc
    except (ValueError, RecursionError) as exc:  # a number of 4,300 digits; a thousand brackets
        raise UserError(f"{where}: not usable JSON: {exc}") from exc
    if not isinstance(entries, list):
        raise UserError(f"{where}: found {_describe(entries)}; a list of seeds is needed, [{{...}}, ...]")
    if not entries:
        raise UserError(f"{where}: the list is empty; at least one seed is needed")
    return entries


class _EntryParser:
    """Parser of one entry of a seeds file; `where` begins every message about the entry."""

    def __init__(self, entry: object, where: str, warnings: list[str]) -> None:
        self.where = where
        self.warnings = warnings
        if not isinstance(entry, dict):
            raise UserError(f"{where}: found {_describe(entry)}; an object with title, theme and subtopics is needed")
        self.entry: dict[str, Any] = entry

    def parse(self, source: str) -> Seed:
        """Return the entry as a seed."""
        for key in self.entry:
            if key not in KNOWN_KEYS:
                self.warnings.append(f"{self.where}: key {key!r} is not used; known are {', '.join(KNOWN_KEYS)}")
        return Seed(
            domain=self._domain(),
            title=self._text("title"),
            theme=self._text("theme"),
            subtopics=self._subtopics(),
            timeline=self._timeline(),
            mode=self._mode(),
            source=source,
        )

    def refuse(self, field: str, found: object, allowed: str) -> NoReturn:
        """Raise the UserError about one field."""
        raise UserError(f"{self.where}: {field}: found {_describe(found)}; needed: {allowed}")

    def entry_id(self, number: int) -> str:
        """Return the entry's own id, or its number."""
        value = self.entry.get("id")
        if value is None:
            return str(number)
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            self.refuse("id", value, "a number or a text")
        return str(value) if isinstance(value, int) else self._clean("id", value)

    def _domain(self) -> str:
        field = "category" if "category" in self.entry else "domain"
        if field not in self.entry:
            self.warnings.append(f"{self.where}: no category; taken as general")
            return Domain.GENERAL
        value = self.entry[field]
        if not isinstance(value, str):
            self.refuse(field, value, "the name of a domain")
        name = self._clean(field, value)
        if (domain := domain_of(name)) is not None:
            return domain
        if not re.fullmatch(DOMAIN_PATTERN, name):
            self.refuse(field, value, "a domain's name: up to 60 letters, digits, spaces, _ & ' / -")
        if close := get_close_matches(name.casefold(), _DOMAINS, n=1, cutoff=0.85):
            self.warnings.append(
                f"{self.where}: {field} {value!r} is a domain of its own; did you mean {_DOMAINS[close[0]].value!r}?"
            )
        return name

    def _text(self, field: str) -> str:
        if field not in self.entry:
            raise UserError(f"{self.where}: {field} is missing; needed: a text that is not empty")
        return self._clean(field, self.entry[field])

    def _clean(self, field: str, value: object) -> str:
        if not isinstance(value, str):
            self.refuse(field, value, "a text that is not empty")
        if any("\ud800" <= char <= "\udfff" for char in value):
            self.refuse(field, value, "text without half a surrogate pair")
        kept = " ".join("".join(char if char.isprintable() else " " for char in value).split())
        if not kept:
            self.refuse(field, value, "a text that is not empty")
        return kept

    def _subtopics(self) -> tuple[str, ...]:
        allowed = "a list of one or more texts"
        if "subtopics" not in self.entry:
            raise UserError(f"{self.where}: subtopics is missing; needed: {allowed}")
        value = self.entry["subtopics"]
        if not isinstance(value, list) or not value:
            self.refuse("subtopics", value, allowed)
        return tuple(self._clean(f"subtopics, item {n}", item) for n, item in enumerate(value, start=1))

    def _mode(self) -> str | None:
        value = self.entry.get("mode")
        if value is None:
            return None
        if not isinstance(value, str) or value.strip().casefold() not in MODES:
            self.refuse("mode", value, " or ".join(MODES))
        return MODES[value.strip().casefold()]

    def _timeline(self) -> Timeline | None:
        value = self.entry.get("timeline")
        if value is None or (isinstance(value, str) and value.strip().casefold() in ("", "n/a")):
            return None
        allowed = "'[Start May, 2022 - End May, 2023]', '2022-05-01 - 2023-05-31', or {start, end}"
        dates = _parse_timeline(value)
        if dates is None:
            self.refuse("timeline", value, allowed)
        try:
            return Timeline(start=dates[0], end=dates[1])
        except ValidationError:
            self.refuse("timeline", value, "an end after the start")


def _describe(value: object) -> str:
    """Return the kind of a JSON value, and the value itself if it is short."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        kind = "object" if isinstance(value, dict) else "list"
        return f"{'a' if kind == 'list' and value else 'an'} {kind if value else 'empty ' + kind}"
    kind = {str: "text", bool: "a truth value"}.get(type(value), "a number")
    # Escaped unless printable: half a surrogate pair in a message could not be printed.
    is_printable = not isinstance(value, str) or value.isprintable()
    shown = json.dumps(value, ensure_ascii=not is_printable)
    return f"{kind} {shown if len(shown) <= 60 else shown[:57] + '...'}"


def _parse_timeline(value: object) -> tuple[dt.date, dt.date] | None:
    if isinstance(value, dict) and set(value) == {"start", "end"}:
        parts: list[object] = [value["start"], value["end"]]
    elif isinstance(value, str):
        parts = list(re.split(r"\s+(?:-|–|—|to|until)\s+", value.strip().strip("[]").strip()))
    else:
        return None
    if len(parts) != 2:
        return None
    start, end = _parse_day(parts[0], is_end=False), _parse_day(parts[1], is_end=True)
    return None if start is None or end is None else (start, end)


def _parse_day(text: object, *, is_end: bool) -> dt.date | None:
    if not isinstance(text, str):
        return None
    cleaned = re.sub(r"^\s*(?:start|end)\b[:\s]*", "", text, flags=re.IGNORECASE).strip()
    try:
        return dt.date.fromisoformat(cleaned)
    except ValueError:
        return _parse_month(cleaned, is_end=is_end)


def _parse_month(text: str, *, is_end: bool) -> dt.date | None:
    """Return the first or last day of `May, 2022` or `2022-05`."""
    if match := re.fullmatch(r"([^\W\d_]+)\.?,?\s+(\d{4})", text):
        month, year = _month_number(match[1].casefold()), int(match[2])
    elif match := re.fullmatch(r"(\d{4})-(\d{2})", text):
        month, year = int(match[2]), int(match[1])
    else:
        return None
    if not (1 <= month <= 12 and 1900 <= year <= 2200):
        return None
    return dt.date(year, month, calendar.monthrange(year, month)[1] if is_end else 1)


def _month_number(name: str) -> int:
    """Return 1 to 12 for a month's name, or three or more of its first letters; 0 for other words."""
    return next((n for n, full in enumerate(MONTHS, 1) if len(name) >= 3 and full.casefold().startswith(name)), 0)
