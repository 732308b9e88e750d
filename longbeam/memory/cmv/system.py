"""CMV as a memory system: our messages as a coding-agent session, trimmed, whose tail the reader sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from longbeam.memory.base import ExchangeMemory
from longbeam.memory.cmv.session import Line, blocks_of, content_holder, is_compaction, line_text, parse_line
from longbeam.memory.cmv.trim import TrimSettings, trim_lines
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated
from longbeam.schemas import Context, Exchange, Message, MessageRole, Part, PartKind, Question, text_of

VERSION = "2.1.1"
"""Version of the session format that is written."""
IMAGE_BYTES = 4_096
"""Size of an image whose source does not give it."""


def lines_of(messages: Iterable[Message], session_id: str, project: str = "/work/project") -> Iterator[str]:
    """Yield the lines of a session that holds these messages."""
    parent: str | None = None
    for message in messages:
        for number, line in enumerate(_lines(message)):
            own = f"{message.message_key}#{number}"
            yield line_text(
                {
                    **line,
                    "uuid": own,
                    "parentUuid": parent,
                    "sessionId": session_id,
                    "cwd": project,
                    "version": VERSION,
                    "timestamp": f"{message.sent_at.isoformat(timespec='milliseconds')}Z",
                    "isSidechain": False,
                }
            )
            parent = own


def contents_of(lines: Iterable[str]) -> dict[str, str]:
    """Return the text that is left of each message, by message key, as `schemas.dialogue.text_of` makes it."""
    left: dict[str, list[Part]] = {}
    for text in lines:
        line = parse_line(text)
        if line is None or not isinstance(line.get("uuid"), str):
            continue
        key = line["uuid"].rpartition("#")[0]
        if not is_compaction(line):
            left.setdefault(key, []).extend(_parts(line))
    return {key: text_of(parts) for key, parts in left.items()}


def _lines(message: Message) -> Iterator[Line]:
    speaker = "user" if message.role is MessageRole.USER else "assistant"
    if not message.parts:
        yield _said(speaker, message.content)
        return
    for part in message.parts:
        match part.kind:
            case PartKind.TEXT:
                yield _said(speaker, [{"type": "text", "text": part.text}])
            case PartKind.THINKING:
                signature = str(part.data.get("signature", ""))
                yield _said("assistant", [{"type": "thinking", "thinking": part.text, "signature": signature}])
            case PartKind.TOOL_CALL:
                call = {k: part.data.get(k) for k in ("id", "name", "input")}
                yield _said("assistant", [{"type": "tool_use", **call}])
            case PartKind.TOOL_RESULT:
                yield _result(part, [{"type": "text", "text": part.text}] if part.data.get("as_list") else part.text)
            case PartKind.IMAGE_STUB:
                yield _image(part, speaker)
            case PartKind.COMPACTION:
                yield {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
                yield {**_said("user", part.text), "isCompactSummary": True}


def _said(speaker: str, content: Any) -> Line:
    return {"type": speaker, "message": {"role": speaker, "content": content}}


def _result(part: Part, content: Any) -> Line:
    return _said("user", [{"type": "tool_result", "tool_use_id": part.data.get("tool_use_id"), "content": content}])


def _image(part: Part, speaker: str) -> Line:
    # `alt` describes the picture; for a model that cannot see, the image has no other content.
    size = int(part.data.get("bytes", IMAGE_BYTES)) * 4 // 3
    source = {
        "type": "base64",
        "media_type": part.data.get("media_type", "image/png"),
        "data": "iVBORw0K" * (size // 8),
    }
    block = {"type": "image", "source": source, "alt": part.text}
    return _result(part, [block]) if "tool_use_id" in part.data else _said(speaker, [block])


def _parts(line: Line) -> list[Part]:
    """Return the parts of a line; an image in a result becomes the text of its `alt`."""
    holder = content_holder(line)
    if holder is not None and isinstance(holder["content"], str):
        kind = PartKind.COMPACTION if line.get("isCompactSummary") else PartKind.TEXT
        return [Part(kind=kind, text=holder["content"])]
    return [part for block in blocks_of(line) for part in _block_parts(block)]


def _block_parts(block: Any) -> Sequence[Part]:
    match block:
        case {"type": "text", "text": str(text)}:
            return (Part(kind=PartKind.TEXT, text=text),)
        case {"type": "thinking", "thinking": str(text)}:
            return (Part(kind=PartKind.THINKING, text=text),)
        case {"type": "image"}:
            return (Part(kind=PartKind.IMAGE_STUB, text=str(block.get("alt", ""))),)
        case {"type": "tool_use"}:
            return (Part(kind=PartKind.TOOL_CALL, data={k: block.get(k) for k in ("id", "name", "input")}),)
        case {"type": "tool_result", "content": str(text)}:
            return (Part(kind=PartKind.TOOL_RESULT, text=text),)
        case {"type": "tool_result", "content": list(blocks)}:
            inner = [part for b in blocks for part in _block_parts(b)]
            return [
                part if part.kind is PartKind.IMAGE_STUB else Part(kind=PartKind.TOOL_RESULT, text=part.text)
                for part in inner
            ]
    return ()


class CmvSettings(TrimSettings):
    """Settings of the trim, and of the part that is read."""

    window: int | None = None
    """Tokens; None takes the reader's window."""


class Cmv(ExchangeMemory[CmvSettings]):
    """Reads the newest whole exchanges of the trimmed transcript that fit the window."""

    async def finish(self) -> None:
        """Trim the transcript; empty messages are left out."""
        messages = [message for exchange in self._exchanges for message in exchange.messages]
        trimmed: list[str] = []
        trim_lines(lambda: lines_of(messages, "session"), trimmed.append, self._settings)
        left = contents_of(trimmed)
        kept = []
        for exchange in self._exchanges:
            said = tuple(
                m.model_copy(update={"content": left[m.message_key]})
                for m in exchange.messages
                if m.message_key in left
            )
            if said:
                kept.append(Exchange(position=exchange.position, messages=said))
        self._exchanges = kept

    async def context(self, question: Question, *, budget: int) -> Context:
        """Return the tail of the trimmed transcript."""
        builder = ContextBuilder(self._settings.window or budget, self._tools.count_tokens)
        builder.put_while_fitting("transcript", reversed(self._exchanges))
        if not builder.has_pieces and self._exchanges:
            builder.put_tail("transcript", dated(self._exchanges[-1]), self._exchanges[-1].message_keys)
        return builder.build()
