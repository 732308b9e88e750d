"""Replies of one turn of an event loop are committed together."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longbeam.errors import StoreError
from longbeam.schemas import ModelReply
from longbeam.store import ROOM_BYTES, WorkLog
from tests.store.test_journal import record, reply


class Turns:
    """An event loop's `call_soon`, whose turns a test ends."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []

    def __call__(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def end(self) -> None:
        due, self.soon = self.soon, []
        for callback in due:
            callback()


def committed(path: Path) -> list[str]:
    with WorkLog.open_read_only(path) as log:
        return list(log.journal.reply_keys())


def test_others_see_the_replies_of_a_turn_when_it_ends(tmp_path: Path) -> None:
    path, turns = tmp_path / "c000.sqlite", Turns()
    with WorkLog.open(path) as log:
        log.commit_in_groups(turns)
        record(log, "k1", reply("Hi."))
        record(log, "k2", reply("Well?"))

        assert log.journal.reply_of("k1") == reply("Hi.")
        assert committed(path) == []
        assert len(turns.soon) == 1
        turns.end()
        assert committed(path) == ["k1", "k2"]

        record(log, "k3", reply("And?"))
        turns.end()
        assert committed(path) == ["k1", "k2", "k3"]


def test_a_group_is_committed_when_it_is_full(tmp_path: Path) -> None:
    path, turns = tmp_path / "c000.sqlite", Turns()
    with WorkLog.open(path) as log:
        log.commit_in_groups(turns)
        for i in range(70):
            record(log, f"k{i}", reply("Hi."))

        assert len(committed(path)) == 64


def test_a_unit_is_never_done_before_the_replies_that_it_is_made_of(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    with WorkLog.open(path) as log:
        log.commit_in_groups(Turns())
        record(log, "k1", reply("Hi."))
        log.units.finish("dialogue", "p0.s0", fingerprint="f", records=[])

        assert committed(path) == ["k1"]


def test_closing_and_copying_commit_what_is_there(tmp_path: Path) -> None:
    path, copy = tmp_path / "c000.sqlite", tmp_path / "copy.sqlite"
    with WorkLog.open(path) as log:
        log.commit_in_groups(Turns())
        record(log, "k1", reply("Hi."))
        log.copy_to(copy)
        record(log, "k2", reply("Well?"))

    assert committed(copy) == ["k1"]
    assert committed(path) == ["k1", "k2"]


def test_a_reply_that_cannot_be_recorded_takes_no_other_with_it(tmp_path: Path) -> None:
    path, turns = tmp_path / "c000.sqlite", Turns()
    with WorkLog.open(path) as log:
        log.commit_in_groups(turns)
        record(log, "k1", reply("Hi."))
        with pytest.raises(sqlite3.IntegrityError):
            record(log, "k2", ModelReply.model_construct(**{**dict(reply("Well?")), "prompt_tokens": None}))
        turns.end()

    assert committed(path) == ["k1"]


def test_a_group_that_cannot_be_committed_is_said_to_whoever_writes_next(tmp_path: Path) -> None:
    path, turns = tmp_path / "c000.sqlite", Turns()
    with WorkLog.open(path) as log:
        log.commit_in_groups(turns)
        record(log, "k1", reply("Hi."))
        turns.end()
        record(log, "k2", reply("Well?"))
        with full_disk():
            turns.end()
        with pytest.raises(StoreError, match=r"c000\.sqlite"):
            record(log, "k3", reply("And?"))
        assert log.journal.reply_of("k2") is None

        record(log, "k4", reply("Well?"))
        turns.end()
        assert committed(path) == ["k1", "k4"]
        assert log.verify() == []


def test_closing_closes_also_where_the_last_group_cannot_be_committed(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    log = WorkLog.open(path)
    log.commit_in_groups(Turns())
    record(log, "k1", reply("Hi."))
    with full_disk(), pytest.raises(StoreError, match=r"c000\.sqlite"):
        log.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        log.journal.reply_of("k1")

    with WorkLog.open(path) as again:
        assert list(again.journal.reply_keys()) == []


@contextmanager
def full_disk() -> Iterator[None]:
    """No file grows within the block; Python ignores the signal that would end the process."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_there_is_no_room_after_a_failed_commit(tmp_path: Path) -> None:
    turns = Turns()
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        log.commit_in_groups(turns)
        log.journal.require_room()
        record(log, "k1", reply("Hi."))
        with full_disk():
            turns.end()

        with pytest.raises(StoreError, match=r"c000\.sqlite"):
            log.journal.require_room()
        with pytest.raises(StoreError, match=r"c000\.sqlite"):
            record(log, "k2", reply("Hi."))


def test_there_is_no_room_on_a_disk_that_is_almost_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        found = list(os.statvfs(tmp_path))
        found[4] = ROOM_BYTES // found[1] - 1  # f_bavail, in blocks of f_frsize
        monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(found))

        with pytest.raises(StoreError, match="the disk is almost full: fewer than 16 MB are free"):
            log.journal.require_room()
        record(log, "k1", reply("Hi."))  # what is on its way is kept


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_file_that_was_removed_is_noticed(tmp_path: Path, is_replaced: bool) -> None:
    path = tmp_path / "c000.sqlite"
    with WorkLog.open(path) as log:
        path.unlink()
        if is_replaced:
            path.write_bytes(b"another one")

        with pytest.raises(StoreError, match="was removed or replaced while a run was writing it"):
            log.journal.require_room()
        with pytest.raises(StoreError, match="was removed or replaced"):
            log.require_file()
