"""The ledger of the plans: contradictions, stale gold and voicing are queries on it, so it must be consistent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longbeam.schemas import Assertion, BulletKind, Stance, Value
from longbeam.text import disagreement
from longbeam.validation.base import ERROR, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
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


CHECK = Check(
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
    on_conversation=find_problems,
)
