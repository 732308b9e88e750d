"""Order of the speakers. Imports with several speakers need not alternate, so there a break is only a warning."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.schemas import Message, MessageKind, MessageRole
from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex

MIN_HEADED = 2
"""Headings or bold points from which an answer of the user is in an assistant's style."""
_Turn = tuple[int | None, ...]
_HEADED = re.compile(r"(?m)^\s{0,3}(?:#{1,6}\s+\S|(?:\d{1,2}[.)]|[-*•])\s+\*\*)")
"""A markdown heading, or a list item that opens in bold."""


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield breaks of the alternation, kinds that do not fit the role, and turns that begin without a question."""
    if not index.messages:
        yield Problem("empty", "conversation", "the conversation has no messages")
        return
    if index.is_import and all(m.role is MessageRole.USER for m in index.messages):
        return  # an import without chat text; its import notes say so
    expected = MessageRole.USER
    turn: _Turn | None = None
    for message in index.messages:
        if message.role is not expected:
            kind = "import_alternation" if index.is_import else "alternation"
            text = f"the {message.role.value} speaks where the {expected.value} should"
            yield Problem(kind, message.message_key, text, (message.message_key,))
        expected = MessageRole.ASSISTANT if message.role is MessageRole.USER else MessageRole.USER
        yield from _kind_problems(message)
        if message.role is MessageRole.USER and message.turn_index is not None:
            here = (message.plan_index, message.sub_plan_index, message.turn_index)
            yield from _opening_problems(message, is_first=here != turn)
            turn = here
    if index.messages[-1].role is MessageRole.USER:
        key = index.messages[-1].message_key
        yield Problem("unanswered", key, "the conversation ends with a user message that nobody answers", (key,))


def _kind_problems(message: Message) -> Iterator[Problem]:
    key = message.message_key
    if (message.kind is MessageKind.REPLY) is not (message.role is MessageRole.ASSISTANT):
        text = f"a message of the {message.role.value} is of kind {message.kind.value!r}"
        yield Problem("kind", key, text, (key,))
    if message.kind is MessageKind.ANSWER and len(_HEADED.findall(message.content)) >= MIN_HEADED:
        text = "the user answers under headings or bold points, as assistants do"
        yield Problem("assistant_style", key, text, (key,))


def _opening_problems(message: Message, *, is_first: bool) -> Iterator[Problem]:
    if is_first is not (message.kind is MessageKind.QUESTION):
        key = message.message_key
        text = f"message {'begins' if is_first else 'goes on in'} a turn with kind {message.kind.value!r}"
        yield Problem("turn_opening", key, text, (key,))


CHECK = Check(
    name="roles",
    doc="User and assistant alternate, the user first; kinds fit the role; a turn begins with a question.",
    severities={
        "alternation": ERROR,
        "import_alternation": WARNING,
        "kind": ERROR,
        "turn_opening": WARNING,
        "assistant_style": WARNING,
        "unanswered": WARNING,
        "empty": ERROR,
    },
    on_conversation=find_problems,
)
