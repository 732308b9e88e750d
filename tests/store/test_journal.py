from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from longbeam.errors import StoreError
from longbeam.schemas import ChatMessage, JournalEntry, ModelReply, request_hash
from longbeam.store import WORK_LOG, WorkLog, group_commit, journal, open_for_writing
from tests.store.journal_entries import ASKED, request_of
from tests.store.strategies import TEXT, records_of


def chat(*contents: str) -> list[ChatMessage]:
    return [ChatMessage(role="user" if i % 2 else "system", content=c) for i, c in enumerate(contents)]


def record(log: WorkLog, key: str, reply: ModelReply, request: list[ChatMessage] | None = None, **changes: Any) -> None:
    log.journal.record(
        JournalEntry(key=key, request=request or chat("be kind", "hello"), reply=reply, **{**ASKED, **changes})
    )


def reply(text: str, prompt: int = 10, cached: int = 4, output: int = 2, reasoning: int = 0) -> ModelReply:
    return ModelReply(
        text=text,
        model="m-2026",
        prompt_tokens=prompt,
        cached_tokens=cached,
        output_tokens=output,
        reasoning_tokens=reasoning,
    )


def count(log: WorkLog, table: str) -> int:
    return int(log._db._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_recording_leaves_no_second_form_of_a_text_in_memory(tmp_path: Path) -> None:
    said = "Café? " * 100  # SQLite would be given its UTF-8, which Python then keeps beside the string
    before = sys.getsizeof(said)
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("\0 naïve"), chat(said))
        assert sys.getsizeof(said) == before
        assert (request_of(log, "k1"), log.journal.reply_of("k1")) == (tuple(chat(said)), reply("\0 naïve"))


def test_a_recorded_reply_comes_back_whole(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("Hi."))

        assert log.journal.reply_of("k1") == reply("Hi.")
        assert log.journal.reply_of("k2") is None
        assert request_of(log, "k1") == tuple(chat("be kind", "hello"))


def test_a_work_log_from_before_reasoning_was_counted_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "c000.sqlite"
    former = dataclasses.replace(WORK_LOG, migrations=WORK_LOG.migrations[:1])
    with closing(open_for_writing(path, former)) as db:
        said = ChatMessage(role="assistant", content="Hi.").hash
        db.execute("INSERT INTO texts VALUES (1, ?, 'assistant', 'Hi.')", (said,))
        db.execute(
            "INSERT INTO replies VALUES (1, 'k1', 'c000/seeds/a', 'seeds', 'writer', 'p', 1, 'm', 0, NULL,"
            " x'', ?, 'stop', 'm-2026', 10, 4, 2)",
            (said,),
        )

    with WorkLog.open(path) as log:
        assert log.journal.reply_of("k1") == reply("Hi.")


@pytest.mark.parametrize("open_it", [WorkLog.open, WorkLog.open_read_only])
def test_a_work_log_whose_requests_name_hashes_is_brought_up_to_date(
    tmp_path: Path, open_it: Callable[[Path], WorkLog]
) -> None:
    path = tmp_path / "c000.sqlite"
    asked, answer = chat("be kind", "héllo", "be kind"), ChatMessage(role="assistant", content="Hi.")
    former = dataclasses.replace(WORK_LOG, migrations=WORK_LOG.migrations[:3])
    with closing(open_for_writing(path, former)) as db:
        for m in (answer, *asked[:2]):
            db.execute("INSERT INTO texts (sha256, role, content) VALUES (?, ?, ?)", (m.hash, m.role, m.content))
        replies = [("k1", asked), ("k2", asked[:1]), ("k3", []), ("k4", chat("never stored"))]
        for key, request in replies:
            db.execute(
                "INSERT INTO replies VALUES (NULL, ?, 'c000/seeds/a', 'seeds', 'writer', 'p', 1, 'm', 0, NULL,"
                " ?, ?, 'stop', 'm-2026', 10, 4, 2, 1, 'no')",
                (key, b"".join(m.hash for m in request), answer.hash),
            )

    with open_it(path) as log:
        assert list(log.journal.reply_keys()) == ["k1", "k2", "k3", "k4"]
        assert [list(request_of(log, key)) for key, _ in replies[:3]] == [asked, asked[:1], []]
        assert log.journal.reply_of("k1") == reply("Hi.", reasoning=1).model_copy(update={"refusal": "no"})
        assert log.verify() == ["reply k4: 1 of its texts are missing"]
        assert log._db.one("PRAGMA freelist_count") == (0,)
        asked_before = [r.hash for r in log.journal.requests()]
    with WorkLog.open(path) as log:
        record(log, "k5", reply("Hi."), asked)
        assert count(log, "texts") == 3
        assert [r.hash for r in log.journal.requests()] == [*asked_before, asked_before[0]]


def test_requests_may_be_read_while_more_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "_ROWS_PER_PAGE", 2)
    with WorkLog.open(tmp_path / "c000.sqlite") as log, WorkLog.open_read_only(tmp_path / "c000.sqlite") as reader:
        for i in range(2):
            record(log, f"k{i}", reply(f"{i}"), chat(f"{i}"))
        requests = reader.journal.requests()
        first = next(requests)
        record(log, "k2", reply("2"), chat("2"))

        assert [r.hash for r in (first, *requests)] == [request_hash([chat(f"{i}")[0].hash]) for i in range(3)]


def test_a_damaged_request_is_said(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("Hi."))
        log._db._db.execute("UPDATE replies SET request = '[1, '")

        (fault,) = log.verify()
        assert fault == "reply k1: its row is not what its checksum says"
        with pytest.raises(StoreError, match="no list of its messages"):
            list(log.journal.requests())


@given(requests=st.lists(st.lists(records_of(ModelReply), max_size=3), max_size=4), data=st.data())
@settings(max_examples=40)
def test_requests_and_replies_survive_reopening(
    tmp_path_factory: pytest.TempPathFactory, requests: list[list[ModelReply]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("log") / "c000.sqlite"
    calls = {}
    with WorkLog.open(path) as log:
        for i, replies in enumerate(requests):
            for j, said in enumerate(replies):
                calls[f"k{i}.{j}"] = chat(*data.draw(st.lists(TEXT, max_size=4))), said
                record(log, f"k{i}.{j}", said, calls[f"k{i}.{j}"][0] or chat("x"))

    with WorkLog.open_read_only(path) as log:
        assert {k: (list(request_of(log, k)), log.journal.reply_of(k)) for k in log.journal.reply_keys()} == {
            k: (asked or chat("x"), said) for k, (asked, said) in calls.items()
        }
        assert log.verify() == []


def test_each_text_is_stored_once(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("Hi."), chat("be kind", "hello"))
        said = ChatMessage(role="assistant", content="Hi.")
        record(log, "k2", reply("Well?"), [*chat("be kind", "hello"), said])

    with WorkLog.open(tmp_path / "c000.sqlite") as log:  # and by a process that remembers nothing
        record(log, "k3", reply("Hi."), chat("be kind", "hello"))

        # be kind, hello, Hi., Well?
        assert (count(log, "texts"), count(log, "replies")) == (4, 3)


def test_a_copied_message_is_not_taken_for_its_original(tmp_path: Path) -> None:
    original = ChatMessage(role="user", content="900 euros")
    assert original.digest
    copied = original.model_copy(update={"content": "1,200 euros"})

    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("a"), [original])
        record(log, "k2", reply("b"), [copied])

        assert request_of(log, "k2") == (copied,)
        assert log.verify() == []


def test_a_text_is_stored_again_only_when_it_was_not_said_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MOST_KNOWN", 20)
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "first", reply("Once."), chat("be brief", "hello"))
        for i in range(30):
            record(log, f"k{i}", reply(f"answer {i}"), chat("be kind", f"question {i}"))
        # be brief, hello, Once., be kind, 30 questions, 30 answers
        assert count(log, "texts") == 64

    with WorkLog.open(tmp_path / "c000.sqlite") as log:  # knows the newest twenty
        record(log, "again", reply("answer 29"), chat("be brief", "question 29"))

        assert count(log, "texts") == 65
        assert request_of(log, "first")[0] == request_of(log, "again")[0]
        assert log.verify() == []


def test_a_second_reply_to_a_key_replaces_the_first(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("Cut o"), max_tokens=5)
        record(log, "k1", reply("Cut off no more."), max_tokens=50)

        assert log.journal.reply_of("k1") == reply("Cut off no more.")
        assert log.journal.max_tokens_of("k1") == 50
        assert list(log.journal.reply_keys()) == ["k1"]


def test_usage_is_by_stage_role_prompt_and_model(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("a", 10, 4, 2, 1))
        record(log, "k2", reply("b", 30, 6, 5, 3))
        record(log, "k3", reply("c", 7, 0, 1), role="detector", prompt_id="question_detector")
        record(log, "k4", reply("d", 1, 0, 1), stage="plans", role="planner", prompt_id="outline")

        assert [tuple(u.model_dump().values()) for u in log.journal.usage()] == [
            ("dialogue", "assistant", "assistant_reply", "offline", 2, 40, 10, 7, 4),  # 10 + 30, 4 + 6, 2 + 5, 1 + 3
            ("dialogue", "detector", "question_detector", "offline", 1, 7, 0, 1, 0),
            ("plans", "planner", "outline", "offline", 1, 1, 0, 1, 0),
        ]


def test_replaced_reply_was_paid_for_too(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("Cut o", 10, 4, 2, 1), max_tokens=2)
        record(log, "k1", reply("Cut off no more.", 10, 8, 5, 0), max_tokens=50)

        (used,) = log.journal.usage()
        assert (used.calls, used.prompt_tokens, used.cached_tokens, used.output_tokens) == (2, 20, 12, 7)


def test_more_keys_than_a_page_come_in_order_of_arrival(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        for i in range(2_100):
            record(log, f"k{i}", reply("same"))

        assert list(log.journal.reply_keys()) == [f"k{i}" for i in range(2_100)]


def test_verify_finds_a_changed_text_and_a_missing_one(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:
        record(log, "k1", reply("Hi."))
        record(log, "k2", reply("Well?"))
        log._db._db.execute("UPDATE texts SET content = 'hullo' WHERE content = 'hello'")
        log._db._db.execute("DELETE FROM texts WHERE content = 'Well?'")

        assert log.verify() == ["text 2 is not what its hash says", "reply k2: its text is missing"]


def test_threads_may_share_a_work_log(tmp_path: Path) -> None:
    with WorkLog.open(tmp_path / "c000.sqlite") as log:

        def write(thread: int) -> None:
            for i in range(50):
                record(log, f"k{thread}.{i}", reply(f"{i}"), chat("be kind", f"{i}"))

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        # be kind, and 0 to 49 once as question and once as answer
        assert (count(log, "replies"), count(log, "texts")) == (200, 101)
        assert log.verify() == []
