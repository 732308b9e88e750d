"""Checks of the plan's ledger, of what the messages voice of it, and of what an import noted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longbeam.schemas import (
    SPECIAL_KINDS,
    Assertion,
    Bullet,
    BulletKind,
    Message,
    MessageRole,
    NoteKind,
    Stance,
    Value,
    ValueKind,
)
from longbeam.text import (
    content_words,
    disagreement,
    distinct_values,
    is_day_named,
    named_value,
    says,
    says_equivalent,
)
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING


def find_in_ledger(index: ConversationIndex) -> Iterator[Problem]:
    """Yield ids that occur twice, references to nothing, values unlike their texts, and updates that change nothing."""
    plans = index.head.plans
    yield from _duplicates((b.bullet_id for p in plans for b in p.bullets()), "bullet")
    yield from _duplicates((f.fact_id for p in plans for f in p.facts), "fact")
    for assertion in (a for p in plans for a in p.assertions):
        yield from _assertion_problems(index, assertion)
    yield from _target_problems(index)
    for fact_id in index.facts_in_order():
        yield from _update_problems(index.values_over_time(fact_id))


def _assertion_problems(index: ConversationIndex, assertion: Assertion) -> Iterator[Problem]:
    if assertion.bullet_id not in index.bullets or assertion.fact_id not in index.facts:
        text = f"assertion of {assertion.bullet_id!r} on {assertion.fact_id!r}: no plan has both"
        yield Problem("unknown_reference", assertion.bullet_id, text)
    if assertion.value is None and assertion.stance is not Stance.DENIES:
        text = f"{assertion.bullet_id} {assertion.stance.value} {assertion.fact_id} without a value"
        yield Problem("missing_value", assertion.bullet_id, text)
    if assertion.value is not None and (reason := _contradiction_in(assertion.value)):
        yield Problem("value_unlike_text", assertion.bullet_id, f"{assertion.fact_id}: {reason}")


def _contradiction_in(value: Value) -> str | None:
    """Say how the number or date of a value contradicts its text; None where they agree or the text cannot be read."""
    # Nearly all texts have the digits of their number: a look for them spares the reading.
    if value.number is not None and f"{value.number:g}" in value.text.replace(",", ""):
        return None
    if value.number is None and value.date is None:
        return None
    try:
        return disagreement(value)
    except ValueError:
        return None


def _duplicates(ids: Iterable[str], what: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for identifier in ids:
        if identifier in seen:
            yield Problem("duplicate_id", identifier, f"two {what}s are called {identifier!r}")
        seen.add(identifier)


def _target_problems(index: ConversationIndex) -> Iterator[Problem]:
    for own, bullet in enumerate(index.bullets.records):
        target = bullet.target_bullet_id
        if target is None:
            # The plans of imports name no targets: they have no ledger at all.
            if bullet.kind in (BulletKind.UPDATE, BulletKind.CONTRADICTION) and (index.facts or not index.is_import):
                yield Problem("target", bullet.bullet_id, f"{bullet.kind.value} {bullet.bullet_id} names no target")
        elif (place := index.bullets.place.get(target)) is None or place >= own:
            text = f"{bullet.kind.value} {bullet.bullet_id} is about {target!r}, which no plan has before it"
            yield Problem("target", bullet.bullet_id, text)


def _update_problems(changes: tuple[Assertion, ...]) -> Iterator[Problem]:
    before = None
    for change in changes:
        value = change.value
        if change.stance is Stance.UPDATES and value is not None:
            if before is None:
                text = f"{change.bullet_id} updates {change.fact_id}, which nothing has set"
                yield Problem("update_of_nothing", change.bullet_id, text)
            elif value.means_same_as(before):
                text = f"{change.bullet_id} updates {change.fact_id} to {shorten(value.text)!r}, which it was before"
                yield Problem("no_change", change.bullet_id, text)
        before = value


LEDGER = Check(
    name="ledger",
    doc="Facts, bullets and assertions refer to each other; values agree with their text; updates change values.",
    severities={
        "duplicate_id": ERROR,
        "unknown_reference": ERROR,
        "missing_value": ERROR,
        "value_unlike_text": ERROR,
        "target": ERROR,
        "update_of_nothing": WARNING,
        "no_change": WARNING,
    },
    english_only={"value_unlike_text": "reads dates, amounts and lengths of time as English writes them"},
    on_conversation=find_in_ledger,
)


def find_in_voicing(index: ConversationIndex) -> Iterator[Problem]:
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
            if not says(said, value) and not any(_names(m, value) for m in voiced):
                text = f"the messages that voice {bullet.bullet_id} do not say {shorten(value.text)!r}"
                yield Problem("value_not_said", bullet.bullet_id, text, tuple(m.message_key for m in voiced))


def _names(message: Message, value: Value) -> bool:
    """Return whether a message says a value, also as a day with two readings: `last Wednesday` on a Friday."""
    return says(message.content, value, message.sent_at.date()) or (
        value.kind is ValueKind.DATE and is_day_named(message, value)
    )


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
        if len(words & index.words(message)) >= CHECKING.bullet_said * len(words) and all(
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


VOICING = Check(
    name="voicing",
    doc="Every bullet that bears a fact is said by a user message with its values; so is every special bullet.",
    severities={
        "fact_not_voiced": ERROR,
        "special_not_voiced": ERROR,
        "value_not_said": ERROR,
        "not_voiced": INFO,
    },
    on_conversation=find_in_voicing,
)


def find_in_imports(index: ConversationIndex) -> Iterator[Problem]:
    """Yield the notes that the import left in the conversation."""
    for note in index.head.import_notes:
        yield Problem(note.kind.value, note.subject, note.message, note.evidence)


IMPORTS = Check(
    name="import",
    doc="Notes of the import: parts of the source that are missing, unusual, wrong, or not kept.",
    severities={
        NoteKind.PLAN_MARKERS: WARNING,
        NoteKind.COPIED_MARKER: WARNING,
        NoteKind.MARKER_INSIDE: WARNING,
        NoteKind.BAD_INDEX: INFO,
        NoteKind.MESSAGE_ID: WARNING,
        NoteKind.MESSAGE_KIND: INFO,
        NoteKind.NO_DATE: WARNING,
        NoteKind.TIME_GOES_BACK: WARNING,
        NoteKind.NO_CHAT: WARNING,
        NoteKind.OTHER_CHAT: INFO,
        NoteKind.TRUNCATED_CHAT: WARNING,
        NoteKind.MISSING_FILE: INFO,
        NoteKind.NO_PROBES: WARNING,
        NoteKind.ODD_VALUE: WARNING,
        NoteKind.UNREAD: WARNING,
        NoteKind.OTHER_BRANCH: INFO,
        NoteKind.EMPTY_MESSAGE: INFO,
        NoteKind.HALF_CHARACTER: WARNING,
        NoteKind.UNREAD_FILE: INFO,
        NoteKind.CHANGED_FILE: WARNING,
        NoteKind.PROFILE: INFO,
        NoteKind.PLAN: INFO,
        NoteKind.EVIDENCE_MISSING: WARNING,
        NoteKind.ONE_MESSAGE: ERROR,
        NoteKind.ONE_SESSION: WARNING,
        NoteKind.EVIDENCE_ID: ERROR,
        NoteKind.EVIDENCE_ORDER: WARNING,
        NoteKind.EVIDENCE_SHAPE: INFO,
        NoteKind.MISSING_KEY: INFO,
        NoteKind.NO_GOLD: ERROR,
        NoteKind.NO_RUBRIC: ERROR,
        NoteKind.ADVERSARIAL_ANSWER: INFO,
    },
    on_conversation=find_in_imports,
)
