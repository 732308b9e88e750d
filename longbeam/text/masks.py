"""Masks: values, names, dates and numbers of a text replaced by one sign, so that only its form is left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, takewhile

from longbeam.text.sentences import prose_spans
from longbeam.text.times import MONTHS, WEEKDAYS

MASK = "_"
"""Sign that counts as a word in shingles, and as no abbreviation or initial when sentences are split."""
_MONTH = "|".join(MONTHS).lower()
_DATES = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:{_MONTH})(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}}\b)?",
    "|".join(WEEKDAYS).lower(),
)
_NUMBER = r"[$€£¥]?\d+(?:[.,:/–-]\d+)*(?:st\b|nd\b|rd\b|th\b|%)?"
_RUN = re.compile(rf"(?<!\w){MASK}(?:,? {MASK}(?!\w))+")
_LIST_NUMBER = re.compile(r"^([ \t>]*)\d{1,3}[.)](?=[ \t])", re.MULTILINE)
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_FORM_WORD = re.compile(rf"{MASK}|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")


class Mask:
    """Replaces ledger values and names, longest first, then dates and numbers outside code by `MASK`.

    Upper and lower case are equal, and a run such as `March 5, 2024` is one mask. Too much is masked rather than too
    little: `may` is a month here.
    """

    def __init__(self, names: Iterable[str], values: Iterable[str] = ()) -> None:
        known = sorted({text.strip().lower() for text in (*names, *values)} - {""})
        words = [rf"(?<!\w)(?:{_one_of(known)})(?!\w)"] if known else []
        dates = rf"(?<!\w)(?:{'|'.join(_DATES)})(?!\w)"
        self._pattern = re.compile("|".join((*words, dates, _NUMBER)))

    def apply(self, text: str) -> str:
        """Return the text with masks; numbers of list items become dashes, code stays as it is."""
        pieces, at = [], 0
        for start, end in prose_spans(text):
            pieces += [text[at:start], self._masked(text[start:end])]
            at = end
        return "".join((*pieces, text[at:]))

    def _masked(self, prose: str) -> str:
        prose = _LIST_NUMBER.sub(r"\1-", prose)
        folded = prose.lower()
        if len(folded) != len(prose):  # lower case of İ is longer, so offsets in both texts differ
            return _RUN.sub(MASK, self._pattern.sub(MASK, prose))
        pieces, at = [], 0
        for found in self._pattern.finditer(folded):
            pieces += [prose[at : found.start()], MASK]
            at = found.end()
        return _RUN.sub(MASK, "".join((*pieces, prose[at:])))


def form_words(text: str, mask: Mask) -> list[str]:
    """Return the words and signs of a text in lower case; values, dates, and names within a sentence are masks."""
    return _FORM_WORD.findall(_NAME.sub(MASK, mask.apply(text)).lower())


def _one_of(texts: Sequence[str]) -> str:
    """Return a pattern of sorted texts as a tree of prefixes: thousands cost little more than one, longer ones win."""
    branches = []
    for first, group in groupby(texts, key=lambda text: text[:1]):
        if not first:
            continue
        same = list(group)
        # The common prefix of the first and the last of sorted texts is the common prefix of all.
        prefix = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(same[0], same[-1], strict=False)))
        rest = [text[len(prefix) :] for text in same]
        tail = f"(?:{_one_of(rest)})" + ("?" if "" in rest else "") if any(rest) else ""
        branches.append(re.escape(prefix) + tail)
    return "|".join(branches)
