"""What the checks of Python snippets share: how they are entered, and things that count the work done."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

Check = Callable[[dict[str, Any], Path], bool]


def entering(checks: dict[str, Check]) -> Callable[[Check], Check]:
    """A decorator that enters a check under its own name, which is the id of the snippet."""

    def enter(function: Check) -> Check:
        checks[function.__name__] = function
        return function

    return enter


def entries(rows: int = 3) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE entries (id INTEGER, name TEXT, day TEXT, amount INTEGER CHECK (amount >= 0))")
    names = [(i, f"name {i}") for i in range(rows)]
    connection.executemany("INSERT INTO entries (id, name) VALUES (?, ?)", names)
    connection.commit()
    return connection


class Counting:
    """A connection that counts statements and commits."""

    def __init__(self, inner: sqlite3.Connection) -> None:
        self.inner = inner
        self.executed = self.committed = 0

    def execute(self, *args: Any) -> sqlite3.Cursor:
        self.executed += 1
        return self.inner.execute(*args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        self.executed += 1
        return self.inner.executemany(*args)

    def commit(self) -> None:
        self.committed += 1
        self.inner.commit()

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *_: object) -> None:
        self.commit()


class Compared:
    """A key that counts how often it is compared."""

    count = 0

    def __init__(self, key: int) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return isinstance(other, Compared) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)
