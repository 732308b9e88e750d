"""Boundaries of sentences in chat text: markdown, lists, lower-case users, abbreviations, decimals.

Fenced code is no sentence, and no run of sentences crosses it: a quote with half a fence would change how the text
around the quote is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]
"""Start and end of a piece of a text, as in `text[start:end]`."""

FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARKER = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+)?")
_BREAK = re.compile(r"[.!?…]+[\"'”’)\]*_`]*(?=\s+)")
_TABLE_HEAD = re.compile(
    r"^[^\n|]*\|[^\n]*\n[ \t>]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$", re.MULTILINE
)
# `5! / 3!`, `120 = 5! > 4!`: a factorial within a calculation.
_FACTORIAL = re.compile(r"(?<=\d)![)\]*_`]*\s+(?=[-+−*/=<>×·÷^≈≤≥]|\d)")
# Words whose full stop does not end a sentence; compared without it, in lower case.
_ABBREVIATIONS = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "dr mr mrs ms prof st sr jr vs etc e.g i.e eg ie approx no fig eq ch sec vol pp cf al inc ltd co "
        "corp est dept a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
        "min max avg"
    ).split()
)


def fenced_spans(text: str) -> tuple[tuple[Span, bool], ...]:
    """Return the spans of fenced code, fences included, and for each whether its fence is closed."""
    found: list[tuple[Span, bool]] = []
    start, mark = -1, ""
    if "```" not in text and "~~~" not in text:
        return ()
    for line in _LINE.finditer(text):
        fence = FENCE.match(line.group())
        if fence is None:
            continue
        here, info = fence["mark"], fence["info"].strip()
        # An info string with backticks is inline code such as ```x```, not a fence (CommonMark 4.5).
        if start < 0 and not (here[0] == "`" and "`" in info):
            start, mark = line.start(), here
        elif start >= 0 and here[0] == mark[0] and len(here) >= len(mark) and not info:
            found.append(((start, line.end()), True))
            start = -1
    if start >= 0:
        found.append(((start, len(text)), False))
    return tuple(found)


def prose_spans(text: str) -> tuple[Span, ...]:
    """Return the spans between fenced code, in order; empty ones are left out."""
    spans, at = [], 0
    for (start, end), _ in fenced_spans(text):
        spans.append((at, start))
        at = end
    spans.append((at, len(text)))
    return tuple((a, b) for a, b in spans if text[a:b].strip())


def sentences(text: str) -> tuple[Span, ...]:
    """Return the spans of the sentences outside fenced code, in order and without overlap.

    List markers, heading signs and the blanks around a sentence belong to no sentence. A list item, heading or table
    row ends a sentence even without a full stop; a plain line break does not.
    """
    return tuple(s for prose in prose_spans(text) for s in sentences_within(text, prose))


def quotable(text: str) -> tuple[Span, ...]:
    """Return the spans of the sentences that tell something: the head of a table names what its rows tell."""
    heads = [m.span() for m in _TABLE_HEAD.finditer(text)] if "|" in text else []
    return tuple(s for s in sentences(text) if not any(a <= s[0] and s[1] <= b for a, b in heads))


def sentences_within(text: str, prose: Span) -> tuple[Span, ...]:
    """Return the spans of the sentences of one span of prose."""
    return tuple(s for block in _blocks(text, prose) for s in _split(text, block))


def _blocks(text: str, prose: Span) -> Iterator[Span]:
    """Yield the spans of paragraphs, list items, headings and table rows, without their markers."""
    start = end = -1
    for line in _LINE.finditer(text, *prose):
        marker = _MARKER.match(line.group())
        offset = marker.end() if marker else 0
        is_blank = not line.group()[offset:].strip()
        is_new = bool(marker and marker.group().strip()) or line.group().lstrip().startswith("|")
        # A wrapped paragraph is one block; a list item, a heading and a table row each begin a new one.
        if (is_blank or is_new) and start >= 0:
            yield start, end
            start = -1
        if not is_blank:
            start = line.start() + offset if start < 0 else start
            end = line.end()
    if start >= 0:
        yield start, end


def _split(text: str, block: Span) -> Iterator[Span]:
    """Yield the spans of the sentences of a block."""
    start, stop = block
    for mark in _BREAK.finditer(text, start, stop):
        if mark.end() < stop and _ends_sentence(text, mark, start, stop):
            yield from _trimmed(text, start, mark.end())
            start = mark.end()
    yield from _trimmed(text, start, stop)


def _ends_sentence(text: str, mark: re.Match[str], start: int, stop: int) -> bool:
    rest = text[mark.end() : stop].lstrip()
    if not rest:
        return False
    if not rest[0].isupper() and (mark.group()[-1] in "\"'”’)]" or mark.group().startswith(("..", "…"))):
        return False  # `"Really?" he asked`, `hmm... maybe`
    if _FACTORIAL.match(text, mark.start(), stop):
        return False
    if mark.group()[0] != ".":
        return True
    before = text[start : mark.start()].removesuffix("\n")
    word = before.rsplit(None, 1)[-1].lstrip("(\"'“‘*_[").casefold() if before and not before[-1].isspace() else ""
    if word in _ABBREVIATIONS:
        return False
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    return not (is_initial or re.fullmatch(r"(?:[a-z]\.)+[a-z]", word))


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
