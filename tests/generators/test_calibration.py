"""A checker that judges at chance refuses nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from longbeam.generators import calibration_items, fitness_of, unsaid_claims
from longbeam.models import Asker, ModelCall
from longbeam.prompts.calls import EntailmentInputs, JudgeInputs
from longbeam.schemas import IncidentKind, ModelReply
from tests.generators.scripted import ScriptedModel, asker_for


class Judge(ScriptedModel):
    """Says `no` to every claim, or knows the calibration items."""

    def __init__(self, *, is_capable: bool) -> None:
        super().__init__({})
        self.truth = {i.message: i.are_said for i in calibration_items(0)} if is_capable else {}

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        if isinstance(call.inputs, JudgeInputs):
            return ModelReply(text=json.dumps({"reason": "r", "verdict": self.mark(call.inputs)}))
        assert isinstance(call.inputs, EntailmentInputs)
        said = self.truth.get(call.inputs.message, (False,) * len(call.inputs.claims))
        verdicts = [{"claim": i, "reason": "r", "is_said": s} for i, s in enumerate(said, 1)]
        return ModelReply(text=json.dumps({"verdicts": verdicts}), finish_reason="stop")

    def mark(self, inputs: JudgeInputs) -> str:
        return "not met"


class Marker(Judge):
    """Knows what an answer says, too."""

    def mark(self, inputs: JudgeInputs) -> str:
        (item,) = (i for i in calibration_items(0) if i.message.endswith(inputs.answer))
        return "met" if dict(zip(item.claims, item.are_said, strict=True))[inputs.nugget] else "partly met"


def _asker(judge: Judge, least: float = 0.8) -> Asker:
    asker = asker_for(judge)
    models = {"default": "openai:m"}
    checks = asker.spec.checks.model_copy(update={"least_accuracy": least, "model": True})
    return replace(asker, spec=asker.spec.model_copy(update={"checks": checks, "models": models, "seed": 0}))


def test_every_item_has_as_many_claims_that_are_said_as_claims_that_are_not() -> None:
    items = calibration_items(7)
    assert items == calibration_items(7) != calibration_items(8)
    assert all(sorted(item.are_said) == [False, False, True, True] for item in items)


@pytest.mark.parametrize(("is_capable", "right"), [(True, 16), (False, 8)])
async def test_a_judge_is_measured_on_claims_whose_truth_is_known(is_capable: bool, right: int) -> None:
    fitness = await fitness_of(_asker(Judge(is_capable=is_capable)))
    assert (fitness.right, fitness.asked, fitness.is_fit) == (right, 16, is_capable)


async def test_a_judge_that_reads_may_be_unfit_to_mark_answers() -> None:
    """A model of 1.5B read the claims right and denied every gold answer, so that no probe was left."""
    reads_only, marks = Judge(is_capable=True), Marker(is_capable=True)
    assert (await fitness_of(_asker(reads_only))).is_fit
    fitness = await fitness_of(_asker(reads_only), marks=True)
    assert (fitness.right, fitness.asked, fitness.is_fit) == (4, 8, False)
    assert (await fitness_of(_asker(marks), marks=True)).right == 8


async def test_the_objection_of_an_unfit_checker_is_an_incident_and_refuses_nothing() -> None:
    asker = _asker(Judge(is_capable=False))
    assert await unsaid_claims(asker, "says.0", "The hall is let.", ("The rent is $85.",)) == {}
    (incident,) = asker.incidents
    assert incident.kind is IncidentKind.UNFIT
    assert "unfit checker (8 of 16 calibration items right, 80% are needed)" in incident.detail
    assert "'The rent is $85.'" in incident.detail


async def test_the_objection_of_a_fit_checker_counts() -> None:
    asker = _asker(Judge(is_capable=True))
    assert await unsaid_claims(asker, "says.0", "The hall is let.", ("The rent is $85.",)) == {"The rent is $85.": "r"}
    assert asker.incidents == []


async def test_the_calls_of_a_calibration_are_the_same_for_every_unit_that_asks() -> None:
    judge = Judge(is_capable=True)
    asker = _asker(judge)
    await fitness_of(asker)
    await fitness_of(replace(asker.within("t3"), generation=2))
    keys = [call.key for call in judge.calls]
    assert keys[:4] == keys[4:]
    assert len(set(keys)) == 4


async def test_no_checker_is_calibrated_unless_the_spec_asks_for_it() -> None:
    judge = Judge(is_capable=False)
    fitness = await fitness_of(_asker(judge, least=0))
    assert fitness.is_fit
    assert judge.calls == []
