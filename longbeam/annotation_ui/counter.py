"""Counter-evidence (X2): other messages that could change the answer, ranked, so that omissions come to the eye.

Two steps. One scan of the sealed file scores every message by the words it shares with question and gold (BM25's
inverse document frequency; a word counts once per message). The best few hundred are then read: another value of the
gold's kind near those words, a negation, a change, the same name, and whether it was said after the evidence.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.causes import message_href
from longbeam.annotation_ui.rendering import Mark, render_plain
from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.plans import Value
from longbeam.schemas.probes import Probe
from longbeam.text.extraction import distinct_values, extract_values
from longbeam.text.matching import says
from longbeam.text.words import words_of
from longbeam.validation.wording import claim

MOST_TERMS = 16
READ = 300
"""Messages of which the text is read."""
COMMON = 0.2
"""Words in more of the messages than this tell nothing."""
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


class CounterCandidate(Record):
    """A message that might change the answer."""

    message_id: int
    message_key: str
    href: str
    role: str
    session: int
    plan_index: int | None
    sent_at: dt.datetime
    score: float
    signs: tuple[str, ...]
    """`other_value`, `change`, `negation`, `same_value`, `same_name`, `later`."""
    excerpt_html: str
    is_cleared: bool


class CounterView(Record):
    """Ranked messages, evidence left out."""

    terms: tuple[str, ...]
    """What was looked for, rarest first."""
    considered: int
    """Messages that share a term."""
    candidates: tuple[CounterCandidate, ...]


@dataclass(frozen=True)
class _Wanted:
    terms: Sequence[str]
    values: Sequence[Value]
    names: frozenset[str]
    last_evidence: int


def counter_evidence(
    conversation: OpenConversation,
    conversation_id: str,
    probe: Probe,
    *,
    cleared: frozenset[str] = frozenset(),
    most: int = 30,
    item_id: str = "",
) -> CounterView:
    """Return the messages that could change a probe's answer, best first; those it cites are left out."""
    ids = conversation.ids
    cited = {ids[e.message_key] for e in probe.evidence if e.message_key in ids}
    terms, scores = _scored(conversation, _terms_of(probe))
    best = sorted((m for m in scores if m not in cited), key=lambda m: (-scores[m], m))[:READ]
    wanted = _Wanted(terms, distinct_values(probe.gold_answer), _names_of(probe), max(cited, default=-1))
    judged = []
    for message in conversation.messages_of(best):
        if message.message_id in scores and message.message_id not in cited:
            signs, place = _signs(message, wanted)
            weight = scores[message.message_id] + sum(_WEIGHTS[s] for s in signs)
            judged.append((weight * (1.0 if message.role is MessageRole.USER else 0.6), message, signs, place))
    judged.sort(key=lambda found: (-found[0], found[1].message_id))
    return CounterView(
        terms=tuple(terms),
        considered=len(scores),
        candidates=tuple(
            _candidate(conversation_id, item_id, message, score, signs, place, terms, cleared)
            for score, message, signs, place in judged[:most]
        ),
    )


def _terms_of(probe: Probe) -> list[str]:
    """Return what to look for: beginnings of words as long as their stems, of question, gold and rubric."""
    texts = (probe.question, probe.gold_answer, probe.details.missing, *(claim(n.text) for n in probe.rubric))
    found: dict[str, None] = {}
    for word in _WORD.findall(" ".join(texts).lower()):
        stems = words_of(word)
        if stems and not word[0].isdigit():
            found[stems[0] if word.startswith(stems[0]) else word] = None
    return [term for term in found if len(term) > 2]


def _scored(conversation: OpenConversation, terms: Sequence[str]) -> tuple[list[str], dict[int, float]]:
    """Return the telling terms, rarest first, and the summed rarity of those that each message holds."""
    if not terms:
        return [], {}
    flags = ", ".join(f"contains(low, ?) AS t{i}" for i in range(len(terms)))
    rows = conversation.rows(
        f"SELECT message_id, {flags} FROM (SELECT message_id, lower(content) AS low FROM sealed.messages) ",
        list(terms),
    )
    total = len(rows)
    counts = [sum(row[i + 1] for row in rows) for i in range(len(terms))]
    telling = [i for i, count in enumerate(counts) if 0 < count <= max(COMMON * total, 3)]
    telling.sort(key=lambda i: counts[i])
    telling = telling[:MOST_TERMS]
    rarity = {i: math.log(1 + (total - counts[i] + 0.5) / (counts[i] + 0.5)) for i in telling}
    scores = {row[0]: sum(rarity[i] for i in telling if row[i + 1]) for row in rows}
    return [terms[i] for i in telling], {m: s for m, s in scores.items() if s > 0}


def _names_of(probe: Probe) -> frozenset[str]:
    return frozenset(_NAME.findall(probe.question)) | frozenset(_NAME.findall(probe.gold_answer))


def _signs(message: Message, wanted: _Wanted) -> tuple[list[str], int]:
    """Return what makes a message worth a look, and where in it."""
    content, low = message.content, message.content.lower()
    places = [low.find(term) for term in wanted.terms if term in low]
    # Where most of the shared words stand together.
    centre = max(places, key=lambda p: (sum(abs(p - q) <= WINDOW for q in places), -p), default=0)
    near = content[max(centre - WINDOW, 0) : centre + WINDOW]
    signs = []
    kinds = {v.kind for v in wanted.values}
    others = [v for v in extract_values(near) if v.kind in kinds]
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


def _candidate(
    conversation_id: str,
    item_id: str,
    message: Message,
    score: float,
    signs: Sequence[str],
    centre: int,
    terms: Sequence[str],
    cleared: frozenset[str],
) -> CounterCandidate:
    start, end = max(centre - WINDOW, 0), min(centre + 2 * WINDOW, len(message.content))
    shown = message.content[start:end].replace("\n", " ")
    low = shown.lower()
    marks = [Mark(start=p, end=p + len(t), kind="search") for t in terms if (p := low.find(t)) >= 0]
    message_id = message.message_id or 0
    return CounterCandidate(
        message_id=message_id,
        message_key=message.message_key,
        href=message_href(conversation_id, message_id, item_id),
        role=message.role.value,
        session=message.session,
        plan_index=message.plan_index,
        sent_at=message.sent_at,
        score=round(score, 3),
        signs=tuple(signs),
        excerpt_html=("… " if start else "")
        + render_plain(shown, marks)
        + (" …" if end < len(message.content) else ""),
        is_cleared=message.message_key in cleared,
    )
