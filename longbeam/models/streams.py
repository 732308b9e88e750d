"""A streamed reply (server-sent events) collected into the JSON that an endpoint without streaming would send.

Events are parsed in batches, because a reply has one event per token. While the reply grows, its length is counted
and loops are looked for; a loop or a reply beyond its limit ends the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from longbeam.models.connections import TooLarge
from longbeam.models.loops import LOOP, Loop, LoopWatch, find_loop

BATCH_BYTES = 8 * 1024
"""Bytes that are received before they are parsed."""
_TOOL_CALLS = 64
"""Most tool calls of one reply."""


class ReplyStream:
    """Collects one streamed reply."""

    def __init__(
        self, *, most_characters: int, parse: Callable[[bytes], Any], on_heard: Callable[[], None] = lambda: None
    ) -> None:
        """`parse` reads JSON, raising ValueError; `on_heard` is called for each piece that is no keep-alive."""
        self.data: dict[str, Any] = {}
        """`model`, `usage` and `error` as the events had them."""
        self.loop: Loop | None = None
        self.reasoning_characters = 0
        self.has_ended = False
        """Whether the endpoint said that the reply is whole."""
        self._most = most_characters
        self._parse, self._on_heard = parse, on_heard
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._characters = 0
        self._texts: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": []}
        self._watches = {"content": LoopWatch(), "reasoning": LoopWatch()}
        self._lengths = {"content": 0, "reasoning": 0, "refusal": 0}
        self._calls: dict[int, dict[str, str]] = {}
        self._finish_reason = ""

    def feed(self, data: bytes) -> bool:
        """Take in a piece of the body; returns whether the rest is not wanted. Raises TooLarge and ValueError."""
        if not data.startswith(b":") or b"data:" in data:  # a comment is a gateway's sign of life, not the model's
            self._on_heard()
        self._pending.append(data)
        self._pending_bytes += len(data)
        if self._pending_bytes >= BATCH_BYTES:
            self._take(is_last=False)
        return self.loop is not None

    def finish(self) -> dict[str, Any]:
        """Return the whole reply in the form of one that was not streamed. Raises TooLarge and ValueError."""
        self._take(is_last=True)
        message: dict[str, Any] = {name: "".join(self._texts[name]) for name in ("content", "refusal")}
        message["reasoning_content"] = "".join(self._texts["reasoning"])
        if self._calls:
            message["tool_calls"] = [{"type": "function", "function": call} for _, call in sorted(self._calls.items())]
        reason = LOOP if self.loop is not None else self._finish_reason
        self.has_ended = self.has_ended or bool(reason)
        return {**self.data, "choices": [{"message": message, "finish_reason": reason}]}

    def _take(self, *, is_last: bool) -> None:
        whole = b"".join(self._pending)
        end = len(whole) if is_last else whole.rfind(b"\n") + 1
        rest = whole[end:]
        if len(rest) > self._most:
            raise TooLarge(f"an event of more than {self._most:,} bytes")
        self._pending, self._pending_bytes = [rest], 0
        for line in whole[:end].split(b"\n"):
            if line.startswith(b"data:"):
                self._event(line[5:].strip())
        self._look_for_loops()

    def _event(self, payload: bytes) -> None:
        if payload == b"[DONE]" or not payload:
            self.has_ended = self.has_ended or bool(payload)
            return
        event = self._parse(payload)
        if not isinstance(event, dict):
            return
        for name in ("model", "usage", "error"):
            if event.get(name):
                self.data[name] = event[name]
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        if isinstance(reason := choice.get("finish_reason"), str):
            self._finish_reason = reason
        # Some endpoints that "stream" send one event with a whole message.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta)

    def _delta(self, delta: dict[str, Any]) -> None:
        if isinstance(said := delta.get("content"), str):
            self._add("content", said)
        elif isinstance(said, list):
            for part in said:
                self._add("content", part.get("text") if isinstance(part, dict) else "")
        if len(delta) == 1 and "content" in delta:
            return  # as nearly all are
        self._add("reasoning", delta.get("reasoning_content") or delta.get("reasoning"))
        self._add("refusal", delta.get("refusal"))
        for call in delta.get("tool_calls") or ():
            self._add_call(call)

    def _add(self, name: str, said: object) -> None:
        if isinstance(said, str) and said:
            self._texts[name].append(said)
            self._lengths[name] += len(said)
            self._count(len(said))

    def _add_call(self, call: object) -> None:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            return
        index = call.get("index")
        index = index if isinstance(index, int) else len(self._calls)
        made = self._calls.setdefault(index, {"name": "", "arguments": ""})
        if len(self._calls) > _TOOL_CALLS:
            raise TooLarge(f"more than {_TOOL_CALLS} tool calls")
        for name in made:
            if isinstance(said := function.get(name), str):
                made[name] += said
                self._count(len(said))

    def _count(self, characters: int) -> None:
        self._characters += characters
        if self._characters > self._most:
            raise TooLarge(f"a reply of more than {self._most:,} characters")

    def _look_for_loops(self) -> None:
        for name, watch in self._watches.items():
            if self.loop is None and watch.is_due(self._lengths[name]):
                text = "".join(self._texts[name])
                self._texts[name] = [text]
                self.loop = find_loop(text)
