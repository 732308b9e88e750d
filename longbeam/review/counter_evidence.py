"""Counter-evidence: other messages that could change the answer, ranked, so that a reviewer notices omissions.

One scan of the sealed file counts the messages that contain each word of the probe, so that a conversation of ten
million tokens is searched in a quarter of a second. The best few hundred are read, and ranked as by every other search
of later evidence (`text/later_evidence.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from longbeam.review.archive import OpenConversation
from longbeam.schemas import Message, Probe
from longbeam.text import READ, LaterPassage, Piece, Subject, passages_of, rank_passages
from longbeam.validation import claim

MOST_TERMS = 16
COMMON = 0.2
"""Share of the messages above which a word tells nothing."""


@dataclass(frozen=True, slots=True)
class CounterEvidence:
    """Ranked messages that could change a probe's answer."""

    terms: tuple[str, ...]
    """Terms that the search looked for, as beginnings of words, rarest first."""
    words: tuple[str, ...]
    """The word of the probe from which each term was taken."""
    considered: int
    """Number of messages that contain a term."""
    candidates: tuple[LaterPassage, ...]
    """The best passage of each message."""


def counter_evidence(conversation: OpenConversation, probe: Probe, *, most: int = 30) -> CounterEvidence:
    """Return the messages that could change a probe's answer, best first, without those that the probe cites."""
    ids = conversation.ids
    cited = {ids[e.message_key] for e in probe.evidence if e.message_key in ids}
    subject = Subject.of(
        probe.question, probe.gold_answer, probe.details.missing, *(claim(n.text) for n in probe.rubric)
    )
    weights, scores = _scored(conversation, subject)
    best = sorted((m for m in scores if m not in cited), key=lambda m: (-scores[m], m))[:READ]
    pieces = _pieces(m for m in conversation.messages_of(best) if m.message_id not in cited)
    found: dict[str, LaterPassage] = {}
    for passage in rank_passages(pieces, subject, weights, after=max(cited, default=-1)):
        found.setdefault(passage.message.message_key, passage)
    terms = [_term(stem, subject.words[stem]) for stem in weights]
    words = tuple(subject.words[stem] for stem in weights)
    return CounterEvidence(tuple(terms), words, len(scores), tuple(found.values())[:most])


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
    telling = [i for i, count in enumerate(counts) if 0 < count <= max(COMMON * total, 3)]
    telling = sorted(telling, key=lambda i: counts[i])[:MOST_TERMS]
    return {i: math.log(1 + (total - counts[i] + 0.5) / (counts[i] + 0.5)) for i in telling}
