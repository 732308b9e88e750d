"""Removal of a text from a benchmark and from all that was made of it: a person asked for it, or a key was in it.

Conversations, probes, seeds and reviews keep everything else, with `[removed]` in its place. Work logs, checks and
evaluations that hold the text are deleted, because a reply without its words counts for nothing; they are made again
when they are asked for. Then every file of the benchmark is searched: rows of the databases and bytes of all files.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.pipeline.checking import make_again
from longbeam.schemas import R, Record, ReviewEvent
from longbeam.store import (
    SUFFIX,
    Benchmark,
    Lease,
    ReviewStore,
    SealedConversation,
    delete_file,
    has_reviews,
    seal_conversation,
    write_with_copy,
)

REMOVED = "[removed]"
_MADE = ("work", "checks", "evaluation", "batches", "logs", "leases")
"""Folders of what is made of the conversations, and can be made again."""
_UNSEEN = "[\u00ad\u200b-\u200f\u2060\ufeff]*"
_GAP = rf"{_UNSEEN}(?:\s|\\[nrt])(?:\s|\\[nrt]|{_UNSEEN[:-1]})*"
"""Space between two words of a text, also as JSON escapes it."""
_LEAST = 3
"""Characters of a text: a shorter one is a part of too many words."""


@dataclass(frozen=True)
class PurgeReport:
    """Files that a removal changed, and what the search found afterwards; paths are within the benchmark."""

    rewritten: tuple[str, ...]
    deleted: tuple[str, ...]
    searched: int
    """Files that were searched."""
    left: tuple[str, ...]
    """Files that still hold the text: what is no part of a benchmark is not ours to change."""


def purge(benchmark: Benchmark, texts: Sequence[str]) -> PurgeReport:
    """Take texts out of a benchmark, and search all of its files for them.

    A text is met in any case of letters, with accents as letters of their own, across line breaks, and with characters
    in it that nobody sees.

    Raises UserError, before anything is changed, for a text that is too short or that stands in a fixed value, such as
    the benchmark's name; and StoreError where another process is writing.
    """
    if short := [text for text in texts if len(text.strip()) < _LEAST]:
        raise UserError(f"--text {short[0]!r}: a text of {_LEAST} characters or more is needed")
    pattern = _pattern_of(texts)
    if pattern.search(REMOVED):
        raise UserError(f"--text: {REMOVED!r} stands where a text was removed, and cannot be removed itself")
    _refuse_fixed_values(benchmark, pattern)
    root, rewritten, deleted = benchmark.root, list[str](), list[str]()
    with ExitStack() as held:
        for path in sorted((root / "work").glob("*.sqlite")):
            held.callback(Lease(path).release)
        for path in (path for folder in _MADE for path in sorted((root / folder).rglob("*"))):
            if path.is_file() and holds(path, pattern):
                delete_file(path)
                deleted.append(path.relative_to(root).as_posix())
        for rewrite in (_conversations, _reviews, _plain_files):
            rewritten += [path.relative_to(root).as_posix() for path in rewrite(benchmark, pattern)]
        if benchmark.database_path.exists() and holds(benchmark.database_path, pattern):
            make_again(benchmark)
            rewritten.append(benchmark.database_path.name)
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    left = tuple(path.relative_to(root).as_posix() for path in files if holds(path, pattern))
    return PurgeReport(tuple(rewritten), tuple(deleted), len(files), left)


def _refuse_fixed_values(benchmark: Benchmark, pattern: re.Pattern[str]) -> None:
    """Raise UserError where a text is part of a value without which the benchmark could not be read."""
    for record in _records(benchmark):
        try:
            _cleared(record, pattern)
        except ValidationError as exc:
            why = exc.errors()[0]
            place = ".".join(["", *map(str, why["loc"])])
            raise UserError(
                f"--text: it is part of a fixed value ({type(record).__name__}{place}: {why['msg']}); nothing was"
                " removed. Name more of the text, or import the conversation again without it"
            ) from exc


def _records(benchmark: Benchmark) -> Iterator[Record]:
    yield benchmark.spec
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            yield sealed.head
            yield from sealed.messages()
            yield from sealed.probes()
    if has_reviews(benchmark.reviews_path):
        with ReviewStore(benchmark.reviews_path, read_only=True) as store:
            yield from (event for _, event in store.events())


def _pattern_of(texts: Sequence[str]) -> re.Pattern[str]:
    forms = {unicodedata.normalize(form, text) for text in texts for form in ("NFC", "NFD")}
    spelled = (_GAP.join(_UNSEEN.join(map(re.escape, word)) for word in form.split()) for form in forms)
    return re.compile("|".join(sorted(spelled, key=len, reverse=True)), re.IGNORECASE)


def holds(path: Path, pattern: re.Pattern[str]) -> bool:
    """Return whether a file holds a text: in a row of a database, or in its bytes, as JSON escapes them, too."""
    content = path.read_bytes().decode("utf-8", "replace")
    if pattern.search(content):
        return True
    if "\\u" in content and pattern.search(re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), content)):
        return True
    rows = {".duckdb": _duckdb_texts, ".sqlite": _sqlite_texts}.get(path.suffix)
    return rows is not None and any(pattern.search(text) for text in rows(path))


def _duckdb_texts(path: Path) -> Iterator[str]:
    with closing(duckdb.connect(str(path), read_only=True)) as db:
        for (table,) in db.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            rows = db.execute(f'SELECT * FROM "{table}"')
            while batch := rows.fetchmany(1_000):
                yield from (str(value) for row in batch for value in row if value is not None)


def _sqlite_texts(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, str | bytes):
                        yield value if isinstance(value, str) else value.decode("utf-8", "replace")


def _without(value: Any, pattern: re.Pattern[str]) -> Any:  # Any: the JSON tree
    if isinstance(value, str):
        return pattern.sub(REMOVED, value)
    if isinstance(value, list | tuple):
        return [_without(part, pattern) for part in value]
    return {key: _without(part, pattern) for key, part in value.items()} if isinstance(value, dict) else value


def _cleared(record: R, pattern: re.Pattern[str]) -> R:
    return type(record).model_validate(_without(record.model_dump(mode="json"), pattern))


def _conversations(benchmark: Benchmark, pattern: re.Pattern[str]) -> Iterator[Path]:
    for conversation_id in benchmark.sealed_ids:
        path = benchmark.sealed_path(conversation_id)
        if holds(path, pattern):
            with SealedConversation(path) as sealed:
                head = _cleared(sealed.head, pattern)
                messages = [_cleared(message, pattern) for message in sealed.messages()]
                probes = [_cleared(probe, pattern) for probe in sealed.probes()]
            seal_conversation(path, head, messages, probes)
            yield path


def _reviews(benchmark: Benchmark, pattern: re.Pattern[str]) -> Iterator[Path]:
    """Write the review log anew, without its leases and links; events are cleared, none is left out."""
    path = benchmark.reviews_path
    if not has_reviews(path) or not holds(path, pattern):
        return
    with ReviewStore(path, read_only=True) as store:
        events: list[ReviewEvent] = [_cleared(event, pattern) for _, event in store.events()]
    fresh = path.with_name("cleared.sqlite")
    delete_file(fresh)
    with ReviewStore(fresh) as store:
        store.merge(events)
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    fresh.replace(path)
    yield path


def _plain_files(benchmark: Benchmark, pattern: re.Pattern[str]) -> Iterator[Path]:
    """Clear the spec and the seeds, whose digests and copies are written with them."""
    clear: Callable[[str], str] = lambda text: pattern.sub(REMOVED, text)  # noqa: E731 - one expression
    for path in sorted(benchmark.root.glob(f"*{SUFFIX}")):
        plain = path.with_name(path.name.removesuffix(SUFFIX))
        if plain.suffix != ".duckdb" and plain.is_file() and holds(plain, pattern):
            text = plain.read_text(encoding="utf-8")
            if plain.suffix == ".json":
                text = json.dumps(_without(json.loads(text), pattern), ensure_ascii=False, indent=1) + "\n"
            write_with_copy(plain, clear(text).encode())
            yield plain
