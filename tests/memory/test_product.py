"""Products as a vendor would write them: sync and async, with a database that keeps to its thread, and with faults."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import MemorySystemError
from longbeam.memory import (
    AnsweringProduct,
    Memory,
    ProductMemory,
    ProductSettings,
    exchanges_of,
    find_system,
    memory_of,
    settings_of,
)
from longbeam.schemas import Exchange, Message, PreparationUsage, Question
from tests.memory.test_systems import asked, messages, tools


class Shelf:
    """Keeps messages in SQLite, whose connection belongs to the thread that opened it."""

    def __init__(self, settings: ProductSettings, tools: Any) -> None:
        self.db = sqlite3.connect(tools.folder / "shelf.sqlite")
        self.db.execute("CREATE TABLE said (text TEXT, at TEXT)")
        self.conversation_id = tools.conversation_id

    def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Keep the user's message."""
        self.db.execute("INSERT INTO said VALUES (?, ?)", (exchange.messages[0].content, timestamp.isoformat()))
        self.db.commit()

    def search(self, query: str, k: int) -> Sequence[Memory]:
        """Find what has the query's last word."""
        word = f"%{query.split()[-1].strip('?')}%"
        rows = self.db.execute("SELECT text, at FROM said WHERE text LIKE ? LIMIT ?", (word, k))
        return [Memory(text, created_at=dt.datetime.fromisoformat(at)) for text, at in rows]

    def close(self) -> None:
        """Close the database."""
        self.db.close()


async def told(product: Any, **more: Any) -> ProductMemory:
    system = memory_of(product, ProductSettings(), replace(tools(), **more))
    for exchange in exchanges_of(messages()):
        await system.add(exchange)
    await system.finish()
    return system


async def test_a_sync_product_stays_in_its_thread_and_its_files_are_measured(tmp_path: Path) -> None:
    before = threading.active_count()  # tests of systems that hang leave threads behind
    system = await told(Shelf, folder=tmp_path, conversation_id="c000")
    context = await system.context(asked("Who wants to see the lease?"), budget=50)
    assert context.text == "[March 7, 2023] Gunnar wants to see the lease."
    assert context.message_keys == ("p0.s0.t1.n0",)  # the memory repeats the message
    assert system.usage().index_bytes == (tmp_path / "shelf.sqlite").stat().st_size
    await system.close()
    assert threading.active_count() < before + 20


class Agent:
    """Answers by itself, counts what it used, and is async."""

    def __init__(self, settings: ProductSettings, tools: Any) -> None:
        self.heard: list[str] = []

    async def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Keep the user's message."""
        self.heard.append(exchange.messages[0].content)

    async def search(self, query: str, k: int) -> Sequence[str]:
        """Return the newest."""
        return self.heard[-k:]

    async def answer(self, question: Any, budget: int) -> str:
        """Say how much was heard."""
        return f"{len(self.heard)} messages, {budget} tokens"

    async def usage(self) -> PreparationUsage:
        """Say what was used."""
        return PreparationUsage(model_calls=4, prompt_tokens=400, output_tokens=40, cost_usd=0.02)


async def test_an_async_agent_answers_by_itself_and_says_what_it_used() -> None:
    system = await told(Agent)
    assert isinstance(system, AnsweringProduct)
    text, context, calls = await system.answer(asked("?"), budget=100, asker=tools().asker)
    assert (text, calls) == ("4 messages, 100 tokens", 0)
    assert "kiln" in context.text
    assert system.usage() == PreparationUsage(model_calls=4, prompt_tokens=400, output_tokens=40, cost_usd=0.02)


class Flaky(Agent):
    """Loses its connection once, after it has stored the exchange."""

    failures = 1

    async def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Store, then fail."""
        await super().add(exchange, timestamp)
        if len(self.heard) >= 3 and self.failures:
            self.failures -= 1
            raise ConnectionResetError("gone")

    async def delete(self) -> None:
        """Forget everything."""
        self.heard.clear()


async def test_a_failed_add_stores_nothing_twice() -> None:
    system = await told(Flaky)
    passages = await system.retrieve(asked("?"), k=9)
    assert [p.text for p in passages] == [m.content for m in messages()[::2]]


class Diarist(Flaky):
    """Acts on each message of the user before it knows the reply, and keeps what it was asked."""

    async def act(self, message: Message, timestamp: dt.datetime) -> str:
        """Write the message down."""
        self.heard.append(f"{timestamp:%d %b}: {message.content[:8]}")
        return "Noted."

    async def asked(self, question: Question) -> None:
        """Write the question down."""
        self.heard.append(f"asked: {question.text}")


async def test_an_agent_acts_during_the_conversation_and_once_only_where_a_step_is_repeated() -> None:
    first, second, *_ = exchanges_of(messages())
    system = memory_of(Diarist, ProductSettings(), tools())
    await system.add(first)  # the third thing heard is lost with the connection, and all is told again
    await system.asked(asked("What does the kiln cost?"))
    await system.add(second)
    found = await system.retrieve(asked("?"), k=9)
    assert [p.text for p in found] == [
        "06 Mar: The kiln", first.messages[0].content, "asked: What does the kiln cost?",
        "07 Mar: Gunnar w", second.messages[0].content,
    ]  # fmt: skip


class Broken(Agent):
    """Cannot search."""

    async def search(self, query: str, k: int) -> Sequence[str]:
        """Fail as a bug does."""
        raise KeyError("embedding")


async def test_another_exception_is_not_tried_again_and_names_the_method() -> None:
    system = await told(Broken)
    with pytest.raises(MemorySystemError, match="search: KeyError: 'embedding'"):
        await system.retrieve(asked("?"), k=1)


class Giving(Agent):
    """Returns what it is told to return."""

    found: Any = None

    def search(self, query: str, k: int) -> Any:
        """Return it, whatever it is."""
        return self.found


MEMORIES = "; return texts or longbeam.memory.product.Memory(text, ...), best first"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, f"None{MEMORIES}"),
        ("hello", f"a str{MEMORIES}"),
        ({"memories": []}, f"a dict{MEMORIES}"),
        ([{"text": "hello"}], f"a list of dicts{MEMORIES}"),
        ([("a", 0.5)], f"a list of tuples{MEMORIES}"),
        (["a", None], f"a list whose item 1 is None{MEMORIES}"),
        ([Memory(3)], "a Memory whose text is an int: Input should be a valid string"),  # type: ignore[arg-type]
        (
            [Memory("a", created_at=dt.datetime(2023, 3, 7, tzinfo=dt.UTC))],
            "a Memory whose created_at has a zone; message times have none: remove its tzinfo",
        ),
    ],
    ids=str,
)
async def test_a_search_that_returns_another_kind_of_thing_says_what_is_allowed(found: Any, said: str) -> None:
    system = await told(type("Giving", (Giving,), {"found": found, "__module__": __name__}))
    with pytest.raises(MemorySystemError, match=re.escape(f"{__name__}:Giving.search returned {said}")):
        await system.retrieve(asked("?"), k=5)


async def test_a_search_may_be_a_generator_that_never_ends() -> None:
    class Endless(Giving):
        def search(self, query: str, k: int) -> Any:
            yield Memory("first", message_keys=["p0.s0.t1.n0"])  # type: ignore[arg-type]
            while True:
                yield "next"

    found = await (await told(Endless)).retrieve(asked("?"), k=3)
    assert [(p.text, p.message_keys) for p in found] == [("first", ("p0.s0.t1.n0",)), ("next", ()), ("next", ())]


def line_of(text: str) -> int:
    """Return the first line of this file with this text."""
    return 1 + next(n for n, line in enumerate(Path(__file__).read_text().splitlines()) if text in line)


async def test_an_exception_names_class_method_and_the_last_line_of_its_own_file() -> None:
    class Deep(Agent):
        async def search(self, query: str, k: int) -> Any:
            return self.parse(query)

        def parse(self, query: str) -> Any:
            return dt.datetime.fromisoformat(query)  # fails in the standard library

    where = rf"Deep\.search: ValueError: .* \(test_product\.py:{line_of('# fails in the standard library')}\)$"
    with pytest.raises(MemorySystemError, match=where):
        await (await told(Deep)).retrieve(asked("?"), k=1)


async def test_a_wrong_signature_and_a_wrong_return_are_placed_at_the_method() -> None:
    class Short(Agent):
        def search(self, query: str) -> Any:  # type: ignore[override]  # no k
            return []

    with pytest.raises(MemorySystemError, match=rf"positional arguments .*\(test_product\.py:{line_of('# no k')}\)$"):
        await (await told(Short)).retrieve(asked("?"), k=1)
    line = line_of("def search(self, query: str, k: int) -> Any:")
    with pytest.raises(MemorySystemError, match=rf"best first \(test_product\.py:{line}\)$"):
        await (await told(Giving)).retrieve(asked("?"), k=1)


async def test_a_next_that_finds_nothing_fails_and_does_not_hang() -> None:
    class Ended(Agent):
        def search(self, query: str, k: int) -> Any:
            return [next(iter(()))]  # StopIteration, which no future can hold

    where = rf"Ended\.search: StopIteration \(test_product\.py:{line_of('# StopIteration')}\)$"
    with pytest.raises(MemorySystemError, match=where):
        async with asyncio.timeout(5):
            await (await told(Ended)).retrieve(asked("?"), k=1)


class Bare:
    """Takes no arguments."""

    def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Keep nothing."""

    def search(self, query: str, k: int) -> Sequence[str]:
        """Find nothing."""
        return []


async def test_a_class_that_cannot_be_made_is_said_to_be_so() -> None:
    said = (
        "tests.memory.test_product:Bare could not be made from (settings, tools): TypeError: "
        f"Bare() takes no arguments (test_product.py:{line_of('class Bare')})"
    )
    with pytest.raises(MemorySystemError, match=f"^{re.escape(said)}$"):
        await told(Bare)


class Picky(Bare):
    """Cannot be made with these settings."""

    def __init__(self, settings: ProductSettings, tools: Any) -> None:
        raise LookupError("no key")


async def test_an_exception_of_the_constructor_has_its_line() -> None:
    with pytest.raises(MemorySystemError, match=rf"tools\): LookupError: no key \(.*:{line_of('no key')}\)$"):
        await told(Picky)


@pytest.mark.parametrize(("said", "described"), [(None, "None"), (["yes"], "a list"), (3, "an int")])
async def test_an_answer_that_is_no_text_is_a_failure(said: Any, described: str) -> None:
    class Mute(Agent):
        def answer(self, question: Any, budget: int) -> Any:
            return said

    system = await told(Mute)
    assert isinstance(system, AnsweringProduct)
    with pytest.raises(MemorySystemError, match=rf"Mute.answer returned {described}; return the answer as a str"):
        await system.answer(asked("?"), budget=100, asker=tools().asker)


async def test_an_empty_answer_is_an_answer() -> None:
    class Silent(Agent):
        async def answer(self, question: Any, budget: int) -> str:
            return ""

    system = await told(Silent)
    assert isinstance(system, AnsweringProduct)
    assert (await system.answer(asked("?"), budget=100, asker=tools().asker))[0] == ""


async def test_usage_of_another_kind_is_a_failure() -> None:
    class Counting(Agent):
        async def usage(self) -> Any:
            return {"calls": 3}

    with pytest.raises(MemorySystemError, match=r"Counting.usage returned a dict; return .*PreparationUsage\("):
        await told(Counting)


def test_a_class_with_add_and_search_is_a_system() -> None:
    name = "tests.memory.test_product:Agent"
    found = find_system(name)
    assert found.purpose == "Answers by itself, counts what it used, and is async."
    assert re.fullmatch("[0-9a-f]{16}", found.version)
    assert settings_of(name, found, {"k": "3"}) == ProductSettings(k=3)
