"""Who speaks when. Imports with several speakers need not alternate, so there it is only worth a look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.schemas.dialogue import MessageKind, MessageRole
from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex

MIN_HEADED = 2
_HEADED = re.compile(r"(?m)^\s{0,3}(?:#{1,6}\s+\S|(?:\d{1,2}[.)]|[-*•])\s+\*\*)")
"""A markdown heading, or a list item that opens in bold."""


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield breaks of the alternation, kinds that do not fit the role, and turns that begin without a question."""
    if index.is_import and index.messages and all(m.role is MessageRole.USER for m in index.messages):
        return  # an import without chat text, which the import says itself
    expected = MessageRole.USER
    turn: tuple[int | None, ...] | None = None
    for message in index.messages:
        key = message.message_key
        if message.role is not expected:
            kind = "import_alternation" if index.is_import else "alternation"
            yield Problem(kind, key, f"the {message.role.value} speaks where the {expected.value} should", (key,))
        expected = MessageRole.ASSISTANT if message.role is MessageRole.USER else MessageRole.USER
        if (message.kind is MessageKind.REPLY) is not (message.role is MessageRole.ASSISTANT):
            yield Problem(
                "kind", key, f"a message of the {message.role.value} is of kind {message.kind.value!r}", (key,)
            )
        if message.kind is MessageKind.ANSWER and len(_HEADED.findall(message.content)) >= MIN_HEADED:
            yield Problem(
                "assistant_style", key, "the user answers under headings or bold points, as assistants do", (key,)
            )
        here = (message.plan_index, message.sub_plan_index, message.turn_index)
        if message.role is MessageRole.USER and message.turn_index is not None:
            is_first = here != turn
            if is_first is not (message.kind is MessageKind.QUESTION):
                text = f"message {'begins' if is_first else 'goes on in'} a turn with kind {message.kind.value!r}"
                yield Problem("turn_opening", key, text, (key,))
            turn = here
    if index.messages and index.messages[-1].role is MessageRole.USER:
        key = index.messages[-1].message_key
        yield Problem("unanswered", key, "the conversation ends with a user message that nobody answers", (key,))
    if not index.messages:
        yield Problem("empty", "conversation", "the conversation has no messages")


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
