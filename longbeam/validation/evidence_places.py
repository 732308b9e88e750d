"""Places of the evidence: who said it, how far from the question it lies, and how soon its values are said again."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median

from longbeam.schemas import Evidence, EvidencePlaces, MessageRole, Probe
from longbeam.text import distinct_values, says
from longbeam.validation.index import ConversationIndex


@dataclass
class EvidenceTally:
    """Counts over the selected probes of several conversations."""

    said_by: Counter[MessageRole] = field(default_factory=Counter)
    """Distinct cited messages of each probe, by who said them."""
    probes: int = 0
    of_assistant: int = 0
    on_the_way: int = 0
    to_question: list[int] = field(default_factory=list)
    to_mention: list[int] = field(default_factory=list)
    values: int = 0

    def add(self, index: ConversationIndex) -> None:
        """Count the selected probes of a conversation."""
        tokens = array("Q", accumulate((m.tokens for m in index.messages), initial=0))
        for probe in index.selected:
            self.probes += 1
            self.on_the_way += probe.asked_at is not None
            cited = {m.message_key: m for m in index.cited(probe)}
            self.said_by.update(m.role for m in cited.values())
            self.of_assistant += any(m.role is MessageRole.ASSISTANT for m in cited.values())
            if cited:
                last = max(index.position[key] for key in cited)
                self.to_question.append(max(tokens[_asked_after(index, probe)] - tokens[last + 1], 0))
            for distance in _next_mentions(index, probe):
                self.values += 1
                self.to_mention += [] if distance is None else [distance]

    def table(self) -> EvidencePlaces:
        """Return the counts as figures."""
        return EvidencePlaces(
            user_messages=self.said_by[MessageRole.USER],
            assistant_messages=self.said_by[MessageRole.ASSISTANT],
            probes=self.probes,
            probes_of_assistant=self.of_assistant,
            asked_on_the_way=self.on_the_way,
            tokens_to_question=_median(self.to_question),
            messages_to_next_mention=_median(self.to_mention),
            mentioned_again=round(len(self.to_mention) / self.values, 4) if self.values else None,
        )


def _asked_after(index: ConversationIndex, probe: Probe) -> int:
    """Return the number of messages before the question."""
    if probe.asked_at is None:
        return len(index.messages)
    return bisect_right(index.messages, probe.asked_at, key=lambda m: m.sent_at)


def _next_mentions(index: ConversationIndex, probe: Probe) -> Iterator[int | None]:
    """Yield the distance to the next message with a value, for each value of the gold in a quote; None without one."""
    for evidence in probe.evidence:
        at = index.position.get(evidence.message_key)
        if at is not None:
            for words in _gold_values(probe, evidence):
                shown = re.compile(rf"(?<!\w){re.escape(words)}(?!\w|[.,]\d)")
                later = (i for i, text in index.holding([words]) if i > at and shown.search(text))
                following = next(later, None)
                yield None if following is None else following - at


def _gold_values(probe: Probe, evidence: Evidence) -> list[str]:
    """Return the values of the gold in a quote, in the quote's words, case-folded."""
    return [v.text.casefold() for v in distinct_values(evidence.quote) if says(probe.gold_answer, v)]


def _median(values: Sequence[int]) -> float | None:
    return float(median(values)) if values else None
