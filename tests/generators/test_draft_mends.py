"""Drafts of a plan's lines that code corrects: cut, repeated and copied sentences, and values that no text says."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from longbeam.generators import Known, Ledger, Mender, PlanHistory, faults_of
from longbeam.prompts.calls import BulletDraft, FactDraft, Stage, StoryEvent
from longbeam.schemas import Fact, Gender, Person, Relation, ValueKind
from longbeam.text import content_words, money
from tests.builders import good_conversation

DAY = dt.date(2024, 3, 14)  # a Thursday
STAGE = Stage(stage_index=0, first_day=dt.date(2024, 3, 1), last_day=dt.date(2024, 4, 30))
KNOWN = Known(
    stage=STAGE,
    profile=good_conversation().head.profile,
    ledger=Ledger((), (), ()),
    history=PlanHistory(),
    values={},
)
LINE = StoryEvent(event_id="e3", narrative="money", thing="the kiln", what="It moves.", day=DAY)
TOLD = "I joined the pottery class in the old mill because the kiln there reaches stoneware heat."


def _draft(text: str, *facts: tuple[str, str, str]) -> BulletDraft:
    drafts = [FactDraft(slot=slot, name=name, value=value) for slot, name, value in facts]
    return BulletDraft(event="e3", text=text, facts=drafts)


def _mended(draft: BulletDraft, line: StoryEvent = LINE, *, is_last: bool = False, known: Known = KNOWN) -> BulletDraft:
    mender = Mender(known, [content_words(TOLD)], is_copied=lambda text: "lantern play" in text)
    return mender.mended(draft, line, [], is_last=is_last)


PRICE = ("money", "rent", "$85")


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("The kiln costs me $85 a month.", "The kiln costs me $85 a month."),
        ("The kiln is worth it.", "The kiln is worth it. Rent of the kiln: $85."),
        (TOLD, "Rent of the kiln: $85."),  # nothing but a line that was told before
        (f"The kiln is worth it. {TOLD}", "The kiln is worth it. Rent of the kiln: $85."),
        ("The attic of the lantern play costs $85. The kiln is mine.", "The kiln is mine. Rent of the kiln: $85."),
        ("The kiln costs me $85 a month. It takes 23 guests.", "The kiln costs me $85 a month."),
        (
            "I really like its red door. It opens Monday, March 15.",
            "I really like its red door. Rent of the kiln: $85.",
        ),
        (f"The kiln costs me $85 a month, {'and I like it ' * 25}", "Rent of the kiln: $85."),  # cut by its form
        (f"The kiln costs me $85. {'And I like it ' * 25}", "The kiln costs me $85."),
    ],
)
def test_what_is_left_of_a_text_says_its_values_and_nothing_told_before(text: str, mended: str) -> None:
    draft = _mended(_draft(text[:300], PRICE))
    assert draft.text == mended
    assert not list(faults_of(draft, LINE, KNOWN))


def test_a_sentence_with_a_right_and_a_wrong_value_is_left_to_the_model_once() -> None:
    draft = _draft("The kiln takes 23 guests for $85.", PRICE)
    assert _mended(draft) is draft
    assert _mended(draft, is_last=True).text == "Rent of the kiln: $85."


def test_a_new_value_of_a_known_slot_is_called_new() -> None:
    fact = Fact(fact_id="p0.f1", subject="the kiln", attribute="monthly rent", kind=ValueKind.MONEY, is_fixed=False)
    known = replace(KNOWN, ledger=Ledger((), (fact,), ()), values={"p0.f1": money(70, "$70")})
    draft = _mended(_draft(TOLD, ("p0.f1", "", "$85")), known=known)
    assert draft.text == "The new monthly rent of the kiln: $85."


def test_a_line_without_facts_keeps_its_own_sentences_unless_none_is() -> None:
    assert _mended(_draft(f"I was late. {TOLD}")).text == "I was late."
    assert _mended(_draft(TOLD)).text == TOLD  # left to the model


def test_facts_that_cannot_be_read_are_left_to_the_model_once() -> None:
    sentence = ("name", "rule", "the club is to test what it cooks with guests")
    for fact in (("money", "rent", "a lot"), ("money", "", "$85"), sentence):
        draft = _draft("Fine.", fact)
        assert _mended(draft) is draft
        assert _mended(draft, is_last=True).facts == []


def test_a_fact_of_the_example_is_left_to_the_model_once() -> None:
    draft = _draft("The kiln is worth it.", ("money", "rent of the lantern play", "$85"))
    assert _mended(draft) is draft
    assert _mended(draft, is_last=True).facts == []


@pytest.mark.parametrize(
    "text",
    [
        "The kiln opens on Monday, March 15. I like it.",  # the first sentence
        "I was there. Mother counted 23 guests beside the kiln. She is with me.",  # the longest one
        "I like it. It has 23 guests. It has 31 jars.",  # more than half of the words
    ],
)
def test_a_text_that_wrong_values_are_the_most_of_is_left_to_the_model_once(text: str) -> None:
    draft = _draft(text, PRICE)
    assert _mended(draft) is draft
    assert _mended(draft, is_last=True).text.endswith("Rent of the kiln: $85.")


def test_the_age_of_a_listed_person_is_no_undeclared_number() -> None:
    draft = _draft("My brother Ned, who is 71 years old, came along.")
    assert list(faults_of(draft, LINE, KNOWN))
    ned = Person(person_id="n0", first_name="Ned", gender=Gender.MALE, age=71, relation=Relation.FRIEND)
    known = replace(KNOWN, people=(ned,))
    for text in (draft.text, "Ned, 71, came along.", "My 71-year-old brother came along."):
        told = _draft(text)
        assert _mended(told, known=known) is told
        assert not list(faults_of(told, LINE, known))
