"""Loops planted into replies are found, and what only looks alike is left alone."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
from pathlib import Path

import pytest

from longbeam.models import CALLING, before_loop, find_loop, loops

HERE = Path(__file__)
RECORDED = HERE.parents[1] / "recorded" / "frontier16.sqlite.gz"
PROSE = (
    "The hall costs 85 zloty for an evening, and Chloe has asked whether the kitchen is part of it. I wrote to the "
    "office on Monday; they answer slowly. If it is not, we cook at home and carry the pots over in two cars. "
)
SENTENCES = [
    "She wants to keep the list of guests short this year.",
    "The hall is booked for the whole evening in October.",
    "There is no answer from the office about the kitchen yet.",
    "He offers to bring the long table from the garden shed.",
]


def item(i: int) -> str:
    return json.dumps({"bullet_id": f"p0.s0.b{i}", "text": f"The user plans the dinner of October {i % 30 + 1}."})


def in_turns(seed: int) -> str:
    draw = random.Random(seed)
    return " ".join(draw.choice(SENTENCES) for _ in range(400))


@pytest.mark.parametrize(
    "looping",
    [
        PROSE + "I will ask her again. " * 300,
        PROSE + "yes " * 2_000,
        PROSE * 40,
        '{"bullets": [' + ", ".join(item(7) for _ in range(200)),
        '{"bullets": [' + ", ".join(item(i) for i in range(200)),
        '{"reason": "short", "bullets": [' + "\n" * 6_000,
        PROSE + "0" * 6_000,
        PROSE * 4 + '", "gold_answer": "It was 1216' + "2" * 1_300,  # SmolLM2, in a field that its form bounds
        in_turns(1),
        in_turns(2),
        "- Call the office\n- Ask about the kitchen\n- Pay the deposit\n" * 120,
    ],
)
def test_a_planted_loop_is_found(looping: str) -> None:
    assert find_loop(looping) is not None


TABLE = "| day | dish | guests | cost |\n| --- | --- | --- | --- |\n" + "".join(
    f"| {d} | {dish} | {4 + d % 5} | {17 * d % 90} zloty |\n"
    for d, dish in enumerate(("appam", "dosa", "idli", "paneer", "kadala curry", "phulka") * 12)
)
DIARY = "".join(f"Day {d}: 30 minutes on the bicycle, then stretching.\n" for d in range(1, 15))
CODE = "".join(
    f"    def test_case_{name}(self):\n        self.assertEqual(parse('{name}'), {len(name)})\n\n"
    for name in (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "my",
        "ny",
        "rho",
    )
)
MATRIX = "\n".join(" ".join(str((i * j) % 7) for j in range(40)) for i in range(60))
RULER = f"{PROSE}\n{'-' * 1_500}\n{'=' * 1_500}"


@pytest.mark.parametrize("fair", [PROSE, TABLE, DIARY * 2, CODE, MATRIX, RULER, PROSE + " " * 1_500])
def test_what_repeats_with_a_reason_is_no_loop(fair: str) -> None:
    assert find_loop(fair) is None


def test_no_recorded_reply_and_no_page_of_this_repository_has_a_loop(tmp_path: Path) -> None:
    """Every prefix that a stream would be looked at with: replies of a very good model, code, tables and prose."""
    file = tmp_path / "recorded.sqlite"
    file.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    with sqlite3.connect(file) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        texts = [str(v) for t in tables for row in db.execute(f"SELECT * FROM {t}") for v in row if isinstance(v, str)]
    db.close()
    root = HERE.parents[2]
    texts += [path.read_text() for path in [*root.glob("docs/**/*.md"), *root.glob("longbeam/models/*.py")]]
    found = [
        (text[:60], length)
        for text in texts
        for length in range(CALLING.loop_first_look, min(len(text), 30_000), CALLING.loop_step)
        if find_loop(text[:length]) is not None
    ]
    assert len(texts) > 300
    assert found == []


def test_a_look_costs_little_while_a_reply_grows() -> None:
    watch = loops.LoopWatch()
    assert [n for n in range(0, 6_000, 100) if watch.is_due(n)] == [2_000, 3_000, 4_000, 5_000]


DAYS = " ".join(f"On May {i} the user plans the whole dinner again." for i in range(40))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (PROSE + "We keep the pots. " * 90, PROSE.strip() + " We keep the pots."),
        (PROSE + "He wants to be " + "the best at being " * 90, PROSE.strip()),
        (PROSE + DAYS, PROSE.strip() + " On May 0 the user plans the whole dinner again."),
        ("and so on " * 200, ""),
        (PROSE + "Like this:\n\n```python\nprint('no')\n" + "x = 1\n" * 200, PROSE.strip()),
        (PROSE + "It costs 3. " * 200, PROSE.strip()),
        (PROSE, PROSE.strip()),
    ],
)
def test_what_stands_before_a_loop_are_whole_sentences(text: str, kept: str) -> None:
    assert before_loop(text) == kept
