"""The assistant's part of a chat's ledger as advice of the plan, as in generated conversations.

Amounts, days and lengths of time that the assistant gives become advice, so that each ability that asks for advice asks
for them: information extraction, knowledge update (a corrected value), sums over sessions, and days to a date of the
user's. Names stay facts, of which only information extraction asks; so does a value that its reply gives without the
words of its attribute, or that replies give differently without one of them correcting the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longbeam.generators.said_advice import advice_quote
from longbeam.generators.tuning import CHAT_READING
from longbeam.generators.unasked import GIVER, is_typed
from longbeam.keys import AdviceId, BulletId, natural_order
from longbeam.schemas import Advice, AdviceKind, Assertion, Bullet, Fact, Message, MessageRole, Plan, Stance, ValueKind

Given = tuple[Bullet, Message]
"""A statement of the assistant's, with its reply."""


def with_replies_advice(
    plan: Plan, voiced: Mapping[str, tuple[str, ...]], messages: Sequence[Message]
) -> tuple[Plan, dict[str, tuple[str, ...]]]:
    """Return a chat's plan with typed facts of the assistant's as advice, and what each message voices then."""
    bullets = {bullet.bullet_id: bullet for bullet in plan.bullets()}
    replies = {
        bullet_id: (bullets[bullet_id], message)
        for message in messages
        if message.role is MessageRole.ASSISTANT
        for bullet_id in voiced.get(message.message_key, ())
    }
    on_fact: dict[str, list[Assertion]] = {}
    for assertion in plan.assertions:
        on_fact.setdefault(assertion.fact_id, []).append(assertion)
    given = {fact.fact_id: _advice_of(fact, on_fact[fact.fact_id], replies) for fact in plan.facts}
    advice = sorted(
        (*plan.advice, *(a for found in given.values() for a in found)), key=lambda a: natural_order(a.advice_id)
    )
    made = plan.model_copy(
        update={
            "facts": tuple(fact for fact in plan.facts if not given[fact.fact_id]),
            "assertions": tuple(a for a in plan.assertions if not given[a.fact_id]),
            "advice": tuple(advice),
        }
    )
    says = {a.bullet_id: a.advice_id for a in advice}
    return made, {key: (*ids, *(says[i] for i in ids if i in says)) for key, ids in voiced.items()}


def _advice_of(fact: Fact, made: Sequence[Assertion], replies: Mapping[str, Given]) -> tuple[Advice, ...]:
    """Return a fact as advice, its correction included; empty if it cannot be asked for as such."""
    found: list[Advice] = []
    for assertion in made:
        value = assertion.value
        is_clear = assertion.stance in (Stance.SETS, Stance.UPDATES) and len(made) <= CHAT_READING.most_advised_values
        if assertion.bullet_id not in replies or value is None or not is_typed(value) or not is_clear:
            return ()
        bullet, message = replies[assertion.bullet_id]
        advice = Advice(
            advice_id=str(AdviceId(*BulletId.parse(bullet.bullet_id))),
            kind=_kind_of(value.kind, is_correction=bool(found)),
            bullet_id=bullet.bullet_id,
            narrative=bullet.narrative,
            topic=fact.subject,
            attribute=GIVER.sub("", fact.attribute),
            text=bullet.text,
            value=value,
            corrects=found[0].advice_id if found else "",
        )
        if advice_quote(advice, message.content) is None:
            return ()
        found.append(advice)
    return tuple(found)


def _kind_of(kind: ValueKind, *, is_correction: bool) -> AdviceKind:
    if is_correction:
        return AdviceKind.CORRECTION
    return AdviceKind.DAY if kind is ValueKind.DATE else AdviceKind.FIGURE
