"""The offline prober's wording: voices, forms, questions that nothing answers."""

from __future__ import annotations

import datetime as dt
import random
import re

import pytest

from longbeam.generators import load_catalogue
from longbeam.offline import (
    WHOLE,
    answer_probe_prompt,
    judge,
    of_user,
    plural,
    pronoun,
    slots_of,
    standing_question,
    to_you,
)
from longbeam.offline.fact_wording import slot_of
from longbeam.prompts.calls import (
    AbstentionDraft,
    AbstentionInputs,
    AbstentionReply,
    CandidateOption,
    CandidatesInputs,
    CandidatesReply,
    Excerpt,
    JudgeInputs,
    OrderReply,
    ProbeInputs,
    ProbeReply,
)
from longbeam.schemas import (
    FAMILY,
    Bullet,
    BulletKind,
    Category,
    Difficulty,
    Domain,
    Gender,
    MessageRole,
    Person,
    Relation,
    Value,
)
from longbeam.text import money, plain

RNG = random.Random  # one per call: the writer is a function of its inputs and this


def _excerpt(ordinal: int, subject: str, value: Value, part: str = "support") -> Excerpt:
    return Excerpt(
        ordinal=ordinal, said_on=dt.date(2024, 3, 1), quote="x", part=part, subject=subject, attribute="price",
        value=value, topic=subject,
    )  # fmt: skip


def _answer(ability: str, *excerpts: Excerpt, seed: str = "s", **fields: str | tuple[str, ...]) -> ProbeReply:
    inputs = ProbeInputs(
        ability=ability, difficulty=Difficulty.EASY, category=Category.GENERAL, title="A house", excerpts=excerpts,
        topic="my kitchen", **{"variety": "", **fields},
    )  # fmt: skip
    reply = answer_probe_prompt(f"probe_{ability}", inputs, RNG(seed))
    assert isinstance(reply, ProbeReply)
    return reply


def test_question_is_the_users_gold_is_to_the_user_nugget_is_of_the_user() -> None:
    reply = _answer("information_extraction", _excerpt(0, "my kitchen", money(80)))
    assert "my kitchen" in reply.question
    assert "your kitchen" in reply.gold_answer
    assert "$80" in reply.gold_answer
    assert [n.text for n in reply.nuggets] == ["States what the price of the user's kitchen was: $80"]


def test_wording_is_a_function_of_inputs_and_seed() -> None:
    excerpt = _excerpt(0, "my kitchen", money(80))
    assert _answer("information_extraction", excerpt) == _answer("information_extraction", excerpt)


def test_question_forms_vary_with_the_seed() -> None:
    excerpt = _excerpt(0, "my kitchen", money(80))
    questions = {_answer("information_extraction", excerpt, seed=str(i)).question for i in range(40)}
    assert len(questions) >= 5


def test_facts_of_the_user_themself_are_theirs_in_every_voice() -> None:
    reply = _answer("information_extraction", _excerpt(0, "me", money(80)))
    assert "my price" in reply.question
    assert "of me" not in reply.question
    assert "our price" in reply.gold_answer
    assert [n.text for n in reply.nuggets] == ["States that the user's price is $80"]


def test_sum_says_total_and_parts() -> None:
    parts = (_excerpt(0, "the roof", money(80)), _excerpt(1, "my kitchen", money(95)))
    reply = _answer("multi_session_reasoning", *parts, variety="sum", computed_value="$175")
    told = "what the price of the roof was ($80) and what the price of your kitchen was ($95)."
    assert reply.gold_answer == f"Together they come to $175: {told}"
    assert [n.excerpts for n in reply.nuggets] == [[0, 1]], "the question asks for the total alone"


def test_a_sum_with_a_changed_value_asks_by_the_last_word() -> None:
    parts = (
        _excerpt(0, "the roof", money(70), "original"), _excerpt(1, "the roof", money(80)),
        _excerpt(2, "my kitchen", money(95)),
    )  # fmt: skip
    reply = _answer("multi_session_reasoning", *parts, variety="sum", computed_value="$175")
    assert reply.question.startswith("Going by the last word on each: ")
    assert "$70" not in reply.gold_answer
    assert [n.excerpts for n in reply.nuggets] == [[1, 2]]


def test_sides_with_values_are_told_by_their_values() -> None:
    sides = (_excerpt(0, "my kitchen", money(80), "statement"), _excerpt(1, "my kitchen", money(95), "denial"))
    reply = _answer("contradiction_resolution", *sides)
    told = "you said $80 one time and $95 another time. Which of the two is right?"
    assert reply.gold_answer == f"What you told me about what the price of your kitchen was contradicts itself: {told}"
    assert [n.text for n in reply.nuggets[1:3]] == [
        "Mentions that the user said $80",
        "Mentions that the user said $95",
    ]


def test_a_side_with_a_value_is_told_by_it_where_the_other_is_a_flat_denial() -> None:
    """Readers of 412: the point on the statement was its whole sentence, with the motive in it."""
    statement, denial = (_excerpt(i, "my kitchen", money(80), part) for i, part in enumerate(("statement", "denial")))
    denial = denial.model_copy(update={"value": None, "quote": "I've never had a word with any builder."})
    reply = _answer("contradiction_resolution", statement, denial)
    assert reply.nuggets[1].text == "Mentions that the user said $80"
    assert "on what the price of your kitchen was you said $80, and you also said" in reply.gold_answer


def test_what_never_was_is_asked_for_like_anything_told_unless_that_repeats_the_denial() -> None:
    statement, denial = (
        _excerpt(i, "my small old kitchen", money(80), part).model_copy(update={"value": None})
        for i, part in enumerate(("statement", "denial"))
    )
    assert (
        "what the price of my small old kitchen was" in _answer("contradiction_resolution", statement, denial).question
    )
    repeated = denial.model_copy(update={"quote": "I've never asked the price of my small old kitchen."})
    assert "price" not in _answer("contradiction_resolution", statement, repeated).question


def test_things_are_named_in_the_question_out_of_order_and_told_in_order() -> None:
    things = [_excerpt(i, it, money(80 + i)) for i, it in enumerate(("the roof", "my kitchen", "the porch"))]
    reply = _answer("event_ordering", *things, variety="told", listed_as=(1, 2, 0))
    assert isinstance(reply, OrderReply)
    assert reply.question.index("my kitchen") < reply.question.index("the porch") < reply.question.index("the roof")
    assert reply.items[1] == "what the price of your kitchen was"
    assert reply.gold_answer.index(reply.items[0]) < reply.gold_answer.index(reply.items[1])
    assert reply.nuggets[1].text == "Names what the price of the user's kitchen was as told second"


def test_a_summary_asks_for_a_development_and_tells_what_changed() -> None:
    first, price = (_excerpt(i, "the live site", money(80 + i), part) for i, part in enumerate(("original", "support")))
    price = price.model_copy(update={"past": ("$80",)})
    provider = _excerpt(2, "the live site", plain("Vercel")).model_copy(update={"attribute": "provider"})
    reply = _answer("summarization", first, price, provider, variety="thing")
    assert "the live site" in reply.question
    assert "price" not in reply.question
    assert "Before that it was $80: what the price of the live site was." in reply.gold_answer
    assert [(n.text, n.excerpts) for n in reply.nuggets] == [
        ("States what the price of the live site was: $81, after $80", [0, 1]),
        ("States who provides the live site: Vercel", [2]),
    ]


@pytest.mark.parametrize("seed", ["a", "b", "c", "d", "e"])
def test_what_an_amount_is_for_is_asked_for_by_the_amount(seed: str) -> None:
    said = _excerpt(0, "my kitchen", money(60)).model_copy(update={"speaker": MessageRole.ASSISTANT})
    reply = _answer("information_extraction", said, seed=seed, variety="use", computed_value="spare tiles")
    assert all(part in reply.question for part in ("$60", "my kitchen", "for?"))
    assert "tiles" not in reply.question
    assert reply.gold_answer == "The amount that I suggested for your kitchen was for spare tiles."
    told = "States that the sum for the user's kitchen was for spare tiles"
    assert [n.text for n in reply.nuggets] == [told]


@pytest.mark.parametrize("seed", [str(n) for n in range(8)])
def test_the_point_on_a_use_is_met_by_the_use_alone(seed: str) -> None:
    said = _excerpt(0, "the kitchen", money(60))
    reply = _answer("information_extraction", said, seed=seed, variety="use", computed_value="a mock exam")
    wrong = reply.gold_answer.replace("a mock exam", "a spare key")
    answers = (reply.gold_answer, "A mock exam.", wrong, reply.question)
    (point,) = reply.nuggets
    verdicts = [judge(JudgeInputs(question=reply.question, nugget=point.text, answer=a)).verdict for a in answers]
    assert verdicts == ["met", "met", "not met", "not met"]


def test_what_the_assistant_gave_is_told_as_its_own() -> None:
    said = _excerpt(0, "the roof", money(3)).model_copy(
        update={"attribute": "safety margin", "speaker": MessageRole.ASSISTANT}
    )
    reply = _answer("information_extraction", said)
    assert "what safety margin you gave me for the roof" in reply.question
    assert reply.gold_answer == "The safety margin that I gave you for the roof is $3."
    told = "States what safety margin the assistant gave the user for the roof: $3"
    assert [n.text for n in reply.nuggets] == [told]


def test_figures_of_the_assistants_are_added_up_by_their_name() -> None:
    parts = [
        _excerpt(i, it, money(amount)).model_copy(
            update={"attribute": "safety margin", "speaker": MessageRole.ASSISTANT}
        )
        for i, (it, amount) in enumerate((("the roof", 80), ("my kitchen", 95)))
    ]
    reply = _answer("multi_session_reasoning", *parts, variety="sum", computed_value="$175")
    assert "the safety margin that you gave me for the roof and the one for my kitchen" in reply.question
    told = "the safety margin that I gave you for the roof ($80) and the safety margin that I gave you for your kitchen"
    assert reply.gold_answer == f"Together they come to $175: {told} ($95)."


def test_a_series_is_one_thing() -> None:
    assert [pronoun(it) for it in ("the interview series", "the tests", "the tests for the rules")] == [
        "it", "them", "them",
    ]  # fmt: skip


def test_steps_of_the_assistants_are_asked_for_with_their_number() -> None:
    said = _excerpt(0, "my kitchen", money(1)).model_copy(update={"value": None, "attribute": "steps"})
    reply = _answer("information_extraction", said, variety="listed", items=("clear it", "paint it"))
    assert "two steps" in reply.question
    assert [n.text for n in reply.nuggets] == [
        f"States that one of the steps for the user's kitchen is to {step}" for step in ("clear it", "paint it")
    ]


def test_absent_details_fit_the_thing() -> None:
    room, paper = (
        Bullet(
            bullet_id=f"p0.s0.b{i}",
            kind=BulletKind.EVENT,
            narrative=narrative,
            topic=topic,
            text="x",
            happens_on=dt.date(2024, 3, 1),
        )
        for i, (topic, narrative) in enumerate(
            (("the back bedroom", "Rooms and Repairs"), ("the energy certificate", "Papers and Deadlines"))
        )
    )
    seed = next(s for s in load_catalogue() if s.domain is Domain.HOME)
    asked = {
        bullet.topic: [
            item.search_terms[0]
            for i in range(5)
            for item in _abstained(AbstentionInputs(seed=seed, bullets=(bullet,), people=(), count=9), str(i))
        ]
        for bullet in (room, paper)
    }
    assert not {"reference number", "recommended", "stands in", "time of day"} & set(asked["the back bedroom"])
    assert "reference number" in asked["the energy certificate"]


def _abstained(inputs: AbstentionInputs, seed: str) -> list[AbstentionDraft]:
    reply = answer_probe_prompt("probe_abstention", inputs, RNG(seed))
    assert isinstance(reply, AbstentionReply)
    return reply.items


def test_absent_is_what_a_thing_never_tells_and_nothing_of_the_whole() -> None:
    # The thread of visits tells a share of the cost, an interval and a day, so none of these is asked for.
    scan, whole = (
        Bullet(
            bullet_id=f"p0.s0.b{i}",
            kind=BulletKind.EVENT,
            narrative="Appointments and Results",
            topic=topic,
            text="x",
            happens_on=dt.date(2024, 3, 1),
        )
        for i, topic in enumerate(("the ultrasound scan", WHOLE))
    )  # fmt: skip
    seed = next(s for s in load_catalogue() if s.domain is Domain.HEALTH)
    inputs = AbstentionInputs(seed=seed, bullets=(scan, whole), people=(), count=9)
    reply = answer_probe_prompt("probe_abstention", inputs, RNG("s"))
    assert isinstance(reply, AbstentionReply)
    assert all("the ultrasound scan" in item.question for item in reply.items)
    assert not [item for item in reply.items if item.search_terms[0] in {"paid", "hours", "deadline"}]


@pytest.mark.parametrize("relation", Relation)
def test_nobody_asks_who_introduced_them_to_their_own_family(relation: Relation) -> None:
    told = Bullet(
        bullet_id="p0.s0.b0", kind=BulletKind.EVENT, narrative="People and Support", topic="Ivan", text="x",
        happens_on=dt.date(2024, 3, 1),
    )  # fmt: skip
    ivan = Person(person_id="n1", first_name="Ivan", gender=Gender.MALE, age=40, relation=relation)
    inputs = AbstentionInputs(seed=load_catalogue()[0], bullets=(told,), people=(ivan,), count=12)
    reply = answer_probe_prompt("probe_abstention", inputs, RNG("s"))
    assert isinstance(reply, AbstentionReply)
    met = {item.question for item in reply.items} & {"Who introduced me to Ivan?", "In which street does Ivan live?"}
    assert bool(met) is (relation not in FAMILY)


def test_candidates_are_taken_in_the_order_offered() -> None:
    options = tuple(CandidateOption(candidate_id=f"a.{i}", difficulty=Difficulty.EASY, summary="x") for i in range(5))
    inputs = CandidatesInputs(ability="a", title="t", options=options, count=2)
    assert answer_probe_prompt("probe_candidates", inputs, RNG("s")) == CandidatesReply(
        chosen=["a.0", "a.1"], purposes=["", ""]
    )


@pytest.mark.parametrize(
    ("condition", "question"),
    [
        ("when I ask about costs", "What can you tell me about costs, as things stand?"),
        ("when I ask how to lay tiles", "Tell me, how to lay tiles?"),
        ("whenever I plan a room", "I plan a room. How should I go about it?"),
    ],
)
def test_conditions_become_questions(condition: str, question: str) -> None:
    assert standing_question(condition, "no pack has this requirement", "tiles", RNG("s")) == question


def test_voices() -> None:
    assert to_you("the price of my kitchen, which I like") == "the price of your kitchen, which you like"
    assert to_you("when I tell you about my failure") == "when you tell me about your failure"
    assert of_user("the price of our kitchen") == "the price of the user's kitchen"
    assert of_user("what I meet, where Ann and I meet") == "what the user meets, where Ann and the user meet"


def test_plurals() -> None:
    assert [plural(n) for n in ("city", "name of the shop", "box", "day")] == [
        "cities", "names of the shop", "boxes", "days",
    ]  # fmt: skip


def test_somebody_is_asked_for_by_who() -> None:
    told = _excerpt(0, "the second opinion", plain("Dr Lindholm")).model_copy(update={"attribute": "practitioner"})
    for ability in ("information_extraction", "knowledge_update"):
        question = _answer(ability, told.model_copy(update={"part": "updated"})).question
        assert re.search(r"\bwho\b", question, re.IGNORECASE)
        assert "who I am seeing at the second opinion" in question


def test_what_was_spent_is_spent_on_a_thing() -> None:
    told = _excerpt(0, "the live site", money(80)).model_copy(update={"attribute": "money spent"})
    assert slot_of(told) == "the money spent on the live site"
    assert slots_of(["money spent", "price"], "the live site") == "the money spent and the price of the live site"


def test_a_question_about_a_denial_names_what_is_denied() -> None:
    sides = [
        _excerpt(0, "my kitchen", money(1), "statement").model_copy(update={"value": None, "attribute": ""}),
        _excerpt(1, "my kitchen", money(1), "denial").model_copy(
            update={"value": None, "quote": "I've never given the storage spot for my kitchen a thought."}
        ),
    ]
    question = _answer("contradiction_resolution", *sides, seed="t").question
    assert question == "For my kitchen, what have I told you of the storage spot?"
