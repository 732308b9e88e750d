"""Dates of messages, sub-plans and bullets: temporal probes are only as right as these."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield messages and sub-plans that go back in time or lie outside the timeline, and bullets told too early."""
    yield from _message_problems(index)
    yield from _plan_problems(index)


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
    },
    on_conversation=find_problems,
)
