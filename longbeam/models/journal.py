"""A model that pays for no reply twice: it repeats a reply that the journal holds.

The raw reply is recorded before it is parsed, so a better parser or check costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from longbeam.errors import RunStopped, StoreError
from longbeam.models.base import ChatModel, ModelCall
from longbeam.schemas import JournalEntry, ModelReply


class Journal(Protocol):
    """Store of recorded replies, such as the journal of a work log."""

    def reply_of(self, key: str) -> ModelReply | None:
        """The recorded reply of the call with this key."""

    def max_tokens_of(self, key: str) -> int | None:
        """The limit under which it was written; None if none was named."""

    def require_room(self) -> None:
        """Raise StoreError where a reply could not be kept."""

    def record(self, entry: JournalEntry) -> None:
        """Keep the reply, durably when this returns, in place of an earlier one to the same key."""


@dataclass
class JournalledModel:
    """Answers from the journal, else from `inner`. For one event loop.

    Once a reply could not be kept, no call is sent any more: every call raises RunStopped.
    """

    inner: ChatModel
    journal: Journal
    on_stop: Callable[[str], None] = lambda reason: None
    """Called with the reason when a reply cannot be kept, to stop other conversations and calls that wait."""
    hits: int = 0
    """Calls answered from the journal."""
    asks: int = 0
    """Calls passed on to `inner`."""
    output_tokens: int = 0
    """Tokens of the replies of `inner`."""
    stopped: str = ""
    """Why no call is sent any more; empty while calls are sent."""
    on_reply: Callable[[ModelCall, ModelReply], None] = lambda call, reply: None
    """Called with every reply, also with those from the journal."""
    _in_flight: dict[str, asyncio.Event | None] = field(default_factory=dict)
    """Calls in flight by key, with the event that equal calls wait for, if there are some."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Return the recorded reply; where there is none, ask, record and return."""
        # Once the first of several equal calls is over, the others find its reply. If it failed, its error is
        # its own: the next one asks.
        key = call.key
        while key in self._in_flight:
            over = self._in_flight[key] = self._in_flight[key] or asyncio.Event()
            await over.wait()
        recorded = self._recorded(call)
        if recorded is not None:
            self.hits += 1
            call.progress.is_replayed = True
            self.on_reply(call, recorded)
            return recorded
        self._in_flight[key] = None
        try:
            reply = await self._ask(call)
        finally:
            waited_for = self._in_flight.pop(key)
            if waited_for is not None:
                waited_for.set()
        self.on_reply(call, reply)
        return reply

    @property
    def ended(self) -> int:
        """Calls passed on to `inner` that have ended."""
        return self.asks - len(self._in_flight)

    def _recorded(self, call: ModelCall) -> ModelReply | None:
        reply = self.journal.reply_of(call.key)
        if reply is None or reply.finish_reason != "length":
            return reply
        # `max_tokens` is not part of the key, so that a reply that ended by itself outlives a change of it. One
        # that was cut is worth asking for again when there is more room now.
        before, now = self.journal.max_tokens_of(call.key), call.sampling.max_tokens
        has_more_room = before is not None and (now is None or now > before)
        return None if has_more_room else reply

    async def _ask(self, call: ModelCall) -> ModelReply:
        # Before the model is asked: a fault in either must not cost a reply.
        stage, request = call.stage, call.messages()
        if self.stopped:
            raise RunStopped(self.stopped)
        self._stop_where(self.journal.require_room)
        self.asks += 1
        reply = await self.inner.complete(call)
        # No await from here on: a cancelled task would lose a reply that was paid for.
        entry = JournalEntry(
            key=call.key,
            unit_key=call.unit_key,
            stage=stage,
            role=call.role.value,
            prompt_id=call.prompt.prompt_id,
            prompt_version=call.prompt.version,
            model=call.model,
            generation=call.generation,
            request=request,
            reply=reply,
            max_tokens=call.sampling.max_tokens,
        )
        self._stop_where(lambda: self.journal.record(entry))
        self.output_tokens += reply.output_tokens
        return reply

    def _stop_where(self, keep: Callable[[], None]) -> None:
        try:
            keep()
        except StoreError as exc:
            self.stopped = self.stopped or str(exc)
            self.on_stop(self.stopped)
            raise RunStopped(self.stopped) from exc
