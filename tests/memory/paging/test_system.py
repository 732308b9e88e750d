from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path

import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.generators.suites import TYPES, Draw, PagingSuiteSettings
from longbeam.generators.suites.paging import make_conversation
from longbeam.keys import UnitKey
from longbeam.memory import Tools, exchanges_of
from longbeam.memory.paging import Paging, PagingSettings, workload_of
from longbeam.models import Asker, ModelCall, load_tokenizer
from longbeam.prompts import default_registry
from longbeam.prompts.calls import BookmarkPagesInputs
from longbeam.schemas import BenchmarkSpec, GivenConversation, ModelReply, Question
from tests.wired import answered_by, offline

COUNT = load_tokenizer("o200k_base").count
ASKER = Asker(offline(), default_registry(), BenchmarkSpec(name="x"), UnitKey("c000", "evaluate", "paging"))


@pytest.fixture(scope="module")
def conversation() -> GivenConversation:
    return make_conversation(PagingSuiteSettings(), Draw("paging", 3, 0, COUNT, "o200k_base"))


async def paged(conversation: GivenConversation, **settings: object) -> Paging:
    system = Paging(PagingSettings.model_validate(settings), Tools(count_tokens=COUNT, asker=ASKER, rng_key="k"))
    for exchange in exchanges_of(conversation.messages()):
        await system.add(exchange)
    await system.finish()
    return system


def test_the_suite_has_the_papers_shape(conversation: GivenConversation) -> None:
    for index in range(8):
        made = make_conversation(PagingSuiteSettings(), Draw("paging", 3, index, COUNT, "o200k_base"))
        messages = list(made.messages())
        assert 118 <= len(messages) <= 200
        kinds = {p.details.variety for p in made.probes}
        assert 6 <= len(kinds) <= 8
        assert kinds <= set(TYPES)
        last = [p for p in made.probes if p.asked_at is None]
        assert len(last) == len(kinds)
        text = {m.message_key: m.content for m in messages}
        for probe in made.probes:
            (cited,) = probe.evidence
            assert cited.quote in text[cited.message_key]
            assert probe.details.new_value in cited.quote
        workload = workload_of("c", messages, made.probes)
        assert [a.after for a in workload.questions] == sorted(a.after for a in workload.questions)
        assert all(min(int(k.split(".t")[1].split(".")[0]) for k in a.keys) * 2 < a.after for a in workload.questions)


async def test_the_reader_recalls_the_page_and_answers_within_the_budget(conversation: GivenConversation) -> None:
    system = await paged(conversation, bookmarks="tfidf", boundary="fixed_2")
    by_recall = 0
    for probe in conversation.probes:
        question = Question(text=probe.question, asked_at=datetime(2026, 1, 1))
        answer, context, calls = await system.answer(question, budget=2_000, asker=ASKER)
        assert context.tokens <= 2_000
        assert 1 <= calls <= 3
        if calls == 2:
            assert "[recalled p" in context.text
            by_recall += probe.details.new_value in answer
    assert by_recall > 0


async def test_a_recalled_page_is_gone_for_the_next_question(conversation: GivenConversation) -> None:
    system = await paged(conversation, bookmarks="tfidf", boundary="fixed_2")
    first = conversation.probes[0]
    told = Question(text=first.question, asked_at=datetime(2026, 1, 1))
    once = await system.answer(told, budget=2_000, asker=ASKER)
    other = Question(text="zzz", asked_at=datetime(2026, 1, 1))
    _, context, _ = await system.answer(other, budget=2_000, asker=ASKER)
    assert "[recalled" not in context.text
    assert await system.answer(told, budget=2_000, asker=ASKER) == once


async def test_a_recall_brings_as_many_pages_as_fit(conversation: GivenConversation) -> None:
    """At its defaults two pages of 400 tokens left a third of the budget empty, where bookmarks matched more pages."""
    system = await paged(conversation, bookmarks="generic", boundary="fixed_2", capacity=1_000)
    nothing = Question(text="zzz", asked_at=datetime(2026, 1, 1))
    marks = re.findall(r"\[p\d+:([^\]]*)\]", (await system.context(nothing, budget=2_000)).text)
    question = Question(text=" ".join(marks).replace(",", " "), asked_at=datetime(2026, 1, 1))
    asked = await system.context(question, budget=2_000)
    _, answered, calls = await system.answer(question, budget=2_000, asker=ASKER)
    assert calls == 2
    for context in (asked, answered):
        assert context.text.count("[recalled p") > 2
        assert 1_800 <= context.tokens <= 2_000


async def test_a_reader_finds_the_page_by_specific_words_and_not_by_generic_ones(
    conversation: GivenConversation,
) -> None:
    found = {}
    for words in ("generic", "specific"):
        system = await paged(conversation, bookmarks=words, boundary="fixed_10", capacity=600)
        answers = [
            (await system.answer(Question(text=p.question, asked_at=datetime(2026, 1, 1)), budget=2_000, asker=ASKER))
            for p in conversation.probes
        ]
        found[words] = sum(p.details.new_value in a[1].text for p, a in zip(conversation.probes, answers, strict=True))
    assert found["specific"] > found["generic"] + len(conversation.probes) // 4


async def test_the_context_without_a_reader_has_the_pages_that_words_find(conversation: GivenConversation) -> None:
    system = await paged(conversation, bookmarks="tfidf", pages=3)
    probe = conversation.probes[-1]
    context = await system.context(Question(text=probe.question, asked_at=datetime(2026, 1, 1)), budget=3_000)
    assert {part.name for part in context.parts} >= {"open page", "resident", "bookmarks"}
    found = await system.retrieve(Question(text=probe.question, asked_at=datetime(2026, 1, 1)), k=3)
    assert 0 < len(found) <= 3
    assert found == sorted(found, key=lambda p: -p.score)


def test_the_study_is_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path)]
    assert (
        run(["suite", "paging", "--name", "facts", "--set", "fewest_messages=40", "--set", "most_messages=50", *out])
        == OK
    )
    table, plot = tmp_path / "t.md", tmp_path / "p.svg"
    assert run(["study", "paging", "facts", "--pages", "2", "--markdown", str(table), "--plot", str(plot), *out]) == OK
    rows = table.read_text(encoding="utf-8").splitlines()
    assert sum(row.startswith(("| fixed", "| topic", "| exchange")) for row in rows) == 20
    assert plot.read_text(encoding="utf-8").count("<polyline") == 2 * 4
    assert run(["evaluate", "facts", "--system", "paging", "--budget", "600", *out]) == OK
    assert "paging" in capsys.readouterr().out
    assert run(["study", "paging", "nothing", *out]) == USER_ERROR


async def test_pages_fit_the_capacity_and_some_are_resident(conversation: GivenConversation) -> None:
    system = await paged(conversation)
    probe = conversation.probes[-1]
    context = await system.context(Question(text=probe.question, asked_at=datetime(2026, 1, 1)), budget=4_000)
    assert "resident" in {part.name for part in context.parts}
    found = await system.retrieve(Question(text=probe.question, asked_at=datetime(2026, 1, 1)), k=3)
    assert all(passage.tokens <= 400 for passage in found)  # a fifth of half of 4,000


async def test_a_page_that_is_asked_for_on_the_way_stays(conversation: GivenConversation) -> None:
    """The first fact is asked for after every third exchange, so `lfu` keeps its page and `fifo` does not."""
    said = {message.message_key: place for place, message in enumerate(conversation.messages())}
    probe = min(conversation.probes, key=lambda p: said[p.evidence[0].message_key])
    question = Question(text=probe.question, asked_at=datetime(2026, 1, 1))
    resident = {}
    for eviction in ("fifo", "lfu"):
        settings = PagingSettings.model_validate({"eviction": eviction, "boundary": "fixed_4", "capacity": 2_000})
        system = Paging(settings, Tools(count_tokens=COUNT, asker=ASKER, rng_key="k"))
        for number, exchange in enumerate(exchanges_of(conversation.messages())):
            await system.add(exchange)
            if number % 3 == 2:
                await system.finish()
                await system.asked(question)
        await system.finish()
        context = await system.context(Question(text="zzz", asked_at=datetime(2026, 1, 1)), budget=4_000)
        resident[eviction] = probe.details.new_value in context.text
    assert resident == {"fifo": False, "lfu": True}


async def test_passages_come_from_the_pages_of_the_context(conversation: GivenConversation) -> None:
    system = await paged(conversation)
    question = Question(text="zzz", asked_at=datetime(2026, 1, 1))
    context = await system.context(question, budget=4_000)
    resident = [m for m in conversation.messages() if m.message_key in context.message_keys]
    found = await system.retrieve(Question(text=resident[0].content, asked_at=datetime(2026, 1, 1)), k=1)
    assert resident[0].message_key in found[0].message_keys


class Marking:
    """Names one word a page, or nothing that can be used."""

    def __init__(self, text: str = "") -> None:
        self._text = text
        self.calls: list[BookmarkPagesInputs] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        assert isinstance(call.inputs, BookmarkPagesInputs)
        self.calls.append(call.inputs)
        marks = [{"page_id": p.page_id, "keywords": [f"word{p.page_id}"]} for p in call.inputs.pages]
        return ModelReply(text=self._text or json.dumps({"bookmarks": marks}))


async def marked(conversation: GivenConversation, model: Marking, generator: str) -> tuple[Paging, str]:
    asker = Asker(answered_by(model), default_registry(), BenchmarkSpec(name="x"), UnitKey("c000", "prepare", "paging"))
    settings = PagingSettings.model_validate({"bookmarks": generator, "bookmarker": "model"})
    system = Paging(settings, Tools(count_tokens=COUNT, asker=asker, rng_key="k"))
    for exchange in exchanges_of(conversation.messages()):
        await system.add(exchange)
    await system.finish()
    question = Question(text="anything", asked_at=datetime(2026, 1, 1))
    return system, (await system.context(question, budget=1_500)).text


@pytest.mark.parametrize(("generator", "is_alone"), [("contextual", True), ("batch", False), ("hybrid", False)])
async def test_a_model_writes_bookmarks_where_it_is_asked_to(
    conversation: GivenConversation, generator: str, is_alone: bool
) -> None:
    model = Marking()
    system, text = await marked(conversation, model, generator)
    assert "[p1:word1" in text
    assert ("[p1:word1]" in text) is (generator != "hybrid")  # which keeps the heuristic words
    assert (max(len(asked.pages) for asked in model.calls) == 1) is is_alone
    assert model.calls[0].most == (1 if generator == "hybrid" else 5)
    assert system.usage().model_calls == len(model.calls)


async def test_rules_stand_in_for_a_model_that_cannot_be_used(conversation: GivenConversation) -> None:
    system, text = await marked(conversation, Marking("no json"), "batch")
    assert "[p1:" in text
    assert "[p1:word1" not in text
    assert system.usage().failed_calls == 1


async def test_the_model_free_model_bookmarks_with_words_of_the_page(conversation: GivenConversation) -> None:
    system = await paged(conversation, bookmarks="contextual", bookmarker="model")
    passages = await system.retrieve(Question(text="What is my number?", asked_at=datetime(2026, 1, 1)), k=3)
    assert all(passage.text for passage in passages)
    assert system.usage().model_calls > 1


async def test_bookmarks_leave_room_for_recalled_pages_at_the_defaults(conversation: GivenConversation) -> None:
    # A thirtieth of the text: bookmarks of all pages of a fifth of the capacity would fill it, and no page be recalled.
    budget = sum(m.tokens for m in conversation.messages()) // 30
    tools = Tools(count_tokens=COUNT, asker=ASKER, rng_key="k", budget=budget)
    system = Paging(PagingSettings(), tools)
    for exchange in exchanges_of(conversation.messages()):
        await system.add(exchange)
    await system.finish()
    read = recalled = 0
    for probe in conversation.probes:
        context = await system.context(Question(text=probe.question, asked_at=datetime(2026, 1, 1)), budget=budget)
        parts = {part.name: part.tokens for part in context.parts}
        assert context.tokens <= budget
        assert sum(tokens for name, tokens in parts.items() if name != "recalled") <= budget // 2 + 1
        recalled += "recalled" in parts
        read += probe.evidence[0].quote in context.text
    assert (read, recalled) == (4, 6)  # of 15 by the words of bookmarks, where all budget for bookmarks found none
