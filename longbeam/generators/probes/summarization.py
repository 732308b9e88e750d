"""Summarization: the current facts about one, two or three things of a narrative, stated over several sessions.

Each fact is a nugget with its value at the end of the conversation; contested facts are left out. Difficulty is
the number of sessions that must be put together. The writer also sees what else was told of the things, which the
question must not ask for: contested facts, and the assistant's advice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from longbeam.abilities import SUMMARIZATION
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_sessions,
    far_apart,
    sessions_of,
    thin_out,
)
from longbeam.generators.probes.checks import check_coverage, check_form, check_values, check_voice, run_checks
from longbeam.generators.probes.evidence import FactQuote, words_of
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import ProbeDetails
from longbeam.text import listed, says

ABILITY = SUMMARIZATION.name
MIN_MESSAGES, MAX_FACTS = 3, 9
MAX_THINGS = 3
FEWEST = 3
"""Candidates below which things of one narrative are joined that have nothing else in common."""


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return a candidate for each thing with enough to tell, and for neighbouring things."""
    things: dict[str, list[FactQuote]] = {}
    for said in material.stated.current:
        things.setdefault(said.subject, []).append(said)
    strands: dict[str, list[list[FactQuote]]] = {}
    for facts in things.values():
        strands.setdefault(facts[0].narrative, []).append(facts)
    sketch = partial(_sketch, _told_beside(material))
    groups: Iterator[Sequence[list[FactQuote]]] = filter(_fit, _neighbours(strands.values()))
    if len(material.head.plans) > 1:
        groups = chain(groups, _far_apart(strands.values(), material.total_messages))
    found = thin_out(groups, sketch, material.total_messages)
    if len(found) < FEWEST:  # a short story may tell each thing but once
        looser = (group for group in _neighbours(strands.values()) if not _fit(group))
        found += thin_out(looser, sketch, material.total_messages, FEWEST - len(found), len(found))
    return found


def _neighbours(strands: Collection[list[list[FactQuote]]]) -> Iterator[Sequence[list[FactQuote]]]:
    """Yield single things, then neighbours of one narrative."""
    for size in range(1, MAX_THINGS + 1):
        for strand in strands:
            for start in range(len(strand) - size + 1):
                yield strand[start : start + size]


def _fit(group: Sequence[Sequence[FactQuote]]) -> bool:
    """Return whether something is told of all things, or their names have a word in common.

    Nobody asks for a summary of things that do not belong together, if there are others.
    """
    told = (frozenset(said.attribute.casefold() for said in facts) for facts in group)
    named = (words_of(facts[0].subject) for facts in group)
    return bool(frozenset.intersection(*told)) or bool(frozenset.intersection(*map(frozenset, named)))


def _far_apart(strands: Iterable[list[list[FactQuote]]], total_messages: int) -> Iterator[Sequence[list[FactQuote]]]:
    for strand in strands:
        in_order = sorted(strand, key=lambda facts: facts[0].position)
        yield from filter(_fit, far_apart(in_order, total_messages, lambda facts: facts[0].position))


def _told_beside(material: ProbeMaterial) -> dict[str, list[str]]:
    """Return what no summary tells of a thing, by its case-folded name: contested facts and the assistant's advice."""
    uncontested = {said.fact_id for said in material.stated.current}
    advice = material.advice
    beside: dict[str, list[str]] = {}
    for said in material.stated.first:
        if said.fact_id not in uncontested:
            line = f"{said.subject}, {said.attribute}: the user's messages disagree"
            beside.setdefault(said.subject.casefold(), []).append(line)
    for said in (*advice.settled, *(last for _, last in advice.corrected)):
        line = f"{said.subject}, {said.attribute}: {said.value.text}, from the assistant"
        beside.setdefault(said.subject.casefold(), []).append(line)
    for given in advice.lists:
        line = f"{given.advice.topic}: the assistant's {given.advice.attribute}"
        beside.setdefault(given.advice.topic.casefold(), []).append(line)
    return beside


def _sketch(beside: Mapping[str, Sequence[str]], group: Sequence[Sequence[FactQuote]]) -> Sketch | None:
    facts = sorted((said for facts in group for said in facts), key=lambda s: s.position)
    if len({s.position for s in facts}) < MIN_MESSAGES or len(facts) > MAX_FACTS or sessions_of(facts) < 2:
        return None
    subjects = [facts[0].subject for facts in group]
    topic = listed(subjects)
    past = [v for s in facts for v in s.past]
    current = [s.value for s in facts]
    return Sketch.of(
        ABILITY,
        cite(facts),
        difficulty=difficulty_by_sessions(sessions_of(facts)),
        variety="thing" if len(group) == 1 else "things",
        can_spare=not all(said.is_stated_once for said in facts),
        topic=topic,
        summary=f"{topic}: {'; '.join(f'{s.attribute} {s.value.text}' for s in facts)}",
        answers=tuple(current),
        # What one fact no longer is another may well be.
        stale=tuple(v for v in past if not any(v.means_same_as(c) for c in current)),
        beside=tuple(line for subject in subjects for line in beside.get(subject.casefold(), ())),
        details=ProbeDetails(variety="thing" if len(group) == 1 else "things"),
    )


def check_facts(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Each fact has a nugget of its own that says its value."""
    for excerpt in candidate.excerpts:
        own = [n for n in reply.nuggets if excerpt.ordinal in n.excerpts]
        if excerpt.value is not None and not any(says(n.text, excerpt.value) for n in own):
            return f"no nugget on excerpt {excerpt.ordinal} says {excerpt.value.text!r}"
    return None


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(candidate, reply, (check_form, check_voice, check_coverage, check_facts, check_values))


GENERATOR = AbilityGenerator(find_candidates, check)
