"""Entailment: whether a model's words say what they were asked to say.

Rules decide two cases: a message that repeats a bullet in the bullet's own words says it, and a message without a value
of the bullet does not. Everything between is left to the role `checker`, which decides it better than rules do
(docs/closed-world.md). An update names the thing that it changes, and a contradiction cannot be true beside its
statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from longbeam.generators.probes.evidence import coverage
from longbeam.generators.tuning import DIALOGUE, PROBING
from longbeam.prompts.calls import BulletBrief, ContradictionTarget, UpdateTarget
from longbeam.schemas import Bullet, BulletKind, Value, ValueKind
from longbeam.text import (
    ENGLISH,
    NEGATOR,
    Language,
    content_words,
    framing_of,
    is_asked_at,
    is_denied_at,
    is_supposed_at,
    says,
    sentences,
    taken_back,
    value_pattern,
)

_BEFORE_WANTED = r"(?:[,;] so|;|,? and)(?: please)? "
_WANTED = re.compile(
    rf"(?:{_BEFORE_WANTED}(?:tell|give|help|write|show|I(?:['’]d like| want| need) to know)|"
    r"^(?:tell|give|help|write|show|draft) me)\b[^.!?]*[.!?]?\s*\Z|"
    rf"{_BEFORE_WANTED}(?:which|what|how|where|why|who|is|are|do|does|did|can|could|should|would|at what)\b"
    r"[^.!?]*\?\s*\Z",
    re.IGNORECASE,
)
"""End of a sentence of a bullet that asks for something, which a message may word in its own way."""
_TOKEN = re.compile(r"\w+(?:['’.,:]\w+)*")
_SENTENCE_END = re.compile(r"[.!?…]\s|\n")


class RuleAnswer(StrEnum):
    """Answer of the rules."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"
    """Rules cannot tell; the role `checker` can."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """Answer with its reason, worded for the writer of the text; no reason where the answer is yes."""

    answer: RuleAnswer
    reason: str = ""


YES = Ruling(RuleAnswer.YES)


# --- messages and their bullets ---------------------------------------------------------------------------------


def rule_on_message(text: str, brief: BulletBrief) -> Ruling:
    """Rule whether a message entails a bullet: all its values, and what it claims in the bullet's own words."""
    for line in brief.facts:
        if line.value is not None and not says(text, line.value):
            return _no(f"it does not say {line.value.text!r}")
    told = brief.bullet.text
    rulings = [_repeated_ruling(text, claim) for claim in _claims_of(brief.bullet)]
    if all(ruling is not None for ruling in rulings):
        return _first(ruling for ruling in rulings if ruling is not None)
    if not any(line.value for line in brief.facts) and coverage(told, text) < PROBING.min_coverage:
        return _no(f"it leaves out most of {told!r}")
    return _unsure(f"it is worded unlike {told!r}")


def _claims_of(bullet: Bullet) -> tuple[str, ...]:
    """Return what a bullet claims: its sentences without its questions, which a message may word in its own way."""
    every = tuple(bullet.text[a:b] for a, b in sentences(bullet.text))
    if bullet.kind in (BulletKind.INSTRUCTION, BulletKind.PREFERENCE):
        return every
    cut = ((s, _WANTED.sub("", s)) for s in every)
    return tuple(claim for s, claim in cut if claim and not (claim == s and _is_question(s))) or every


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’) ").endswith("?")


def _repeated_ruling(text: str, claim: str) -> Ruling | None:
    """Rule on a message with a claim's own words: those before may deny them, those behind may take them back.

    None where it does not have them; case and punctuation do not count.
    """
    words = r"\W+".join(re.escape(word) for word in _TOKEN.findall(claim))
    found = re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)
    if found is None:
        return None
    before = _SENTENCE_END.split(text[: found.start()])[-1].strip()
    if framing := framing_of(before):
        return _unsure(f"it says {framing!r} in front of {claim!r}")
    if taken := taken_back(text[found.end() :][: DIALOGUE.taken_back_within]):
        return _unsure(f"it says {taken!r} behind {claim!r}")
    return YES


# --- special bullets --------------------------------------------------------------------------------------------


def rule_on_update(text: str, value: Value, target: UpdateTarget, language: Language = ENGLISH) -> Ruling:
    """Rule whether a text updates its target: it names the thing and claims the new value in the old one's currency."""
    old = target.fact.value
    if old is not None and value.kind is ValueKind.MONEY and value.unit != old.unit:
        return _no(f"it gives {value.text!r} in {value.unit or 'no currency'}; until now it was {old.text!r}")
    if old is not None and says(text, old):
        return _no(f"it says the old value {old.text!r}; leave it out")
    if not language.reads_words:
        return _unsure(f"it may be about something else than {target.fact.subject!r}")
    return _first(_update_rulings(text, value, target))


def _update_rulings(text: str, value: Value, target: UpdateTarget) -> Iterator[Ruling]:
    fact, said = target.fact, tuple(text[a:b] for a, b in sentences(text))
    words, subject = content_words(text), content_words(fact.subject)
    # Words such as "costs" say what changes, and not of which thing.
    if not words & (subject | (content_words(target.bullet.text) - content_words(fact.attribute))):
        yield _no(f"it does not name {fact.subject!r}, whose {fact.attribute} changes")
    if subject - words:
        yield _unsure(f"it may be about something else than the {fact.attribute} of {fact.subject!r}")
    if fact.value is not None and _counts_others(value, fact.value):
        yield _unsure(f"{value.text!r} may count something else than {fact.value.text!r}")
    for sentence in said:
        if says(sentence, value):
            yield _mood_ruling(sentence, value)
    if taken := taken_back(text):
        yield _unsure(f"it says {taken!r}")


def _counts_others(value: Value, old: Value) -> bool:
    if value.kind is not ValueKind.NUMBER or not (value.unit and old.unit):
        return False
    return not content_words(value.unit) & content_words(old.unit)


def rule_on_contradiction(
    text: str, value: Value | None, target: ContradictionTarget, language: Language = ENGLISH
) -> Ruling:
    """Rule whether a text has to do with the statement of its target; whether it excludes it is for the checker."""
    statement, fact = target.bullet.text, target.fact
    if language.reads_words:
        words = content_words(text) - content_words(value.text if value else "")
        known = content_words(f"{statement} {fact.subject} {fact.attribute}" if fact else statement)
        if not words & known and (value is not None or not NEGATOR.search(text)):
            return _no(f"it has nothing to do with the statement {statement!r}")
    return _unsure(f"it may be true beside the statement {statement!r}")


def _mood_ruling(sentence: str, value: Value) -> Ruling:
    """Rule whether a sentence claims a value, or denies, asks or supposes it."""
    found = value_pattern(value.kind, value.text, value.number, value.unit, value.date).search(sentence)
    at = found.start() if found else 0
    if is_denied_at(sentence, at):
        return _no(f"it denies {value.text!r}")
    if is_asked_at(sentence, at):
        return _unsure(f"it asks about {value.text!r}")
    return _unsure(f"it only supposes {value.text!r}") if is_supposed_at(sentence, at) else YES


def _first(rulings: Iterable[Ruling]) -> Ruling:
    """Return the first no, else the first that is unsure, else yes."""
    unsure = None
    for ruling in rulings:
        if ruling.answer is RuleAnswer.NO:
            return ruling
        if ruling.answer is RuleAnswer.UNSURE:
            unsure = unsure or ruling
    return unsure or YES


def _no(reason: str) -> Ruling:
    return Ruling(RuleAnswer.NO, reason)


def _unsure(reason: str) -> Ruling:
    return Ruling(RuleAnswer.UNSURE, reason)
