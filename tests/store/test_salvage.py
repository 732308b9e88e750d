"""A salvage keeps what is as it was stored, and sets the damaged file aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.schemas import ModelReply, UserTurn
from longbeam.store import ReviewStore, WorkLog, salvage_reviews, salvage_work_log, stored_events
from tests.review.events import accept
from tests.store.test_checksums import changed, written
from tests.store.test_worklog_crash import record


def test_what_is_damaged_is_dropped_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "c000.sqlite")
    changed(path, "UPDATE texts SET content = 'answes 1' WHERE content = 'answer 1'")
    changed(path, "UPDATE records SET json = replace(json, 'Question 1', 'Questiom 1')")

    done = salvage_work_log(path)

    assert done.kept == "2 replies and 1 units are kept"
    assert done.aside == tmp_path / "c000.sqlite.damaged-1"
    with WorkLog.open(path) as log:
        assert log.verify() == []
        assert list(log.journal.reply_keys()) == ["k0", "k2"]
        assert log.journal.reply_of("k2") == ModelReply(text="answer 2", model="small", output_tokens=3)
        assert log.units.find("user_turns", "p0.s0") is None
        assert list(log.units.records("user_turns", UserTurn)) == []
        assert log.units.generation("plan", "p0") == 1
        assert log.meta_get("gaps") == {"openings": 0, "ended_with": None}
    with WorkLog.open_read_only(done.aside) as log:
        assert len(log.verify()) == 3  # the text, its reply, the unit's records


def test_a_scratched_page_costs_the_rows_on_it(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    with WorkLog.open(path) as log:
        for i in range(200):
            record(log, f"k{i}", "x" * 2000 + str(i))
    data = bytearray(path.read_bytes())
    at = data.index(b"answer to " + b"x" * 2000 + b"150") // 4096 * 4096
    data[at : at + 4096] = bytes(4096)
    path.write_bytes(data)

    salvage_work_log(path)

    with WorkLog.open(path) as log:
        assert log.verify() == []
        assert 190 <= len(list(log.journal.reply_keys())) < 200


def test_a_file_that_is_no_database_gives_an_empty_log(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    path.write_bytes(b"garbage " * 1000)

    assert salvage_work_log(path).kept == "0 replies and 0 units are kept"
    with WorkLog.open(path) as log:
        assert list(log.journal.reply_keys()) == []


def test_a_log_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "c000.sqlite")
    with WorkLog.open(path), pytest.raises(StoreError, match="is writing it"):
        salvage_work_log(path)


def test_a_review_log_cut_anywhere_gives_the_events_before_the_cut(tmp_path: Path) -> None:
    whole = tmp_path / "whole.sqlite"
    with ReviewStore(whole) as store:
        events = store.append([accept() for _ in range(40)])
        store.fold()
    data = whole.read_bytes()
    for size in range(0, len(data), 1_499):
        path = tmp_path / str(size) / "reviews.sqlite"
        path.parent.mkdir()
        path.write_bytes(data[:size])

        salvage_reviews(path)

        kept = stored_events(path)
        assert [e for e in kept if e not in events] == []
    assert len(kept) >= 20  # the last cut takes less than a page
