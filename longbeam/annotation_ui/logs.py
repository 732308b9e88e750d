"""The review log as JSONL: one event a line, written in the order in which events count, read back without loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.schemas.review import ReviewEvent
from longbeam.store.files import describe_os_error, write_atomically
from longbeam.store.reviews import ReviewStore, stored_events


def export_log(reviews_path: Path, target: Path) -> int:
    """Write all events of a benchmark to a file and return how many; UserError where nobody has reviewed."""
    events = stored_events(reviews_path)
    if not events:
        raise UserError(f"{reviews_path}: nobody has reviewed yet; begin with `longbeam review`")
    write_atomically(target, as_jsonl(events))
    return len(events)


def import_log(reviews_path: Path, source: Path) -> tuple[int, int]:
    """Add the events of a file to a benchmark's log; return how many were new and how many were there already.

    All or nothing. Raises UserError that names the line for what is no event.
    """
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        told = describe_os_error(source, exc, "read") if isinstance(exc, OSError) else f"{source}: is not UTF-8 text"
        raise UserError(told) from exc
    events = list(from_jsonl(text, str(source)))
    with ReviewStore(reviews_path) as store:
        return store.merge(events)


def as_jsonl(events: Iterable[ReviewEvent]) -> str:
    """Return events as JSON lines."""
    return "".join(event.model_dump_json() + "\n" for event in events)


def from_jsonl(text: str, name: str) -> Iterator[ReviewEvent]:
    """Yield the events of JSON lines; UserError for a line that is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            event = ReviewEvent.model_validate_json(line)
        except ValidationError as exc:
            first = exc.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            raise UserError(f"{name}:{number}: no review event: {where}: {first['msg']}") from exc
        if event.created_at.tzinfo is None:
            raise UserError(f"{name}:{number}: created_at {event.created_at} has no time zone; events are in UTC")
        yield event
