"""Requests that a content filter withheld, told in neutral words.

Nobody says which text of a request set the filter off. The model tells all texts again in neutral words; where the
filter withholds this, too, each half is told by itself, down to the text that is refused alone, which is left out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from pydantic import BaseModel

from longbeam.errors import ProviderError
from longbeam.models.tuning import CALLING
from longbeam.schemas import NeutralReply, PromptInputs

NEUTRAL_PROMPT = "neutral_words"
FILTERED = (
    "a content filter withheld this request; all of it is fiction, so take whatever may have set the filter off in mild"
    " words that name nothing harmful"
)
LEFT_OUT = "[A content filter let this passage not through; it is left out.]"
Tell = Callable[[tuple[str, ...]], Awaitable[Sequence[str]]]
"""Asks a model to tell texts in neutral words; raises ProviderError of the kind `content_filter` where refused."""


async def reworded(inputs: PromptInputs, tell: Tell) -> tuple[PromptInputs, str]:
    """Return a request's inputs in neutral words, and a sentence on what was done."""
    told = await in_neutral_words(passages_in(inputs), tell)
    left_out = sum(text == LEFT_OUT for text in told.values())
    done = f"a content filter withheld the request: {len(told)} texts in neutral words, {left_out} of them left out"
    return with_passages(inputs, told), done


async def in_neutral_words(texts: Sequence[str], tell: Tell) -> dict[str, str]:
    """Return each text in neutral words, or LEFT_OUT where the filter withholds it alone."""
    told: dict[str, str] = {}
    waiting = [tuple(texts)] if texts else []
    calls = 0
    while waiting:
        group = waiting.pop()
        calls += 1
        if calls > CALLING.search_calls:
            told |= dict.fromkeys(group, LEFT_OUT)
            continue
        try:
            told |= zip(group, await tell(group), strict=True)
        except ProviderError as exc:
            if exc.kind != "content_filter":
                raise
            if len(group) == 1:
                told[group[0]] = LEFT_OUT
            else:
                half = len(group) // 2
                waiting += [group[half:], group[:half]]
    return told


def out_of_order(count: int, reply: NeutralReply) -> Iterator[str]:
    """Yield what is wrong with a reply that does not tell each of `count` texts once, in order."""
    if [told.number for told in reply.texts] != list(range(count)):
        yield f"texts must have the numbers 0 to {count - 1}, each once and in order"


def passages_in(inputs: PromptInputs) -> tuple[str, ...]:
    """Return the texts of a request's inputs, each once: not names, labels and numbers."""
    texts = _texts_in({name: value for name, value in inputs if name not in PromptInputs.model_fields})
    return tuple(dict.fromkeys(text for text in texts if len(text.split()) >= CALLING.told_again_words))


def with_passages(inputs: PromptInputs, told: Mapping[str, str]) -> PromptInputs:
    """Return inputs with other words for some of their texts."""
    changed: PromptInputs = _with(inputs, told)
    return changed


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str) and not isinstance(value, Enum):
        yield value
    for part in _parts_of(value).values():
        yield from _texts_in(part)


def _parts_of(value: object) -> dict[Any, object]:
    if isinstance(value, BaseModel):
        return dict(value)
    if isinstance(value, tuple | list):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else {}


def _with(value: Any, told: Mapping[str, str]) -> Any:  # Any: the same kind of value
    if isinstance(value, str):
        return told.get(value, value) if not isinstance(value, Enum) else value
    changed = {key: new for key, old in _parts_of(value).items() if (new := _with(old, told)) is not old}
    if not changed:
        return value
    if isinstance(value, BaseModel):
        return value.model_copy(update=changed)
    parts = {**_parts_of(value), **changed}
    return parts if isinstance(value, dict) else type(value)(parts.values())
