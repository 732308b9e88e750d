"""Graphiti on its embedded graph database, Kuzu: a graph that a model extracts, or the raw episodes alone.

With `extract`, Graphiti reads each exchange as an episode, asks the extractor model for entities and facts, and
searches facts by words and vectors. Without it every message is an episode that Graphiti finds by BM25, and no model is
asked. Graphiti makes no full-text index in Kuzu by itself, so the adapter runs the statements that Graphiti has for it.
"""

from __future__ import annotations

import datetime as dt
import logging
import shutil
import warnings
from collections.abc import Sequence
from typing import Any

from longbeam.memory.base import Tools
from longbeam.memory.exchanges import said
from longbeam.memory.product import Memory, ProductSettings
from longbeam.memory.products.base import Bridge, OwnFolder, silence
from longbeam.memory.products.chat import Address
from longbeam.schemas import Exchange, PreparationUsage


class GraphitiSettings(ProductSettings):
    """How Graphiti reads."""

    extract: bool = False
    """Whether a model extracts entities and facts; else episodes are stored and found as they are."""
    max_tokens: int = 2_048
    """Most tokens of a reply; Graphiti's own default, 16,384, does not fit the context of a small model."""


class Graphiti:
    """Keeps the conversation as episodes of a graph."""

    def __init__(self, settings: GraphitiSettings, tools: Tools, bridge: Bridge) -> None:
        silence()
        self._settings, self._bridge = settings, bridge
        self._folder = OwnFolder(tools)
        self._said: dict[str, tuple[str, tuple[str, ...], dt.datetime]] = {}
        self._graph: Any = None
        self._address = Address("http://127.0.0.1:1/v1", "none")  # asked by nobody where nothing is extracted

    async def delete(self) -> None:
        """Make an empty graph."""
        warnings.filterwarnings("ignore", "The Kuzu backend is deprecated", DeprecationWarning)
        logging.getLogger("graphiti_core").setLevel(logging.ERROR)
        if self._settings.extract and self._graph is None:
            self._address = await self._bridge.model.open()
        await self._close_graph()
        self._said.clear()
        for path in self._folder.path.glob("graph.kuzu*"):
            path.unlink() if path.is_file() else shutil.rmtree(path)
        self._graph = _opened(str(self._folder.path / "graph.kuzu"), self._address, self._settings, self._bridge)
        from graphiti_core.driver.driver import GraphProvider
        from graphiti_core.graph_queries import get_fulltext_indices

        for statement in get_fulltext_indices(GraphProvider.KUZU):
            await self._graph.driver.execute_query(statement)

    async def add(self, exchange: Exchange, timestamp: dt.datetime) -> None:
        """Add an episode for the exchange, or one for each message where nothing is extracted."""
        if self._settings.extract:
            added = await self._graph.add_episode(
                name=f"exchange {exchange.position}",
                episode_body=said(exchange),
                source_description="conversation",
                reference_time=timestamp.replace(tzinfo=dt.UTC),
            )
            self._said[added.episode.uuid] = (said(exchange), exchange.message_keys, timestamp)
            return
        from graphiti_core.nodes import EpisodeType, EpisodicNode

        for m in exchange.messages:
            episode = EpisodicNode(
                name=m.message_key,
                group_id="",
                labels=[],
                source=EpisodeType.message,
                source_description="conversation",
                content=f"{m.speaker}: {m.content}",
                created_at=m.sent_at.replace(tzinfo=dt.UTC),
                valid_at=m.sent_at.replace(tzinfo=dt.UTC),
            )
            await episode.save(self._graph.driver)
            self._said[episode.uuid] = (episode.content, (m.message_key,), m.sent_at)

    async def search(self, query: str, k: int) -> Sequence[Memory]:
        """Return facts with their episodes as sources, or episodes."""
        if self._settings.extract:
            edges = await self._graph.search(query, num_results=k)
            return [
                Memory(
                    edge.fact,
                    None,
                    edge.uuid,
                    edge.valid_at.replace(tzinfo=None) if edge.valid_at else None,
                    tuple(key for uuid in edge.episodes if uuid in self._said for key in self._said[uuid][1]),
                )
                for edge in edges
            ]
        found = await self._graph.search_(query, config=_episode_search(k))
        hits = [(episode.uuid, *self._said[episode.uuid]) for episode in found.episodes]
        return [Memory(text, None, uuid, sent_at, keys) for uuid, text, keys, sent_at in hits]

    def usage(self) -> PreparationUsage:
        """Return the calls of the model; their tokens are in the journal."""
        return PreparationUsage(model_calls=self._bridge.model.calls, failed_calls=self._bridge.model.failed)

    async def close(self) -> None:
        """Close the graph and the endpoint."""
        await self._close_graph()
        await self._bridge.model.close()
        self._folder.close()

    async def _close_graph(self) -> None:
        if self._graph is not None:
            await self._graph.close()
            await self._graph.llm_client.client.close()
            self._graph = None


def _opened(path: str, address: Address, settings: GraphitiSettings, bridge: Bridge) -> Any:  # Any: of the package
    """Return Graphiti over a database at `path`, with the evaluation's model and vectors."""
    from graphiti_core import Graphiti as Graph
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.driver.kuzu_driver import KuzuDriver
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

    class Vectors(EmbedderClient):  # type: ignore[misc, unused-ignore]
        async def create(self, input_data: Any) -> list[float]:
            texts = [input_data] if isinstance(input_data, str) else list(input_data)
            return (await bridge.awaited_vectors(texts))[0]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return await bridge.awaited_vectors(input_data_list)

    class Unranked(CrossEncoderClient):  # type: ignore[misc, unused-ignore]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            return [(passage, 1.0) for passage in passages]

    config = LLMConfig(api_key=address.key, base_url=address.base_url, model="extractor", small_model="extractor")
    model = OpenAIGenericClient(config, max_tokens=settings.max_tokens)
    return Graph(graph_driver=KuzuDriver(db=path), llm_client=model, embedder=Vectors(), cross_encoder=Unranked())


def _episode_search(k: int) -> Any:  # Any: of the package
    from graphiti_core.search.search_config import (
        EpisodeReranker,
        EpisodeSearchConfig,
        EpisodeSearchMethod,
        SearchConfig,
    )

    config = EpisodeSearchConfig(search_methods=[EpisodeSearchMethod.bm25], reranker=EpisodeReranker.rrf)
    return SearchConfig(episode_config=config, limit=k)
