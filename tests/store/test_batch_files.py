from __future__ import annotations

from pathlib import Path

from longbeam.schemas import BatchEntry
from longbeam.store import BatchFiles

SENT = BatchEntry(token="t1", model="openai:m", request_ids=("a", "b"))


def test_the_last_entry_of_a_batch_counts_over_all_processes(tmp_path: Path) -> None:
    first, second = BatchFiles(tmp_path / "batches"), BatchFiles(tmp_path / "batches")
    assert first.entries() == ()
    first.record(SENT)
    named = SENT.model_copy(update={"batch_id": "batch-1"})
    first.record(named)
    other = BatchEntry(token="t2", model="openai:m", request_ids=("c",))
    second.record(other)
    assert set(first.entries()) == set(second.entries()) == {named, other}


def test_a_line_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    files = BatchFiles(tmp_path)
    files.record(SENT)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes() + b'{"token": "t2", "mod')
    assert files.entries() == (SENT,)
