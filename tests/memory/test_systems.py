"""Memory systems on a conversation small enough to check by eye."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.errors import SpecError
from longbeam.memory import (
    FLOORS,
    SYSTEMS,
    ContextBuilder,
    MemorySystem,
    RagSettings,
    Tools,
    exchanges_of,
    find_system,
    settings_of,
    with_released_copies,
)
from longbeam.models.embedders import Embedder, HashedEmbedder
from longbeam.offline import OfflineWriter
from longbeam.schemas import Context, Exchange, Message, MessageKind, MessageRole, PreparationUsage, Question
from tests.generators.scripted import asker_for

START = dt.datetime(2023, 3, 6, 9, 0)
SAID = (
    ("The kiln costs 4,200 euros.", "That is a fair price for a used kiln."),
    ("Gunnar wants to see the lease.", "Send him a copy of the lease."),
    ("I moved the opening night to 17 June.", "Then the invitations have to change."),
    ("What glaze is safe for bowls?", "A lead-free one."),
)


def messages(said: Sequence[tuple[str, str]] = SAID) -> list[Message]:
    found = []
    for turn, texts in enumerate(said):
        for n, (role, kind, text) in enumerate(
            zip(
                (MessageRole.USER, MessageRole.ASSISTANT), (MessageKind.QUESTION, MessageKind.REPLY), texts, strict=True
            )
        ):
            found.append(
                Message(
                    message_key=f"p0.s0.t{turn}.n{n}",
                    role=role,
                    speaker=role.value,
                    kind=kind,
                    turn_index=turn,
                    sent_at=START + dt.timedelta(days=turn, minutes=n),
                    content=text,
                    tokens=len(text.split()),
                )
            )
    return found


def tools() -> Tools:
    return Tools(count_tokens=lambda text: len(text.split()), asker=asker_for(OfflineWriter()), rng_key="1/c000")


def asked(text: str) -> Question:
    return Question(text=text, asked_at=START + dt.timedelta(days=30))


async def told(name: str, embedder: Embedder | None = None, **values: object) -> MemorySystem:
    found = find_system(name)
    system = found.make(settings_of(name, found, values), replace(tools(), embedder=embedder))
    for exchange in exchanges_of(messages()):
        await system.add(exchange)
    await system.finish()
    return system


async def context_of(name: str, question: str, budget: int = 1_000, **values: object) -> Context:
    return await (await told(name, None, **values)).context(asked(question), budget=budget)


def test_exchanges_hold_every_message_once() -> None:
    exchanges = list(exchanges_of(messages()))
    assert [len(e.messages) for e in exchanges] == [2, 2, 2, 2]
    assert [e.position for e in exchanges] == [0, 1, 2, 3]
    assert [k for e in exchanges for k in e.message_keys] == [m.message_key for m in messages()]


def test_an_exchange_ends_with_its_session() -> None:
    first, second = messages()[0], messages()[2].model_copy(update={"session": 1})
    assert [len(e.messages) for e in exchanges_of([first, second])] == [1, 1]


@pytest.mark.parametrize("name", [*SYSTEMS, *FLOORS])
@pytest.mark.parametrize("budget", [100, 40, 20])
async def test_no_system_reads_more_than_its_budget_or_other_than_what_was_said(name: str, budget: int) -> None:
    context = await context_of(name, "What does the kiln cost?", budget)
    assert context.tokens <= budget
    assert set(context.message_keys) <= {m.message_key for m in messages()}
    for part in (m for m in messages() if m.message_key in context.message_keys):
        assert part.content in context.text


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, {}) for name in (*SYSTEMS, *FLOORS)),
        *((name, {"variant": "released"}) for name, s in SYSTEMS.items() if "variant" in s.settings.model_fields),
    ],
)
async def test_positions_may_have_gaps_as_under_a_control(name: str, values: dict[str, object]) -> None:
    found = find_system(name)
    system = found.make(settings_of(name, found, values), tools())
    for exchange in list(exchanges_of(messages()))[2:]:
        await system.add(exchange)
    await system.finish()
    question = asked("When is the opening night, and what glaze is safe?")
    context = await system.context(question, budget=1_000)
    assert "kiln costs" not in context.text
    for passage in await system.retrieve(question, k=2):
        assert set(passage.message_keys) <= {m.message_key for m in messages()[4:]}


async def test_long_context_keeps_the_newest() -> None:
    context = await context_of("long_context", "anything", 32)
    assert "glaze" in context.text
    assert "kiln" not in context.text


async def test_long_context_is_the_same_for_every_question() -> None:
    system = await told("long_context")
    first = await system.context(asked("What does the kiln cost?"), budget=1_000)
    second = await system.context(asked("When is the opening?"), budget=1_000)
    assert first == second
    assert "What does the kiln cost?" not in second.text


async def test_rag_finds_the_exchange_and_says_when_it_was() -> None:
    context = await context_of("rag", "How much was the kiln?", k=1)
    assert context.message_keys == ("p0.s0.t0.n0", "p0.s0.t0.n1")
    assert "Monday, 06 March 2023" in context.text


@pytest.mark.parametrize(
    ("name", "retriever"), [("rag", "dense"), ("search_tool", "dense"), ("light", "dense"), ("cogcanvas", "hybrid")]
)
async def test_without_a_named_retriever_the_embedding_model_decides(name: str, retriever: str) -> None:
    async def usage(embedder: Embedder | None, **values: object) -> PreparationUsage:
        return (await told(name, embedder, **values)).usage()

    # The size of the index differs between bm25, dense and hybrid.
    assert await usage(HashedEmbedder()) == await usage(HashedEmbedder(), retriever=retriever)
    assert await usage(None) == await usage(HashedEmbedder(), retriever="bm25") != await usage(HashedEmbedder())


def test_answers_stored_when_rag_was_bm25_by_default_do_not_count_for_another_retriever() -> None:
    # An answer counts while the settings' digest and the embedding model are equal (`evaluating._preparation`).
    assert RagSettings().digest != RagSettings(retriever="bm25").digest


async def test_rag_reads_in_the_order_of_time() -> None:
    context = await context_of("rag", "the opening night and the lease of the kiln", k=3)
    assert context.text.index("kiln") < context.text.index("lease") < context.text.index("opening night")


def test_released_copies_are_one_for_each_message_of_the_turn() -> None:
    exchanges = list(exchanges_of(messages()))
    joined = [e.model_copy(update={"messages": tuple(_in_turn(m, 0) for m in e.messages)}) for e in exchanges[:2]]
    copied = with_released_copies([*joined, exchanges[2]])
    assert [copied.count(e) for e in (*joined, exchanges[2])] == [4, 4, 2]


def _in_turn(message: Message, turn: int) -> Message:
    return message.model_copy(update={"turn_index": turn})


async def test_random_units_are_the_same_for_the_same_question_only() -> None:
    first, again = await context_of("random_units", "one", 20), await context_of("random_units", "one", 20)
    others = {(await context_of("random_units", f"question {i}", 20)).text for i in range(12)}
    assert first == again
    assert len(others) > 1


def test_unknown_systems_and_settings_are_named() -> None:
    with pytest.raises(SpecError, match=r"'ragg' is unknown; there are .*rag"):
        find_system("ragg")
    with pytest.raises(SpecError, match=r"rag\.k = '0'.*settings are"):
        settings_of("rag", find_system("rag"), {"k": "0"})
    for name in ("rag", "search_tool", "cogcanvas"):
        with pytest.raises(SpecError, match=rf"{name}\.retriever = 'dense' needs an embedding model"):
            find_system(name).make(settings_of(name, find_system(name), {"retriever": "dense"}), tools())


def test_a_python_object_is_found_by_its_path() -> None:
    assert find_system("tests.memory.third_party:LAST_WORD").purpose == "the last exchange, nothing else"
    with pytest.raises(SpecError, match=r"nor a longbeam\.memory\.registry\.Registered"):
        find_system("tests.memory.third_party:NOTHING")


def test_an_installed_package_offers_a_system_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[longbeam.memory]\nlast_word = tests.memory.third_party:LAST_WORD\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_system("last_word").purpose == "the last exchange, nothing else"
    with pytest.raises(SpecError, match=r"'last_wort' is unknown; there are .*last_word"):
        find_system("last_wort")


def test_the_tail_of_a_long_text_is_kept() -> None:
    builder = ContextBuilder(4, lambda text: len(text.split()))
    assert builder.put_tail("part", "one two\nthree four\nfive six", ["k"])
    assert builder.build().text == "three four\nfive six"
    assert isinstance(builder.build(), Context)


def test_exchange_refuses_to_be_empty() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Exchange(position=0, messages=())


@pytest.mark.parametrize(("name", "speaker"), [("user_only", "user"), ("assistant_only", "assistant")])
async def test_a_floor_of_one_side_reads_all_its_messages_and_no_other(name: str, speaker: str) -> None:
    context = await context_of(name, "anything", 1_000)
    assert list(context.message_keys) == [m.message_key for m in messages() if m.role == speaker]
    assert find_system(name).reads_everything


async def test_a_floor_of_one_side_keeps_the_newest_where_not_all_fit() -> None:
    context = await context_of("user_only", "anything", 32)
    assert context.message_keys[-1] == [m.message_key for m in messages() if m.role == "user"][-1]
    assert messages()[0].message_key not in context.message_keys
