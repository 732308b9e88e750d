"""Uses of an amount of money: no other sentence gives the same amount of the thing another use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.schemas import Advice, AdviceKind, Probe, Value
from longbeam.text import content_words, says, sentences
from longbeam.validation.base import ERROR, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex

_SET_ASIDE = re.compile(
    r"\b(?:aside|on the side|keep|kept|hold|held|put|reserved?|earmark(?:ed)?|meant|used|goes|plan(?:ned)? for|"
    r"(?:is|was) for)\b",
    re.IGNORECASE,
)
"""Words that give an amount a use; others only compute with it."""
_WORD = re.compile(r"[^\W_]+")
_FOR = re.compile(r"\bfor\b(?P<use>.*?)(?=\bfor\b|[.,;:!?\n]|\Z)", re.IGNORECASE | re.DOTALL)
_IDLE = content_words("aside ready side mind later now moment time being again something anything")
"""Stems of words behind "for" that are no use."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield sentences by which the amount of the question is for something else."""
    if probe.details.variety != AdviceKind.USE:
        return
    for advice in (index.advice.get(bullet_id) for bullet_id in probe.bullet_ids):
        if advice is not None and advice.value is not None:
            yield from _other_uses(index, probe, advice, advice.value)


def _other_uses(index: ConversationIndex, probe: Probe, advice: Advice, amount: Value) -> Iterator[Problem]:
    named = content_words(advice.topic)
    spelled = [word for word in _WORD.findall(advice.topic.casefold()) if content_words(word)]
    for place, _ in index.holding(spelled):
        message = index.messages[place]
        for start, end in sentences(message.content):
            sentence = message.content[start:end]
            if named <= content_words(sentence) and says(sentence, amount) and _has_other_use(sentence, advice):
                text = f"{message.message_key} has another use of {amount.text}: {shorten(sentence)}"
                yield Problem("other_use", probe.probe_id, text, (message.message_key,))


def _has_other_use(sentence: str, advice: Advice) -> bool:
    """Return whether a sentence with the amount says what it is for, in no word of what it is for by the advice."""
    if not _SET_ASIDE.search(sentence) or content_words(sentence) & content_words(advice.items[0]):
        return False
    known = content_words(advice.topic) | _IDLE
    return any(content_words(match["use"]) - known for match in _FOR.finditer(sentence))


CHECK = Check(
    name="uses",
    doc="Where a question asks what an amount is for, no other sentence gives this amount of the thing another use.",
    severities={"other_use": ERROR},
    english_only={"other_use": "reads English words"},
    on_probe=find_problems,
)
