"""No check of a plan's words refuses a line of the recorded plan, and code corrects none of them (README.md)."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

from longbeam.generators import Known, Ledger, Mender, PlanHistory, faults_of, repeated
from longbeam.prompts.calls import BulletDraft, FactDraft, NewSlot, Stage, StoryEvent
from longbeam.schemas import Bullet, BulletKind, Value
from longbeam.text import content_words
from tests.recorded import recording

GROUP = 6
"""Events of a group at first (`[plan] group`)."""
Written = tuple[StoryEvent, BulletDraft, Known]


def _written(ledger: Ledger, stage_index: int, told: list[dict[str, Any]]) -> Iterator[Written]:
    """Yield the lines of a recorded reply in the present form, with what is known before each.

    The recorded form names kind and day itself, and gives a value with its number and unit. Wishes are worded with the
    special bullets by now.
    """
    head = recording.sealed().head
    assert head.profile is not None
    bullets = {b.text: b for b in ledger.bullets}
    days = [dt.date.fromisoformat(b["happens_on"]) for b in told]
    stage = Stage(stage_index=stage_index, first_day=min(days), last_day=max(days))
    first = ledger.position[bullets[told[0]["text"]].bullet_id]
    values = {line.fact_id: line.value for line in ledger.lines(before=ledger.bullets[first].bullet_id)}
    for number, (own, day) in enumerate(zip(told, days, strict=True), 1):
        bullet = bullets[own["text"]]
        if bullet.kind is BulletKind.PREFERENCE:
            continue
        known = Known(stage=stage, profile=head.profile, ledger=ledger, history=PlanHistory(), values=dict(values))
        event = StoryEvent(
            event_id=f"e{number}",
            narrative=bullet.narrative,
            thing=bullet.topic,
            what="It happens.",
            kind=bullet.kind,
            part="opening" if bullet.kind is BulletKind.INTRODUCTION else "",
            day=day,
        )
        yield event, _draft(event.event_id, own, bullet), known
        values |= _values_of(ledger, bullet)


def _draft(event_id: str, told: dict[str, Any], bullet: Bullet) -> BulletDraft:
    facts = [
        FactDraft(
            slot=fact["fact_id"] or NewSlot(kind=fact["value"]["kind"], is_fixed=fact["is_fixed"]).code,
            name=fact["attribute"],
            value=fact["value"]["text"],
        )
        for fact in told["facts"]
    ]
    return BulletDraft(event=event_id, text=bullet.text, facts=facts)


def _values_of(ledger: Ledger, bullet: Bullet) -> dict[str, Value | None]:
    return {a.fact_id: a.value for a in ledger.by_bullet.get(bullet.bullet_id, ())}


def _faults(group: list[Written], before: list[BulletDraft]) -> Iterator[str]:
    drafts: list[BulletDraft] = []
    for event, draft, known in group:
        yield from faults_of(draft, event, known)
        if other := repeated(draft, drafts):
            yield f"{draft.text} repeats {other}"
        mender = Mender(known, [content_words(d.text) for d in before], is_copied=lambda _: False)
        if mender.mended(draft, event, drafts, is_last=False) is not draft:
            yield f"{draft.text} is corrected"
        drafts.append(draft)


def test_every_line_of_the_plan_is_accepted_as_it_is() -> None:
    """Found 11: checks refused right replies."""
    ledger = Ledger.of(recording.sealed().head.plans[0])
    drafts: list[BulletDraft] = []
    for stage_index, reply in enumerate(recording.replies("sub_plan")):
        told = json.loads(reply.text[reply.text.index("{") : reply.text.rindex("}") + 1])["bullets"]
        written = list(_written(ledger, stage_index, told))
        for start in range(0, len(written), GROUP):
            group = written[start : start + GROUP]
            assert list(_faults(group, drafts)) == []
            drafts += [draft for _, draft, _ in group]
    assert len(drafts) == 74  # 84 lines, ten of them preferences
