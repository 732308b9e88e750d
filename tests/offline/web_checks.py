"""What every Python snippet of web apps does, before and after: one check per snippet id, True when the code is right.

A check gets the names that the code defines, `f`: its function of that snippet, and runs it with fixed inputs.
For a snippet of kind `bug` it must fail on `code`; for `slow`, whose result is right, the work done decides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tests.offline.snippet_tools import Check, Compared, Counting, entering, entries

CHECKS: dict[str, Check] = {}
"""Snippet id -> whether the code has not the fault described."""
checks = entering(CHECKS)


@checks
def last_page(code: dict[str, Any], tmp: Path) -> bool:
    pages = code["f"]
    return [pages(n, 10) for n in (0, 1, 10, 20, 21)] == [0, 1, 1, 2, 3]


@checks
def quoted_name(code: dict[str, Any], tmp: Path) -> bool:
    connection = entries()
    connection.execute("INSERT INTO entries (id, name) VALUES (7, 'O''Hara')")
    try:
        return bool(code["f"](connection, "O'Hara") == [(7,)])
    except sqlite3.OperationalError:
        return False


@checks
def half_transfer(code: dict[str, Any], tmp: Path) -> bool:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE boxes (id INTEGER, amount INTEGER CHECK (amount <= 10))")
    connection.executemany("INSERT INTO boxes VALUES (?, ?)", [(1, 5), (2, 9)])
    connection.commit()
    try:
        code["f"](connection, 1, 2, 3)  # the second box would hold 12
    except sqlite3.IntegrityError:
        connection.rollback()
    kept = connection.execute("SELECT amount FROM boxes ORDER BY id").fetchall()
    code["f"](connection, 1, 2, 1)
    moved = connection.execute("SELECT amount FROM boxes ORDER BY id").fetchall()
    return (kept, moved) == ([(5,), (9,)], [(4,), (10,)])


@checks
def nightly_copy(code: dict[str, Any], tmp: Path) -> bool:
    original = sqlite3.connect(tmp / "app.sqlite")
    original.execute("CREATE TABLE entries (id INTEGER)")
    original.execute("INSERT INTO entries VALUES (4)")
    original.commit()
    target = code["f"](tmp / "app.sqlite", tmp)
    original.close()
    copy = sqlite3.connect(target)
    rows = copy.execute("SELECT id FROM entries").fetchall()
    copy.close()
    return rows == [(4,)]


@checks
def shared_list(code: dict[str, Any], tmp: Path) -> bool:
    collect = code["f"]
    return (collect("a"), collect("b"), collect("c", ["d"])) == (["a"], ["b"], ["d", "c"])


@checks
def swallowed_failure(code: dict[str, Any], tmp: Path) -> bool:
    """The test is right when it fails for a broken page, and passes for a page that opens."""
    code["f"](SimpleNamespace(get=lambda path: SimpleNamespace(status_code=200)))
    with mock.patch("builtins.print"):
        try:
            code["f"](SimpleNamespace(get=lambda path: SimpleNamespace(status_code=500)))
        except AssertionError:
            return True
    return False


class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@checks
def fixed_pause(code: dict[str, Any], tmp: Path) -> bool:
    clock = code["time"] = Clock()
    ready, waited = code["f"](lambda: True), clock.now
    late = code["f"](lambda: clock.now > waited + 1)
    never = code["f"](lambda: False)
    assert (ready, late, never) == (True, True, False)
    return waited == 0


@checks
def query_per_row(code: dict[str, Any], tmp: Path) -> bool:
    connection = Counting(entries(1200))
    names = code["f"](connection, [*range(1100), 5000])
    assert names == {i: f"name {i}" for i in range(1100)}
    return connection.executed < 5


@checks
def list_lookup(code: dict[str, Any], tmp: Path) -> bool:
    rows = [{"key": Compared(n % 50), "n": n} for n in range(200)]
    Compared.count = 0
    unique = code["f"](rows)
    assert [row["n"] for row in unique] == list(range(50))
    return Compared.count < 400


@checks
def growing_pauses(code: dict[str, Any], tmp: Path) -> bool:
    def failing(times: int, error: type[Exception]) -> Callable[[], str]:
        failures: Iterator[Exception | None] = iter([error("down")] * times)

        def action() -> str:
            if (failure := next(failures, None)) is not None:
                raise failure
            return "done"

        return action

    def outcome(times: int, error: type[Exception] = ConnectionError) -> tuple[str, float]:
        clock = code["time"] = Clock()
        try:
            return code["f"](failing(times, error)), clock.now
        except error:
            return "failed", clock.now

    # Pauses of 0.5, 1 and 2 seconds; another error is not tried again.
    return [outcome(0), outcome(2), outcome(4), outcome(1, ValueError)] == [
        ("done", 0.0),
        ("done", 1.5),
        ("failed", 3.5),
        ("failed", 0.0),
    ]
