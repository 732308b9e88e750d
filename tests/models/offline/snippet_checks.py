"""What every Python snippet does, before and after: one check per snippet id, True when the code is right.

A check gets the names that the code defines, `f`: its function of that snippet, and runs it with fixed inputs.
For a snippet of kind `bug` it must fail on `code`; for `slow`, whose result is right, the work done decides.
"""

from __future__ import annotations

import contextlib
import json
import math
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

Check = Callable[[dict[str, Any], Path], bool]
CHECKS: dict[str, Check] = {}
"""Snippet id -> whether the code has not the fault described."""


def checks(function: Check) -> Check:
    """Enter a check under its own name, which is the id of the snippet."""
    CHECKS[function.__name__] = function
    return function


def _entries(rows: int = 3) -> sqlite3.Connection:
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


# --- web apps -----------------------------------------------------------------------------------------------


@checks
def last_page(code: dict[str, Any], tmp: Path) -> bool:
    pages = code["f"]
    return [pages(n, 10) for n in (0, 1, 10, 20, 21)] == [0, 1, 1, 2, 3]


@checks
def quoted_name(code: dict[str, Any], tmp: Path) -> bool:
    connection = _entries()
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
    connection = Counting(_entries(1200))
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


# --- data pipelines and classifiers -------------------------------------------------------------------------


@checks
def quoted_comma(code: dict[str, Any], tmp: Path) -> bool:
    path = tmp / "rows.csv"
    path.write_text('1,"Miller, Sons",x\n2,Berg,y\n')
    return bool(code["f"](path) == [["1", "Miller, Sons", "x"], ["2", "Berg", "y"]])


@checks
def whole_file(code: dict[str, Any], tmp: Path) -> bool:
    """Right when lines are read one by one: the file given refuses to be read as a whole."""

    class Lines:
        def __enter__(self) -> Iterator[str]:
            return iter(["a b\n", "c\n", "b\n"])

        def __exit__(self, *_: object) -> None: ...

    code["open"] = lambda *_, **__: Lines()
    try:
        return bool(code["f"]("x", "b") == 2)
    except AttributeError:  # no `readlines`
        return False


@checks
def schema_check(code: dict[str, Any], tmp: Path) -> bool:
    rows = [{"day": "1", "price": "2.5"}, {"day": "", "price": "1"}, {"day": "x", "price": "1"}]
    good, aside = code["f"](rows, {"day": int, "price": float})
    return good == [{"day": 1, "price": 2.5}] and [(number, why[:7]) for number, why, _ in aside] == [
        (2, "missing"),
        (3, "invalid"),
    ]


@checks
def oldest_wins(code: dict[str, Any], tmp: Path) -> bool:
    rows = [
        {"key": 1, "changed": 2, "v": "new"},
        {"key": 1, "changed": 1, "v": "old"},
        {"key": 2, "changed": 0, "v": "x"},
    ]
    return sorted(row["v"] for row in code["f"](rows)) == ["new", "x"]


@checks
def zero_or_missing(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"]([0, None, 3], 9) == [0, 9, 3])


@checks
def nested_match(code: dict[str, Any], tmp: Path) -> bool:
    keys = [Compared(n) for n in range(60)]
    orders = [{"customer_id": key} for key in keys]
    customers = [{"id": Compared(n % 50), "n": n} for n in range(60)]
    Compared.count = 0
    pairs = code["f"](orders, customers)
    found = [(order["customer_id"].key, customer["n"]) for order, customer in pairs]
    wanted = [(n, m) for n in range(50) for m in (n, n + 50) if m < 60]
    assert found == wanted
    return Compared.count < 300


@checks
def commit_per_row(code: dict[str, Any], tmp: Path) -> bool:
    connection = Counting(_entries(0))
    code["f"](connection, [("mon", n) for n in range(20)])
    (stored,) = connection.inner.execute("SELECT COUNT(*) FROM entries").fetchone()
    assert stored == 20
    return connection.committed == 1


@checks
def loaded_twice(code: dict[str, Any], tmp: Path) -> bool:
    connection = _entries(0)
    for day in ("mon", "tue", "tue"):
        code["f"](connection, day, [1, 2])
    (stored,) = connection.execute("SELECT COUNT(*) FROM entries").fetchone()
    return bool(stored == 4)


@checks
def chance_agreement(code: dict[str, Any], tmp: Path) -> bool:
    # Both agree on 3 of 4; by chance on (2·3 + 2·1)/16 = 1/2: kappa is (3/4 - 1/2) / (1 - 1/2) = 1/2.
    kappa = code["f"]
    return (kappa("aabb", "aaab"), kappa("ab", "ab"), kappa("aa", "aa")) == (0.5, 1.0, 1.0)


@checks
def shuffled_apart(code: dict[str, Any], tmp: Path) -> bool:
    """Lists of different texts; one generator after the other gives each list an order of its own."""
    texts, labels = code["f"](range(30), range(30), 5)
    return texts == labels and sorted(texts) == list(range(30)) and texts != list(range(30))


@checks
def leaked_scale(code: dict[str, Any], tmp: Path) -> bool:
    # The training rows 1 and 3 have the mean 2, whatever the test rows are.
    return bool(code["f"]([1, 3, 100, 200], 2) == ([-1, 1], [98, 198]))


@checks
def recall_of_rare(code: dict[str, Any], tmp: Path) -> bool:
    score = code["f"](["urgent"] * 2 + ["other"] * 98, ["other"] * 100)
    return bool(score == (0.0, 0.0))


@checks
def random_split(code: dict[str, Any], tmp: Path) -> bool:
    rows = [{"day": n} for n in (5, 3, 9, 1, 7, 2, 8, 4, 6, 0)]
    seed = [1] if code["f"].__code__.co_argcount == 3 else []
    train, test = code["f"](rows, 0.7, *seed)
    return len(train) == 7 and max(row["day"] for row in train) < min(row["day"] for row in test)


@checks
def mean_of_means(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"]([[1], [3, 3, 3]]) == 2.5)


@checks
def model_per_request(code: dict[str, Any], tmp: Path) -> bool:
    path = tmp / "table.json"
    path.write_text('{"default": 0, "a": 1}')
    opened = mock.Mock(side_effect=open)
    code["open"] = opened
    answers = [code["f"](str(path), key) for key in ("a", "b", "a")]
    assert answers == [1, 0, 1]
    return opened.call_count == 1


@checks
def float_cents(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"](["0.10", "0.20"]) == "0.30")


@checks
def month_before(code: dict[str, Any], tmp: Path) -> bool:
    return [code["f"](2024, month) for month in (1, 2, 12)] == [(2023, 12), (2024, 1), (2024, 11)]


@checks
def text_sorted(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"](["10", "2", "1"]) == ["1", "2", "10"])


@checks
def kept_copies(code: dict[str, Any], tmp: Path) -> bool:
    return sorted(code["f"](["2024-03-02", "2024-03-01", "2024-03-04", "2024-03-03"], 2)) == [
        "2024-03-01",
        "2024-03-02",
    ]


@checks
def half_written(code: dict[str, Any], tmp: Path) -> bool:
    """A generator breaks off in the middle; the old file must still be whole."""

    def broken() -> Iterator[str]:
        yield "new"
        raise ConnectionError("gone")

    path = tmp / "out.txt"
    code["f"](str(path), ["old", "rows"])
    with contextlib.suppress(ConnectionError):
        code["f"](str(path), broken())
    return path.read_text() == "old\nrows\n"


@checks
def unseen_word(code: dict[str, Any], tmp: Path) -> bool:
    try:
        return bool(code["f"]("Printer smokes", {"printer": 3}) == [3, 0])
    except KeyError:
        return False


@checks
def word_not(code: dict[str, Any], tmp: Path) -> bool:
    assert code["f"]("the printer is working") == ["printer", "working"]
    return bool(code["f"]("the printer is not working") != code["f"]("the printer is working"))


@checks
def word_counts(code: dict[str, Any], tmp: Path) -> bool:
    words = [Compared(n % 40) for n in range(80)]
    vocabulary = [Compared(n) for n in range(50)]
    Compared.count = 0
    assert code["f"](words, vocabulary) == [2] * 40 + [0] * 10
    return Compared.count < 300


@checks
def huge_scores(code: dict[str, Any], tmp: Path) -> bool:
    assert code["f"]([2.0, 2.0]) == [0.5, 0.5]
    try:
        return bool(code["f"]([1000.0, 0.0]) == [1.0, 0.0])
    except OverflowError:
        return False


@checks
def certain_and_wrong(code: dict[str, Any], tmp: Path) -> bool:
    assert abs(code["f"]([1, 0], [0.5, 0.5]) - math.log(2)) < 1e-12
    try:
        return bool(code["f"]([1, 0], [0.0, 0.5]) > 10)
    except ValueError:
        return False


@checks
def score_interval(code: dict[str, Any], tmp: Path) -> bool:
    interval = code["f"]
    low, high = interval([1] * 70 + [0] * 30, 4)
    assert (low, high) == interval([1] * 70 + [0] * 30, 4)
    # The standard error of 0.7 over 100 rows is 0.046; 95 % lie within about 0.09 of it.
    return interval([1] * 9, 1) == (1.0, 1.0) and 0.56 < low < 0.66 < 0.74 < high < 0.84


@checks
def unseen_verdicts(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"]([("a", "b"), ("a", "a"), ("b", None), ("b", None)]) == 0.5)


@checks
def urgent_last(code: dict[str, Any], tmp: Path) -> bool:
    cases = [{"urgency": u, "arrived": a} for u, a in ((1, 0), (3, 2), (2, 1), (3, 0))]
    return [(c["urgency"], c["arrived"]) for c in code["f"](cases)] == [(3, 0), (3, 2), (2, 1), (1, 0)]


@checks
def last_vote(code: dict[str, Any], tmp: Path) -> bool:
    votes = [(1, "spam"), (1, "spam"), (1, "ham"), (2, "ham")]
    return bool(code["f"](votes) == {1: "spam", 2: "ham"})


@checks
def missing_as_zero(code: dict[str, Any], tmp: Path) -> bool:
    assert code["f"]({"b": 2, "a": "1"}, ["a", "b"]) == [1.0, 2.0]
    try:
        code["f"]({"a": 1}, ["a", "b"])
    except ValueError as exc:
        return str(exc) == "missing: b"
    return False


@checks
def reordered_fields(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"]({"b": 2, "a": 1}, ["a", "b"]) == [1, 2])


@checks
def case_by_case(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"]("aabba", "aabaa", "abaaa") == (2, 0))


# --- games --------------------------------------------------------------------------------------------------


@checks
def per_frame_speed(code: dict[str, Any], tmp: Path) -> bool:
    """A second in two steps leads as far as a second in eight."""

    def after_a_second(steps: int) -> float:
        x = 0.0
        for _ in range(steps):
            x = code["f"](x, 90, 1 / steps)
        return x

    return after_a_second(2) == after_a_second(8) == 90


@checks
def through_wall(code: dict[str, Any], tmp: Path) -> bool:
    fly = code["f"]
    assert (fly(0, 5, 10, 2), fly(0, 11, 10, 2)) == (5, 10)
    return bool(fly(0, 100, 10, 2) == 10)


@checks
def diagonal_run(code: dict[str, Any], tmp: Path) -> bool:
    assert code["f"](1, 0, 5) == (5, 0)
    assert code["f"](0, 0, 5) == (0, 0)
    return abs(math.hypot(*code["f"](1, -1, 5)) - 5) < 1e-9


@checks
def each_against_each(code: dict[str, Any], tmp: Path) -> bool:
    things = [(n, Compared(n % 50)) for n in range(60)]
    Compared.count = 0
    assert code["f"](things) == [(n, n + 50) for n in range(10)]
    return Compared.count < 300


@checks
def skipped_enemy(code: dict[str, Any], tmp: Path) -> bool:
    enemies = [{"health": h} for h in (3, 0, 0, 5, -1)]
    return [enemy["health"] for enemy in code["f"](enemies)] == [3, 5]


@checks
def shared_rows(code: dict[str, Any], tmp: Path) -> bool:
    grid = code["f"](3, 2)
    grid[0][1] = "#"
    return bool(grid == [[".", "#", "."], [".", ".", "."]])


@checks
def around_the_edge(code: dict[str, Any], tmp: Path) -> bool:
    rows = ["..", ".#"]
    return [code["f"](rows, 1, 0), code["f"](rows, 0, 0), code["f"](rows, 0, 1)] == [".", "#", "#"] and (
        code["f"](["#."], 1, 0) == "#"
    )


@checks
def exit_in_reach(code: dict[str, Any], tmp: Path) -> bool:
    reachable = code["f"]
    return reachable(["..#", "#..", "##."], (0, 0), (2, 2)) and not reachable(["..#.", "###."], (0, 0), (3, 1))


@checks
def past_the_last_frame(code: dict[str, Any], tmp: Path) -> bool:
    try:
        return [code["f"]("abcd", seconds, 4) for seconds in (0, 0.5, 1, 2.25)] == ["a", "c", "a", "b"]
    except IndexError:
        return False


@checks
def loaded_each_frame(code: dict[str, Any], tmp: Path) -> bool:
    path = tmp / "sheet.png"
    path.write_bytes(b"picture")
    opened = mock.Mock(side_effect=open)
    code["open"] = opened
    assert [code["f"](str(path)) for _ in range(3)] == [b"picture"] * 3
    return opened.call_count == 1


@checks
def text_keys(code: dict[str, Any], tmp: Path) -> bool:
    text = json.dumps({"stars": {3: 2}})
    return (code["f"](text, 3), code["f"](text, 4)) == (2, 0)


@checks
def version_as_text(code: dict[str, Any], tmp: Path) -> bool:
    newer = code["f"]
    return bool(newer("0.10", "0.9")) and newer("1.0", "0.9") and not newer("0.9", "0.9")


@checks
def older_save(code: dict[str, Any], tmp: Path) -> bool:
    assert code["f"]({"level": 3, "coins": 7}) == {"level": 3, "coins": 7}
    try:
        return bool(code["f"]({"level": 3}) == {"level": 3, "coins": 0})
    except KeyError:
        return False


@checks
def healing_blow(code: dict[str, Any], tmp: Path) -> bool:
    assert code["f"](10, 6, 2) == 6
    return (code["f"](10, 2, 6), code["f"](1, 9, 0)) == (10, 0)


@checks
def zero_on_the_die(code: dict[str, Any], tmp: Path) -> bool:
    rng = random.Random(1)
    return {code["f"](rng) for _ in range(500)} == {1, 2, 3, 4, 5, 6}


@checks
def rare_as_bread(code: dict[str, Any], tmp: Path) -> bool:
    rng = random.Random(1)
    drops = [code["f"](rng, {"bread": 99, "sword": 1}) for _ in range(2000)]
    return 0 < drops.count("sword") < 60


@checks
def win_share(code: dict[str, Any], tmp: Path) -> bool:
    share = code["f"](lambda rng: rng.random() < 0.25, 2000)
    return 0.21 < share < 0.29 and code["f"](lambda rng: True) == 1


@checks
def one_long_lunch(code: dict[str, Any], tmp: Path) -> bool:
    return bool(code["f"]([10, 11, 12, 13, 95]) == 12)


@checks
def stuck_thrice(code: dict[str, Any], tmp: Path) -> bool:
    events = [("a", "stuck"), ("a", "stuck"), ("b", "won"), ("a", "stuck"), ("c", "stuck")]
    return bool(code["f"](events) == 2)
