"""Rule-based reading of chats: the user's sentences with one typed value, named by the words before the value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.prompts.calls.chats import (
    MOST_STATEMENTS,
    ExtractFactsInputs,
    ExtractFactsReply,
    ReadMessage,
    StatementDraft,
)
from longbeam.schemas.dialogue import MessageRole
from longbeam.schemas.plans import ValueKind
from longbeam.text.extraction import stated_in
from longbeam.text.sentences import sentences
from longbeam.text.words import content_words

_MOST = 2
"""Statements of one message."""
_WORDS = 3
"""Words that name a thing."""


def extract_facts(inputs: ExtractFactsInputs) -> ExtractFactsReply:
    """Return what the messages state by the rule; a value noted before under the same name is changed."""
    noted = {line.rpartition(":")[0] for line in inputs.known}
    found = [draft for message in inputs.messages for draft in _stated(message)]
    return ExtractFactsReply(
        statements=[
            draft.model_copy(update={"says": "change"})
            if f"{inputs.messages[draft.message].role.value}: {draft.subject}, {draft.attribute}" in noted
            else draft
            for draft in found[:MOST_STATEMENTS]
        ]
    )


def _stated(message: ReadMessage) -> Iterator[StatementDraft]:
    left = _MOST if message.role is MessageRole.USER else 0
    for start, end in sentences(message.content):
        sentence = message.content[start:end]
        values = stated_in(sentence)
        if not left or len(values) != 1 or values[0].value.kind is ValueKind.TEXT:
            continue
        words = [w for w in re.findall(r"[^\W\d_]+", sentence[: values[0].start]) if content_words(w)][-_WORDS:]
        if not words:
            continue
        left -= 1
        value = values[0].value
        yield StatementDraft(
            message=message.number,
            quote=sentence,
            says="fact",
            subject=" ".join(words),
            attribute=value.kind.value,
            value=value.text,
        )
