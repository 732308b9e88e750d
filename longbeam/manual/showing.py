"""A request as text: for the commands, and for the files of the folder form."""

from __future__ import annotations

import json
from collections.abc import Sequence

from longbeam.manual.forms import schema_of, text_of
from longbeam.manual.queue import QueueSlot, name_of

SHORTENED = 300
"""Characters from which a message that its reader knows is shortened; half as many are shown."""


def headline(slot: QueueSlot) -> str:
    """Return one line about a request: number, prompt, form, length."""
    form = "prose" if schema_of(slot.body) is None else "JSON"
    length = sum(len(text_of(m)) for m in slot.body["messages"])
    return f"{slot.name} {slot.prompt or '?'} ({form}; {len(slot.body['messages'])} messages, {length:,} characters)"


def as_markdown(slot: QueueSlot, seen_in: Sequence[int | None] = ()) -> str:
    """Return a request whole: its messages and the schema of its reply.

    `seen_in` has, for each message, the number of an earlier request with the same text, which is shortened; empty
    shows everything.
    """
    parts = [f"# Request {headline(slot)}"]
    for message, seen in zip(slot.body["messages"], seen_in or [None] * len(slot.body["messages"]), strict=True):
        text = text_of(message)
        if seen is not None and len(text) > SHORTENED:
            text = f"[as in request {name_of(seen)}: {' '.join(text[: SHORTENED // 2].split())} ...]"
        parts.append(f"## {message.get('role')}\n\n{text}")
    if schema := schema_of(slot.body):
        parts.append(f"## Schema of the reply\n\n```json\n{json.dumps(schema, ensure_ascii=False)}\n```")
    return "\n\n".join(parts) + "\n"
