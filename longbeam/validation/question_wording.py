"""Checks of the wording of questions.

Whether they can be understood alone, and whether they give their answer away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.abilities import Trait
from longbeam.schemas import AdviceKind, EvidencePart, Probe, Value, ValueKind
from longbeam.text import (
    content_words,
    echoed_denial,
    named_value,
    says,
    says_equivalent,
    sentences,
    values_in,
)
from longbeam.validation.base import ERROR, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_PAST = re.compile(r"\b(?:what|which \w+) (?:was|were) (?:it|that|they|the|my)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?<!know )(?<!sure )(?<!ask )(?<!asked )(?<!wonder )(?<!see )(?<!check )(?<!as )(?<!even )(?<!me )(?<!what )"
    r"\b(?:if|unless|only when|provided that)\b(?P<under>[^,.;:!?()]+)",
    re.IGNORECASE,
)
"""A clause that says when something holds, and not what somebody asks or compares."""


def find_in_question_wording(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield what a user would not ask in these words."""
    if has_trait(probe, Trait.ASKS_UPDATED_VALUE) and _PAST.search(probe.question):
        text = f"the question asks in the past tense for a value that holds: {shorten(probe.question)}"
        yield Problem("old_value", probe.probe_id, text)
    if has_trait(probe, Trait.RESOLVES_CONTRADICTION):
        yield from _echo_problems(index, probe)
    if has_trait(probe, Trait.RECALLS, Trait.RETELLS_HISTORY):
        yield from _condition_problems(probe)


def _condition_problems(probe: Probe) -> Iterator[Problem]:
    """Yield a condition under which a cited value holds, and that neither question nor gold answer names."""
    said = content_words(f"{probe.question}\n{probe.gold_answer}")
    for evidence in probe.evidence:
        for start, end in sentences(evidence.quote):
            sentence = evidence.quote[start:end].rstrip()
            clause = None if sentence.endswith("?") else _CONDITION.search(sentence)
            value = next((v for v in values_in(sentence) if says(probe.gold_answer, v)), None)
            if clause is not None and value is not None and not content_words(clause["under"]) & said:
                text = f"{value.text!r} holds {shorten(clause[0])!r}, which neither question nor gold answer says"
                yield Problem("unsaid_condition", probe.probe_id, text, (evidence.message_key,))


def _echo_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    for evidence in probe.evidence:
        message = index.message(evidence.message_key)
        if evidence.part != EvidencePart.DENIAL or message is None:
            continue
        if clause := echoed_denial(probe.question, evidence.quote or message.content):
            text = f"the question repeats the denial: {shorten(clause)}"
            yield Problem("echoes_denial", probe.probe_id, text, (message.message_key,))
            return


QUESTION_WORDING = Check(
    name="question_wording",
    doc="Questions name what was said, in words that a user would use, and give no hint by their wording.",
    severities=dict.fromkeys(("old_value", "echoes_denial", "unsaid_condition"), WARNING),
    english_only=dict.fromkeys(("old_value", "echoes_denial", "unsaid_condition"), "compares English words"),
    on_probe=find_in_question_wording,
)


_WORD = re.compile(r"[a-z]{4,}")
_WISH_CONDITION = re.compile(r"\b(?:when(?:ever)?|if) (?:I|you|we)\b[^,]*,\s*|^for\b[^,]*,\s*", re.IGNORECASE)
_COMMON = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "about always answer answers asked asking dont every from give gives have include includes including into "
        "keep like make mention more need needs never only over please prefer prefers question rather reply response "
        "should show shows some tell than that their them then there these they this those user want wants what when "
        "where which while will with without would your"
    ).split()
)


def find_in_question_leaks(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
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
    opening = _WISH_CONDITION.search(request)
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
    # A value that no criterion asks for, as "two stays" in "how long between two stays?", gives nothing away.
    known = [v.text for v in repeated if not _is_small(v) and any(says_equivalent(n.text, v) for n in probe.rubric)]
    if len(repeated) == len(values) and any(not _is_small(v) for v in values):
        text = f"the question says all values of the gold answer: {', '.join(v.text for v in values)}"
        yield Problem("all_values", probe.probe_id, text)
    # Where the gold is computed from several values, the question may well name some of them.
    elif known and has_trait(probe, Trait.ASKS_NEWEST_VALUE):
        text = f"the question says some of the values of the gold answer: {', '.join(known)}"
        yield Problem("some_values", probe.probe_id, text)


def _is_small(value: Value) -> bool:
    return value.kind is ValueKind.NUMBER and not value.unit and (value.number or 0) <= CHECKING.small_number


def _requirement_problems(probe: Probe, requirement: str, known: str) -> Iterator[Problem]:
    own = _told_words(requirement) - _told_words(known)
    share = len(own & _told_words(probe.question)) / len(own) if own else 0.0
    if (share >= CHECKING.repeats_wish and len(own) > 1) or _has_run(probe.question, requirement):
        text = f"the question repeats what is to be remembered: {shorten(requirement)}"
        yield Problem("requirement", probe.probe_id, text)
    elif share >= CHECKING.resembles_wish and len(own) > 1:
        text = f"the question resembles what is to be remembered: {shorten(requirement)}"
        yield Problem("maybe_requirement", probe.probe_id, text)


def _has_run(question: str, requirement: str) -> bool:
    """Return whether a question holds a whole requirement, or `CHECKING.copied_most` consecutive words of it."""
    said, wanted = (re.findall(r"\w+", text.casefold()) for text in (question, requirement))
    text, run = f" {' '.join(said)} ", max(CHECKING.copied_least, min(CHECKING.copied_most, len(wanted)))
    return any(f" {' '.join(wanted[i : i + run])} " in text for i in range(len(wanted) - run + 1))


def _told_words(text: str) -> frozenset[str]:
    # Plural and singular are the same word here; a cut `s` is enough for that.
    return frozenset(w.rstrip("s") for w in _WORD.findall(text.casefold()) if w not in _COMMON)


QUESTION_LEAKS = Check(
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
        **dict.fromkeys(("all_values", "some_values"), "reads dates and amounts as English writes them"),
        **dict.fromkeys(("requirement", "maybe_requirement"), "compares English words"),
    },
    on_probe=find_in_question_leaks,
)
