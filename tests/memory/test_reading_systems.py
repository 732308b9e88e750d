"""Summary, truncation and the search tool, and the model-free rules they run on."""

from __future__ import annotations

from longbeam.memory import SearchTool, SearchToolSettings, Tools, chunks_of, exchanges_of, find_system, settings_of
from longbeam.offline import memorizing
from longbeam.prompts.calls import CompressNotesInputs, ExtractKeysInputs, NotesRelevantInputs, TakeNotesInputs
from tests.generators.scripted import ScriptedModel, asker_for
from tests.memory.test_systems import START, asked, context_of, messages


def words(text: str) -> int:
    return len(text.split())


async def test_truncation_keeps_both_ends() -> None:
    # An exchange has 16 to 20 words with its date; two fit 45.
    context = await context_of("truncation", "anything", 45)
    assert [p.name for p in context.parts] == ["beginning", "end"]
    assert "kiln" in context.text
    assert "glaze" in context.text
    assert "opening night" not in context.text
    whole = await context_of("truncation", "anything", 1_000)
    assert whole.message_keys == tuple(m.message_key for m in messages())


async def test_summary_holds_what_left_the_last_exchanges() -> None:
    context = await context_of("summary", "anything", 1_000, last=1, every=100, max_tokens=50)
    assert [p.name for p in context.parts] == ["summary", "recent"]
    assert "The kiln costs 4,200 euros." in context.text
    assert "17 June" in context.text
    # The summary is made of messages, but holds none of them.
    assert context.message_keys == ("p0.s0.t3.n0", "p0.s0.t3.n1")


async def searched(*steps: str, searches: int = 2) -> tuple[tuple[str, tuple[str, ...], int], ScriptedModel]:
    model = ScriptedModel({"search_step": steps})
    tools = Tools(count_tokens=words, asker=asker_for(model))
    system = SearchTool(SearchToolSettings(k=1, searches=searches), tools)
    for exchange in exchanges_of(messages()):
        await system.add(exchange)
    await system.finish()
    text, context, calls = await system.answer(asked("What changed?"), budget=100, asker=asker_for(model))
    return (text, context.message_keys[::2], calls), model


async def test_the_reader_searches_until_it_answers() -> None:
    found, model = await searched(
        '{"action": "search", "query": "kiln"}',
        '{"action": "search", "query": "opening night"}',
        '{"action": "answer", "answer": "The opening."}',
    )
    assert found == ("The opening.", ("p0.s0.t0.n0", "p0.s0.t2.n0"), 3)
    assert [c.inputs.searches_left for c in model.calls] == [2, 1, 0]  # type: ignore[attr-defined]
    assert "4,200" in model.calls[1].inputs.found  # type: ignore[attr-defined]


async def test_a_reader_that_only_searches_is_stopped() -> None:
    found, model = await searched('{"action": "search", "query": "lease"}')
    assert found == ("", ("p0.s0.t1.n0",), 3)
    assert len(model.calls) == 3


def test_settings_of_a_search_tool_are_checked() -> None:
    assert settings_of("search_tool", find_system("search_tool"), {"searches": "2"}) == SearchToolSettings(searches=2)


# --- the rules ------------------------------------------------------------------------------------------------------

EXCHANGE = (
    "user: Hello there. The lease with Gunnar Vik runs to 3 May. Is that long? I always want prices with tax.\n"
    "assistant: It is short. Ask for 12 months."
)


def test_notes_are_the_users_telling_sentences_and_no_question() -> None:
    reply = memorizing.take_notes(TakeNotesInputs(before="", exchange=EXCHANGE, said_on=START.date()))
    assert reply.notes == ("The lease with Gunnar Vik runs to 3 May.", "I always want prices with tax.")


def test_keys_are_names_or_the_rarest_words_and_the_reply_comes_last() -> None:
    reply = memorizing.extract_keys(ExtractKeysInputs(before="", exchange=EXCHANGE))
    assert (reply.entries[0].key, reply.entries[-1].value) == ("Gunnar Vik", "Ask for 12 months.")
    assert reply.summary == "Hello there."


def test_compression_keeps_wishes_then_values_and_the_newer_of_equals_in_order() -> None:
    notes = "It rained.\nThe kiln costs 10.\nThe lease costs 20.\nI always want prices with tax."
    # 6 or 7 tokens a line: two fit 16, and the wish is one of them.
    short = memorizing.compress_notes(CompressNotesInputs(notes=notes, max_tokens=16))
    assert short == "The lease costs 20.\nI always want prices with tax."


def test_relevance_is_words_in_common() -> None:
    def verdict(notes: str) -> str:
        return memorizing.notes_relevant(
            NotesRelevantInputs(question="What does the used kiln cost to deliver?", notes=notes)
        ).verdict

    assert verdict("The kiln costs 4,200 euros.") == "yes"
    assert verdict("It rained in May.") == "no"
    assert verdict("I always want the kiln named.") == "yes"  # a wish needs one word


async def test_the_papers_truncation_keeps_the_last_turns_alone() -> None:
    context = await context_of("truncation", "anything", 1_000, last=2)
    assert [p.name for p in context.parts] == ["end"]
    assert context.message_keys == tuple(m.message_key for m in messages())[-4:]


async def test_rag_by_characters_reads_chunks_that_overlap_by_a_fifth() -> None:
    whole = list(exchanges_of(messages()))
    chunks = list(chunks_of(whole, 50))
    text = "".join(m.content + "\n" for e in whole for m in e.messages)
    for number, chunk in enumerate(chunks):  # a chunk begins every 40 characters
        given = text[40 * chunk.position : 40 * chunk.position + 50]
        assert "\n".join(m.content for m in chunk.messages) == given.strip("\n") or number
    assert all(sum(len(m.content) for m in chunk.messages) <= 50 for chunk in chunks)
    said = dict.fromkeys((m.message_key for m in messages()), "")
    assert said.keys() == {key for chunk in chunks for key in chunk.message_keys}  # every message is in one
    context = await context_of("rag", "What does the kiln cost?", 1_000, chunk=50, k=1)
    assert len(context.parts) == 1
    assert context.tokens < 40
