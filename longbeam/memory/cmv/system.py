"""CMV as a memory system: the reader sees the tail of the trimmed transcript, so that more of it fits the window.

On plain chat there is nothing to trim, and the system is long context; what it does shows on agentic conversations.
"""

from __future__ import annotations

from longbeam.memory.base import ExchangeMemory
from longbeam.memory.cmv.study.trim import TrimSettings, trim_lines
from longbeam.memory.cmv.transcript import contents_of, lines_of
from longbeam.memory.context import ContextBuilder
from longbeam.memory.exchanges import dated
from longbeam.schemas.evaluation import Context, Exchange, Question


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
