"""Dates of messages, sub-plans and bullets: temporal probes are only as right as these.

The ledger tells planned days from actual ones: a planned day lies behind the bullet that tells it, an actual one does
not. Once the actual end of a thing is past, nobody plans it any more. Once a planned day is past, somebody tells how it
went; that this is told cannot be read, so the check looks for a later word on the thing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import product

from longbeam.schemas import Bullet, BulletKind, Plan, Stance, ValueKind
from longbeam.text import content_words
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex

_DONE = content_words("completion completed finish finished end closing done sign-off submission release delivery")
_TARGET = content_words("target due deadline planned plan goal")
"""Stems of attributes that are the end of a thing, as it was and as it is meant to be."""
_DELIVERY = content_words("delivery")
"""Stems of ends that may be a beginning: a book is delivered, and then somebody plans to be through with it."""

_TELLING = frozenset({BulletKind.EVENT, BulletKind.RELATIONSHIP, BulletKind.UPDATE})
"""Kinds of bullets that may tell how an announced day went."""

_Ends = dict[str, list[tuple[Bullet, dt.date, frozenset[str]]]]
"""Bullets that say the end of a topic, each with its day and the stems of its attribute."""


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield messages and sub-plans that go back in time or lie outside the timeline, and bullets told too early."""
    yield from _message_problems(index)
    yield from _plan_problems(index)
    for plan in index.head.plans:
        yield from _planned_problems(index, plan)
        yield from _untold_problems(index, plan)


def _message_problems(index: ConversationIndex) -> Iterator[Problem]:
    before = None
    for message in index.messages:
        key = message.message_key
        if before is not None and message.sent_at < before.sent_at:
            text = f"sent {message.sent_at}, before the message in front of it ({before.sent_at})"
            yield Problem("goes_back", key, text, (before.message_key, key))
        if _is_outside(index, message.sent_at.date()):
            yield Problem("outside_timeline", key, f"sent {message.sent_at.date()}, outside {_span(index)}", (key,))
        for bullet_id in message.bullet_ids:
            bullet = index.bullets.get(bullet_id)
            if bullet is not None and message.sent_at.date() < bullet.happens_on:
                text = f"{bullet_id} is told on {message.sent_at.date()}, before its day, {bullet.happens_on}"
                yield Problem("told_early", bullet_id, text, (key,))
        before = message


def _plan_problems(index: ConversationIndex) -> Iterator[Problem]:
    previous: dt.date | None = None
    for sub_plan in (s for plan in index.head.plans for s in plan.sub_plans):
        if previous is not None and sub_plan.anchor <= previous:
            text = f"sub-plan {sub_plan.key} begins {sub_plan.anchor}, not after the one before it ({previous})"
            yield Problem("anchors", sub_plan.key, text)
        if _is_outside(index, sub_plan.anchor):
            text = f"sub-plan {sub_plan.key} begins {sub_plan.anchor}, outside {_span(index)}"
            yield Problem("outside_timeline", sub_plan.key, text)
        previous = day = sub_plan.anchor
        for bullet in sub_plan.bullets:
            if bullet.happens_on < day:
                text = f"{bullet.bullet_id} happens on {bullet.happens_on}, before {day}, the day it can at first"
                yield Problem("bullet_order", bullet.bullet_id, text)
            day = max(day, bullet.happens_on)


def _planned_problems(index: ConversationIndex, plan: Plan) -> Iterator[Problem]:
    """Yield bullets that still plan the end of a thing on a day after which another bullet says that it was done."""
    attributes = {f.fact_id: content_words(f.attribute) for f in plan.facts if f.kind is ValueKind.DATE}
    planned: _Ends = {}
    done: _Ends = {}
    for assertion in plan.assertions:
        bullet = index.bullets.get(assertion.bullet_id)
        words = attributes.get(assertion.fact_id, frozenset())
        day = assertion.value.date if assertion.value is not None else None
        if bullet is None or day is None or assertion.stance is Stance.DENIES:
            continue
        if assertion.stance is not Stance.MENTIONS and words & _DONE and day <= bullet.happens_on:
            # `The finishing date, August 10, went by without a result` mentions a day and ends nothing.
            done.setdefault(bullet.topic, []).append((bullet, day, words))
        elif words & (_DONE | _TARGET) and day > bullet.happens_on:
            planned.setdefault(bullet.topic, []).append((bullet, day, words))
    for topic, ends in done.items():
        for (aim, aimed, aim_words), (end, day, end_words) in product(planned.get(topic, ()), ends):
            if day < aim.happens_on and _is_same_end(aim_words, end_words):
                text = (
                    f"{aim.bullet_id} plans the end of {topic!r} on {aim.happens_on} for {aimed}, "
                    f"and {end.bullet_id} says that it was done on {day}"
                )
                keys = tuple(m.message_key for b in (aim, end) for m in index.voicing(b.bullet_id))
                yield Problem("planned_after_done", aim.bullet_id, text, keys)


def _untold_problems(index: ConversationIndex, plan: Plan) -> Iterator[Problem]:
    """Yield bullets that announce a day of the plan, from which on nothing is told of the thing."""
    dates = {f.fact_id: f for f in plan.facts if f.kind is ValueKind.DATE and not f.is_fixed and not f.side_story}
    told = {b.bullet_id: (b, content_words(b.text)) for b in plan.bullets() if b.kind in _TELLING}
    if not told:
        return
    end = max(bullet.happens_on for bullet, _ in told.values())
    newest: dict[str, tuple[Bullet, dt.date]] = {}
    for assertion in plan.assertions:
        day = assertion.value.date if assertion.value is not None else None
        if assertion.fact_id in dates and assertion.bullet_id in told and day and assertion.stance is not Stance.DENIES:
            newest[assertion.fact_id] = told[assertion.bullet_id][0], day
    for fact_id, (bullet, day) in newest.items():
        fact = dates[fact_id]
        words = content_words(fact.subject)
        # What a narrative tells on that very day is its outcome, under whatever topic.
        is_told = any(
            b.topic == fact.subject or words <= own or (b.happens_on == day and b.narrative == bullet.narrative)
            for b, own in told.values()
            if b.happens_on >= day
        )
        if bullet.happens_on < day < end and not is_told:
            text = (
                f"{fact.attribute} of {fact.subject!r} is announced for {day}, and nothing is told of it from then on"
            )
            yield Problem(
                "no_outcome", bullet.bullet_id, text, tuple(m.message_key for m in index.voicing(bullet.bullet_id))
            )


def _is_same_end(planned: frozenset[str], done: frozenset[str]) -> bool:
    """Return whether two attributes may mean one end; a delivery ends only what is planned as a delivery."""
    return bool(done & (_DONE - _DELIVERY) or done & planned & _DELIVERY)


def _is_outside(index: ConversationIndex, day: dt.date) -> bool:
    timeline = index.head.seed.timeline
    return timeline is not None and not timeline.start <= day <= timeline.end


def _span(index: ConversationIndex) -> str:
    timeline = index.head.seed.timeline
    return f"the timeline {timeline.start} to {timeline.end}" if timeline else "no timeline"


CHECK = Check(
    name="timeline",
    doc="Time never goes back and stays inside the timeline; sub-plans begin one after the other.",
    severities={
        "goes_back": ERROR,
        "outside_timeline": ERROR,
        "anchors": ERROR,
        "bullet_order": WARNING,
        "told_early": WARNING,
        "planned_after_done": ERROR,
        "no_outcome": INFO,
    },
    on_conversation=find_problems,
)
