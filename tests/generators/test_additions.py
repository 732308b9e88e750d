"""What is told beside a story: which entries and confidences hold, and that their facts are kept apart."""

from __future__ import annotations

import datetime as dt
from itertools import count
from typing import Any

import pytest

from longbeam.generators import AdditionInputs, Ledger, with_additions, with_asides
from longbeam.prompts.calls import Confidence, EventsInputs, EventsReply, LogEntry, StageStory, StoryEvent
from longbeam.schemas import AMOUNT_KINDS, CONFIDED, BulletKind, Gender, Person, Plan, Relation
from longbeam.text import KEEP_FROM, amount_like, relation_words, says
from tests.generators.probes.story import START, full_story
from tests.prompts.samples import SAMPLES

PEOPLE = tuple(
    Person(person_id=f"n{i}", first_name=name, gender=Gender.FEMALE, age=40, relation=Relation.FRIEND)
    for i, name in enumerate(("Dana", "Ruth", "Olga", "Ines", "Mara"))
)


def _plan() -> Plan:
    """A plan whose bullets are told on a day each."""
    (plan,) = full_story().head().plans
    days = count()
    sub_plans = [
        s.model_copy(
            update={"bullets": tuple(b.model_copy(update={"happens_on": _day(next(days))}) for b in s.bullets)}
        )
        for s in plan.sub_plans
    ]
    return plan.model_copy(update={"sub_plans": tuple(sub_plans)})


def _day(ordinal: int) -> dt.date:
    return START + dt.timedelta(days=ordinal)


EVENTS = tuple(
    StoryEvent(event_id=f"e{i}", narrative="", thing="the fair", what="It moves.", day=_day(i)) for i in range(1, 7)
)
ENTRY = LogEntry(
    event="e1",
    amount="6 jars",
    place="in Ruth's kitchen",
    companion="Ruth",
    text="I filled 6 jars in Ruth's kitchen with Ruth.",
)
LOAN = Confidence(
    thing="the loan",
    event="e2",
    text="Between us: my uncle lent me $4,200 for the stall.",
    open="my uncle lent me",
    figure="$4,200",
    asked_at="e5",
    keep_from="Dana",
    request="Dana reads these lists now, so leave what my uncle lent out of them.",
)


def _checked(
    *entries: LogEntry, confidence: Confidence = LOAN, log: str = "jars for the fair"
) -> tuple[StageStory, list[str]]:
    asked = SAMPLES["events"]
    assert isinstance(asked, EventsInputs)
    stages = tuple(s.model_copy(update={"cast": tuple(p.first_name for p in PEOPLE[:3])}) for s in asked.stages)
    asked = asked.model_copy(update={"people": PEOPLE, "stages": stages, "log": "", "logged": ()})
    reply = EventsReply(events=[], log=log, entries=list(entries), confidences=[confidence])
    return with_asides(StageStory(stage_index=0, events=EVENTS), reply, asked)


def _entry(**changes: str) -> LogEntry:
    return ENTRY.model_copy(update=changes)


def _booked(plan: Plan | None = None, **more: Any) -> Plan:
    plan = plan or _plan()
    bullets = [b.bullet_id for s in plan.sub_plans for b in s.bullets][:6]
    story, _ = _checked(ENTRY, _entry(event="e3", place="", text="I filled 6 jars more with Ruth."))
    bullet_of = {e.event_id: b for e, b in zip(EVENTS, bullets, strict=True)}
    return with_additions(AdditionInputs(plan, [story], bullet_of, "0/c000", more.pop("has_room", True), **more))


def test_good_entries_and_confidences_are_kept() -> None:
    story, faults = _checked(ENTRY)
    assert (story.log, story.entries, story.confidences, faults) == ("jars for the fair", (ENTRY,), (LOAN,), [])


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (_entry(event="e9"), "no event of the stage"),
        (_entry(amount="many"), "is no amount"),
        (_entry(amount="7 jars"), "does not say '7 jars'"),
        (_entry(place="at the fair"), "does not say 'at the fair'"),
        (_entry(companion="Mara", text="I filled 6 jars in Ruth's kitchen with Mara."), "no grown-up with a part"),
        (_entry(text="I filled 6 jars in Ruth's kitchen with Ruth, 40 km from here."), "says '40 km'"),
        (_entry(event="e2", amount="6 lids", text="I cleaned 6 lids in Ruth's kitchen with Ruth."), "counts in 'lids'"),
    ],
)
def test_an_entry_that_does_not_hold_is_left_out_with_its_reason(entry: LogEntry, reason: str) -> None:
    story, faults = _checked(*([ENTRY] if entry.event == "e2" else []), entry)
    assert entry not in story.entries
    assert reason in faults[0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"asked_at": "e2"}, "comes no day after e2"),
        ({"asked_at": "e1"}, "comes no day after e2"),
        ({"event": "e0"}, "are events of the stage"),
        ({"keep_from": "Tom"}, "is kept from 'Tom'"),
        ({"figure": "a lot"}, "is no amount"),
        ({"open": "my uncle lent me $4,200"}, "has its figure in what may be said"),
        ({"request": "Leave the $4,200 out."}, "says '$4,200' in its request"),
        ({"open": "my aunt"}, "does not say 'my aunt'"),
    ],
)
def test_a_confidence_that_does_not_hold_is_left_out(changes: dict[str, str], reason: str) -> None:
    story, faults = _checked(confidence=LOAN.model_copy(update=changes))
    assert not story.confidences
    assert reason in faults[0]


def test_a_story_without_a_log_has_no_entries() -> None:
    story, faults = _checked(ENTRY, log="")
    assert (story.entries, faults) == ((), [])


def test_two_entries_of_one_day_are_one() -> None:
    story, faults = _checked(ENTRY, _entry(text="Again I filled 6 jars in Ruth's kitchen with Ruth."))
    assert (story.entries, faults) == ((ENTRY,), [])


def test_every_entry_says_its_values_on_a_day_of_its_own() -> None:
    plan = _booked()
    told = {b.bullet_id: b for b in plan.bullets() if b.kind is BulletKind.SIDE}
    side = {f.fact_id for f in plan.facts if f.side_story}
    made = [a for a in plan.assertions if a.fact_id in side]

    assert [f.attribute.partition(" on ")[0] for f in plan.facts if f.side_story == "jars for the fair"] == [
        "amount", "place", "companion", "amount", "companion",
    ]  # fmt: skip
    assert all(a.value is not None and says(told[a.bullet_id].text, a.value) for a in made)
    slots = [f.slot for f in plan.facts]
    assert len(set(slots)) == len(slots)
    ids = [b.bullet_id for b in plan.bullets()]
    assert len(set(ids)) == len(ids)
    assert not side & {line.fact_id for line in Ledger.of(plan).lines()}  # the story itself does not know them
    assert _booked().digest == plan.digest


def test_a_request_for_silence_comes_behind_its_confidence_and_a_claim_behind_its_amount() -> None:
    plan = _booked()
    order = {b.bullet_id: i for i, b in enumerate(plan.bullets())}
    (asked,) = [b for b in plan.bullets() if b.variety == KEEP_FROM]
    (told,) = [b for b in plan.bullets() if b.variety == CONFIDED]
    (pasted,) = [b for b in plan.bullets() if b.kind is BulletKind.PASTED]

    assert (asked.text, asked.condition) == (LOAN.request, "when Dana reads along")
    assert order[told.bullet_id] < order[asked.bullet_id]
    assert order[pasted.target_bullet_id or ""] < order[pasted.bullet_id]
    assert not [a for a in plan.assertions if a.bullet_id == pasted.bullet_id]
    assert not [b for b in _booked(has_room=False).bullets() if b.kind is BulletKind.PASTED]


def test_nothing_is_pasted_where_the_story_says_every_other_amount() -> None:
    plan = _plan()
    # As the pasted document would claim them: half as much again, and more with each of the 96 steps.
    said = tuple(
        a.model_copy(
            update={"fact_id": "p0.f999", "value": amount_like(a.value, round(a.value.number * (1 + step / 6)))}
        )
        for a in plan.assertions
        if a.value is not None and a.value.kind in AMOUNT_KINDS and a.value.number
        for step in range(3, 99)
    )
    made = _booked(plan.model_copy(update={"assertions": (*plan.assertions, *said)}))
    assert not [b for b in made.bullets() if b.kind is BulletKind.PASTED]


@pytest.mark.parametrize(("age", "words"), [(40, "my colleague"), (64, "my colleague"), (65, "my acquaintance")])
def test_nobody_of_65_years_is_called_a_colleague(age: int, words: str) -> None:
    person = PEOPLE[0].model_copy(update={"relation": Relation.ACQUAINTANCE, "age": age})
    assert relation_words(person) == words
    assert relation_words(PEOPLE[0]) == "my friend"
