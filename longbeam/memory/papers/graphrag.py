"""GraphRAG's local search from its paper (Edge et al., 2024, arXiv 2404.16130), small: entities, communities, reports.

Entities are extracted from each exchange and joined where one fact names them both. Communities of entities get a
report each. A question reads, of its nearest entities, the reports of their communities, their facts, and the
exchanges that name them, each with its share of the budget.

Not as in Microsoft's package: communities are Louvain's, not hierarchical Leiden's, so there is one level; a text unit
is an exchange, not 800 tokens; extraction is the prompt `extract_keys`, without gleaning, and reports are made by
`update_summary`. docs/memory-systems.md shows how to run the package itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations

import networkx as nx
from pydantic import Field

from longbeam.memory.base import in_order
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated
from longbeam.memory.papers.base import PaperMemory, TextPiece
from longbeam.memory.papers.hipporag import phrases_of
from longbeam.schemas import Context, Exchange, Question, Record


class GraphRagSettings(Record):
    """The package's defaults for local search."""

    entities: int = Field(default=10, ge=1)
    """Nearest entities of a question."""
    report_share: float = Field(default=0.15, ge=0, le=1)
    """Share of the budget for reports; facts have what reports and exchanges leave."""
    text_share: float = Field(default=0.5, ge=0, le=1)
    """Share of the budget for exchanges."""
    report_tokens: int = Field(default=200, ge=10)
    """Longest report. The package allows 2,000, of which no budget here would hold more than one."""
    resolution: float = Field(default=1.0, gt=0)
    """Higher: smaller communities, as with a higher community level."""


class GraphRag(PaperMemory[GraphRagSettings]):
    """Local search over the entities of a conversation."""

    async def finish(self) -> None:
        """Extract the entities, find their communities, and have a report written of each."""
        self._embedded = self._embedded_tokens = self._bytes = 0
        every = await in_order(partial(self._entries, e) for e in self._exchanges)
        graph: nx.Graph[str] = nx.Graph()
        self._facts: dict[str, list[str]] = {}
        self._units: dict[str, list[int]] = {}
        for place, entries in enumerate(every):
            for entry in entries:
                phrases = phrases_of(entry)
                for phrase in phrases:
                    self._facts.setdefault(phrase, []).append(f"{entry.key}: {entry.value}")
                    self._units.setdefault(phrase, []).append(place)
                for one, other in combinations(phrases, 2):
                    weight = graph.get_edge_data(one, other, {"weight": 0})["weight"]
                    graph.add_edge(one, other, weight=weight + 1)
        self._names = sorted(self._facts)
        self._matrix = await self._vectors([f"{name}: {'; '.join(self._facts[name])}" for name in self._names])
        found = nx.community.louvain_communities(graph, resolution=self._settings.resolution, seed=0) if graph else []
        communities = sorted(sorted(community) for community in found)
        self._reports = await in_order(partial(self._report, community) for community in communities)
        self._community = {name: i for i, community in enumerate(communities) for name in community}

    async def _report(self, community: Sequence[str]) -> str:
        facts = dict.fromkeys(fact for name in community for fact in self._facts[name])
        return await self._summarize([*facts], self._settings.report_tokens)

    async def _near(self, question: Question) -> list[str]:
        """Return the nearest entities of a question, best first."""
        found = await self._nearest(self._names, self._matrix, question.text, self._settings.entities)
        return [name for name, _ in found]

    def _ranked(self, near: Sequence[str]) -> list[tuple[Exchange, int]]:
        """Return the exchanges that name entities, with how many, most first; of equals the latest."""
        named = Counter(place for name in near for place in dict.fromkeys(self._units[name]))
        return [(self._exchanges[place], named[place]) for place in sorted(named, key=lambda p: (-named[p], -p))]

    async def _found(self, question: Question) -> Sequence[tuple[TextPiece, float]]:
        ranked = self._ranked(await self._near(question))
        return [(TextPiece(dated(exchange), exchange.message_keys), float(n)) for exchange, n in ranked]

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return reports, then facts, then exchanges; exchanges have what the others leave as well."""
        near, settings = await self._near(question), self._settings
        builder = ContextBuilder(int(budget * settings.report_share), self._tools.count_tokens)
        for community in dict.fromkeys(self._community[name] for name in near if name in self._community):
            builder.put("reports", self._reports[community], place=-2)
        builder.budget = budget - int(budget * settings.text_share)
        for fact in dict.fromkeys(fact for name in near for fact in self._facts[name]):
            builder.put("facts", fact, place=-1)
        builder.budget = budget
        for exchange, _ in self._ranked(near):
            builder.put_exchange("exchanges", exchange)
        return builder.build()
