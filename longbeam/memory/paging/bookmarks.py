"""Bookmarks.

The few words that stay in the context for an evicted page and say when to bring it back; by rules or by a
model.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, get_args

from longbeam.errors import ReplyError
from longbeam.memory.base import Tools, in_order
from longbeam.memory.paging.pages import Page
from longbeam.memory.tuning import MEMORIZING
from longbeam.prompts.calls import BookmarkPagesInputs, BookmarkPagesReply, PageToBookmark
from longbeam.text import words_of

MOST_KEYWORDS, RANDOM_KEYWORDS, HEAD_TURNS = 5, 4, 4
SNIPPET_CHARS = 160
Generator = Literal["random", "heuristic", "tfidf", "contextual", "batch", "hybrid", "generic", "specific"]
GENERATORS: tuple[Generator, ...] = get_args(Generator)
"""The paper's six; `generic` and `specific` are its ablation of keyword specificity: words of most or fewest pages."""
Format = Literal["id", "minimal", "medium", "structured"]
FORMATS: tuple[Format, ...] = ("id", "minimal", "medium", "structured")

_STOP = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "a about actually also an and any anyway are as at be by can could did do does for from get go good great "
        "had has have hello hey hi how i if in is it just let like maybe me my no not now of okay on one or our "
        "please really so some sure thanks thank that the then there they this to today tomorrow was we well what "
        "when which who will with would yes yesterday you your monday tuesday wednesday thursday friday saturday sunday"
    ).split()
)
_TOKEN = re.compile(r"[$€£]\s?\d[\d.,]*\w*|\d[\d.,:/-]*\w*%?|[^\W\d_][\w'’-]*")
_MONEY_OR_NUMBER = re.compile(r"[$€£]?\s?\d")


def keywords_of(pages: Sequence[Page], generator: Generator, *, seed: str) -> list[tuple[str, ...]]:
    """Return at most five keywords for each page, in order; deterministic, with `seed` for the random ones."""
    return _GENERATORS[generator](pages, seed)


def bookmark(page: Page, keywords: Sequence[str], form: Format = "minimal") -> str:
    """Return the bookmark of a page, as `[p3:allergy,penicillin]`; words lose characters that would end it early."""
    words = [clean for word in keywords if (clean := _inert(word))][:MOST_KEYWORDS]
    own = f"p{page.page_id}"
    match form:
        case "id":
            return f"[{own}]"
        case "medium":
            first = _inert(" ".join(page.text.split()))[:SNIPPET_CHARS]
            return f'[{own}:{",".join(words)}|"{first}"]'
        case "structured":
            speakers = ",".join(dict.fromkeys(_inert(turn.speaker) for turn in page.turns))
            return f"[{own}:t={','.join(words)};e={speakers};n={len(page.turns)}]"
    return f"[{own}:{','.join(words)}]"


def _inert(word: str) -> str:
    """Return a word without the characters that delimit a bookmark: brackets, separators, line ends."""
    return " ".join(re.sub(r"[\[\]|;\"\r\n]+|,(?!\d)", " ", word).split())


def _salient(page: Page) -> list[str]:
    """Return the capitalised words, numbers, amounts and dates of a page's first turns, in order, each once."""
    found: dict[str, str] = {}
    for turn in page.turns[:HEAD_TURNS]:
        for match in _TOKEN.finditer(turn.text):
            word = match[0].strip(".,:;'’-")
            is_telling = bool(_MONEY_OR_NUMBER.match(word)) or (len(word) > 1 and word[0].isupper())
            if is_telling and word.casefold() not in _STOP:
                found.setdefault(word.casefold(), word)
    return list(found.values())


def _counts(page: Page) -> Counter[str]:
    """Count the words of a page without function words; each is spelt as where it first occurs."""
    counted: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for turn in page.turns:
        for match in _TOKEN.finditer(turn.text):
            word = match[0].strip(".,:;'’-")
            if len(word) > 1 and word.casefold() not in _STOP and words_of(word):
                counted[shown.setdefault(word.casefold(), word)] += 1
    return counted


def _random(pages: Sequence[Page], seed: str) -> list[tuple[str, ...]]:
    drawn = []
    for page in pages:
        words = sorted(_counts(page))
        rng = random.Random(f"{seed}/bookmark/{page.page_id}")
        drawn.append(tuple(rng.sample(words, min(RANDOM_KEYWORDS, len(words)))))
    return drawn


def _heuristic(pages: Sequence[Page], seed: str) -> list[tuple[str, ...]]:
    found = [tuple(_salient(page)[:MOST_KEYWORDS]) for page in pages]
    # TF-IDF reads every word of the conversation, so it runs only where a page has no word of its own.
    fallback = found if all(found) else _tfidf(pages, seed)
    return [own or other for own, other in zip(found, fallback, strict=True)]


def _weights(pages: Sequence[Page]) -> list[dict[str, float]]:
    """Return the TF-IDF of each word of each page; the pages are the corpus."""
    counted = [_counts(page) for page in pages]
    pages_with = Counter(word.casefold() for counts in counted for word in counts)
    return [
        {w: n * math.log(1 + len(pages) / pages_with[w.casefold()]) for w, n in counts.items()} for counts in counted
    ]


def _best(weights: dict[str, float], most: int = MOST_KEYWORDS) -> tuple[str, ...]:
    return tuple(sorted(weights, key=lambda w: (-weights[w], w))[:most])


def _tfidf(pages: Sequence[Page], seed: str) -> list[tuple[str, ...]]:
    return [_best(weights) for weights in _weights(pages)]


def _contextual(pages: Sequence[Page], seed: str) -> list[tuple[str, ...]]:
    """Choose salient words that no other page has, then those of highest TF-IDF."""
    counted = [_counts(page) for page in pages]
    pages_with = Counter(word.casefold() for counts in counted for word in counts)
    chosen = []
    for page, weights in zip(pages, _weights(pages), strict=True):
        own = [w for w in _salient(page) if pages_with[w.casefold()] == 1]
        chosen.append(tuple(dict.fromkeys([*own, *_best(weights)]))[:MOST_KEYWORDS])
    return chosen


def _batch(pages: Sequence[Page], seed: str) -> list[tuple[str, ...]]:
    """Divide the words among the pages so that none is used twice; the page of highest weight gets the word."""
    weighted = _weights(pages)
    salient = [{w.casefold() for w in _salient_anywhere(page)} for page in pages]
    # Names, numbers and dates count double: they tell pages apart better than a frequent noun does.
    claims = sorted(
        ((-weight * (2 if word.casefold() in salient[i] else 1), i, word)
         for i, weights in enumerate(weighted) for word, weight in weights.items()),
    )  # fmt: skip
    taken: set[str] = set()
    chosen: list[list[str]] = [[] for _ in pages]
    for _, i, word in claims:
        if len(chosen[i]) < MOST_KEYWORDS and word.casefold() not in taken:
            chosen[i].append(word)
            taken.add(word.casefold())
    return [tuple(words) for words in chosen]


def _salient_anywhere(page: Page) -> list[str]:
    return [w for turn in page.turns for w in _salient(Page(page.page_id, (turn,)))]


def _hybrid(pages: Sequence[Page], seed: str) -> list[tuple[str, ...]]:
    """Put the word that tells the page best from the others before the heuristic ones."""
    divided = _batch(pages, seed)
    return [
        tuple(dict.fromkeys([*own[:1], *words]))[:MOST_KEYWORDS]
        for words, own in zip(_heuristic(pages, seed), divided, strict=True)
    ]


def _by_spread(pages: Sequence[Page], seed: str, *, sign: int) -> list[tuple[str, ...]]:
    """Choose the words that fewest pages have, or most (`sign` -1); among these the most frequent of the page."""
    counted = [_counts(page) for page in pages]
    pages_with = Counter(word.casefold() for counts in counted for word in counts)
    return [
        tuple(sorted(own, key=lambda w: (sign * pages_with[w.casefold()], -own[w], w))[:MOST_KEYWORDS])
        for own in counted
    ]


_GENERATORS: dict[Generator, Callable[[Sequence[Page], str], list[tuple[str, ...]]]] = {
    "random": _random,
    "heuristic": _heuristic,
    "tfidf": _tfidf,
    "contextual": _contextual,
    "batch": _batch,
    "hybrid": _hybrid,
    "generic": partial(_by_spread, sign=-1),
    "specific": partial(_by_spread, sign=1),
}


ASKING: tuple[Generator, ...] = ("contextual", "batch", "hybrid")
"""Generators that ask a model, in the paper."""


class Bookmarker:
    """Asks a model for keywords; counts its calls, and the failed ones among them."""

    def __init__(self, generator: Generator, tools: Tools) -> None:
        self._generator = generator
        self._tools = tools
        self.calls = 0
        self.failed = 0

    async def keywords_of(self, pages: Sequence[Page]) -> list[tuple[str, ...]]:
        """Return at most five keywords for each page, in order."""
        rules = keywords_of(pages, self._generator, seed=self._tools.rng_key)
        heuristic = keywords_of(pages, "heuristic", seed=self._tools.rng_key)
        if self._generator == "contextual":
            found = await in_order(partial(self._alone, pages, i, heuristic) for i in range(len(pages)))
        else:
            starts = range(0, len(pages), MEMORIZING.bookmarked_at_once)
            found = await in_order(
                partial(self._together, pages[i : i + MEMORIZING.bookmarked_at_once], heuristic) for i in starts
            )
        asked = {page_id: words for part in found for page_id, words in part.items()}
        return [
            self._joined(asked.get(page.page_id, ()), own, ruled)
            for page, own, ruled in zip(pages, heuristic, rules, strict=True)
        ]

    def _joined(self, asked: Sequence[str], heuristic: Sequence[str], rules: tuple[str, ...]) -> tuple[str, ...]:
        if not asked:
            return rules
        words = [*asked[:1], *heuristic] if self._generator == "hybrid" else asked
        return tuple(dict.fromkeys(words))[:MOST_KEYWORDS]

    async def _alone(
        self, pages: Sequence[Page], place: int, digests: Sequence[Sequence[str]]
    ) -> Mapping[int, tuple[str, ...]]:
        near = range(
            max(0, place - MEMORIZING.bookmarks_shown // 2),
            min(len(pages), place + MEMORIZING.bookmarks_shown // 2 + 1),
        )
        others = tuple(f"p{pages[i].page_id}: {', '.join(digests[i])}" for i in near if i != place)
        return await self._ask((pages[place],), others, MOST_KEYWORDS)

    async def _together(self, pages: Sequence[Page], digests: Sequence[Sequence[str]]) -> Mapping[int, tuple[str, ...]]:
        if self._generator == "batch":
            return await self._ask(pages, (), MOST_KEYWORDS)
        first = pages[0].page_id - 1
        own = tuple(f"p{p.page_id}: {', '.join(digests[first + i])}" for i, p in enumerate(pages))
        return await self._ask(pages, own, 1)

    async def _ask(self, pages: Sequence[Page], others: tuple[str, ...], most: int) -> Mapping[int, tuple[str, ...]]:
        inputs = BookmarkPagesInputs(
            pages=tuple(PageToBookmark(page_id=page.page_id, text=_shown(page)) for page in pages),
            others=others,
            most=most,
        )
        self.calls += 1
        place = f"{self._generator}/p{pages[0].page_id}"
        try:
            reply: BookmarkPagesReply = await self._tools.asker.structured("bookmark_pages", inputs, place=place)
        except ReplyError:
            self.failed += 1
            return {}
        offered = {page.page_id for page in pages}
        return {
            draft.page_id: tuple(" ".join(word.split()) for word in draft.keywords if word.strip())[:most]
            for draft in reply.bookmarks
            if draft.page_id in offered
        }


def _shown(page: Page) -> str:
    lines = (f"{turn.speaker}: {' '.join(turn.text.split())}" for turn in page.turns)
    return "\n".join(
        line if len(line) <= MEMORIZING.bookmarked_characters else line[: MEMORIZING.bookmarked_characters] + "…"
        for line in lines
    )
