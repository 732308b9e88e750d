"""The newest message of a dialogue is kept, however long it is."""

from __future__ import annotations

import pytest

from longbeam.generators import DIALOGUE, DialogueHistory, context_of
from longbeam.schemas import MessageRole, OnContradiction
from tests.generators.scripted import ScriptedModel, asker_for
from tests.generators.test_dialogue import _material

CONTEXT = context_of(_material(share=1_000), OnContradiction.IGNORE)
LIMIT = 1_000
PASTED = LIMIT // DIALOGUE.kept_part + 1
"""Tokens of a message that is longer than what is kept of a history."""


def _history(*sizes: int) -> DialogueHistory:
    history = DialogueHistory(LIMIT)
    for i, size in enumerate(sizes):
        history.add(MessageRole.ASSISTANT if i % 2 else MessageRole.USER, f"message {i}", size)
    return history


@pytest.mark.parametrize("sizes", [(600, 600, PASTED), (600, 600, 5, PASTED), (600, 600, LIMIT + 1)])
async def test_a_long_newest_message_is_kept_when_the_older_ones_are_folded(sizes: tuple[int, ...]) -> None:
    history = _history(*sizes)
    asker = asker_for(ScriptedModel({"compact_memory": ["It was talked about."]}))
    await history.fold(asker, CONTEXT)
    assert [m.content for m in history.messages] == [f"message {len(sizes) - 1}"]
    assert history.sizes == [sizes[-1]]
    assert history.summary == "It was talked about."


async def test_a_dialogue_that_begins_with_more_than_the_limit_has_nothing_to_fold() -> None:
    history = _history(LIMIT + 1)
    await history.fold(asker_for(ScriptedModel({})), CONTEXT)
    assert history.sizes == [LIMIT + 1]
    assert history.summary == ""
    history.forget()
    assert history.sizes == [LIMIT + 1]


@pytest.mark.parametrize("sizes", [(600, 600, PASTED), (600, 600, 5, PASTED), (900, 50, 60)])
def test_a_long_newest_message_is_not_forgotten(sizes: tuple[int, ...]) -> None:
    history = _history(*sizes)
    history.forget()
    assert history.sizes == [sizes[-1]]
