"""Counter-evidence: other messages that could change the answer, ranked, so that a reviewer notices omissions.

One scan of the sealed file counts the messages that contain each word of the probe, so that a conversation of ten
million tokens is searched in a quarter of a second. The best few hundred are read, and ranked as by every other search
of later evidence (`text/later_evidence.py`). A message is offered only if it is on the topic of the question.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from longbeam.review.archive import OpenConversation
from longbeam.review.tuning import REVIEWING
from longbeam.schemas import Message, Probe
from longbeam.text import READING, LaterPassage, Piece, Subject, content_words, passages_of, rank_passages
from longbeam.validation import claim


@dataclass(frozen=True, slots=True)
class CounterEvidence:
    """Ranked messages that could change a probe's answer."""

    words: tuple[str, ...]
    """Words of the question, of which a message on its topic has two or more; or a name."""
    candidates: tuple[LaterPassage, ...]
    """The best passage of each message."""


def counter_evidence(conversation: OpenConversation, probe: Probe, *, most: int = 30) -> CounterEvidence:
    """Return the messages that could change a probe's answer, best first, without those that the probe cites.

    Messages behind a question that was asked on the way cannot change its answer.
    """
    ids = conversation.ids
    cited = {ids[e.message_key] for e in probe.evidence if e.message_key in ids}
    subject = Subject.of(
        probe.question, probe.gold_answer, probe.details.missing, *(claim(n.text) for n in probe.rubric)
    )
    topic = _Topic.of(conversation, probe)
    weights, scores = _scored(conversation, subject)
    end = probe.asked_at or dt.datetime.max
    best = sorted((m for m in scores if m not in cited), key=lambda m: (-scores[m], m))[: READING.signs_read]
    read = (m for m in conversation.messages_of(best) if m.message_id not in cited and m.sent_at <= end)
    found: dict[str, LaterPassage] = {}
    pieces = filter(topic.has, _pieces(read))
    for passage in rank_passages(pieces, subject, weights, after=max(cited, default=-1)):
        found.setdefault(passage.message.message_key, passage)
    return CounterEvidence(tuple(topic.asked.words.values()), tuple(found.values())[:most])


@dataclass(frozen=True, slots=True)
class _Topic:
    """Topic of a question: one word of it alone stands in messages about anything (the limits of a friendship)."""

    asked: Subject
    things: tuple[frozenset[str], ...]
    """Stems of each thing that the answer is about, from ledger and plan; empty where there is none."""
    quoted: frozenset[str]
    """Stems that the question shares with its evidence."""

    @classmethod
    def of(cls, conversation: OpenConversation, probe: Probe) -> _Topic:
        rows = conversation.rows(
            "SELECT subject FROM sealed.facts WHERE list_contains(?, fact_id) "
            "UNION SELECT topic FROM sealed.bullets WHERE list_contains(?, bullet_id)",
            [list(probe.fact_ids), list(probe.bullet_ids)],
        )
        things = (content_words(name) for (name,) in rows)
        asked = Subject.of(probe.question)
        quoted = content_words(" ".join(e.quote for e in probe.evidence)) & asked.words.keys()
        return cls(asked, tuple(thing for thing in things if thing), frozenset(quoted))

    def has(self, piece: Piece) -> bool:
        """Whether a passage is on the topic: it names the thing, a name, or most words that ask for it."""
        _, message, (start, end) = piece
        text = message.content[start:end]
        said = content_words(text)
        if self.things:  # of a long name people say half
            return any(len(thing & said) >= max(min(len(thing), 2), len(thing) / 2) for thing in self.things)
        if any(name in text.casefold() for name in self.asked.names):
            return True
        if len(self.quoted) > 1:
            return 2 * len(self.quoted & said) > len(self.quoted)
        return len(self.asked.words.keys() & said) >= min(2, len(self.asked.words))


def _pieces(messages: Iterable[Message]) -> Iterable[Piece]:
    return ((m.message_id or 0, m, span) for _, m, span in passages_of(messages))


def _term(stem: str, word: str) -> str:
    """Return the beginning of a word that is as long as its stem."""
    return stem if word.startswith(stem) else word


def _scored(conversation: OpenConversation, subject: Subject) -> tuple[Mapping[str, float], Mapping[int, float]]:
    """Return the weights of the telling stems, rarest first, and for each message the weight of those it contains."""
    stems = [stem for stem in subject.words if len(stem) > 2]
    if not stems:
        return {}, {}
    flags = ", ".join(f"contains(low, ?) AS t{i}" for i in range(len(stems)))
    rows = conversation.rows(
        f"SELECT message_id, {flags} FROM (SELECT message_id, lower(content) AS low FROM sealed.messages) ",
        [_term(stem, subject.words[stem]) for stem in stems],
    )
    counts = [sum(row[i + 1] for row in rows) for i in range(len(stems))]
    weights = _weights(counts, len(rows))
    scores = {row[0]: sum(weight for i, weight in weights.items() if row[i + 1]) for row in rows}
    return {stems[i]: weight for i, weight in weights.items()}, {m: s for m, s in scores.items() if s > 0}


def _weights(counts: Sequence[int], total: int) -> dict[int, float]:
    """Return the rarity of the telling terms by their place, rarest first."""
    # In a short conversation, a term of three messages is rare enough although they are a large share.
    telling = [i for i, count in enumerate(counts) if 0 < count <= max(REVIEWING.common_word * total, 3)]
    telling = sorted(telling, key=lambda i: counts[i])[: REVIEWING.search_terms]
    return {i: math.log(1 + (total - counts[i] + 0.5) / (counts[i] + 0.5)) for i in telling}
