"""Floors that know nothing but form: they keep the sentences that look as if somebody will ask about them.

`planted` keeps what the user states and what the assistant advises, by rule. `templates` keeps the sentences that a
naive Bayes classifier on masked word n-grams prefers, learnt on the other conversations of the benchmark. Both read
the sentences with the rare words of the question first, up to the budget. What they solve is solved by form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from longbeam.memory.base import Tools
from longbeam.memory.floors import FloorMemory, FloorSettings, Scores, bm25
from longbeam.memory.templates import shipped_templates
from longbeam.memory.tuning import MEMORIZING
from longbeam.schemas import Exchange, Message, MessageRole
from longbeam.text import Span, sentences

Keep = Callable[[Message, Sequence[Span]], Sequence[float]]
"""Function from a message and the spans of its sentences to a score for each; higher ones are kept first."""
_ADVICE = re.compile(
    r"\bI(?:['’]d| would| suggest| recommend| advise| propose| gave| have to correct)\b|"
    r"\b(?:my|from me|should|recommend|suggest|your options|the steps)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d[.)]\s*\Z")
_ASKS = re.compile(r"[?？؟]")


def states_or_advises(message: Message, spans: Sequence[Span]) -> list[float]:
    """Return 1 for a statement of the user's and for advice of the assistant's with the list behind it, else 0."""
    text, found, before = message.content, list[float](), 0
    for start, end in spans:
        if message.role is MessageRole.USER:
            is_kept = not _ASKS.search(text, start, end)
        else:
            is_listed = bool(found and found[-1] and _NUMBERED.search(text, before, start))
            is_kept = is_listed or _ADVICE.search(text, start, end) is not None
        found.append(float(is_kept))
        before = end
    return found


def rare_words(exchanges: Sequence[Exchange], tools: Tools) -> Scores:
    """Rank exchanges by BM25, in which rare words count most, and the newest first among equals."""
    scores = bm25(exchanges, tools)
    newest = np.arange(1, len(exchanges) + 1, dtype=np.float32) * 1e-6
    return lambda question: scores(question) + newest


class PlantedFloor(FloorMemory):
    """Keeps the sentences with the best scores, and ranks what is left of the exchanges by rare words."""

    def __init__(self, keep: Keep | None, settings: FloorSettings, tools: Tools) -> None:
        """`keep` scores sentences: all above 0 are kept. None: the templates do, and a share of the text is kept."""
        super().__init__(rare_words, settings, tools)
        self._keep = keep or (tools.templates or shipped_templates()).score
        self._share = 1.0 if keep else MEMORIZING.kept_share
        self._all: list[tuple[Exchange, Sequence[tuple[Sequence[Span], Sequence[float]]]]] = []

    async def add(self, exchange: Exchange) -> None:
        """Score the sentences of the exchange."""
        spans = [sentences(m.content) for m in exchange.messages]
        newer = len(self._all) * 1e-9  # of equal sentences the newest are kept
        scored = [
            (own, [score + newer for score in self._keep(m, own)])
            for m, own in zip(exchange.messages, spans, strict=True)
        ]
        self._all.append((exchange, scored))

    async def finish(self) -> None:
        """Keep the best sentences of what was added so far."""
        least = self._least()
        self._exchanges = [kept for one, scored in self._all if (kept := _reduced(one, scored, least)) is not None]
        await super().finish()

    def _least(self) -> float:
        """Return the least score of a sentence that is kept."""
        if self._share == 1.0:
            return 0.5
        lengths = [(s, b - a) for _, of in self._all for spans, ss in of for (a, b), s in zip(spans, ss, strict=True)]
        left = self._share * sum(length for _, length in lengths)
        for score, length in sorted(lengths, reverse=True):
            if (left := left - length) < 0:
                return score
        return 0.0


def _reduced(
    exchange: Exchange, scored: Sequence[tuple[Sequence[Span], Sequence[float]]], least: float
) -> Exchange | None:
    """Return an exchange with its kept sentences alone; None if there are none."""
    kept = []
    for message, (spans, scores) in zip(exchange.messages, scored, strict=True):
        if text := "\n".join(_runs(message.content, spans, [score >= least for score in scores])):
            kept.append(message.model_copy(update={"content": text}))
    return exchange.model_copy(update={"messages": tuple(kept)}) if kept else None


def _runs(text: str, spans: Sequence[Span], kept: Sequence[bool]) -> Iterator[str]:
    """Yield the runs of neighbouring sentences that are kept, word for word."""
    start = -1
    for (here, end), is_kept, is_next in zip(spans, kept, [*kept[1:], False], strict=True):
        if is_kept and start < 0:
            start = here
        if is_kept and not is_next:
            yield text[start:end]
            start = -1
