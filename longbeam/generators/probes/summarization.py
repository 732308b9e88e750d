"""Summarization: how a matter came about, what changed, and where it stands, told over several sessions.

A matter is one thing, or neighbouring things of one narrative. Its gold rests on every message in which the user tells
of these things: each fact with its last value, the earlier values of changed facts, and events without a fact.
A thing with a contested fact is taken only where too few others are left, with both versions. The writer sees the
assistant's advice as what the question must not ask for. The number of cited messages grows with the length of the
conversation. Difficulty is the number of sessions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise

from longbeam.abilities import SUMMARIZATION
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    Sketch,
    SummaryPayload,
    cite,
    difficulty_by_sessions,
    sessions_of,
    thin_out,
)
from longbeam.generators.probes.checks import (
    check_coverage,
    check_form,
    check_values,
    check_voice,
    english_only,
    run_checks,
)
from longbeam.generators.probes.evidence import FactQuote, Quote, coverage, find_words, words_of
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.tuning import PROBING
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import BulletKind, EvidencePart, ProbeDetails
from longbeam.text import listed, says, spell_out, values_in

ABILITY = SUMMARIZATION.name
Told = Sequence[tuple[Quote, str]]
"""The user's statements on one thing, each with its part, in the order of the conversation."""


def messages_for(total_messages: int) -> int:
    """Return the number of messages that a summary should rest on: 3 of 100, 7 of 400, 16 of 1,200, 27 of 2,600.

    BEAM's summaries cite 7.1 messages at 128K tokens, 11.1 at 500K and 27.6 at a million; a conversation of ours has
    some 400, 1,200 and 2,600 messages there: 7 · 6.5^0.73 = 27.
    """
    wanted = round(7 * math.pow(total_messages / 400, 0.73))
    return min(max(wanted, PROBING.min_summarized), PROBING.max_cited)


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return a candidate for each matter that has a development, those of the wanted length first."""
    clear, contested = _things(material)
    people = {p.first_name for p in material.head.relationships.people}
    # Nobody asks how a person came about.
    groups = [g for g in _groups(clear) if not any(own[0][0].subject in people for own in g)]
    wanted = messages_for(material.total_messages)
    fitting = [g for g in groups if _fit(g)]
    near = [g for g in fitting if 3 * abs(_messages(g) - wanted) <= wanted]
    sketch = partial(_sketch, _told_beside(material))
    found = thin_out(near, sketch, material.total_messages)
    fits, taken = set(map(id, fitting)), set(map(id, near))
    tiers = (
        ([g for g in fitting if id(g) not in taken], PROBING.fewest_summaries),
        ([g for g in groups if id(g) not in fits], PROBING.fewest_summaries // 2),
        (_groups(contested), PROBING.fewest_summaries // 2),
    )
    # A short story may tell each thing but once, and contradict most of them.
    for others, fewest in tiers:
        if len(found) < fewest:
            rest = sorted(others, key=lambda g: abs(_messages(g) - wanted))
            found += thin_out(rest, sketch, material.total_messages, fewest - len(found), len(found))
    return found


def _groups(things: Sequence[Told]) -> list[Sequence[Told]]:
    strands: dict[str, list[Told]] = {}
    for told in things:
        strands.setdefault(told[0][0].narrative, []).append(told)
    return [group for strand in strands.values() for group in _neighbours(strand)]


def _things(material: ProbeMaterial) -> tuple[list[Told], list[Told]]:
    """Return what the user tells of each thing, and of each contested one, in the order of their first statement.

    Both sides of what is contested are told; a thing of which a side is in no message is left out.
    """
    things: dict[str, list[tuple[Quote, str]]] = {}
    for said in material.stated.current:
        if said.subject != "me":  # name, age and work are no story
            things.setdefault(said.subject.casefold(), []).append((said, EvidencePart.SUPPORT))
    for values in material.stated.changed:
        own = things.get(values[0].subject.casefold())
        if own is not None and any(s.fact_id == values[0].fact_id for s, _ in own if isinstance(s, FactQuote)):
            own.extend((said, EvidencePart.ORIGINAL) for said in values[:-1])
    histories = material.histories
    uncontested = {said.fact_id for said in material.stated.current}
    contested = {said.subject.casefold() for said in material.stated.first if said.fact_id not in uncontested}
    # "I took the second of the three" tells nothing without the assistant's list.
    taken = {advice.taken_in for plan in material.head.plans for advice in plan.advice}
    telling = {bullet.bullet_id for life in histories.lives() for bullet, _ in life.made} | histories.contested_bullets
    for bullet in histories.bullets():
        own = things.get(bullet.topic.casefold())
        is_bare = bullet.kind is BulletKind.EVENT and bullet.bullet_id not in telling | taken
        if own is not None and is_bare and (event := find_words(material.voices, bullet)) is not None:
            own.append((event, EvidencePart.SUPPORT))
    sides: dict[str, dict[str, tuple[Quote | None, str]]] = {}
    for conflict in histories.conflicts():
        own_sides = sides.setdefault(conflict.statement.topic.casefold(), {})
        for bullet, part in ((conflict.statement, EvidencePart.STATEMENT), (conflict.denial, EvidencePart.DENIAL)):
            own_sides[bullet.bullet_id] = (find_words(material.voices, bullet), part)

    def in_order(own: Sequence[tuple[Quote | None, str]]) -> Told:
        return sorted(((said, part) for said, part in own if said is not None), key=lambda told: told[0].position)

    return (
        [in_order(own) for name, own in things.items() if name not in contested | sides.keys()],
        [
            in_order((*own, *sides[name].values()))
            for name, own in things.items()
            if name in sides and all(said is not None for said, _ in sides[name].values())
        ],
    )


def _neighbours(strand: Sequence[Told]) -> Iterator[Sequence[Told]]:
    """Yield single things, neighbours of one narrative, and pairs that lie far apart in it."""
    for size in range(1, len(strand) + 1):
        for start in range(len(strand) - size + 1):
            yield strand[start : start + size]
    half = len(strand) // 2
    yield from ((strand[i], strand[i + half]) for i in range(len(strand) - half) if half > 1)


def _messages(group: Sequence[Told]) -> int:
    return len({said.position for told in group for said, _ in told})


def _fit(group: Sequence[Told]) -> bool:
    """Return whether something is told of all things, or the names of neighbours have a word in common.

    Nobody asks for a summary of things that do not belong together, if there are others.
    """
    told = (frozenset(said.attribute.casefold() for said, _ in own if said.attribute) for own in group)
    named = [words_of(own[0][0].subject) for own in group]
    return bool(frozenset.intersection(*told)) or all(first & second for first, second in pairwise(named))


def _without_overtaken(own: Told) -> Told:
    """Return what is told of a thing without each planned day that a later statement gives as another one.

    "I went there on the 21st" is no fact of its own, and a story with the day that was booked would be wrong.
    """
    facts = [said for said, _ in own if isinstance(said, FactQuote)]
    known = {value.date for said in facts for value in (said.value, *said.past)}
    came = [
        (said, value.date)
        for said, _ in own
        for value in values_in(spell_out(said.quote, said.said_on))
        if value.date is not None and value.date <= said.said_on and value.date not in known
    ]
    gone = {
        said.fact_id
        for said in facts
        if (day := said.value.date) is not None
        and day > said.said_on
        and any(later.position > said.position and said.said_on < other for later, other in came)
    }
    return [one for one in own if one[0].fact_id not in gone] if gone else own


def _told_beside(material: ProbeMaterial) -> dict[str, list[str]]:
    """Return what no summary tells of a thing, by its case-folded name: the assistant's advice."""
    advice = material.advice
    given = (
        (s.subject, f"{s.subject}, {s.attribute}: {s.value.text}, from the assistant")
        for s in (*advice.settled, *(last for _, last in advice.corrected))
    )
    lists = ((g.advice.topic, f"{g.advice.topic}: the assistant's {g.advice.attribute}") for g in advice.lists)
    beside: dict[str, list[str]] = {}
    for subject, line in chain(given, lists):
        beside.setdefault(subject.casefold(), []).append(line)
    return beside


def _sketch(beside: Mapping[str, Sequence[str]], group: Sequence[Told]) -> Sketch | None:
    told = sorted((one for own in group for one in _without_overtaken(own)), key=lambda one: one[0].position)
    facts = [s for s, part in told if isinstance(s, FactQuote) and part == EvidencePart.SUPPORT]
    current = [s.value for s in facts]
    # What one fact no longer is another may well be.
    stale = tuple(v for s in facts for v in s.past if not any(v.means_same_as(c) for c in current))
    # Nothing can be demanded in words that give what no longer holds.
    dated = [one for one in told if not isinstance(one[0], FactQuote) and any(says(one[0].quote, v) for v in stale)]
    if any(part != EvidencePart.SUPPORT for _, part in dated):
        return None  # a side of what is contested
    told = [one for one in told if one not in dated]
    said = [quote for quote, _ in told]
    if (
        len({s.position for s in said}) < PROBING.min_summarized
        or len(said) > PROBING.max_cited
        or sessions_of(said) < 2
    ):
        return None
    subjects = [own[0][0].subject for own in group]
    topic, variety = listed(subjects), "thing" if len(group) == 1 else "things"
    return Sketch.of(
        ABILITY,
        cite(said, [part for _, part in told]),
        difficulty=difficulty_by_sessions(sessions_of(said)),
        variety=variety,
        can_spare=not all(s.is_stated_once for s in facts),
        topic=topic,
        summary=f"{topic}: {'; '.join(f'{s.attribute} {s.value.text}' for s in facts)}",
        answers=tuple(current),
        stale=stale,
        payload=SummaryPayload(
            beside=tuple(line for subject in subjects for line in beside.get(subject.casefold(), ()))
        ),
        details=ProbeDetails(variety=variety),
    )


def check_facts(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Each change has a nugget that tells the value that holds, and any other statement one that tells some of it."""
    for excerpt in candidate.excerpts:
        own = [n for n in reply.nuggets if excerpt.ordinal in n.excerpts]
        if excerpt.value is not None and excerpt.past and not any(says(n.text, excerpt.value) for n in own):
            return f"no nugget on excerpt {excerpt.ordinal} says {excerpt.value.text!r}"
        if own and not any(coverage(n.text, excerpt.quote) for n in own):
            return f"no nugget on excerpt {excerpt.ordinal} tells what it says: {excerpt.quote!r}"
    return None


@english_only
def check_slots(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The question asks for the matter, and names no two of the attributes that its excerpts settle."""
    own = words_of(candidate.topic)
    slots = {e.attribute.casefold(): words_of(e.attribute) for e in candidate.excerpts if e.attribute}
    asked = words_of(reply.question)
    named = sorted(name for name, words in slots.items() if words <= asked and not words <= own)
    if len(named) < 2:
        return None
    return f"the question names {listed(named)}, a list of look-ups; ask how the matter came about and where it stands"


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(
        candidate,
        reply,
        (check_form, check_voice, check_coverage, check_facts, check_slots, partial(check_values, tells=True)),
    )


GENERATOR = AbilityGenerator(find_candidates, check)
