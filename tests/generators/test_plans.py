"""Plans: the outline, the events of a stage with their days, and their words in groups that grow with acceptance."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence

import pytest

from longbeam.errors import ReplyError
from longbeam.generators import (
    Drafted,
    Frame,
    PlanContext,
    PlanHistory,
    ends_of,
    layout_for,
    ledger_of,
    stages_of,
    window_of,
    write_events,
    write_outline,
    write_sub_plan,
)
from longbeam.generators.sub_plans import plan_of
from longbeam.models import ModelCall
from longbeam.prompts.calls import (
    BulletDraft,
    EventDraft,
    EventsInputs,
    EventsReply,
    FactDraft,
    LinkDraft,
    StageStory,
    StoryEvent,
    StoryGraph,
    SubPlanInputs,
    SubPlanReply,
)
from longbeam.schemas import CLOSING, BulletKind, Category, IncidentKind, Stance, Timeline
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for

LAYOUT = layout_for(128_000, Category.GENERAL, asked=2).model_copy(update={"sub_plans": 2})
HEAD = good_conversation().head
FRAME = Frame(seed=HEAD.seed, profile=HEAD.profile, relationships=HEAD.relationships, narratives=HEAD.narratives)
LABELS = tuple(n.label for n in FRAME.narratives)
STAGES = tuple(
    s.model_copy(update={"narratives": LABELS})
    for s in stages_of(Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 3, 10)), LAYOUT)
)
CONTEXT = PlanContext(0, FRAME, LAYOUT, STAGES, PlanHistory(), group=6)


# --- events -------------------------------------------------------------------------------------------------------


def _events(call: ModelCall) -> list[EventDraft]:
    """Return good events for a call, each about a thing of its own; turning points are told."""
    assert isinstance(call.inputs, EventsInputs)
    stage = call.inputs.stages[call.inputs.stage_index]
    labels, turns = stage.narratives, list(stage.turns)
    drafts = []
    for i, number in enumerate(call.inputs.numbers):
        label = turns[i] if i < len(turns) else labels[i % len(labels)]
        thing = f"thing {'abcdefghijklmnopqrstuvwxyz'[number % 26]}"
        told = {"event": f"e{number}", "narrative": label, "thing": thing, "what": f"It moves ({number})."}
        drafts.append(EventDraft.model_validate(told | {"turning_point": i < len(turns)}))
    return drafts


def _teller(*changes: dict[str, dict[str, object]]) -> ScriptedModel:
    """Tells every event; the n-th reply with the n-th changes, by event."""
    left = list(changes)

    def answer(call: ModelCall) -> str:
        change = left.pop(0) if left else {}
        drafts = [d.model_copy(update=change.get(d.event, {})) for d in _events(call)]
        return EventsReply(events=drafts).model_dump_json()

    return ScriptedModel({"events": answer})


async def _told(model: ScriptedModel, *earlier: StageStory) -> StageStory:
    return await write_events(asker_for(model), CONTEXT, earlier)


async def _graph() -> StoryGraph:
    first = await _told(_teller())
    return StoryGraph(stages=(first, await _told(_teller(), first)))


async def test_events_of_a_stage_get_days_and_the_next_stage_goes_on_with_their_numbers() -> None:
    first, second = (await _graph()).stages
    counts = [size.events for size in CONTEXT.sizes]
    assert [len(first.events), len(second.events)] == counts
    assert [e.event_id for e in second.events] == [f"e{n}" for n in range(counts[0] + 1, sum(counts) + 1)]
    days = [e.day for e in (*first.events, *second.events)]
    assert days == sorted(day for day in days if day)
    assert [e.part for e in second.events[-4:]] == ["", *["closing"] * 3]
    assert {e.narrative for e in first.events if e.is_turn} == set(STAGES[0].turns)


def _after(event: str, least: int, most: int | None = None) -> list[LinkDraft]:
    return [LinkDraft(event=event, least_days=least, most_days=most)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"narrative": "sea"}, "e10 names narrative 'sea'"),
        ({"what": " "}, "e10 lacks its thing or what happens"),
        ({"after": _after("e99", 1)}, "e10 comes after 'e99', which is no other event"),
        ({"after": _after("e8", 60)}, "e10 has to be told anew: e8, e10 cannot all hold"),
    ],
)
async def test_only_the_faulty_event_is_told_anew(change: dict[str, object], reason: str) -> None:
    model = _teller({"e10": change})
    told = await _told(model)
    assert len(told.events) == CONTEXT.sizes[0].events
    again = model.calls[1]
    assert isinstance(again.inputs, EventsInputs)
    assert again.inputs.numbers == (10,)
    assert again.retry is not None
    assert reason in again.retry.faults[0]


async def test_the_request_after_a_good_event_that_another_one_contradicts_asks_for_that_one() -> None:
    # e9 comes after e8, and e8 is told anew such that the two cannot all hold: e9 has to change.
    model = _teller(
        {"e8": {"narrative": "sea"}, "e9": {"on": "2024-01-05", "after": _after("e8", 1)}}, {"e8": {"on": "2024-01-20"}}
    )
    told = await _told(model)
    assert [call.inputs.numbers for call in model.calls[1:]] == [(8,), (9,)]  # type: ignore[attr-defined]
    asked = model.calls[-1]
    assert asked.retry is not None
    assert [fault.split()[0] for fault in asked.retry.faults] == ["e9"]
    assert "Tell these events of this stage: e9." in asked.messages()[-1].content
    assert json.dumps(asked.prompt.schema(asked.inputs)).count('"enum": ["e9"]') == 1
    assert len(told.events) == CONTEXT.sizes[0].events


async def test_a_side_story_is_three_events_beside_the_narratives() -> None:
    told = await _told(_teller({"e9": {"opens": ["the dog"], "turning_point": True}}))
    side = [e for e in told.events if e.part == "side"]
    # seventeen events and no ending: the 3rd, the 9th and the 15th
    assert [e.event_id for e in side] == ["e3", "e9", "e15"]
    assert {(e.kind, e.narrative, e.opens, e.is_turn) for e in side} == {(BulletKind.SIDE, "On the Side", (), False)}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"thing": "The Dog"}, "goes on with 'The Dog', the side story of an earlier stage"),
        ({"people": [p.first_name for p in FRAME.relationships.people[:2]]}, "as a side story before"),
    ],
)
async def test_no_side_story_is_told_twice(change: dict[str, object], reason: str) -> None:
    people = [p.first_name for p in FRAME.relationships.people[:2]]
    first = await _told(_teller({"e3": {"thing": "the dog", "people": people}}))
    number = next(n for n in CONTEXT.side if n > CONTEXT.sizes[0].events)
    model = _teller({f"e{number}": change})
    await _told(model, first)
    assert reason in model.calls[1].retry.faults[0]  # type: ignore[union-attr]


async def test_a_matter_is_closed_under_other_words() -> None:
    opened: dict[str, dict[str, object]] = {
        "e1": {"opens": ["the repair of the old stage"]},
        "e10": {"closes": ["The stage repair"]},
    }
    told = await _told(_teller(opened))
    assert StoryGraph(stages=(told,)).open_matters() == ()


async def test_a_matter_that_replies_name_again_stays_open_once() -> None:
    left: list[dict[str, object]] = [{"narrative": "sea"}, {"narrative": "sea"}]

    def answer(call: ModelCall) -> str:
        change: dict[str, dict[str, object]] = {"e1": {"opens": ["the decision"]}, "e9": left.pop() if left else {}}
        drafts = [d.model_copy(update=change.get(d.event, {})) for d in _events(call)]
        return EventsReply(events=drafts, stays_open=["the decision", "the decision"]).model_dump_json()

    assert (await _told(ScriptedModel({"events": answer}))).stays_open == ("the decision",)


async def test_events_that_cannot_all_hold_lose_their_links_in_the_end_and_that_is_noted() -> None:
    impossible: dict[str, dict[str, object]] = {"e9": {"after": _after("e8", 60)}}
    asker = asker_for(_teller(impossible, impossible, impossible))
    told = await write_events(asker, CONTEXT, ())
    assert next(e for e in told.events if e.event_id == "e9").after == ()
    assert [i.kind for i in asker.incidents] == [IncidentKind.MENDED]
    assert "links left out: e8, e9 cannot all hold" in asker.incidents[0].detail


async def test_a_turning_point_and_an_end_that_are_missing_are_asked_for_once() -> None:
    first = (await _graph()).stages[0]
    opened = first.model_copy(
        update={"events": (first.events[0].model_copy(update={"opens": ("the offer",)}), *first.events[1:])}
    )
    last = sum(size.events for size in CONTEXT.sizes)
    model = _teller({f"e{n}": {"turning_point": False} for n in range(last)})
    told = await _told(model, opened)
    faults = model.calls[1].retry.faults  # type: ignore[union-attr]
    assert any(f"e{last} has to be told anew: 'the offer' is opened and nothing closes it" in f for f in faults)
    assert sum("as the turning point of" in f for f in faults) == len(STAGES[1].turns)
    assert len(model.calls) == 2
    assert len(told.events) == CONTEXT.sizes[1].events


async def test_a_request_shows_what_is_open_and_what_came_before() -> None:
    first = (await _graph()).stages[0]
    opened = first.model_copy(
        update={"events": (first.events[0].model_copy(update={"opens": ("the offer",)}), *first.events[1:])}
    )
    model = _teller()
    await _told(model, opened)
    text = model.calls[0].messages()[-1].content
    assert "Open: the offer" in text
    assert f"{first.events[-1].event_id}, " in text
    window = window_of(STAGES[1], is_last=True, country="")
    assert f"Its events have the days to {window.going_on_until} (" in text
    assert f"those that tell how things came out {window.closing_from} (" in text
    assert "It is the last stage: the last 3 events of it tell how things came out" in text


# --- words --------------------------------------------------------------------------------------------------------


def _draft(event: StoryEvent) -> BulletDraft:
    """Return good words for an event: an amount of its own."""
    value = f"${100 + int(event.event_id[1:])}"
    facts = [FactDraft(slot="money", name="budget", value=value)] if event.kind is not BulletKind.INTRODUCTION else []
    text = f"I set aside {value} for {event.thing}." if facts else "I'm here."
    return BulletDraft(event=event.event_id, text=text, facts=facts)


def _reply(drafts: Sequence[BulletDraft]) -> str:
    return SubPlanReply(bullets=list(drafts)).model_dump_json()


def _asked(call: ModelCall) -> tuple[StoryEvent, ...]:
    assert isinstance(call.inputs, SubPlanInputs)
    return call.inputs.events


def _model(spoiled: Callable[[ModelCall], bool] = lambda call: False) -> ScriptedModel:
    """Words every event; the first one of a spoiled call speaks of the user."""

    def answer(call: ModelCall) -> str:
        drafts = [_draft(event) for event in _asked(call)]
        if spoiled(call):
            first = next(i for i, draft in enumerate(drafts) if draft.facts)
            drafts[first] = drafts[first].model_copy(update={"text": f"The user says: {drafts[first].text}"})
        return _reply(drafts)

    return ScriptedModel({"sub_plan": answer})


async def _write(model: ScriptedModel, *earlier: Drafted) -> Drafted:
    return await write_sub_plan(asker_for(model), CONTEXT, await _graph(), earlier)


# --- the outline --------------------------------------------------------------------------------------------------


async def test_outline_needs_one_draft_per_stage_and_keeps_wants_of_the_cast() -> None:
    one = '{"title": "A", "summary": "a"}'
    own = [p.first_name for p in FRAME.relationships.people[1::-1]]
    two = json.dumps({"title": "B", "summary": "b", "people": own, "wants": ["w", "x", "more"]})
    model = ScriptedModel({"outline": [f'{{"stages": [{one}]}}', f'{{"stages": [{one}, {two}]}}']})
    stages = await write_outline(asker_for(model), FRAME, STAGES)
    assert [(s.title, s.first_day) for s in stages] == [("A", dt.date(2024, 1, 1)), ("B", dt.date(2024, 2, 5))]
    assert (stages[1].cast[:2], stages[1].wants[:2]) == (tuple(own), ("w", "x"))
    assert {n for s in stages for n in s.cast} == set(own)  # nobody else has business in it
    assert model.calls[1].retry.faults == ("1 stages; exactly 2 are asked for",)  # type: ignore[union-attr]


async def test_names_of_the_outline_hold_in_every_stage_and_faulty_ones_are_left_out() -> None:
    person = FRAME.relationships.people[0].first_name
    user = FRAME.profile.name
    names = [("Pelle", 2), (person, 1), (user, 1), ("pelle", 1), ("Room 12", 1), ("Old Mill", 3), ("The Tin Moon", 1)]
    drafts = [{"name": name, "what": "a thing", "stage": stage} for name, stage in names]
    stages = [{"title": "A", "summary": "a"}, {"title": "B", "summary": "b"}]
    model = ScriptedModel({"outline": [json.dumps({"stages": stages, "names": drafts})]})
    asker = asker_for(model)
    made = await write_outline(asker, FRAME, STAGES)

    assert [[t.name for t in stage.names] for stage in made] == [["Pelle", "The Tin Moon"]] * 2
    assert [[t.name for t in stage.names_known] for stage in made] == [["The Tin Moon"], ["Pelle", "The Tin Moon"]]
    assert len(model.calls) == 1  # the rest of the outline is good: nothing is asked again
    (incident,) = asker.incidents
    assert incident.detail.startswith("5 of 7 names left out; ")


async def test_events_become_bullets_facts_and_assertions() -> None:
    drafted = await _write(_model())
    events = (await _graph()).stages[0].events
    assert [b.bullet_id for b in drafted.sub_plan.bullets] == [f"p0.s0.b{i}" for i in range(len(events) + 1)]
    assert drafted.events == ("e0", *(e.event_id for e in events))
    assert [(b.topic, b.happens_on) for b in drafted.sub_plan.bullets[1:]] == [(e.thing, e.day) for e in events]
    assert [f.fact_id for f in drafted.facts] == [f"p0.f{i}" for i in range(len(events))]
    assert {a.stance for a in drafted.assertions} == {Stance.SETS}


async def test_slot_named_again_in_a_later_stage_is_told_again() -> None:
    first = await _write(_model())
    second = await _write(_model(), first)
    plan = plan_of([first, second])
    again = [a for a in plan.assertions if a.stance is not Stance.SETS]
    assert again
    assert {a.bullet_id.partition(".b")[0] for a in again} == {"p0.s1"}
    assert len({f.slot for f in plan.facts}) == len({f.fact_id for f in plan.facts}) == len(plan.facts)


async def test_groups_that_are_accepted_at_once_grow_and_the_next_stage_goes_on_with_their_size() -> None:
    model = _model()
    first = await _write(model)
    # 18 events: 6, then the 12 that are left, as many as fit by now.
    assert [len(_asked(call)) for call in model.calls] == [6, 12]
    assert first.group == 13
    await _write(later := _model(), first)
    # Thirteen and their rest fit. The end of the story stands alone.
    assert [len(_asked(call)) for call in later.calls] == [15, 3]


async def test_a_request_says_what_follows_and_what_is_still_missing() -> None:
    model = _model()
    await _write(model)
    first = model.calls[0].messages()[-1].content
    asked = [call.inputs for call in model.calls if isinstance(call.inputs, SubPlanInputs)]
    # The three events behind the first group, and those behind the group about the same things (e27 and e1, ...).
    events = (await _graph()).events()
    assert [e.event_id for e in asked[0].following[:3]] == ["e6", "e7", "e8"]
    for inputs in asked:
        things = {e.thing for e in inputs.events}
        later = [e for e in events[17:] if e.thing in things][:8]
        assert list(inputs.following[3 if inputs is asked[0] else 0 :]) == later
    assert "Told later, by others" in first
    assert "Asked of these events together, where a person would name them: " in first
    assert "days; " in first
    assert any("day" in quota.wording for quota in asked[1].quotas)


async def test_a_request_shows_the_known_values_of_its_matters() -> None:
    model = _model()
    first = await _write(model)
    await _write(later := _model(), first)
    asked = later.calls[0].inputs
    assert isinstance(asked, SubPlanInputs)
    labels = {e.narrative for e in asked.events}
    told = {b.topic for b in first.sub_plan.bullets if b.narrative in labels}
    assert {line.subject for line in asked.slots} == told
    assert f"{asked.slots[0].fact_id}: " in later.calls[0].messages()[-1].content


async def test_a_fact_lives_until_an_event_closes_its_thing_or_its_narrative_ends() -> None:
    graph = await _graph()
    first, second = graph.stages
    setting = first.events[2]
    closing = second.events[5].model_copy(update={"closes": (setting.thing,)})
    events = tuple(closing if e.event_id == closing.event_id else e for e in second.events)
    graph = StoryGraph(stages=(first, second.model_copy(update={"events": events})))
    parts = [await write_sub_plan(asker_for(_model()), CONTEXT, graph, ())]
    ends = ends_of(graph, parts, ledger_of(parts, PlanHistory()))
    fact = next(f for f in parts[0].facts if f.subject == setting.thing)
    assert ends[fact.fact_id].event_id == closing.event_id
    last = [e for e in second.events if e.part == CLOSING]
    for other in (f for f in parts[0].facts if f is not fact):
        own = next(b for b in parts[0].sub_plan.bullets if b.topic == other.subject)
        end = next((e.event_id for e in last if e.narrative == own.narrative), None)
        assert (ends[other.fact_id].event_id if other.fact_id in ends else None) == end


@pytest.mark.parametrize(
    ("closes", "opens", "end"),
    [
        ({2: "The Quotes"}, {}, 2),  # the event that sets the value ends its matter
        ({1: "the quotes"}, {}, 1),  # over before it is told
        ({1: "the quotes", 4: "the quotes"}, {2: "the quotes"}, 4),  # opened again
        ({1: "the quotes"}, {2: "the quotes"}, None),
    ],
)
async def test_a_value_of_a_matter_that_is_over_has_an_end(
    closes: dict[int, str], opens: dict[int, str], end: int | None
) -> None:
    graph = await _graph()
    first = graph.stages[0]
    events = [
        e.model_copy(
            update={
                "thing": "the quotes" if i == 2 else e.thing,
                "narrative": "a narrative that does not end" if i == 2 else e.narrative,
                "closes": (closes[i],) if i in closes else (),
                "opens": (opens[i],) if i in opens else (),
            }
        )
        for i, e in enumerate(first.events)
    ]
    graph = StoryGraph(stages=(first.model_copy(update={"events": tuple(events)}), graph.stages[1]))
    parts = [await write_sub_plan(asker_for(_model()), CONTEXT, graph, ())]
    fact = next(f for f in parts[0].facts if f.subject == "the quotes")
    ends = ends_of(graph, parts, ledger_of(parts, PlanHistory()))
    assert ends.get(fact.fact_id) == (None if end is None else events[end])


async def test_only_the_faulty_event_of_a_group_is_asked_again_and_the_next_group_is_smaller() -> None:
    model = _model(spoiled=lambda call: len(_asked(call)) == 6)
    drafted = await _write(model)
    # The first event of the first group is asked for alone; the next groups have 4, then the 8 that are left.
    assert [len(_asked(call)) for call in model.calls] == [6, 1, 4, 8]
    retry = model.calls[1].retry
    assert retry is not None
    assert any("speaks of the user" in fault for fault in retry.faults)
    assert len(retry.kept) == 5
    assert len(drafted.sub_plan.bullets) == 18


async def test_a_group_sees_the_bullets_of_the_group_before() -> None:
    model = _model()
    await _write(model)
    inputs = model.calls[1].inputs
    assert isinstance(inputs, SubPlanInputs)
    assert [b.topic for b in inputs.earlier_bullets] == ["who I am", *(f"thing {letter}" for letter in "bcdef")]


async def test_an_event_that_nobody_can_word_is_left_out_and_noted() -> None:
    def spoilt(call: ModelCall) -> str:
        drafts = [_draft(event) for event in _asked(call) if event.event_id != "e7"]
        return _reply(drafts)

    model = ScriptedModel({"sub_plan": spoilt})
    asker = asker_for(model)
    drafted = await write_sub_plan(asker, CONTEXT, await _graph(), ())
    assert "e7" not in drafted.events
    assert IncidentKind.SHORT in {i.kind for i in asker.incidents}


@pytest.mark.parametrize(
    ("day", "is_kept"), [("January 20", False), ("January 15", True), ("January 23", True), ("December 24", True)]
)
async def test_a_day_is_announced_only_where_an_event_tells_what_came_of_it(day: str, is_kept: bool) -> None:
    """A day behind the end of the plan is nobody's to tell of; a second reply is taken as it is."""
    graph = await _graph()
    first, *others = graph.stages[0].events
    first = first.model_copy(update={"thing": "the booth"})
    others[3] = others[3].model_copy(update={"thing": first.thing, "day": dt.date(2024, 1, 16)})
    stage = graph.stages[0].model_copy(update={"events": (first, *others)})
    graph = graph.model_copy(update={"stages": (stage, *graph.stages[1:])})
    asked: list[ModelCall] = []

    def answer(call: ModelCall) -> str:
        asked.append(call)
        drafts = [_draft(event) for event in _asked(call)]
        facts = [FactDraft(slot="date", name="opening", value=day)]
        text = f"{first.thing} opens on {day}, they say."
        opens = BulletDraft(event=first.event_id, text=text, facts=facts)
        return _reply([opens if d.event == first.event_id else d for d in drafts])

    asker = asker_for(ScriptedModel({"sub_plan": answer}), writer="openai:some-model")
    await write_sub_plan(asker, CONTEXT, graph, ())
    faults = " ".join(f for call in asked if call.retry for f in call.retry.faults)
    assert (f"announces {day!r}" in faults) is not is_kept
    assert sum(bool(call.retry) for call in asked) == (not is_kept)


async def test_an_event_that_says_again_what_was_told_is_asked_for_again() -> None:
    told = "Kaja and Hugo carried the limestone bench from the quarry to our garden gate, and both were late."
    before: list[ModelCall] = []

    def answer(call: ModelCall) -> str:
        before.append(call)
        drafts = [_draft(event) for event in _asked(call)]
        if len(before) in (1, 2):
            drafts[1] = drafts[1].model_copy(update={"text": told, "facts": []})
        return _reply(drafts)

    model = ScriptedModel({"sub_plan": answer})
    drafted = await write_sub_plan(asker_for(model), CONTEXT, await _graph(), ())
    assert [b.text for b in drafted.sub_plan.bullets].count(told) == 1
    retry = model.calls[2].retry
    assert retry is not None
    assert retry.faults == ("e7 says again what was told before; each event is one new thing",)


async def test_a_value_that_a_text_does_not_say_is_said_by_code_and_noted() -> None:
    def silent(event: StoryEvent) -> BulletDraft:
        draft = _draft(event)
        return draft.model_copy(update={"text": "I set something aside."}) if draft.facts else draft

    asker = asker_for(ScriptedModel({"sub_plan": lambda call: _reply([silent(event) for event in _asked(call)])}))
    drafted = await write_sub_plan(asker, CONTEXT, await _graph(), ())
    texts = {b.bullet_id: b.text for b in drafted.sub_plan.bullets}
    assert len(drafted.assertions) > 10
    assert all(a.value is not None and a.value.text in texts[a.bullet_id] for a in drafted.assertions)
    assert {incident.kind for incident in asker.incidents} == {IncidentKind.MENDED}


async def test_a_stage_without_any_words_fails() -> None:
    with pytest.raises(ReplyError, match="no reply had an event that could be used"):
        await _write(ScriptedModel({"sub_plan": [_reply([])]}))
