"""CogCanvas on conversations small enough to check by eye: citations, links, expansion, forms, released faults."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from longbeam.errors import SpecError
from longbeam.evaluation import ablations, arms_of
from longbeam.memory import Tools, exchanges_of
from longbeam.memory.cogcanvas import (
    RELEASED_RULES,
    Artifact,
    CogCanvas,
    CogCanvasSettings,
    Kind,
    LexicalReranker,
    adaptive_k,
    build_graph,
    expand,
    expand_released,
    fused,
    is_duplicate,
    link,
    locate,
    make_reranker,
    written,
)
from longbeam.memory.cogcanvas.linking import RULES
from longbeam.models import ChatModel, ModelCall
from longbeam.offline import OfflineWriter
from longbeam.schemas import ModelReply
from longbeam.text import TimeSpan
from tests.generators.scripted import asker_for
from tests.memory.test_systems import SAID, START, asked, messages


def artifact(number: int, kind: Kind, turn: int, content: str = "", **given: object) -> Artifact:
    made = {"content": content or 4 * "abcdefgh"[number], "position": turn, "said_at": START, **given}
    return Artifact.model_validate({"number": number, "kind": kind, "turn": turn, **made})


def edges(
    artifacts: Sequence[Artifact], cosines: Sequence[Sequence[float]], **given: object
) -> set[tuple[int, str, int]]:
    """Links under cosines that are given: vectors whose products they are."""
    vectors = np.linalg.cholesky(np.array(cosines) + 1e-6 * np.eye(len(cosines))).astype(np.float32)
    graph = build_graph(artifacts, vectors, CogCanvasSettings.model_validate(given))
    return {(a, key, b) for a, b, key in graph.edges(keys=True)}


async def canvas(said: Sequence[tuple[str, str]] = SAID, model: ChatModel | None = None, **values: object) -> CogCanvas:
    tools = Tools(count_tokens=lambda text: len(text.split()), asker=asker_for(model or OfflineWriter()))
    system = CogCanvas(CogCanvasSettings.model_validate(values), tools)
    for exchange in exchanges_of(messages(said)):
        await system.add(exchange)
    await system.finish()
    return system


class Extracting:
    """Answers extraction with what it is given, for the exchange that holds the key; keeps the calls."""

    def __init__(self, **by_word: Sequence[dict[str, object]] | str) -> None:
        self._by_word = by_word
        self.calls: list[ModelCall] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        exchange = call.inputs.model_dump()["exchange"]
        found = next((a for word, a in self._by_word.items() if word in exchange), [])
        if call.prompt.prompt_id == "glean_artifacts":
            found = []
        return ModelReply(text=found if isinstance(found, str) else json.dumps({"artifacts": found}))


# --- citations --------------------------------------------------------------------------------------------------


def test_a_citation_is_given_back_in_the_words_of_its_source() -> None:
    said = messages((("The  Kiln costs\n4,200 euros, I think.", "Fine."),))
    exact = locate('"the kiln costs 4,200 euros"', said)
    assert exact is not None
    assert exact.text == "The  Kiln costs\n4,200 euros"
    assert said[0].content[exact.span[0] : exact.span[1]] == exact.text
    near = locate("The Kiln cost 4,200 euros, I think", said)
    assert near is not None
    assert near.message == said[0]
    assert near.text in said[0].content
    assert locate("The kiln is broken beyond repair", said) is None
    assert locate("", said) is None


@given(st.text(alphabet="ab .\n", max_size=40), st.integers(0, 39), st.integers(1, 12), st.sampled_from("ab "))
def test_whatever_is_located_was_said(said: str, start: int, length: int, last: str) -> None:
    source = [m.model_copy(update={"content": said}) for m in messages()[:1]]
    found = locate(said[start : start + length] + last, source)  # said as it is, or with another last letter
    if found is not None:
        assert source[0].content[slice(*found.span)] == found.text


@given(st.lists(st.sampled_from(["a", "bb", "ab"]), min_size=1, max_size=9), st.integers(0, 8), st.sampled_from(" \n"))
def test_words_that_were_said_are_located(words: list[str], start: int, space: str) -> None:
    source = [m.model_copy(update={"content": space.join(words)}) for m in messages()[:1]]
    cited = words[start % len(words) :]
    found = locate(" ".join(cited).upper(), source)
    assert found is not None
    assert found.text.split() == cited


async def test_what_nobody_said_is_dropped_and_trusted_only_when_released() -> None:
    invented = {
        "kind": "key_fact",
        "content": "The kiln is blue.",
        "citation": "my kiln is a very blue one",
    }
    said = {"kind": "key_fact", "content": "The kiln costs 4,200.", "citation": "costs 4,200 euros"}
    checked = await canvas(model=Extracting(kiln=[invented, said]))
    assert [a.content for a in checked.artifacts] == [
        "The kiln costs 4,200.",
        "June 17, 2023: I moved the opening night to 17 June.",
    ]
    trusted = await canvas(model=Extracting(kiln=[invented, said]), citations="trusted")
    assert "The kiln is blue." in [a.content for a in trusted.artifacts]


# --- extraction -------------------------------------------------------------------------------------------------


_TALKS = st.lists(st.tuples(st.sampled_from([a for a, _ in SAID]), st.sampled_from([b for _, b in SAID])), max_size=6)


@settings(max_examples=25)
@given(_TALKS)
async def test_without_a_model_there_are_at_most_three_artifacts_an_exchange_all_verbatim(
    said: list[tuple[str, str]],
) -> None:
    system = await canvas(said)
    contents = {m.message_key: m.content for m in messages(said)}
    for a in system.artifacts:
        assert a.span is not None
        assert contents[a.message_keys[0]][slice(*a.span)] == a.citation
        assert sum(b.position == a.position for b in system.artifacts) <= 3
    assert [a.number for a in system.artifacts] == list(range(len(system.artifacts)))


async def test_the_extractor_is_shown_what_earlier_compressions_left() -> None:
    model = Extracting(kiln=[{"kind": "key_fact", "content": "It costs 4,200.", "citation": "costs 4,200 euros"}])
    await canvas(model=model, compress_every=1)
    shown = [c.inputs.model_dump()["known"] for c in model.calls if c.prompt.prompt_id == "extract_artifacts"]
    assert shown[0] == ()
    assert shown[1] == ("key_fact: It costs 4,200.",)


@pytest.mark.parametrize("variant", ["mended", "released"])
async def test_a_failed_extraction_leaves_no_artifacts_and_is_counted(variant: str) -> None:
    system = await canvas([("The kiln costs 4,200 euros.", "So much?")], Extracting(kiln="no json"), variant=variant)
    assert system.artifacts == []
    assert (system.usage().model_calls, system.usage().failed_calls) == (1, 1)


async def test_the_released_runner_asks_once_for_a_batch_and_loses_what_is_too_long() -> None:
    model = Extracting(kiln=[{"kind": "key_fact", "content": "It costs " + "a " * 1_100, "citation": "costs"}])
    lost = await canvas(model=model, variant="released")
    asks = [c for c in model.calls if c.prompt.prompt_id == "extract_artifacts"]
    assert len(asks) == 1
    assert asks[0].inputs.model_dump()["exchange"].startswith("user: The kiln costs 4,200 euros.\nuser: Gunnar")
    assert lost.artifacts == []


async def test_gleaning_adds_what_is_no_duplicate() -> None:
    with_it, without = await canvas(), await canvas(without="gleaning")
    assert {a.source for a in with_it.artifacts} == {"user", "assistant"}
    assert len(with_it.artifacts) > len(without.artifacts)
    assert is_duplicate("the kiln costs 4,200", ["The kiln costs 4,200 euros"])
    assert not is_duplicate("the kiln is green", ["The kiln costs 4,200 euros"])


# --- links ------------------------------------------------------------------------------------------------------


def test_r1_refers_by_cosine_or_by_words() -> None:
    made = [
        artifact(0, "key_fact", 0, "blue glaze"),
        artifact(1, "key_fact", 1, "glaze bought"),
        artifact(2, "key_fact", 2, "rent"),
    ]
    near = [[1, 0.35, 0.6], [0.35, 1, 0.35], [0.6, 0.35, 1]]
    # 1-0: .35 with a shared word; 2-0: .6 alone; 2-1: .35 and no word.
    assert edges(made, near) == {(1, "references", 0), (2, "references", 0)}


def test_nothing_links_within_a_turn() -> None:
    made = [artifact(n, "key_fact", 0, "glaze") for n in range(3)]
    assert edges(made, np.full((3, 3), 0.9) + 0.1 * np.eye(3)) == set()


def test_r2_takes_the_best_decision_of_five_turns() -> None:
    made = [artifact(0, "decision", 0), artifact(1, "decision", 2), artifact(2, "decision", 3), artifact(3, "todo", 6)]
    apart = np.eye(4)
    apart[3, :3] = apart[:3, 3] = (0.49, 0.46, 0.47)  # below θ_ref; the first is six turns back
    assert edges(made, apart) == {(3, "caused_by", 2), (2, "leads_to", 3)}


def test_r3_takes_every_fact_and_decision_of_three_turns() -> None:
    made = [
        artifact(0, "key_fact", 0),
        artifact(1, "decision", 2),
        artifact(2, "key_fact", 3),
        artifact(3, "insight", 4),
    ]
    apart = np.eye(4)
    apart[3, :3] = apart[:3, 3] = 0.46
    assert {e for e in edges(made, apart) if e[0] == 3} == {(3, "caused_by", 1), (3, "caused_by", 2)}


def test_r4_is_the_papers_or_the_codes() -> None:
    made = [artifact(n, "key_fact", n, "rent") for n in range(4)] + [artifact(4, "decision", 4, "blue")]
    apart = np.eye(5)
    # The paper: the two newest, however unlike. The code: a shared word within two turns, and there is none.
    assert edges(made, apart, hops=1) == {
        (4, "caused_by", 2),
        (4, "caused_by", 3),
        (2, "leads_to", 4),
        (3, "leads_to", 4),
    }
    assert edges(made, apart, rules="released") == set()
    assert [r.name for r in RULES] == [r.name for r in RELEASED_RULES] == [f"R{n}" for n in range(1, 8)]


def test_r5_to_r7_need_a_word() -> None:
    made = [
        artifact(0, "person_attribute", 0, "Ines paints"),
        artifact(1, "event", 1, "Ines left"),
        artifact(2, "relationship", 2, "Ines and Luca"),
        artifact(3, "decision", 11, "ask Ines"),
        artifact(4, "decision", 12, "ask Ines"),
    ]
    found = edges(made, np.eye(5))
    assert {(1, "references", 0), (2, "references", 0), (3, "caused_by", 1)} <= found
    assert not any(a == 4 and b == 1 for a, _, b in found)  # eleven turns back


def test_only_the_nearest_are_looked_at() -> None:
    made = [artifact(n, "key_fact", n, "glaze") for n in range(6)]
    alike = np.full((6, 6), 0.9) + 0.1 * np.eye(6)
    assert len(edges(made, alike, neighbours=2)) == 1 + 2 * 4
    assert len(edges(made, alike, neighbours=None)) == 15


def test_a_link_stands_once_and_knows_both_ends() -> None:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((0, 1))
    link(graph, 1, "caused_by", 0)
    link(graph, 1, "caused_by", 0)
    assert sorted(graph.edges(keys=True)) == [(0, 1, "leads_to"), (1, 0, "caused_by")]
    with pytest.raises(KeyError, match="artifact 7"):
        link(graph, 7, "references", 0)


# --- retrieval --------------------------------------------------------------------------------------------------


def chain(length: int) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    nx.add_path(graph, range(length), key="references")
    return graph


def test_expansion_decays_with_each_hop_and_is_sorted() -> None:
    assert expand([(1, 1.0)], chain(5), 2, 0.8) == [(0, 0.8), (2, 0.8), (3, pytest.approx(0.64))]
    # The code multiplies what is decayed already: .8, then .8 · .64.
    assert expand_released([(1, 1.0)], chain(5), 2, 0.8)[2] == (3, pytest.approx(0.8 * 0.64))


def test_expansion_takes_the_best_way() -> None:
    found = dict(expand([(0, 1.0), (4, 0.5)], chain(5), 3, 0.8))
    assert found[3] == pytest.approx(0.8**3)  # from 0, not .5 · .8 from 4
    assert 0 not in found


@pytest.mark.parametrize(("question", "k"), [("Why did we pick blue?", 15), ("When was it?", 12), ("What glaze?", 10)])
def test_questions_that_need_more_are_given_more(question: str, k: int) -> None:
    assert adaptive_k(question) == k


async def test_expansion_is_capped() -> None:
    system = await canvas(reranker="none", k=1, most_expanded=2, theta_ref=0.0)
    assert len(await system.find("What does the kiln cost?")) <= 3


async def test_the_reranker_reads_question_and_candidate_together() -> None:
    scores = await LexicalReranker().scores("the price of the kiln", ["the kiln", "price of the kiln", "a vase"])
    assert list(np.argsort(-scores)) == [1, 0, 2]
    assert make_reranker("none") is None
    with pytest.raises(SpecError, match="'bge' is unknown; there are none, lexical, st:NAME"):
        make_reranker("bge")
    with pytest.raises(SpecError, match="sentence-transformers"):
        make_reranker("st:BAAI/bge-reranker-v2-m3")


@settings(max_examples=15)
@given(_TALKS)
async def test_the_union_holds_every_chunk_and_every_artifact(said: list[tuple[str, str]]) -> None:
    chunks, artifacts, union = [await canvas(said, representation=r) for r in ("chunks", "artifacts", "union")]
    assert [a.content for a in chunks.artifacts] == [f"user: {a}\nassistant: {b}" for a, b in said]
    assert sorted(a.content for a in union.artifacts) == sorted(
        [a.content for a in chunks.artifacts] + [a.content for a in artifacts.artifacts]
    )


async def test_an_artifact_names_its_message_as_a_source() -> None:
    system = await canvas((("The kiln costs 4,200 euros. I like it a lot.", "Good."),), keep=0)
    context = await system.context(asked("What does the kiln cost?"), budget=100)
    assert "The kiln costs 4,200 euros." in context.text
    assert context.message_keys == ("p0.s0.t0.n0",)
    found = await system.retrieve(asked("What does the kiln cost?"), k=5)
    assert found[0].message_keys == ("p0.s0.t0.n0",)


# --- reading ----------------------------------------------------------------------------------------------------


def test_artifacts_are_written_in_three_forms() -> None:
    may = TimeSpan(first=dt.date(2023, 3, 5), last=dt.date(2023, 3, 5))
    a = artifact(
        0,
        "event",
        0,
        "The kiln came.",
        citation="it came yesterday",
        source="user",
        event_time=may,
        event_time_raw="yesterday",
    )
    assert written(a, "compact") == "[E] **March 6, 2023**: The kiln came. (yesterday: March 5, 2023)"
    assert written(a, "markdown").endswith('\n  > "it came yesterday"')
    assert json.loads(written(a, "json"))["quote"] == "it came yesterday"
    long = a.model_copy(update={"citation": "x" * 200})
    assert len(json.loads(written(long, "json"))["quote"]) == 100


async def test_the_reasoning_prompt_answers_and_the_plain_one_can() -> None:
    asker = asker_for(OfflineWriter())
    for prompt in ("reasoning", "plain"):
        text, context, calls = await (await canvas(prompt=prompt)).answer(
            asked("What does the kiln cost?"), budget=200, asker=asker
        )
        assert "4,200" in text
        assert context.tokens <= 200
        assert calls == 1


def test_configurations_differ_where_the_paper_does() -> None:
    named = [CogCanvasSettings.model_validate({"config": config}) for config in ("paper", "locomo", "controlled")]
    assert [(s.k, s.hops, s.coarse) for s in named] == [(None, 3, 20), (15, 3, 30), (15, 1, 20)]
    assert not named[2].has("gleaning")
    assert CogCanvasSettings.model_validate({"config": "locomo", "k": 7}).k == 7
    released = CogCanvasSettings.model_validate({"variant": "released", "citations": "checked"})
    assert (released.expansion, released.citations) == ("released", "checked")


def test_the_papers_table_5_is_a_grid() -> None:
    rows = arms_of("cogcanvas", [], ablations("gleaning,graph,reranking,minimal", "cogcanvas"))
    assert [a.name for a in rows] == [
        "cogcanvas", *(f"cogcanvas[without={w}]" for w in ("gleaning", "graph", "reranking", "minimal"))
    ]  # fmt: skip
    minimal = CogCanvasSettings(without="minimal")
    assert minimal.has("graph")
    assert not minimal.has("reranking")


async def test_routing_reads_exchanges_for_simple_questions_and_artifacts_for_others() -> None:
    routed = await canvas(representation="union", routed=True, hops=0)

    async def kinds(question: str) -> set[bool]:
        return {routed.artifacts[place].kind == "chunk" for place, _ in await routed.find(question)}

    assert await kinds("What does the kiln cost?") == {True}
    assert await kinds("When is the opening night, since it moved?") == {False}
    with pytest.raises(ValueError, match="set representation=union as well"):
        CogCanvasSettings(routed=True)
    assert await kinds("What does Gunnar want?") == {True}
    assert await kinds("What lease do Gunnar and Ines want?") == {False}  # several entities, the paper's third cue


def test_further_queries_add_five_percent_for_each_that_finds_an_artifact() -> None:
    scores = np.array([[0.4, 0.2, 0], [0.2, 0.3, 0], [0.4, 0, 0], [0.1, 0, 0.5], [0.1, 0, 0]], dtype=np.float32)
    # Five queries find the first: the highest score and 15 % at most; the second has one further query, the third none.
    assert fused([*scores], most=2) == pytest.approx([0.4 * 1.15, 0.3 * 1.05, 0.5])
    assert fused([scores[0]], most=2) == pytest.approx(scores[0])


class Searching(OfflineWriter):
    """Names the given queries as further searches, then answers by rule; keeps what it was shown."""

    def __init__(self, *queries: str) -> None:
        super().__init__()
        self.queries, self.found = list(queries), list[str]()

    async def complete(self, call: ModelCall) -> ModelReply:
        if call.prompt.prompt_id != "search_step":
            return await super().complete(call)
        self.found.append(call.inputs.model_dump()["found"])
        if not self.queries:
            return ModelReply(text='{"action": "answer", "query": "", "answer": "x"}')
        return ModelReply(text=json.dumps({"action": "search", "query": self.queries.pop(0), "answer": ""}))


@pytest.mark.parametrize("setting", [{"queries": 3}, {"rounds": 3}])
async def test_a_further_query_finds_what_the_question_does_not(setting: dict[str, int]) -> None:
    """Expansion names queries before anything is seen, a round after the reader has seen what was found."""
    question, settings = asked("Who reads the contract?"), {"keep": 0, "retriever": "bm25", "hops": 0, **setting}
    without = await (await canvas(keep=0, retriever="bm25", hops=0)).context(question, budget=200)
    assert "Gunnar" not in without.text
    model = Searching("lease")
    system = await canvas(model=model, **settings)
    _, context, calls = await system.answer(question, budget=200, asker=asker_for(model))
    assert "Gunnar wants to see the lease." in context.text
    assert calls == 2
    assert len(model.found) == 2
    assert ("Gunnar" in model.found[1]) is ("rounds" in setting)


async def test_without_a_model_there_is_no_further_query() -> None:
    system = await canvas(queries=3, rounds=3)
    _, context, calls = await system.answer(asked("What is the price?"), budget=200, asker=asker_for(OfflineWriter()))
    assert calls == 1
    assert context == await (await canvas()).context(asked("What is the price?"), budget=200)
