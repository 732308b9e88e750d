"""Which wishes of the user's hold at the end, and which may apply to a question."""

from __future__ import annotations

import pytest

from longbeam.generators.probes import Histories, held_wishes, wishes_on
from longbeam.schemas import BulletKind
from longbeam.text import money
from tests.generators.probes.story import Story


def _lines(story: Story, *texts: str) -> tuple[str, ...]:
    return wishes_on(held_wishes(Histories(story.head().plans)), *texts)


def _wish(story: Story, topic: str, wish: str, session: int = 0, **fields: object) -> None:
    told = {"kind": BulletKind.INSTRUCTION, "condition": f"when I ask about {topic}", "requirement": wish, **fields}
    story.tell(session, topic, f"When I ask about {topic}, please: {wish}.", **told)


def test_wishes_are_those_that_hold_at_the_end() -> None:
    story = Story()
    _wish(story, "plans", "begins with a sketch", 0, kind=BulletKind.PREFERENCE)
    _wish(story, "costs", "gives a total", 1)
    _wish(story, "plans", "opens with a table", 2, kind=BulletKind.PREFERENCE, variety="evolved")
    assert _lines(story) == ("when I ask about costs: gives a total", "when I ask about plans: opens with a table")


@pytest.mark.parametrize(
    ("question", "applying"),
    [
        ("What did the tiles of the kitchen cost?", ["costs", "the kitchen"]),
        ("How did it go with Stephen?", ["costs", "Stephen"]),
        ("When is the concert?", ["costs"]),
    ],
)
def test_a_wish_about_a_thing_goes_with_what_speaks_of_it_and_one_about_a_kind_of_request_with_everything(
    question: str, applying: list[str]
) -> None:
    story = Story()
    story.tell(0, "the kitchen", "The kitchen costs $80.", ("the kitchen", "price", money(80)))
    story.tell(0, "Stephen", "Stephen came by.")
    for topic in ("costs", "the kitchen", "Stephen"):
        _wish(story, topic, "gives a total")
    assert _lines(story, question) == tuple(f"when I ask about {topic}: gives a total" for topic in applying)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Until the vote is over, please give two sentences when I ask about the council.", False),
        ("For now, give two sentences when I ask about the council.", False),
        ("As long as we rent, give two sentences when I ask about the council.", False),
        ("When I ask about the council, add a test that fails until the change is in.", True),
        ("Until you know more, give two sentences when I ask about the council.", True),
    ],
)
def test_a_wish_that_its_own_words_end_holds_no_longer(text: str, holds: bool) -> None:
    story = Story()
    story.tell(
        0, "the council", text, kind=BulletKind.INSTRUCTION, condition="when I ask about the council",
        requirement="gives two sentences",
    )  # fmt: skip
    assert bool(_lines(story)) is holds
