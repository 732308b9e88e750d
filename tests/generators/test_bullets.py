"""Drafted bullets: the faults of a draft, values derived from their texts, stances derived from the ledger."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from longbeam.generators import (
    Drafted,
    Known,
    Ledger,
    PlanHistory,
    assembled,
    faults_in_group,
    faults_of,
    new_slot,
    repeated,
    typed_value,
)
from longbeam.prompts.calls import BulletDraft, FactDraft, LedgerLine, NewSlot, Stage, StoryEvent
from longbeam.schemas import OUTCOME, BulletKind, Stance, Value, ValueKind
from longbeam.text import date_value, language_of, money, number
from tests.builders import good_conversation

DAY = dt.date(2024, 3, 14)  # a Thursday
STAGE = Stage(stage_index=0, first_day=dt.date(2024, 3, 1), last_day=dt.date(2024, 4, 30))
PROFILE = good_conversation().head.profile.model_copy(update={"age": 41})
KNOWN = Known(
    stage=STAGE,
    profile=PROFILE,
    ledger=Ledger((), (), ()),
    history=PlanHistory(),
    values={},
)
EVENT = StoryEvent(event_id="e3", narrative="money", thing="the kiln", what="It moves.", day=DAY)


def _draft(text: str, *facts: tuple[str, str, str]) -> BulletDraft:
    drafts = [FactDraft(slot=slot, name=name, value=value) for slot, name, value in facts]
    return BulletDraft(event="e3", text=text, facts=drafts)


def _faults(draft: BulletDraft, line: StoryEvent = EVENT, known: Known = KNOWN) -> list[str]:
    return list(faults_of(draft, line, known))


def _after(*drafts: BulletDraft) -> Known:
    """What is known when these drafts have been told."""
    made = assembled([(EVENT, draft) for draft in drafts], KNOWN, 0)
    ledger = Ledger((made.sub_plan,), made.facts, made.assertions)
    return replace(KNOWN, ledger=ledger, values={line.fact_id: line.value for line in ledger.lines()})


def test_what_may_change_later_is_not_called_final() -> None:
    told = _draft("The final price of the kiln is $850.", ("money", "price", "$850"))
    once = _draft("The final price of the kiln is $850.", ("money, once", "price", "$850"))
    assert _faults(told) == ["e3 says 'final price' of what may still change later; leave that out"]
    settled = _draft("The kiln costs $850, and that's it for good.", ("money", "price", "$850"))
    assert _faults(settled) == ["e3 says 'for good' of what may still change later; leave that out"]
    assert _faults(_draft("The kiln costs $850 for good reasons.", ("money", "price", "$850"))) == []
    assert _faults(told, EVENT.model_copy(update={"part": "closing"})) == []
    assert _faults(once) == []


PRICE = _draft("The kiln costs $850.", ("money", "price", "$850"))
BOUGHT = _draft("I bought the kiln on March 12.", ("date, once", "purchase day", "March 12"))


def test_a_draft_whose_values_are_all_facts_has_no_fault() -> None:
    told = "I paid $850 for the kiln on Tuesday, March 12, and it takes 6 weeks to come."
    facts = (("money, once", "price", "$850"), ("date, once", "purchase day", "March 12"))
    assert _faults(_draft(told, *facts, ("duration", "delivery time", "6 weeks"))) == []


@pytest.mark.parametrize(
    ("draft", "fault"),
    [
        (_draft(" "), "e3 has no text"),
        (_draft("It costs $850 and 3 weeks.", ("money", "price", "$850")), "the text says '3 weeks', and no fact"),
        (_draft("It is cheap.", ("money", "price", "$850")), "the fact '$850' does not stand in the text"),
        (_draft("It costs a lot.", ("money", "price", "a lot")), "'a lot' names no amount of money"),
        (_draft("It costs $850.", ("price", "price", "$850")), "slot 'price' is neither an id of the list nor a kind"),
        (_draft("It costs $850.", ("money", "", "$850")), "the fact '$850' has no name"),
        (
            _draft("It came on March 20.", ("date, once", "day", "March 20")),
            "March 20, 2024 has happened once, and it is told on March 14, 2024, before it",
        ),
        (
            _draft("I bought it on Monday, March 12.", ("date, once", "purchase day", "March 12")),
            "March 12 is a Tuesday, not a Monday",
        ),
    ],
)
def test_every_fault_of_a_draft_is_named(draft: BulletDraft, fault: str) -> None:
    assert any(fault in found for found in _faults(draft)), _faults(draft)


def test_an_event_that_repeats_another_is_named() -> None:
    told = "I have packed the warm coat, the camera, two lenses and a tripod for the winter journey to the north."
    first = _draft(told).model_copy(update={"event": "e2"})
    assert repeated(_draft(f"With Perry: {told}"), [first]) == "e2"
    assert repeated(_draft("I have packed nothing yet."), [first]) == ""


def test_a_line_in_the_third_person_or_of_far_too_many_words_is_refused() -> None:
    assert _faults(_draft("The user has been planning for months.")) == [
        "e3 speaks of the user; the user speaks, so write I, my or we"
    ]
    assert _faults(_draft("The user stories are done, I think.")) == []
    assert _faults(_draft("I went on. " * 21)) == ["e3 has 63 words; write one or two sentences of at most 35"]


def test_a_text_that_its_form_has_cut_is_refused() -> None:
    opening = EVENT.model_copy(update={"part": "opening"})  # may have twice the words
    text = "I have long wanted to see more of the north than pictures of it have shown me. " * 6
    assert _faults(_draft(text[:471]), opening) == [
        "e3 breaks off in the middle of a sentence; write one or two whole ones of at most 35 words"
    ]
    assert _faults(_draft(text.strip()), opening) == []


def test_all_faults_of_a_draft_are_told_at_once() -> None:
    draft = _draft("I have 3 shelves and 4 lamps.", ("money", "price", "$850"))
    assert len(_faults(draft)) == 3


def test_a_value_of_the_ledger_or_of_the_user_needs_no_fact() -> None:
    known = _after(PRICE)
    assert _faults(_draft("At 41 years I still owe $850 since March 14."), known=known) == []
    assert len(_faults(_draft("I owe $851."), known=known)) == 1


def test_a_slot_that_changes_gets_another_value_and_one_that_happened_none() -> None:
    known = _after(PRICE, BOUGHT)
    price, bought = known.ledger.facts
    dearer = _draft("It is $990 now.", (price.fact_id, "price", "$990"))
    assert _faults(dearer, known=known) == []
    moved = _draft("I bought it on March 9.", (bought.fact_id, "purchase day", "March 9"))
    assert "has happened once, as 'March 12, 2024', and cannot become" in _faults(moved, known=known)[0]


@pytest.mark.parametrize(
    ("slot", "closes", "fault"),
    [
        ("money", (), ""),
        (
            "money, once",
            (),
            "e4: price of the kiln is '$850' with e3, where it happened once, and cannot become '$990'",
        ),
        (
            "money",
            ("The kiln",),
            "e4: price of the kiln is '$850'; its matter was over with e3, so it does not become '$990'",
        ),
    ],
)
def test_a_value_set_in_the_same_request_is_one_fact_that_may_be_fixed_or_over(
    slot: str, closes: tuple[str, ...], fault: str
) -> None:
    first = EVENT.model_copy(update={"closes": closes})
    later = EVENT.model_copy(update={"event_id": "e4", "day": DAY + dt.timedelta(days=2)})
    told, dearer = _draft("It costs $850.", (slot, "price", "$850")), _draft("It is $990.", ("money", "price", "$990"))
    assert list(faults_in_group(dearer, later, [(first, told)])) == ([fault] if fault else [])
    made = assembled([(first, told), (later, dearer)], KNOWN, 0)
    assert [f.fact_id for f in made.facts] == ["p0.f0"]


@pytest.mark.parametrize("slot", ["p0.f0", "money"])
def test_a_value_of_a_matter_that_is_over_stays_as_it_is(slot: str) -> None:
    known = replace(_after(PRICE), over={"p0.f0": "e2"})
    dearer = _draft("It is $990 now.", (slot, "price", "$990"))
    assert _faults(dearer, known=known) == [
        "e3: price of the kiln is '$850'; its matter was over with e2, so it does not become '$990'"
    ]
    assert _faults(_draft("It was $850, after all.", (slot, "price", "$850")), known=known) == []


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("$1,200", ValueKind.MONEY, money(1200)),
        ("2,400 PLN", ValueKind.MONEY, Value(kind=ValueKind.MONEY, text="2,400 PLN", number=2400, unit="PLN")),
        ("23 guests", ValueKind.NUMBER, number(23, "guests")),
        # The year nearest to the telling, and a text that has it.
        ("March 5", ValueKind.DATE, date_value(dt.date(2024, 3, 5))),
        ("the 3rd of January", ValueKind.DATE, date_value(dt.date(2024, 1, 3))),
        ("December 29", ValueKind.DATE, date_value(dt.date(2023, 12, 29))),
        # A text that is another typed value keeps what it is.
        ("$85", ValueKind.NUMBER, money(85)),
        ("Green Gate", ValueKind.NAME, Value(kind=ValueKind.NAME, text="Green Gate")),
    ],
)
def test_code_reads_the_value_of_a_text(text: str, kind: ValueKind, value: Value) -> None:
    assert typed_value(text, kind, DAY) == value


def test_slots_are_named_by_kind_and_mark() -> None:
    assert new_slot("money") == NewSlot(kind=ValueKind.MONEY, is_fixed=False)
    assert new_slot("date, once") == NewSlot(kind=ValueKind.DATE, is_fixed=True)
    assert new_slot("p0.f3") is None
    assert all(new_slot(NewSlot(kind=kind, is_fixed=True).code) is not None for kind in ValueKind)


def _told(*drafts: BulletDraft, line: StoryEvent = EVENT, known: Known = KNOWN) -> Drafted:
    return assembled([(line, draft) for draft in drafts], known, 0)


def test_the_first_value_of_a_slot_sets_it_another_updates_it_the_same_mentions_it() -> None:
    more = _draft("It costs $900.", ("money", "price", "$900"))
    made = _told(PRICE, PRICE, more)
    assert [f.fact_id for f in made.facts] == ["p0.f0"]
    assert [a.stance for a in made.assertions] == [Stance.SETS, Stance.MENTIONS, Stance.UPDATES]


def test_a_slot_set_in_the_same_stage_is_named_by_its_id() -> None:
    dearer = _draft("It is $990 now.", ("p0.f0", "price", "$990"))
    made = _told(PRICE, dearer)
    assert [f.fact_id for f in made.facts] == ["p0.f0"]
    assert [(a.stance, a.value) for a in made.assertions] == [(Stance.SETS, money(850)), (Stance.UPDATES, money(990))]


def test_an_event_that_says_an_announced_day_after_it_is_an_outcome() -> None:
    known = _after(_draft("The fair is on March 12.", ("date", "day", "March 12")))
    wet = _draft("It rained all day on March 12.", ("p0.f0", "day", "March 12"))
    (told,) = assembled([(EVENT, wet)], known, 0).sub_plan.bullets
    assert told.variety == OUTCOME
    early = EVENT.model_copy(update={"day": dt.date(2024, 3, 11)})
    assert not assembled([(early, wet)], known, 0).sub_plan.bullets[0].variety


def test_a_bullet_has_narrative_thing_and_day_of_its_event() -> None:
    (bullet,) = _told(PRICE, line=EVENT.model_copy(update={"part": "closing"})).sub_plan.bullets
    assert (bullet.topic, bullet.narrative, bullet.variety, bullet.happens_on) == ("the kiln", "money", "closing", DAY)


def test_code_takes_the_facts_of_an_introduction_from_the_profile() -> None:
    line = EVENT.model_copy(update={"kind": BulletKind.INTRODUCTION})
    made = _told(_draft(f"I'm {PROFILE.name}, 41, from {PROFILE.city}."), line=line)
    assert [(f.subject, f.attribute, f.is_fixed) for f in made.facts] == [
        ("me", "full name", True),
        ("me", "age", False),
        ("me", "home city", False),
    ]


def test_a_fact_of_an_earlier_plan_keeps_its_id_unless_it_cannot_be_the_same() -> None:
    plan = good_conversation().head.plans[0]
    history = PlanHistory()
    history.add(plan)
    fact = next(f for f in plan.facts if f.kind is ValueKind.MONEY and not f.is_fixed)
    value = next(a.value for a in plan.assertions if a.fact_id == fact.fact_id and a.value)
    line = LedgerLine(
        fact_id=fact.fact_id,
        subject=fact.subject,
        attribute=fact.attribute,
        kind=fact.kind,
        is_fixed=False,
        value=value,
    )
    known = replace(KNOWN, history=history, values={line.fact_id: line.value})
    draft = _draft("It is $7.", ("money", fact.attribute, "$7"))
    own = EVENT.model_copy(update={"thing": fact.subject})
    made = assembled([(own, draft)], known, 1)
    assert (made.facts, [a.fact_id for a in made.assertions]) == ((), [fact.fact_id])
    days = _draft("It is 7 days.", ("duration", fact.attribute, "7 days"))
    assert [f.fact_id for f in assembled([(own, days)], known, 1).facts] == ["p1.f0"]


def test_a_day_in_another_language_is_the_one_that_the_reply_gives_beside_it() -> None:
    german = replace(KNOWN, language=language_of("German"))
    draft = _draft("Der Ofen kommt am 5. April.", ("date", "Liefertag", "5. April"))
    assert _faults(draft, known=german)[0] == "e3: `day` of '5. April' is ''; write it as 2024-03-05"
    dated = draft.model_copy(update={"facts": [draft.facts[0].model_copy(update={"day": "2024-04-05"})]})
    assert _faults(dated, known=german) == []
    (assertion,) = _told(dated, known=german).assertions
    assert assertion.value == Value(kind=ValueKind.DATE, text="5. April", date=dt.date(2024, 4, 5))


def test_digits_of_names_and_topics_are_no_values() -> None:
    draft = _draft("Form 7 has file 18-204 now.", ("name", "file", "file 18-204"))
    assert _faults(draft, EVENT.model_copy(update={"thing": "Form 7"})) == []


def test_numbers_in_words_are_ways_of_speaking() -> None:
    draft = _draft("I read forty reviews and gave it 68 points of a hundred.", ("number", "score", "68 points"))
    assert _faults(draft) == []
