"""Checks of texts that nobody would send.

Traces of the machinery, and text that is rubbish, cut off or repeats itself.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from longbeam.prompts import find_copied
from longbeam.schemas import Message, MessageRole
from longbeam.text import ENGLISH_KINDS, fenced_spans, find_traces
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

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


def find_in_leaks(index: ConversationIndex) -> Iterator[Problem]:
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


LEAKS = Check(
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
    on_conversation=find_in_leaks,
)


_CUT = re.compile(r"(?:[a-z]{2,}|,|\b(?:the|and|of|to|a))\s+[a-z]+\s*\Z")
"""End of a reply that was probably cut: lower-case letters without a full stop."""
_ITEM = re.compile(r"\s*(?:[-*+•|#>\[]|\d{1,3}[.)]|[a-z][.)]\s)")
"""Start of a line that needs no full stop: a list item, a table row, a heading."""
_BLANKS = re.compile(r"[ \t]{200}")
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){19}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")
_FRAGMENT = re.compile(r"(?<![\w'’.*_`/-])([a-z]+)\Z")


def find_in_degenerate(index: ConversationIndex) -> Iterator[Problem]:
    """Yield the problems of each message's text."""
    for message in index.messages:
        key = message.message_key
        for kind, text in _faults(index, message):
            yield Problem(kind, key, text, (key,))
        is_long = message.tokens > CHECKING.outweighs_share * index.total_tokens
        if is_long and index.total_tokens >= CHECKING.outweighs_from:
            share = message.tokens / index.total_tokens
            yield Problem("giant", key, f"one message is {share:.0%} of the conversation", (key,))


def _faults(index: ConversationIndex, message: Message) -> Iterator[tuple[str, str]]:
    content = message.content
    if not content.strip():
        # All other faults of an empty message are the same fault.
        yield "empty", "the message is empty"
        return
    if len(content) > CHECKING.compressed_characters:
        # A reply may begin well: its second half decides, too.
        ratio = min(_ratio(content), _ratio(content[len(content) // 2 :]))
        if ratio < CHECKING.compressed_share:
            yield "repeats_itself", f"{len(content)} characters compress to {ratio:.0%}: the text repeats itself"
    if _has_blanks(content):
        yield "blanks", "a run of 200 blanks or 20 empty lines"
    if control := _CONTROL.search(content):
        yield "control_character", f"character U+{ord(control.group()):04X}, which no person types"
    if not all(closed for _, closed in fenced_spans(content)):
        yield "open_fence", "a code fence is opened and never closed"
    elif message.role is MessageRole.ASSISTANT and (_is_cut(content) or _ends_in_fragment(index, message)):
        yield "cut_off", f"the reply ends in the middle of a sentence: ...{shorten(content[-50:])}"


def _ratio(text: str) -> float:
    """Return the compressed share of a text."""
    data = text.encode("utf-8", "replace")
    return len(zlib.compress(data, 1)) / len(data)


def _has_blanks(content: str) -> bool:
    # Looking for two hundred blanks stops at every space: nearly no message has eight, or a tab.
    is_wide = ("        " in content or "\t" in content) and _BLANKS.search(content) is not None
    return is_wide or _EMPTY_LINES.search(content) is not None


def _is_cut(content: str) -> bool:
    last = content.rstrip().rpartition("\n")[2]
    return len(content) > CHECKING.cut_characters and not _ITEM.match(last) and _CUT.search(last) is not None


def _ends_in_fragment(index: ConversationIndex, message: Message) -> bool:
    """Return whether a reply ends in an unclosed table row, or in letters that only begin a word of the texts."""
    lines = message.content.rstrip().rsplit("\n", 2)
    is_row = len(lines) > 1 and all(line.lstrip().startswith("|") for line in lines[-2:])
    if is_row and lines[-2].rstrip().endswith("|"):
        return not lines[-1].endswith("|")
    end = _FRAGMENT.search(lines[-1])
    return end is not None and len(message.content) > CHECKING.cut_characters and _is_fragment(index, message, end[1])


def _is_fragment(index: ConversationIndex, message: Message, letters: str) -> bool:
    """Return whether the last letters of a message are no word of the conversation, but begin one."""
    word, begun = re.compile(rf"(?<!\w){letters}(?!\w)"), re.compile(rf"(?<!\w){letters}\w")
    own = index.position[message.message_key]
    if any(word.search(m.content) for m in index.messages[max(own - CHECKING.subject_nearby, 0) : own]):
        return False
    begins = False
    for ordinal, text in index.holding([letters]):
        # The message's own ending would always count as a word.
        rest = text.rstrip()[: -len(letters)] if ordinal == own else text
        if word.search(rest):
            return False
        begins = begins or begun.search(rest) is not None
    return begins


DEGENERATE = Check(
    name="degenerate",
    doc="No message is empty, repeats itself, holds runs of blanks, is cut off in code or outweighs the rest.",
    severities={
        "empty": ERROR,
        "repeats_itself": ERROR,
        "blanks": WARNING,
        "control_character": WARNING,
        "open_fence": WARNING,
        "cut_off": WARNING,
        "giant": WARNING,
    },
    on_conversation=find_in_degenerate,
)
