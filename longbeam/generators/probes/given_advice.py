"""Advice that the assistant gave, found once for all abilities: each figure, day and list with the reply that gives it.

Only what is unambiguous is here: one value for a thing, or one that was corrected once, and lists that one reply gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any

from longbeam.generators.probes.evidence import FactQuote, Quote, find_words
from longbeam.generators.probes.histories import Histories
from longbeam.generators.probes.voices import Voices
from longbeam.generators.said_advice import advice_quote
from longbeam.schemas import Advice, AdviceKind, Bullet, Message, MessageRole


@dataclass(frozen=True)
class GivenList:
    """A list that one reply gives; of a use, an amount with the one thing that it is for."""

    advice: Advice
    whole: Quote
    choice: Quote | None = None
    """The words in which the user says which item they took."""


@dataclass(frozen=True)
class GivenAdvice:
    """Advice that the assistant gave, in the order of the conversation."""

    settled: tuple[FactQuote, ...] = ()
    """Figures and days that it never corrected."""
    corrected: tuple[tuple[FactQuote, FactQuote], ...] = ()
    """Figures and days that it corrected once: the original and the new value."""
    lists: tuple[GivenList, ...] = ()

    def lists_of(self, kind: AdviceKind) -> tuple[GivenList, ...]:
        """Return the lists of one kind."""
        return tuple(given for given in self.lists if given.advice.kind is kind)


def find_given_advice(histories: Histories, voices: Voices) -> GivenAdvice:
    """Return what replies give of the plans' advice."""
    by_slot: dict[tuple[str, str], list[Advice]] = {}
    choices: dict[str, Bullet] = {}
    told = set[tuple[str, str]]()
    for plan in histories.plans:
        for advice in plan.advice:
            by_slot.setdefault((advice.topic.casefold(), advice.attribute), []).append(advice)
        taken = {advice.taken_in for advice in plan.advice if advice.taken_in}
        choices |= {b.bullet_id: b for b in plan.bullets() if b.bullet_id in taken} if taken else {}
        told |= {(f.subject.casefold(), f.attribute.casefold()) for f in plan.facts}
    settled: list[FactQuote] = []
    corrected: list[tuple[FactQuote, FactQuote]] = []
    lists: list[GivenList] = []
    for slot, advices in by_slot.items():
        first, last = advices[0], advices[-1]
        is_other = len(advices) > 2 or (len(advices) == 2 and last.corrects != first.advice_id)
        if slot in told or slot[0] in histories.shared_names or is_other:
            continue  # a question could mean another one
        values = [_value(advice, voices) for advice in advices]
        if len(values) == 2 and None not in values:
            corrected.append((values[0], values[1]))  # type: ignore[arg-type]
        elif len(values) == 1 and values[0] is not None:
            settled.append(values[0])
        elif first.items and (given := _list(first, voices, choices)) is not None:
            lists.append(given)
    return GivenAdvice(
        tuple(sorted(settled, key=lambda s: s.position)),
        tuple(sorted(corrected, key=lambda pair: pair[0].position)),
        tuple(sorted(lists, key=lambda given: given.whole.position)),
    )


def _reply(advice: Advice, voices: Voices) -> tuple[int, Message, str] | None:
    """Return place and message of the reply that gives a piece of advice, with its words; None if none does."""
    for position, message in voices.of_bullet(advice.advice_id):
        if (quote := advice_quote(advice, message.content)) is not None:
            return position, message, quote
    return None


def _value(advice: Advice, voices: Voices) -> FactQuote | None:
    found = _reply(advice, voices)
    if found is None or advice.value is None or advice.items:
        return None
    return FactQuote(value=advice.value, **_of(advice, *found))


def _of(advice: Advice, position: int, message: Message, quote: str) -> dict[str, Any]:  # Any: fields of Quote
    return {
        "message_key": message.message_key,
        "position": position,
        "session": message.session,
        "said_on": message.sent_at.date(),
        "speaker": MessageRole.ASSISTANT,
        "quote": quote,
        "bullet_id": advice.advice_id,
        "topic": intern(advice.topic),
        "narrative": intern(advice.narrative),
        "subject": intern(advice.topic),
        "attribute": intern(advice.attribute),
    }


def _list(advice: Advice, voices: Voices, choices: Mapping[str, Bullet]) -> GivenList | None:
    found = _reply(advice, voices)
    if found is None:
        return None
    whole = Quote(value=advice.value, **_of(advice, *found))
    bullet = choices.get(advice.taken_in)
    choice = find_words(voices, bullet) if bullet is not None else None
    return GivenList(advice, whole, choice)
