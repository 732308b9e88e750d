"""Rule-based replies to the prompts of memory systems: they extract sentences and never reword them.

A sentence is telling if it has a typed value, a name, or a wish of the user's. Relevance is the share of common words.
Scores of memory systems with these replies are a lower bound of their scores with a language model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from longbeam.models.tokens import load_tokenizer
from longbeam.offline import answering
from longbeam.prompts.calls.evaluation import AnswerInputs
from longbeam.prompts.calls.memory import (
    BookmarkDraft,
    BookmarkPagesInputs,
    BookmarkPagesReply,
    CompressNotesInputs,
    ExtractKeysInputs,
    ExtractKeysReply,
    KeyValue,
    NotesRelevantInputs,
    NotesRelevantReply,
    RecallStepInputs,
    RecallStepReply,
    SearchStepInputs,
    SearchStepReply,
    SelectNotesInputs,
    SelectNotesReply,
    TakeNotesInputs,
    TakeNotesReply,
    UpdateSummaryInputs,
)
from longbeam.text.sentences import sentences
from longbeam.text.words import words_of

_WISH = re.compile(
    r"\b(?:always|never|prefer|please (?:use|give|keep|write|show|include|answer)|from now on|whenever|instead of|"
    r"i (?:like|hate|love|want|need)|rather than|make sure|no longer|changed?|moved?|now)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\d")
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_SPEAKER = re.compile(r"^(\S{1,40}): ", re.MULTILINE)
_PLAIN = re.compile(r"[^\W_][\w'’-]*")
_MOST_ENTRIES, _MOST_KEY_WORDS, _MOST_NOTES = 8, 6, 8
_LEAST_SHARED = 0.3
"""Share of the question's words that a relevant piece of notes has."""
_TOKENIZER = "o200k_base"
"""Tokenizer for limits; the call does not name the benchmark's, and the memory checks the result by its own."""
_WEIGHT_WISH, _WEIGHT_VALUE, _WEIGHT_NAME = 3, 2, 1


def extract_keys(inputs: ExtractKeysInputs) -> ExtractKeysReply:
    """Return each telling sentence under its names and rarest words, the user's first, and the openings as summary."""
    said = _said(inputs.exchange)
    telling = [text for text in said if weight_of(text)][:_MOST_ENTRIES]
    entries = tuple(KeyValue(key=_key_of(text), value=text) for text in telling)
    return ExtractKeysReply(entries=entries, summary=said[0] if said else inputs.exchange.strip() or "nothing")


def take_notes(inputs: TakeNotesInputs) -> TakeNotesReply:
    """Return the telling sentences of the first speaker, verbatim."""
    first = turns_of(inputs.exchange)[:1]
    notes = [text for _, body in first for text in sentences_of(body) if weight_of(text) and not text.endswith("?")]
    return TakeNotesReply(notes=tuple(notes[:_MOST_NOTES]))


def compress_notes(inputs: CompressNotesInputs) -> str:
    """Return the most telling lines that fit, in their order; of equally telling lines, the newer ones."""
    return _shortened(inputs.notes.split("\n"), inputs.max_tokens)


def update_summary(inputs: UpdateSummaryInputs) -> str:
    """Return the summary so far with the telling sentences of the new exchanges, shortened to fit."""
    lines = [*inputs.summary.split("\n"), *(text for text in _said(inputs.said) if weight_of(text))]
    return _shortened(lines, inputs.max_tokens) or "Nothing was told yet."


def notes_relevant(inputs: NotesRelevantInputs) -> NotesRelevantReply:
    """Return yes if a piece has enough of the question's words, or is a wish that shares one of them."""
    return NotesRelevantReply(verdict="yes" if _is_relevant(set(words_of(inputs.question)), inputs.notes) else "no")


_BOOKMARK = re.compile(r"\[p(\d+):([^\]]*)\]")


def select_notes(inputs: SelectNotesInputs) -> SelectNotesReply:
    """Return the pieces that `notes_relevant` would keep."""
    asked = set(words_of(inputs.question))
    return SelectNotesReply(pieces=tuple(i for i, piece in enumerate(inputs.pieces) if _is_relevant(asked, piece)))


def search_step(inputs: SearchStepInputs) -> SearchStepReply:
    """Search once, with the question's words, then quote from the results."""
    if not inputs.searches and inputs.searches_left:
        return SearchStepReply(action="search", query=inputs.question)
    given = AnswerInputs(context=inputs.found, question=inputs.question, asked_on=inputs.asked_on)
    return SearchStepReply(action="answer", answer=answering.answer(given))


def recall_step(inputs: RecallStepInputs) -> RecallStepReply:
    """Recall once the page whose bookmark shares the most words with the question, then answer from the context."""
    asked = set(words_of(inputs.question))
    marks = ((int(m[1]), set(words_of(m[2]))) for m in _BOOKMARK.finditer(inputs.context))
    shared = [(len(asked & words), page_id) for page_id, words in marks if page_id in inputs.page_ids]
    most, page_id = max(shared, key=lambda s: (s[0], -s[1]), default=(0, 0))
    if most and inputs.recalls_left and not inputs.recalled:
        return RecallStepReply(page_ids=(page_id,))
    given = AnswerInputs(context=inputs.context, question=inputs.question, asked_on=inputs.asked_on)
    return RecallStepReply(answer=answering.answer(given))


def bookmark_pages(inputs: BookmarkPagesInputs) -> BookmarkPagesReply:
    """Return the longest words of each page that no other page or bookmark has; any words if there are none."""
    said = [_PLAIN.findall(page.text) for page in inputs.pages]
    stems = [frozenset(words_of(page.text)) for page in inputs.pages]
    taken = set(words_of(" ".join(inputs.others)))
    frequency = Counter(stem for found in stems for stem in found)
    drafts = []
    for page, words in zip(inputs.pages, said, strict=True):
        telling = [w for w in dict.fromkeys(words) if words_of(w)]
        own = [w for w in telling if all(frequency[s] == 1 and s not in taken for s in words_of(w))]
        best = sorted(own or telling or ["nothing"], key=lambda w: (-len(w), w))[: inputs.most]
        drafts.append(BookmarkDraft(page_id=page.page_id, keywords=tuple(best)))
    return BookmarkPagesReply(bookmarks=tuple(drafts))


def _is_relevant(asked: set[str], piece: str) -> bool:
    shared = len(asked & set(words_of(piece)))
    return shared >= max(1, _LEAST_SHARED * len(asked)) or (shared > 0 and _WISH.search(piece) is not None)


def turns_of(exchange: str) -> list[tuple[str, str]]:
    """Return (speaker, text) in order; a text without speakers is one turn."""
    marks = [*_SPEAKER.finditer(exchange)]
    if not marks:
        return [("", exchange)]
    ends = [*(m.start() for m in marks[1:]), len(exchange)]
    return [(m[1], exchange[m.end() : end]) for m, end in zip(marks, ends, strict=True)]


def _said(exchange: str) -> list[str]:
    """Return the sentences of an exchange, those of the first speaker first."""
    turns = turns_of(exchange)
    first = turns[0][0]
    ordered = sorted(turns, key=lambda turn: turn[0] != first)
    return [text for _, body in ordered for text in sentences_of(body)]


def sentences_of(text: str) -> Iterable[str]:
    """Return the sentences of a text, each on one line."""
    return (" ".join(text[start:end].split()) for start, end in sentences(text))


def weight_of(text: str) -> int:
    """Return how telling a sentence is, by its wishes, values and names."""
    found = (_WISH, _WEIGHT_WISH), (_VALUE, _WEIGHT_VALUE), (_NAME, _WEIGHT_NAME)
    return sum(weight for pattern, weight in found if pattern.search(text))


def _key_of(text: str) -> str:
    if names := _NAME.findall(text):
        return ", ".join(dict.fromkeys(names))
    return " ".join(sorted(dict.fromkeys(words_of(text)), key=len, reverse=True)[:_MOST_KEY_WORDS])


def _shortened(lines: Sequence[str], max_tokens: int) -> str:
    count = load_tokenizer(_TOKENIZER).count
    distinct = list(dict.fromkeys(line for line in reversed(lines) if line.strip()))[::-1]
    kept, room = [], max_tokens
    for place in sorted(range(len(distinct)), key=lambda i: (-weight_of(distinct[i]), -i)):
        tokens = count(distinct[place]) + 1  # the line break
        if tokens <= room:
            kept.append(place)
            room -= tokens
    return "\n".join(distinct[place] for place in sorted(kept))
