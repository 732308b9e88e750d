"""Killed writers, two writers, readers beside a writer, damaged files, a full disk."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from longbeam.errors import StoreError
from longbeam.schemas import ChatMessage, JournalEntry, ModelReply, UserTurn
from longbeam.store import WorkLog
from tests.store.journal_entries import ASKED, request_of

REPOSITORY = Path(__file__).resolve().parents[2]

# Each line is printed after the call that it names has returned; `kill` strikes wherever it happens to be.
WRITER = """
import os, signal, sys, threading
from pathlib import Path
from longbeam.schemas.calls import ChatMessage, ModelReply
from longbeam.schemas.dialogue import UserTurn
from longbeam.schemas.journal import JournalEntry
from longbeam.store.worklog import WorkLog
log = WorkLog.open(Path(sys.argv[1]))
print("open", flush=True)
enough = threading.Event()
threading.Thread(target=lambda: (enough.wait(), os.kill(os.getpid(), signal.SIGKILL)), daemon=True).start()
for i in range(1_000_000):
    log.journal.record(JournalEntry(key=f"k{i}", unit_key=f"c000/dialogue/p0.s0/t{i}", stage="dialogue",
        role="assistant", prompt_id="p", prompt_version=1, model="offline", generation=0,
        request=[ChatMessage(role="system", content="be kind"), ChatMessage(role="user", content=f"question {i}")],
        reply=ModelReply(text=f"answer {i}" * 50)))
    print(f"k{i}", flush=True)
    turns = [UserTurn(turn_id=f"p0.s{i}.t{j}", text="Why?" * 100, bullet_ids=()) for j in range(20)]
    log.units.finish("user_turns", f"p0.s{i}", fingerprint="f", records=turns)
    print(f"p0.s{i}", flush=True)
    if i == int(sys.argv[2]):
        enough.set()
"""


def writer(path: Path, stops_after: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(stops_after)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)


@contextmanager
def running_writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A writer that has opened the file and waits for somebody to read what it prints, or to kill it."""
    child = writer(path, -1)
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def record(log: WorkLog, key: str, content: str = "hello") -> None:
    request = [ChatMessage(role="user", content=content)]
    log.journal.record(JournalEntry(key=key, request=request, reply=ModelReply(text=f"answer to {content}"), **ASKED))


@pytest.mark.parametrize("stops_after", [0, 7, 60])
def test_what_was_recorded_before_a_kill_is_there_after_it(tmp_path: Path, stops_after: int) -> None:
    path = tmp_path / "c000.sqlite"
    child = writer(path, stops_after)
    printed, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    lines = printed.splitlines()[1:]

    with WorkLog.open(path) as log:
        assert {line for line in lines if line.startswith("k")} <= set(log.journal.reply_keys())
        for line in lines:
            if line.startswith("p"):
                assert [t.turn_id for t in log.units.records("user_turns", UserTurn, [line])] == [
                    f"{line}.t{j}" for j in range(20)
                ]
        # A unit that nobody heard of is there whole or not at all.
        assert len(list(log.units.records("user_turns", UserTurn))) == 20 * log.units.counts()["user_turns"]["done"]
        assert log.verify() == []


def test_a_killed_run_can_be_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    child = writer(path, 5)
    child.communicate(timeout=60)

    with WorkLog.open_read_only(path) as log:
        assert log.journal.reply_of("k5") is not None
        assert log.units.counts()["user_turns"]["done"] >= 6


def test_a_second_process_may_not_write(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    with running_writer(path) as child:
        with pytest.raises(StoreError) as refused:
            WorkLog.open(path)

        assert str(refused.value).startswith(f"{path}: process {child.pid} is writing it; wait until")
    WorkLog.open(path).close()  # SIGKILL has ended the lease


def test_a_second_opener_in_the_same_process_may_not_write(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite"), pytest.raises(StoreError, match=f"process {os.getpid()} is writing"):
        WorkLog.open(tmp_path / "c000.sqlite")
    WorkLog.open(tmp_path / "c000.sqlite").close()


def test_a_file_that_cannot_be_opened_leaves_no_lease(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError):
        WorkLog.open(path)

    path.unlink()
    WorkLog.open(path).close()


def test_closing_twice_does_not_give_away_the_lease_of_the_next(tmp_path: Path) -> None:
    first = WorkLog.open(tmp_path / "c000.sqlite")
    first.close()
    with WorkLog.open(tmp_path / "c000.sqlite"):
        first.close()

        with pytest.raises(StoreError, match="is writing it"):
            WorkLog.open(tmp_path / "c000.sqlite")


def test_a_reader_sees_what_another_process_has_recorded(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    with running_writer(path) as child, WorkLog.open_read_only(path) as reader:
        assert child.stdout is not None
        heard = [child.stdout.readline().strip() for _ in range(200)]

        assert {key for key in heard if key.startswith("k")} <= set(reader.journal.reply_keys())
        assert reader.journal.usage()[0].calls >= 100


def test_a_reader_keeps_no_writer_waiting(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    with WorkLog.open(path) as log, WorkLog.open_read_only(path) as reader:
        record(log, "k0")
        keys = reader.journal.reply_keys()
        assert next(keys) == "k0"

        record(log, "k1")

        assert list(reader.journal.reply_keys()) == ["k0", "k1"]


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    WorkLog.open(tmp_path / "c000.sqlite").close()
    with (
        WorkLog.open_read_only(tmp_path / "c000.sqlite") as reader,
        pytest.raises(StoreError, match="opened for reading"),
    ):
        reader.meta_set("a", 1)


def make_garbage(path: Path) -> None:
    path.write_bytes(b"garbage " * 1000)


def make_foreign(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t (x)")
    db.close()


def make_newer(path: Path) -> None:
    WorkLog.open(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


def make_sealed(path: Path) -> None:
    duckdb.connect(str(path)).close()


def make_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_garbage, "is not a SQLite file, or its first page is damaged"),
        (make_foreign, "is a SQLite file, but no longbeam work log"),
        (make_newer, "work log of version 99, this longbeam knows up to 5; upgrade longbeam"),
        (make_sealed, "is not a SQLite file"),
        (make_folder, "(cannot be opened|there is no work log here)"),
    ],
)
def test_a_file_that_is_no_work_log_is_refused_in_one_line(
    tmp_path: Path, make: object, reason: str, read_only: bool
) -> None:
    path = tmp_path / "c000.sqlite"
    assert callable(make)
    make(path)

    with pytest.raises(StoreError, match=reason) as refused:
        (WorkLog.open_read_only if read_only else WorkLog.open)(path)

    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


def test_a_missing_or_empty_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no work log here"):
        WorkLog.open_read_only(tmp_path / "c000.sqlite")
    (tmp_path / "c001.sqlite").touch()
    with pytest.raises(StoreError, match="this work log is empty"):
        WorkLog.open_read_only(tmp_path / "c001.sqlite")


def test_a_file_cut_short_is_damaged_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    with WorkLog.open(path) as log:
        for i in range(200):
            record(log, f"k{i}", "x" * 2000 + str(i))
    os.truncate(path, path.stat().st_size // 2)

    with pytest.raises(StoreError, match="is damaged") as refused:
        WorkLog.open_read_only(path)

    assert "\n" not in str(refused.value)


def test_a_scratched_page_is_damaged_in_one_line_and_verify_names_it(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    with WorkLog.open(path) as log:
        for i in range(200):
            record(log, f"k{i}", "x" * 2000 + str(i))
        (root,) = log._db._db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'replies'").fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)

    with WorkLog.open_read_only(path) as log:
        with pytest.raises(StoreError, match=r"c000\.sqlite: is damaged \(database disk image is malformed\)"):
            log.journal.reply_of("k7")
        assert log.verify() != []


def test_a_full_disk_loses_nothing_and_recording_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k0")
        pages = log._db._db.execute("PRAGMA page_count").fetchone()[0]
        log._db._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="the disk is full; free some space and run the command again"):
            record(log, "k1", "x" * 100_000)
        assert list(log.journal.reply_keys()) == ["k0"]
        log._db._db.execute("PRAGMA max_page_count = 1000000")

        record(log, "k1", "x" * 100_000)

        assert request_of(log, "k1")[0].content == "x" * 100_000
        assert log.verify() == []


# Within one process a limit on file size is a full disk for SQLite as well.
FILLING = """
import resource, sys
from pathlib import Path
from longbeam.errors import StoreError
from longbeam.store.worklog import WorkLog
log = WorkLog.open(Path(sys.argv[1]))
log.meta_set("before", 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    for i in range(1000):
        log.meta_set(f"m{i}", "x" * 5000)
        print(f"m{i}", flush=True)
except StoreError as exc:
    print(exc)
"""


def test_a_disk_that_fills_up_keeps_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    command = [sys.executable, "-c", FILLING, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=True)

    *kept, refused = ran.stdout.splitlines()
    assert refused.startswith(f"{path}: ")
    with WorkLog.open(path) as log:
        assert kept
        assert all(log.meta_get(name) == "x" * 5000 for name in ["m0", *kept])
        assert log.verify() == []
