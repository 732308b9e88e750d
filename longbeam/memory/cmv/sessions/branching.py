"""Copies of a session as a new session: its lines under a new id, and an entry in Claude Code's list of sessions."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from longbeam.memory.cmv.session import Line, encode_line, line_text, parse_line, speaker_of
from longbeam.store.files import write_atomically

LIST = "sessions-index.json"


class BranchWriter:
    """Writes lines under the id of another session, and remembers its last message.

    Lines of a sidechain are the dialogue with a sub-agent: a message below one of them would not be in the session.
    """

    def __init__(self, session_id: str, write: Callable[[bytes], object]) -> None:
        self.session_id = session_id
        self.write = write
        self.last: Line = {}

    def line(self, text: str) -> None:
        line = parse_line(text)
        if line is not None and "sessionId" in line:
            line["sessionId"] = self.session_id
            text = line_text(line)
        if line is not None and speaker_of(line) is not None and not line.get("isSidechain"):
            self.last = line
        self.write(encode_line(text))

    def say(self, text: str, now: datetime) -> None:
        """Append a message of the user to the last one."""
        told: Line = {k: self.last[k] for k in ("cwd", "version", "gitBranch", "userType") if k in self.last}
        self.line(
            line_text(
                {
                    "type": "user",
                    "message": {"role": "user", "content": text},
                    "uuid": str(uuid.uuid4()),
                    "parentUuid": self.last.get("uuid"),
                    "sessionId": self.session_id,
                    "timestamp": now.isoformat().replace("+00:00", "Z"),
                    "isSidechain": False,
                    **told,
                }
            )
        )


@dataclass(frozen=True)
class ListedSession:
    """A session as Claude Code's own list shows it."""

    path: Path
    first_prompt: str
    summary: str
    project: str
    """Folder that the session works in."""
    messages: int


def list_session(session: ListedSession, now: datetime) -> None:
    """Add a session to Claude Code's own list, if the project has one."""
    path = session.path
    index = path.parent / LIST
    listed = _session_list(index)
    if listed is None:
        return
    stamp = now.isoformat()
    listed["entries"].append(
        {
            "sessionId": path.stem,
            "fullPath": str(path),
            "fileMtime": int(now.timestamp() * 1000),
            "firstPrompt": session.first_prompt,
            "summary": session.summary,
            "messageCount": session.messages,
            "created": stamp,
            "modified": stamp,
            "projectPath": session.project,
            "isSidechain": False,
        }
    )
    write_atomically(index, line_text(listed))


def unlist_session(folder: Path, session_id: str) -> None:
    """Remove a session from the list of its folder, if there is one."""
    path = folder / LIST
    listed = _session_list(path)
    if listed is not None:
        listed["entries"] = [
            e for e in listed["entries"] if not (isinstance(e, dict) and e.get("sessionId") == session_id)
        ]
        write_atomically(path, line_text(listed))


def _session_list(path: Path) -> dict[str, Any] | None:
    """Return the list of a project's sessions; None if there is no readable one."""
    try:
        found = parse_line(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return found if found is not None and isinstance(found.get("entries"), list) else None
