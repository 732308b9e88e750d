"""Word diffs of two texts, by rapidfuzz."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import JsonValue
from rapidfuzz.distance import Indel

from longbeam.schemas.base import Record
from longbeam.schemas.review import Change

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
MOST_WORDS = 6_000
"""Texts longer than that together are shown as replaced: a word diff of them helps nobody."""


ISLAND = 12
"""Characters of a shared stretch between two changes, below which the changes are shown as one."""
_Stretch = tuple[str, str, bool]
"""Text before, text after, and whether both are the same."""


class DiffPart(Record):
    """A stretch of a word diff."""

    kind: Literal["same", "removed", "added"]
    text: str


class ChangeView(Change):
    """A difference between two versions of an item, as pages show it."""

    name: str
    """Name of the field for people."""
    parts: tuple[DiffPart, ...]


def word_diff(before: str, after: str) -> tuple[DiffPart, ...]:
    """Return the stretches that two texts share, and those that only the first or only the second has."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        parts = [DiffPart(kind="removed", text=before), DiffPart(kind="added", text=after)]
        return tuple(part for part in parts if part.text)
    stretches = [
        ("".join(old[c.src_start : c.src_end]), "".join(new[c.dest_start : c.dest_end]), c.tag == "equal")
        for c in Indel.opcodes(old, new)
    ]
    return tuple(_parts(_joined(stretches)))


def _joined(stretches: Sequence[_Stretch]) -> list[_Stretch]:
    """Join changes that only a short shared stretch parts: word by word, nobody can read them."""
    made: list[_Stretch] = []
    for place, (gone, come, is_same) in enumerate(stretches):
        is_island = is_same and 0 < place < len(stretches) - 1 and len(gone.strip()) < ISLAND
        if made and not made[-1][2] and (not is_same or is_island):
            made[-1] = made[-1][0] + gone, made[-1][1] + come, False
        else:
            made.append((gone, come, is_same))
    return made


def _parts(stretches: Sequence[_Stretch]) -> Iterator[DiffPart]:
    for gone, come, is_same in stretches:
        if is_same:
            yield DiffPart(kind="same", text=gone)
            continue
        if gone:
            yield DiffPart(kind="removed", text=gone)
        if come:
            yield DiffPart(kind="added", text=come)


def shown_value(value: JsonValue) -> str:
    """Return a value of an event as text for people: no brackets, no quotes, no internal names."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        for name in ("quote", "query", "verdict", "label", "answer"):
            if name in value:
                return shown_value(value[name])
        return ""
    if isinstance(value, list):
        return "\n".join(f"{number}. {shown_value(part)}" for number, part in enumerate(value, 1))
    return "" if value is None else str(value)


def change_view(change: Change, name: str) -> ChangeView:
    """Return a difference with its name and its word diff."""
    parts = word_diff(shown_value(change.before), shown_value(change.after))
    return ChangeView(target=change.target, before=change.before, after=change.after, name=name, parts=parts)
