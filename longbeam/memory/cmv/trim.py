"""Trimmer of coding-agent sessions.

Three streaming passes that keep the conversation and drop tool output, and the hook that runs them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_core import from_json

from longbeam.errors import LongbeamError, StoreError, UserError
from longbeam.memory.cmv.session import (
    COPY,
    QUEUE,
    SNAPSHOT,
    Line,
    content_holder,
    count_messages,
    encode_line,
    is_compaction,
    json_text,
    line_text,
    parse_line,
    read_lines,
    speaker_of,
    tool_ids,
)
from longbeam.schemas import Record
from longbeam.store import describe_os_error, put_in_place, scratch_beside, write_atomically

LEAST_THRESHOLD = 50
"""Least threshold, longer than any stub, so that trimming twice equals trimming once."""
_WRITERS = {"Write", "Edit", "MultiEdit", "NotebookEdit"}
_WRITTEN = ("content", "old_string", "new_string", "new_source")
_IDENTIFYING = {
    "file_path", "notebook_path", "command", "description", "pattern", "path", "url", "skill", "args", "replace_all",
    "edit_mode", "cell_type", "cell_id",
}  # fmt: skip
_COMPACTION_SIGNS = ('"compact_boundary"', '"summary"')


class Variant(StrEnum):
    """Behaviour of the trimmer: that of the released code, or a mended one."""

    MENDED = "mended"
    RELEASED = "released"


class TrimSettings(Record):
    """Settings of a trim."""

    threshold: int = 500
    """Characters of a tool result or of a written field, beyond which it is stubbed; less than 50 is taken for 50."""
    variant: Variant = Variant.MENDED

    @property
    def limit(self) -> int:
        """The effective threshold."""
        return max(self.threshold, LEAST_THRESHOLD)


class TrimMetrics(Record):
    """Counts of a trim."""

    original_bytes: int = 0
    trimmed_bytes: int = 0
    tool_results_stubbed: int = 0
    thinking_removed: int = 0
    file_history_removed: int = 0
    images_stripped: int = 0
    tool_inputs_stubbed: int = 0
    tool_copies_stubbed: int = 0
    """Copies of tool results (`toolUseResult`), which agents keep beside a message and no model receives; `mended`
    only."""
    lines_before_compaction: int = 0
    orphan_results_removed: int = 0
    empty_lines_removed: int = Field(default=0)
    """Lines that would have been left without content; `mended` only."""
    queue_operations_removed: int = 0
    user_messages: int = 0
    assistant_messages: int = 0
    tool_calls: int = 0

    @property
    def reduction(self) -> float:
        """Share of the bytes that the trim removed, 0 to 1."""
        return 1 - self.trimmed_bytes / self.original_bytes if self.original_bytes else 0.0


def trim_file(source: Path, target: Path, settings: TrimSettings) -> TrimMetrics:
    """Write the trimmed session to `target`, as a whole or not at all; `target` may be `source`.

    What is appended to `source` meanwhile is copied behind, untrimmed. UserError if it cannot be read or if no message
    would be left, StoreError if the disk refuses.
    """
    with scratch_beside(target) as scratch:
        written = scratch / "session"
        try:
            size = source.stat().st_size
            with written.open("wb") as file:
                metrics = trim_lines(lambda: _up_to(source, size), lambda text: file.write(encode_line(text)), settings)
                _copy_tail(source, size, file.write)
            refuse_without_messages(count_messages(read_lines(source)), count_messages(read_lines(written)))
            shutil.copymode(source, written)
        except OSError as exc:
            raise StoreError(describe_os_error(target, exc)) from exc
        put_in_place(written, target)
    return metrics


def trim_lines(
    read: Callable[[], Iterator[str]], write: Callable[[str], object], settings: TrimSettings
) -> TrimMetrics:
    """Trim the lines of `read`, which is called three times, into `write`."""
    boundary = _last_compaction(read(), settings.variant)
    trimmer = _Trimmer(settings, frozenset(_calls_before(read(), boundary)))
    for number, text in enumerate(read()):
        if (kept := trimmer.line(text, is_before=number < boundary)) is not None:
            write(kept)
    return TrimMetrics(**trimmer.counts)


def refuse_without_messages(before: int, after: int) -> None:
    """Raise UserError when a session that had messages would have none: an agent cannot resume it."""
    if before and not after:
        raise UserError(f"no message would be left of {before}; the session stays as it is")


def since_compaction(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines from the last compaction on, which the model still receives."""
    return lines[_last_compaction(iter(lines), Variant.MENDED) :]


def _up_to(path: Path, size: int) -> Iterator[str]:
    """Yield the lines within the first `size` bytes, so that each pass sees the same file."""
    seen = 0
    for text in read_lines(path):
        if seen >= size:
            return
        yield text
        seen += len(encode_line(text))


def _copy_tail(path: Path, size: int, write: Callable[[bytes], object]) -> None:
    with path.open("rb") as file:
        file.seek(max(size - 1, 0))
        if size and file.read(1) != b"\n":
            file.readline()  # the last line was not whole; the passes have read all of it
        while piece := file.read(2**20):
            write(piece)


def _last_compaction(lines: Iterator[str], variant: Variant) -> int:
    """Return the number of the last compaction line; 0 if there is none, so that no line is before it."""
    # The released code takes the title of a session (`summary`) for a compaction and drops everything before it.
    signs = _COMPACTION_SIGNS if variant is Variant.RELEASED else _COMPACTION_SIGNS[:1]
    found = 0
    for number, text in enumerate(lines):
        # Parsing every line of a session of 100 MB for one sign would take as long as the rest.
        if any(sign in text for sign in signs):
            line = parse_line(text)
            is_title = variant is Variant.RELEASED and line is not None and line.get("type") == "summary"
            if line is not None and (is_title or is_compaction(line)):
                found = number
    return found


def _calls_before(lines: Iterator[str], boundary: int) -> Iterator[str]:
    for number, text in enumerate(lines):
        if number >= boundary:
            return
        if '"tool_use"' in text and (line := parse_line(text)) is not None:
            yield from tool_ids(line)


class _Trimmer:
    """The third pass, line by line."""

    def __init__(self, settings: TrimSettings, gone: frozenset[str]) -> None:
        self.limit = settings.limit
        self.is_mended = settings.variant is Variant.MENDED
        self.gone = gone
        """Tool calls before the boundary: their results after it belong to no call."""
        self.parents: dict[str, str | None] = {}
        """Nearest kept ancestor of every dropped line."""
        self.counts = dict.fromkeys(TrimMetrics.model_fields, 0)

    def line(self, text: str, *, is_before: bool) -> str | None:
        """Return the trimmed line; None if it is dropped."""
        self.counts["original_bytes"] += len(encode_line(text))
        if not text.strip():
            return None
        line = parse_line(text)
        kept: str | None = text
        if is_before:
            self.counts["lines_before_compaction"] += 1
            kept = None
        elif line is not None:
            kept = self._trimmed(line)
        if kept is None:
            if line is not None:
                self._drop(line)
            return None
        self.counts["trimmed_bytes"] += len(encode_line(kept))
        return kept

    def _trimmed(self, line: Line) -> str | None:
        if line.get("type") == SNAPSHOT:
            self.counts["file_history_removed"] += 1
            return None
        if line.get("type") == QUEUE:
            self.counts["queue_operations_removed"] += 1
            return None
        speaker = speaker_of(line)
        holder = content_holder(line)
        if holder is not None and isinstance(holder["content"], list):
            blocks = [b for block in holder["content"] if (b := self._block(block, speaker)) is not None]
            # The API refuses a message without content; the original leaves such lines.
            if self.is_mended and not blocks:
                self.counts["empty_lines_removed"] += 1
                return None
            holder["content"] = blocks
        if self.is_mended and COPY in line:
            # The agent draws the tool's result from the copy: long texts in it go, its shape stays.
            shortened = self._shortened(line[COPY])
            self.counts["tool_copies_stubbed"] += shortened != line[COPY]
            line[COPY] = shortened
        line.pop("usage", None)
        if isinstance(line.get("message"), dict):
            line["message"].pop("usage", None)
        if self.is_mended:
            # Its parent may be a line that is gone.
            self._relink(line)
        if speaker is not None:
            self.counts["user_messages" if speaker == "user" else "assistant_messages"] += 1
        return line_text(line)

    def _block(self, block: Any, speaker: str | None) -> Any | None:
        """Return the trimmed block."""
        if not isinstance(block, dict):
            return block
        match block.get("type"):
            case "thinking" | "redacted_thinking":
                self.counts["thinking_removed"] += 1
                return None
            case "tool_result":
                if block.get("tool_use_id") in self.gone:
                    self.counts["orphan_results_removed"] += 1
                    return None
                return self._result(block)
            case "tool_use":
                self.counts["tool_calls"] += 1
                return self._call(block)
            case "image" if self.is_mended and speaker == "user":
                self.counts["images_stripped"] += 1
                return {"type": "text", "text": f"[Trimmed image: ~{len(line_text(block))} chars]"}
        return block

    def _result(self, block: Line) -> Line:
        content = block.get("content")
        if isinstance(content, str):
            if len(content) > self.limit:
                block["content"] = self._stub(len(content))
        elif isinstance(content, list):
            images = [b for b in content if isinstance(b, dict) and b.get("type") == "image"]
            rest = [b for b in content if b not in images]
            self.counts["images_stripped"] += len(images)
            size = sum(len(b.get("text", "")) if _is_text(b) else len(json_text(b)) for b in rest)
            size += sum(len(json_text(b)) for b in images)
            # Without content a result would be refused, so a small image leaves a stub, too.
            if size > self.limit or (self.is_mended and not rest):
                rest = [{"type": "text", "text": self._stub(size)}]
            block["content"] = rest
        return block

    def _stub(self, size: int) -> str:
        self.counts["tool_results_stubbed"] += 1
        return _result_stub(size)

    def _shortened(self, value: Any) -> Any:
        """Return a copy of a tool's result in which texts, and lists of texts, beyond the limit are stubs."""
        match value:
            case str() if len(value) > self.limit:
                return _result_stub(len(value))
            case dict():
                return {name: self._shortened(inner) for name, inner in value.items()}
            case list() if all(isinstance(inner, str) for inner in value):
                size = sum(map(len, value))
                return [_result_stub(size)] if size > self.limit else value
            case list():
                return [self._shortened(inner) for inner in value]
        return value

    def _call(self, block: Line) -> Line:
        given = block.get("input")
        if not isinstance(given, dict):
            return block
        stubbed = 0
        if block.get("name") in _WRITERS:
            stubbed = self._stub_fields(given, set(_WRITTEN))
            edits = given.get("edits")
            if self.is_mended and isinstance(edits, list):
                stubbed += sum(self._stub_fields(edit, set(_WRITTEN)) for edit in edits if isinstance(edit, dict))
        if not stubbed and len(json_text(given)) > self.limit:
            stubbed = self._stub_fields(given, given.keys() - _IDENTIFYING)
        self.counts["tool_inputs_stubbed"] += bool(stubbed)
        return block

    def _stub_fields(self, fields: Line, names: set[str]) -> int:
        """Stub the long texts among the named fields, and return how many there were."""
        long = [n for n in fields if n in names and isinstance(fields[n], str) and len(fields[n]) > self.limit]
        for name in long:
            fields[name] = f"[Trimmed input: ~{len(fields[name])} chars]"
        return len(long)

    def _drop(self, line: Line) -> None:
        own, parent = line.get("uuid"), line.get("parentUuid")
        if isinstance(own, str):
            self.parents[own] = self._kept(parent) if isinstance(parent, str) else None

    def _kept(self, parent: str) -> str | None:
        """Return the nearest ancestor that is kept."""
        return self.parents.get(parent, parent)

    def _relink(self, line: Line) -> None:
        parent = line.get("parentUuid")
        if isinstance(parent, str):
            line["parentUuid"] = self._kept(parent)


def _result_stub(size: int) -> str:
    return f"[Trimmed tool result: ~{size} chars]"


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def file_size(path: Path) -> int:
    """Return a file's size in bytes; 0 if it is missing."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


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
    told = from_json(given)
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
