"""Voicing of the plan: a fact that no message says makes every probe on the fact unanswerable."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.schemas import SPECIAL_KINDS, Bullet, MessageRole, Stance, Value, ValueKind
from longbeam.text import content_words, distinct_values, named_value, says, says_equivalent
from longbeam.validation.base import ERROR, INFO, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex

MIN_SAID = 0.5
"""Share of a bullet's words that a message must have to say it."""


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield bullets that no user message voices, and those whose messages do not say their values."""
    for bullet in index.bullets.records:
        voiced = index.voicing(bullet.bullet_id)
        if not voiced:
            kind = _unvoiced_kind(index, bullet)
            if index.is_import and (is_said(index, bullet) or _is_day(bullet)):
                continue
            yield Problem(kind, bullet.bullet_id, f"no user message says: {shorten(bullet.text)}")
            continue
        # Several messages may share a bullet: a question that opens it and an answer that completes it.
        said = "\n\n".join(m.content for m in voiced)
        for value in _values(index, bullet):
            if not says(said, value) and not any(says(m.content, value, m.sent_at.date()) for m in voiced):
                text = f"the messages that voice {bullet.bullet_id} do not say {shorten(value.text)!r}"
                yield Problem("value_not_said", bullet.bullet_id, text, tuple(m.message_key for m in voiced))


def is_said(index: ConversationIndex, bullet: Bullet) -> bool:
    """Return whether a user message says a bullet in its own words, whatever bullet it is labelled with.

    An import's labels are free text. A message must have half of the bullet's words, its values, and `never` where it
    denies.
    """
    words = content_words(bullet.text)
    values = distinct_values(bullet.text)
    denies = "never" in bullet.text.casefold()
    for message in index.messages:
        if message.role is not MessageRole.USER or (denies and "never" not in message.content.casefold()):
            continue
        if len(words & index.words(message)) >= MIN_SAID * len(words) and all(
            says_equivalent(message.content, v) for v in values
        ):
            return True
    return False


def _is_day(bullet: Bullet) -> bool:
    """Return whether a bullet is only the day on which its sub-plan begins, which nobody has to say."""
    return named_value(bullet.text).kind is ValueKind.DATE


def _unvoiced_kind(index: ConversationIndex, bullet: Bullet) -> str:
    if bullet.kind in SPECIAL_KINDS:
        return "special_not_voiced"
    bears_fact = any(a.stance is not Stance.MENTIONS for a in index.by_bullet.of(bullet.bullet_id))
    return "fact_not_voiced" if bears_fact else "not_voiced"


def _values(index: ConversationIndex, bullet: Bullet) -> Iterator[Value]:
    for assertion in index.by_bullet.of(bullet.bullet_id):
        value = assertion.value
        if value is None or assertion.stance is Stance.MENTIONS:
            continue
        # A denial may carry the value it denies, which need not be said: only what its own text says counts.
        if assertion.stance is not Stance.DENIES or says(bullet.text, value):
            yield value


CHECK = Check(
    name="voicing",
    doc="Every bullet that bears a fact is said by a user message with its values; so is every special bullet.",
    severities={
        "fact_not_voiced": ERROR,
        "special_not_voiced": ERROR,
        "value_not_said": ERROR,
        "not_voiced": INFO,
    },
    on_conversation=find_problems,
)
