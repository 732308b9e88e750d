"""Stories: in order of time, with values that are said, people who are introduced once."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter

import pytest

from longbeam.generators import Window, draw_profile, draw_relationships, load_catalogue, with_days
from longbeam.offline import (
    COST_SLOT,
    WHOLE,
    Script,
    Span,
    StoryInputs,
    StoryScene,
    changed,
    draft_of,
    draw,
    events,
    load_pack,
    misremembered,
    pack_for,
    pack_paths,
    people_thread,
    scenes_of,
    script_of,
    without_remark,
)
from longbeam.offline.planning import _newest
from longbeam.prompts.calls import EventsInputs, Link, StageStory, StoryEvent, StoryGraph
from longbeam.schemas import CLOSING, BulletKind, Domain, Person, Seed, ValueKind
from longbeam.text import date_value, relation_words, says
from tests.prompts.samples import SAMPLES

STAGES = tuple((dt.date(2024, m, 1), dt.date(2024, m, 28)) for m in range(1, 6))
COUNTS, CLOSING_EVENTS = (17, 18, 18, 18, 18), 4
"""Events of each stage, and those of the last one that end the story."""
Story = list[list[StoryScene]]


def _seed(domain: Domain = Domain.CODING) -> Seed:
    return next(s for s in load_catalogue() if s.domain is domain)


def _people(index: int = 0) -> tuple[Person, ...]:
    return draw_relationships(1, index, draw_profile(1, index)).people


def _inputs(
    rng_key: str = "1/c000/story",
    domain: Domain = Domain.CODING,
    stages: tuple[Span, ...] = STAGES,
    counts: tuple[int, ...] = COUNTS,
) -> StoryInputs:
    return StoryInputs(_seed(domain), _people(), stages, counts, CLOSING_EVENTS, rng_key)


def _graph(inputs: StoryInputs, script: Script) -> StoryGraph:
    """Return the events of a script with the days that the planner gives them."""
    stages: list[StageStory] = []
    placed: dict[str, dt.date] = {}
    for i, (first, last) in enumerate(inputs.stages):
        days = (last - first).days
        is_last = i == len(inputs.stages) - 1
        until, ending = (first + dt.timedelta(days=int(days * s)) for s in ((0.68, 0.9) if is_last else (0.9, 0.95)))
        numbered = [(n, step) for n, step in enumerate(script, 1) if step.stage_index == i]
        drafts = [(draft_of(inputs, step, n, "n"), step) for n, step in numbered]
        told = [
            StoryEvent(
                event_id=d.event,
                narrative=d.narrative,
                thing=d.thing,
                what=d.what,
                people=tuple(d.people),
                kind=BulletKind.RELATIONSHIP if d.of_a_person else BulletKind.EVENT,
                part=CLOSING if step.kind == CLOSING else "",
                after=tuple(Link(event=a.event, least=a.least_days, most=a.most_days) for a in d.after),
                opens=tuple(d.opens),
                closes=tuple(d.closes),
            )
            for d, step in drafts
        ]
        dated = with_days(told, Window(first, last, until, ending), placed)
        placed |= {e.event_id: e.day for e in dated if e.day}
        stages.append(StageStory(stage_index=i, events=dated))
    return StoryGraph(stages=tuple(stages))


def _told(inputs: StoryInputs) -> Story:
    """Return the scenes of each stage in the order of their days."""
    script = script_of(inputs)
    graph = _graph(inputs, script)
    scenes = scenes_of(inputs, script, graph)
    return [[scenes[e.event_id] for e in stage.events] for stage in graph.stages]


def _story(rng_key: str = "1/c000/story", domain: Domain = Domain.CODING) -> Story:
    return _told(_inputs(rng_key, domain))


@pytest.mark.parametrize("domain", Domain)
def test_a_script_is_a_graph_whose_every_link_holds_and_whose_matters_end(domain: Domain) -> None:
    for seed in range(4):
        inputs = _inputs(f"{seed}/c000/story", domain)
        events = _graph(inputs, script_of(inputs)).events()
        days = {e.event_id: e.day for e in events}
        for event in events:
            for link in event.after:
                assert (days[event.event_id] - days[link.event]).days >= link.least  # type: ignore[operator]
        opened = [m for e in events for m in e.opens]
        assert sorted(opened) == sorted(m for e in events for m in e.closes)
        assert len(opened) == len(set(opened))


def test_stages_have_exactly_the_scenes_they_have_room_for() -> None:
    story = _story()
    assert [len(scenes) for scenes in story] == list(COUNTS)
    assert [sum(s.thread is people_thread() for s in scenes) for scenes in story] == [2] * 5
    assert sum(s.is_closing for scenes in story for s in scenes) == CLOSING_EVENTS


def test_of_each_conversation_the_newest_story_is_kept() -> None:
    inputs = SAMPLES["events"]
    assert isinstance(inputs, EventsInputs)
    later = inputs.model_copy(update={"chapter": inputs.chapter.model_copy(update={"plan_index": 0})})  # type: ignore[union-attr]

    def told(conversation: str, asked: EventsInputs = inputs) -> Script:
        return _newest(asked, (asked.counts, asked.side, asked.endings), conversation).script

    first, other = told("1/c000"), told("1/c001")
    assert told("1/c000") is first
    assert told("1/c000", later) != first
    assert told("1/c001") is other
    again = told("1/c000")
    assert again == first
    assert again is not first


def test_events_are_told_by_number_and_narratives_turn_where_the_outline_says() -> None:
    inputs = SAMPLES["events"]
    assert isinstance(inputs, EventsInputs)
    every = events(inputs, "1/c000").events
    assert [e.event for e in every] == [f"e{n}" for n in inputs.numbers]
    two = events(inputs.model_copy(update={"numbers": inputs.numbers[3:5]}), "1/c000").events
    assert two == every[3:5]
    turns = [e.narrative for e in every if e.turning_point]
    assert turns == list(inputs.stages[1].turns)


def test_days_never_go_back_and_lie_in_their_stage() -> None:
    for scenes, (first, last) in zip(_story(), STAGES, strict=True):
        days = [s.day for s in scenes]
        assert days == sorted(days)
        assert first <= days[0] <= days[-1] <= last


def test_beats_of_a_thing_come_in_their_order_and_none_twice() -> None:
    told = Counter[tuple[str, str, str]]()
    places: dict[tuple[str, str], int] = {}
    told_ = (s for stage in _story() for s in stage if s.thread is not people_thread() and not s.is_closing)
    for scene in told_:
        key = (scene.thread.thread, scene.thing)
        place = [b.beat for b in scene.thread.beats].index(scene.beat.beat)
        assert place == places.get(key, -1) + 1
        places[key] = place
        told[(*key, scene.beat.beat)] += 1
    assert set(told.values()) == {1}


def test_every_value_of_a_scene_is_said_in_its_text() -> None:
    for scene in (s for stage in _story() for s in stage):
        if not scene.is_closing:
            new = {*scene.beat.sets, *scene.beat.fixed, *scene.beat.updates}
            assert set(scene.values) == new | scene.recalled
        for value in scene.values.values():
            assert says(scene.text, value), (scene.text, value)


@pytest.mark.parametrize("domain", Domain)
def test_a_day_in_the_past_lies_after_all_that_was_told_of_its_thing_before(domain: Domain) -> None:
    last: dict[tuple[str, str], dt.date] = {}
    for scene in (s for stage in _story(domain=domain) for s in stage if not s.is_closing):
        key = (scene.thread.thread, scene.subject)
        for name in (*scene.beat.sets, *scene.beat.fixed, *scene.beat.updates):
            slot, day = scene.thread.slots[name], scene.values[name].date
            if day is not None and slot.in_days is not None and slot.in_days[1] <= 0 and key in last:
                assert last[key] <= day <= scene.day, (scene.text, last[key])
        last[key] = scene.day


def test_values_change_only_where_a_beat_updates_them() -> None:
    known: dict[tuple[str, str], object] = {}
    for scene in (s for stage in _story() for s in stage):
        for name, value in scene.values.items():
            key = (scene.subject, scene.thread.slots[name].attribute if name in scene.thread.slots else name)
            if name in scene.recalled:
                assert known[key] == value
            elif name in scene.beat.updates and not scene.is_closing:
                assert known[key] != value
            else:
                assert key not in known
            known[key] = value


def test_a_story_ends_with_outcomes_of_several_threads_and_a_last_word() -> None:
    last = _story()[-1]
    closing = [s for s in last if s.is_closing]
    assert list(last[-len(closing) :]) == closing
    assert closing[-1].thing == WHOLE
    outcomes = closing[:-1]
    assert len({s.thread.thread for s in outcomes}) == len(outcomes) >= 2
    told = {s.thing for stage in _story() for s in stage if not s.is_closing}
    assert {s.thing for s in outcomes} <= told
    thanked = [p.first_name for p in _people() if p.first_name in closing[-1].text]
    assert thanked


def test_the_own_part_of_the_cost_is_more_than_what_was_paid_on_the_way() -> None:
    paid = 0.0
    for scene in (s for stage in _story(domain=Domain.TRIP) for s in stage):
        if scene.is_closing and scene.thing == WHOLE:
            assert scene.values[COST_SLOT].number > paid > 0
        paid += sum(v.number or 0 for n, v in scene.values.items() if n in scene.beat.fixed and v.unit == "USD")


def test_a_meeting_that_was_arranged_is_reported_behind_its_day() -> None:
    reported = 0
    for key in (f"{i}/c000/story" for i in range(6)):
        known: dict[tuple[str, str], dt.date] = {}
        for scene in (s for stage in _story(key) for s in stage if s.thread is people_thread()):
            for name, value in scene.values.items():
                if value.date is None:
                    continue
                if name in scene.beat.recalls:
                    reported += 1
                    assert known[(scene.subject, name)] == value.date < scene.day
                known[(scene.subject, name)] = value.date
    assert reported >= 5


def test_a_day_that_passed_while_its_matter_went_on_is_remarked_on_once() -> None:
    remarks = Counter[tuple[str, str]]()
    for scene in (s for key in range(4) for stage in _story(f"{key}/c000/story") for s in stage):
        body = without_remark(scene.text)
        if body == scene.text:
            continue
        (name,) = scene.recalled - set(scene.beat.recalls)
        passed = scene.values[name]
        assert passed.date is not None
        assert passed.date < scene.day
        assert says(scene.text.removeprefix(body), passed)
        remarks[(scene.subject, name)] += 1
    assert len(remarks) >= 4


def test_what_a_day_brought_is_told_behind_that_day_and_departures_lie_ahead_of_the_end() -> None:
    checked = 0
    for domain in (Domain.TRIP, Domain.EDUCATION, Domain.COOKING):
        story = _story(domain=domain)
        end = next(s.day for s in story[-1] if s.is_closing)
        days: dict[tuple[str, str], dt.date] = {}
        for scene in (s for stage in story for s in stage if not s.is_closing):
            for name, slot in scene.thread.slots.items():
                if name in scene.values and (slot.told_by or slot.ahead):
                    days[(scene.subject, name)] = scene.values[name].date or end
                    if slot.ahead:
                        assert days[(scene.subject, name)] <= end
                if slot.told_by == scene.beat.beat and (scene.subject, name) in days:
                    checked += 1
                    assert days[(scene.subject, name)] < scene.day, scene.text
    assert checked >= 3


def test_people_are_introduced_once_and_called_by_name_after_that() -> None:
    text = "\n".join(s.text for stage in _story() for s in stage)
    introduced = 0
    for person in _people():
        full = f"{relation_words(person)} {person.first_name}".casefold()
        introduced += full in text.casefold()
        assert text.casefold().count(full) <= 1
    assert introduced >= 3


def test_same_key_gives_the_same_story_and_another_key_another() -> None:
    texts = [
        [s.text for stage in _story(key) for s in stage] for key in ("1/c000/story", "1/c000/story", "2/c000/story")
    ]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("name", [p.stem for p in pack_paths()])
def test_changed_values_differ_and_keep_their_type(name: str) -> None:
    pack = load_pack(next(p for p in pack_paths() if p.stem == name))
    rng = random.Random(name)
    for thread in (*pack.threads, people_thread()):
        for slot in thread.slots.values():
            for _ in range(5):
                old = draw(slot, dt.date(2024, 3, 4), rng)
                new = changed(slot, old, rng)
                assert new.kind is old.kind
                assert not new.means_same_as(old)
                if old.number is not None and slot.type is not ValueKind.RATIO:
                    assert new.number is not None
                    assert new.number > 0


@pytest.mark.parametrize("name", [p.stem for p in pack_paths()])
def test_an_amount_that_is_misremembered_is_lower_than_what_it_may_have_come_to(name: str) -> None:
    pack = load_pack(next(p for p in pack_paths() if p.stem == name))
    rng = random.Random(name)
    for slot in (s for t in pack.threads for s in t.slots.values() if s.misremember and not s.choose):
        old = draw(slot, dt.date(2024, 3, 4), rng)
        new = misremembered(slot, old, rng)
        if old.number is not None and old.number > 1 + 2 * slot.step:
            assert new.number is not None
            assert new.number < old.number


def test_a_day_that_was_over_when_it_was_told_is_misremembered_as_an_earlier_one() -> None:
    """Readers of 411: the first message on it came before the day that the denial gave."""
    told = dt.date(2024, 3, 4)
    rng = random.Random(1)
    slots = [s for p in pack_paths() for t in load_pack(p).threads for s in t.slots.values() if s.in_days is not None]
    assert slots
    for slot in slots:
        over, planned = (date_value(told + dt.timedelta(days=days)) for days in (-2, 2))
        new = misremembered(slot, over, rng, told)
        assert new.date is not None
        assert over.date is not None
        assert new.date < over.date
        assert misremembered(slot, planned, rng, told).date > told  # type: ignore[operator]


@pytest.mark.parametrize("name", [p.stem for p in pack_paths()])
def test_values_with_a_trend_change_only_its_way_twice_in_a_row(name: str) -> None:
    pack = load_pack(next(p for p in pack_paths() if p.stem == name))
    rng = random.Random(name)
    slots = [s for t in pack.threads for s in t.slots.values() if s.trend in {"rises", "falls"} and not s.choose]
    assert slots
    for slot in slots:
        for _ in range(20):
            first = draw(slot, dt.date(2024, 3, 4), rng)
            second = changed(slot, first, rng)
            third = changed(slot, second, rng)
            numbers = [v.number or 0 for v in (first, second, third)]
            assert numbers == sorted(numbers, reverse=slot.trend == "falls"), (slot.attribute, numbers)


def test_short_stories_follow_few_threads_with_several_things_each() -> None:
    stage = ((dt.date(2024, 1, 1), dt.date(2024, 2, 1)),)
    (scenes,) = _told(_inputs("3/c000/story", stages=stage, counts=(43,)))
    things: dict[str, set[str]] = {}
    for scene in scenes:
        things.setdefault(scene.thread.thread, set()).add(scene.thing)
    assert len(things) < len(pack_for(_seed()).threads)
    assert all(len(t) >= 2 for t in things.values())
