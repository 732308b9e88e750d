"""Recorded replies of a benchmark's models, for a server that repeats them to requests with the same messages.

A run against it sends what it would send to a real endpoint, and nobody is paid: for measuring what a run costs on our
side, and for trying other clients.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from longbeam.errors import UserError
from longbeam.schemas import ModelReply, message_hash, request_hash
from longbeam.store import Benchmark, RecordedRequest, WorkLog


@dataclass(frozen=True)
class RecordedReply:
    """A model's reply, and the call that it answered."""

    unit_key: str
    generation: int
    reply: ModelReply


class Recording:
    """The journals of a benchmark, opened for reading and indexed by the messages of their requests."""

    def __init__(self, benchmark: Benchmark) -> None:
        """Raises UserError where no conversation was begun, StoreError for a damaged work log."""
        self.name = benchmark.spec.name
        paths = [p for i in benchmark.conversation_ids if (p := benchmark.work_path(i)).exists()]
        if not paths:
            raise UserError(f"benchmark {self.name!r} has no recorded replies; generate it first")
        self._asked: defaultdict[bytes, list[tuple[WorkLog, RecordedRequest]]] = defaultdict(list)
        with ExitStack() as opened:
            for path in paths:
                log = opened.enter_context(WorkLog.open_read_only(path))
                for request in log.journal.requests():
                    self._asked[request.hash].append((log, request))
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def reply_to(self, messages: Sequence[tuple[str, str]]) -> RecordedReply | None:
        """Return the reply to these messages, each a role and a content, or None. Several replies take turns."""
        found = self._asked.get(request_hash(message_hash(*m) for m in messages))
        if found is None:
            return None
        found.append(found.pop(0))
        log, request = found[-1]
        reply = log.journal.reply_of(request.key)
        assert reply is not None  # nobody takes one out of a journal while it is read
        return RecordedReply(request.unit_key, request.generation, reply)
