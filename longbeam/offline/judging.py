"""The lexical judge: deterministic verdicts by words and values; every result labels them as such.

An answer meets a nugget when it has all of the nugget's typed values and most of the nugget's words that are not in
the question. Nuggets of a plain form have rules of their own: that there is no information, that statements contradict,
that the user is asked back, that a unit is used. The judge knows no synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from longbeam.prompts.calls import AlignInputs, AlignReply, JudgeInputs, JudgeReply
from longbeam.schemas import Value, ValueKind
from longbeam.text import content_words, says, sentences, values_in, words_of

_FRAME = frozenset(
    words_of(
        "states mentions says asks names gives user response answer includes conversation llm contains total "
        "altogether together sum difference number different fact order based till provided chat there information"
    )
)
_IMPLIED = {
    ValueKind.DURATION: frozenset(
        words_of("lasted lasts take takes took lie lies long passed between length duration")
    ),
    ValueKind.MONEY: frozenset(words_of("price costs paid pays spent worth amounts budget")),
    ValueKind.DATE: frozenset(words_of("date day took place happened scheduled set due on")),
    ValueKind.NUMBER: frozenset(words_of("there count counts amount amounts comes come make makes")),
}
"""Stems of words that a value of a kind says by itself: "50 minutes" lasts."""
_NO_INFORMATION = re.compile(
    r"\bno (?:information|mention|record|detail)s?\b|\b(?:not|never|n't) (?:been )?(?:mention|say|said|discuss|told|"
    r"tell|specif|provid|stat|talk|come up)|\bdon't (?:know|have)\b|\bno such\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”')
_CONTRADICTS = re.compile(
    r"\bcontradict|\bconflict|\binconsisten|\b(?:do|does|did)(?: not|n't) (?:agree|match|fit)|\bcannot both\b|"
    r"\bdisagree|\bat odds\b",
    re.IGNORECASE,
)
_UNSAID = re.compile(r"Says of .+?: (.+), without giving the amount of (.+)$")
_ONLY = re.compile(r"Names (.+?) and no other person\b")
_WITHIN = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
"""Capitalized words within a sentence."""
_ASKS = re.compile(r"^(?:[^:]{0,60}:\s*)?(?:asks\b|which\b[^.]*\?\s*$)", re.IGNORECASE)
_ASKED = re.compile(r"\b(?:which|whether|clarify|confirm|correct|right)\b[^.!]*\?", re.IGNORECASE)
_IN_UNIT = re.compile(r"\bin (\w{4,})\s*$", re.IGNORECASE)
_PUTS_QUESTION = re.compile(
    r"^\W*(?:gives|names|includes|suggests|(?:ends|closes)(?: the answer)? with) (?:a|one) question\b", re.IGNORECASE
)
_FOR_EACH = re.compile(r"\b(?:for|of|with|beside) (?:each|every|all)\b", re.IGNORECASE)
_UNITS = re.compile(
    r"\b(seconds?|minutes?|hours?|days?|weeks?|months?|years?|grams?|kilos?|litres?|metres?|percent|euros?|dollars?)\b",
    re.IGNORECASE,
)
_ONE_BEFORE_OTHER = re.compile(r"\b(worst|best|likely|least|most)\b.*\bbefore\b.*\b(worst|best|likely|least|most)\b")
_SHORTCOMING = re.compile(r"\b(?:falls? short|drawback|downside|disadvantage|shortcoming|weakness)\w*", re.IGNORECASE)
_FALLS_SHORT = re.compile(
    r"\b(?:lack|without|miss|weaker|less|lose|fade|falls? short|drawback|downside|disadvantage|but|not as)\w*|\bno \w+",
    re.IGNORECASE,
)
_SHORT = 60
"""Words of an answer up to which its values are taken to be about the question."""
_FULL, _FULL_WITH_VALUES, _HALF = 0.6, 0.5, 0.35
"""Shares of the telling words: for full credit, for full credit of a nugget with values, for half credit."""
_SAME_EVENT = 0.5
_EACH = 2
"""Values of a unit in an answer that gives the unit for each of several things."""


def judge(inputs: JudgeInputs) -> JudgeReply:
    """Return the verdict on one nugget."""
    return judge_form(inputs) or judge_words(inputs)


def judge_form(inputs: JudgeInputs) -> JudgeReply | None:
    """Return the verdict on a nugget that asks for a plain form; None for any other nugget."""
    for rule in (_judge_unsaid, _judge_only, _judge_absence, _judge_contradiction, _judge_question, _judge_shape):
        if (reply := rule(inputs)) is not None:
            return reply
    return None


def _judge_unsaid(inputs: JudgeInputs) -> JudgeReply | None:
    """Return "met" for an answer that says the one thing and leaves the amount unsaid."""
    if (match := _UNSAID.match(inputs.nugget)) is None:
        return None
    wanted, said = content_words(match[1]), content_words(inputs.answer)
    leaks = any(says(inputs.answer, v) for v in values_in(match[2]))
    return _verdict("whether the answer says the one thing and not the other", wanted <= said and not leaks)


def _judge_only(inputs: JudgeInputs) -> JudgeReply | None:
    """Return "met" for an answer that names these people and, within its sentences, no other name."""
    if (match := _ONLY.match(inputs.nugget)) is None:
        return None
    wanted = set(re.split(r", | and ", match[1]))
    named = set(_WITHIN.findall(inputs.answer)) - set(re.findall(r"\w+", inputs.question))
    has_all = all(re.search(rf"\b{re.escape(name)}\b", inputs.answer) for name in wanted)
    return _verdict("whether the answer names these people and nobody else", has_all and named <= wanted)


def _judge_absence(inputs: JudgeInputs) -> JudgeReply | None:
    if not _says_nothing_known(inputs.nugget):
        return None
    return _verdict("whether the answer says that there is no information", _says_nothing_known(inputs.answer))


def _judge_contradiction(inputs: JudgeInputs) -> JudgeReply | None:
    if not _CONTRADICTS.search(inputs.nugget):
        return None
    return _verdict("whether the answer says that two statements contradict", _CONTRADICTS.search(inputs.answer))


def _judge_question(inputs: JudgeInputs) -> JudgeReply | None:
    if _PUTS_QUESTION.search(inputs.nugget):
        return _verdict("whether the answer has a question on the subject", "?" in inputs.answer and _is_about(inputs))
    if not _ASKS.search(inputs.nugget):
        return None
    asks = _ASKED.search(inputs.answer) and not content_words(inputs.answer) <= content_words(inputs.question)
    return _verdict("whether the answer asks back which one holds", asks)


def _judge_shape(inputs: JudgeInputs) -> JudgeReply | None:
    """Return "met" for an answer of the form that a nugget asks for, a unit or what a thing lacks; else None."""
    if values_in(inputs.nugget) or not _is_about(inputs):
        return None
    if _FOR_EACH.search(inputs.nugget) and (unit := _UNITS.search(inputs.nugget)):
        counted = rf"\d[\d.,]*(?: to \d+| ?[-–] ?\d+)?[- ](?:\w+ )?{unit[1].casefold().removesuffix('s')}"
        times = len(re.findall(counted, inputs.answer, re.IGNORECASE))
        return _verdict(f"the answer gives {unit[1]} {times} times", times >= _EACH)
    if order := _ONE_BEFORE_OTHER.search(inputs.nugget.casefold()):
        first, second = (inputs.answer.casefold().find(word) for word in order.groups())
        return _verdict(f"whether {order[1]!r} stands before {order[2]!r}", 0 <= first < second)
    if unit := _IN_UNIT.search(inputs.nugget):
        stem = unit[1].casefold().removesuffix("s").removesuffix("ful")
        if any(stem in word for word in inputs.answer.casefold().split()):
            return _verdict(f"the answer says {unit[1]}", is_met=True)
    if _SHORTCOMING.search(inputs.nugget) and _FALLS_SHORT.search(inputs.answer):
        return _verdict("the answer says what is lacking", is_met=True)
    return None


def _says_nothing_known(text: str) -> bool:
    """Return whether the text itself says that there is no information, and not a message that it quotes."""
    return _NO_INFORMATION.search(_QUOTED.sub("", text)) is not None


def _is_about(inputs: JudgeInputs) -> bool:
    """Return whether the answer has a word of the question, and is not the question repeated."""
    said, asked = content_words(inputs.answer), content_words(inputs.question)
    return bool(said & asked) and not said <= asked


def _verdict(reason: str, is_met: object) -> JudgeReply:
    return JudgeReply(reason=reason, verdict="met" if is_met else "not met")


def judge_words(inputs: JudgeInputs) -> JudgeReply:
    """Return the verdict by values and words: all values, and most of the words that the question does not have."""
    values = values_in(inputs.nugget)
    found = [v for v in values if says(inputs.answer, v)]
    implied = frozenset[str]().union(*(_IMPLIED.get(v.kind, frozenset()) for v in values))
    own = set(words_of(inputs.nugget)) - _FRAME - {w for v in values for w in words_of(v.text)}
    telling = {word for word in own - implied if len(word) > 1}
    fresh = telling - set(words_of(inputs.question))
    if not values:
        fresh = fresh or telling
    said = set(words_of(inputs.answer))
    share = len(fresh & said) / len(fresh) if fresh else 1.0
    if values:
        # A value beside the nugget's words is about the same thing; so is a value in an answer of a few words.
        beside = _beside(inputs.answer, found)
        near = len(telling & beside) / len(telling) if telling else 1.0
        share = max(share, near, 0.5 if len(inputs.answer.split()) <= _SHORT and telling - fresh else 0.0)
    reason = f"{len(found)} of {len(values)} values and {share:.0%} of the telling words are in the answer"
    enough = (_FULL_WITH_VALUES if values else _FULL) if inputs.is_strict else _HALF
    if len(found) == len(values) and share >= enough:
        return JudgeReply(reason=reason, verdict="met")
    has_half = 2 * len(found) >= len(values) and share >= _HALF
    partly = has_half and not _says_nothing_known(inputs.answer)
    return JudgeReply(reason=reason, verdict="partly met" if partly else "not met")


def _beside(answer: str, values: Sequence[Value]) -> set[str]:
    """Return the stems of the sentences that say one of the values."""
    said = (answer[slice(*span)] for span in sentences(answer))
    return {word for text in said if any(says(text, v) for v in values) for word in words_of(text)}


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
