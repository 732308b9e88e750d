"""Description of what a repair changed in a reply, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

MOST_CHANGES = 6
"""Changes that are named; the others are counted."""
LONGEST_VALUE = 60
"""Characters of a value that are shown."""


def describe_changes(before: object, after: object) -> str:
    """Return what differs between a reply and its repaired form: `turns: 5 items, now 4; ...`."""
    found = list(_changes("", _plain(before), _plain(after)))
    if not found:
        return "taken as it is"
    more = f"; and {len(found) - MOST_CHANGES} more" if len(found) > MOST_CHANGES else ""
    return "; ".join(found[:MOST_CHANGES]) + more


def _changes(path: str, before: Any, after: Any) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(n for n in after if n not in before)]:
            yield from _changes(f"{path}.{name}".lstrip("."), before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path or 'reply'}: {len(before)} items, now {len(after)}"
        else:
            for i, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from _changes(f"{path}[{i}]", old, new)
    elif before != after:
        yield f"{path or 'text'}: {_shown(before)}, now {_shown(after)}"


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
