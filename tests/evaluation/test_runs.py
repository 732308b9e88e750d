"""Runs are kept, found again and compared."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

import pytest

from longbeam.errors import UserError
from longbeam.evaluation import (
    compare_runs,
    conversations_needed,
    keep_run,
    kept_runs,
    last_results,
    read_run,
    read_runs,
    render_html,
    render_markdown,
    render_pairs,
    render_runs,
    sections_of,
    write_results,
)
from longbeam.schemas import KeptRun
from tests.evaluation.evaluated import Scores, evaluated

NOON = dt.datetime(2026, 11, 28, 12, tzinfo=dt.UTC)
BEFORE = {"rag": [[1, 0], [0, 0], [1, 1]], "bm25": [[1, 0]] * 3}
NOW = {"rag": [[1, 1], [1, 0], [1, 0]], "bm25": [[1, 0]] * 3}


def keep(folder: Path, scores: Scores, name: str = "", *, hour: int = 0, reader: str = "a reader") -> KeptRun:
    made = evaluated(scores)
    made = type(made)(made.run.model_copy(update={"reader": reader}), made.results, made.timings)
    return keep_run(folder, made, name=name, title=name and f"About {name}", now=NOON + dt.timedelta(hours=hour))


def test_nothing_is_replaced_and_the_same_is_the_same_run(tmp_path: Path) -> None:
    first = keep(tmp_path, BEFORE, "old")
    assert keep(tmp_path, BEFORE, hour=1) == first
    healed = keep(tmp_path, NOW, hour=2)
    assert healed.run_id == f"{first.run_id}-2"  # the same was asked, and answered otherwise
    other = keep(tmp_path, BEFORE, hour=3, reader="another")
    assert [run.run_id for run in kept_runs(tmp_path)] == [first.run_id, healed.run_id, other.run_id]
    assert last_results(tmp_path).parent.name == other.run_id
    keep(tmp_path, BEFORE)
    assert last_results(tmp_path).parent.name == first.run_id
    lines = render_runs("mine", kept_runs(tmp_path)).splitlines()
    assert lines[0] == "mine: 3 runs"
    assert "2026-11-28 12:00" in lines[2]
    assert lines[2].endswith("old; rag; a reader")


def test_a_run_is_found_by_id_beginning_name_and_last(tmp_path: Path) -> None:
    old, new = keep(tmp_path, BEFORE, "old"), keep(tmp_path, NOW, "new", hour=1, reader="another")
    for named, run in ((old.run_id, old), (new.run_id[:4], new), ("old", old), ("last", new)):
        assert read_run(tmp_path, named).kept == run
    with pytest.raises(UserError, match=rf"run 'none': there is no such run; runs are {old.run_id} \(old\), "):
        read_run(tmp_path, "none")


def test_an_older_results_file_is_still_read(tmp_path: Path) -> None:
    made = evaluated(BEFORE)
    write_results(tmp_path / "results.jsonl", made.run, made.results)
    assert last_results(tmp_path) == tmp_path / "results.jsonl"
    assert last_results(tmp_path, "swapped") == tmp_path / "swapped" / "results.jsonl"


def test_two_runs_are_compared_probe_by_probe(tmp_path: Path) -> None:
    keep(tmp_path, BEFORE, "old")
    keep(tmp_path, NOW, "new")
    before, now = read_run(tmp_path, "old"), read_run(tmp_path, "new")
    (pair,) = compare_runs(before, now)  # the floor is in both, and is no system
    assert (pair.won, pair.lost, pair.tied) == (2, 1, 3)
    assert pair.comparison.difference == pytest.approx((0.5 + 0.5 - 0.5) / 3)
    assert pair.comparison.p_value == pytest.approx(1.0)  # of three equal steps 6 of 8 patterns reach 1, the rest 3
    assert pair.changed == (
        ("c000", "summarization.1", 0, 1), ("c001", "summarization.0", 0, 1), ("c002", "summarization.1", 1, 0)
    )  # fmt: skip
    assert pair.by_ability == {"summarization": pytest.approx((0.5 + 0.5 - 0.5) / 3)}
    text = render_pairs([pair], before, now)
    assert "    by ability: summarization +0.17\n" in text
    assert text.startswith("mine, run new minus mine, run old")
    assert "won 2, lost 1, tied 3" in text
    assert "won: from a score below 0.5 to one of 0.5 or more" in text
    assert "    lost c002/summarization.1: 1.00 to 0.00" in text
    assert "3 conversations: intervals are too narrow" in text
    assert len(compare_runs(before, now, ["rag", "bm25"])) == 2
    with pytest.raises(UserError, match="no system is in both runs"):
        compare_runs(before, now, ["light"])


def test_a_comparison_counts_probes_that_change_sides_and_names_systems_without_a_partner() -> None:
    before = evaluated({"rag": [[0.5, 0]] * 2, "light": [[1, 1]] * 2})
    now = evaluated({"rag": [[1, 0.25]] * 2, "cmv": [[1, 1]] * 2, "bm25": [[0, 0]] * 2})
    (pair,) = compare_runs(before, now)
    assert pair.by_ability == {"summarization": 0.375}  # of .5 and .25
    assert (pair.won, pair.lost, pair.tied) == (0, 0, 4)  # better, and on the same side
    assert "Not paired: light (only in mine), cmv (only in mine)." in render_pairs([pair], before, now)


def test_a_report_has_title_date_and_what_ran(tmp_path: Path) -> None:
    keep(tmp_path, BEFORE, "old")
    keep(tmp_path, NOW, "new")
    sections = sections_of([read_run(tmp_path, "old"), read_run(tmp_path, "new")])
    for text in (render_html(sections), render_markdown(sections)):
        assert "About old; About new" in text
        assert "made 2026-11-28 12:00 UTC" in text
        assert "mine, run old" in text
        assert "mine, run new" in text


def test_the_number_of_conversations_comes_from_the_spread_of_differences() -> None:
    # Differences by conversation .5, 0, .5, 0: their standard deviation is .2887; (2.802 * .2887 / .1)^2 = 65.4.
    one = evaluated({"a": [[1, 1], [1, 0], [1, 1], [1, 0]], "b": [[1, 0]] * 4})
    needed, spread = conversations_needed(one, "a", "b", 0.1)
    assert (needed, round(spread, 4)) == (66, 0.2887)
    with pytest.raises(UserError, match="power: 'a' and 'c' have scores in 0 conversations"):
        conversations_needed(one, "a", "c", 0.1)


DAMAGED = {
    "null": "null",
    "nothing": "",
    "empty": "{}",
    "deep": "[" * 5_000,
    "bytes": b"\xff\xfe",
    "text cost": {"cost_usd": "x"},
    "nan": {"cost_usd": float("nan")},
    "negative": {"conversations": -1},
    "late": {"made_at": "9999-12-31T23:59:59-12:00"},
    "no zone": {"made_at": "2026-01-01T00:00:00"},
    "half": '{"name": "\\ud800"}',
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_of_a_run_is_one_line_and_the_other_runs_are_listed(tmp_path: Path, damage: str) -> None:
    old, new = keep(tmp_path, BEFORE, "old"), keep(tmp_path, NOW, "new", hour=1)
    file, given = tmp_path / "runs" / old.run_id / "run.json", DAMAGED[damage]
    if isinstance(given, dict):
        given = json.dumps({**json.loads(file.read_text(encoding="utf-8")), **given})
    file.write_bytes(given if isinstance(given, bytes) else given.encode())
    assert kept_runs(tmp_path) == [new]
    (line,) = read_runs(tmp_path)[1]
    assert line.startswith(f"{file}: ")
    with pytest.raises(UserError, match=re.escape(str(file))):
        read_run(tmp_path, old.run_id)
    assert keep(tmp_path, BEFORE, "again", hour=2).name == "again"  # the same evaluation writes it anew
    assert read_runs(tmp_path)[1] == []


def test_a_run_is_the_one_of_its_folder_and_names_steer_no_terminal(tmp_path: Path) -> None:
    old = keep(tmp_path, BEFORE, "a\x1b[31m\nb\u202e")
    file = tmp_path / "runs" / old.run_id / "run.json"
    file.write_text(file.read_text(encoding="utf-8").replace(old.run_id, "../../elsewhere"), encoding="utf-8")
    (tmp_path / "runs" / "last").write_text(f"../../{old.run_id}\n", encoding="utf-8")
    assert [run.run_id for run in kept_runs(tmp_path)] == [old.run_id]
    assert last_results(tmp_path).parent == file.parent
    text = render_runs("mine", kept_runs(tmp_path))
    assert len(text.splitlines()) == 3
    assert not {"\x1b", "\u202e"} & set(text)
