from __future__ import annotations

import pytest

from longbeam.evaluation import (
    FIXED_ANSWERS,
    in_words,
    kind_of,
    swapped_answer,
    with_other_values,
    wrong_answer,
)
from longbeam.schemas import Difficulty, Evidence, Nugget, Probe, ProbeDetails


def probe(ability: str, gold: str, number: int = 0, **details: object) -> Probe:
    return Probe(
        probe_id=f"{ability}.{number}",
        ability=ability,
        question="?",
        gold_answer=gold,
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id="n", text="States it."),),
        evidence=(),
        details=ProbeDetails.model_validate(details),
    )


@pytest.mark.parametrize(
    ("gold", "wrong"),
    [
        ("It cost 4,200 euros on March 5, 2024.", "It cost 21,200 euros on March 14, 2024."),
        ("On 30 December for two weeks.", "On January 8 for seventeen weeks."),
        ("35% at 9:30.", "52% at 26:30."),
        ("No value here.", "No value here."),
    ],
)
def test_every_value_is_changed(gold: str, wrong: str) -> None:
    assert with_other_values(gold) == wrong


def test_a_wrong_answer_sounds_like_the_ability() -> None:
    assert wrong_answer(probe("event_ordering", "a, b", items=("a", "b", "c"))) == "1. c\n2. b\n3. a"
    assert "told me" in wrong_answer(probe("abstention", "There is no information about it."))
    assert "agrees" in wrong_answer(probe("contradiction_resolution", "You said 5 and 6."))
    assert wrong_answer(probe("information_extraction", "Gunnar")) != "Gunnar"


def test_the_swapped_answer_is_the_next_gold_that_says_something_else() -> None:
    cited = (Evidence(message_key="m1", quote="b"),)
    probes = [
        probe("abstention", "a"),
        probe("summarization", "b").model_copy(update={"evidence": cited}),
        probe("temporal_reasoning", "c").model_copy(update={"evidence": cited}),
        probe("abstention", "d", 1),
    ]
    assert [swapped_answer(p, probes) for p in probes] == ["b", "d", "d", "b"]
    assert swapped_answer(probes[0], [probes[0], probes[3]]) == ""


def test_a_gold_without_values_is_not_changed_but_denied() -> None:
    both = probe("information_extraction", "The red kiln, for 5 days.")
    assert "kiln" not in wrong_answer(both)
    with_value = both.model_copy(update={"rubric": (Nugget(nugget_id="n", text="States 5 days."),)})
    assert wrong_answer(with_value) == "The red kiln, for 22 days."


@pytest.mark.parametrize(
    ("system", "kind"),
    [
        ("blank", "floor"), ("bm25", "floor"), ("evidence", "ceiling"), ("gold", "ceiling"), ("rag[k=3]", "system"),
        ("wrong", "calibration"), ("swapped", "calibration"), ("denied", "calibration"), ("paraphrased", "calibration"),
    ],
)  # fmt: skip
def test_kinds_of_rows_are_told_apart(system: str, kind: str) -> None:
    assert kind_of(system) == kind


def asked(question: str, gold: str, *nuggets: str) -> Probe:
    rubric = tuple(Nugget(nugget_id=str(n), text=text) for n, text in enumerate(nuggets))
    return probe("knowledge_update", gold).model_copy(update={"question": question, "rubric": rubric})


def test_tempting_answers_are_made_of_the_gold() -> None:
    rent = asked("How much is the rent of Ferry Court?", "The rent of Ferry Court is 65 euros.",
                 "States that the rent of Ferry Court is 65 euros")  # fmt: skip
    other = asked("How old is the roof of Harbour Row?", "It is 12 years old.", "States 12 years")
    made = {name: make(rent, [rent, other]) for name, make in FIXED_ANSWERS.items()}
    assert made["denied"] == "The rent of Ferry Court is 82 euros, not 65 euros."
    assert made["candidates"] == "The rent of Ferry Court is 82 euros or 65 euros or 99 euros."
    assert made["two_values"] == "The rent of Ferry Court is 82 euros and 65 euros."
    assert made["other_subject"] == "The rent of Harbour Row is 65 euros."
    assert FIXED_ANSWERS["paraphrased"](other, [rent, other]) == "It is twelve years old."


def test_where_nothing_tempting_can_be_made_the_plain_answers_stand_in() -> None:
    plain = asked("What is it called?", "It is called Fjord.", "States Fjord")
    for name in ("denied", "candidates", "two_values", "other_subject"):
        assert FIXED_ANSWERS[name](plain, [plain]) == wrong_answer(plain)
    assert FIXED_ANSWERS["paraphrased"](plain, [plain]) == plain.gold_answer


@pytest.mark.parametrize(
    ("number", "said"),
    [(8, "eight"), (20, "twenty"), (85, "eighty-five"), (100, "one hundred"), (365, "three hundred and sixty-five")],
)
def test_numbers_in_words(number: int, said: str) -> None:
    assert in_words(number) == said
