from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators.closed_world import ClosedWorld
from longbeam.generators.ledger import Ledger
from longbeam.generators.plans import Frame
from longbeam.offline.language import fill
from longbeam.offline.turns import _ANSWER_TAILS
from longbeam.schemas.seeds import Domain
from longbeam.text.values import money
from tests.builders import good_conversation

DAY = dt.date(2024, 3, 12)
RENOVATION = "The renovation budget is $18,000."


def _world(domain: Domain = Domain.BUSINESS) -> ClosedWorld:
    head = good_conversation().head
    seed = head.seed.model_copy(update={"domain": domain})
    frame = Frame(seed=seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    return ClosedWorld(frame, Ledger.of(head.plans[0]))


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


def test_earlier_talk_gives_values() -> None:
    world = _world()
    world.hear("A mixer of that size costs $640.", DAY)
    assert not list(world.faults("For $640 I would take it.", DAY))


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
