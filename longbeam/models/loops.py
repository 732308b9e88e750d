"""Loops: a reply that says the same again and again until its length limit, as small models do.

Three signs are looked for at the end of the text. Each asks for so much repetition that tables, code, lists of numbers
and refrains have none (tests/models/test_loops.py; measured in docs/design/0012-transport-and-limits.md):

- the end repeats one piece of text exactly;
- the end repeats one piece of text with other numbers, such as the ids of copied list items;
- the last words hold few different phrases, as when a handful of sentences take turns.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from longbeam.models.tuning import CALLING

LOOP = "loop"
"""Finish reason of a reply that was cut, because it repeated itself."""
LONGEST_PIECE = CALLING.loop_window // CALLING.loop_repeats
_NUMBER = re.compile(r"\d+")
_FENCE = "```"
_SENTENCE_END = re.compile(r"(?<!\d)[.!?…][\"'”’)*_`]*(?=\s|$)")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Loop:
    """A repetition at the end of a text."""

    piece: str
    """The repeated text; the last phrase where several take turns."""
    repeats: int


def find_loop(text: str) -> Loop | None:
    """Return the loop at the end of a text; None if there is none."""
    if len(text) < CALLING.loop_first_look:
        return None
    window = text[-CALLING.loop_window :]
    raw = window.encode("utf-8", "replace")
    if len(raw) < CALLING.loop_dense * len(zlib.compress(raw, 1)):
        return None
    return _repeated(window) or _renumbered(window) or _taking_turns(window)


def before_loop(text: str) -> str:
    """Return the whole sentences of a text before the first phrase that it says again; empty if there are none.

    A block of code that the loop was in is left out.
    """
    words = list(re.finditer(r"\S+", text))
    flat = [_NUMBER.sub("0", word.group()) for word in words]
    phrases = [tuple(flat[i : i + CALLING.loop_phrase_words]) for i in range(len(flat) - CALLING.loop_phrase_words + 1)]
    first = {phrase: i for i, phrase in reversed(list(enumerate(phrases)))}
    again = (words[i].start() for i, phrase in enumerate(phrases) if first[phrase] < i)
    kept = text[: next(again, len(text))]
    if kept.count(_FENCE) % 2:
        kept = kept[: kept.rindex(_FENCE)]
    ends = [end.end() for end in _SENTENCE_END.finditer(kept)]
    return kept[: ends[-1]].strip() if ends else ""


def _repeated(window: str) -> Loop | None:
    period = _period(window)
    if period is None:
        return None
    span = _span(window, period)
    repeats = span // period
    if span < CALLING.loop_span or repeats < CALLING.loop_repeats:
        return None
    piece = window[-period:]
    # Rulers, blanks and padding: one or two characters fill a line of any length. Digits fill none.
    if not _LETTERS.search(piece * 2) and not piece.isdigit() and span < CALLING.loop_window // 2:
        return None
    return Loop(piece, repeats)


def _renumbered(window: str) -> Loop | None:
    flat = _NUMBER.sub("0", window)
    period = _period(flat)
    if period is None:
        return None
    span = _span(flat, period)
    piece = flat[-period:]
    if (
        span < CALLING.loop_span
        or span // period < CALLING.loop_renumbered
        or len(_LETTERS.findall(piece)) < CALLING.loop_prose_words
    ):
        return None
    return Loop(piece, span // period)


def _taking_turns(window: str) -> Loop | None:
    words = window.split()
    if len(words) < CALLING.loop_words:
        return None
    phrases = [
        " ".join(words[i : i + CALLING.loop_phrase_words]) for i in range(len(words) - CALLING.loop_phrase_words + 1)
    ]
    fresh = len(set(phrases))
    if fresh > CALLING.loop_fresh * len(phrases) or len(_LETTERS.findall(phrases[-1])) < CALLING.loop_prose_words:
        return None
    return Loop(phrases[-1], len(phrases) // fresh)


def _period(text: str) -> int | None:
    """Return the shortest distance at which the text's last stretch stood before; None beyond LONGEST_PIECE."""
    tail = text[-min(len(text) // 4, 64) :]
    at = text.rfind(tail, 0, len(text) - 1)
    period = len(text) - len(tail) - at
    return period if at >= 0 and period <= LONGEST_PIECE else None


def _span(text: str, period: int) -> int:
    """Return how many characters at the end equal those `period` before them, plus one period."""
    left, right = 0, len(text) - period  # the longest common suffix of the text and the text moved by a period
    while left < right:
        middle = (left + right + 1) // 2
        if text[len(text) - middle :] == text[len(text) - period - middle : len(text) - period]:
            left = middle
        else:
            right = middle - 1
    return left + period


@dataclass
class LoopWatch:
    """Looks for loops while a text grows."""

    _next: int = CALLING.loop_first_look

    def is_due(self, length: int) -> bool:
        """Return whether a text of this length is to be looked at, and set the length of the next look."""
        if length < self._next:
            return False
        self._next = length + CALLING.loop_step
        return True
