"""The judge's way: lexical verdicts, failed verdicts, alignment of events."""

from __future__ import annotations

import asyncio
import json

import pytest

from longbeam.evaluation import judge_answer, judge_nuggets
from longbeam.models import LimitedModel, ModelCall
from longbeam.offline import judge
from longbeam.prompts.calls import JudgeInputs
from longbeam.schemas import Answer, BenchmarkSpec, Difficulty, ModelReply, Nugget, Probe, ProbeDetails
from tests.generators.scripted import ScriptedModel, asker_for

QUESTION = "How many days are there between the lease and the opening?"


def verdict(nugget: str, answer: str, question: str = QUESTION) -> str:
    return judge(JudgeInputs(question=question, nugget=nugget, answer=answer)).verdict


@pytest.mark.parametrize(
    ("nugget", "answer", "expected"),
    [
        ("States that there are 13 days between the lease and the opening", "It was 13 days.", "met"),
        ("States that there are 13 days between the lease and the opening", "It was thirteen days.", "met"),
        ("States that there are 13 days between the lease and the opening", "It was 31 days.", "not met"),
        ("States that there are 13 days between the lease and the opening", QUESTION, "not met"),
        (
            "States that the conversation has no information about a newsletter",
            "That never came up; no mention.",
            "met",
        ),
        ("States that the conversation has no information about a newsletter", "It was the Clay Weekly.", "not met"),
        ("Asks the user which of the two statements is correct", "Which of the two is right?", "met"),
        ("Asks the user which of the two statements is correct", "The first is right.", "not met"),
    ],
)
def test_lexical_verdicts(nugget: str, answer: str, expected: str) -> None:
    assert verdict(nugget, answer) == expected


def ordering_probe() -> Probe:
    items = ("map view", "import screen", "list view")
    return Probe(
        probe_id="event_ordering.0",
        ability="event_ordering",
        question="In which order?",
        gold_answer="1) map view, 2) import screen, 3) list view",
        difficulty=Difficulty.EASY,
        rubric=tuple(Nugget(nugget_id=f"n{i}", text=f"Mentions {item}") for i, item in enumerate(items)),
        evidence=(),
        details=ProbeDetails(items=items),
    )


def answer_of(text: str) -> Answer:
    return Answer(conversation_id="c000", probe_id="event_ordering.0", system="s", text=text)


async def test_a_judge_that_fails_is_recorded_and_is_no_zero() -> None:
    met = json.dumps({"reason": "said", "verdict": "met"})
    aligned = json.dumps({"reason": "the same", "event": 0})
    replies = {"n0": met, "n1": "I would say it is fine", "n2": met}
    model = ScriptedModel(
        {"judge_nugget": lambda call: replies[call.unit_key.rpartition("/")[2]], "align_event": [aligned]}
    )
    judgement = await judge_answer(
        ordering_probe(), answer_of("map view"), asker_for(model), judge="scripted", is_strict=True
    )
    assert [n.score for n in judgement.nuggets] == [1, None, 1]
    assert "3 replies did not fit" in judgement.nuggets[1].error


async def test_judging_that_is_stopped_ends_after_the_replies_on_their_way() -> None:
    class Held:
        gate, answered = asyncio.Event(), 0

        async def complete(self, call: ModelCall) -> ModelReply:
            await self.gate.wait()
            self.answered += 1
            return ModelReply(text=json.dumps({"reason": "said", "verdict": "met"}))

    model = Held()
    spec = BenchmarkSpec.model_validate({"name": "test", "limits": {"concurrency": 1}})
    asker = asker_for(LimitedModel(model, spec))  # the first nugget is asked about, the others wait
    judging = asyncio.create_task(judge_nuggets(ordering_probe(), "map view", asker, is_strict=True))
    for _ in range(10):
        await asyncio.sleep(0)
    judging.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not judging.done()
    model.gate.set()
    await asyncio.wait([judging])
    assert (judging.cancelled(), model.answered) == (True, 1)


async def test_events_are_aligned_greedily_and_equal_texts_once() -> None:
    def align(call: object) -> str:
        events = call.inputs.events  # type: ignore[attr-defined]
        item = call.inputs.item  # type: ignore[attr-defined]
        return json.dumps({"reason": "", "event": events.index(item) if item in events else None})

    model = ScriptedModel({"judge_nugget": [json.dumps({"reason": "", "verdict": "not met"})], "align_event": align})
    text = "In this order:\n- list view\n- map view\n- list view\n"
    judgement = await judge_answer(ordering_probe(), answer_of(text), asker_for(model), judge="s", is_strict=True)
    assert judgement.aligned_items == (2, 0, None)
    assert judgement.aligned_lines == (None, 2, 0, None, None)
    asked = [call.inputs.item for call in model.calls if call.prompt.prompt_id == "align_event"]  # type: ignore[attr-defined]
    assert asked == ["list view", "map view", "list view", "In this order:"]


async def test_a_blank_answer_is_not_asked_about() -> None:
    model = ScriptedModel({})
    judgement = await judge_answer(ordering_probe(), answer_of(" "), asker_for(model), judge="s", is_strict=True)
    assert [n.score for n in judgement.nuggets] == [0, 0, 0]
    assert model.calls == []
