"""The similarity judge: the lexical judge, and sentence vectors for what it cannot decide by words.

A nugget that the words do not meet is met when one or two neighbouring sentences of the answer mean the same: their
vectors are close to the nugget's, closer than the question's by a margin, and neither side denies what the other says.
Typed values are still compared exactly, because vectors hardly tell 50 minutes from 60.

The thresholds were fitted on the recorded conversations of 16K (benchmarks/judge_calibration.py); docs/evaluation.md
has the scores, also on text that they were not fitted on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longbeam.models import ModelCall
from longbeam.offline.judging import align, judge_form, judge_words
from longbeam.offline.writer import text_of
from longbeam.prompts.calls import AlignInputs, AlignReply, JudgeInputs, JudgeReply
from longbeam.schemas import SIMILARITY_JUDGE, ModelReply
from longbeam.text import NEGATOR, says, sentences, values_in

_FRAME = re.compile(
    r"^\W*(?:(?:the )?(?:llm )?(?:response|answer) (?:should|must) \w+(?: that)?:?|"
    r"(?:states|says|mentions|gives|names)(?: that)?)\s+",
    re.IGNORECASE,
)
"""Beginning of a nugget that speaks of the answer and not of the conversation."""
CLOSE, CLOSE_WITH_VALUES = 0.5, 0.45
"""Least cosine of a nugget and a piece of the answer; the second where the answer has all values of the nugget."""
MARGIN = 0.05
"""Least difference to the cosine of the nugget and a piece of the question: repeating the question answers nothing."""
_KEPT = 50_000
"""Texts whose vectors are kept: the same answers and nuggets are compared again and again."""


class SentenceEmbedder(Protocol):
    """A model that gives texts unit vectors."""

    async def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return one unit vector per text."""


class SimilarityJudge:
    """Answers the judge's prompts by words, values and the vectors of one embedding model."""

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the verdict; raises KeyError for a prompt that is not a judge's."""
        inputs = call.inputs
        if isinstance(inputs, JudgeInputs):
            return _reply(await self.judge(inputs))
        if isinstance(inputs, AlignInputs):
            return _reply(await self.align(inputs))
        raise KeyError(call.prompt.prompt_id)

    async def judge(self, inputs: JudgeInputs) -> JudgeReply:
        """Return the verdict on one nugget."""
        by_form, inputs = judge_form(inputs)
        if by_form is not None:
            return by_form
        by_words = judge_words(inputs)
        values = values_in(inputs.nugget)
        if by_words.verdict == "met" or not all(says(inputs.answer, v) for v in values):
            return by_words
        nugget = _FRAME.sub("", inputs.nugget)
        said = [piece for piece in _pieces(inputs.answer) if _denies(piece) == _denies(nugget)]
        if not said:
            return by_words
        asked = _pieces(inputs.question)
        vectors = await self._embed([nugget, *said, *asked])
        found, near = np.split(vectors[1:] @ vectors[0], [len(said)])
        best = int(np.argmax(found))
        least = max(CLOSE_WITH_VALUES if values else CLOSE, near.max(initial=0) + MARGIN)
        if found[best] < least:
            return by_words
        return JudgeReply(reason=f"{said[best][:200]!r} means the same (cosine {found[best]:.2f})", verdict="met")

    async def align(self, inputs: AlignInputs) -> AlignReply:
        """Return the event that the item is about: by words, else the closest in meaning."""
        by_words = align(inputs)
        if by_words.event is not None or not inputs.item.strip():
            return by_words
        vectors = await self._embed([inputs.item, *(_FRAME.sub("", event) for event in inputs.events)])
        found = vectors[1:] @ vectors[0]
        best = int(np.argmax(found))
        reason = f"the closest event has a cosine of {found[best]:.2f}"
        return AlignReply(reason=reason, event=best if found[best] >= CLOSE else None)

    async def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if len(self._vectors) + len(new) > _KEPT:
            self._vectors.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._vectors.update(zip(new, await self._embedder.embed(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])


def _pieces(text: str) -> list[str]:
    """Return the sentences of a text, and each two neighbours together."""
    said = [text[slice(*span)].strip() for span in sentences(text)]
    return [*said, *(f"{first} {second}" for first, second in pairwise(said))]


def _denies(text: str) -> bool:
    return NEGATOR.search(text) is not None


def _reply(answer: JudgeReply | AlignReply) -> ModelReply:
    return ModelReply(text=text_of(answer), model=SIMILARITY_JUDGE)
