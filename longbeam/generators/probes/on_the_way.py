"""Probes that are asked on the way: after a message in the middle, not after the last one.

A gold answer rests on the messages that its probe cites, and nothing later changes it. So it is right from the last
cited message on, and a probe may be asked at any moment after that. A format without times asks it at the end.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from longbeam.abilities import Trait, ability_of
from longbeam.generators.tuning import PROBING
from longbeam.schemas import Message, MessageRole, Probe


class AskingMoment(NamedTuple):
    """The end of an exchange, when a question can be asked."""

    position: int
    """Ordinal of the last message before it."""
    sent_at: datetime


@dataclass(frozen=True)
class Moments:
    """The moments of a conversation, and the places of cited messages."""

    moments: Sequence[AskingMoment]
    """Oldest first; without those of the last tenth."""
    positions: dict[str, int]
    """Ordinal of each cited message."""

    @classmethod
    def of(cls, messages: Iterable[Message], cited: Collection[str]) -> Moments:
        """Return the moments of a conversation, whose messages are read once."""
        moments: list[AskingMoment] = []
        positions: dict[str, int] = {}
        total = 0
        last: Message | None = None
        for message in messages:
            if message.message_key in cited:
                positions[message.message_key] = total
            if last is not None and _parts(last, message):
                moments.append(AskingMoment(total - 1, last.sent_at))
            last, total = message, total + 1
        return cls([m for m in moments if m.position < PROBING.asked_until * total], positions)

    def after(self, probe: Probe) -> Sequence[AskingMoment]:
        """Return the moments at which the probe can be asked; none for one that cites nothing or an unknown message.

        None for a request that a wish applies to, either: it is worded with all that is known of the user at the end.
        """
        if ability_of(probe.ability).has(Trait.GUIDES_ANSWERS):
            return ()
        places = [self.positions.get(e.message_key) for e in probe.evidence]
        known = [p for p in places if p is not None]
        if not known or len(known) < len(places):
            return ()
        # Nobody asks for what they have said in the exchange before.
        return self.moments[bisect_left(self.moments, max(known), key=lambda m: m.position) + 1 :]


def _parts(before: Message, after: Message) -> bool:
    """Return whether an exchange ends between two messages, at a time that lies before the next message."""
    return before.role is not MessageRole.USER and after.role is MessageRole.USER and before.sent_at < after.sent_at


def ask_on_the_way(probes: Sequence[Probe], moments: Moments, share: float, key: str) -> list[Probe]:
    """Return the probes, this share of the selected ones with a time at which they are asked.

    `key` seeds the draws. Places are drawn by ability and rank, so a replaced probe changes no other ability.
    Near moments are drawn more often than far ones: what a memory has not taken in yet shows soon after the evidence.
    """
    count = round(share * sum(p.is_selected for p in probes))
    fit = [p for p in probes if p.is_selected and moments.after(p)]
    times: dict[str, datetime] = {}
    for probe in sorted(fit, key=lambda p: _drawn(key, p.ability, str(p.rank)))[:count]:
        after = moments.after(probe)
        times[probe.probe_id] = after[int(len(after) * _drawn(key, probe.probe_id) ** 2)].sent_at
    return [p.model_copy(update={"asked_at": times.get(p.probe_id)}) for p in probes]


def _drawn(*key: str) -> float:
    return random.Random("/".join((*key, "asked_at"))).random()
