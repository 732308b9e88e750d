"""The sheet of a plan: kinds and days of its lines, who takes part, and what a group of lines changes."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import replace

import pytest

from longbeam.generators import (
    CAST,
    CHANGEABLE,
    LEADING,
    Layout,
    Ledger,
    SheetInputs,
    Story,
    bullet_counts,
    draw_sheet,
    layout_for,
    narratives_ahead,
    narratives_for,
    narratives_over,
    stages_of,
    until_due,
    with_targets,
)
from longbeam.generators.line_targets import SETTLED_DAYS
from longbeam.prompts.calls import NewSlot, SheetLine, Span
from longbeam.schemas import (
    CLOSING,
    TELLING_KINDS,
    BulletKind,
    Category,
    Fact,
    Gender,
    Narrative,
    Person,
    Relation,
    Timeline,
    ValueKind,
)
from longbeam.text import date_value
from tests.builders import good_conversation
from tests.generators.test_special_targets import _plan, _with_text

LAYOUT = layout_for(128_000, Category.GENERAL, asked=2)
TIMELINE = Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 6, 28))
NARRATIVES = tuple(Narrative(label=f"n{i}", description="d", sub_labels=("s",)) for i in range(9))
PEOPLE = tuple(
    Person(person_id=f"n{i}", first_name=name, gender=Gender.FEMALE, age=40, relation=Relation.FRIEND)
    for i, name in enumerate(("Ada", "Bea", "Cleo", "Dora", "Eva", "Fay"))
)
STAGES = stages_of(TIMELINE, LAYOUT, NARRATIVES, PEOPLE)


def _sheet(*, plan_index: int = 0, is_last: bool = True, key: str = "1/c000") -> tuple[tuple[SheetLine, ...], ...]:
    return draw_sheet(SheetInputs(LAYOUT, STAGES, Category.GENERAL, plan_index, is_last, key))


LINES = tuple(line for lines in _sheet() for line in lines)


def test_stages_share_the_timeline_to_the_day() -> None:
    # ten days in two stages of five: 1-5 and 6-10 January
    two = LAYOUT.model_copy(update={"sub_plans": 2})
    stages = stages_of(Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 10)), two)
    assert [(s.first_day.day, s.last_day.day) for s in stages] == [(1, 5), (6, 10)]
    with pytest.raises(ValueError, match="5 days cannot hold 6 stages"):
        stages_of(
            Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 1, 5)), LAYOUT.model_copy(update={"sub_plans": 6})
        )


def test_everybody_comes_once_before_anybody_comes_again() -> None:
    cast = [name for stage in STAGES for name in stage.cast]
    assert [len(stage.cast) for stage in STAGES] == [CAST] * 5
    assert sorted(cast[: len(PEOPLE)]) == sorted(p.first_name for p in PEOPLE)


def test_those_of_whom_the_leading_narratives_tell_are_in_every_stage() -> None:
    told = NARRATIVES[1].model_copy(update={"description": "Eva hides the bill from Ada, and Bea finds it."})
    stages = stages_of(TIMELINE, LAYOUT, (NARRATIVES[0], told, *NARRATIVES[2:]), PEOPLE)
    assert [stage.cast for stage in stages[:3]] == [
        ("Ada", "Bea", "Cleo", "Dora"),
        ("Ada", "Bea", "Eva", "Fay"),
        ("Ada", "Bea", "Cleo", "Dora"),
    ]


def test_a_narrative_brings_the_people_whom_it_names_into_its_stages() -> None:
    told = NARRATIVES[6].model_copy(update={"description": "Fay wants the seat that Ada has."})
    stages = stages_of(TIMELINE, LAYOUT, (*NARRATIVES[:6], told, *NARRATIVES[7:]), PEOPLE)
    own = [stage.cast for stage in stages if "n6" in stage.narratives]
    assert own
    assert all(cast[:2] == ("Ada", "Fay") for cast in own)


def test_people_whom_no_narrative_names_come_too() -> None:
    told = [n.model_copy(update={"description": "Ada and Bea quarrel with Cleo, Dora and Eva."}) for n in NARRATIVES]
    stages = stages_of(TIMELINE, LAYOUT, told, PEOPLE)
    assert all(len(stage.cast) == len(set(stage.cast)) == CAST for stage in stages)
    assert all("Fay" in stage.cast for stage in stages)


def test_a_narrative_is_over_with_the_last_stage_that_moves_it() -> None:
    over = [narratives_over(STAGES, i) for i in range(len(STAGES))]
    assert over[-1] == STAGES[-1].narratives
    assert not over[0]
    for i, labels in enumerate(over):
        assert labels == tuple(
            n for n in STAGES[i].narratives if not any(n in later.narratives for later in STAGES[i + 1 :])
        )


def test_narratives_that_lead_move_in_every_stage_and_the_others_take_turns() -> None:
    labels = [n.label for n in NARRATIVES]
    assert all(stage.narratives[:LEADING] == ("n0", "n1") for stage in STAGES)
    # 20 bullets: five narratives a stage, three of them in turn
    assert [stage.narratives[LEADING:] for stage in STAGES[:2]] == [("n2", "n3", "n4"), ("n5", "n6", "n7")]
    assert {label for stage in STAGES for label in stage.narratives} == set(labels)


@pytest.mark.parametrize(
    ("length", "counts"),
    # Two lead; 16K: 14 bullets give one other a turn in each of two stages. 64K: two others in each of four (18).
    # 128K: three others in each of five (20).
    [(16_000, (4, 4)), (64_000, (8, 10)), (128_000, (15, 17)), (1_000_000, (15, 20))],
)
def test_a_story_has_no_more_narratives_than_can_move_in_it(length: int, counts: tuple[int, int]) -> None:
    layout = layout_for(length, Category.GENERAL, asked=2)
    assert narratives_for(length, layout) == counts
    narratives = tuple(Narrative(label=f"n{i}", description="d", sub_labels=("s",)) for i in range(counts[1]))
    timeline = Timeline(start=dt.date(2024, 1, 1), end=dt.date(2024, 12, 1))
    moving = {label for stage in stages_of(timeline, layout, narratives) for label in stage.narratives}
    assert moving == {n.label for n in narratives}


@pytest.mark.parametrize("spans", [(), (Span.EARLY, Span.EARLY, Span.WHOLE)])
def test_each_narrative_ends_once_with_what_has_happened(spans: tuple[Span, ...]) -> None:
    stages = tuple(s.model_copy(update={"narratives": s.narratives[:3], "spans": spans}) for s in STAGES)
    *_, last = draw_sheet(SheetInputs(LAYOUT, stages, Category.GENERAL, 0, True, "k"))
    ends = [line for line in last if line.part == CLOSING]
    assert [line.narrative for line in ends] == list(stages[-1].narratives[2 if spans else 0 :])
    slots = [slot for line in ends for slot in line.sets]
    assert all(slot.is_fixed for slot in slots)
    assert all(slot.day <= line.day for line in ends for slot in line.sets if slot.day)


def test_narratives_move_in_the_part_of_a_stage_that_the_outline_gives_them() -> None:
    spans = (Span.WHOLE, Span.EARLY, Span.LATE)
    stages = tuple(s.model_copy(update={"narratives": s.narratives[:3], "spans": spans}) for s in STAGES)
    for stage, lines in zip(
        stages, draw_sheet(SheetInputs(LAYOUT, stages, Category.GENERAL, 0, True, "k")), strict=True
    ):
        middle = stage.first_day + (stage.last_day - stage.first_day) / 2
        told = [line for line in lines if line.kind in TELLING_KINDS]
        assert {line.narrative for line in told if line.day <= middle} == set(stage.narratives[:2])
        assert {line.narrative for line in told if line.day > middle} == {stage.narratives[0], stage.narratives[2]}


def test_mondays_of_a_stage_are_its_calendar() -> None:
    stage = STAGES[0].model_copy(update={"first_day": dt.date(2024, 1, 24), "last_day": dt.date(2024, 2, 13)})
    assert stage.mondays == "January 29; February 5, 12"


def test_counts_add_up_and_only_the_first_stage_introduces() -> None:
    assert sum(bullet_counts(LAYOUT, 0).values()) == sum(bullet_counts(LAYOUT, 1).values()) == 20
    assert [bullet_counts(LAYOUT, i)[BulletKind.INTRODUCTION] for i in (0, 1)] == [1, 0]


def test_every_stage_has_the_lines_that_the_layout_asks_for() -> None:
    for stage, lines in zip(STAGES, _sheet(), strict=True):
        kinds = Counter(line.kind for line in lines)
        assert all(kinds[kind] == count for kind, count in bullet_counts(LAYOUT, stage.stage_index).items())
        assert [line.line for line in lines] == list(range(1, 21))


def test_days_never_go_back_and_lie_in_their_stage() -> None:
    for stage, lines in zip(STAGES, _sheet(), strict=True):
        days = [line.day for line in lines]
        assert days == sorted(days)
        assert stage.first_day <= days[0] <= days[-1] <= stage.last_day


def test_a_story_opens_once_and_only_its_last_plan_has_a_last_word() -> None:
    parts = [line.part for line in LINES if line.part]
    assert parts == ["opening", *["closing"] * 4]
    assert [line.part for line in LINES[-4:]] == ["closing"] * 4
    first = _sheet(plan_index=1, is_last=False)[0]
    assert (first[0].kind, first[0].part) == (BulletKind.EVENT, "opening")
    assert sum(line.part == "closing" for line in _sheet(plan_index=1, is_last=False)[-1]) == 3


def test_what_happened_is_past_and_what_is_planned_lies_ahead() -> None:
    days = [(line, slot) for line in LINES for slot in line.sets if slot.kind is ValueKind.DATE]
    assert {slot.is_fixed for _, slot in days} == {True, False}
    for line, slot in days:
        assert slot.day is not None
        assert slot.day <= line.day if slot.is_fixed else slot.day > line.day
    assert all((slot.day is None) == (slot.kind is not ValueKind.DATE) for line in LINES for slot in line.sets)


def test_events_and_meetings_set_something_and_others_do_not() -> None:
    for line in LINES:
        sets_something = line.kind in {BulletKind.EVENT, BulletKind.RELATIONSHIP} and line.part != "opening"
        assert bool(line.sets) == sets_something
        assert bool(line.person) or line.kind is not BulletKind.RELATIONSHIP


def test_same_key_draws_the_same_sheet_and_another_key_another() -> None:
    assert _sheet() == _sheet() != _sheet(key="2/c000")


def _story() -> Story:
    head = good_conversation().head
    ledger = Ledger.of(head.plans[0])
    return Story(ledger, tuple(b for b in ledger.bullets if b.kind is BulletKind.PREFERENCE))


def test_a_line_changes_only_a_slot_that_was_set_once_and_can_change() -> None:
    story = _story()
    drawn = [line for key in range(40) for line in with_targets(LINES, story, str(key))]
    changing = [line for line in drawn if line.changes]
    assert changing
    for line in changing:
        assert line.changes is not None
        assert not line.changes.is_fixed
        assert line.changes.kind in CHANGEABLE
        assert len(story.ledger.by_fact[line.changes.fact_id]) == 1
        assert (line.sets, line.part) == ((), "")
        assert line.slots == (line.changes.fact_id,)
        (setting,) = story.ledger.by_fact[line.changes.fact_id]
        assert (line.day - story.ledger.bullet[setting.bullet_id].happens_on).days >= SETTLED_DAYS
        assert line.narrative == story.ledger.bullet[setting.bullet_id].narrative


def test_no_line_changes_or_recalls_what_an_introduction_says_of_the_user() -> None:
    plan = good_conversation().head.plans[0]
    facts = tuple(f.model_copy(update={"subject": "me"}) for f in plan.facts)
    story = Story(Ledger(plan.sub_plans, facts, plan.assertions), ())
    drawn = [line for key in range(20) for line in with_targets(LINES, story, str(key))]
    assert not any(line.changes or line.recalls for line in drawn)


def test_lines_of_a_group_change_and_recall_different_slots() -> None:
    for key in range(20):
        group = with_targets(LINES[:12], _story(), str(key))
        touched = [line.changes or line.recalls for line in group]
        ids = [slot.fact_id for slot in touched if slot]
        assert len(ids) == len(set(ids))


def test_a_line_comes_back_to_its_own_narrative() -> None:
    story = _story()
    labels = {b.narrative for b in story.ledger.bullets}
    lines = [line.model_copy(update={"narrative": sorted(labels)[i % len(labels)]}) for i, line in enumerate(LINES)]
    recalling = [line for key in range(40) for line in with_targets(lines, story, str(key)) if line.recalls]
    assert recalling
    for line in recalling:
        assert line.recalls is not None
        setting = story.ledger.by_fact[line.recalls.fact_id][0]
        assert story.ledger.bullet[setting.bullet_id].narrative == line.narrative


def _told(*texts: str, announced: dt.date = dt.date(2024, 3, 6)) -> Story:
    """Return a story of one narrative, which told a planned day of the fair and the cost of thing 0, then the texts."""
    plan = _with_text(_plan(4), "p0.s0.b1", "The fair is on March 6.", "the fair")
    for i, text in enumerate(texts, 2):
        plan = _with_text(plan, f"p0.s0.b{i}", text, "thing 0")
    fair = Fact(fact_id="p0.f1", subject="the fair", attribute="day", kind=ValueKind.DATE)
    cost, _, *others = plan.facts
    day = plan.assertions[1].model_copy(update={"value": date_value(announced)})
    assertions = (plan.assertions[0], day, *plan.assertions[2:])
    return Story(Ledger((plan.sub_plans[0],), (cost, fair, *others), assertions[:4]), ())


LATER = dt.date(2024, 12, 1)


def _targets(story: Story, day: dt.date, narrative: str = "Money") -> list[SheetLine]:
    line = SheetLine(line=1, kind=BulletKind.EVENT, day=day, narrative=narrative)
    return [drawn for key in range(60) for drawn in with_targets([line], story, str(key))]


def test_the_first_event_after_an_announced_day_tells_how_it_went() -> None:
    day = dt.date(2024, 3, 6)
    told = [line.outcome_of for line in _targets(_told(), day + dt.timedelta(days=1))]
    assert {bullet.bullet_id if bullet else "" for bullet in told} == {"p0.s0.b1"}
    assert not any(line.outcome_of for line in _targets(_told(), day))


def test_an_outcome_is_told_in_the_narrative_of_its_announcement_and_about_its_thing() -> None:
    (line, *_) = _targets(_told(), dt.date(2024, 3, 20), narrative="Rooms")
    assert (line.narrative, line.topic, line.person) == ("Money", "the fair", "")


def test_no_line_comes_back_to_an_announced_day_or_twice_to_a_thing() -> None:
    story = _told(announced=LATER)
    recalled = {line.recalls.fact_id for line in _targets(story, dt.date(2024, 4, 6)) if line.recalls}
    assert recalled
    assert "p0.f1" not in recalled
    one = min(recalled)
    drawn = _targets(replace(story, recalled=frozenset({one})), dt.date(2024, 4, 6))
    assert one not in {line.recalls.fact_id for line in drawn if line.recalls}


def test_an_outcome_is_told_once() -> None:
    story = _told()
    (sub_plan,) = story.ledger.sub_plans
    fair = next(b for b in sub_plan.bullets if b.bullet_id == "p0.s0.b1")
    for day, is_due in ((6, True), (7, False)):
        later = fair.model_copy(
            update={"bullet_id": "p0.s0.b99", "text": "It rained.", "happens_on": dt.date(2024, 3, day)}
        )
        bullets = sub_plan.model_copy(update={"bullets": (*sub_plan.bullets, later)})
        ledger = Ledger((bullets,), story.ledger.facts, story.ledger.assertions)
        drawn = _targets(replace(story, ledger=ledger), dt.date(2024, 3, 20))
        assert all(bool(line.outcome_of) is is_due for line in drawn)


def test_lines_are_worded_together_until_one_may_tell_how_a_day_went() -> None:
    sets = (NewSlot(kind=ValueKind.DATE, is_fixed=False, day=dt.date(2024, 3, 6)),)
    days = [dt.date(2024, 3, n) for n in (1, 6, 7, 9)]
    lines = [SheetLine(line=i, kind=BulletKind.EVENT, day=day, narrative="Money") for i, day in enumerate(days)]
    assert until_due(lines) == lines
    lines[0] = lines[0].model_copy(update={"sets": sets})
    assert until_due(lines) == lines[:2]
    lines[2] = lines[2].model_copy(update={"kind": BulletKind.RELATIONSHIP})
    assert until_due(lines) == lines[:3]


def test_the_lines_that_end_a_story_are_worded_by_themselves() -> None:
    last = _sheet()[-1]
    group = until_due(last[-6:])
    assert [line.part for line in group] == ["", ""]
    assert until_due(last[-4:]) == last[-4:]


def test_one_event_of_a_group_tells_the_outcome_of_a_day() -> None:
    line = SheetLine(line=1, kind=BulletKind.EVENT, day=dt.date(2024, 3, 20), narrative="Money")
    lines = with_targets([line, line.model_copy(update={"line": 2})], _told(), "k")
    assert [bool(drawn.outcome_of) for drawn in lines] == [True, False]


@pytest.mark.parametrize("ends", [{"part": CLOSING}, {"is_last": True}])
def test_a_line_that_ends_a_narrative_tells_no_outcome_of_another_one(ends: dict[str, object]) -> None:
    line = SheetLine(line=1, kind=BulletKind.EVENT, day=dt.date(2024, 3, 20), narrative="Rooms")
    line = line.model_copy(update=ends)
    own = line.model_copy(update={"line": 2, "narrative": "Money"})
    drawn = with_targets([line, own], _told(), "k")
    assert [(bool(d.outcome_of), d.narrative) for d in drawn] == [(False, "Rooms"), (True, "Money")]


def test_a_narrative_that_is_over_before_the_story_has_a_last_line_without_a_day_to_come() -> None:
    spans = (Span.WHOLE, Span.WHOLE, Span.EARLY, Span.WHOLE, Span.LATE)
    stages = tuple(stage.model_copy(update={"spans": spans}) for stage in STAGES)
    sheet = draw_sheet(SheetInputs(LAYOUT, stages, Category.GENERAL, 0, True, "k"))
    ends = [(i, line) for i, lines in enumerate(sheet) for line in lines if line.is_last]
    over = [(i, label) for i in range(len(stages)) for label in narratives_over(stages, i)]
    closing = {line.narrative for line in sheet[-1] if line.part == CLOSING}
    assert {(i, line.narrative) for i, line in ends} == {pair for pair in over if pair[1] not in closing}
    assert len(ends) >= 3
    for i, line in ends:
        assert (line.kind, line.part, len(line.sets)) == (BulletKind.EVENT, "", 1)
        assert not any(slot.day and slot.day > line.day for slot in line.sets)
        later = [told for told in sheet[i] if told.line > line.line and told.kind in TELLING_KINDS]
        assert not any(told.narrative == line.narrative for told in later)


def test_nothing_more_is_told_of_a_narrative_behind_its_last_line() -> None:
    stage = STAGES[2].model_copy(update={"first_day": dt.date(2024, 3, 1), "narratives": ("Money", "Rooms")})
    story = replace(_told(announced=LATER), stages=(stage,))
    line = SheetLine(line=1, kind=BulletKind.EVENT, day=dt.date(2024, 3, 20), narrative="Money", is_last=True)
    group = [line, *(line.model_copy(update={"line": n, "is_last": False}) for n in range(2, 9))]
    ended = replace(story, ended=frozenset({"Money"}))
    for key in range(20):
        for drawn in (with_targets(group, story, str(key))[1:], with_targets(group[1:], ended, str(key))):
            assert {later.narrative for later in drawn} == {"Rooms"}
            assert not any(later.changes or later.recalls for later in drawn)


def test_a_narrative_is_over_behind_its_last_stage() -> None:
    stage = STAGES[2].model_copy(update={"first_day": dt.date(2024, 2, 1), "last_day": dt.date(2024, 3, 18)})
    for narratives, is_open in ((("Money",), False), (("Rooms",), True)):
        stages = (stage.model_copy(update={"narratives": narratives}),)
        drawn = _targets(replace(_told(announced=LATER), stages=stages), dt.date(2024, 3, 20))
        assert any(line.changes or line.recalls for line in drawn) is is_open


def test_what_a_line_has_ended_is_neither_changed_nor_come_back_to() -> None:
    day = dt.date(2024, 4, 6)
    for story, is_open in ((_told(announced=LATER), True), (_told("We called thing 0 off.", announced=LATER), False)):
        touched = [line.changes or line.recalls for line in _targets(story, day)]
        assert ("p0.f0" in {slot.fact_id for slot in touched if slot}) is is_open


def test_slots_of_a_narrative_that_is_over_are_left_alone() -> None:
    days = {"first_day": dt.date(2024, 3, 1), "last_day": dt.date(2024, 4, 1)}
    stage = STAGES[0].model_copy(update={**days, "narratives": ("Money",), "spans": (Span.EARLY,)})
    for stages, is_open in (((), True), ((stage, STAGES[1]), False)):
        drawn = _targets(replace(_told(announced=LATER), stages=stages), dt.date(2024, 3, 25))
        assert any(line.changes or line.recalls for line in drawn) is is_open


def test_no_day_is_planned_behind_the_beginning_of_the_end() -> None:
    for key in range(20):
        lines = [line for stage in _sheet(key=str(key)) for line in stage]
        end = min(line.day for line in lines if line.part == CLOSING)
        planned = [slot.day for line in lines for slot in line.sets if slot.day and not slot.is_fixed]
        assert max(planned) < end


def test_the_slots_of_a_line_differ_in_kind_from_each_other_and_from_those_of_the_line_before() -> None:
    for lines in _sheet():
        setting = [[slot.kind for slot in line.sets] for line in lines if line.sets]
        for before, kinds in zip(([], *setting), setting, strict=False):
            assert len({*before, *kinds}) == len(before) + len(kinds)


def test_the_people_of_a_stage_alone_are_met_before_those_of_every_stage() -> None:
    for stage, lines in zip(STAGES, _sheet(), strict=True):
        met = [line.person for line in lines if line.kind is BulletKind.RELATIONSHIP]
        assert met == list(reversed(stage.cast))[: len(met)]
        assert len(met) == 2


def test_those_who_take_part_in_events_take_turns() -> None:
    for stage, lines in zip(STAGES, _sheet(), strict=True):
        joined = [line.person for line in lines if line.kind is BulletKind.EVENT and line.person]
        assert joined == [stage.cast[i % CAST] for i in range(len(joined))]
    assert any(line.person for line in LINES if line.kind is BulletKind.EVENT)


def test_a_line_goes_to_the_narrative_of_which_its_stage_has_told_least() -> None:
    stage = STAGES[2].model_copy(update={"first_day": dt.date(2024, 3, 1), "narratives": ("Money", "Rooms", "Lou")})
    story = replace(_told(announced=LATER), stages=(stage,))
    drawn = SheetLine(line=1, kind=BulletKind.RELATIONSHIP, day=dt.date(2024, 3, 20), narrative="Money")
    lines = with_targets([drawn.model_copy(update={"line": n}) for n in range(1, 6)], story, "k")
    assert [line.narrative for line in lines[:2]] == ["Rooms", "Lou"]
    assert {line.narrative for line in lines} == {"Rooms", "Lou"}  # Money has four lines already


def test_the_end_of_a_narrative_and_what_an_outcome_belongs_to_are_not_given_to_others() -> None:
    stage = STAGES[2].model_copy(update={"first_day": dt.date(2024, 3, 1), "narratives": ("Money", "Rooms")})
    story = replace(_told(), stages=(stage,))
    end = SheetLine(line=1, kind=BulletKind.EVENT, day=dt.date(2024, 3, 20), narrative="Money", part=CLOSING)
    assert [line.narrative for line in with_targets([end], story, "k")] == ["Money"]
    outcome = with_targets([end.model_copy(update={"part": ""})], story, "k")[0]
    assert (outcome.outcome_of is not None, outcome.narrative) == (True, "Money")


@pytest.mark.parametrize("is_due", [True, False])
def test_an_outcome_sets_no_other_day_to_come(is_due: bool) -> None:
    past, ahead, name = (ValueKind.DATE, dt.date(2024, 3, 19)), (ValueKind.DATE, LATER), (ValueKind.NAME, None)
    sets = tuple(NewSlot(kind=kind, is_fixed=day != LATER, day=day) for kind, day in (past, ahead, name))
    line = SheetLine(line=1, kind=BulletKind.EVENT, day=dt.date(2024, 3, 20), narrative="Rooms", sets=sets)
    story = _told() if is_due else _told(announced=LATER)
    assert [slot.day for slot in with_targets([line], story, "k")[0].sets] == [
        slot.day for slot in sets if slot.day != LATER or not is_due
    ]


def test_a_line_that_ends_a_narrative_says_one_value_under_a_name_of_its_own() -> None:
    drawn = [line for key in range(20) for line in with_targets(_sheet(key=str(key))[-1], _story(), str(key))]
    closing = [line for line in drawn if line.part == CLOSING]
    assert closing
    assert all(len(line.sets) <= 1 and not any(slot.like for slot in line.sets) for line in closing)


def test_a_line_comes_back_first_to_what_was_told_once() -> None:
    story = _told("Thing 0 is dear.", announced=LATER)  # its cost, and that; thing 3 has one line
    recalled = {line.recalls.fact_id for line in _targets(story, dt.date(2024, 4, 6)) if line.recalls}
    assert recalled
    assert "p0.f0" not in recalled


def test_wishes_grow_out_of_narratives_that_are_not_over() -> None:
    labels = ["a", "b", "c"]
    stages = [
        stage.model_copy(update={"narratives": narratives})
        for stage, narratives in zip(STAGES, (("a", "b"), ("a", "c")), strict=False)
    ]
    assert narratives_ahead(stages, labels) == (("a", "b", "c"), ("a", "c"))
    assert narratives_ahead([s.model_copy(update={"narratives": ()}) for s in stages], labels) == (("a", "b", "c"),) * 2
    assert any(len(line.sets) == 2 for line in LINES)


def test_new_amounts_may_take_the_name_of_an_earlier_amount() -> None:
    story = _story()
    narrative = {a.fact_id: story.ledger.bullet[a.bullet_id].narrative for a in story.ledger.assertions}
    names = {(f.kind, f.attribute, narrative[f.fact_id]) for f in story.ledger.lines()}
    labels = sorted(set(narrative.values()))
    group = [line.model_copy(update={"narrative": labels[i % len(labels)]}) for i, line in enumerate(LINES)]
    lines = [line for key in range(20) for line in with_targets(group, story, str(key))]
    alike = [(slot.kind, slot.like, line.narrative) for line in lines for slot in line.sets if slot.like]
    assert alike
    assert set(alike) <= names


def test_a_plan_without_people_or_narratives_has_a_sheet() -> None:
    small = Layout(sub_plans=1, bullets_per_sub_plan=6, batches=3, questions=1, specials=1)
    stages = stages_of(TIMELINE, small)
    (lines,) = draw_sheet(SheetInputs(small, stages, Category.MATH, 0, True, "k"))
    assert [line.kind.value for line in lines].count("event") == 3
    assert {line.person for line in lines} == {""}
