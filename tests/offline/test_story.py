"""Stories: in order of time, with values that are said, people who are introduced once."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from longbeam.generators import Layout, SheetInputs, draw_profile, draw_relationships, draw_sheet, load_catalogue
from longbeam.offline import (
    COST_SLOT,
    WHOLE,
    Span,
    Story,
    StoryInputs,
    changed,
    draw,
    load_pack,
    misremembered,
    pack_for,
    pack_paths,
    people_thread,
    story_of,
    sub_plan,
    without_remark,
)
from longbeam.offline.planning import _scenes_of
from longbeam.prompts.calls import PlanSheet, SheetLine, Stage, SubPlanInputs
from longbeam.schemas import Category, Domain, Person, Seed, ValueKind
from longbeam.text import relation_words, says
from tests.prompts.samples import SAMPLES, SHEET as SAMPLE_SHEET, STATES

STAGES = tuple((dt.date(2024, m, 1), dt.date(2024, m, 28)) for m in range(1, 6))
ROOM = ((15, 2), (16, 2), (16, 2), (16, 2), (16, 2))
"""Events and meetings of each stage: twenty bullets, with two preferences and one introduction."""


def _sheet(stages: Sequence[Span], bullets: int, specials: int) -> tuple[tuple[SheetLine, ...], ...]:
    layout = Layout(
        sub_plans=len(stages), bullets_per_sub_plan=bullets, batches=5, questions=2, specials=specials * len(stages)
    )
    dated = tuple(Stage(stage_index=i, first_day=a, last_day=b) for i, (a, b) in enumerate(stages))
    return draw_sheet(SheetInputs(layout, dated, Category.GENERAL, plan_index=0, is_last=True, rng_key="sheet"))


SHEET = _sheet(STAGES, 20, 2)


def _seed(domain: Domain = Domain.CODING) -> Seed:
    return next(s for s in load_catalogue() if s.domain is domain)


def _people(index: int = 0) -> tuple[Person, ...]:
    return draw_relationships(1, index, draw_profile(1, index)).people


def _story(rng_key: str = "1/c000/story", domain: Domain = Domain.CODING) -> Story:
    return story_of(StoryInputs(_seed(domain), _people(), STAGES, SHEET, rng_key))


def test_stages_have_exactly_the_scenes_they_have_room_for() -> None:
    story = _story()
    for scenes, (events, relationships) in zip(story, ROOM, strict=True):
        met = sum(s.thread is people_thread() for s in scenes)
        assert (len(scenes) - met, met) == (events, relationships)


def test_of_each_conversation_the_newest_story_is_kept() -> None:
    inputs = SAMPLES["sub_plan"]
    assert isinstance(inputs, SubPlanInputs)

    def told(conversation: str, plan: str = "") -> Story:
        return _scenes_of(inputs, SAMPLE_SHEET, conversation, conversation + plan)

    first, other = told("1/c000"), told("1/c001")
    assert told("1/c000") is first
    assert told("1/c000", "/p1") != first
    assert told("1/c001") is other
    again = told("1/c000")
    assert again == first
    assert again is not first


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


def test_an_announced_day_of_a_thing_without_later_scenes_is_told_of_beside_another_thing() -> None:
    inputs, sheet = SAMPLES["sub_plan"], STATES["sub_plan"]
    assert isinstance(inputs, SubPlanInputs)
    assert isinstance(sheet, PlanSheet)
    drafts = {draft.line: draft for draft in sub_plan(inputs, sheet, "1/c000").bullets}
    (asked,) = [line for line in inputs.lines if line.outcome_of]
    assert asked.recalls is not None
    assert asked.recalls.value is not None
    said = drafts[asked.line]
    assert asked.recalls.subject in said.text
    assert (said.facts[-1].slot, said.facts[-1].value) == (asked.recalls.fact_id, asked.recalls.value.text)
    assert len(without_remark(said.text)) < len(said.text)
    # A thing with scenes of its own to come tells of its days there.
    later = asked.model_copy(update={"recalls": asked.recalls.model_copy(update={"subject": said.topic})})
    (alone,) = sub_plan(inputs.model_copy(update={"lines": (later,)}), sheet, "1/c000").bullets
    assert alone.text == without_remark(said.text)


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
    (scenes,) = story_of(StoryInputs(_seed(), _people(), stage, _sheet(stage, 48, 4), "3/c000/story"))
    things: dict[str, set[str]] = {}
    for scene in scenes:
        things.setdefault(scene.thread.thread, set()).add(scene.thing)
    assert len(things) < len(pack_for(_seed()).threads)
    assert all(len(t) >= 2 for t in things.values())
