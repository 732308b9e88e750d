"""What a rule-based assistant brings in: code draws the values, rules word them."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from dataclasses import replace

import pytest

from longbeam.generators import (
    Advised,
    Frame,
    StageToAdvise,
    advised_plan,
    write_advice,
)
from longbeam.models import ModelCall
from longbeam.prompts.calls import (
    AdviceDraft,
    AdviceInputs,
    AdviceReply,
    ChoiceDraft,
    Stage,
)
from longbeam.schemas import (
    TAKEN,
    AdviceKind,
    Assertion,
    BulletKind,
    Fact,
    Plan,
    Stance,
    ValueKind,
)
from longbeam.text import date_value, money, number
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for
from tests.generators.test_choices import ANCHORS, _plan, _with_text


def _task(stage_index: int = 0, before: tuple[Advised, ...] = (), plan: Plan | None = None) -> StageToAdvise:
    head = good_conversation().head
    frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    first = ANCHORS[stage_index]
    stage = Stage(stage_index=stage_index, first_day=first, last_day=first + dt.timedelta(days=30))
    return StageToAdvise(frame, plan or _plan(), stage, before, "seed")


def _worded(inputs: AdviceInputs) -> AdviceReply:
    items = {line.line_id: [f"{line.topic} way {n}" for n in range(line.count)] for line in inputs.advice}
    values = {line.line_id: [line.value.text] if line.value else [] for line in inputs.advice}
    return AdviceReply(
        advice=[
            AdviceDraft(
                line_id=line.line_id,
                text=f"The {line.attribute}: {' for '.join(values[line.line_id] + ['; '.join(items[line.line_id])])}",
                items=items[line.line_id],
            )
            for line in inputs.advice
        ],
        choices=[
            ChoiceDraft(line_id=c.line_id, text=f"I took the {('first', 'second', 'third')[c.ordinal - 1]} one.")
            for c in inputs.choices
        ],
    )


def _answer(call: ModelCall) -> str:
    assert isinstance(call.inputs, AdviceInputs)
    return _worded(call.inputs).model_dump_json()


def _inputs(call: ModelCall) -> AdviceInputs:
    assert isinstance(call.inputs, AdviceInputs)
    return call.inputs


def _written(*tasks: StageToAdvise) -> list[Advised]:
    model = ScriptedModel({"advise": _answer})
    return [asyncio.run(write_advice(asker_for(model), task)) for task in tasks]


def test_every_value_is_new_and_follows_an_event_of_the_stage() -> None:
    task = _task()
    (made,) = _written(task)
    told = [a.value for a in task.plan.assertions if a.value is not None]
    hosts = {b.bullet_id for b in task.plan.sub_plans[0].bullets}

    assert {AdviceKind.OPTIONS, AdviceKind.STEPS} <= {a.kind for a in made.advice}
    assert not any(a.value.means_same_as(v) for a in made.advice if a.value for v in told)
    assert {a.bullet_id for a in made.advice} <= hosts
    assert len({(a.topic, a.attribute) for a in made.advice}) == len(made.advice)


def _spoken_of(plan: Plan, advised: Advised, bullet_id: str, kind: BulletKind = BulletKind.EVENT) -> Plan:
    """Return a plan in which a bullet names all things that the assistant has spoken of."""
    topics = ", ".join(sorted({a.topic for a in advised.advice}))
    return _with_text(plan, bullet_id, f"Lou asked about {topics}.", "the fair", kind)


def test_a_later_stage_corrects_a_value_and_chooses_an_option_without_its_name() -> None:
    first, *_ = _written(_task())
    told = _spoken_of(_plan(), first, "p0.s1.b7")
    (second,) = _written(_task(1, (first,), told))
    plan = advised_plan(told, (first, second))
    corrections = [a for a in plan.advice if a.kind is AdviceKind.CORRECTION]
    taken = [a for a in plan.advice if a.taken]

    assert {a.corrects for a in corrections} <= {a.advice_id for a in first.advice}
    assert corrections
    assert taken
    for options in taken:
        bullet = next(b for b in plan.bullets() if b.bullet_id == options.taken_in)
        assert bullet.variety == TAKEN
        assert not any(item in bullet.text for item in options.items)


def test_the_draw_is_the_same_in_every_run() -> None:
    assert _written(_task()) == _written(_task())


def _drawn(plan: Plan, stage_index: int = 0, before: tuple[Advised, ...] = ()) -> list[Advised]:
    """Return what the assistant brings in, by twelve draws."""
    task = _task(stage_index, before, plan)
    return _written(*(replace(task, rng_key=str(key)) for key in range(12)))


def test_figures_are_worked_out_only_from_amounts_that_are_still_open() -> None:
    plan = _plan()
    counted = {"p0.f2", "p0.f4"}
    facts = tuple(f.model_copy(update={"kind": ValueKind.NUMBER}) if f.fact_id in counted else f for f in plan.facts)
    assertions = tuple(
        a.model_copy(update={"value": number(19, "bedtimes")}) if a.fact_id in counted else a for a in plan.assertions
    )
    told = plan.model_copy(update={"facts": facts, "assertions": assertions})
    figures = {a.bullet_id for made in _drawn(told) for a in made.advice if a.kind is AdviceKind.FIGURE}

    # Odd bullets tell what was paid, and those of 2 and 4 now a number of bedtimes.
    assert figures == {"p0.s0.b0", "p0.s0.b6", "p0.s0.b8"}


def test_a_figure_has_no_number_of_the_remark_that_it_answers() -> None:
    def figures(plan: Plan) -> set[str]:
        return {a.value.text for made in _drawn(plan) for a in made.advice if a.value and a.bullet_id == "p0.s0.b8"}

    plain = figures(_plan())
    told = _with_text(_plan(), "p0.s0.b8", f"I paid $108 for {', '.join(p[1:] for p in plain)}.", "thing 8")
    assert len(plain) > 1
    assert figures(told)
    assert not figures(told) & plain


def test_money_for_a_use_stands_beside_an_open_amount_and_is_never_corrected() -> None:
    plan = _plan()
    uses = [a for first in _drawn(plan) for a in first.advice if a.kind is AdviceKind.USE]

    # Odd bullets tell what was paid.
    assert uses
    assert {a.bullet_id for a in uses} <= {f"p0.s0.b{j}" for j in range(0, 10, 2)}
    assert all(a.value and a.value.kind is ValueKind.MONEY and len(a.items) == 1 for a in uses)
    for first in _drawn(plan):
        given = {a.advice_id: a for a in first.advice}
        corrected = (given[a.corrects] for m in _drawn(plan, 1, (first,)) for a in m.advice if a.corrects)
        assert not any(a.kind is AdviceKind.USE for a in corrected)


def test_no_trifle_and_no_quarter_is_set_aside() -> None:
    plan = _plan()

    def uses_beside(amount: float) -> set[float]:
        told = tuple(a.model_copy(update={"value": money(amount)}) for a in plan.assertions)
        drawn = _drawn(plan.model_copy(update={"assertions": told}))
        return {a.value.number or 0 for made in drawn for a in made.advice if a.kind is AdviceKind.USE and a.value}

    # Tables of replies give a quarter of what is planned for a month.
    assert {90, 130} <= uses_beside(440) <= {45, 65, 90, 130}
    # Three tenths of 36 are 11; of 30, no share is more than 9.
    assert (uses_beside(36), uses_beside(30)) == ({11}, set())


@pytest.mark.parametrize("attribute", ["advertised salary", "estimated damage", "earlier loss", "transfer amount"])
def test_nothing_is_set_aside_beside_money_that_nobody_spends(attribute: str) -> None:
    plan = _plan()
    earned = tuple(f.model_copy(update={"attribute": attribute}) for f in plan.facts)
    drawn = _drawn(plan.model_copy(update={"facts": earned}))
    assert not any(a.kind is AdviceKind.USE for made in drawn for a in made.advice)


def _is_use(draft: AdviceDraft) -> bool:
    return len(draft.items) == 1


def _with_uses(change: Callable[[AdviceDraft, str], AdviceDraft], task: StageToAdvise) -> tuple[ScriptedModel, Advised]:
    """Write a stage's advice with other drafts of the uses: `change` has the draft, and the amount's text."""

    def changed(call: ModelCall) -> str:
        assert isinstance(call.inputs, AdviceInputs)
        amounts = {line.line_id: line.value.text for line in call.inputs.advice if line.value}
        worded = _worded(call.inputs).advice
        drafts = [change(d, amounts[d.line_id]) if _is_use(d) else d for d in worded]
        return AdviceReply(advice=drafts).model_dump_json()

    model = ScriptedModel({"advise": changed})
    return model, asyncio.run(write_advice(asker_for(model), task))


def test_a_day_comes_before_the_one_that_the_user_has_planned_and_before_the_end() -> None:
    plan, planned = _plan(), ANCHORS[1] + dt.timedelta(days=7)
    fact = Fact(fact_id="p0.f99", subject="thing 10", attribute="day", kind=ValueKind.DATE)
    told = Assertion(bullet_id="p0.s1.b0", fact_id="p0.f99", stance=Stance.SETS, value=date_value(planned))
    plan = plan.model_copy(update={"facts": (*plan.facts, fact), "assertions": (*plan.assertions, told)})
    days = [
        (a.bullet_id, a.value.date)
        for made in _drawn(plan, 1)
        for a in made.advice
        if a.kind is AdviceKind.DAY and a.value and a.value.date
    ]
    assert "p0.s1.b0" in {host for host, _ in days}
    assert all(day < (planned if host == "p0.s1.b0" else plan.bullets()[-1].happens_on) for host, day in days)


@pytest.mark.parametrize("text", ["I paid for it.", "The thing {n} came up again."])
def test_a_correction_hangs_on_a_message_that_speaks_of_the_thing(text: str) -> None:
    plan = _plan()
    for first in _drawn(plan):
        open_ = [a for a in first.advice if a.value is not None and not a.items]
        told = open_[-1]
        named = text.format(n=told.topic.rpartition(" ")[2])
        topic = "another thing" if told.topic in named else told.topic
        later = _with_text(plan, "p0.s1.b7", named, topic)
        (second,) = _written(_task(1, (first,), later))
        (own,) = [a for a in second.advice if a.corrects == told.advice_id]
        assert own.bullet_id == "p0.s1.b7"


@pytest.mark.parametrize("is_fresh", [True, False])
def test_a_correction_hangs_on_a_message_of_the_narrative_only_while_the_thing_is_fresh(is_fresh: bool) -> None:
    plan = _plan()
    first = _drawn(plan)[0]
    if is_fresh:
        plan = _spoken_of(plan, first, "p0.s1.b6", kind=BulletKind.RELATIONSHIP)
    hosts = {a.bullet_id for made in _drawn(plan, 1, (first,)) for a in made.advice if a.corrects}
    assert hosts == ({"p0.s1.b7", "p0.s1.b8", "p0.s1.b9"} if is_fresh else set())


def test_nothing_is_corrected_or_chosen_for_a_thing_that_was_given_up() -> None:
    plan = _plan()
    first = _drawn(plan)[0]
    assert any(made.choices for made in _drawn(plan, 1, (first,)))
    topics = ", ".join(sorted({a.topic for a in first.advice}))
    over = _with_text(plan, "p0.s1.b0", f"We have called off {topics}.", "the fair")
    for made in _drawn(over, 1, (first,)):
        assert not made.choices
        assert not [a for a in made.advice if a.kind is AdviceKind.CORRECTION]


def test_a_choice_is_told_soon_after_a_word_on_its_thing_where_there_is_one() -> None:
    plan = _plan()
    first = _drawn(plan)[0]
    plan = _spoken_of(plan, first, "p0.s1.b8", kind=BulletKind.RELATIONSHIP)
    after = {place for made in _drawn(plan, 1, (first,)) for place in made.after}
    assert after == {"p0.s1.b9"}


def test_nothing_is_chosen_once_it_is_bought() -> None:
    plan = _plan()
    first = _drawn(plan)[0]
    topics = ", ".join(sorted({a.topic for a in first.advice}))
    bought = _with_text(plan, "p0.s1.b0", f"We have bought {topics}.", "the fair")
    assert not any(made.choices for made in _drawn(bought, 1, (first,)))


@pytest.mark.parametrize("attribute", ["fine", "shortfall of the month"])
def test_nothing_is_set_aside_beside_money_that_is_missing(attribute: str) -> None:
    plan = _plan()
    facts = tuple(f.model_copy(update={"attribute": attribute}) for f in plan.facts)
    uses = [a for made in _drawn(plan) for a in made.advice if a.kind is AdviceKind.USE]
    lost = _drawn(plan.model_copy(update={"facts": facts}))
    assert uses
    assert not [a for made in lost for a in made.advice if a.kind is AdviceKind.USE]


def test_a_line_with_an_item_that_somebody_tells_is_left_out() -> None:
    plan = _with_text(_plan(), "p0.s1.b2", "I compared thing 0 way 0 with the others.", "thing 0")
    task = _task(plan=plan)
    model = ScriptedModel({"advise": _answer})
    made = asyncio.run(write_advice(asker_for(model), task))
    (call,) = model.calls
    listed = {line.line_id for line in _inputs(call).advice if line.count > 1}
    assert not any("thing 0 way 0" in advice.items for advice in made.advice)
    assert len(made.advice) >= len(_inputs(call).advice) - len(listed)
