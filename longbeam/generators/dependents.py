"""Bullets that depend on a value: shares of it, amounts computed with it, and words such as "both" or "the rest".

A plan's ledger knows values and not how they depend on one another, so an update of one could leave another wrong. The
rules here find too much rather than too little: a fact on which something seems to depend is changed last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from longbeam.generators.ledger import Ledger, line_of
from longbeam.generators.mentions import Mentions
from longbeam.prompts.calls import Dependent
from longbeam.schemas import AMOUNT_KINDS, TELLING_KINDS, Assertion, Bullet, Value, ValueKind
from longbeam.text import content_words, says, sentences

SMALL = 12
"""Amounts up to this one are sums of others by chance; they count only beside a word that reckons."""
_LEFT_BEHIND = (
    r"(?= (?:over|for|of|in the (?:kitty|purse|budget|account|box|pot|jar)|"
    r"to (?:pay|spend|use|buy|do|sell|share))|[.,;!?]|\Z)"
)
"""Words behind "left" where it reckons: "is left standing" and "is left on" say nothing of an amount."""
_DEPENDING = re.compile(
    r"\b(?:both|neither|no more|not one more|the rest|remain(?:s|ing|der)?|left over|half|a third|"
    rf"(?:is|are) left{_LEFT_BEHIND}|"
    r"a quarter|twice|double|in total|altogether|all (?:of them|together)|each of the)\b",
    re.IGNORECASE,
)
"""Words that say something of an amount without repeating it."""
_NEXT = 24
"""Characters behind such a word that may name what it speaks of."""
_SHARE = re.compile(r"(?:%|\bper ?cent|\bhalf|\bthird|\bquarter) of\b[^.!?]*", re.IGNORECASE)
_RECKONING = re.compile(
    r"\b(?:left|rest|remain\w*|total|together|altogether|minus|plus|more|less|difference|short|over|saved|spare)\b",
    re.IGNORECASE,
)


def dependents_of(mentions: Mentions, bullet: Bullet, assertion: Assertion) -> tuple[Dependent, ...]:
    """Return the bullets that depend on the value of an assertion, in the order of the story.

    Only bullets are looked at that are about the fact's thing or name it.
    """
    if assertion.value is None:
        return ()
    ledger = mentions.ledger
    fact = ledger.fact[assertion.fact_id]
    near = {b.bullet_id: b for b in chain(mentions.of(fact.subject), mentions.of(bullet.topic))}
    found = (
        _dependence(ledger, other, assertion)
        for other in sorted(near.values(), key=lambda b: ledger.position[b.bullet_id])
        if other.bullet_id != bullet.bullet_id and other.kind in TELLING_KINDS
    )
    return tuple(d for d in found if d is not None)


def stale_words(text: str, dependent: Dependent, old: Value | None) -> str:
    """Return the words of a rewording that are still wrong after the change; empty if there are none."""
    for value in (*(line.value for line in dependent.stale), old):
        if value is not None and says(text, value):
            return value.text
    found = _DEPENDING.search(text)
    return found[0] if found else ""


def _dependence(ledger: Ledger, other: Bullet, assertion: Assertion) -> Dependent | None:
    fact, value = ledger.fact[assertion.fact_id], assertion.value
    assert value is not None
    told = [a for a in ledger.by_bullet.get(other.bullet_id, ()) if a.value is not None]
    subject, amount = content_words(fact.subject), content_words(f"{fact.attribute} {value.unit}")
    reasons: dict[str, str] = {}
    for a in told:
        if a.fact_id != fact.fact_id and a.value is not None and fact.kind in AMOUNT_KINDS:
            if a.value.kind is ValueKind.RATIO and _is_share_of(other.text, a.value, subject | amount):
                reasons[a.fact_id] = f"{a.value.text} is a share of it"
            elif _is_computed(a.value, value, list(_others(ledger, other, a)), other.text):
                reasons[a.fact_id] = f"{a.value.text} is reckoned with it"
    words = _depending_words(other.text, subject, amount) if fact.kind in AMOUNT_KINDS else ""
    if not reasons and not words:
        return None
    lines = {a.fact_id: line_of(ledger.fact[a.fact_id], a.value) for a in told}
    return Dependent(
        bullet=other,
        reason="; ".join((*reasons.values(), *([f"it says {words!r}"] if words else []))),
        stale=tuple(line for fact_id, line in lines.items() if fact_id in reasons),
        kept=tuple(line for fact_id, line in lines.items() if fact_id not in reasons),
    )


def _is_share_of(text: str, share: Value, thing: frozenset[str]) -> bool:
    spans = (text[a:b] for a, b in sentences(text))
    return any(
        says(sentence, share) and any(thing & content_words(m[0]) for m in _SHARE.finditer(sentence))
        for sentence in spans
    )


def _others(ledger: Ledger, other: Bullet, assertion: Assertion) -> Iterator[float]:
    """Yield the amounts told up to a bullet of its own topic, without the one that may be computed."""
    end = ledger.position[other.bullet_id]
    for bullet in ledger.by_topic.get(other.topic, ()):
        if ledger.position[bullet.bullet_id] <= end:
            for a in ledger.by_bullet.get(bullet.bullet_id, ()):
                if a.fact_id != assertion.fact_id and a.value is not None and a.value.number is not None:
                    yield a.value.number


def _is_computed(result: Value, value: Value, others: Sequence[float], text: str) -> bool:
    """Return whether an amount is the sum or the difference of a value and another amount of the same topic."""
    if result.number is None or value.number is None or (result.kind, result.unit) != (value.kind, value.unit):
        return False
    if min(abs(result.number), abs(value.number)) <= SMALL and not _RECKONING.search(text):
        return False
    gap = abs(result.number - value.number)
    total = result.number + value.number
    return any(other not in (0, value.number) and other in (gap, total) for other in others)


def _depending_words(text: str, subject: frozenset[str], amount: frozenset[str]) -> str:
    """Return words that say something of an amount: `both guests`, `the rest of the kitty`; empty if there are none."""
    for a, b in sentences(text):
        sentence = text[a:b]
        for found in _DEPENDING.finditer(sentence):
            if amount & content_words(sentence) or subject & content_words(sentence[found.end() :][:_NEXT]):
                return found[0]
    return ""
