"""Abstentions: a search of all messages for the information that the probe declares missing.

Search terms are looked for as they are. Besides, the sentences of the user are compared with the question: a sentence
may answer it if it has most of the question's words, weighed by how rare they are, among them the noun that is asked
for, and a value, a day or a name where the question asks for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from longbeam.abilities import Trait
from longbeam.schemas import Message, Probe, ValueKind
from longbeam.text import ASKING_WORDS, bare_words, content_words, says_equivalent, sentences, values_in, within_reach
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_ASKING = content_words(
    "what which specific exactly details provide share tell describe list recommend mention discuss give during "
    "many much long often old"
)
_AUXILIARY = (
    "(?:did|do|does|was|were|are|is|have|has|had|can|could|would|will|should|I|you|we|they|that|to|of|for|in|on|with)"
)
_DETERMINER = r"(?:(?:the|my|our|his|her|their|any|some)\s+)?(?:specific\s+)?"
_NOUNS = r"[\w\s'’/-]+?"
_HEADS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bwhat\s+(?:was|were)\s+(\w+ed)\b",
        rf"\bwh(?:at|ich)\s+(?:was|were|is|are)\s+{_DETERMINER}({_NOUNS})\s+"
        r"(?:of|to|for|in|at|on|when|during|behind|like)\b",
        rf"\bwh(?:at|ich)\s+(?:(?:specific|particular|exact|kinds? of|types? of)\s+)*(?!{_AUXILIARY}\b)({_NOUNS})\s+"
        rf"{_AUXILIARY}\b",
        rf"\b(?:tell me about|share|details (?:about|of|on))\s+{_DETERMINER}({_NOUNS})\s+"
        r"(?:of|for|I|that|to|in|at|when)\b",
    )
)
"""The noun that a question asks for: `techniques` in `what specific techniques did Shawn recommend`."""
_ASKS_AMOUNT = re.compile(
    r"\bhow (?:many|much|long|old|often|far|big|large)\b|\bwhat (?:time|price|amount|percentage|number)\b",
    re.IGNORECASE,
)
_ASKS_DAY = re.compile(r"\b(?:when|(?:what|which) (?:day|date|month|year))\b", re.IGNORECASE)
_ASKS_NAME = re.compile(r"\b(?:who|whom|whose|where)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'’-]+")
"""A capitalised word within a sentence."""
_QUESTION = re.compile(
    r"^\W*(?:what|which|who|where|when|why|how|do|does|did|is|are|was|were|have|has|can|could|any\w*)\b.*\?\W*$",
    re.IGNORECASE | re.DOTALL,
)
_VOCATIVE = re.compile(
    r"\b(?i:hey|hi|hello|thanks|thank you|congrats|wow|well)\b[, ]+[A-Z]\w+|,\s*[A-Z]\w+(?=[.!?])|"
    r"(?:^|(?<=[.!?]\s))[A-Z]\w+(?=[,!?])"
)
"""A name with which one speaker addresses another."""
_PLAIN_SPEAKERS = frozenset({"user", "assistant"})


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield messages that hold the information that the probe declares missing."""
    if not has_trait(probe, Trait.ABSTAINS):
        return
    terms = [t for t in probe.details.searches if t.strip()]
    if not terms:
        if not index.is_import:
            yield Problem("no_search", probe.probe_id, "nothing was searched to show that the answer is missing")
        else:
            yield _record(index, probe)
    elif keys := find_messages(index, terms):
        text = f"{', '.join(keys)}: all of {', '.join(map(repr, terms))} are said there"
        yield Problem("answered", probe.probe_id, text, tuple(keys))
    if probe.details.missing.strip() and (keys := find_messages(index, [probe.details.missing])):
        text = f"{', '.join(keys)}: {shorten(probe.details.missing)!r} is said there"
        yield Problem("said", probe.probe_id, text, tuple(keys))
    elif answer := next(_answering(index, probe.question), None):
        message, sentence = answer
        text = f"{message.message_key} may answer it: {shorten(sentence, 160)}"
        yield Problem("maybe_answered", probe.probe_id, text, (message.message_key,))


def _record(index: ConversationIndex, probe: Probe) -> Problem:
    """Search all messages for the question's own words, where an import has no search terms; return the record."""
    terms = content_words(probe.question) - _ASKING
    common = {t for t in terms if len(index.places_with({t: 1.0})) > CHECKING.abstention_common * len(index.messages)}
    terms = terms - common or terms
    found = index.places_with(dict.fromkeys(terms, 1.0))
    closest = sorted(found, key=lambda place: -found[place])[: CHECKING.answers_reported]
    keys = tuple(index.messages[place].message_key for place in closest)
    near = f"the closest, {keys[0]}, has {found[closest[0]] / len(terms):.0%} of them" if keys else "none has one"
    text = f"searched {len(index.messages)} messages for {', '.join(sorted(terms))}; {near}"
    return Problem("searched", probe.probe_id, text, keys)


def _answering(index: ConversationIndex, question: str) -> Iterator[tuple[Message, str]]:
    """Yield messages with a sentence that may answer a question: of the user, then of the assistant.

    A reply says much on what a question is about, so its sentence must name the noun that is asked for, too.
    """
    terms = content_words(question) - _ASKING - ASKING_WORDS
    weights = {t: index.said_by_user.rarity(t) for t in terms}
    least = CHECKING.answer_covered * sum(weights.values()) - 1e-9  # sums of fractions depend on their order
    if len(terms) < CHECKING.abstention_terms:
        return
    asked = {w for w in bare_words(question).split() if w not in _PLAIN_SPEAKERS}
    heads = _heads(question)
    replies = index.replies_with(weights, least) if heads else ()
    for message in chain((m for _, m in index.user_messages_with(weights, least)), replies):
        of_others = index.speakers & asked - {message.speaker.casefold()}
        told = [s for a, b in sentences(message.content) if not _QUESTION.match(s := message.content[a:b])]
        words_told = [content_words(s) for s in told]
        for i, own in enumerate(words_told):
            words = own.union(*words_told[i + 1 : i + 2])
            if sum(weights.get(w, 0.0) for w in words) < least:
                continue
            if not index.speaks_as_user(message) and not heads & words:
                continue
            window = " ".join(told[i : i + 2])
            about = _VOCATIVE.sub(" ", window)
            # Between named speakers, `my` is the speaker's: a question about another one is not answered.
            if of_others and not of_others & set(bare_words(about).split()):
                continue
            if _has_answer(question, about, words):
                yield message, window
                break


def _has_answer(question: str, text: str, words: frozenset[str]) -> bool:
    """Return whether a text about what a question asks can hold the answer, by the kind of the answer."""
    values = [v for v in values_in(text) if not says_equivalent(question, v)]
    if _ASKS_AMOUNT.search(question):
        return any(v.kind is not ValueKind.DATE for v in values)
    if _ASKS_DAY.search(question):
        return any(v.kind is ValueKind.DATE for v in values)
    if not values and len(words - content_words(question)) < CHECKING.answer_new:
        return False
    if _ASKS_NAME.search(question):
        return any(name.casefold() not in question.casefold() for name in _NAME.findall(text))
    heads = _heads(question)
    return not heads or bool(heads & words)


def _heads(question: str) -> frozenset[str]:
    """Return the stems of the nouns that a question asks for; empty where no pattern finds any."""
    match = next(filter(None, (pattern.search(question) for pattern in _HEADS)), None)
    if match is None:
        return frozenset()
    nouns = re.split(r"\b(?:or|and)\b|/", match[1])
    return frozenset().union(*(content_words(" ".join(n.split()[-1:])) for n in nouns))


def find_messages(index: ConversationIndex, terms: Sequence[str]) -> list[str]:
    """Return keys of the first messages that hold all terms as whole words, close enough together to belong together.

    Case and white space do not count.
    """
    folded = [" ".join(t.casefold().split()) for t in terms]
    patterns = [_pattern(t) for t in folded]
    # A plain search for the words leaves few messages to the slower patterns.
    words = [word for t in folded for word in t.split()]
    found: list[str] = []
    for at, text in index.holding(words):
        if within_reach([[m.start() for m in p.finditer(text)] for p in patterns]):
            found.append(index.messages[at].message_key)
            if len(found) == CHECKING.answers_reported:
                break
    return found


def _pattern(folded: str) -> re.Pattern[str]:
    body = r"\s+".join(re.escape(word) for word in folded.split())
    left = r"(?<!\w)" if folded[0].isalnum() else ""
    right = r"(?!\w)" if folded[-1].isalnum() else ""
    return re.compile(left + body + right)


CHECK = Check(
    name="abstention",
    doc="No message of the whole conversation holds all searched terms close together, or the phrase that is missing.",
    severities={"answered": ERROR, "said": ERROR, "no_search": ERROR, "maybe_answered": WARNING, "searched": INFO},
    english_only=dict.fromkeys(("maybe_answered", "searched"), "compares English words"),
    on_probe=find_problems,
)
