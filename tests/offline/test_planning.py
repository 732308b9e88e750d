"""Updates and slips of the offline planner, and the thread that a bullet tells."""

from __future__ import annotations

import datetime as dt
import random

import pytest

from longbeam.offline import (
    SIDES_OF_LIFE,
    Thread,
    augment,
    bounds_of,
    fill,
    pack_for,
    people_thread,
    plan_seeds,
    thread_of,
    upper_first,
)
from longbeam.prompts.calls import (
    AugmentInputs,
    ContradictionKind,
    ContradictionTarget,
    LedgerLine,
    OutlineInputs,
    Place,
    PlanSeedsInputs,
    UpdateTarget,
)
from longbeam.schemas import Bullet, BulletKind, Strategy, Value, ValueKind
from longbeam.text import values
from tests.prompts.samples import SAMPLES

SAMPLE = SAMPLES["augment"]
assert isinstance(SAMPLE, AugmentInputs)
PACK = pack_for(SAMPLE.seed)
DAY = dt.date(2024, 3, 5)
TOLD = dt.date(2024, 4, 2)
PEOPLE_REMARKS = [text for slot in people_thread().slots.values() for text in (*slot.moved, *slot.misremember)]


def told(thread: Thread, topic: str, text: str = "I went on with it.") -> Bullet:
    """A bullet about a thing, with the narrative of another thread than its own."""
    other = next(t for t in PACK.threads if t is not thread and topic not in t.things)
    kind, narrative = BulletKind.EVENT, other.narrative
    return Bullet(bullet_id="p0.s0.b3", kind=kind, narrative=narrative, topic=topic, text=text, happens_on=DAY)


def remarks(bullet: Bullet, attribute: str, value: Value) -> tuple[str, str]:
    """Return the new value of an update and the wrong one of a contradiction of a fact."""
    place = Place(after=bullet.bullet_id, day=TOLD)
    fact = LedgerLine(
        fact_id="p0.f0", subject=bullet.topic, attribute=attribute, kind=value.kind, is_fixed=False, value=value
    )
    asked = SAMPLE.model_copy(
        update={
            "updates": (UpdateTarget(target_id="u0", fact=fact, bullet=bullet, place=place),),
            "contradictions": (
                ContradictionTarget(target_id="c0", slip=ContradictionKind.NAME, fact=fact, bullet=bullet, place=place),
            ),
            "wishes": (),
        }
    )
    reply = augment(asked, random.Random("remarks"), "1/c000")
    return reply.updates[0].value, reply.contradictions[0].value


@pytest.mark.parametrize("thread", [t for t in PACK.threads if t.things], ids=lambda t: t.thread)
def test_a_bullet_has_the_thread_of_its_thing_whatever_its_narrative(thread: Thread) -> None:
    assert thread_of(PACK, told(thread, thread.things[0])) is thread


@pytest.mark.parametrize(
    "text",
    [
        "When I started, Luke gave me a tin of tea, half as a joke, and now it's part of my routine",
        *(fill(t, {"it": "Luke", "new": "July 9", "other": "a tin of tea"}) for t in PEOPLE_REMARKS),
    ],
)
def test_what_is_told_of_a_person_has_the_thread_of_the_people(text: str) -> None:
    assert thread_of(PACK, told(PACK.threads[0], "Luke", upper_first(text) + ".")) is people_thread()


def test_a_value_of_a_pool_changes_into_another_one_of_it() -> None:
    thread, slot = next((t, s) for t in PACK.threads if t.things for s in t.slots.values() if s.choose)
    old = values.name(slot.choose[0])
    for new in remarks(told(thread, thread.things[0]), slot.attribute, old):
        assert new in slot.choose[1:]


def test_a_day_that_no_slot_knows_changes_into_another_day() -> None:
    thread = next(t for t in PACK.threads if t.things)
    old = values.date_value(DAY)
    assert not any(s.attribute == "review day" for s in thread.slots.values())
    new, wrong = remarks(told(thread, thread.things[0]), "review day", old)
    assert dt.datetime.strptime(new, "%B %d, %Y").date() > TOLD
    assert dt.datetime.strptime(wrong, "%B %d, %Y").date() > DAY


def test_a_value_that_cannot_be_counted_and_has_no_slot_is_something_else() -> None:
    thread = next(t for t in PACK.threads if t.things)
    old = Value(kind=ValueKind.TEXT, text="by hand")
    assert remarks(told(thread, thread.things[0]), "no attribute", old) == ("something else", "something else")


@pytest.mark.parametrize("plans", [2, 4, 10, 64])
def test_phases_of_a_storyline_keep_its_subject_and_reach_its_end(plans: int) -> None:
    inputs = SAMPLES["plan_seeds"]
    assert isinstance(inputs, PlanSeedsInputs)
    ideas = tuple(inputs.ideas[i % 2] for i in range(plans))
    drafts = plan_seeds(inputs.model_copy(update={"ideas": ideas, "spans": inputs.spans[:1] * plans})).plans
    assert (drafts[0].phase, drafts[-1].phase) == ("the idea", "what it has become")
    assert all(d.topic.startswith(inputs.seed.title) for d in drafts)
    assert {tuple(d.subtopics) for d in drafts} == {inputs.seed.subtopics}
    assert {d.touches for d in drafts[1:]} <= set(SIDES_OF_LIFE)
    told = [thing for d in drafts for thing in d.can_mention]
    assert len(told) == len(set(told))  # each belongs to one plan, and later plans come back to it


def test_later_phases_come_back_to_things_of_earlier_ones_and_other_plans_do_not() -> None:
    inputs = SAMPLES["outline"]
    assert isinstance(inputs, OutlineInputs)
    chapter = inputs.chapter
    assert chapter is not None
    assert chapter.plan_index == 1
    told = {thing.casefold() for thing in chapter.plan_seeds[0].can_mention}
    assert bounds_of(chapter.model_copy(update={"strategy": Strategy.SEQUENTIAL})).forbidden == told
    assert bounds_of(chapter.model_copy(update={"strategy": Strategy.HIERARCHICAL})).forbidden == frozenset()
