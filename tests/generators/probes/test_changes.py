"""Further kinds of temporal questions: what held on a day, the order of changes, planned against actual days."""

from __future__ import annotations

import random

from longbeam.generators.probes import ProbeCandidate, assemble_probe, probe_inputs
from longbeam.generators.probes.temporal_reasoning import check, find_candidates
from longbeam.offline import answer_probe_prompt
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import BulletKind, Stance, Value
from longbeam.text import money, name
from tests.generators.probes.story import Story, day, reply, update


def _kind(story: Story, kind: str) -> list[ProbeCandidate]:
    return [c for c in find_candidates(story.material()) if c.variety == kind]


def _changed(*changes: tuple[int, str, str, Value, Value]) -> Story:
    """A story in which facts are told in session 0 and change in a later one."""
    story = Story()
    targets = [
        story.tell(0, thing, f"The {attribute} of {thing} is {old.text}.", (thing, attribute, old))
        for _, thing, attribute, old, _ in changes
    ]
    for (session, thing, attribute, _, new), target in zip(changes, targets, strict=True):
        update(story, session, thing, attribute, new, target)
    return story


def test_as_of_asks_for_the_value_before_a_change_on_a_day_between() -> None:
    (found,) = _kind(_changed((2, "the roof", "builder", name("Weber"), name("Koch"))), "as_of")

    # Told on March 1 and March 21, 2024: the day in the middle is March 11.
    assert found.payload.condition == "March 11, 2024"
    assert [v.text for v in found.answers] == ["Weber"]
    assert [v.text for v in found.stale] == ["Koch"]
    assert len(found.message_keys) == 2


def test_as_of_needs_days_between_the_two_values() -> None:
    assert not _kind(_changed((0, "the roof", "builder", name("Weber"), name("Koch"))), "as_of")


def test_as_of_names_its_day_in_the_question_only() -> None:
    (found,) = _kind(_changed((2, "the roof", "builder", name("Weber"), name("Koch"))), "as_of")
    question = "Who was the builder of the roof, as of March 11, 2024?"
    good = reply(question, "At that time it was Weber.", ("States that it was Weber at that time", [0, 1]))

    assert not check(found, good)
    assert "must name the day" in str(check(found, good.model_copy(update={"question": "Who built the roof?"})))
    dated = good.model_copy(update={"gold_answer": "On March 11, 2024 it was Weber."})
    assert "must not repeat" in str(check(found, dated))


def _miss(planned: int, actual: int) -> Story:
    story = Story()
    story.tell(0, "the roof", f"The roof is due {day(planned).text}.", ("the roof", "target date", day(planned)))
    text = f"The roof was finished on {day(actual).text}."
    story.tell(3, "the roof", text, ("the roof", "completion date", day(actual)))
    return story


def test_miss_counts_the_days_between_plan_and_outcome() -> None:
    (late,) = _kind(_miss(20, 24), "planned_actual")
    (early,) = _kind(_miss(24, 20), "planned_actual")

    assert (late.details.computed_value, late.payload.condition) == ("4 days", "after")
    assert (early.details.computed_value, early.payload.condition) == ("4 days", "before")
    assert not _kind(_miss(20, 20), "planned_actual")


def test_miss_takes_the_day_that_was_planned_last() -> None:
    story = Story()
    first = story.tell(0, "the roof", f"The roof is due {day(12).text}.", ("the roof", "target date", day(12)))
    story.tell(
        1, "the roof", f"The roof is due {day(25).text} now.", ("the roof", "target date", day(25)),
        kind=BulletKind.UPDATE, stance=Stance.UPDATES, target_bullet_id=first,
    )  # fmt: skip
    story.tell(3, "the roof", f"It was done on {day(28).text}.", ("the roof", "completion date", day(28)))

    (found,) = _kind(story, "planned_actual")
    assert found.details.computed_value == "3 days"
    assert found.context_values[0].means_same_as(day(25))


def test_rule_based_wordings_pass_their_checks() -> None:
    story = _changed(
        (2, "the roof", "builder", name("Weber"), name("Koch")),
        (1, "the roof", "price", money(80), money(95)),
        (3, "the roof", "helper", name("Olga"), name("Ruth")),
    )
    candidates = [*_kind(story, "as_of"), *_kind(_miss(20, 24), "planned_actual")]
    assert {c.variety for c in candidates} == {"as_of", "planned_actual"}
    for candidate in candidates:
        worded = answer_probe_prompt("", probe_inputs(story.head(), candidate), random.Random(1))
        assert isinstance(worded, ProbeReply)
        assert check(candidate, worded) == ()
        probe = assemble_probe(candidate, worded)
        assert {e.message_key for e in probe.evidence} == set(candidate.message_keys)
        assert all(e.nugget_ids for e in probe.evidence)
