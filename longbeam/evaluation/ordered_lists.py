"""The items of a list in an answer, for event ordering: one per line or in running text."""

from __future__ import annotations

import re

_MARK = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):]|\(?[a-z][.)])\s+", re.IGNORECASE)
_INLINE_MARK = re.compile(r"(?:(?<=\s)|^)\(?\d{1,2}[.)]\s+")
_LEAD = re.compile(r"^[^:]{0,120}:\s+(?=\S)")
_ENDING = re.compile(r"[\s,;.]+(?:and|then)?\s*$")


def items_of(answer: str) -> list[str]:
    """Return the items of the list in an answer, in order; headings, lead-ins and closing lines are no items.

    A numbered or bulleted list wins; then numbers in running text (`1) a, 2) b`); then lines, where there are
    several; then the parts of a sentence between `;`, `then` or commas.
    """
    lines = [line for line in answer.splitlines() if line.strip()]
    # One marked line alone may be a sentence that begins with a dash or a number.
    if len(marked := [line for line in lines if _MARK.match(line)]) >= 2:
        return [clean_item(line) for line in marked]
    text = " ".join(lines)
    starts = [*_INLINE_MARK.finditer(text)]
    if len(starts) >= 2:
        ends = [*(m.start() for m in starts[1:]), len(text)]
        return [clean_item(text[m.end() : end]) for m, end in zip(starts, ends, strict=True)]
    # Two lines may be a lead-in and a sentence.
    if len(lines) >= 3:
        return [clean_item(line) for line in lines if not line.rstrip().endswith(":")]
    # From the separator that is surest to the one that also divides other sentences.
    body = _LEAD.sub("", text)
    for separator in (r";\s*", r"(?:,\s*)?\b(?:and )?then\s+", r",\s*(?:and\s+)?"):
        if len(parts := [p for p in re.split(separator, body) if p.strip()]) >= 2:
            return [clean_item(p) for p in parts]
    return [clean_item(body)] if body.strip() else []


def clean_item(item: str) -> str:
    """Return an item without list mark, emphasis and final punctuation."""
    return _ENDING.sub("", _MARK.sub("", item)).strip().strip("*_").strip()
