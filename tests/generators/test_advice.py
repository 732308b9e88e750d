"""What the assistant brings in: values are drawn by code, and words that give too much or too little are refused."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from longbeam.generators import (
    Advised,
    Frame,
    StageToAdvise,
    advice_faults,
    advised_plan,
    items_of,
    known_advice,
    mended_advice,
    said_advice,
    write_advice,
)
from longbeam.models import ModelCall
from longbeam.prompts.calls import (
    NAMED_ADVICE,
    AdviceDraft,
    AdviceInputs,
    AdviceLine,
    AdviceReply,
    ChoiceDraft,
    LedgerLine,
    Stage,
)
from longbeam.schemas import (
    ENGLISH,
    TAKEN,
    Advice,
    AdviceKind,
    Assertion,
    BulletKind,
    Fact,
    IncidentKind,
    Plan,
    Stance,
    ValueKind,
)
from longbeam.text import date_value, money, number, says
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for, faults_of
from tests.generators.test_choices import ANCHORS, _plan, _with_text

NAMES = ["day to test the lamps", "curtain reserve", "most guests a night"]
"""Names that the prompt gives as examples."""


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


def test_what_an_earlier_amount_is_for_is_refused() -> None:
    made = {m.stage_index: m for m in _drawn(_plan()) if any(a.kind is AdviceKind.USE for a in m.advice)}[0]
    (used,) = (a.items[0] for a in made.advice if a.kind is AdviceKind.USE)

    def again(call: ModelCall) -> str:
        assert isinstance(call.inputs, AdviceInputs)
        assert call.inputs.uses_before == (used,)
        drafts = [
            AdviceDraft(line_id=d.line_id, text=d.text.replace(d.items[0], used), items=[used]) if _is_use(d) else d
            for d in _worded(call.inputs).advice
        ]
        return AdviceReply(advice=drafts).model_dump_json()

    model = ScriptedModel({"advise": again})
    second = asyncio.run(write_advice(asker_for(model), _task(0, (made,))))
    assert not any(a.kind is AdviceKind.USE for a in second.advice)
    assert "told before" in faults_of(model.calls[1])


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


@pytest.mark.parametrize(
    ("text", "item", "fault"),
    [
        ("Keep {amount} ready. It is for spare slates.", "spare slates", "in one sentence"),
        ("I would not keep {amount} ready for spare slates.", "spare slates", "in one sentence"),
        ("Keep {amount} ready: $1 for nails and $2 for spare slates.", "spare slates", "in one sentence"),
        ("Keep {amount} ready, as spare slates are dear.", "spare slates", "right behind 'for'"),
        ("Keep {amount} ready for spare slates.", "for spare slates", "right behind 'for'"),
        ("Keep {amount} ready for slates of $3.", "slates of $3", "names an amount"),
        ("Keep {amount} ready for the {topic}.", "the {topic}", "nobody would guess"),
    ],
)
def test_a_use_that_the_text_does_not_give_to_its_amount_is_refused(text: str, item: str, fault: str) -> None:
    def other(draft: AdviceDraft, amount: str) -> AdviceDraft:
        words = {"amount": amount, "topic": draft.items[0].partition(" way")[0]}
        return draft.model_copy(update={"text": text.format(**words), "items": [item.format(**words)]})

    model, made = _with_uses(other, _task())
    assert fault in faults_of(model.calls[1])
    assert not any(a.kind is AdviceKind.USE for a in made.advice)


def test_a_use_is_not_refused_for_letters_within_another_word() -> None:
    def ink(draft: AdviceDraft, amount: str) -> AdviceDraft:
        return draft.model_copy(update={"text": f"Keep {amount} ready for ink.", "items": ["ink."]})

    plan = _with_text(_plan(), "p0.s1.b3", "I am thinking of thing 13.", "thing 13")
    model, made = _with_uses(ink, _task(plan=plan))
    assert len(model.calls) == 1
    assert [a.items for a in made.advice if a.kind is AdviceKind.USE] == [("ink",)]


def test_two_amounts_of_a_stage_are_for_different_things() -> None:
    def slates(draft: AdviceDraft, amount: str) -> AdviceDraft:
        return draft.model_copy(update={"text": f"Keep {amount} ready for spare slates.", "items": ["spare slates"]})

    whole = _plan(24)
    first, *_ = whole.sub_plans
    empty = [first.model_copy(update={"sub_plan_index": i, "bullets": ()}) for i in range(2)]
    plan = whole.model_copy(update={"sub_plans": (*empty, first.model_copy(update={"sub_plan_index": 2}))})
    task = _task(plan=plan)
    stage = task.stage.model_copy(update={"stage_index": 2})
    model, made = _with_uses(slates, replace(task, stage=stage))

    lines = [line for c in model.calls[:1] if isinstance(c.inputs, AdviceInputs) for line in c.inputs.advice]
    assert sum(line.kind is AdviceKind.USE for line in lines) == 2
    assert "another line has" in faults_of(model.calls[1])
    assert sum(a.kind is AdviceKind.USE for a in made.advice) == 1


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


def test_what_is_too_long_is_refused_and_then_left_out() -> None:
    def endless(call: ModelCall) -> str:
        assert isinstance(call.inputs, AdviceInputs)
        drafts = [d if d.items else d.model_copy(update={"text": "Well. " * 120}) for d in _worded(call.inputs).advice]
        return AdviceReply(advice=drafts).model_dump_json()

    model = ScriptedModel({"advise": endless})
    made = asyncio.run(write_advice(asker_for(model), _task()))

    assert {a.kind for a in made.advice} == {AdviceKind.OPTIONS, AdviceKind.STEPS, AdviceKind.USE}
    assert "has 120 words" in faults_of(model.calls[1])


def test_names_as_long_as_the_prompts_examples_are_taken() -> None:
    def named(call: ModelCall) -> str:
        assert isinstance(call.inputs, AdviceInputs)
        drafts = [
            d.model_copy(update={"name": name, "text": f"{d.text} It is the {name}."}) if not d.items else d
            for d, name in zip(_worded(call.inputs).advice, NAMES * 2, strict=False)
        ]
        return AdviceReply(advice=drafts).model_dump_json()

    model = ScriptedModel({"advise": named})
    asyncio.run(write_advice(asker_for(model), _task()))
    (call,) = model.calls
    assert all(f'"{name}"' in " ".join(call.messages()[0].content.split()) for name in NAMES)


def test_only_the_lines_that_cannot_be_used_are_asked_for_again() -> None:
    def once_without_values(call: ModelCall) -> str:
        assert isinstance(call.inputs, AdviceInputs)
        worded = _worded(call.inputs)
        whole = len(call.inputs.advice) == 4
        drafts = [d if d.items or not whole else d.model_copy(update={"text": "Well."}) for d in worded.advice]
        return AdviceReply(advice=drafts).model_dump_json()

    model = ScriptedModel({"advise": once_without_values})
    made = asyncio.run(write_advice(asker_for(model), _task()))

    assert len(made.advice) == 4
    assert [len(c.inputs.advice) for c in model.calls if isinstance(c.inputs, AdviceInputs)] == [4, 1]


def test_a_stage_of_which_no_line_can_be_used_has_no_advice_and_says_so() -> None:
    asker = asker_for(ScriptedModel({"advise": [AdviceReply(advice=[]).model_dump_json()]}))

    assert asyncio.run(write_advice(asker, _task())) == Advised(stage_index=0)
    short = [i for i in asker.incidents if i.kind is IncidentKind.SHORT]
    assert [i.detail.partition(";")[0] for i in short] == ["taken with 0 items"]


def _named(call: ModelCall, **changes: object) -> str:
    """Answer with these changes of each draft of a figure or a day."""
    assert isinstance(call.inputs, AdviceInputs)
    kinds = {line.line_id: line.kind for line in call.inputs.advice}
    values = {line.line_id: line.value.text for line in call.inputs.advice if line.value}
    drafts = [
        d
        if kinds[d.line_id] not in NAMED_ADVICE
        else d.model_copy(update={"text": f"Keep {values[d.line_id]} as the oil reserve.", **changes})
        for d in _worded(call.inputs).advice
    ]
    return AdviceReply(advice=drafts).model_dump_json()


def test_the_writer_names_a_figure_as_the_thing_asks_for() -> None:
    model = ScriptedModel({"advise": lambda call: _named(call, name="oil reserve")})
    made = asyncio.run(write_advice(asker_for(model), _task()))

    assert len(model.calls) == 1
    assert {a.attribute for a in made.advice if a.kind in NAMED_ADVICE} == {"oil reserve"}


@pytest.mark.parametrize("name", ["margin", "a name that is far too long", "reserve of 3"])
def test_a_name_that_the_text_does_not_say_is_refused(name: str) -> None:
    model = ScriptedModel({"advise": lambda call: _named(call, name=name)})
    made = asyncio.run(write_advice(asker_for(model), _task()))

    assert "name" in faults_of(model.calls[1])
    assert not any(a.kind in NAMED_ADVICE for a in made.advice)


def test_a_name_that_the_user_gave_a_value_of_is_refused() -> None:
    plan = _plan()
    hosts = {b.bullet_id: b.topic for b in plan.sub_plans[0].bullets}
    facts = tuple(f.model_copy(update={"attribute": "oil reserve"}) for f in plan.facts)
    told = plan.model_copy(update={"facts": facts})
    model = ScriptedModel({"advise": lambda call: _named(call, name="oil reserve")})
    made = asyncio.run(write_advice(asker_for(model), _task(plan=told)))

    assert {f.subject for f in facts} & set(hosts.values())
    assert "told before" in faults_of(model.calls[1])
    assert not any(a.attribute == "oil reserve" and a.topic in {f.subject for f in facts} for a in made.advice)


def test_steps_stand_in_the_place_of_a_figure_that_makes_no_sense() -> None:
    steps = ["heat it", "salt it", "turn it", "rest it"]
    model = ScriptedModel({"advise": lambda call: _named(call, text="; ".join(steps), items=steps)})
    made = asyncio.run(write_advice(asker_for(model), _task()))

    assert len(model.calls) == 1
    assert {a.kind for a in made.advice} == {AdviceKind.OPTIONS, AdviceKind.STEPS, AdviceKind.USE}
    assert all(a.value is None and a.attribute == "steps" for a in made.advice if a.items == tuple(steps))


def test_a_reply_has_to_give_the_value_under_its_name() -> None:
    margin = Advice(
        advice_id="p0.s0.a0", kind=AdviceKind.FIGURE, bullet_id="p0.s0.b1", narrative="Money", topic="the roof",
        attribute="safety margin", text="Take $60 as the safety margin.", value=money(60),
    )  # fmt: skip
    assert not [*advice_faults([margin], "I would set a safety margin. It should be $60, no less.")]
    assert "safety margin" in next(advice_faults([margin], "Keep $60 in a drawer."))
    assert "$60" in next(advice_faults([margin], "Keep a safety margin."))


def test_a_reply_has_to_say_what_an_amount_is_for() -> None:
    use = Advice(
        advice_id="p0.s0.a0", kind=AdviceKind.USE, bullet_id="p0.s0.b1", narrative="Money", topic="the roof",
        attribute="use of the money", text="Keep $60 for spare slates.", value=money(60), items=("spare slates",),
    )  # fmt: skip
    assert not [*advice_faults([use], "Put $60 aside. Keep it for spare slates.")]
    assert "in one sentence" in next(advice_faults([use], "I would not keep $60 for spare slates."))
    assert not said_advice([use], "Keep $60 for nails. It may rain. Spare slates are dear.")
    assert "spare slates" in next(advice_faults([use], "Put $60 aside."))
    assert "$60" in next(advice_faults([use], "Keep something for spare slates."))


def test_what_was_corrected_is_not_known_any_more() -> None:
    first, *_ = _written(_task())
    told = _spoken_of(_plan(), first, "p0.s1.b7")
    (second,) = _written(_task(1, (first,), told))
    plan = advised_plan(told, (first, second))
    known = known_advice(plan.advice, {"p0.s0", "p0.s1"})
    replaced = [a for a in plan.advice if any(b.corrects == a.advice_id for b in plan.advice)]

    assert replaced
    assert not any(a.value is not None and says(text, a.value) for a in replaced for text in known)


def test_the_writer_sees_what_is_told_of_a_thing_on_other_days() -> None:
    plan = _with_text(_plan(), "p0.s1.b2", "The plumber came for thing 0 and is through with it.", "thing 0")
    model = ScriptedModel({"advise": _answer})
    for key in range(12):
        asyncio.run(write_advice(asker_for(model), replace(_task(plan=plan), rng_key=str(key))))
    asked = [(line, call) for call in model.calls for line in _inputs(call).advice]
    about = [(line, call) for line, call in asked if line.topic == "thing 0"]
    assert about
    assert {tuple(b.bullet_id for b in line.also_told) for line, _ in about} == {("p0.s1.b2",)}
    shown = "the user will tell of it on 2024-05-08 (Wednesday): The plumber came for thing 0 and is through with it."
    assert all(shown in call.messages()[-1].content for _, call in about)
    assert not any(line.also_told for line, _ in asked if line.topic != "thing 0")


@pytest.mark.parametrize("attribute", ["fine", "shortfall of the month"])
def test_nothing_is_set_aside_beside_money_that_is_missing(attribute: str) -> None:
    plan = _plan()
    facts = tuple(f.model_copy(update={"attribute": attribute}) for f in plan.facts)
    uses = [a for made in _drawn(plan) for a in made.advice if a.kind is AdviceKind.USE]
    lost = _drawn(plan.model_copy(update={"facts": facts}))
    assert uses
    assert not [a for made in lost for a in made.advice if a.kind is AdviceKind.USE]


def test_a_list_that_its_text_leaves_out_stands_behind_it_and_an_unsaid_value_in_the_end() -> None:
    spoilt: dict[str, str] = {}

    def answer(call: ModelCall) -> str:
        reply = _worded(_inputs(call))
        for line in _inputs(call).advice:
            if line.kind in {AdviceKind.OPTIONS, AdviceKind.FIGURE}:
                spoilt[line.line_id] = f"I would think of {line.topic} soon."
        drafts = [d.model_copy(update={"text": spoilt.get(d.line_id, d.text)}) for d in reply.advice]
        return reply.model_copy(update={"advice": drafts}).model_dump_json()

    task = _task()
    model = ScriptedModel({"advise": answer})
    asker = asker_for(model)
    made = asyncio.run(write_advice(asker, task))
    figures = {line.line_id for line in _inputs(model.calls[0]).advice if line.kind is AdviceKind.FIGURE}
    assert len(model.calls) == 2
    assert "must say" in faults_of(model.calls[1])
    assert {line.line_id for line in _inputs(model.calls[1]).advice} == figures
    by_kind = {a.kind: a for a in made.advice}
    options, figure = by_kind[AdviceKind.OPTIONS], by_kind[AdviceKind.FIGURE]
    listed = "\n".join(f"{i}. {item}" for i, item in enumerate(options.items, 1))
    assert options.text == f"I would think of {options.topic} soon.\n{listed}"
    assert figure.value is not None
    name = f"{figure.attribute[0].upper()}{figure.attribute[1:]}"
    assert figure.text == f"I would think of {figure.topic} soon. {name} for {figure.topic}: {figure.value.text}."
    (incident,) = (i for i in asker.incidents if i.kind is IncidentKind.MENDED)
    assert all(line_id in incident.detail for line_id in spoilt)


def _advice_line(kind: AdviceKind, **more: Any) -> AdviceLine:  # Any: fields of AdviceLine
    return AdviceLine(line_id="a0", kind=kind, bullet=_plan().bullets()[0], topic="the play", **more)


def test_numbers_before_the_items_are_no_part_of_them() -> None:
    line = _advice_line(AdviceKind.STEPS, attribute="steps", count=2)
    draft = AdviceDraft(line_id="a0", text="Do this.", items=["1. call the parish.", "2) hang 1.5 m of curtain"])
    mended = mended_advice(line, draft, ENGLISH, is_last=False)
    assert items_of(mended) == ("call the parish", "hang 1.5 m of curtain")
    assert mended.text == "Do this.\n1. call the parish\n2. hang 1.5 m of curtain"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Keep {value} of the {base}.", "Keep {value} of the {base}."),
        ("You told me {base}. Keep $7,777 of it.", "You told me {base}. {clause}"),
        ("Keep $7,777 of it.", "{clause}"),
        ("Take care!", "Take care! {clause}"),
        (" ", "{clause}"),
    ],
)
def test_a_value_that_code_says_stands_beside_no_other(said: str, kept: str) -> None:
    base = LedgerLine(
        fact_id="p0.f0", subject="play", attribute="rent", kind=ValueKind.MONEY, is_fixed=False, value=money(85)
    )
    line = _advice_line(AdviceKind.FIGURE, attribute="margin", base=base, value=money(17))
    words = {"value": "$17", "base": "$85", "clause": "Margin for the play: $17."}
    draft = AdviceDraft(line_id="a0", text=said.format(**words))
    assert mended_advice(line, draft, ENGLISH, is_last=True).text == kept.format(**words)
