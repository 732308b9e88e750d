"""Words as stems, for every lexical comparison.

Ranking, search, what two texts have in common, and how close words stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from Stemmer import Stemmer

from longbeam.text.tuning import READING

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_STOP = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "a about after all also am an and any are as at be because been before being but by can could did do does "
        "doing done for from had has have having he her hers him his how i if in into is it its me mine my no not of "
        "off on or our out over she should so some such than that the their them then there these they this those to "
        "too under until up us very was we were what when where whether which while who whom why will with would you "
        "your yours"
    ).split()
)
_STEMMER = Stemmer("english")
_CONTRACTION_PIECES = frozenset(
    "ve ll re don doesn didn isn aren wasn weren hasn haven hadn wouldn couldn shouldn mustn".split()  # noqa: SIM905
)
"""Pieces that `I've` or `didn't` leave where words are runs of letters."""


def bare_words(text: str) -> str:
    """Return a text's words in lower case, without punctuation; texts that differ only in these are equal."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def words_of(text: str) -> list[str]:
    """Return the stems of a text's words in order, without function words; numbers stay whole."""
    # One fold for all words costs a third of one for each; no word holds a line break.
    found = "\n".join(_WORD.findall(text)).casefold().split("\n")
    stems: list[str] = _STEMMER.stemWords([w for w in found if w and w not in _STOP])
    return stems


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about.

    Function words, numbers, single letters and pieces of contractions are left out.
    """
    return frozenset(w for w in words_of(text) if len(w) > 1 and w not in _CONTRACTION_PIECES and not w[0].isdigit())


ASKING_WORDS = content_words("say said tell told give gave given need remind again together figure put find know")
"""Stems of words that ask, or tell that something was said, and name nothing."""


def stand_together(text: str, words: Iterable[str]) -> bool:
    """Return whether a text has all words within `READING.reach` characters, also inside longer words; case counts."""
    return within_reach([[m.start() for m in re.finditer(re.escape(word), text)] for word in set(words)])


def within_reach(places: Sequence[Sequence[int]]) -> bool:
    """Return whether one place of each sequence can be chosen so that all lie within `READING.reach`; true for none."""
    marked = sorted((place, i) for i, found in enumerate(places) for place in found)
    inside = Counter[int]()
    first = 0
    for place, i in marked:
        inside[i] += 1
        while place - marked[first][0] > READING.reach:
            inside[marked[first][1]] -= 1
            first += 1
        if all(inside[j] for j in range(len(places))):
            return True
    return not places


_FRAME = content_words(
    "ask asks asking want need tell give know help something anything thing things question please go work"
)
"""Words that say only that the user asks."""


@lru_cache(maxsize=4096)
def _subject(condition: str) -> frozenset[str]:
    return content_words(condition) - _FRAME


def overlapping(condition: str, other: str) -> bool:
    """Return whether a question that meets one condition is likely to meet the other, too.

    `when I ask about fish` overlaps with `when I ask what fish costs`: an answer to the second would be judged by two
    wishes, and neither could be told from the other.
    """
    one, two = _subject(condition), _subject(other)
    if not one or not two:
        return condition.casefold().strip() == other.casefold().strip()
    return one <= two or two <= one or len(one & two) >= READING.most_shared * len(one | two)
