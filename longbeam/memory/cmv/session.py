"""Session files of Claude Code: one JSON object a line, in the forms that its versions have written.

A line is kept as the JSON tree that it is: a trimmer that modelled every field would lose those it does not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longbeam.errors import UserError

Line = dict[str, Any]
"""The JSON object of a line."""

SNAPSHOT, QUEUE = "file-history-snapshot", "queue-operation"
"""Types of lines that the model never receives."""
COPY = "toolUseResult"
"""Field with a copy of a tool's result, beside the message; the agent draws it, the model never receives it."""
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of surrogate pairs, without those in which bytes that are no UTF-8 are read."""
_SPEAKERS = {"user": "user", "human": "user", "assistant": "assistant"}


def parse_line(text: str) -> Line | None:
    """Return the object of a line; None if the line is no JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def line_text(line: Mapping[str, Any]) -> str:
    """Return a line as Claude Code writes it: compact JSON, no line end."""
    return json_text(line)


def json_text(value: Any) -> str:
    """Return a value's compact JSON; half a surrogate pair stays escaped, as only the escape can be in a file."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _HALF.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def is_compaction(line: Mapping[str, Any]) -> bool:
    """Whether the history before the line was replaced by a summary.

    A line of the type `summary` is no compaction: coding agents write a session's title so, even as the last line.
    """
    return line.get("type") == "system" and line.get("subtype") == "compact_boundary"


def speaker_of(line: Mapping[str, Any]) -> str | None:
    """Return `user` or `assistant`; None for a line that is no message.

    The role of the line wins, then that of its message, then its type: assistant lines may have the type `message`.
    """
    message = line.get("message")
    roles = (line.get("role"), message.get("role") if isinstance(message, dict) else None, line.get("type"))
    return next((_SPEAKERS[r] for r in roles if isinstance(r, str) and r in _SPEAKERS), None)


def content_holder(line: Line) -> Line | None:
    """Return the object that has the line's `content`: its message, or the line itself; None if neither has one."""
    message = line.get("message")
    if isinstance(message, dict) and "content" in message:
        return message
    return line if "content" in line else None


def blocks_of(line: Line) -> list[Any]:
    """Return the blocks of a line; none if its content is text or missing."""
    holder = content_holder(line)
    content = holder["content"] if holder is not None else None
    return content if isinstance(content, list) else []


def tool_ids(line: Line) -> Iterator[str]:
    """Yield the ids of the tool calls in a line."""
    for block in blocks_of(line):
        if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            yield block["id"]


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file without their ends, streamed; UserError where it cannot be read.

    Bytes that are no UTF-8 are kept as they are: `write_line` gives them back.
    """
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            for line in file:
                yield line.removesuffix("\n")
    except OSError as exc:
        raise UserError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def encode_line(text: str) -> bytes:
    """Return a line's bytes with its end."""
    return (text + "\n").encode("utf-8", errors="surrogateescape")


@dataclass(frozen=True)
class SessionFile:
    """A session file in Claude Code's own folder."""

    session_id: str
    path: Path
    modified: float
    """Time of the last change, in seconds since the epoch."""


def folder_of(project: str) -> str:
    """Return the name of a project's session folder: its path, with `-` for all but letters and digits."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in project)


def find_sessions(projects: Path) -> list[SessionFile]:
    """Return the sessions of a folder and its projects, newest first; none if the folder is missing."""
    found = []
    for path in sorted([*projects.glob("*/*.jsonl"), *projects.glob("*.jsonl")]):
        try:
            found.append(SessionFile(path.stem, path, path.stat().st_mtime))
        except OSError:  # deleted meanwhile
            continue
    return sorted(found, key=lambda s: (-s.modified, s.session_id))


def choose_session(projects: Path, wanted: str | None) -> SessionFile:
    """Return the session that is meant: an id, at least four characters of its beginning, a file, or None: the latest.

    Raises UserError when there is none, or when several begin so.
    """
    if wanted is not None and Path(wanted).is_file():
        path = Path(wanted)
        if not any((line := parse_line(text)) is not None and speaker_of(line) for text in read_lines(path)):
            raise UserError(f"{path}: no session of a coding agent: no line of it is a message of user or assistant")
        return SessionFile(path.stem, path, path.stat().st_mtime)
    sessions = find_sessions(projects)
    if wanted is None:
        if not sessions:
            raise UserError(f"no session lies below {projects}; name a session file, or give --projects")
        return sessions[0]
    if exact := [s for s in sessions if s.session_id == wanted]:
        return exact[0]
    # Three characters would soon name another session than yesterday.
    begun = [s for s in sessions if s.session_id.startswith(wanted)] if len(wanted) >= 4 else []
    if len(begun) == 1:
        return begun[0]
    if begun:
        names = ", ".join(s.session_id for s in begun[:4])
        raise UserError(f"session {wanted!r} is ambiguous: {names}; write more of it")
    raise UserError(
        f"session {wanted!r} is not below {projects} ({len(sessions)} sessions); give a file, a whole id, or at least "
        "four characters of its beginning"
    )


def count_messages(lines: Iterable[str]) -> int:
    """Return how many lines are messages of the user or the assistant."""
    return sum(1 for text in lines if (line := parse_line(text)) is not None and speaker_of(line) is not None)
