"""Values that are known from a day on, found by their keys (`text/grounding.py`)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache

from longbeam.schemas import Value
from longbeam.text import Key, loose_keys, spell_out, value_keys, values_with_keys


class KnownValues:
    """Values, and texts that state values, each known from a day on."""

    def __init__(self) -> None:
        self._since: dict[Key, dt.date] = {}
        self._values: list[tuple[dt.date, Value]] = []
        self._unread: list[tuple[str, dt.date, dt.date, Set[Key]]] = []

    def add(self, value: Value, said_on: dt.date, since: dt.date) -> None:
        """Add a value that was said on a day."""
        self._add(value, value_keys(value, said_on), since)

    def add_key(self, key: Key, since: dt.date) -> None:
        """Add the key of a value that nothing is computed from."""
        self._since[key] = min(since, self._since.get(key, since))

    def add_text(self, text: str, said_on: dt.date, since: dt.date, without: Set[Key] = frozenset()) -> None:
        """Add the values of a text that was said on a day, but those with such keys; the text is read later."""
        self._unread.append((text, said_on, since, without))

    def read(self) -> None:
        """Read the texts: only when a value is not known otherwise, because most messages state none."""
        for text, said_on, since, without in self._unread:
            for value, keys in values_of(spell_out(text, said_on), said_on):
                if without.isdisjoint(keys):
                    self._add(value, keys, since)
        self._unread.clear()

    def has(self, keys: Iterable[Key], day: dt.date) -> bool:
        """Return whether one of the keys is known on a day, without the texts that are not read yet."""
        return any(self._since.get(key, dt.date.max) <= day for key in keys)

    def until(self, day: dt.date) -> Iterator[Value]:
        """Yield the values that are known on a day."""
        return (value for since, value in self._values if since <= day)

    def _add(self, value: Value, keys: Iterable[Key], since: dt.date) -> None:
        self._values.append((since, value))
        for key in (*keys, *loose_keys(value)):
            self.add_key(key, since)


@lru_cache(maxsize=1024)
def values_of(text: str, day: dt.date) -> tuple[tuple[Value, frozenset[Key]], ...]:
    """Return all values of a text with their keys; `day` gives the year to dates without one."""
    return tuple(values_with_keys(text, day))
