"""A fact that changes once: the new value is the gold."""

from __future__ import annotations

from longbeam.generators.probes import ProbeCandidate
from longbeam.generators.probes.knowledge_update import check, find_candidates
from longbeam.schemas import BulletKind, Difficulty, Stance
from longbeam.text import money, number
from tests.generators.probes.story import Story, reply, update


def _story() -> Story:
    story = Story()
    target = story.tell(0, "the kitchen", "The kitchen costs $80.", ("the kitchen", "price", money(80)))
    update(story, 5, "the kitchen", "price", money(95), target)
    return story


def _candidate() -> ProbeCandidate:
    (candidate,) = find_candidates(_story().material())
    return candidate


def test_candidate_cites_both_sides_in_order() -> None:
    candidate = _candidate()
    assert [e.part for e in candidate.excerpts] == ["original", "updated"]
    assert (candidate.details.old_value, candidate.details.new_value) == ("$80", "$95")
    # Five sessions apart.
    assert candidate.difficulty is Difficulty.HARD


def test_unvoiced_update_is_no_candidate() -> None:
    story = _story()
    update_message = next(m for m in story.messages if "$95" in m.content)
    at = story.messages.index(update_message)
    story.messages[at] = update_message.model_copy(update={"content": "The kitchen got dearer."})
    assert find_candidates(story.material()) == []


def test_check_accepts_the_new_value_and_refuses_the_old() -> None:
    question = "What does the kitchen cost?"
    new, old = ("States that it costs $95", [1]), ("States that it costs $80", [0])
    assert not check(_candidate(), reply(question, "It costs $95.", new))
    assert "does not say '$95'" in str(check(_candidate(), reply(question, "It costs $80.", old)))
    assert "no longer holds" in str(check(_candidate(), reply(question, "It costs $95.", new, old)))


def test_check_refuses_a_question_that_tells_of_a_change() -> None:
    new = ("States that it costs $95", [1])
    (problem,) = check(_candidate(), reply("What does the kitchen cost now?", "It costs $95.", new))
    assert "'now'" in problem


def test_a_plan_and_what_came_of_it_are_no_update() -> None:
    def found(first: str, second: str) -> int:
        story = Story()
        told = ("the tour", "number of states", number(5, "states"))
        target = story.tell(0, "the tour", first, told)
        story.tell(
            2, "the tour", second, ("the tour", "number of states", number(4, "states")),
            kind=BulletKind.UPDATE, stance=Stance.UPDATES, target_bullet_id=target,
        )  # fmt: skip
        return len(find_candidates(story.material()))

    assert found("The tour has 5 states pencilled in.", "In the end I did 4 states on the tour.") == 0
    assert found("The tour has 5 states pencilled in.", "The tour is planned with 4 states.") == 1
    assert found("I have done 5 states on the tour.", "In the end I did 4 states on the tour.") == 1


def test_the_question_does_not_copy_the_message_that_no_longer_holds() -> None:
    story = Story()
    told = "The man from the town hall set the fee of the roof at $80."
    target = story.tell(0, "the roof", told, ("the roof", "fee", money(80)))
    update(story, 1, "the roof", "fee", money(95), target)
    (candidate,) = find_candidates(story.material())
    nugget = ("States $95", [1])
    stale = "What did the man from the town hall set as the fee of the roof?"
    assert "from the original" in str(check(candidate, reply(stale, "It is $95.", nugget)))
    assert not check(candidate, reply("What is the fee of the roof?", "It is $95.", nugget))
