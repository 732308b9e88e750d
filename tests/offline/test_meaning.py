"""The similarity judge: meaning decides where words do not, and never against a value or a denial."""

from __future__ import annotations

import pytest

from longbeam.errors import SpecError
from longbeam.models import make_model
from longbeam.models.embedders import MiniLmEmbedder
from longbeam.offline import SimilarityJudge, judge
from longbeam.prompts.calls import AlignInputs, JudgeInputs
from longbeam.schemas import BenchmarkSpec
from longbeam.wiring import services

PARAPHRASED = JudgeInputs(
    question="What did my doctor say?",
    nugget="LLM response should state: the physician advised daily walks",
    answer="Your doctor recommended going for a walk every day.",
    is_strict=True,
)


@pytest.fixture(scope="module")
def by_meaning() -> SimilarityJudge:
    return SimilarityJudge(MiniLmEmbedder())


async def test_a_paraphrase_meets_a_nugget_that_shares_no_words(by_meaning: SimilarityJudge) -> None:
    assert judge(PARAPHRASED).verdict != "met"
    assert (await by_meaning.judge(PARAPHRASED)).verdict == "met"


@pytest.mark.parametrize(
    ("nugget", "answer"),
    [
        ("States that the call with the landlord took 50 minutes", "The talk with your landlord lasted an hour."),
        ("States that the user has never been to Japan", "You have been to Japan."),
        ("States that the user keeps bees", "Your car needs new tyres."),
        ("States that the doctor advised daily walks", "What did my doctor say about daily walks?"),
    ],
)
async def test_values_denials_other_things_and_echoes_are_not_met(
    by_meaning: SimilarityJudge, nugget: str, answer: str
) -> None:
    asked = "What did my doctor say about daily walks?"
    inputs = JudgeInputs(question=asked, nugget=nugget, answer=answer, is_strict=True)
    assert (await by_meaning.judge(inputs)).verdict != "met"


async def test_an_event_in_other_words_is_aligned(by_meaning: SimilarityJudge) -> None:
    events = ("Buying the second-hand automobile", "Moving to the new flat")
    assert (await by_meaning.align(AlignInputs(item="purchase of a used car", events=events))).event == 0
    assert (await by_meaning.align(AlignInputs(item="a recipe for soup", events=events))).event is None


def test_the_similarity_judge_only_judges() -> None:
    spec = BenchmarkSpec.model_validate({"name": "t", "models": {"default": "offline", "reader": "similarity"}})
    with pytest.raises(SpecError, match=r"models.reader = 'similarity': this model serves only as judge"):
        make_model(spec, services().kinds)
