from __future__ import annotations

from pathlib import Path

from longbeam.schemas import ChatMessage, JournalEntry, ModelReply
from longbeam.store import (
    CopiedJournal,
    ReplyFiles,
    SharedLease,
    WorkLog,
    has_replies,
    merge_replies,
    remove_replies,
    take_back,
)
from tests.store import journal_entries
from tests.store.journal_entries import request_of

ASKED = {**journal_entries.ASKED, "max_tokens": None}
SAID = [ChatMessage(role="system", content="be kind"), ChatMessage(role="user", content="hello\nthere “é”")]


def reply(text: str) -> ModelReply:
    return ModelReply(text=text, model="m", prompt_tokens=10, output_tokens=2)


def write(lease: SharedLease, *texts: str) -> ReplyFiles:
    """Reply files with one reply for each text, keyed by it; still open."""
    files = ReplyFiles(lease)
    for text in texts:
        files.append(JournalEntry(key=text, request=SAID, reply=reply(text), **ASKED))
    return files


def test_a_work_log_gets_what_it_lacks_once(tmp_path: Path) -> None:
    lease = SharedLease.take(tmp_path / "lease")
    write(lease, "a", "b").close()
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        log.journal.record(JournalEntry(key="a", request=SAID, reply=reply("a"), **ASKED))
        merge_replies(lease.folder, log)
        merge_replies(lease.folder, log)
        assert list(log.journal.reply_keys()) == ["a", "b"]
        assert (log.journal.reply_of("b"), request_of(log, "b")) == (reply("b"), tuple(SAID))
        assert sum(row.calls for row in log.journal.usage()) == 2


def test_both_journals_hold_a_reply_before_it_is_used(tmp_path: Path) -> None:
    lease = SharedLease.take(tmp_path / "lease")
    with WorkLog.open(tmp_path / "scratch.sqlite") as log:
        journal = CopiedJournal(log.journal, ReplyFiles(lease))
        journal.record(JournalEntry(key="a", request=SAID, reply=reply("a"), **ASKED))
        assert journal.reply_of("a") == reply("a")
    with WorkLog.open(tmp_path / "heir.sqlite") as heir:
        merge_replies(lease.folder, heir)  # nothing was closed: as after SIGKILL
        assert heir.journal.reply_of("a") == reply("a")


def test_a_line_that_was_cut_off_is_left_out_and_what_stands_before_it_kept(tmp_path: Path) -> None:
    lease = SharedLease.take(tmp_path / "lease")
    write(lease, "a", "b").close()
    (path,) = lease.folder.glob("*.replies")
    whole = path.read_bytes()
    for cut in (1, 20, 200):
        path.write_bytes(whole[:-cut])
        with WorkLog.open(tmp_path / f"{cut}.sqlite") as log:
            merge_replies(lease.folder, log)
            assert list(log.journal.reply_keys()) == ["a"]


def test_a_copy_in_place_says_which_files_it_holds(tmp_path: Path) -> None:
    lease = SharedLease.take(tmp_path / "lease")
    files = write(lease, "a")
    with WorkLog.open(tmp_path / "scratch.sqlite") as log:
        merge_replies(lease.folder, log)
        held = files.rotate()
        files.append(JournalEntry(key="b", request=SAID, reply=reply("b"), **ASKED))
        log.copy_to(tmp_path / "copy.sqlite")
    with WorkLog.open(tmp_path / "copy.sqlite") as copy:
        remove_replies(lease.folder, held)
        assert [p.name for p in lease.folder.glob("*.replies")] == ["000001-0001.replies"]
        merge_replies(lease.folder, copy)
        assert list(copy.journal.reply_keys()) == ["a", "b"]


def test_what_workers_left_is_taken_back(tmp_path: Path) -> None:
    lease = SharedLease.take(tmp_path / "lease")
    write(lease, "a").close()
    lease.release()
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        take_back(lease.folder, log)
        assert list(log.journal.reply_keys()) == ["a"]
    assert not has_replies(lease.folder)
