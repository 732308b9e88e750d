from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators import ClosedWorld, Frame, Ledger
from longbeam.offline import fill
from longbeam.offline.turns import _ANSWER_TAILS
from longbeam.schemas import BulletKind, Domain, MessageRole, Plan
from longbeam.text import money
from tests.builders import good_conversation

DAY = dt.date(2024, 3, 12)
RENOVATION = "The renovation budget is $18,000."


def _world(domain: Domain = Domain.BUSINESS, plan: Plan | None = None) -> ClosedWorld:
    head = good_conversation().head
    seed = head.seed.model_copy(update={"domain": domain})
    frame = Frame(seed=seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    return ClosedWorld(frame, Ledger.of(plan or head.plans[0]))


@pytest.mark.parametrize(
    "text",
    [
        "The renovation budget is $18,000. What comes first?",
        "Tom asks for 900 dollars, and I am 34.",
        "That is $17,100 without Tom's $900.",  # 18,000 - 900
        "I signed on March 6, six days ago.",
        "It is March 12, 2024, and we open in 2024.",
        "It's Tuesday, and I'm a bit tired.",
        "Two things worry me. What would you do first?",
    ],
)
def test_values_that_the_plan_gives_or_that_follow_pass(text: str) -> None:
    assert not list(_world().faults(text, DAY, near=[RENOVATION]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I also gave Karl a deposit of $412.", "$412"),
        ("The renovation budget is $81,000.", "$81,000"),
        ("The renovation budget is €18,000.", "€18,000"),
        ("We sold 140 loaves.", "140 loaves"),  # on April 28
        ("The works take 7 weeks.", "7 weeks"),
        ("The plumber comes on May 3, 2022.", "May 3, 2022"),
        ("I have 35% of the flour.", "35%"),
        ("From 7:45 pm on we are closed.", "7:45 pm"),
    ],
)
def test_a_value_that_nothing_gives_is_refused(text: str, value: str) -> None:
    assert [v.text for v in _world().ungrounded(text, DAY)] == [value]


@pytest.mark.parametrize("tail", _ANSWER_TAILS)
def test_the_offline_writer_ends_answers_with_no_value_that_nothing_gives(tail: str) -> None:
    text = fill(tail, {"it": "the flour", "day": "March 12", "weekday": "Tuesday"})
    assert not _world().ungrounded(text, DAY)


@pytest.mark.parametrize(
    ("bullet", "passes", "refused"),
    [
        ("I show 12 projects from 2010-2018 there.", "Are the years 2010 to 2018 enough?", "Are 2010 to 2019 enough?"),
        ("The number of visits rose to 5 between April 1 and 9.", "I had 5 visits.", "I had 5 callers."),
        ("I wrote on mentoring women, with 5 mentees' stories.", "Those 5 women!", "Those 5 men!"),
    ],
)
def test_a_count_may_have_another_noun_of_its_sentence(bullet: str, passes: str, refused: str) -> None:
    assert not list(_world().faults(passes, DAY, near=[bullet]))
    assert len(_world().ungrounded(refused, DAY, near=[bullet])) == 1
    assert len(_world().ungrounded(passes, DAY, near=[bullet.replace("5", "6").replace("2018", "2017")])) == 1


def test_earlier_talk_gives_values() -> None:
    world = _world()
    world.hear("A mixer of that size costs $640.", DAY)
    assert not list(world.faults("For $640 I would take it.", DAY))


def test_a_slip_is_no_earlier_talk_whoever_repeats_it_and_in_whatever_words() -> None:
    world = _world()
    world.hear("The deposit is 412 dollars, no, sorry: $900.", DAY, untrue="$412")
    world.hear("So it is $900 and not $412.", DAY, MessageRole.ASSISTANT)
    assert [v.text for v in world.ungrounded("I've paid the $412.", DAY, near=["It is $900, not $412."])] == ["$412"]
    assert [v.text for v in world.false_claims("Your $412 are paid.", DAY)] == ["$412"]
    assert not list(world.faults("I've paid the $900.", DAY))


def test_the_count_of_a_slip_has_no_other_noun() -> None:
    world, text = _world(), "We bake 16 loaves, no, sorry: 14 a day."
    world.hear(text, DAY, untrue="16 loaves")
    assert [v.text for v in world.ungrounded("So 16 loaves it is.", DAY, near=[text])] == ["16 loaves"]


def test_a_slip_takes_nothing_away_from_what_the_plan_gives() -> None:
    world = _world()
    world.hear("The kitchen costs $18,000, no, sorry: $900.", DAY, untrue="$18,000")
    assert not list(world.faults("The renovation budget is $18,000.", DAY))
    assert not list(world.false_claims("Your budget of $18,000 is enough.", DAY))


PASTED = "The log says\n```\ntimeout after 45 minutes\n```\nand Karl wrote “it costs $412”. What now?"


@pytest.mark.parametrize("text", ["It took 45 minutes again.", "I've paid $412."])
def test_pasted_material_is_talked_about_in_its_exchange_and_gives_no_values_later(text: str) -> None:
    world = _world()
    world.hear(PASTED, DAY)
    world.hear("It timed out after 45 minutes, and $412 is a lot.", DAY, MessageRole.ASSISTANT)
    assert not list(world.faults(text, DAY, near=[PASTED]))
    assert len(world.ungrounded(text, DAY)) == 1


def test_pasted_material_may_be_quoted_and_a_reply_may_speak_of_it() -> None:
    world = _world()
    world.hear(PASTED, DAY)
    assert not list(world.faults("Karl wrote “it costs $412”, what do I answer?", DAY))
    assert not list(world.claim_faults("Your timeout of 45 minutes is too short.", DAY))


def test_the_claim_of_a_pasted_document_is_no_value_of_the_ledger() -> None:
    plan = good_conversation().head.plans[0]
    first, *others = plan.sub_plans[0].bullets
    text = "A neighbour wrote: “People speak of $512 as the price of the oven.” I haven't checked a word of it."
    pasted = first.model_copy(update={"kind": BulletKind.PASTED, "text": text})
    sub_plan = plan.sub_plans[0].model_copy(update={"bullets": (pasted, *others)})
    world = _world(plan=plan.model_copy(update={"sub_plans": (sub_plan, *plan.sub_plans[1:])}))
    assert not list(world.faults(text, DAY, near=[text]))
    assert [v.text for v in world.ungrounded("I've paid $512.", DAY)] == ["$512"]
    assert [v.text for v in world.false_claims("Your $512 are well spent.", DAY)] == ["$512"]


def test_values_that_a_turn_declares_pass() -> None:
    assert not list(_world().faults("I owe him $412.", DAY, declared=[money(412)]))


def test_what_is_known_on_the_day_passes_and_not_before() -> None:
    text = "We sold 140 loaves."
    assert list(_world().faults(text, dt.date(2024, 4, 27)))
    assert not list(_world().faults(text, dt.date(2024, 4, 28)))


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("Your $98 go to the electrician.", ["$98"]),
        ("You told me that the oven costs $512, so wait.", ["$512"]),
        ("As you said, the lease runs for 14 months.", ["14 months"]),
        ("Your budget of $25,000 is enough.", ["$25,000"]),
        ("You've spent $230 already.", ["$230"]),
        ("Your $18,000 budget leaves $17,100 after Tom's $900.", []),
        ("Heat your oven to 230 degrees for 45 minutes.", []),
        ("If you spent $230, you could save 20%.", []),
        ("I would set aside $2,000 for tiles.", []),
    ],
)
def test_a_reply_says_of_the_user_what_the_user_said(reply: str, values: list[str]) -> None:
    assert [v.text for v in _world().false_claims(reply, DAY)] == values


def test_figures_of_exercises_pass_and_dates_do_not() -> None:
    world = _world(Domain.MATH)
    text = "A triangle has sides of 3 cm and 55 cm, and 35% are red. I hand it in on May 3, 2022."
    assert [v.text for v in world.ungrounded(text, DAY)] == ["May 3, 2022"]
