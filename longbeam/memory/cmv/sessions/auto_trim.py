"""Automatic trimming as a hook of Claude Code: before a compaction, and after a tool call in a large session.

A hook must never stop its host: an error becomes a line in the log, and the session stays as it was.
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

from longbeam.errors import LongbeamError
from longbeam.memory.cmv.study.trim import TrimSettings, file_size, trim_file
from longbeam.store.files import put_in_place, scratch_beside, write_atomically

LARGE_BYTES = 600_000
"""Size of a session from which it is trimmed after a tool call."""
BACKUPS, LOG_LINES = 5, 50


def run_hook(given: str, store: Path, settings: TrimSettings, *, now: datetime | None = None) -> str:
    """Trim the session that a hook's JSON names, in place, and return one line about the result.

    `given` has `transcript_path`, `session_id` and `hook_event_name` (or `trigger`). Raises nothing.
    """
    now = now or datetime.now(UTC)
    try:
        done = _run(given, store, settings, now)
    except (LongbeamError, OSError, ValueError) as exc:
        done = f"nothing done: {' '.join(str(exc).split())}"
    _log(store, f"{now.isoformat(timespec='seconds')} {done}")
    return done


def _run(given: str, store: Path, settings: TrimSettings, now: datetime) -> str:
    told = json.loads(given)
    if not isinstance(told, dict) or not isinstance(told.get("transcript_path"), str):
        raise ValueError("the hook names no transcript_path")
    path = Path(told["transcript_path"]).expanduser()
    if path.suffix != ".jsonl" or not path.is_file():
        raise ValueError(f"{path} is no session file")
    event = told.get("hook_event_name") or told.get("trigger")
    size = file_size(path)
    if event == "PostToolUse" and size < LARGE_BYTES:
        return f"{path.stem}: {size:,} bytes, below {LARGE_BYTES:,}; nothing done"
    back_up(path, store, now=now)
    metrics = trim_file(path, path, settings)
    return f"{path.stem}: {metrics.original_bytes:,} to {metrics.trimmed_bytes:,} bytes ({event or 'no event'})"


def back_up(path: Path, store: Path, *, now: datetime | None = None) -> None:
    """Copy a session to the store's backups, which keep the last five copies of each session."""
    now, folder = now or datetime.now(UTC), store / "backups" / path.stem
    target = folder / f"{now:%Y%m%dT%H%M%S%f}.jsonl"
    with scratch_beside(target) as scratch:
        shutil.copyfile(path, scratch / "session")
        put_in_place(scratch / "session", target)
    for old in sorted(folder.glob("*.jsonl"))[:-BACKUPS]:
        old.unlink(missing_ok=True)


def _log(store: Path, line: str) -> None:
    path = store / "auto-trim.log"
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        write_atomically(path, "\n".join([*lines, line][-LOG_LINES:]) + "\n")
    except (LongbeamError, OSError):
        return  # a full disk must not stop the host
