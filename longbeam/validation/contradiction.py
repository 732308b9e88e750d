"""Contradictions and knowledge updates as the messages have them.

Both sides are there, differ, and stand where they should.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from longbeam.abilities import Trait
from longbeam.schemas import CONTRADICTION_MESSAGES_APART, EvidencePart, Message, Nugget, Probe, Stance, Value
from longbeam.text import (
    DEED_OF_USER,
    INTENDED,
    NEGATOR,
    Who,
    content_words,
    named_value,
    normalize_values,
    read_claim,
    says,
    says_equivalent,
    sentences,
    spell_out,
    values_in,
)
from longbeam.validation.base import ERROR, WARNING, Check, Problem, claim, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_REFUSES = re.compile(r"\b(?:yet to|refused?|avoid(?:ed)?)\b", re.IGNORECASE)
"""Words that deny a deed without a negator."""
_NEVER = re.compile(r"\bnever\b", re.IGNORECASE)
_POLAR = re.compile(r"^\W*(?:have|has|had|did|do|does|am|is|are|was|were)\b|\b(?:or not|whether)\b", re.IGNORECASE)
"""A question that is answered by yes or no."""
_ASKING = content_words(
    "ever yet still tell told give say said know mention remind happen stand behind thing going according come deal "
    "dealt experience own something anything myself"
)
"""Stems of words that ask what became of a thing, and name nothing of it."""


_EXPERIENCE = re.compile(
    r"\b(?:have|has|had|['’](?:ve|s|d))\s+(?:\w+\s+)?never\b|\bnever\s+(?:\w+ly\s+)?\w+(?:ed|en|ne|t|w|d|n)\b", re.I
)
"""A denial that something was ever done."""
_AFTERWARDS = re.compile(
    r"\b(?:just|finally|for the first time|yesterday|today|tonight|last (?:week|night|weekend|\w+day))\b", re.I
)
_CLAUSES = re.compile(r"[,;:]\s|\s[-–]\s")


@dataclass(frozen=True)
class _Side:
    """The statement or the denial of a probe."""

    messages: tuple[Message, ...]
    text: str
    """The quotes; the whole messages where an import has no quotes."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(m.message_key for m in self.messages)

    @property
    def words(self) -> frozenset[str]:
        return content_words(self.content)

    @property
    def content(self) -> str:
        return "\n".join(m.content for m in self.messages)


def find_in_contradiction(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield sides that lie close together, deny nothing, or speak of different things."""
    if not has_trait(probe, Trait.RESOLVES_CONTRADICTION):
        return
    statement = _side(index, probe, EvidencePart.STATEMENT)
    denial = _side(index, probe, EvidencePart.DENIAL)
    # `evidence_parts` reports sides that are missing or share a message.
    if not statement.messages or not denial.messages or set(statement.keys) & set(denial.keys):
        return
    keys = (*statement.keys, *denial.keys)
    apart = min(abs(index.position[a] - index.position[b]) for a in statement.keys for b in denial.keys)
    if apart < CONTRADICTION_MESSAGES_APART:
        yield Problem("close", probe.probe_id, f"statement and denial are {apart} messages apart", keys)
    if fault := _fault_of_sides(index, probe, statement, denial):
        yield Problem(fault[0], probe.probe_id, fault[1], keys)
    elif reason := _reason_of_peace(index, statement, denial):
        yield Problem("no_conflict", probe.probe_id, reason, keys)
    for nugget in probe.rubric:
        if not _is_denial_said(nugget, statement, denial):
            where = f"the denial, {denial.keys[0]}, does not say {shorten(claim(nugget.text))!r}"
            yield Problem("denial_not_said", probe.probe_id, where, denial.keys)


def _side(index: ConversationIndex, probe: Probe, part: EvidencePart) -> _Side:
    cited = [e for e in probe.evidence if e.part == part]
    messages = tuple(m for e in cited if (m := index.message(e.message_key)) is not None)
    quotes = index.quotes(e for e in cited if e.quote)
    # Days are said as people say them, `the 12th`: without its date two of them are no two values.
    return _Side(messages, quotes or "\n".join(spell_out(m.content, m.sent_at.date()) for m in messages))


def _fault_of_sides(index: ConversationIndex, probe: Probe, statement: _Side, denial: _Side) -> tuple[str, str] | None:
    """Return kind and text of what keeps the sides from contradicting each other, or None."""
    is_polar = _POLAR.search(probe.question) is not None
    if not is_polar and _gives_two_values(statement.text, denial.text):
        return None
    asked = content_words(probe.question)
    if not content_words(denial.text) & (content_words(statement.text) | (asked - _ASKING)):
        return "unrelated", f"the denial has no word of the statement and of the question: {shorten(denial.text)!r}"
    is_denial = NEGATOR.search(denial.text) or _REFUSES.search(denial.text)
    if not (is_denial or _NEVER.search(statement.text)):
        # Two sides without values may contradict each other in words that no pattern knows. Without quotes nobody can
        # say whether a value of the message belongs to the statement.
        has_quotes = all(e.quote for e in probe.evidence)
        has_fault = is_polar or (has_quotes and bool(values_in(statement.text)))
        return ("no_denial", "neither side denies anything") if has_fault else None
    if _is_beside_the_point(index, asked & content_words(denial.text), statement.text):
        text = f"the statement says nothing of what the question asks and the denial denies: {shorten(statement.text)}"
        return "different_things", text
    if _is_about_one_thing(index, asked, statement.text, denial.text):
        return None
    return "different_things", f"the denial says nothing that the question asks about: {shorten(probe.question)}"


def _reason_of_peace(index: ConversationIndex, statement: _Side, denial: _Side) -> str:
    """Return why both sides can be true although one says `never`; empty where nothing shows it."""
    denials = [d for d in _sentences(denial.text) if _EXPERIENCE.search(d)]
    if not denials or _gives_two_values(statement.text, denial.text):
        return ""
    denied = content_words(" ".join(denials)) - {"never"}
    told = [t for t in _sentences(statement.text) if len(content_words(t) & denied) >= CHECKING.contradiction_told]
    if not told:
        return ""
    is_later = min(index.position[k] for k in statement.keys) > max(index.position[k] for k in denial.keys)
    if is_later and all(_AFTERWARDS.search(t) for t in told):
        return f"the statement tells what happened after the denial: {shorten(told[0])}"
    if all(INTENDED.search(t) for t in told) and not any(_tells_deed(t, denied) for t in told):
        return f"the statement only plans or suggests what the denial says was never done: {shorten(told[0])}"
    if all(read_claim(t).who is Who.OTHER for t in told):
        return f"the statement is about somebody else than the user: {shorten(told[0])}"
    return ""


def _tells_deed(sentence: str, denied: frozenset[str]) -> bool:
    """Return whether a clause of a sentence that has a denied word tells of a deed of the user as done."""
    return any(DEED_OF_USER.search(clause) for clause in _CLAUSES.split(sentence) if content_words(clause) & denied)


def _sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


def _gives_two_values(said: str, denied: str) -> bool:
    """Return whether the sides give different values of one kind and unit."""
    sides = [{(v.kind, v.unit): v for v in values_in(normalize_values(text))} for text in (said, denied)]
    return any(not says_equivalent(said, sides[1][kind]) for kind in sides[0].keys() & sides[1].keys())


def _is_beside_the_point(index: ConversationIndex, denied: frozenset[str], statement: str) -> bool:
    """Return whether a statement has next to nothing of what a denial denies."""
    weights = {w: index.said_by_user.rarity(w) for w in denied - _ASKING - {"never"}}
    said = sum(weights[w] for w in content_words(statement) & weights.keys())
    return len(weights) > CHECKING.contradiction_told and said < CHECKING.contradiction_touched * sum(weights.values())


def _is_about_one_thing(index: ConversationIndex, asked: frozenset[str], statement: str, denial: str) -> bool:
    """Return whether a denial is about what the statement says, and not only about the same person or thing.

    The subject is what question, statement and denial all name. The denial must have a word that the question asks
    beyond the subject, or a word that it shares with the statement beyond the question: else it denies another thing.
    """
    asked -= _ASKING
    said, denied = content_words(statement), content_words(denial)
    if not asked & denied:
        return False
    beyond = asked - (said & denied)
    shared = (said & denied) - asked
    return (
        not beyond
        or bool(beyond & denied)
        or any(index.said_by_user.share(w) < CHECKING.contradiction_common for w in shared)
    )


def _is_denial_said(nugget: Nugget, statement: _Side, denial: _Side) -> bool:
    """Return whether a side says enough of a nugget that retells a denial (`never`)."""
    text = claim(nugget.text)
    if not _NEVER.search(text):
        return True
    words = content_words(text) - {"never", "said", "mention"}
    denying = [side for side in (statement, denial) if _NEVER.search(side.content)] or [denial]
    return max(len(words & side.words) for side in denying) >= CHECKING.contradiction_said * len(words)


CONTRADICTION = Check(
    name="contradiction",
    doc="One message asserts and another denies the same thing, and they are far enough apart to need memory.",
    severities={
        "close": WARNING,
        "unrelated": ERROR,
        "no_denial": WARNING,
        "different_things": WARNING,
        "no_conflict": WARNING,
        "denial_not_said": WARNING,
    },
    english_only=dict.fromkeys(
        ("unrelated", "no_denial", "different_things", "no_conflict", "denial_not_said"), "reads English words"
    ),
    on_probe=find_in_contradiction,
)


def find_in_knowledge_update(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield updates without a change, gold that lacks the new value, and later third values."""
    if not has_trait(probe, Trait.ASKS_UPDATED_VALUE):
        return
    old, new = probe.details.old_value, probe.details.new_value
    if not (old and new):
        if not index.is_import:
            yield Problem("no_values", probe.probe_id, "the probe does not say which value became which")
    elif named_value(old).means_same_as(named_value(new)):
        yield Problem("no_change", probe.probe_id, f"old and new value are the same: {shorten(new)!r}")
    elif not says_equivalent(probe.gold_answer, named_value(new)):
        yield Problem("gold_lacks_new", probe.probe_id, f"the gold answer does not say {shorten(new)!r}")
    if new:
        yield from _third_values(index, probe, new)
        yield from _quote_problems(index, probe, old, new)


def _quote_problems(index: ConversationIndex, probe: Probe, old: str, new: str) -> Iterator[Problem]:
    for part, said in ((EvidencePart.ORIGINAL, old), (EvidencePart.UPDATED, new)):
        quotes = [e for e in probe.evidence if e.part == part and e.quote]
        if said and quotes and not says_equivalent(index.quotes(quotes), named_value(said)):
            text = f"the {part.value} evidence does not say {shorten(said)!r}"
            yield Problem("value_not_quoted", probe.probe_id, text, tuple(e.message_key for e in quotes))


def _third_values(index: ConversationIndex, probe: Probe, new: str) -> Iterator[Problem]:
    for fact_id in dict.fromkeys(probe.fact_ids):
        is_new = False
        for assertion in index.by_fact.of(fact_id):
            value = assertion.value
            if value is None:
                continue
            if _means(value, new):
                is_new = True
            elif is_new and assertion.stance is not Stance.MENTIONS:
                text = f"{assertion.bullet_id} gives {fact_id} a third value later, {shorten(value.text)!r}"
                keys = tuple(m.message_key for m in index.voicing(assertion.bullet_id))
                yield Problem("third_value", probe.probe_id, text, keys)


def _means(value: Value, text: str) -> bool:
    return value.text == text or says(text, value)


KNOWLEDGE_UPDATE = Check(
    name="knowledge_update",
    doc="Old and new value differ, each is quoted, the gold says the new one, and no third one comes later.",
    severities={
        "no_values": WARNING,
        "no_change": ERROR,
        "gold_lacks_new": ERROR,
        "value_not_quoted": ERROR,
        "third_value": ERROR,
    },
    on_probe=find_in_knowledge_update,
)
