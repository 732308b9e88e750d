"""Questions that answer themselves: a memory system would score without remembering anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.abilities import Trait
from longbeam.schemas import AdviceKind, Probe, Value, ValueKind
from longbeam.text import named_value, says_equivalent, values_in
from longbeam.validation.base import ERROR, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex

SMALL = 12
"""Numbers without unit up to this one stand in many questions by chance."""
MIN_RUN, MAX_RUN = 5, 8
"""Consecutive words of an instruction or preference that make a question its copy: all of a short one, or so many."""
REPEATS, RESEMBLES = 0.8, 0.5
"""Shares of the requirement's own words in the question from which the question repeats or resembles it."""
_WORD = re.compile(r"[a-z]{4,}")
_CONDITION = re.compile(r"\b(?:when(?:ever)?|if) (?:I|you|we)\b[^,]*,\s*|^for\b[^,]*,\s*", re.IGNORECASE)
_COMMON = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "about always answer answers asked asking dont every from give gives have include includes including into "
        "keep like make mention more need needs never only over please prefer prefers question rather reply response "
        "should show shows some tell than that their them then there these they this those user want wants what when "
        "where which while will with without would your"
    ).split()
)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield gold values and requirements that stand in the question."""
    if has_trait(probe, Trait.RECALLS):
        yield from _value_problems(probe)
    for requirement, known in _requirements(index, probe):
        yield from _requirement_problems(probe, requirement, known)


def _requirements(index: ConversationIndex, probe: Probe) -> list[tuple[str, str]]:
    """Return what is to be remembered, each with the words that the question may share: condition and topic."""
    bullets = (index.bullets.get(bullet_id) for bullet_id in probe.bullet_ids)
    planned = [(b.requirement, f"{b.condition} {b.topic}") for b in bullets if b is not None and b.requirement]
    if planned:
        return planned
    # An import has no such bullets, only the text of the instruction or the preference.
    return [_split(request) for request in (probe.details.instruction, probe.details.preference) if request]


def _split(request: str) -> tuple[str, str]:
    """Return requirement and condition of `Always show costs when I ask about prices` or `When I ..., show costs`."""
    opening = _CONDITION.search(request)
    if opening and request[opening.end() :].strip():
        return request[opening.end() :], request[: opening.end()]
    requirement, _, condition = request.partition(" when I ")
    return requirement, condition


def _value_problems(probe: Probe) -> Iterator[Problem]:
    for said in filter(None, (probe.details.computed_value, probe.details.new_value)):
        value = named_value(said)
        if says_equivalent(probe.question, value):
            kind = "maybe_answer" if _is_small(value) else "answer"
            yield Problem(kind, probe.probe_id, f"the question says {shorten(said)!r}, which is the answer")
            return
    if probe.details.variety == AdviceKind.USE:
        return  # the question goes by the amount
    values = values_in(probe.gold_answer)
    repeated = [v for v in values if says_equivalent(probe.question, v)]
    known = [v.text for v in repeated if not _is_small(v)]
    if len(repeated) == len(values) and any(not _is_small(v) for v in values):
        text = f"the question says all values of the gold answer: {', '.join(v.text for v in values)}"
        yield Problem("all_values", probe.probe_id, text)
    # Where the gold is computed from several values, the question may well name some of them.
    elif known and has_trait(probe, Trait.ASKS_NEWEST_VALUE):
        text = f"the question says some of the values of the gold answer: {', '.join(known)}"
        yield Problem("some_values", probe.probe_id, text)


def _is_small(value: Value) -> bool:
    return value.kind is ValueKind.NUMBER and not value.unit and (value.number or 0) <= SMALL


def _requirement_problems(probe: Probe, requirement: str, known: str) -> Iterator[Problem]:
    own = _words(requirement) - _words(known)
    share = len(own & _words(probe.question)) / len(own) if own else 0.0
    if (share >= REPEATS and len(own) > 1) or _has_run(probe.question, requirement):
        text = f"the question repeats what is to be remembered: {shorten(requirement)}"
        yield Problem("requirement", probe.probe_id, text)
    elif share >= RESEMBLES and len(own) > 1:
        text = f"the question resembles what is to be remembered: {shorten(requirement)}"
        yield Problem("maybe_requirement", probe.probe_id, text)


def _has_run(question: str, requirement: str) -> bool:
    """Return whether a question holds a whole requirement, or `MAX_RUN` consecutive words of it."""
    said, wanted = (re.findall(r"\w+", text.casefold()) for text in (question, requirement))
    text, run = f" {' '.join(said)} ", max(MIN_RUN, min(MAX_RUN, len(wanted)))
    return any(f" {' '.join(wanted[i : i + run])} " in text for i in range(len(wanted) - run + 1))


def _words(text: str) -> frozenset[str]:
    # Plural and singular are the same word here; a cut `s` is enough for that.
    return frozenset(w.rstrip("s") for w in _WORD.findall(text.casefold()) if w not in _COMMON)


CHECK = Check(
    name="question_leaks",
    doc="No question holds its own answer, or the instruction or preference that is to be remembered.",
    severities={
        "answer": ERROR,
        "maybe_answer": WARNING,
        "all_values": WARNING,
        "some_values": WARNING,
        "requirement": ERROR,
        "maybe_requirement": WARNING,
    },
    english_only={
        "all_values": "reads dates, amounts and lengths of time as English writes them",
        "some_values": "reads dates, amounts and lengths of time as English writes them",
        "requirement": "compares English words",
        "maybe_requirement": "compares English words",
    },
    on_probe=find_problems,
)
