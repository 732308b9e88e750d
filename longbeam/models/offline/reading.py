"""The model-free reader: it quotes the sentences of a memory that share the most telling words with the question.

It cannot infer, compute or follow instructions; what it scores says what retrieval found, and is a lower bound of
what a language model would make of the same context.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from longbeam.schemas.evaluation_calls import AnswerInputs
from longbeam.schemas.sentences import sentences
from longbeam.schemas.words import words_of

NO_INFORMATION = "There is no information about this in our conversation."
_MOST_SENTENCES = 6
_LEAST_COVERAGE = 0.2
"""Share of the question's word weight that the best sentence must have."""
_WORTH_QUOTING = 0.3
"""Sentences below this share of the best one's score are left out."""
_HEADER = re.compile(r"^\[[A-Z][a-z]+day, (\d{2} [A-Z][a-z]+ \d{4}), \d{2}:\d{2}\]$", re.MULTILINE)
_SPEAKER = re.compile(r"^\S{1,40}: ", re.MULTILINE)


def answer(inputs: AnswerInputs) -> str:
    """Return the best sentences in their order, with the day they were said; or that there is no information."""
    said = _sentences_of(inputs.context)
    asked = set(words_of(inputs.question))
    if not said or not asked:
        return NO_INFORMATION
    words = [frozenset(words_of(text)) for _, text in said]
    frequency = Counter(word for found in words for word in found)
    weight = {w: math.log(1 + len(said) / (1 + frequency[w])) for w in asked}
    # Exact sums: those of floats depend on the order of a set, which differs from process to process.
    total = math.fsum(weight.values())
    covered = [math.fsum(weight[w] for w in asked & found) for found in words]
    best = max(covered)
    if best < _LEAST_COVERAGE * total:
        return NO_INFORMATION
    order = sorted(range(len(said)), key=lambda i: (-covered[i], i))[:_MOST_SENTENCES]
    chosen = sorted(i for i in order if covered[i] >= _WORTH_QUOTING * best)
    return "\n".join(f"{said[i][0]}: {said[i][1]}" if said[i][0] else said[i][1] for i in chosen)


def _sentences_of(context: str) -> list[tuple[str, str]]:
    """(day, sentence) in order; a sentence said twice counts once, at its last place; questions say nothing."""
    found: dict[str, str] = {}
    headers = [*_HEADER.finditer(context)]
    starts = [(0, ""), *((h.end(), h[1]) for h in headers)]
    ends = [*(h.start() for h in headers), len(context)]
    for (start, day), end in zip(starts, ends, strict=True):
        segment = _SPEAKER.sub("", context[start:end])
        for first, last in sentences(segment):
            text = segment[first:last]
            if not text.endswith("?"):
                found.pop(text, None)
                found[text] = day
    return [(day, text) for text, day in found.items()]
