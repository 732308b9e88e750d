"""Tables of first names, family names and jobs, as Faker 40.54.0 lists them (MIT, `data/LICENSE-faker`).

The tables are files of longbeam, because Faker's other 60 languages take 25 MB and 0.2 s, and because another version
of Faker would draw other people from the same seed. `tests/text/test_name_tables.py` compares them with Faker.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
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
