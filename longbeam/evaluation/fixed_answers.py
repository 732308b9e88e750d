"""Answers that need no reader: floors, and answers by which a judge is calibrated.

A judge must give right answers full marks and wrong ones none. Right are the gold, and the gold with its numbers in
words. Wrong are the gold with its values changed or its claim turned round, the question repeated, the gold of another
probe, and answers that have the right words and are wrong all the same: the value denied (`17 costs, not 8 costs`), the
value of something else, several candidates of which none is chosen, an older value beside the new one. Where a probe's
gold has no value to do this with, the plain gold or the plain wrong answer stands in.

Where a language model judges or reads, it writes two more for each probe, in words of its own: a right one
(`reworded`), and a wrong one in one of four forms, the next form for each next probe (`misleading`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence

from longbeam.abilities import Trait, ability_of
from longbeam.prompts.calls import TrialForm
from longbeam.schemas import Probe, Value, ValueKind
from longbeam.text import format_date, number_word, says, stated_in, values_in

_INVENTED = "You told me: it was the second one, the blue one, and you were glad of it."
_NOTHING_TO_DECIDE = "All that you told me about this agrees, so there is nothing to decide."
_REFUSED = "I would rather not go into that; please look it up yourself."
_TURNED = "No, that is not so; it was something else altogether."
_DAYS = dt.timedelta(days=9)
"""Shift of a wrong date: more than a week, so that no weekday and no rounding makes it right."""


def wrong_answer(probe: Probe) -> str:
    """Return an answer that sounds like the gold and is wrong."""
    ability = ability_of(probe.ability)
    if ability.has(Trait.ABSTAINS):
        return _INVENTED
    if ability.has(Trait.RESOLVES_CONTRADICTION):
        return _NOTHING_TO_DECIDE
    if ability.has(Trait.GUIDES_ANSWERS):
        return _REFUSED
    if ability.has(Trait.ORDERS_ITEMS):
        items = probe.details.items or tuple(n.text for n in probe.rubric)
        return "\n".join(f"{n}. {item}" for n, item in enumerate(reversed(items), 1)) if len(items) > 1 else _TURNED
    # Where a nugget asks for no value, the gold with other values would still be right in part.
    has_values = all(values_in(nugget.text) for nugget in probe.rubric)
    changed = with_other_values(probe.gold_answer)
    return changed if has_values and changed != probe.gold_answer else _TURNED


def with_other_values(text: str) -> str:
    """Return a text with each of its typed values changed."""
    for stated in sorted(stated_in(text), key=lambda found: -found.start):
        text = text[: stated.start] + _changed(stated.value) + text[stated.end :]
    return text


def _changed(value: Value) -> str:
    if value.date is not None:
        return format_date(value.date + _DAYS)
    if value.kind is ValueKind.DATE:  # a day without its year
        (read,) = values_in(value.text, year=2001)  # of the year only month and day are used
        return format_date(read.date + _DAYS, with_year=False) if read.date else _TURNED
    digits = re.search(r"\d+", value.text)
    if digits is None:
        return f"seventeen {value.unit or 'of them'}"
    return value.text[: digits.start()] + str(int(digits[0]) + 17) + value.text[digits.end() :]


_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WHOLE = re.compile(r"(?<![\w.,:/-])(\d{1,3})(?![\w:/-]|[.,]\d)")
"""Whole numbers below a thousand that are no part of a date, a version or a larger number."""


def in_words(number: int) -> str:
    """Return a whole number below a thousand in words."""
    if number < 20:
        return number_word(number) or "zero"
    if number < 100:
        return _TENS[number // 10 - 2] + (f"-{number_word(number % 10)}" if number % 10 else "")
    rest = number % 100
    return f"{number_word(number // 100)} hundred" + (f" and {in_words(rest)}" if rest else "")


def paraphrased_answer(probe: Probe) -> str:
    """Return the gold with the numbers of its durations and counts in words; a list keeps those of its items."""
    text = probe.gold_answer
    if ability_of(probe.ability).has(Trait.ORDERS_ITEMS):
        return text
    for stated in sorted(stated_in(text), key=lambda found: -found.start):
        if stated.value.kind in (ValueKind.DURATION, ValueKind.NUMBER) and stated.value.text.startswith(
            tuple("123456789")
        ):
            said = _WHOLE.sub(lambda m: in_words(int(m[1])), stated.value.text)
            text = text[: stated.start] + said + text[stated.end :]
    return text


def _tempting(probe: Probe, form: Callable[[str, str], str]) -> str:
    """Return the gold with each value in a form made of a wrong and the right one; else the plain wrong answer."""
    ability = ability_of(probe.ability)
    is_plain = not any(map(ability.has, (Trait.ABSTAINS, Trait.RESOLVES_CONTRADICTION, Trait.GUIDES_ANSWERS,
                                         Trait.ORDERS_ITEMS)))  # fmt: skip
    stated = stated_in(probe.gold_answer)
    asks_values = all(any(not says(probe.question, v) for v in values_in(n.text)) for n in probe.rubric)
    if not (is_plain and stated and asks_values):
        return wrong_answer(probe)
    text = probe.gold_answer
    for found in sorted(stated, key=lambda of: -of.start):
        text = text[: found.start] + form(_changed(found.value), found.value.text) + text[found.end :]
    return text


def candidates_answer(probe: Probe) -> str:
    """Return the gold with three candidates for each value, of which none is chosen; for questions of one value."""
    if len(values_in(probe.gold_answer)) != 1:
        return wrong_answer(probe)
    return _tempting(probe, lambda other, right: f"{other} or {right} or {with_other_values(other)}")


def other_subject_answer(probe: Probe, probes: Sequence[Probe]) -> str:
    """Return the gold with each name that its rubric asks for replaced by names of other probes."""
    own = set(_NAMED.findall(f"{probe.question} {probe.gold_answer}"))
    others = [name for p in probes for name in _NAMED.findall(p.question) if name not in own and p != probe]
    named = [set(_NAMED.findall(nugget.text)) for nugget in probe.rubric]
    asked = set().union(*named)
    is_told = all(names and values_in(n.text) for names, n in zip(named, probe.rubric, strict=True))
    if not others or not is_told or asked - set(_NAMED.findall(probe.gold_answer)):
        return wrong_answer(probe)
    text = probe.gold_answer
    for place, name in enumerate(sorted(asked)):
        text = text.replace(name, others[place % len(others)])
    return text


_NAMED = re.compile(r"(?<=[a-z,;] )[A-Z][\w’-]*(?: [A-Z][\w’-]*)*(?![\w’-]* \d)")
"""Names within a sentence; a month before its day is none."""


def swapped_answer(probe: Probe, probes: Sequence[Probe]) -> str:
    """Return the gold of the next probe that asks for something else; empty where there is none.

    It has another ability and cites no message of this probe: the gold of a like probe may be right in part.
    """
    cited = {evidence.message_key for evidence in probe.evidence}
    place = _place(probe, probes)
    for other in (*probes[place:], *probes[:place]):
        if other.ability != probe.ability and cited.isdisjoint(e.message_key for e in other.evidence):
            return other.gold_answer
    return ""


def _place(probe: Probe, probes: Sequence[Probe]) -> int:
    return next((i for i, p in enumerate(probes) if p.probe_id == probe.probe_id), 0)


MISLEADING: tuple[TrialForm, ...] = ("denied", "other subject", "candidates", "two values")
WRITTEN_ANSWERS: Mapping[str, Callable[[Probe, Sequence[Probe]], TrialForm]] = {
    "reworded": lambda probe, probes: "right",
    "misleading": lambda probe, probes: MISLEADING[_place(probe, probes) % len(MISLEADING)],
}
"""Answers of a language model that try the judge: function from a probe, and all of its conversation, to the form."""
FIXED_ANSWERS: Mapping[str, Callable[[Probe, Sequence[Probe]], str]] = {
    "blank": lambda probe, _: "",
    "echo": lambda probe, _: probe.question,
    "wrong": lambda probe, _: wrong_answer(probe),
    "swapped": swapped_answer,
    "denied": lambda probe, _: _tempting(probe, lambda other, right: f"{other}, not {right}"),
    "candidates": lambda probe, _: candidates_answer(probe),
    "two_values": lambda probe, _: _tempting(probe, lambda other, right: f"{other} and {right}"),
    "other_subject": other_subject_answer,
    "paraphrased": lambda probe, _: paraphrased_answer(probe),
    "gold": lambda probe, _: probe.gold_answer,
}
"""Function from a probe, and all probes of its conversation, to the answer."""
