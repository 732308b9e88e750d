"""Advice that a reply gives, and its place there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from longbeam.schemas import Advice, AdviceKind
from longbeam.text import content_words, quote_for, sentences, use_quote


def advice_quote(advice: Advice, text: str) -> str | None:
    """Return the words of a reply that give a piece of advice, verbatim; None if it does not give it."""
    if advice.kind is AdviceKind.USE and advice.value is not None:
        return use_quote(text, advice.value, advice.items[0])
    if advice.value is not None:
        quote = quote_for(text, [advice.value])
        return None if quote is None else _with_name(text, quote, advice.attribute)
    spans = [item_span(advice, text, i) for i in range(len(advice.items))]
    found = [span for span in spans if span is not None]
    if len(found) < len(spans):
        return None
    return text[_start_of_list(text, found[0][0]) : found[-1][1]]


def _start_of_list(text: str, item: int) -> int:
    """Return where the line with a list's first item begins, or the line before it if that ends with a colon."""
    start = text.rfind("\n", 0, item) + 1
    before = text[:start].rstrip()
    return before.rfind("\n") + 1 if before.endswith(":") else min(start, item)


def _with_name(text: str, quote: str, attribute: str) -> str | None:
    """Return a quote, with the sentence before it where only that names the attribute; None if neither does."""
    wanted = content_words(attribute)
    if wanted <= content_words(quote):
        return quote
    start = text.find(quote)
    earlier = [span for span in sentences(text) if span[1] <= start]
    if not earlier or not wanted <= content_words(text[earlier[-1][0] : start]):
        return None
    return text[earlier[-1][0] : start + len(quote)]


def item_span(advice: Advice, text: str, place: int) -> tuple[int, int] | None:
    """Return start and end of the sentence or line of a reply that has an item, behind the items before it.

    A reply may mention an item elsewhere, too; the places are those where all items stand closest together in order.
    """
    places = _closest_run(text, advice.items)
    if places is None:
        return None
    found = places[place]
    end = found + len(advice.items[place])
    own = [span for span in sentences(text) if span[0] <= found < span[1]]
    first = max(own[0][0] if own else found, text.rfind("\n", 0, found) + 1)
    line_end = text.find("\n", end)
    last = min(own[0][1] if own and own[0][1] >= end else end, len(text) if line_end < 0 else line_end)
    return first, max(last, end)


def _closest_run(text: str, items: Sequence[str]) -> list[int] | None:
    """Return the starts of the items in the shortest part of a text that has all of them in order; None if none has."""
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text.lower()
    best: list[int] | None = None
    start = folded.find(items[0].casefold())
    while start >= 0:
        run = [start]
        for item, next_item in pairwise(items):
            run.append(folded.find(next_item.casefold(), run[-1] + len(item)))
            if run[-1] < 0:
                return best
        if best is None or run[-1] - run[0] < best[-1] - best[0]:
            best = run
        start = folded.find(items[0].casefold(), start + 1)
    return best


def said_advice(due: Iterable[Advice], text: str) -> tuple[str, ...]:
    """Return the ids of the advice that a reply gives."""
    return tuple(a.advice_id for a in due if advice_quote(a, text) is not None)
