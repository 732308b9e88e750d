"""No check of a plan's lines refuses a line of the recorded plan, and code corrects none of them (README.md)."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

from longbeam.generators import EVOLVED, Known, Ledger, Mender, PlanHistory, faults_of, line_of
from longbeam.generators.bullets import repeated_line
from longbeam.prompts.calls import BulletDraft, FactDraft, NewSlot, Stage
from longbeam.prompts.calls.plans import SheetLine
from longbeam.schemas import Bullet, BulletKind, Value
from longbeam.text import content_words
from tests.recorded import recording

GROUP = 6
"""Lines of a group at first (`[plan] group`)."""
Written = tuple[SheetLine, BulletDraft, Known]


def _written(ledger: Ledger, stage_index: int, told: list[dict[str, Any]]) -> Iterator[Written]:
    """Yield the lines of a recorded reply in the present form, with what is known before each.

    The recorded form names kind and day itself, and gives a value with its number and unit.
    """
    head = recording.sealed().head
    assert head.profile is not None
    bullets = {b.text: b for b in ledger.bullets}
    days = [dt.date.fromisoformat(b["happens_on"]) for b in told]
    stage = Stage(stage_index=stage_index, first_day=min(days), last_day=max(days))
    first = ledger.position[bullets[told[0]["text"]].bullet_id]
    values = {line.fact_id: line.value for line in ledger.lines(before=ledger.bullets[first].bullet_id)}
    wishes: list[Bullet] = [b for b in ledger.bullets[:first] if b.kind is BulletKind.PREFERENCE]
    for number, (own, day) in enumerate(zip(told, days, strict=True), 1):
        bullet = bullets[own["text"]]
        known = Known(
            stage=stage,
            profile=head.profile,
            ledger=ledger,
            history=PlanHistory(),
            values=dict(values),
            preferences=tuple(wishes),
            labels=frozenset(n.label for n in head.narratives),
        )
        yield _line(number, own, bullet, known, day), _draft(number, own, bullet), known
        values |= _values_of(ledger, bullet)
        wishes += [bullet] if bullet.kind is BulletKind.PREFERENCE else []


def _line(number: int, told: dict[str, Any], bullet: Bullet, known: Known, day: dt.date) -> SheetLine:
    changed = [f["fact_id"] for f in told["facts"] if f["stance"] == "updates"]
    former = [b for b in known.preferences if b.condition == bullet.condition]
    return SheetLine(
        line=number,
        kind=bullet.kind,
        day=day,
        narrative=bullet.narrative,
        part="opening" if bullet.kind is BulletKind.INTRODUCTION else "",
        changes=line_of(known.ledger.fact[changed[0]], known.values[changed[0]]) if changed else None,
        evolves=former[-1] if bullet.variety == EVOLVED else None,
    )


def _draft(number: int, told: dict[str, Any], bullet: Bullet) -> BulletDraft:
    facts = [
        FactDraft(
            slot=fact["fact_id"] or NewSlot(kind=fact["value"]["kind"], is_fixed=fact["is_fixed"]).code,
            name=fact["attribute"],
            value=fact["value"]["text"],
        )
        for fact in told["facts"]
    ]
    condition = "" if bullet.variety == EVOLVED else bullet.condition  # the sheet gives it
    return BulletDraft(
        line=number,
        topic=bullet.topic,
        text=bullet.text,
        facts=facts,
        condition=condition,
        requirement=bullet.requirement,
    )


def _values_of(ledger: Ledger, bullet: Bullet) -> dict[str, Value | None]:
    return {a.fact_id: a.value for a in ledger.by_bullet.get(bullet.bullet_id, ())}


def _faults(ledger: Ledger, group: list[Written], before: list[BulletDraft]) -> Iterator[str]:
    drafts: list[BulletDraft] = []
    for line, draft, known in group:
        yield from faults_of(draft, line, known)
        if (other := repeated_line(draft, drafts)) is not None:
            yield f"{draft.text} repeats line {other}"
        mender = Mender(known, [content_words(d.text) for d in before], is_copied=lambda _: False)
        if mender.mended(draft, line, drafts, is_last=False) is not draft:
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
            assert list(_faults(ledger, group, drafts)) == []
            drafts += [draft for _, draft, _ in group]
    assert len(drafts) == 84
