"""The systems built from papers: clusters, PageRank, links, pages, tiers, each on a case small enough to work out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from longbeam.memory import MemorySystem, exchanges_of, find_system, settings_of
from longbeam.memory.papers import k_means, page_rank, phrases_of
from longbeam.models import ModelCall
from longbeam.prompts.calls import KeyValue
from tests.generators.scripted import ScriptedModel, asker_for
from tests.memory.test_systems import asked, context_of, messages, tools

KEYS = '{"entries": [{"key": "kiln price", "value": "4,200 euros"}], "summary": "on a kiln"}'


async def told(name: str, model: ScriptedModel, **values: object) -> MemorySystem:
    found = find_system(name)
    given = replace(tools(), asker=asker_for(model, writer="openai:small"))
    system = found.make(settings_of(name, found, values), given)
    for exchange in exchanges_of(messages()):
        await system.add(exchange)
    await system.finish()
    return system


def test_k_means_puts_like_vectors_together() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.99, 0.14], [0.14, 0.99]], dtype=np.float32)
    clusters = {tuple(int(i) for i in cluster) for cluster in k_means(vectors, 2, seed=3)}
    assert clusters == {(0, 2), (1, 3)}


def test_page_rank_of_a_path() -> None:
    # Nodes 0 - 1 - 2, seed 0, damping .5: r0 = .5 + .25 r1, r1 = .5 (r0 + r2), r2 = .25 r1.
    # So r1 = .5 (.5 + .5 r1) = .25 + .25 r1 = 1/3, r0 = 7/12, r2 = 1/12.
    ranks = page_rank(Counter({(0, 1): 1, (1, 2): 1}), np.array([2.0, 0.0, 0.0]), 0.5)
    assert ranks == pytest.approx([7 / 12, 1 / 3, 1 / 12])


def test_phrases_are_the_words_of_the_key_and_the_typed_values() -> None:
    entry = KeyValue(key="Price of the Kiln", value="4,200 euros, paid on 3 May 2023")
    assert phrases_of(entry) == ("price", "kiln", "4,200 euros", "3 may 2023")


async def test_hipporag_reaches_a_message_over_a_shared_phrase() -> None:
    # The third message names Gunnar; the question's fact does, too, and shares no word with the message.
    def keys(call: ModelCall) -> str:
        key = "Gunnar" if "Gunnar" in call.messages()[-1].content else "glaze"
        return f'{{"entries": [{{"key": "{key}", "value": "is met"}}], "summary": "x"}}'

    model = ScriptedModel({"extract_keys": keys, "select_notes": ['{"pieces": [0]}']})
    system = await told("hipporag", model, facts=1, passage_weight=0, k=1)
    context = await system.context(asked("When is Gunnar met?"), budget=100)
    assert context.message_keys == ("p0.s0.t1.n0",)


async def test_hipporag_ranks_by_similarity_where_no_fact_helps() -> None:
    model = ScriptedModel({"extract_keys": [KEYS], "select_notes": ['{"pieces": []}']})
    context = await (await told("hipporag", model, k=1)).context(asked("safe glaze for bowls"), budget=100)
    assert "What glaze is safe for bowls?" in context.text


async def test_graphrag_reads_the_report_of_a_community_its_facts_and_the_exchanges_that_name_its_entities() -> None:
    # Two communities: {gunnar, lease} and {kiln, price, 4,200 euros}, since no fact names entities of both.
    def keys(call: ModelCall) -> str:
        said = call.messages()[-1].content
        key, value = ("Gunnar's lease", "wanted") if "Gunnar" in said else ("kiln price", "4,200 euros")
        return f'{{"entries": [{{"key": "{key}", "value": "{value}"}}], "summary": "x"}}'

    def report(call: ModelCall) -> str:
        return "REPORT " + ("lease" if "lease" in call.messages()[-1].content else "kiln")

    system = await told("graphrag", ScriptedModel({"extract_keys": keys, "update_summary": report}), entities=2)
    context = await system.context(asked("Gunnar lease"), budget=300)
    assert [part.name for part in context.parts] == ["reports", "facts", "exchanges"]
    assert context.text.startswith("REPORT lease\n\nGunnar's lease: wanted\n\n")
    assert context.message_keys == ("p0.s0.t1.n0", "p0.s0.t1.n1")
    assert system.usage().model_calls == 4 + 2  # four exchanges, two communities
    assert (await system.retrieve(asked("Gunnar lease"), k=3))[0].message_keys == context.message_keys


async def test_amem_reads_a_linked_note_behind_the_nearest_one() -> None:
    # Every note is linked with its nearest earlier note; the assistant's word on the kiln with the user's.
    model = ScriptedModel({"extract_keys": [KEYS], "select_notes": ['{"pieces": [0]}']})
    system = await told("amem", model, k=1, neighbours=1)
    passages = await system.retrieve(asked("a fair price for a used kiln"), k=5)
    assert [p.message_keys for p in passages] == [("p0.s0.t0.n1",), ("p0.s0.t0.n0",)]
    assert system.usage().model_calls == 8 + 7  # eight notes; the first has no earlier one


async def test_raptor_has_a_summary_for_each_cluster_and_counts_it() -> None:
    model = ScriptedModel({"update_summary": ["A kiln was bought."]})
    system = await told("raptor", model, children=4, layers=1)
    # Eight messages of one chunk each: two clusters, or one where k-means leaves the other empty.
    assert system.usage().model_calls in {1, 2}
    context = await system.context(asked("a kiln was bought"), budget=1_000)
    assert context.text.startswith("A kiln was bought.")
    assert len(context.message_keys) == 8


async def test_readagent_looks_pages_up_and_shows_the_gists_of_the_others() -> None:
    model = ScriptedModel({"update_summary": ["gist"], "select_notes": ['{"pieces": [2]}']})
    system = await told("readagent", model, page_words=5)
    context = await system.context(asked("When is the opening night?"), budget=100)
    assert context.message_keys == ("p0.s0.t2.n0", "p0.s0.t2.n1")
    assert context.text.count("gist") == 3
    assert context.text.index("gist") < context.text.index("opening night")


async def test_memgpt_rewrites_core_memory_and_searches_the_archive() -> None:
    seen: list[str] = []

    def core(call: ModelCall) -> str:
        seen.append(call.messages()[-1].content)
        return f"core {len(seen)}"

    system = await told("memgpt", ScriptedModel({"update_summary": core}), every=1, k=1)
    context = await system.context(asked("What does the kiln cost in euros?"), budget=60)
    assert len(seen) == 4
    assert "core 3" in seen[-1]
    assert context.text.startswith("core 4")
    assert {part.name for part in context.parts} >= {"core", "archive"}
    assert "The kiln costs 4,200 euros." in context.text


async def test_memoryos_keeps_what_hot_segments_tell() -> None:
    notes = '{"notes": ["The user bought a kiln."]}'
    model = ScriptedModel({"extract_keys": [KEYS], "take_notes": [notes]})
    # Equal keywords alone (Jaccard 1) join the exchanges in one segment of three; its heat is 3 and a recency.
    system = await told("memoryos", model, short_term=1, threshold=0.6, heat=3)
    context = await system.context(asked("kiln"), budget=200)
    assert context.text.startswith("[March 6, 2023] The user bought a kiln.")
    assert system.usage().model_calls == 3 + 3
    cold = await told("memoryos", model, short_term=1, heat=4)
    assert cold.usage().model_calls == 3


async def test_without_a_model_every_system_answers_from_what_was_said() -> None:
    for name in ("amem", "graphrag", "hipporag", "memgpt", "memoryos", "raptor"):
        context = await context_of(name, "What does the kiln cost?", 1_000)
        assert "4,200 euros" in context.text, name


async def test_a_call_that_is_repeated_counts_once() -> None:
    # Where probes are asked on the way, `finish` runs again, and equal calls are answered from the journal.
    model = ScriptedModel({"extract_keys": [KEYS], "select_notes": ['{"pieces": []}']})
    system = await told("amem", model)
    await system.finish()
    assert system.usage().model_calls == 8 + 7
