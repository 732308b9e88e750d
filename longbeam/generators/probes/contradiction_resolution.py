"""Contradiction resolution: two messages that cannot both be true; the answer names both and asks which is right.

Always four nuggets: there is a conflict, one side, the other side, the question back. Difficulty is the distance
between the messages, in sessions.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from longbeam.abilities import CONTRADICTION_RESOLUTION
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_gap,
    thin_out,
)
from longbeam.generators.probes.checks import (
    check_balance,
    check_coverage,
    check_form,
    check_values,
    check_words,
    english_only,
    run_checks,
    shown,
)
from longbeam.generators.probes.evidence import Quote, coverage, find_words, restates
from longbeam.generators.probes.histories import Conflict
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.prompts.calls import Excerpt, ProbeReply
from longbeam.schemas import CONTRADICTION_MESSAGES_APART, EvidencePart, Fact, ProbeDetails, Value
from longbeam.text import echoed_denial, says

ABILITY = CONTRADICTION_RESOLUTION.name
GIVEAWAYS = ("contradict", "contradiction", "contradictory", "contradicting", "conflict", "conflicting", "inconsistent")
_CONFLICT = re.compile(r"contradict|conflict|inconsisten|both (?:said|ways)|do(?:es)? not (?:agree|fit)", re.IGNORECASE)
_ASKS = re.compile(r"\bwhich\b|clarif|\bask", re.IGNORECASE)


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate per contradiction whose sides are far enough apart, and that nothing else decides."""
    open_ones = (conflict for conflict in material.histories.conflicts() if not conflict.is_decided)
    return thin_out(open_ones, partial(_sketch, material), material.total_messages)


def _sketch(material: ProbeMaterial, conflict: Conflict) -> Sketch | None:
    statement, denial, values = conflict.statement, conflict.denial, conflict.values
    first = find_words(material.voices, statement, values=values[:1])
    second = find_words(material.voices, denial, values=values[1:])
    if first is None or second is None or abs(first.position - second.position) < CONTRADICTION_MESSAGES_APART:
        return None
    if conflict.fact is None and conflict.stated:
        # What the denial says never was; the question asks for it as for anything that the user told.
        told = zip(conflict.stated, conflict.given, strict=True)
        matter, given = max(told, key=lambda one: coverage(one[0].attribute, denial.text))
        is_said = given is not None and says(first.quote, given, first.said_on)
        first = replace(
            first, subject=matter.subject, attribute=matter.attribute, value=given if is_said else first.value
        )
    return Sketch.of(
        ABILITY,
        cite(
            [_about(first, conflict.fact, values[:1]), _about(second, conflict.fact, values[1:])],
            [EvidencePart.STATEMENT, EvidencePart.DENIAL],
            fact_ids=tuple(f.fact_id for f in ((conflict.fact,) if conflict.fact else conflict.stated)),
        ),
        difficulty=difficulty_by_gap(first, second),
        variety=denial.variety,
        topic=statement.topic,
        summary=f"{denial.variety}: {first.quote} / {second.quote}",
        answers=values,
        details=ProbeDetails(variety=denial.variety, on_contradiction=material.on_contradiction.value),
    )


def _about(said: Quote, fact: Fact | None, values: tuple[Value, ...]) -> Quote:
    if fact is None:
        return said
    return replace(said, fact_id=fact.fact_id, subject=fact.subject, attribute=fact.attribute, value=values[0])


def check_sides(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Four nuggets in their order, and a gold answer that names both sides and asks which is right."""
    if len(reply.nuggets) != 4:
        return f"{len(reply.nuggets)} nuggets; four are needed: the conflict, each side, the question which is right"
    conflict, one, other, asks = reply.nuggets
    knows_words = candidate.language.reads_words
    if knows_words and not _CONFLICT.search(conflict.text):
        return "the first nugget must demand that the answer says the statements contradict each other"
    for point, nugget, ordinal in ((2, one, 0), (3, other, 1)):
        excerpt, named = candidate.excerpts[ordinal], f"point {point} ({shown(nugget.text)})"
        if nugget.excerpts != [ordinal]:
            return f"{named} must be about excerpt {ordinal} alone; its `excerpts` are [{ordinal}]"
        wanted = f"does not say what excerpt {ordinal} says; use its words: {shown(excerpt.quote, 200)}"
        if not _tells(nugget.text, excerpt):
            return f"{named} {wanted}"
        if not restates(nugget.text, reply.gold_answer) and not _tells(reply.gold_answer, excerpt):
            return f"gold_answer {wanted}"
    if knows_words and not _ASKS.search(asks.text):
        return "the last nugget must demand that the answer asks which statement is right"
    if knows_words and not (_CONFLICT.search(reply.gold_answer) and _ASKS.search(reply.gold_answer)):
        return "gold_answer must say that the statements contradict each other and ask which is right"
    return None


def _tells(text: str, excerpt: Excerpt) -> bool:
    """Return whether a text says what an excerpt says: its words, or its value in any form (`the 17th` in full)."""
    return restates(text, excerpt.quote) or (excerpt.value is not None and says(text, excerpt.value))


@english_only
def check_echo(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The question does not repeat a denial: a search for its words must not find it."""
    found = (echoed_denial(reply.question, excerpt.quote) for excerpt in candidate.excerpts)
    clause = next(filter(None, found), "")
    return f"the question repeats the denial {shown(clause)}; ask for the matter in other words" if clause else None


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    checks = (check_form, check_coverage, check_sides, check_echo, check_balance, check_values, check_words(GIVEAWAYS))
    return run_checks(candidate, reply, checks)


GENERATOR = AbilityGenerator(find_candidates, check)
