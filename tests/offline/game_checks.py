"""What every Python snippet of games does, before and after: one check per snippet id, True when the code is right.

A check gets the names that the code defines, `f`: its function of that snippet, and runs it with fixed inputs.
For a snippet of kind `bug` it must fail on `code`; for `slow`, whose result is right, the work done decides.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any
from unittest import mock

from tests.offline.snippet_tools import Check, Compared, entering

CHECKS: dict[str, Check] = {}
"""Snippet id -> whether the code has not the fault described."""
checks = entering(CHECKS)


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
