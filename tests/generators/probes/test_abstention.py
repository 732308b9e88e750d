"""Questions that nothing answers, proved by a search over everything said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longbeam.errors import ReplyError
from longbeam.generators.probes import draft_candidates, problem_of, word_candidate
from longbeam.prompts.calls import AbstentionDraft, AbstentionInputs, AbstentionReply
from longbeam.schemas import Difficulty, Gender, MessageRole, Person, Relation
from tests.generators.probes.story import OfflineModel, Story, asker, full_story


def _story() -> Story:
    story = Story()
    story.tell(0, "the kitchen", "Dana painted the kitchen.")
    story.tell(1, "the roof", "The roof leaks, says Ruth.")
    return story


def _draft(**fields: object) -> AbstentionDraft:
    good = {
        "question": "What did Ruth think of the kitchen?",
        "missing": "what Ruth thought of the kitchen",
        "bullet_id": "p0.s0.b0",
        "search_terms": ["Ruth", "kitchen"],
        "difficulty": Difficulty.MEDIUM,
    }
    return AbstentionDraft.model_validate({**good, **fields})


def _problem(**fields: object) -> str | None:
    return _problem_in(_story(), **fields)


def _problem_in(story: Story, **fields: object) -> str | None:
    material = story.material()
    return problem_of(material, {b.bullet_id: b for b in material.histories.bullets()}, _draft(**fields))


def test_question_that_nothing_answers_is_kept() -> None:
    assert _problem() is None


def test_question_that_a_message_may_answer_is_refused() -> None:
    found = _problem(
        question="What did Dana do in the kitchen?", missing="what Dana did in the kitchen",
        search_terms=["Dana", "kitchen"],
    )  # fmt: skip
    assert found is not None
    assert "p0.s0.t0.n0 holds all of Dana, kitchen" in found


def test_search_terms_may_not_bring_in_words_that_nobody_needs() -> None:
    assert "'zeppelin'" in str(_problem(search_terms=["kitchen", "zeppelin"]))


def test_question_must_be_close_to_an_offered_bullet() -> None:
    assert "not close" in str(_problem(question="What did Ruth think of Paris?"))
    assert "not offered" in str(_problem(bullet_id="p9.s9.b9"))


def test_a_question_names_the_thing_as_the_user_does_and_not_as_the_plan() -> None:
    story = Story()
    story.tell(0, "the lot shortlist", "The favourite is Harbour Row for its light.")
    asked = {"question": "How many bedrooms does Harbour Row have?", "missing": "the bedrooms of Harbour Row"}
    assert _problem_in(story, **asked, search_terms=["Harbour Row", "bedrooms"]) is None


async def test_draft_candidates_keeps_proved_questions_only() -> None:
    candidates = await draft_candidates(asker(), full_story().material(), 12)
    assert len(candidates) == 12
    material = full_story().material()
    assert all(list(material.search.close_together(c.details.searches)) == [] for c in candidates)


async def test_what_the_assistant_told_is_not_shown_as_the_users() -> None:
    story = _story()
    voicing = story.messages[0]
    story.messages[0] = voicing.model_copy(update={"role": MessageRole.ASSISTANT})
    model = OfflineModel({"probe_abstention": AbstentionReply(items=[_draft(bullet_id="p0.s1.b0")])})
    with pytest.raises(ReplyError):
        await draft_candidates(asker(model), story.material(), 12)
    shown = model.calls[0].inputs
    assert isinstance(shown, AbstentionInputs)
    assert [b.topic for b in shown.bullets] == ["the roof"]


async def test_only_people_whom_a_message_names_are_offered() -> None:
    """Readers of 411: nobody had told the assistant of Joseph."""
    story, model = _story(), OfflineModel()
    known, stranger = (
        Person(person_id=f"n{i}", first_name=who, gender=Gender.MALE, age=40, relation=Relation.FRIEND)
        for i, who in enumerate(("Ruth", "Joseph"))
    )
    material = story.material()
    graph = material.head.relationships.model_copy(update={"people": (known, stranger)})
    head = material.head.model_copy(update={"relationships": graph})
    await draft_candidates(asker(model), replace(material, head=head), 4)
    inputs = model.calls[0].inputs
    assert isinstance(inputs, AbstentionInputs)
    assert inputs.people == (known,)


async def test_a_story_that_tells_nothing_is_asked_nothing() -> None:
    model = OfflineModel()
    assert await draft_candidates(asker(model), Story().material(), 12) == []
    assert not model.calls


async def test_draft_candidates_asks_again_and_gives_up_with_a_reason() -> None:
    model = OfflineModel({"probe_abstention": AbstentionReply(items=[_draft(bullet_id="x")])})
    with pytest.raises(ReplyError, match="only 0 of 1 questions"):
        await draft_candidates(asker(model), _story().material(), 12)
    assert len(model.calls) == 3


async def test_gold_says_what_is_missing() -> None:
    candidate = (await draft_candidates(asker(), full_story().material(), 12))[0]
    worded = word_candidate(candidate)
    assert candidate.details.missing in worded.gold_answer
    assert [candidate.details.missing in n.text for n in worded.nuggets] == [True]


def test_a_long_reply_that_names_all_words_far_apart_answers_nothing() -> None:
    def problem(between: str) -> str | None:
        story = _story()
        said = f"The kitchen comes first. {between} Ruth may know."
        story.messages[1] = story.messages[1].model_copy(update={"content": said})
        return _problem_in(story)

    assert problem("") is not None
    assert problem("Paint dries slowly in the cold. " * 20) is None
