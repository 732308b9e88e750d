"""Check of the assistant's advice: a reply that is said to give it must give it, and nobody may have said it before."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.schemas import Advice, AdviceKind, Message, MessageRole
from longbeam.text import says, use_quote
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield advice that no reply gives, that its reply lacks, and choices whose message names the option."""
    given = {advice_id: m for m in index.messages for advice_id in m.bullet_ids if advice_id in index.advice}
    for advice_id, advice in index.advice.items():
        message = given.get(advice_id)
        if message is None:
            yield Problem("not_given", advice_id, f"no reply gives: {shorten(advice.text)}")
        elif message.role is not MessageRole.ASSISTANT:
            text = f"{message.message_key} is the user's, and only the assistant gives {advice_id}"
            yield Problem("speaker", advice_id, text, (message.message_key,))
        elif missing := _missing(advice, message):
            text = f"{message.message_key} does not say {shorten(missing)!r}"
            yield Problem("value_not_said", advice_id, text, (message.message_key,))
        if advice.taken:
            yield from _choice_problems(index, advice)


def _missing(advice: Advice, message: Message) -> str:
    """Return the value or the item that a reply lacks; empty if it has all."""
    if advice.value is not None and not says(message.content, advice.value):
        return advice.value.text
    if advice.kind is AdviceKind.USE and advice.value is not None:
        is_said = use_quote(message.content, advice.value, advice.items[0]) is not None
        return "" if is_said else f"{advice.value.text} for {advice.items[0]}"
    folded = message.content.casefold()
    return next((item for item in advice.items if item.casefold() not in folded), "")


def _choice_problems(index: ConversationIndex, advice: Advice) -> Iterator[Problem]:
    item = advice.items[advice.taken - 1]
    for message in index.voicing(advice.taken_in):
        if item.casefold() in message.content.casefold():
            text = f"{message.message_key} names the option that it should only number: {shorten(item)!r}"
            yield Problem("option_named", advice.advice_id, text, (message.message_key,))


CHECK = Check(
    name="advice",
    doc="What the assistant brings in is said by the reply that is to bring it in, with its value or items.",
    severities={"not_given": INFO, "speaker": ERROR, "value_not_said": ERROR, "option_named": WARNING},
    on_conversation=find_problems,
)
