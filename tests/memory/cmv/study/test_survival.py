from __future__ import annotations

import pytest

from longbeam.generators.suites import AgenticSettings, Draw, Place
from longbeam.generators.suites.agentic import make_conversation
from longbeam.memory import Tools, exchanges_of
from longbeam.memory.cmv import Cmv, CmvSettings, Variant, contents_of, lines_of, measure, render_survival
from longbeam.models import load_tokenizer
from longbeam.schemas import GivenConversation, Question

COUNT = load_tokenizer("o200k_base").count


@pytest.fixture(scope="module")
def conversation() -> GivenConversation:
    settings = AgenticSettings(length=32_000, facts_per_place=1)
    return make_conversation(settings, Draw("agentic", 5, 0, COUNT, "o200k_base"))


def test_a_session_gives_the_messages_back(conversation: GivenConversation) -> None:
    messages = list(conversation.messages())
    assert contents_of(lines_of(messages, "s")) == {m.message_key: m.content for m in messages}


def test_what_survives_follows_from_where_it_stands(conversation: GivenConversation) -> None:
    given = [(list(conversation.messages()), conversation.probes)]
    found = measure(given, [500, 100_000], Variant.MENDED, COUNT)
    kept = {(k.place, k.state): k.kept for k in found.kept}
    spoken = {Place.USER_TEXT, Place.ASSISTANT_TEXT, Place.COMMAND, Place.BEFORE_MENTIONED}
    small = {Place.SMALL_RESULT, Place.SMALL_WRITE}
    assert {p for p in Place if kept[p, "file"]} == set(Place)
    assert {p for p in Place if kept[p, "live"]} == set(Place) - {Place.BEFORE_UNMENTIONED}
    assert {p for p in Place if kept[p, "500"]} == spoken | small
    # Without a threshold in reach, only what is always cut is gone.
    always = {Place.THINKING, Place.IMAGE, Place.BEFORE_UNMENTIONED}
    assert {p for p in Place if kept[p, "100000"]} == set(Place) - always
    table = render_survival("x", found)
    assert table.splitlines()[2].split() == ["file", "live", "500", "100000"]
    assert "large_tool_result" in table


async def test_the_system_reads_the_trimmed_transcript(conversation: GivenConversation) -> None:
    system = Cmv(CmvSettings(), Tools(count_tokens=COUNT, asker=None))  # type: ignore[arg-type]
    for exchange in exchanges_of(conversation.messages()):
        await system.add(exchange)
    await system.finish()
    last = list(conversation.messages())[-1]
    context = await system.context(Question(text="?", asked_at=last.sent_at), budget=100_000)
    values = {Place(p.details.variety): p.details.new_value for p in conversation.probes}
    assert values[Place.USER_TEXT] in context.text
    assert values[Place.BEFORE_MENTIONED] in context.text
    assert values[Place.LARGE_RESULT] not in context.text
    assert context.tokens < 32_000 / 3
    assert last.message_key in context.message_keys
