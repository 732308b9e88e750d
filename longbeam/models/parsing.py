"""Parsing of a structured reply, with everything in it that does not fit its form, and a line on what a repair
changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from longbeam.models.structured import OPENING, object_in

MOST_FAULTS = 12
"""Faults that a retry names; more of them do not help."""


def parse_reply(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the reply as the schema's model; wrapping in prose or a code fence is taken off once.

    Raises ValueError with everything that does not fit, up to MOST_FAULTS things.
    """
    try:
        return schema.model_validate_json(text)
    except ValidationError as exc:
        unwrapped = object_in(text)
        if unwrapped is None or unwrapped == text:
            raise ValueError(_describe(exc)) from exc
    try:
        return schema.model_validate_json(unwrapped)
    except ValidationError as exc:
        raise ValueError(_describe(exc)) from exc


def parse_items(text: str, schema: type[BaseModel]) -> tuple[BaseModel, tuple[str, ...]]:
    """Return the reply as the schema's model without the list items that do not fit it, and what does not fit.

    A reply that breaks off gives the items in front of the break. Raises ValueError where more than items is wrong.
    """
    opening = OPENING.search(text)
    if opening is None:
        raise ValueError("the reply holds no JSON object")
    whole = object_in(text)
    value = from_json(text[opening.start() :], allow_partial=True) if whole is None else json.loads(whole)
    misfits: list[str] = []
    while True:
        try:
            return schema.model_validate_json(json.dumps(value)), tuple(misfits)
        except ValidationError as exc:
            at = {e["loc"][:2] for e in exc.errors() if len(e["loc"]) > 1 and isinstance(e["loc"][1], int)}
            misfits.append(_describe(exc))
            if not at:
                raise ValueError("; ".join(misfits)) from exc
            for name, ordinal in sorted(at, key=lambda place: (str(place[0]), place[1]), reverse=True):
                del value[name][ordinal]


def _describe(exc: ValidationError) -> str:
    errors: Sequence[Any] = exc.errors(include_url=False, include_input=False)[:MOST_FAULTS]
    return "; ".join(f"{'.'.join(str(p) for p in e['loc']) or 'reply'}: {e['msg']}" for e in errors)


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
