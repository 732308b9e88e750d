from __future__ import annotations

import datetime as dt
import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import duckdb
import pytest
from hypothesis import example, given, settings

from longbeam.errors import StoreError
from longbeam.schemas import ConversationHead, ConversationReader, Message, MessageKind, MessageRole, Probe
from longbeam.store import (
    SEALED_CONVERSATION,
    Kind,
    Loader,
    SealedConversation,
    duck,
    replaced_file,
    seal_conversation,
    write_benchmark,
)
from tests.store.strategies import heads, messages, probes
from tests.tiny import tiny_conversation

REPOSITORY = Path(__file__).resolve().parents[2]


def by_ability_and_rank(listed: list[Probe]) -> list[Probe]:
    return sorted(listed, key=lambda p: (p.ability, p.rank))


def seal_tiny(path: Path, conversation_id: str = "c000") -> Path:
    tiny = tiny_conversation(conversation_id)
    seal_conversation(path, tiny.head, tiny.messages(), tiny.probes())
    return path


def read_whole(path: Path) -> int:
    """Open and read everything; return the number of messages."""
    with SealedConversation(path) as sealed:
        assert sealed.head.target_tokens >= 0
        assert list(sealed.probes()) is not None
        return len(list(sealed.messages()))


def said(i: int, content: str = "Hello.") -> Message:
    return Message(
        message_key=f"p0.s0.t{i}.n0",
        role=MessageRole.USER,
        speaker="user",
        kind=MessageKind.QUESTION,
        sent_at=dt.datetime(2024, 3, 4) + dt.timedelta(minutes=i),
        content=content,
        tokens=1,
    )


def test_columns_are_explained_in_the_file_itself(tmp_path: Path) -> None:
    with duckdb.connect(seal_tiny(tmp_path / "c000.duckdb"), read_only=True) as db:
        found = db.execute("SELECT table_name, column_name, comment FROM duckdb_columns() WHERE comment IS NOT NULL")
        explained = {(table, column): comment for table, column, comment in found.fetchall()}
    assert explained["conversation", "target_tokens"] == "0: no length was asked for"
    assert len(explained) == sum(len(comments) for _, comments in SEALED_CONVERSATION.explained())


def test_a_sealed_conversation_is_a_reader_of_what_was_sealed(tmp_path: Path) -> None:
    tiny = tiny_conversation()
    with SealedConversation(seal_tiny(tmp_path / "conversations" / "c000.duckdb")) as sealed:
        reader: ConversationReader = sealed

        assert reader.head == tiny.head
        assert list(reader.messages()) == list(tiny.messages())
        assert list(reader.probes()) == by_ability_and_rank(list(tiny.probes()))
    assert sorted(os.listdir(tmp_path / "conversations")) == ["c000.duckdb", "c000.duckdb.sha256"]


def as_sealed(head: ConversationHead) -> ConversationHead:
    """The head without what a turn wanted of its reply, which only the making of the dialogue reads."""
    turns = tuple(turn.model_copy(update={"wants": None, "wants_yes": False}) for turn in head.user_turns)
    return head.model_copy(update={"user_turns": turns})


@given(head=heads(), spoken=messages(), asked=probes())
@example(head=tiny_conversation().head, spoken=[], asked=[])
@settings(max_examples=10)
def test_any_records_come_back_equal(
    tmp_path_factory: pytest.TempPathFactory, head: ConversationHead, spoken: list[Message], asked: list[Probe]
) -> None:
    path = tmp_path_factory.mktemp("sealed") / "c000.duckdb"
    seal_conversation(path, head, spoken, asked)

    with SealedConversation(path) as sealed:
        assert sealed.head == as_sealed(head)
        assert list(sealed.messages()) == spoken
        assert list(sealed.probes()) == by_ability_and_rank(asked)


def test_messages_are_numbered_in_the_order_given_and_streamed(tmp_path: Path) -> None:
    made = 0

    def stream() -> Iterator[Message]:
        nonlocal made
        for i in range(2_500):
            made += 1
            yield said(i).model_copy(update={"message_id": 7})

    seal_conversation(tmp_path / "c.duckdb", tiny_conversation().head, stream(), [])

    with SealedConversation(tmp_path / "c.duckdb") as sealed:
        assert [(m.message_id, m.message_key) for m in sealed.messages()] == [
            (i, f"p0.s0.t{i}.n0") for i in range(2_500)
        ]
    assert made == 2_500


def test_rows_come_back_in_order_where_the_file_is_opened_again_between_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"_LOADED_AT_ONCE": 10_000, "_MOST_HELD": 300, "_MOST_HELD_BETWEEN": 1}
    for name, size in sizes.items():
        monkeypatch.setattr(duck, name, size)
    reopening = mock.Mock(wraps=Loader._reopen)
    monkeypatch.setattr(Loader, "_reopen", lambda loader: reopening(loader))
    tiny = tiny_conversation()
    spoken = [said(i).model_copy(update={"message_id": i}) for i in range(5_000)]

    seal_conversation(tmp_path / "c.duckdb", tiny.head, spoken, tiny.probes())

    with SealedConversation(tmp_path / "c.duckdb") as sealed:
        assert list(sealed.messages()) == spoken
        assert sealed.head == tiny.head
        assert list(sealed.probes()) == by_ability_and_rank(list(tiny.probes()))
    assert reopening.call_count > 10


def test_the_digest_of_what_is_said_takes_no_more_memory_than_the_messages(tmp_path: Path) -> None:
    contents = [f"{i} {'x' * 9_000}" for i in range(4_500)]  # 40 MB, of which DuckDB may hold 8
    seal_conversation(tmp_path / "c.duckdb", tiny_conversation().head, map(said, range(4_500), contents), [])

    each = "".join(hashlib.md5(content.encode()).hexdigest() for content in contents)
    with SealedConversation(tmp_path / "c.duckdb") as sealed:
        assert sealed.said_digest == hashlib.md5(each.encode()).hexdigest()


def test_a_message_larger_than_the_readers_default_is_sealed(tmp_path: Path) -> None:
    long = said(0, "ä\n" * 6_000_000)  # 18 MB, 24 MB as JSON; read_ndjson stops at 16 MB unless told
    seal_conversation(tmp_path / "c.duckdb", tiny_conversation().head, [long], [])

    with SealedConversation(tmp_path / "c.duckdb") as sealed:
        assert next(sealed.messages()).content == long.content


@pytest.mark.parametrize("folder", ["run=3", "it's here", "a[b]c*", "ünï #%"])
def test_any_folder_name_will_do(tmp_path: Path, folder: str) -> None:
    path = seal_tiny(tmp_path / folder / "c000.duckdb")

    with SealedConversation(path) as sealed:
        assert sealed.head == tiny_conversation().head


def test_a_question_mark_in_the_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="DuckDB cannot use a path with a question mark; rename the folder"):
        seal_tiny(tmp_path / "why?" / "c000.duckdb")

    assert os.listdir(tmp_path / "why?") == []


def test_sealing_again_replaces_the_file_and_open_readers_keep_theirs(tmp_path: Path) -> None:
    path = seal_tiny(tmp_path / "c000.duckdb")
    with SealedConversation(path) as before:
        seal_conversation(path, tiny_conversation().head, [said(0)], [])

        with SealedConversation(path) as after:
            assert (len(list(before.messages())), len(list(after.messages()))) == (8, 1)


def test_a_failed_seal_leaves_the_former_file(tmp_path: Path) -> None:
    path = seal_tiny(tmp_path / "c000.duckdb")

    def breaking() -> Iterator[Message]:
        yield said(0)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        seal_conversation(path, tiny_conversation().head, breaking(), [])

    assert sorted(os.listdir(tmp_path)) == ["c000.duckdb", "c000.duckdb.sha256"]
    with SealedConversation(path) as sealed:
        assert len(list(sealed.messages())) == 8


def test_what_the_tables_cannot_hold_is_refused(tmp_path: Path) -> None:
    head = tiny_conversation().head
    path = tmp_path / "c.duckdb"
    zoned = said(0).model_copy(update={"sent_at": dt.datetime(2024, 3, 4, tzinfo=dt.UTC)})
    misnumbered = head.model_copy(update={"plans": (head.plans[0].model_copy(update={"plan_index": 1}),)})

    with pytest.raises(ValueError, match=r"p0\.s0\.t0\.n0: sent_at .* has a zone"):
        seal_conversation(path, head, [zoned], [])
    with pytest.raises(ValueError, match="c000: plan 0 and its sub-plans are not numbered by their place"):
        seal_conversation(path, misnumbered, [], [])
    with pytest.raises(ValueError, match=r"messages: two rows have the message_key 'p0\.s0\.t0\.n0'"):
        seal_conversation(path, head, [said(0), said(0)], [])
    with pytest.raises(ValueError, match=r"probes: two rows have the probe_id 'abstention\.0'"):
        seal_conversation(path, head, [], [tiny_conversation().asked[0]] * 2)
    assert os.listdir(tmp_path) == []


# The limit strikes while the rows are written, or while DuckDB writes; the last one is never reached.
ON_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from longbeam.errors import StoreError
from longbeam.store.artifacts import seal_conversation
from tests.tiny import tiny_conversation
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
tiny = tiny_conversation()
long = tiny.said[0].model_copy(update={"content": "".join(f"{i * i:x}" for i in range(1_000_000, 1_000_800))})
spoken = (long.model_copy(update={"message_key": f"p0.s0.t{i}.n0"}) for i in range(2_000))
try:
    seal_conversation(Path(sys.argv[1]), tiny.head, spoken, [])
except StoreError as exc:
    print(exc)
"""


@pytest.mark.parametrize("limit", [100_000, 700_000, 5_000_000, 1_000_000_000])
def test_a_full_disk_leaves_the_former_file(tmp_path: Path, limit: int) -> None:
    folder = tmp_path / ("long" * 50)  # DuckDB says why behind the path
    folder.mkdir()
    path = seal_tiny(folder / "c000.duckdb")

    ran = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, str(path), str(limit)],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert sorted(os.listdir(folder)) == ["c000.duckdb", "c000.duckdb.sha256"]
    with SealedConversation(path) as sealed:
        if limit == 1_000_000_000:
            assert (ran.stdout, len(list(sealed.messages()))) == ("", 2_000)
        else:
            assert ran.stdout.startswith(f"{path}: the disk is full (")
            assert ran.stdout.count("\n") == 1
            assert len(list(sealed.messages())) == 8


KILLED_WHILE_SEALING = """
import os, signal, sys
from pathlib import Path
from longbeam.store.artifacts import seal_conversation
from tests.tiny import tiny_conversation
tiny = tiny_conversation()
def spoken():
    yield from tiny.messages()
    os.kill(os.getpid(), signal.SIGKILL)
seal_conversation(Path(sys.argv[1]), tiny.head, spoken(), [])
"""


def test_a_kill_while_sealing_leaves_the_former_file_and_the_next_seal_tidies_up(tmp_path: Path) -> None:
    path = seal_tiny(tmp_path / "c000.duckdb")
    command = [sys.executable, "-c", KILLED_WHILE_SEALING, str(path)]
    assert subprocess.run(command, cwd=REPOSITORY, check=False).returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 3
    assert read_whole(path) == 8

    seal_conversation(path, tiny_conversation().head, [said(0)], [])

    assert sorted(os.listdir(tmp_path)) == ["c000.duckdb", "c000.duckdb.sha256"]
    assert read_whole(path) == 1


def make_garbage(path: Path) -> None:
    path.write_bytes(b"garbage " * 1000)


def make_empty(path: Path) -> None:
    path.touch()


def make_cut_short(path: Path) -> None:
    seal_tiny(path)
    os.truncate(path, path.stat().st_size // 2)


def make_scratched(path: Path) -> None:
    seal_tiny(path)
    with path.open("r+b") as file:
        file.seek(12_288 + 100)  # behind the three headers of 4 KB: the first block
        file.write(b"\xff" * 4000)


def make_foreign(path: Path) -> None:
    duckdb.connect(str(path)).close()


def make_benchmark(path: Path) -> None:
    write_benchmark(path, seeds=[], findings=[], statistics={})


def make_older(path: Path) -> None:
    with replaced_file(path, Kind(SEALED_CONVERSATION.name, 0, ())):
        pass


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_garbage, "is not a DuckDB file, or its first page is damaged"),
        (make_empty, "is not a DuckDB file"),
        (make_cut_short, "is damaged.*delete it: `longbeam resume`"),
        (make_scratched, "checksum"),
        (make_foreign, "is a DuckDB file, but no sealed conversation"),
        (make_benchmark, "is a DuckDB file, but no sealed conversation"),
        (make_older, "sealed conversation of version 0, this longbeam reads version 9; `longbeam resume` makes it"),
        (lambda path: None, "there is no sealed conversation here"),
    ],
)
def test_a_file_that_is_no_sealed_conversation_is_refused_in_one_line(
    tmp_path: Path, make: object, reason: str
) -> None:
    path = tmp_path / "c000.duckdb"
    assert callable(make)
    make(path)

    with pytest.raises(StoreError, match=reason) as refused:
        read_whole(path)

    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


def test_a_sealed_conversation_cannot_be_written_and_loads_no_extension(tmp_path: Path) -> None:
    with SealedConversation(seal_tiny(tmp_path / "c000.duckdb")) as sealed:
        assert sealed.connection.execute("SELECT seed.domain, profile.name FROM conversation").fetchall() == [
            ("trip_planning", "Mara Lind")
        ]
        with pytest.raises(duckdb.InvalidInputException, match="read-only"):
            sealed.connection.execute("DELETE FROM messages")
        settings_of = "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"
        assert sealed.connection.execute(settings_of).fetchall() == [("false",), ("false",)]


def test_any_sql_has_the_memory_that_it_needs(tmp_path: Path) -> None:
    contents = [f"{i} {'word ' * 4_000}" for i in range(1_500)]  # 30 MB, which are sorted whole
    seal_conversation(
        tmp_path / "c.duckdb", tiny_conversation().head, [said(i, text) for i, text in enumerate(contents)], []
    )
    with SealedConversation(tmp_path / "c.duckdb") as sealed:
        rows = sealed.connection.execute("SELECT content FROM messages ORDER BY content").fetchall()
        assert [content for (content,) in rows] == sorted(contents)
        assert [m.content for m in sealed.messages()] == contents


def test_iterators_may_be_interleaved_and_threads_may_share_a_reader(tmp_path: Path) -> None:
    seal_conversation(tmp_path / "c.duckdb", tiny_conversation().head, [said(i) for i in range(1_500)], [])
    counts: list[int] = []
    with SealedConversation(tmp_path / "c.duckdb") as sealed:
        assert all(a == b for a, b in zip(sealed.messages(), sealed.messages(), strict=True))
        threads = [threading.Thread(target=lambda: counts.append(len(list(sealed.messages())))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts == [1_500] * 4


def test_many_readers_in_many_processes(tmp_path: Path) -> None:
    path = seal_tiny(tmp_path / "c000.duckdb")
    code = (
        "import sys; from pathlib import Path; from longbeam.store.artifacts import SealedConversation;"
        "print(len(list(SealedConversation(Path(sys.argv[1])).messages())))"
    )
    with SealedConversation(path):
        children = [
            subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, cwd=REPOSITORY)
            for _ in range(3)
        ]
        assert [child.communicate(timeout=60)[0] for child in children] == [b"8\n"] * 3
