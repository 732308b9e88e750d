"""What the offline writer reads of a call, and how it travels."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from longbeam.offline import STATES, OfflineWriter, WriterExtras
from tests.offline.loopback.asking import sample_call
from tests.prompts import samples


def test_another_state_is_another_digest() -> None:
    inputs, state = samples.SAMPLES["user_answer"], samples.TURN_STATE
    later = state.model_copy(update={"ordinal": 1})
    assert len({WriterExtras(inputs, s).digest for s in (None, state, later)}) == 3
    assert WriterExtras(inputs).digest == inputs.digest


@pytest.mark.parametrize("prompt_id", sorted(STATES))
def test_inputs_and_state_survive_as_json(prompt_id: str) -> None:
    extras = samples.extras_of(prompt_id, samples.SAMPLES[prompt_id])
    read = json.loads(extras.json)
    assert type(extras.inputs).model_validate(read["inputs"]) == extras.inputs
    assert STATES[prompt_id].model_validate(read["state"]) == extras.state


async def test_a_call_without_the_state_it_needs_is_refused() -> None:
    with pytest.raises(TypeError, match="prompt 'user_answer': the offline writer needs the state"):
        await OfflineWriter().complete(replace(sample_call("user_answer"), extras=None))
