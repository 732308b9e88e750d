"""What the Python snippets of data pipelines and classifiers do, before and after: one check per snippet id.

A check is True when the code is right. It gets the names that the code defines, `f`: its function of that snippet,
and runs it with fixed inputs. For a snippet of kind `bug` it must fail on `code`; for `slow`, whose result is right,
the work done decides.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from tests.offline.snippet_tools import Check, Compared, Counting, entering, entries

CHECKS: dict[str, Check] = {}
"""Snippet id -> whether the code has not the fault described."""
checks = entering(CHECKS)


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
    connection = Counting(entries(0))
    code["f"](connection, [("mon", n) for n in range(20)])
    (stored,) = connection.inner.execute("SELECT COUNT(*) FROM entries").fetchone()
    assert stored == 20
    return connection.committed == 1


@checks
def loaded_twice(code: dict[str, Any], tmp: Path) -> bool:
    connection = entries(0)
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
