"""Counter-evidence: other messages that could change the answer, ranked, so that a reviewer notices omissions.

Two steps. One scan of the sealed file scores every message by the words it shares with question and gold (BM25's
inverse document frequency; a word counts once per message). The best few hundred are then read: another value of the
gold's kind near those words, a negation, a change, the same name, and whether it was said after the evidence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from longbeam.review.archive import OpenConversation
from longbeam.schemas import Message, MessageRole, Probe, Value
from longbeam.text import distinct_values, says, values_in, words_of
from longbeam.validation import claim

MOST_TERMS = 16
READ = 300
"""Number of messages whose text is read."""
COMMON = 0.2
"""Share of the messages above which a word tells nothing."""
WINDOW = 160
"""Characters on either side of a shared word in which a sign counts."""
_WORD = re.compile(r"[^\W_]{3,}")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]{2,}\b")
_NEGATION = re.compile(r"\b(?:never|no longer|not|none|nobody|without|cancel\w*)\b|n't\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:instead|actually|changed?|moved|postponed|update[ds]?|new|now|revised|raised|lowered|switched|correct(?:ion|ed))\b",
    re.IGNORECASE,
)
_WEIGHTS = {"other_value": 3.0, "change": 1.5, "negation": 1.5, "same_value": 0.5, "same_name": 1.0, "later": 1.0}


@dataclass(frozen=True, slots=True)
class CounterCandidate:
    """A message that might change the answer."""

    message: Message
    score: float
    signs: tuple[str, ...]
    """`other_value`, `change`, `negation`, `same_value`, `same_name`, `later`."""
    centre: int
    """Place in the message, in code points, around which most of the shared words stand."""


@dataclass(frozen=True, slots=True)
class CounterEvidence:
    """Ranked messages that could change a probe's answer."""

    terms: tuple[str, ...]
    """Terms that the search looked for, as beginnings of words, rarest first."""
    words: tuple[str, ...]
    """The word of the probe from which each term was taken."""
    considered: int
    """Number of messages that contain a term."""
    candidates: tuple[CounterCandidate, ...]


@dataclass(frozen=True)
class _Wanted:
    terms: Sequence[str]
    values: Sequence[Value]
    names: frozenset[str]
    last_evidence: int


def counter_evidence(conversation: OpenConversation, probe: Probe, *, most: int = 30) -> CounterEvidence:
    """Return the messages that could change a probe's answer, best first, without those that the probe cites."""
    ids = conversation.ids
    cited = {ids[e.message_key] for e in probe.evidence if e.message_key in ids}
    words = _words_by_term(probe)
    terms, scores = _scored(conversation, list(words))
    best = sorted((m for m in scores if m not in cited), key=lambda m: (-scores[m], m))[:READ]
    wanted = _Wanted(terms, distinct_values(probe.gold_answer), _names_of(probe), max(cited, default=-1))
    candidates = []
    for message in conversation.messages_of(best):
        if message.message_id in scores and message.message_id not in cited:
            signs, centre = _signs(message, wanted)
            score = scores[message.message_id] + sum(_WEIGHTS[s] for s in signs)
            # Facts of the story come from the user; the assistant mostly repeats them.
            score *= 1.0 if message.role is MessageRole.USER else 0.6
            candidates.append(CounterCandidate(message, score, tuple(signs), centre))
    candidates.sort(key=lambda c: (-c.score, c.message.message_id))
    return CounterEvidence(tuple(terms), tuple(words[t] for t in terms), len(scores), tuple(candidates[:most]))


def _words_by_term(probe: Probe) -> dict[str, str]:
    """Return the search terms, each with its first word in question, gold answer or rubric.

    A term is the beginning of that word, as long as its stem.
    """
    texts = (probe.question, probe.gold_answer, probe.details.missing, *(claim(n.text) for n in probe.rubric))
    found: dict[str, str] = {}
    for word in _WORD.findall(" ".join(texts).lower()):
        stems = words_of(word)
        if stems and not word[0].isdigit():
            found.setdefault(stems[0] if word.startswith(stems[0]) else word, word)
    return {term: word for term, word in found.items() if len(term) > 2}


def _scored(conversation: OpenConversation, terms: Sequence[str]) -> tuple[list[str], dict[int, float]]:
    """Return the telling terms, rarest first, and for each message the summed rarity of the terms it contains."""
    if not terms:
        return [], {}
    flags = ", ".join(f"contains(low, ?) AS t{i}" for i in range(len(terms)))
    rows = conversation.rows(
        f"SELECT message_id, {flags} FROM (SELECT message_id, lower(content) AS low FROM sealed.messages) ",
        list(terms),
    )
    total = len(rows)
    counts = [sum(row[i + 1] for row in rows) for i in range(len(terms))]
    # In a short conversation, a term of three messages is rare enough although they are a large share.
    telling = [i for i, count in enumerate(counts) if 0 < count <= max(COMMON * total, 3)]
    telling.sort(key=lambda i: counts[i])
    telling = telling[:MOST_TERMS]
    rarity = {i: math.log(1 + (total - counts[i] + 0.5) / (counts[i] + 0.5)) for i in telling}
    scores = {row[0]: sum(rarity[i] for i in telling if row[i + 1]) for row in rows}
    return [terms[i] for i in telling], {m: s for m, s in scores.items() if s > 0}


def _names_of(probe: Probe) -> frozenset[str]:
    return frozenset(_NAME.findall(probe.question)) | frozenset(_NAME.findall(probe.gold_answer))


def _signs(message: Message, wanted: _Wanted) -> tuple[list[str], int]:
    """Return the signs that make a message worth reading, and the place where its shared words stand together."""
    content, low = message.content, message.content.lower()
    places = [low.find(term) for term in wanted.terms if term in low]
    # The centre is the term with most of the other shared terms around it.
    centre = max(places, key=lambda p: (sum(abs(p - q) <= WINDOW for q in places), -p), default=0)
    near = content[max(centre - WINDOW, 0) : centre + WINDOW]
    signs = []
    kinds = {v.kind for v in wanted.values}
    others = [v for v in values_in(near) if v.kind in kinds]
    if any(not any(says(v.text, w) for w in wanted.values) for v in others):
        signs.append("other_value")
    if any(says(near, w) for w in wanted.values):
        signs.append("same_value")
    if _CHANGE.search(near):
        signs.append("change")
    if _NEGATION.search(near):
        signs.append("negation")
    if any(name in near for name in wanted.names):
        signs.append("same_name")
    if (message.message_id or 0) > wanted.last_evidence:
        signs.append("later")
    return signs, centre
