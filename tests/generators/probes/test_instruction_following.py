"""Instructions in force at the end, and questions that do not repeat them."""

from __future__ import annotations

import pytest

from longbeam.generators.probes import ProbeCandidate, difficulty_by_age
from longbeam.generators.probes.instruction_following import check, find_candidates
from longbeam.schemas import BulletKind, Difficulty
from tests.generators.probes.story import Story, full_story, reply

WISH = "gives a total at the end"


def _candidate(wish: str = WISH) -> ProbeCandidate:
    story = Story()
    story.tell(
        0, "costs", f"When I ask about costs, write an answer that {wish}.", kind=BulletKind.INSTRUCTION,
        condition="when I ask about costs", requirement=wish,
    )  # fmt: skip
    (candidate,) = find_candidates(story.material())
    return candidate


def test_candidate_carries_condition_requirement_and_quote() -> None:
    candidate = _candidate()
    assert (candidate.payload.condition, candidate.payload.requirement) == ("when I ask about costs", WISH)
    assert candidate.details.instruction == f"When I ask about costs, write an answer that {WISH}."


def test_difficulty_is_the_share_of_the_conversation_that_follows() -> None:
    levels = [difficulty_by_age(position, 90) for position in (0, 45, 80)]
    assert levels == [Difficulty.HARD, Difficulty.MEDIUM, Difficulty.EASY]


def test_check_refuses_a_question_that_repeats_and_a_rubric_that_forgets() -> None:
    candidate, nugget = _candidate(), ("The response gives a total at the end", [0])
    gold = "It should end with a total."
    assert not check(candidate, reply("What are the costs of the roof?", gold, nugget))
    repeated = "What are the costs, with a total at the end?"
    assert "repeats the requirement" in str(check(candidate, reply(repeated, gold, nugget)))
    forgot = ("The response is polite", [0])
    assert "do not demand" in str(check(candidate, reply("What are the costs?", gold, forgot)))


@pytest.mark.parametrize(
    ("wish", "point", "is_fine"),
    [
        ("does not mention the architect", "Mentions three ways of the architect to pay for a roof", False),
        ("leaves out the architect", "Says what a roof costs, by the architect", False),
        ("leaves out the architect", "Says what a roof costs and leaves out the architect", True),
        ("keeps quiet about the architect", "Says nothing of the architect", True),
        ("names the architect", "Names the architect of the roof", True),
    ],
)
def test_of_a_wish_for_silence_no_point_demands_content(wish: str, point: str, is_fine: bool) -> None:
    problems = check(_candidate(wish), reply("What are the costs of the roof?", "Some $80 a tile.", (point, [0])))
    assert ("demands content" not in str(problems)) is is_fine


def test_the_writer_of_a_request_knows_who_the_user_is_and_what_holds() -> None:
    candidate = find_candidates(full_story().material())[0]
    assert candidate.payload.known[0] == "Ann, 40, Nurse, Oslo, Norway"
    assert any(line.startswith("the kitchen, ") for line in candidate.payload.known)
