"""Later evidence: passages of a conversation that may change the answer to a question, ranked, with their signs.

Every search for such passages is this one: of the checks, of the review, of the model checks, of the rule-based checker
and of the generators. A passage scores the rarity of the words that it shares with the question, its answer and the
other names of its subject. Signs add to that: another value of the answer's kind, a change, a negation, the same name.
Signs are English; in other languages the words alone rank.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import nlargest

from longbeam.schemas import Message, MessageRole, Value
from longbeam.text.extraction import distinct_values, normalize_values, values_in
from longbeam.text.matching import says
from longbeam.text.sentences import Span, sentences
from longbeam.text.tuning import READING
from longbeam.text.values import singular
from longbeam.text.words import ASKING_WORDS, content_words, words_of

CHANGE_VERBS = (
    r"(?:re-?schedul|mov|postpon|chang|extend|shorten|increas|push|updat|adjust|revis|shift|rais|lower|reduc|delay|"
    r"grow|grew|upgrad|bring|brought|switch|bump|cut|replac|correct|becom|became|slipp)"
)
"""Pattern of the stems of verbs that change a value."""
_MOVED = (
    r"now|instead|after all|no longer|any ?more|new (?:date|day|time|deadline)|slipped|re-?schedul\w*|postpon\w*|moved|"
    r"pushed|shifted|delayed|brought forward"
)
MOVED = re.compile(rf"\b(?:{_MOVED})\b", re.IGNORECASE)
"""Words near a day that say that it is a new one; other words of change are as often about something else."""
CHANGE = re.compile(
    rf"\b(?:{_MOVED}|{CHANGE_VERBS}\w*|new|since then|actually|turns out|misspoke|went (?:up|down|from|to))\b",
    re.IGNORECASE,
)
"""Words near a value that may say that it replaces another one."""
CHANGED_TO = re.compile(
    rf"(?:\b{CHANGE_VERBS}\w*\b[^.,;!?\n]{{0,70}}?\b(?:to|until|till)|"
    r"\bnow\b[^.,;!?\n]{0,50}?\b(?:to|by|for|at|is|are|on|has|reached|costs?|takes?))"
    r"(?: (?:the|a|an|about|around|only))?\s*\Z",
    re.IGNORECASE,
)
"""End of the words in front of a value that something was changed to."""
_RECALLED = re.compile(
    r"\b(?:used to|originally|initially|formerly|back then|at first|instead of|rather than|was once|from)"
    r"\W+(?:\w+\W+){0,2}\Z",
    re.IGNORECASE,
)
"""End of the words in front of a value that is recalled, not given: `moved from March 1`."""
_WORD = re.compile(r"[^\W_]+")
_NEGATION = re.compile(r"\b(?:never|no longer|not|none|nobody|without|cancel\w*)\b|n['’]t\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]{2,}\b")


Piece = tuple[int, Message, Span]
"""Ordinal of a message, the message, and the span of the passage in it."""


class Sign(StrEnum):
    """Reason to read a passage as a possible change of the answer."""

    OTHER_VALUE = "other_value"
    """A value of the kind and unit of one in the answer, which the answer does not say."""
    CHANGE = "change"
    NEGATION = "negation"
    SAME_VALUE = "same_value"
    SAME_NAME = "same_name"
    LATER = "later"
    """It stands behind all messages that the answer is built on."""


WEIGHTS = {
    Sign.OTHER_VALUE: 3.0,
    Sign.CHANGE: 1.5,
    Sign.NEGATION: 1.5,
    Sign.SAME_VALUE: 0.5,
    Sign.SAME_NAME: 1.0,
    Sign.LATER: 1.0,
}
"""Worth of each sign, in units of word rarity: a word of one message in twenty weighs 3."""


@dataclass(frozen=True)
class Subject:
    """Subject of a question, and what its answer says of it."""

    words: Mapping[str, str]
    """Stems that name it, each with the word that it was read from, lower case."""
    values: tuple[Value, ...] = ()
    """Values that the answer gives."""
    names: frozenset[str] = frozenset()
    """Proper names and aliases, lower case."""

    @classmethod
    def of(cls, question: str, answer: str = "", *more: str, aliases: Sequence[str] = ()) -> Subject:
        """Return the subject of a question; `more` are further texts on it, `aliases` its other names."""
        values = distinct_values(answer)
        # `SAME_VALUE` tells of the values; the month of a day is in a hundred other messages.
        left_out = ASKING_WORDS | content_words(" ".join(value.text for value in values))
        words: dict[str, str] = {}
        for word in re.findall(r"[^\W_]{3,}", " ".join((question, answer, *more, *aliases)).lower()):
            for stem in content_words(word) - left_out:
                words.setdefault(stem, word)
        proper = (*_NAME.findall(question), *_NAME.findall(answer), *aliases)
        return cls(words, values, frozenset(name.casefold() for name in proper))


@dataclass(frozen=True)
class LaterPassage:
    """Whole sentences of a message, with the reasons why they may change an answer."""

    message: Message
    place: int
    """Ordinal of the message in what was searched."""
    start: int
    end: int
    score: float
    signs: tuple[Sign, ...]
    centre: int
    """Place in the message, in code points, around which most of the shared words stand."""

    @property
    def text(self) -> str:
        """The sentences."""
        return self.message.content[self.start : self.end]


@dataclass
class Postings:
    """Ordinals of the texts that have each stem, and how rare a stem is among them."""

    vocabulary: Collection[str] | None = None
    """Stems that are kept; None for all."""
    total: int = 0
    """Number of texts."""
    _places: dict[str, array[int]] = field(default_factory=dict)

    def add(self, ordinal: int, text: str) -> None:
        """Add a text."""
        self.total += 1
        for stem in content_words(text):
            if self.vocabulary is None or stem in self.vocabulary:
                self._places.setdefault(stem, array("I")).append(ordinal)

    def with_words(self, weights: Mapping[str, float], least: float = 0.0) -> dict[int, float]:
        """Return the weight of each text that has one of these stems, if it weighs at least this much, by ordinal."""
        found = defaultdict[int, float](float)
        for stem, own in weights.items():
            for ordinal in self._places.get(stem, ()):
                found[ordinal] += own
        return {ordinal: found[ordinal] for ordinal in sorted(found) if found[ordinal] >= least}

    def share(self, stem: str) -> float:
        """Return the share of the texts that have a stem."""
        return len(self._places.get(stem, ())) / max(self.total, 1)

    def rarity(self, stem: str) -> float:
        """Return the inverse document frequency of a stem, from 0."""
        return math.log((self.total + 1) / (len(self._places.get(stem, ())) + 1))


def find_evidence(
    messages: Callable[[], Iterable[Message]],
    subjects: Mapping[str, Subject],
    cited: Mapping[str, Collection[str]],
    *,
    read: int = READING.signs_read,
) -> dict[str, list[LaterPassage]]:
    """Return for each subject the uncited passages of both speakers that share words with it, best first.

    `messages` yields the conversation. It is called twice, so that no more of it is in memory than what is found.
    `cited` are the keys of the messages that each answer is built on. `read` limits the passages of each subject.
    """
    postings = Postings(frozenset(stem for subject in subjects.values() for stem in subject.words))
    last = dict.fromkeys(subjects, -1)
    citing = [(name, key) for name, keys in cited.items() for key in keys]
    subjects_by_key = {key: [name for name, own in citing if own == key] for _, key in citing}
    for ordinal, (place, message, (start, end)) in enumerate(passages_of(messages())):
        postings.add(ordinal, message.content[start:end])
        last.update(dict.fromkeys(subjects_by_key.get(message.message_key, ()), place))
    weights = {name: {w: postings.rarity(w) for w in subject.words} for name, subject in subjects.items()}
    best = {
        name: set(nlargest(read, found := postings.with_words(own), key=lambda i: (found[i], -i)))
        for name, own in weights.items()
    }
    wanted = set[int]().union(*best.values())
    held = {i: piece for i, piece in enumerate(passages_of(messages())) if i in wanted}
    return {
        name: rank_passages(
            (held[i] for i in sorted(best[name]) if held[i][1].message_key not in cited.get(name, ())),
            subject,
            weights[name],
            after=last[name],
        )
        for name, subject in subjects.items()
    }


def rank_passages(
    pieces: Iterable[Piece], subject: Subject, weights: Mapping[str, float], *, after: int
) -> list[LaterPassage]:
    """Return the pieces with score and signs, best first; `weights` of the subject's stems, by their rarity.

    `after` is the ordinal of the last message that the answer is built on.
    """
    found = (_passage(piece, subject, weights, after) for piece in pieces)
    return sorted(found, key=lambda p: (-p.score, p.place, p.start))


def passages_of(messages: Iterable[Message]) -> Iterator[Piece]:
    """Yield the messages with their ordinals, and of long ones runs of whole sentences.

    Sentences may be longer than that. Code between sentences is in no passage.
    """
    for place, message in enumerate(messages):
        if len(message.content) <= READING.passage_characters:
            yield place, message, (0, len(message.content))
            continue
        yield from ((place, message, span) for span in _runs(message.content))


def _runs(text: str) -> Iterator[Span]:
    start = end = -1
    for first, last in sentences(text):
        if start >= 0 and last - start <= READING.passage_characters:
            end = last
            continue
        if start >= 0:
            yield start, end
        start, end = first, last
    if start >= 0:
        yield start, end


def _passage(piece: Piece, subject: Subject, weights: Mapping[str, float], after: int) -> LaterPassage:
    place, message, (start, end) = piece
    text = message.content[start:end]
    shared = [(match.start(), stem) for match in _WORD.finditer(text) for stem in words_of(match[0]) if stem in weights]
    # Most of the other shared words stand around the centre.
    centre = max(
        (at for at, _ in shared),
        key=lambda p: (sum(abs(p - q) <= READING.sign_window for q, _ in shared), -p),
        default=0,
    )
    signs = signs_of(text[max(centre - READING.sign_window, 0) : centre + READING.sign_window], subject)
    if place > after:
        signs = (*signs, Sign.LATER)
    score = sum(weights[stem] for stem in {stem for _, stem in shared}) + sum(WEIGHTS[sign] for sign in signs)
    score *= 1.0 if message.role is MessageRole.USER else READING.of_assistant
    return LaterPassage(message, place, start, end, score, signs, start + centre)


def signs_of(text: str, subject: Subject) -> tuple[Sign, ...]:
    """Return the signs in a text of some sentences that it may change what is said of a subject."""
    signs = []
    if other_values(text, subject.values):
        signs.append(Sign.OTHER_VALUE)
    if any(says(text, value) for value in subject.values):
        signs.append(Sign.SAME_VALUE)
    if CHANGE.search(text):
        signs.append(Sign.CHANGE)
    if _NEGATION.search(text):
        signs.append(Sign.NEGATION)
    if any(name in text.casefold() for name in subject.names):
        signs.append(Sign.SAME_NAME)
    return tuple(signs)


def other_values(text: str, values: Sequence[Value], known: str = "") -> list[Value]:
    """Return the values of a text that have kind and unit of one of `values`, and that neither they nor `known` say."""
    kinds = {(value.kind, singular(value.unit)) for value in values}
    found = values_in(normalize_values(text)) if kinds else ()
    return [
        other
        for other in found
        if (other.kind, singular(other.unit)) in kinds
        and not any(says(other.text, value) for value in values)
        and not (known and says(known, other))
    ]


def is_recalled(sentence: str, value: Value) -> bool:
    """Return whether a sentence says a value as an old one: `moved from March 1`, `instead of $40`."""
    return _RECALLED.search(sentence[: sentence.find(value.text)]) is not None
