"""Replies as the benchmark of grammars gives them to the libraries."""

from __future__ import annotations

from benchmarks.bench_grammars import in_form
from longbeam.models import strict_schema
from longbeam.prompts import default_registry
from longbeam.prompts.calls import AdviceDraft, AdviceInputs, AdviceReply
from tests.prompts.samples import SAMPLES


def test_a_reply_has_the_properties_of_its_form_in_their_order() -> None:
    # A grammar refuses the first property that is not the next one of the form; nothing behind it would be timed.
    inputs = SAMPLES["advise"]
    assert isinstance(inputs, AdviceInputs)
    figure = inputs.advice[0].model_copy(update={"or_steps": 3})
    schema = default_registry()["advise"].schema(inputs.model_copy(update={"advice": (figure,), "choices": ()}))
    assert schema is not None
    form = strict_schema(schema, is_whole=True)
    named = AdviceDraft(line_id="a0", text="Keep a margin.", name="margin")
    steps = AdviceDraft(line_id="a0", text="1. call", items=["call", "ask", "sign"])
    made = [in_form(AdviceReply(advice=[d]).model_dump(mode="json"), form, {})["advice"][0] for d in (named, steps)]
    assert [list(draft) for draft in made] == [["line_id", "name", "text"], ["line_id", "items", "text"]]
