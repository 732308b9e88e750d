"""Statements of what an amount of money is for: the sentences that say both, read by rules.

An amount and a purpose may share a sentence and still not belong together: the amount is denied, or another amount
stands in front of the purpose. Such a sentence is no statement.
"""

from __future__ import annotations

import re
from itertools import pairwise

from longbeam.schemas import Value, ValueKind
from longbeam.text.claims import NEGATOR, clause_before
from longbeam.text.extraction import stated_in
from longbeam.text.patterns import value_pattern
from longbeam.text.sentences import Span, sentences
from longbeam.text.values import plain

_RANGE = re.compile(r"\s?[-–]\s?\D?\d")
"""Rest of a range of amounts: `-12`, `–$12`."""
_OF_USER = re.compile(r"\b(?:your|the|of)\s+\W{0,2}$", re.IGNORECASE)
"""Words in front of an amount that was there before: `beside your $45`."""


def use_quote(text: str, amount: Value, use: str) -> str | None:
    """Return the shortest sentence, verbatim, that says what an amount is for; None if none does.

    Where no sentence says both, the quote is two sentences of one line.
    """
    spans = sentences(text)
    pairs = [(a, d) for (a, b), (c, d) in pairwise(spans) if "\n" not in text[b:c]]
    for runs in (spans, pairs):
        if found := [text[a:b] for a, b in runs if _says_use(text[a:b], amount, use)]:
            return min(found, key=len)
    return None


def _says_use(text: str, amount: Value, use: str) -> bool:
    amounts, uses = _places(text, amount), _places(text, plain(use))
    return any(_belong_together(text, one, other) for one in amounts for other in uses)


def _places(text: str, value: Value) -> list[Span]:
    pattern = value_pattern(value.kind, value.text, value.number, value.unit, value.date)
    return [match.span() for match in pattern.finditer(text)]


def _belong_together(text: str, amount: Span, use: Span) -> bool:
    """Return whether nothing denies amount or purpose, and no other new amount stands between them."""
    between = text[min(amount[1], use[1]) : max(amount[0], use[0])]
    if _RANGE.match(text, amount[1]) or any(_is_denied(text, start) for start in (amount[0], use[0])):
        return False
    others = (s for s in stated_in(between) if s.value.kind is ValueKind.MONEY)
    return all(_OF_USER.search(between[: other.start]) for other in others)


def _is_denied(text: str, start: int) -> bool:
    # "No" denies no amount, and is another word in some languages.
    return any(m.group().casefold() != "no" for m in NEGATOR.finditer(clause_before(text, start)))
