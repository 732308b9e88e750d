"""Speed of the stores: `python -m benchmarks.bench_store`.

Replies with requests of 20 messages, all known already, as in a dialogue; a sealed conversation of
20,000 messages of 4 KB, which is about 18M tokens; reading both.
"""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb

from longbeam.schemas import (
    ChatMessage,
    ConversationHead,
    Domain,
    Gender,
    JournalEntry,
    Message,
    MessageKind,
    MessageRole,
    ModelReply,
    Profile,
    RelationshipGraph,
    Seed,
)
from longbeam.store import SealedConversation, WorkLog, seal_conversation

REPLIES = 5_000
KNOWN_MESSAGES = 20
MESSAGES = 20_000
CHARACTERS = 4_096


def main() -> None:
    """Print one line per measurement."""
    print(f"SQLite {sqlite3.sqlite_version}, DuckDB {duckdb.__version__}")
    with tempfile.TemporaryDirectory(prefix="longbeam-bench-") as folder:
        measure_work_log(Path(folder) / "c000.sqlite")
        measure_sealing(Path(folder) / "c000.duckdb")


def measure_work_log(path: Path) -> None:
    """Record, look up and verify replies."""
    texts = list(make_texts(REPLIES + KNOWN_MESSAGES))
    history = [ChatMessage(role="user", content=text) for text in texts[:KNOWN_MESSAGES]]
    seconds = []
    with WorkLog.open(path) as log:
        for i, text in enumerate(texts[KNOWN_MESSAGES:]):
            began = time.perf_counter()
            record(log, f"key {i}", history, text)
            seconds.append(time.perf_counter() - began)
            # The reply is part of the next request; the oldest message is not.
            history = [*history[1:], ChatMessage(role="assistant", content=text)]
        mean, median = statistics.mean(seconds) * 1e6, statistics.median(seconds) * 1e6
        print(f"record_reply, {KNOWN_MESSAGES} known messages: {1e6 / mean:,.0f}/s")
        print(f"record_reply: mean {mean:.0f} us, median {median:.0f} us")
        began = time.perf_counter()
        for i in range(REPLIES):
            log.journal.reply_of(f"key {i}")
        print(f"reply_of: {REPLIES / (time.perf_counter() - began):,.0f}/s")
        began = time.perf_counter()
        faults = log.verify()
        print(f"verify of {REPLIES:,} replies: {time.perf_counter() - began:.2f} s, {len(faults)} faults")
    print(f"work log: {path.stat().st_size / 1e6:.1f} MB")


def record(log: WorkLog, key: str, request: list[ChatMessage], text: str) -> None:
    """Record one reply."""
    log.journal.record(
        JournalEntry(
            key=key,
            unit_key="c000/dialogue/p0.s0/t0.n1",
            stage="dialogue",
            role="assistant",
            prompt_id="assistant_reply",
            prompt_version=1,
            model="offline",
            generation=0,
            request=request,
            reply=ModelReply(text=text, prompt_tokens=18_000, output_tokens=900),
        )
    )


def measure_sealing(path: Path) -> None:
    """Seal and read a conversation."""
    messages = list(make_messages())
    began = time.perf_counter()
    seal_conversation(path, make_head(), messages, [])
    print(f"seal {MESSAGES:,} messages: {time.perf_counter() - began:.2f} s, {path.stat().st_size / 1e6:.1f} MB")
    with SealedConversation(path) as sealed:
        began = time.perf_counter()
        count = sum(1 for _ in sealed.messages())
        print(f"read {count:,} messages: {time.perf_counter() - began:.2f} s")


def make_texts(count: int) -> Iterator[str]:
    """Yield texts whose words repeat no more than those of prose."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5_000)]
    for _ in range(count):
        yield " ".join(rng.choices(words, k=CHARACTERS // 6))[:CHARACTERS]


def make_messages() -> Iterator[Message]:
    """Yield the messages of a long conversation."""
    first = dt.datetime(2024, 1, 1)
    for i, text in enumerate(make_texts(MESSAGES)):
        role = MessageRole.ASSISTANT if i % 2 else MessageRole.USER
        yield Message(
            message_key=f"p0.s{i // 200}.t{i // 4 % 50}.n{i % 4}",
            role=role,
            speaker=role.value,
            kind=MessageKind.REPLY if i % 2 else MessageKind.QUESTION,
            session=i // 200,
            plan_index=0,
            sub_plan_index=i // 200,
            turn_index=i // 4 % 50,
            sent_at=first + dt.timedelta(minutes=i),
            content=text,
            tokens=900,
        )


def make_head() -> ConversationHead:
    """Return a head without a story."""
    return ConversationHead(
        conversation_id="c000",
        seed=Seed(domain=Domain.TRIP, title="A trip", theme="Trips", subtopics=("flights",)),
        profile=Profile(
            name="Mara Lind",
            first_name="Mara",
            gender=Gender.FEMALE,
            age=33,
            city="Turku",
            country="Finland",
            profession="Surveyor",
            mbti=("ENFJ", "ENFP", "ENTJ", "ENTP", "ESFJ", "ESFP"),
        ),
        relationships=RelationshipGraph(people=(), node_link={}),
        narratives=(),
        plans=(),
        target_tokens=0,
    )


if __name__ == "__main__":
    main()
