"""Analysis of a session's context, its parts and its size: one streaming pass, which restarts at each compaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from longbeam.memory.cmv.session import (
    COPY,
    QUEUE,
    SNAPSHOT,
    Line,
    blocks_of,
    content_holder,
    encode_line,
    is_compaction,
    line_text,
    parse_line,
    speaker_of,
)
from longbeam.memory.cmv.study.cost import OVERHEAD_TOKENS, TrimmableBytes
from longbeam.schemas.base import Record

WINDOW_TOKENS = 200_000
CHARS_PER_TOKEN = 4
BUCKETS = ("tool_results", "tool_copies", "thinking_signatures", "file_history", "conversation", "tool_calls", "other")


class Bucket(Record):
    """A category of the active bytes."""

    bytes: int = 0
    count: int = 0
    percent: int = 0
    """Percent of the active bytes, rounded."""


class Analysis(Record):
    """State of a session; only lines after the last compaction count."""

    total_bytes: int
    active_bytes: int
    user_messages: int
    assistant_messages: int
    compactions: int
    tokens: int
    """Tokens of the next request: the API's last count and a quarter of the characters since then; without such a
    count, a quarter of all characters and 20,000."""
    context_percent: int
    """Percent of a window of 200,000 tokens."""
    has_api_tokens: bool
    expected_reduction: float
    """Estimated share of the active bytes that a trim would remove, 0 to 0.95."""
    breakdown: dict[str, Bucket]


def analyze(lines: Iterable[str]) -> Analysis:
    """Return the analysis of a session."""
    count = _Count()
    for text in lines:
        count.take(text)
    return count.analysis()


@dataclass
class _Count:
    total: int = 0
    compactions: int = 0
    chars: int = 0
    """Since the last compaction."""
    chars_at_api: int = 0
    api_tokens: int = 0
    active: int = 0
    messages: dict[str, int] = field(default_factory=lambda: {"user": 0, "assistant": 0})
    buckets: dict[str, list[int]] = field(default_factory=lambda: {name: [0, 0] for name in BUCKETS})

    def take(self, text: str) -> None:
        size = len(encode_line(text))
        self.total += size
        if not text.strip():
            return
        line = parse_line(text)
        if line is not None and is_compaction(line):
            self._restart()
        self.active += size
        if line is None or line.get("type") == QUEUE:
            self._add("other", size)
            return
        if line.get("type") == SNAPSHOT:
            self._add("file_history", size)
            return
        self._message(line, size)

    def _restart(self) -> None:
        self.compactions += 1
        self.chars = self.chars_at_api = self.active = 0
        self.messages = {"user": 0, "assistant": 0}
        self.buckets = {name: [0, 0] for name in BUCKETS}

    def _message(self, line: Line, size: int) -> None:
        speaker, rest = speaker_of(line), size
        if COPY in line:
            copied = len(encode_line(line_text({COPY: line[COPY]}))) - 1
            self._add("tool_copies", copied)
            rest -= copied
        for block in blocks_of(line):
            if not isinstance(block, dict):
                continue
            taken = _share(block)
            if taken is not None:
                self._add(taken[0], taken[1])
                rest -= taken[1]
        if speaker is not None or is_compaction(line):
            self.messages[speaker or "user"] += speaker is not None
            self._add("conversation", max(rest, 0))
        else:
            self._add("other", max(rest, 0))
        self._tokens(line)

    def _tokens(self, line: Line) -> None:
        holder = content_holder(line)
        content = holder["content"] if holder is not None else line.get("summary", "")
        self.chars += len(content) if isinstance(content, str) else sum(len(line_text({"": b})) for b in content or ())
        message = line.get("message")
        usage = (message.get("usage") if isinstance(message, dict) else None) or line.get("usage")
        if isinstance(usage, dict):
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            seen = sum(n for name in names if isinstance(n := usage.get(name), int))
            if seen > 0 and seen != self.api_tokens:
                self.api_tokens, self.chars_at_api = seen, self.chars

    def _add(self, bucket: str, size: int) -> None:
        self.buckets[bucket][0] += size
        self.buckets[bucket][1] += 1

    def analysis(self) -> Analysis:
        since = (self.chars - self.chars_at_api) // CHARS_PER_TOKEN
        tokens = (self.api_tokens or OVERHEAD_TOKENS) + since
        sizes = {name: pair[0] for name, pair in self.buckets.items()}
        trimmable = TrimmableBytes(
            tool_results=sizes["tool_results"] + sizes["tool_copies"],
            results_count=self.buckets["tool_results"][1] + self.buckets["tool_copies"][1],
            signatures=sizes["thinking_signatures"],
            file_history=sizes["file_history"],
            tool_calls=sizes["tool_calls"],
        )
        return Analysis(
            total_bytes=self.total,
            active_bytes=self.active,
            user_messages=self.messages["user"],
            assistant_messages=self.messages["assistant"],
            compactions=self.compactions,
            tokens=tokens,
            context_percent=round(tokens * 100 / WINDOW_TOKENS),
            has_api_tokens=self.api_tokens > 0,
            expected_reduction=trimmable.expected_reduction(self.active),
            breakdown={
                name: Bucket(bytes=size, count=count, percent=round(size * 100 / self.active) if self.active else 0)
                for name, (size, count) in self.buckets.items()
            },
        )


def _share(block: Line) -> tuple[str, int] | None:
    """Return the bucket and the bytes of a block that is not part of the conversation."""
    match block.get("type"):
        case "tool_result":
            return "tool_results", len(encode_line(line_text(block))) - 1
        case "tool_use":
            return "tool_calls", len(encode_line(line_text(block))) - 1
        case "thinking" if block.get("signature"):
            return "thinking_signatures", len(encode_line(line_text({"signature": block["signature"]}))) - 1
    return None
