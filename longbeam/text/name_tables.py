"""First names and family names of several countries, as the installed Faker lists them, to recognise names in texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

PLACES = ("en_US", "en_GB", "en_IN", "de_DE", "fr_FR", "es_ES", "it_IT")


@dataclass(frozen=True)
class NameTable:
    """Names of one country and language."""

    first_names: frozenset[str]
    last_names: frozenset[str]


@cache
def names_of(place: str) -> NameTable:
    """Return the names of one of PLACES."""
    tables = import_module(f"faker.providers.person.{place}").Provider
    return NameTable(
        first_names=frozenset((*tables.first_names_female, *tables.first_names_male)),
        last_names=frozenset(tables.last_names),
    )
