"""Readers of foreign files: streamed, with one clear line of text for every fault.

A file of 500 haystacks, or of ten conversations of 10M tokens, is far larger than each of its elements, so the elements
of a JSON list are parsed one at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

from longbeam.errors import UserError
from longbeam.schemas import GivenConversation, ImportNote, NoteKind
from longbeam.text import Redaction

_PIECE = 2**20
_SPACE = " \t\r\n"
W = TypeVar("W")


@dataclass(frozen=True)
class ImportOptions:
    """Options of an import."""

    tokenizer: str = "o200k_base"
    full_chat: bool = True
    """BEAM: the whole chat of the release; False: the truncated chat of its paper's evaluation, if there is one."""
    joins: bool | None = None
    """Chats: whether all of them are sessions of one conversation; None: those of a product's export are."""
    redaction: Redaction | None = None
    """Chats: replaces private texts; None keeps them."""


Importer = Callable[[Path, ImportOptions], Iterable[GivenConversation]]
"""Reads a path; raises UserError with one line that names the place and the fault."""


@dataclass
class Notes:
    """The irregularities of one conversation, in the order in which they were found."""

    kept: list[ImportNote] = field(default_factory=list)

    def add(self, kind: NoteKind, subject: str, message: str, *evidence: str) -> None:
        """Add a note."""
        self.kept.append(ImportNote(kind=kind, subject=subject, message=message, evidence=evidence))


def refuse(where: str, problem: str) -> NoReturn:
    """Raise a UserError about a place in a file."""
    raise UserError(f"{where}: {problem}")


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text, without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UserError(f"{path}: is not UTF-8 text (byte {exc.start})") from exc
    except OSError as exc:
        raise UserError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def read_json(path: Path) -> Any:  # Any: the JSON tree
    """Return the JSON of a file."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str) -> Any:  # Any: the JSON tree
    """Return the JSON of a text; UserError names the place of a fault."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except json.JSONDecodeError as exc:
        raise UserError(f"{where}: not JSON: {exc.msg} (line {exc.lineno}, column {exc.colno})") from exc
    except (ValueError, RecursionError) as exc:
        raise UserError(f"{where}: not usable JSON: {exc}") from exc


def overwritten(pairs: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the members that another one of the same name, and of another value, stands behind."""
    if len(last := dict(pairs)) < len(pairs):
        yield from ((name, value) for name, value in pairs if last[name] != value)


class _TwoValues(ValueError):
    """An object has two values of one name."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, _ in overwritten(pairs):
        raise _TwoValues(f"{name[:40]!r} stands twice in one object, with two values")
    return dict(pairs)


def stream_list(path: Path) -> Iterator[Any]:
    """Yield the elements of a file that is one JSON list, or JSON Lines, holding one element at a time.

    Lists that follow each other are read as one. Raises UserError for a file without elements.
    """
    is_empty = True
    for _, element in stream_values(path):
        is_empty = False
        yield element
    if is_empty:
        refuse(str(path), "holds nothing to import")


def stream_values(path: Path, decoder: json.JSONDecoder | None = None) -> Iterator[tuple[int | None, Any]]:
    """Yield the JSON values of a file one at a time, those of an outermost list each with that list's ordinal.

    Without a `decoder`, NaN and an object with two values of one name are refused.
    """
    decoder = decoder or json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_once)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _values(file, path, decoder)
    except UnicodeDecodeError as exc:
        raise UserError(f"{path}: is not UTF-8 text (byte {exc.start})") from exc
    except OSError as exc:
        raise UserError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def want(kind: type[W], value: object, where: str, what: str) -> W:
    """Return a value of a kind; UserError if it is something else."""
    if not isinstance(value, kind):
        refuse(where, f"found {describe(value)}; {what} is needed")
    return value


def describe(value: object) -> str:
    """Return a short form of a value for an error message."""
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=str)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    kinds = ((dict, "an object "), (list, "a list "), (str, "the text "))
    return next((name for kind, name in kinds if isinstance(value, kind)), "") + shown


def _values(file: IO[str], path: Path, decoder: json.JSONDecoder) -> Iterator[tuple[int | None, Any]]:
    text, at, number = file.read(_PIECE), 0, 0
    lists, is_list = 0, False
    while True:
        at = _skip(text, at, _SPACE + ("," if number else ""))
        if at >= len(text) - 1 and (more := file.read(_PIECE)):
            text, at = text[at:] + more, 0
            continue
        if at >= len(text):
            break
        if text[at] == ("]" if is_list else "["):  # an outermost list begins or ends here
            lists, is_list, at = lists + is_list, not is_list, at + 1
            continue
        try:
            element, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as exc:
            # The end of the piece cuts the element off: read on, twice as much each time.
            if isinstance(exc, RecursionError | _TwoValues) or not (more := file.read(max(_PIECE, len(text) - at))):
                raise UserError(f"{path}: element {number + 1}: not JSON: {exc}") from exc
            text, at = text[at:] + more, 0
            continue
        if end == len(text) and (more := file.read(_PIECE)):  # a number may continue in the next piece
            text, at = text[at:] + more, 0
            continue
        yield lists if is_list else None, element
        at, number = end, number + 1
    if is_list:
        raise UserError(f"{path}: the list is not closed after element {number}; the file is cut off")


def _skip(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
