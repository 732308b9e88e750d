"""Traces of the machinery in messages; generators retry a text for the same patterns (`longbeam.text.traces`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.prompts.examples import find_copied
from longbeam.text.traces import ENGLISH_KINDS, find_traces
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex

_LETTER = re.compile(
    r"^\W*(?:dear|subject|hi|hello|hey|(?:best|kind|warm)(?: regards| wishes)?|regards|sincerely|yours|cheers)\b"
    r"[^\n]{0,60}$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that opens or closes a letter; the placeholders of a letter are for the user to fill in."""


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield the first match of each pattern in each message."""
    category = index.head.seed.category
    known = (index.head.seed.model_dump_json(),)
    for message in index.messages:
        folded = message.content.casefold()
        key, who = message.message_key, message.role.value
        for kind, words in find_traces(message.content, folded, message.role, category):
            if kind == "maybe_placeholder" and words.startswith("[") and _LETTER.search(message.content):
                kind = "drafted_blank"
            yield Problem(kind, key, f"the {who} says {shorten(words, 60)!r}", (key,))
        if term := find_copied(folded, known=known):
            yield Problem("example", key, f"the {who} says {term!r}, which is from the examples in our prompts", (key,))


CHECK = Check(
    name="leaks",
    doc="No message holds plan markers, prompt words or examples, role prefixes, special tokens, open placeholders.",
    severities={
        "marker": ERROR,
        "plan_word": ERROR,
        "role_prefix": ERROR,
        "ai_phrase": ERROR,
        "placeholder": ERROR,
        "example": ERROR,
        "maybe_placeholder": WARNING,
        "maybe_plan_word": WARNING,
        "drafted_blank": INFO,
    },
    english_only=dict.fromkeys(
        ENGLISH_KINDS,
        "looks for English words",
    ),
    on_conversation=find_problems,
)
