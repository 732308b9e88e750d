"""Preferences as they last were."""

from __future__ import annotations

import pytest

from longbeam.generators.probes import OrderPayload, ProbeCandidate
from longbeam.generators.probes.preference_following import check, find_candidates
from longbeam.schemas import BulletKind, Difficulty
from tests.generators.probes.story import Story, contradict, reply


def _story() -> Story:
    story = Story()
    for session, wish, variety in ((0, "begins with a sketch", ""), (2, "opens with a table", "evolved")):
        story.tell(
            session, "plans", f"I like a plan that {wish}.", kind=BulletKind.PREFERENCE,
            condition="when I plan a room", requirement=wish, variety=variety,
        )  # fmt: skip
    return story


def _candidate() -> ProbeCandidate:
    (candidate,) = find_candidates(_story().material())
    return candidate


def test_evolved_preference_takes_the_latest() -> None:
    candidate = _candidate()
    assert (candidate.payload.requirement, candidate.details.old_value) == (
        "opens with a table",
        "begins with a sketch",
    )
    assert [e.part for e in candidate.excerpts] == ["original", "preference"]
    assert (candidate.variety, candidate.difficulty) == ("evolved", Difficulty.HARD)


def test_preference_said_again_has_not_evolved() -> None:
    story = Story()
    for session in (0, 2):
        story.tell(
            session, "plans", "I like a plan that begins with a sketch.", kind=BulletKind.PREFERENCE,
            condition="when I plan a room", requirement="begins with a sketch",
        )  # fmt: skip
    (candidate,) = find_candidates(story.material())
    assert (candidate.variety, candidate.bullet_ids) == ("", ("p0.s2.b0",))


def test_contradicted_preference_is_no_candidate() -> None:
    story = _story()
    contradict(story, 3, "plans", "I have never liked a plan with tables.", "p0.s2.b0")
    assert [c.payload.requirement for c in find_candidates(story.material())] == []


def test_check_takes_a_point_against_what_was_withdrawn() -> None:
    question, gold = "How do I lay out my kitchen?", "The plan should open with a table."
    nugget = ("The response opens with a table", [1])
    assert not check(_candidate(), reply(question, gold, nugget))
    against = ("The response leaves out that it begins with a sketch", [0, 1])
    assert not check(_candidate(), reply(question, gold, nugget, against))
    leading = "How do I lay out my kitchen, as I prefer it?"
    assert "'prefer'" in str(check(_candidate(), reply(leading, gold, nugget)))


def test_a_candidate_is_stored_flat_as_before_there_were_payloads() -> None:
    # The digest is part of the key of the unit that words the candidate: a stored benchmark must not word it again.
    candidate = _candidate()
    stored = candidate.model_dump(mode="json")
    flat = ("condition", "requirement", "listed_as", "question")
    assert [stored[name] for name in flat] == ["when I plan a room", "opens with a table", [], ""]
    read = ProbeCandidate.model_validate(stored)
    assert (read, read.digest) == (candidate, candidate.digest)


def test_a_payload_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="the payload is a WishPayload, no OrderPayload"):
        _candidate().given(OrderPayload)
