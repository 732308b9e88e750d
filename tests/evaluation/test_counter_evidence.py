"""Counter-evidence to an order: a message that names an item before the cited one does."""

from __future__ import annotations

import json

from longbeam.evaluation.model_checks import ProbeCase
from longbeam.evaluation.model_checks.counter_evidence import find_problems
from longbeam.models import ModelCall
from longbeam.prompts.calls import CounterEvidenceInputs
from longbeam.schemas import Difficulty, Evidence, Nugget, Probe, ProbeDetails
from tests.generators.scripted import ScriptedModel, asker_for
from tests.memory.test_systems import messages

SAID = messages(
    (
        ("First the roof, the porch and the attic have to be looked at.", "In this order?"),
        ("The roof leaks.", "Badly?"),
        ("The attic is dry.", "Good."),
        ("The porch is rotten.", "Replace it."),
    )
)
LIST, ROOF, ATTIC, PORCH = SAID[::2]


def case(variety: str) -> ProbeCase:
    cited = (ROOF, ATTIC, PORCH)
    items = ("roof", "attic", "porch")
    probe = Probe(
        probe_id="event_ordering.0",
        ability="event_ordering",
        question="Which three parts of the house came up first, in their order?",
        gold_answer="1) roof, 2) attic, 3) porch",
        difficulty=Difficulty.EASY,
        rubric=tuple(Nugget(nugget_id=f"n{i}", text=item) for i, item in enumerate(items)),
        evidence=tuple(Evidence(message_key=m.message_key, quote=m.content, part="item") for m in cited),
        details=ProbeDetails(variety=variety, items=items),
    )
    return ProbeCase("c000", probe, cited, (), SAID[-1].sent_at, lambda: (LIST, SAID[3], SAID[-1]))


def shown(call: ModelCall) -> CounterEvidenceInputs:
    assert isinstance(call.inputs, CounterEvidenceInputs)
    return call.inputs


def first_mention(call: ModelCall) -> str:
    """A checker that takes for counter-evidence the first message before a cited one."""
    inputs = shown(call)
    found = next((m for m in inputs.others if inputs.is_order and m.before), None)
    reply = {"reason": "none"} if found is None else {"reason": "first", "message": found.number, "quote": found.text}
    return json.dumps(reply)


async def test_a_sentence_that_names_several_items_before_the_cited_ones_changes_their_order() -> None:
    model = ScriptedModel({"counter_evidence": first_mention})
    (problem,) = await find_problems(asker_for(model), case("all"))

    assert problem.kind == "changes_answer"
    assert problem.evidence[0] == LIST.message_key
    (call,) = model.calls
    assert [m.before for m in shown(call).others] == [1, 2, 0]  # before the roof, before the attic, after all
    system, user = (message.content for message in call.messages())
    assert "the order in which things first came up" in system
    assert "before cited 1" in user


async def test_the_steps_of_a_plan_are_no_order_of_mention() -> None:
    model = ScriptedModel({"counter_evidence": first_mention})
    assert await find_problems(asker_for(model), case("steps")) == []
    assert "the order in which things first came up" not in model.calls[0].messages()[0].content
