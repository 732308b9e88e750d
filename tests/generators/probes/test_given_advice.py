"""Probes on what the assistant brought in: code finds the reply, its words and the value."""

from __future__ import annotations

import pytest

from longbeam.generators.probes import (
    ProbeCandidate,
    event_ordering,
    information_extraction,
    knowledge_update,
    multi_session_reasoning,
    temporal_reasoning,
)
from longbeam.schemas import TAKEN, AdviceKind, EvidencePart, MessageRole
from longbeam.text import duration, money
from tests.generators.probes.story import Story, day

OPTIONS = ("a cork floor", "old tiles", "bare boards")
STEPS = ("measure twice", "buy the glue", "lay one row", "seal the rest")
MARGIN = "safety margin"


def _given(candidates: list[ProbeCandidate]) -> list[ProbeCandidate]:
    return [c for c in candidates if c.needs_reply]


def _priced(story: Story, session: int, thing: str, amount: int) -> str:
    return story.tell(session, thing, f"The price of {thing} is ${amount}.", (thing, "price", money(amount)))


def _margin(story: Story, bullet_id: str, amount: int, **fields: str) -> str:
    text = f"Take ${amount} as the safety margin."
    kind = AdviceKind.CORRECTION if fields else AdviceKind.FIGURE
    return story.bring_in(bullet_id, kind, MARGIN, text, value=money(amount), **fields)


def test_a_figure_of_the_assistants_is_asked_for_with_its_reply_as_evidence() -> None:
    story = Story()
    _margin(story, _priced(story, 0, "the kitchen", 400), 60)
    (candidate,) = _given(information_extraction.find_candidates(story.material()))

    (excerpt,) = candidate.excerpts
    assert (excerpt.speaker, excerpt.quote) == (MessageRole.ASSISTANT, "Take $60 as the safety margin.")
    assert [v.text for v in candidate.answers] == ["$60"]
    assert candidate.message_keys == ("p0.s0.t0.n1",)


def test_a_reply_that_does_not_name_the_figure_is_no_evidence() -> None:
    story = Story()
    bullet_id = _priced(story, 0, "the kitchen", 400)
    story.bring_in(bullet_id, AdviceKind.FIGURE, MARGIN, "Take $60.", value=money(60))
    assert not _given(information_extraction.find_candidates(story.material()))


def test_the_option_that_the_user_took_needs_both_speakers() -> None:
    story = Story()
    floor = story.tell(0, "the floor", "The floor creaks.")
    taken = story.tell(1, "the floor", "I took the second of your three options for the floor.", variety=TAKEN)
    listed = "Options for the floor:\n" + "\n".join(f"{i}. {o}" for i, o in enumerate(OPTIONS, 1)) + "\n\n"
    story.bring_in(floor, AdviceKind.OPTIONS, "options", listed, items=OPTIONS, taken=2, taken_in=taken)
    (candidate,) = _given(information_extraction.find_candidates(story.material()))

    assert [e.speaker for e in candidate.excerpts] == [MessageRole.ASSISTANT, MessageRole.USER]
    assert [v.text for v in candidate.answers] == ["old tiles"]
    assert all(option in candidate.excerpts[0].quote for option in OPTIONS)


def test_an_option_is_named_by_what_stands_before_its_comma() -> None:
    offered = ("a cork floor, warm and dear", "old tiles, cold and free", "tiles")
    for taken, name in ((1, "a cork floor"), (2, "old tiles"), (3, "tiles")):
        story = Story()
        floor = story.tell(0, "the floor", "The floor creaks.")
        told = story.tell(1, "the floor", "I took one of your three options for the floor.", variety=TAKEN)
        listed = "Options for the floor:\n" + "\n".join(f"{i}. {o}" for i, o in enumerate(offered, 1)) + "\n\n"
        story.bring_in(floor, AdviceKind.OPTIONS, "options", listed, items=offered, taken=taken, taken_in=told)
        (candidate,) = _given(information_extraction.find_candidates(story.material()))
        assert [v.text for v in candidate.answers] == [name]


def test_what_an_amount_is_for_is_asked_for_by_the_amount() -> None:
    story = Story()
    told = _priced(story, 0, "the kitchen", 400)
    said = "Put another $60 aside for the kitchen, and keep it for spare tiles."
    story.bring_in(told, AdviceKind.USE, "use of the money", said, value=money(60), items=("spare tiles",))
    (candidate,) = _given(information_extraction.find_candidates(story.material()))

    (excerpt,) = candidate.excerpts
    assert (excerpt.speaker, excerpt.quote, excerpt.value) == (MessageRole.ASSISTANT, said, money(60))
    assert ([v.text for v in candidate.answers], candidate.details.variety) == (["spare tiles"], "use")
    assert not _given(multi_session_reasoning.find_candidates(story.material()))


def test_a_corrected_figure_is_an_update_of_the_assistants() -> None:
    story = Story()
    first = _margin(story, _priced(story, 0, "the kitchen", 400), 60)
    _margin(story, _priced(story, 2, "the roof", 900), 85, corrects=first, topic="the kitchen")
    (candidate,) = _given(knowledge_update.find_candidates(story.material()))

    assert [e.part for e in candidate.excerpts] == [EvidencePart.ORIGINAL, EvidencePart.UPDATED]
    assert (candidate.details.old_value, candidate.details.new_value) == ("$60", "$85")
    assert not _given(information_extraction.find_candidates(story.material()))


def test_a_slot_that_the_user_fills_too_is_not_asked_for() -> None:
    story = Story()
    _margin(story, _priced(story, 0, "the kitchen", 400), 60)
    story.tell(1, "the kitchen", "My safety margin is $90.", ("the kitchen", MARGIN, money(90)))
    assert not _given(information_extraction.find_candidates(story.material()))


def test_figures_of_two_sessions_are_added_up() -> None:
    story = Story()
    _margin(story, _priced(story, 0, "the kitchen", 400), 60)
    _margin(story, _priced(story, 1, "the roof", 900), 85)
    (candidate,) = _given(multi_session_reasoning.find_candidates(story.material()))
    assert (candidate.variety, candidate.details.computed_value) == ("sum", "$145")


def test_bounds_that_the_assistant_set_are_not_added_up() -> None:
    story = Story()
    for session, thing, minutes in ((0, "the kitchen", 30), (1, "the roof", 70)):
        value = duration(minutes, "minutes")
        told = story.tell(session, thing, f"The plan for {thing} is made.")
        story.bring_in(told, AdviceKind.FIGURE, "time limit", f"Take {value.text} as the time limit.", value=value)
    assert not _given(multi_session_reasoning.find_candidates(story.material()))


def test_days_between_a_day_of_the_assistants_and_one_of_the_users() -> None:
    story = Story()
    floor = story.tell(0, "the floor", "The floor creaks.")
    story.bring_in(floor, AdviceKind.DAY, "review day", f"Make {day(60).text} the review day.", value=day(60))
    for thing in ("the roof", "the floor"):
        story.tell(1, thing, f"The due date of {thing} is {day(44).text}.", (thing, "due date", day(44)))
    # Nobody asks for the days between the review of the floor and the end of the roof.
    (candidate,) = _given(temporal_reasoning.find_candidates(story.material()))
    assert candidate.details.computed_value == "16 days"


@pytest.mark.parametrize("due", [-1, 61])
def test_a_day_of_the_assistants_belongs_to_a_date_of_the_sixty_days_before_it(due: int) -> None:
    story = Story()
    floor = story.tell(0, "the floor", "The floor creaks.")
    story.bring_in(floor, AdviceKind.DAY, "review day", f"Make {day(60).text} the review day.", value=day(60))
    story.tell(1, "the floor", f"The due date is {day(due).text}.", ("the floor", "due date", day(due)))
    assert not _given(temporal_reasoning.find_candidates(story.material()))


def test_the_steps_of_a_plan_are_information_that_the_assistant_gave() -> None:
    story = Story()
    floor = story.tell(0, "the floor", "The floor creaks.")
    listed = "Steps for the floor:\n" + "\n".join(f"{i}. {s}" for i, s in enumerate(STEPS, 1)) + "\n\n"
    story.bring_in(floor, AdviceKind.STEPS, "steps", listed, items=STEPS)
    (candidate,) = _given(information_extraction.find_candidates(story.material()))

    assert (candidate.variety, candidate.payload.items) == ("listed", STEPS)
    assert all(step in candidate.excerpts[0].quote for step in STEPS)
    assert not _given(event_ordering.find_candidates(story.material()))


@pytest.mark.parametrize(("thing", "length", "asked"), [("floor", 0, 0), ("floor", 1, 1), ("roof", 0, 1)])
def test_steps_are_not_asked_for_where_the_thing_has_another_list_as_long(thing: str, length: int, asked: int) -> None:
    story = Story()
    floor = story.tell(0, "the floor", "The floor creaks.")
    listed = "Steps for the floor:\n" + "\n".join(f"{i}. {s}" for i, s in enumerate(STEPS, 1)) + "\n\n"
    story.bring_in(floor, AdviceKind.STEPS, "steps", listed, items=STEPS)
    story.tell(1, "the roof", "The roof leaks.")
    points = (f"{i}. point {i} of the {thing}" for i in range(1, len(STEPS) + 1 + length))
    story.messages[-1] = story.messages[-1].model_copy(update={"content": "\n".join(["Mind:", *points])})
    assert len(_given(information_extraction.find_candidates(story.material()))) == asked


@pytest.mark.parametrize(("other", "asked"), [(OPTIONS, 0), (STEPS[:3], 1)])
def test_options_are_not_asked_for_that_are_given_for_another_thing(other: tuple[str, ...], asked: int) -> None:
    story = Story()
    floor = story.tell(0, "the floor", "The floor creaks.")
    listed = "Options for the floor:\n" + "\n".join(f"{i}. {o}" for i, o in enumerate(OPTIONS, 1)) + "\n\n"
    story.bring_in(floor, AdviceKind.OPTIONS, "options", listed, items=OPTIONS)
    story.tell(1, "the roof", "The roof leaks.")
    again = "Options for the roof:\n" + "\n".join(f"- {o}" for o in reversed(other))
    story.messages[-1] = story.messages[-1].model_copy(update={"content": again})
    assert len(_given(information_extraction.find_candidates(story.material()))) == asked
