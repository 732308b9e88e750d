"""Form of the sentences that probes quote, learnt on the other conversations of a benchmark: naive Bayes on n-grams.

Counts add up, so that each conversation is left out of its own weights without learning anew from nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from longbeam.memory.tuning import MEMORIZING
from longbeam.schemas import Message, MessageRole, Probe, Record
from longbeam.text import Mask, Span, form_words, sentences

SHIPPED = Path(__file__).parent / "data" / "templates.json"
"""Weights for benchmarks with fewer than four conversations (`benchmarks/shipped_templates.py`)."""
_MASK = Mask(())


class Templates(Record):
    """Weights of n-grams: the logarithm of how much likelier each is in a sentence that a probe quotes."""

    learnt_from: str
    weights: dict[str, float]

    def score(self, message: Message, spans: Sequence[Span]) -> list[float]:
        """Return the score of each sentence of a message."""
        known = self.weights
        grams = [grams_of(message.role, message.content[a:b]) for a, b in spans]
        return [sum(known.get(g, 0.0) for g in own) / math.sqrt(len(own)) for own in grams]


@cache
def shipped_templates() -> Templates:
    """Return the templates of the package."""
    return Templates.model_validate_json(SHIPPED.read_bytes())


def grams_of(role: MessageRole, text: str) -> set[str]:
    """Return the n-grams of one to three masked words of a sentence, its speaker and its length in powers of two."""
    words = form_words(text, _MASK)
    grams = {f"<{role}>", f"<{role} {len(words).bit_length()}>"}
    for n in (1, 2, 3):
        grams.update(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
    return grams


@dataclass
class TemplateCounts:
    """Sentences of a conversation that have each n-gram: those that probes quote, and a sample of the others."""

    told: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    sentences: tuple[int, int] = (0, 0)


def count_templates(messages: Sequence[Message], probes: Iterable[Probe]) -> TemplateCounts:
    """Return the counts of one conversation; of a message cited without a quote every sentence counts as quoted."""
    quotes: dict[str, list[str]] = {}
    for evidence in (e for probe in probes for e in probe.evidence):
        quotes.setdefault(evidence.message_key, []).append(evidence.quote)
    counts, told, others = TemplateCounts(), 0, 0
    step = len(messages) // MEMORIZING.sampled_messages | 1  # odd, so that both speakers are sampled
    for ordinal, message in enumerate(messages):
        own = quotes.get(message.message_key, ())
        if not own and ordinal % step:
            continue
        for start, end in sentences(message.content):
            text = message.content[start:end]
            if any(quote in text or text in quote for quote in own):
                counts.told.update(grams_of(message.role, text))
                told += 1
            elif not ordinal % step:
                counts.others.update(grams_of(message.role, text))
                others += 1
    counts.sentences = told, others
    return counts


def learn_templates(counts: Sequence[TemplateCounts], learnt_from: str, *, most: int | None = None) -> Templates:
    """Return the weights of n-grams that occur twice, rounded so that all machines have the same.

    `most`: number of n-grams, those kept that tell most over all sentences.
    """
    told, others = Counter[str](), Counter[str]()
    for one in counts:
        told.update(one.told)
        others.update(one.others)
    n_told, n_others = (sum(one.sentences[i] for one in counts) + 1 for i in (0, 1))
    weights = {
        gram: round(math.log((told[gram] + 0.5) / n_told) - math.log((others[gram] + 0.5) / n_others), 3)
        for gram in sorted(told.keys() | others.keys())
        if told[gram] + others[gram] > 1
    }
    best = sorted(weights, key=lambda gram: -abs(weights[gram]) * (told[gram] + others[gram]))[:most]
    return Templates(learnt_from=learnt_from, weights={gram: weights[gram] for gram in sorted(best)})
