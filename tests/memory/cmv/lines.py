"""Session lines for the tests of CMV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from longbeam.memory.cmv import TrimMetrics, TrimSettings, Variant, trim_lines


def line(kind: str, content: Any = None, **more: Any) -> str:
    """A line of a session; `content` makes it a message."""
    message = {} if content is None else {"message": {"role": kind, "content": content}}
    return json.dumps({"type": kind, **message, **more}, separators=(",", ":"), ensure_ascii=False)


def result(content: Any, call: str = "t1", **more: Any) -> str:
    """The result of a tool call."""
    return line("user", [{"type": "tool_result", "tool_use_id": call, "content": content}], **more)


def call(name: str, given: dict[str, Any], own: str = "t1", **more: Any) -> str:
    """A tool call."""
    return line("assistant", [{"type": "tool_use", "id": own, "name": name, "input": given}], **more)


def text(words: str) -> dict[str, str]:
    """A block of text."""
    return {"type": "text", "text": words}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 900}}


def trimmed(lines: list[str], threshold: int = 500, variant: Variant = Variant.MENDED) -> tuple[list[Any], TrimMetrics]:
    """What is left of lines, parsed, and what was done."""
    kept: list[str] = []
    metrics = trim_lines(lambda: iter(lines), kept.append, TrimSettings(threshold=threshold, variant=variant))
    return [json.loads(text) for text in kept], metrics


def blocks(line: Any) -> Any:
    """The content of a parsed line."""
    return line["message"]["content"]


def write_session(path: Path, lines: list[str]) -> Path:
    """Write lines as a session file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")
    return path


_words = st.text(max_size=700)
_block = st.one_of(
    _words.map(text),
    _words.map(lambda t: {"type": "thinking", "thinking": t, "signature": "s"}),
    st.tuples(st.sampled_from(["a", "b", "c"]), _words).map(
        lambda p: {"type": "tool_use", "id": p[0], "name": "Write", "input": {"content": p[1], "file_path": "f"}}
    ),
    st.tuples(st.sampled_from(["a", "b", "c"]), _words).map(
        lambda p: {"type": "tool_result", "tool_use_id": p[0], "content": p[1]}
    ),
    st.tuples(st.sampled_from(["a", "b", "c"]), st.lists(st.one_of(_words.map(text), st.just(IMAGE)), max_size=3)).map(
        lambda p: {"type": "tool_result", "tool_use_id": p[0], "content": p[1]}
    ),
    st.just(IMAGE),
)
_speaker = st.sampled_from(["user", "assistant"])
_message = st.builds(line, _speaker, st.one_of(_words, st.lists(_block, max_size=4)))
_other = st.sampled_from(
    [
        line("file-history-snapshot", snapshot={}),
        line("queue-operation"),
        line("summary", summary="what was before"),
        line("system", subtype="compact_boundary"),
        "",
        "no JSON at all",
    ]
)


@st.composite
def _linked(draw: st.DrawFn) -> list[str]:
    lines = draw(st.lists(st.one_of(_message, _message, _message, _other), max_size=14))
    linked = []
    for number, raw in enumerate(lines):
        if raw.startswith("{"):
            parent = f"u{number - 1}" if number else None
            linked.append(json.dumps({**json.loads(raw), "uuid": f"u{number}", "parentUuid": parent}))
        else:
            linked.append(raw)
    return linked


SESSIONS = _linked()
"""Sessions of any shape, each line the child of the one before it."""
