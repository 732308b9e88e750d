"""The lexical judge: deterministic verdicts by words and values; every result labels them as such.

An answer meets a nugget when it has all of the nugget's typed values and most of the nugget's words that are not in
the question. The judge knows no synonyms, and no negation except the statement that there is no information.
"""

from __future__ import annotations

import re

from longbeam.prompts.calls.evaluation import AlignInputs, AlignReply, JudgeInputs, JudgeReply
from longbeam.text.extraction import extract_values
from longbeam.text.matching import says
from longbeam.text.words import words_of

_FRAME = frozenset(
    words_of(
        "states mentions says asks names gives user response answer includes conversation llm contain "
        "total altogether together sum difference number different"
    )
)
_NO_INFORMATION = re.compile(
    r"\bno (?:information|mention|record|detail)s?\b|\b(?:not|never|n't) (?:been )?(?:mention|say|said|discuss|told|"
    r"tell|specif|provid|stat|talk|come up)|\bdon't (?:know|have)\b|\bno such\b",
    re.IGNORECASE,
)
_FULL, _FULL_WITH_VALUES, _HALF = 0.6, 0.5, 0.35
"""Shares of the telling words: for full credit, for full credit of a nugget with values, for half credit."""
_SAME_EVENT = 0.5


def judge(inputs: JudgeInputs) -> JudgeReply:
    """Return the verdict on one nugget."""
    abstains = _NO_INFORMATION.search(inputs.answer) is not None
    if _NO_INFORMATION.search(inputs.nugget):
        return JudgeReply(
            reason="whether the answer says that there is no information", verdict="met" if abstains else "not met"
        )
    if inputs.nugget.startswith("Asks "):
        asks = re.search(r"\b(?:which|whether|clarify|confirm|correct|right)\b[^.!]*\?", inputs.answer, re.IGNORECASE)
        return JudgeReply(reason="whether the answer asks back which one holds", verdict="met" if asks else "not met")
    values = extract_values(inputs.nugget)
    found = [v for v in values if says(inputs.answer, v)]
    telling = set(words_of(inputs.nugget)) - _FRAME - {w for v in values for w in words_of(v.text)}
    fresh = telling - set(words_of(inputs.question))
    if not values:
        fresh = fresh or telling
    said = set(words_of(inputs.answer))
    share = len(fresh & said) / len(fresh) if fresh else 1.0
    reason = f"{len(found)} of {len(values)} values and {share:.0%} of the telling words are in the answer"
    enough = (_FULL_WITH_VALUES if values else _FULL) if inputs.is_strict else _HALF
    if len(found) == len(values) and share >= enough:
        return JudgeReply(reason=reason, verdict="met")
    has_half = 2 * len(found) >= len(values) and share >= _HALF
    return JudgeReply(reason=reason, verdict="partly met" if has_half and not abstains else "not met")


def align(inputs: AlignInputs) -> AlignReply:
    """Return the event that shares the most words with the item, if it shares at least half of its own."""
    said = set(words_of(inputs.item))
    best, place = 0.0, None
    for i, event in enumerate(inputs.events):
        words = set(words_of(event)) - _FRAME
        share = len(words & said) / len(words) if words else 0.0
        if share > best:
            best, place = share, i
    reason = f"{best:.0%} of an event's words are in the item"
    return AlignReply(reason=reason, event=place if best >= _SAME_EVENT else None)
