"""Traces of the machinery in messages; generators retry a text for the same patterns (`longbeam.text.traces`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.prompts import find_copied
from longbeam.text import ENGLISH_KINDS, find_traces
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex

_LETTER = re.compile(
    r"^\W*(?:dear|subject|hi|hello|hey|(?:best|kind|warm)(?: regards| wishes)?|regards|sincerely|yours|cheers)\b"
    r"[^\n]{0,60}$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that opens or closes a letter; the placeholders of a letter are for the user to fill in."""
_MODEL = re.compile(
    r"\b(?:templates?|examples?|samples?|draft\w*|outline|layout|worksheet|checklist|form|script|dialogue|worded?|"
    r"wording|phras\w+|r[ée]sum[ée]s?|cover letter|invitation|e-?mail|post|settings|fill (?:in|out)|replace|"
    r"placeholders?|customi[sz]e)\b",
    re.IGNORECASE,
)
"""Words that announce a text for the user to fill in and use."""
_LABEL = re.compile(r"(?:^|\n)[\s>*_#\d.-]*[A-Z][^\n:]{0,40}:[\s*_$]*\Z|[|$@>][ \t]*[*_]*\Z|[\"“][^\"”\n]*\Z")
"""Text in front of a blank that is a field of a form, a cell of a table, or an open quotation."""

_ADDRESS = re.compile(r"\byou(?:r|rs|'re|'ve|'d)?\b", re.IGNORECASE)


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield the first match of each pattern in each message."""
    category = index.head.seed.category
    known = (index.head.seed.model_dump_json(),)
    for message in index.messages:
        folded = message.content.casefold()
        key, who = message.message_key, message.role.value
        # Two patterns may match one place: `[insert date]` is a blank in two ways.
        for kind, words in dict.fromkeys(find_traces(message.content, folded, message.role, category)):
            if (
                kind == "maybe_placeholder"
                and words.startswith(("[", "(", "<"))
                and _is_drafted(message.content, words)
            ):
                kind = "drafted_blank"
            yield Problem(kind, key, f"the {who} says {shorten(words, 60)!r}", (key,))
        if term := find_copied(folded, known=known):
            yield Problem("example", key, f"the {who} says {term!r}, which is from the examples in our prompts", (key,))


def _is_drafted(text: str, blank: str) -> bool:
    """Return whether a blank stands in a text that is meant for the user to fill in: a letter, a form, a template."""
    start = text.find(blank)
    if _LETTER.search(text) or _LABEL.search(text, 0, start):
        return True
    line = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0].replace(blank, " ")
    # `(insert example here)` names a model by itself; where it stands alone, nothing is there to be filled in.
    is_note = blank.startswith("(") and not line.strip()
    return not is_note and _MODEL.search(text) is not None and _ADDRESS.search(line) is None


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
        "maybe_marker": WARNING,
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
