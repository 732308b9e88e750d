"""Measured difficulty of probes: where their evidence lies, what competes with it, and what trivial memories find.

No model is asked. A floor's score is that of an oracle reader: it says a nugget when the floor has read every message
that the nugget rests on. So the figures are the same in every language and whoever wrote the conversation, and the same
bytes in every run. The floors have the budgets of `evaluate`; `user_only` reads the newest of the user's messages.
"""

from __future__ import annotations

import random
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean

from longbeam.evaluation.interference import DIGITS, count_competitors, overlap_of
from longbeam.evaluation.tuning import MEASURING
from longbeam.memory import Bm25Index, exchanges_of, ranked, said
from longbeam.schemas import EvaluationSettings, MeasuredDifficulty, Message, MessageRole, Plan, Probe
from longbeam.text import words_of

BUDGETS = EvaluationSettings()


@dataclass
class _EvidencePlaces:
    """Ordinals of cited messages, and the tokens and times of everything, as arrays."""

    cited: dict[str, tuple[int, int, MessageRole]] = field(default_factory=dict)
    """By key: ordinal of the message, ordinal of its exchange, and who said it."""
    tokens: array[int] = field(default_factory=lambda: array("Q", [0]))
    """Tokens before each message, and at last all of them."""
    user_tokens: array[int] = field(default_factory=lambda: array("Q", [0]))
    exchange_tokens: array[int] = field(default_factory=lambda: array("L"))
    exchange_ends: list[datetime] = field(default_factory=list)
    exchange_sizes: array[int] = field(default_factory=lambda: array("L"))


class DifficultyMeter:
    """Measures the probes of one conversation, which is read once."""

    def __init__(self, messages: Iterable[Message], probes: Sequence[Probe], plans: Sequence[Plan], key: str) -> None:
        """Read the conversation for these probes; `key` seeds the random floor."""
        self._key = key
        self._places = _EvidencePlaces()
        cited = {e.message_key for p in probes for e in p.evidence}
        vocabulary = frozenset(word for p in probes for word in words_of(p.question))
        self._index = Bm25Index(self._texts(messages, cited), vocabulary=vocabulary)
        self._competitors = count_competitors(plans, probes)

    def _texts(self, messages: Iterable[Message], cited: Collection[str]) -> Iterator[str]:
        """Yield the exchanges as texts, and note what the measures need of them."""
        places = self._places
        for exchange in exchanges_of(messages):
            for message in exchange.messages:
                if message.message_key in cited:
                    ordinal = len(places.tokens) - 1
                    places.cited[message.message_key] = ordinal, len(places.exchange_ends), message.role
                own = message.tokens if message.role is MessageRole.USER else 0
                places.tokens.append(places.tokens[-1] + message.tokens)
                places.user_tokens.append(places.user_tokens[-1] + own)
            places.exchange_tokens.append(sum(m.tokens for m in exchange.messages))
            places.exchange_sizes.append(len(exchange.messages))
            places.exchange_ends.append(exchange.messages[-1].sent_at)
            yield said(exchange)

    def of(self, probe: Probe) -> MeasuredDifficulty:
        """Return the probe's measures; those of its evidence are None where it cites nothing, or an unknown message."""
        places = self._places
        found = [places.cited.get(e.message_key) for e in probe.evidence]
        if not found or None in found:
            return MeasuredDifficulty(competitors=self._competitors.get(probe.probe_id))
        exchanges = self._exchanges_before(probe)
        messages = sum(places.exchange_sizes[:exchanges])
        cited = sorted({place[0] for place in found if place is not None})
        return MeasuredDifficulty(
            evidence_from=round(cited[0] / (len(places.tokens) - 1), DIGITS),
            evidence_to=round(cited[-1] / (len(places.tokens) - 1), DIGITS),
            tokens_to_question=max(places.tokens[messages] - places.tokens[cited[-1] + 1], 0),
            competitors=self._competitors.get(probe.probe_id),
            lexical_overlap=overlap_of(probe),
            bm25=self._score(probe, self._read(self._found(probe, exchanges))),
            random_units=self._score(probe, self._read(self._drawn(probe, exchanges))),
            user_only=self._score(probe, self._user_side(messages)),
        )

    def _exchanges_before(self, probe: Probe) -> int:
        ends = self._places.exchange_ends
        return len(ends) if probe.asked_at is None else bisect_right(ends, probe.asked_at)

    def _found(self, probe: Probe, exchanges: int) -> list[int]:
        return ranked(self._index.scores(probe.question)[:exchanges], MEASURING.floor_exchanges)

    def _drawn(self, probe: Probe, exchanges: int) -> list[int]:
        return random.Random(f"{self._key}/{probe.probe_id}").sample(
            range(exchanges), min(exchanges, MEASURING.floor_exchanges)
        )

    def _read(self, order: Iterable[int]) -> Callable[[str], bool]:
        """Return whether a message is in the exchanges, best first, up to the first that does not fit the budget."""
        left, read = BUDGETS.budget, set[int]()
        for exchange in order:
            left -= self._places.exchange_tokens[exchange]
            if left < 0:
                break
            read.add(exchange)
        return lambda key: self._places.cited[key][1] in read

    def _user_side(self, messages: int) -> Callable[[str], bool]:
        tokens = self._places.user_tokens

        def is_read(key: str) -> bool:
            ordinal, _, role = self._places.cited[key]
            return role is MessageRole.USER and tokens[messages] - tokens[ordinal] <= BUDGETS.window

        return is_read

    def _score(self, probe: Probe, is_read: Callable[[str], bool]) -> float:
        """Return the share of nuggets whose messages are all read; all of the evidence for a nugget that names none."""
        every = {e.message_key for e in probe.evidence}
        needs = [{e.message_key for e in probe.evidence if n.nugget_id in e.nugget_ids} or every for n in probe.rubric]
        return round(fmean(all(map(is_read, keys)) for keys in needs), DIGITS)
