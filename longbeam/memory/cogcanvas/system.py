"""CogCanvas as a memory system: extract, link, search, read within a budget, answer with reasoning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import networkx as nx
import numpy as np

from longbeam.errors import ReplyError
from longbeam.memory.base import ExchangeMemory, Tools
from longbeam.memory.cogcanvas.artifacts import Artifact, written
from longbeam.memory.cogcanvas.extracting import Extractor
from longbeam.memory.cogcanvas.linking import Graph, build_graph
from longbeam.memory.cogcanvas.searching import Canvas, Found, adaptive_k, fused, is_simple, make_reranker, search
from longbeam.memory.cogcanvas.settings import CogCanvasSettings
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import said
from longbeam.memory.index import TextIndex, choose_retriever
from longbeam.models import Asker
from longbeam.models.embedders import HashedEmbedder
from longbeam.prompts.calls import AnswerInputs, ReasonedAnswerInputs, ReasonedAnswerReply, SearchStepInputs
from longbeam.schemas import Context, Exchange, Passage, PreparationUsage, Question

_PER_ARTIFACT = 10
"""Tokens that the released code adds to the estimate for each artifact."""
_RECALLED, _RECENT = 0, 1
"""Places in a context that is ordered by rank."""


class CogCanvas(ExchangeMemory[CogCanvasSettings]):
    """A canvas of artifacts, of verbatim exchanges, or of both, over one conversation."""

    def __init__(self, settings: CogCanvasSettings, tools: Tools) -> None:
        super().__init__(settings, tools)
        self._retriever = choose_retriever(
            "cogcanvas.retriever", settings.retriever, tools.embedder, with_embedder="hybrid"
        )
        self._reranker = make_reranker(settings.reranker) if settings.has("reranking") else None
        self._at: dict[int, Exchange] = {}
        self._artifacts: list[Artifact] = []
        self._graph: Graph = nx.MultiDiGraph()
        self._calls = self._failed = 0

    @property
    def artifacts(self) -> Sequence[Artifact]:
        """The stored artifacts, by number."""
        return self._artifacts

    @property
    def graph(self) -> Graph:
        """Links between the numbers of artifacts; the key of an edge is its relation."""
        return self._graph

    async def finish(self) -> None:
        """Extract the artifacts, index them, and link them."""
        settings = self._settings
        self._at = {exchange.position: exchange for exchange in self._exchanges}  # a control leaves gaps
        made: list[Artifact] = []
        if settings.representation != "chunks":
            extractor = Extractor(settings, self._tools)
            made = await extractor.extract(self._exchanges)
            self._calls, self._failed = extractor.calls, extractor.failed
        chunks = self._chunks() if settings.representation != "artifacts" else []
        self._artifacts = _numbered([*chunks, *made])
        texts = [artifact.text for artifact in self._artifacts]
        self._index = await TextIndex.build(texts, self._retriever, self._tools, weight_dense=settings.weight_dense)
        if texts and settings.has("graph"):
            vectors = await (self._tools.embedder or HashedEmbedder()).embed(texts)
            self._graph = build_graph(self._artifacts, vectors, settings)

    async def retrieve(self, question: Question, *, k: int) -> Sequence[Passage]:
        """Return the k best artifacts, whose id is their number."""
        return [self._artifact_passage(place, score) for place, score in (await self.find(question.text, k=k))[:k]]

    async def find(self, question: str, *, k: int | None = None, further: Sequence[str] = ()) -> list[Found]:
        """Return numbers of artifacts with their scores, best first; k is the settings' unless given.

        `further` are queries beside the question, whose scores are fused with its own.
        """
        if self._index is None or not self._artifacts:
            return []
        every = [await self._index.scores(query) for query in (question, *further)]
        scores = fused(every, self._settings.coarse)
        if self._settings.routed:
            part = np.array([(artifact.kind == "chunk") is is_simple(question) for artifact in self._artifacts])
            scores = np.where(part, scores, 0)
        k = k or self._settings.k or adaptive_k(question)
        canvas = Canvas(self._artifacts, self._graph, self._reranker, self._settings)
        return await search(question, scores, canvas, k=k)

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the artifacts that fit and the last exchanges; at most `budget` tokens, except in `released`."""
        return await self._read(question, await self._expanded(question), budget)

    async def _expanded(self, question: Question) -> list[str]:
        """Return the further queries that the reader names before it sees anything."""
        further: list[str] = []
        while len(further) < self._settings.queries and (query := await self._further(question, further, "")):
            further.append(query)
        return further

    async def _further(self, question: Question, further: Sequence[str], found: str, left: int = 1) -> str:
        """Return one more query, given the text that was found; empty if the reader needs none."""
        inputs = SearchStepInputs(
            question=question.text,
            asked_on=question.asked_at.date(),
            found=found,
            searches=(question.text, *further),
            searches_left=left,
        )
        try:
            step = await self._tools.asker.structured("search_step", inputs, place=f"q{inputs.digest[:12]}")
        except ReplyError:
            return ""
        return str(step.query) if step.action == "search" else ""

    async def _read(self, question: Question, further: Sequence[str], budget: int) -> Context:
        settings = self._settings
        budget = min(budget, settings.max_tokens or budget)
        builder = ContextBuilder(budget, self._counter())
        recent = self._exchanges[len(self._exchanges) - settings.keep :] if settings.keep else []
        # The last exchanges have their share even if artifacts could fill the whole budget.
        builder.budget = budget - (int(budget * settings.recent_share) if recent else 0)
        for rank, (place, _) in enumerate(await self.find(question.text, further=further)):
            # The original stops at the first artifact that does not fit; `skips` goes on to smaller ones.
            if not self._put(builder, self._artifacts[place], rank) and not settings.skips:
                break
        builder.budget = budget
        for exchange in reversed(recent):
            where = (_RECENT, exchange.position) if settings.order == "rank" else (exchange.position, 0)
            if not builder.has_whole(exchange) and not builder.put_exchange("recent", exchange, place=where):
                break
        context = builder.build()
        return context.model_copy(update={"tokens": self._tools.count_tokens(context.text)})

    async def answer(self, question: Question, *, budget: int, asker: Asker) -> tuple[str, Context, int]:
        """Return the answer of the reasoning-aware prompt, or of the plain one, after the last round."""
        further = await self._expanded(question)
        context = await self._read(question, further, budget)
        for left in range(self._settings.rounds - 1, 0, -1):
            if not (query := await self._further(question, further, context.text, left)):
                break
            further.append(query)
            context = await self._read(question, further, budget)
        asked_on, calls = question.asked_at.date(), 1 + len(further)
        if self._settings.prompt == "plain":
            plain = AnswerInputs(context=context.text, question=question.text, asked_on=asked_on)
            return await asker.prose("answer", plain), context, calls
        inputs = ReasonedAnswerInputs(
            context=context.text,
            question=question.text,
            asked_on=asked_on,
            may_abstain=self._settings.may_abstain,
        )
        reply: ReasonedAnswerReply = await asker.structured("answer_by_reasoning", inputs)
        return reply.answer, context, calls

    def usage(self) -> PreparationUsage:
        """Return the calls, the vectors and the size of the index."""
        return super().usage().model_copy(update={"model_calls": self._calls, "failed_calls": self._failed})

    def _put(self, builder: ContextBuilder, artifact: Artifact, rank: int) -> bool:
        """Put an artifact into the context; return True as well if its whole exchange is there already."""
        exchange = self._at[artifact.position]
        where = (_RECALLED, rank) if self._settings.order == "rank" else (artifact.position, 0)
        if artifact.kind == "chunk":
            return builder.put_exchange("chunks", exchange, place=where)
        if builder.has_whole(exchange):
            return True
        return builder.put("artifacts", written(artifact, self._settings.form), artifact.message_keys, place=where)

    def _chunks(self) -> list[Artifact]:
        is_batch, size = self._settings.extract == "batch", self._settings.compress_every
        return [
            Artifact(
                number=0,
                kind="chunk",
                content=said(exchange),
                message_keys=exchange.message_keys,
                position=exchange.position,
                turn=exchange.position // size if is_batch else exchange.position,
                said_at=exchange.sent_at,
            )
            for exchange in self._exchanges
        ]

    def _artifact_passage(self, place: int, score: float) -> Passage:
        artifact = self._artifacts[place]
        text = artifact.content if artifact.kind == "chunk" else written(artifact, self._settings.form)
        return Passage(
            passage_id=str(artifact.number),
            text=text,
            score=score,
            message_keys=artifact.message_keys,
            tokens=self._tools.count_tokens(text),
            sent_at=artifact.said_at,
        )

    def _counter(self) -> Callable[[str], int]:
        estimate = self._settings.chars_per_token
        if estimate is None:
            return self._tools.count_tokens
        return lambda text: int(len(text) / estimate) + _PER_ARTIFACT


def _numbered(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """Return the artifacts in the order of the conversation, a chunk before the artifacts extracted from it."""
    ordered = sorted(artifacts, key=lambda a: (a.turn, a.position, a.kind != "chunk"))
    return [artifact.model_copy(update={"number": number}) for number, artifact in enumerate(ordered)]
