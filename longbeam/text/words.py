"""Words as stems, for every lexical comparison: ranking, search, and what two texts have in common."""

from __future__ import annotations

import re

from Stemmer import Stemmer

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
    found = (word.casefold() for word in _WORD.findall(text))
    stems: list[str] = _STEMMER.stemWords([w for w in found if w not in _STOP])
    return stems


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about.

    Function words, numbers, single letters and pieces of contractions are left out.
    """
    return frozenset(w for w in words_of(text) if len(w) > 1 and w not in _CONTRACTION_PIECES and not w[0].isdigit())


ASKING_WORDS = content_words("say said tell told give gave given need remind again together figure put find know")
"""Stems of words that ask, or tell that something was said, and name nothing."""
