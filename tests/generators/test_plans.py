"""Plans: stages of dates, counts of bullets, drafts checked and made into records with a ledger."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators.layout import layout_for
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.plans import (
    Drafted,
    Frame,
    PlanContext,
    bullet_counts,
    plan_of,
    stages_of,
    write_outline,
    write_sub_plan,
)
from longbeam.prompts.calls.plans import BulletDraft, FactDraft, SubPlanReply
from longbeam.schemas.plans import BulletKind, Stance, Value
from longbeam.schemas.seeds import Category, Timeline
from longbeam.text.values import date_value, money
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for

LAYOUT = layout_for(128_000, Category.GENERAL)
STAGES = stages_of(Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 10)), 2)


def _frame() -> Frame:
    head = good_conversation().head
    return Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)


def _drafts(stage: int) -> list[BulletDraft]:
    counts = bullet_counts(LAYOUT, stage)
    kinds = [BulletKind(kind) for kind, count in counts.items() for _ in range(count)]
    return [
        BulletDraft(
            kind=kind,
            narrative=_frame().narratives[0].label,
            topic=f"thing {i}",
            text=f"I set aside ${100 + i} for thing {i}.",
            happens_on=STAGES[stage].first_day,
            facts=[_fact(i, money(100 + i))] if kind is BulletKind.EVENT else [],
            condition="when I ask" if kind is BulletKind.PREFERENCE else "",
            requirement="is brief" if kind is BulletKind.PREFERENCE else "",
        )
        for i, kind in enumerate(kinds)
    ]


def _fact(ordinal: int, value: Value) -> FactDraft:
    return FactDraft(subject=f"thing {ordinal}", attribute="budget", value=value)


async def _write(
    drafts: list[BulletDraft], *, stage: int = 0, earlier: tuple[Drafted, ...] = ()
) -> tuple[Drafted, str]:
    """Write one sub-plan; the second reply is good. Returns it and the feedback on the first reply."""
    good = SubPlanReply(bullets=_drafts(stage)).model_dump_json()
    model = ScriptedModel({"sub_plan": [SubPlanReply(bullets=drafts).model_dump_json(), good]})
    drafted = await write_sub_plan(asker_for(model), PlanContext(0, _frame(), LAYOUT, STAGES, PlanHistory()), earlier)
    return drafted, model.calls[-1].inputs.feedback


def test_stages_share_the_timeline_to_the_day() -> None:
    # ten days in two stages of five: 1-5 and 6-10 January
    assert [(s.first_day.day, s.last_day.day) for s in STAGES] == [(1, 5), (6, 10)]
    with pytest.raises(ValueError, match="2 days cannot hold 3 stages"):
        stages_of(Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 2)), 3)


def test_counts_add_up_and_only_the_first_stage_introduces() -> None:
    assert sum(bullet_counts(LAYOUT, 0).values()) == sum(bullet_counts(LAYOUT, 1).values()) == 20
    assert [bullet_counts(LAYOUT, i)["introduction"] for i in (0, 1)] == [1, 0]


async def test_outline_needs_one_draft_per_stage() -> None:
    one, two = '{"title": "A", "summary": "a"}', '{"title": "B", "summary": "b"}'
    model = ScriptedModel({"outline": [f'{{"stages": [{one}]}}', f'{{"stages": [{one}, {two}]}}']})
    stages = await write_outline(asker_for(model), _frame(), STAGES)
    assert [(s.title, s.first_day) for s in stages] == [("A", dt.date(2024, 1, 1)), ("B", dt.date(2024, 1, 6))]
    assert model.calls[1].inputs.feedback == "1 stages; exactly 2 are asked for"


async def test_drafts_become_bullets_facts_and_assertions() -> None:
    drafted, feedback = await _write(_drafts(0))
    assert feedback == ""
    assert [b.bullet_id for b in drafted.sub_plan.bullets[:2]] == ["p0.s0.b0", "p0.s0.b1"]
    events = bullet_counts(LAYOUT, 0)["event"]
    assert [f.fact_id for f in drafted.facts] == [f"p0.f{i}" for i in range(events)]
    assert {a.stance for a in drafted.assertions} == {Stance.SETS}


async def test_fact_named_again_in_a_later_stage_is_an_update() -> None:
    first, _ = await _write(_drafts(0))
    # the events of stage 0 are things 1.. (behind the introduction), those of stage 1 things 0..
    second, _ = await _write(_drafts(1), stage=1, earlier=(first,))
    plan = plan_of([first, second])
    repeated = [a for a in plan.assertions if a.stance is Stance.UPDATES]
    assert repeated
    assert {a.bullet_id.partition(".b")[0] for a in repeated} == {"p0.s1"}
    assert len({f.fact_id for f in plan.facts}) == len(plan.facts)
    assert len({(f.subject, f.attribute) for f in plan.facts}) == len(plan.facts)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": BulletKind.UPDATE}, "bullets of kind"),
        ({"narrative": "Nothing"}, "narrative 'Nothing', which is none of those given"),
        ({"happens_on": dt.date(2024, 2, 1)}, "happens on 2024-02-01; between 2024-01-01 and 2024-01-05 was possible"),
        ({"text": "I set something aside."}, "asserts '$101' and its text does not say it"),
    ],
)
async def test_drafts_that_do_not_fit_are_asked_again(changes: dict[str, object], reason: str) -> None:
    drafts = _drafts(0)
    drafts[1] = drafts[1].model_copy(update=changes)
    _, feedback = await _write(drafts)
    assert reason in feedback


async def test_preference_without_requirement_is_asked_again() -> None:
    drafts = [d.model_copy(update={"requirement": ""}) for d in _drafts(0)]
    _, feedback = await _write(drafts)
    assert "is a preference without condition or requirement" in feedback


async def test_a_date_that_the_text_does_not_say_is_asked_again() -> None:
    drafts = _drafts(0)
    (fact,) = drafts[1].facts
    due = fact.model_copy(update={"value": date_value(dt.date(2024, 1, 9))})
    drafts[1] = drafts[1].model_copy(update={"facts": [due]})
    _, feedback = await _write(drafts)
    assert "asserts 'January 9, 2024' and its text does not say it" in feedback
