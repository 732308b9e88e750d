"""Words as everything lexical compares them: stems, without function words."""

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


def words_of(text: str) -> list[str]:
    """Return the stems of a text's words in order, without function words; numbers stay whole."""
    found = (word.casefold() for word in _WORD.findall(text))
    stems: list[str] = _STEMMER.stemWords([w for w in found if w not in _STOP])
    return stems
