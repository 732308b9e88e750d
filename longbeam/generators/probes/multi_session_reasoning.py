"""Multi-session reasoning: a sum, a difference or a count over facts that were said in several sessions.

Sums and differences name the things they are over, so nothing hangs on what else was said, and take values as they
are after updates; a count is only asked where every fact of the attribute is settled and said, because it must be
complete. Code computes the result. `own_logs` finds joins, differences, counts and totals over series.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, permutations
from math import comb

from longbeam.abilities import MULTI_SESSION_REASONING, QuestionKind
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ItemsPayload,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_sessions,
    sessions_of,
    thin_out,
    with_advice,
    with_kind,
)
from longbeam.generators.probes.checks import check_coverage, check_form, check_values, check_voice, run_checks
from longbeam.generators.probes.evidence import FactQuote, words_of
from longbeam.generators.probes.material import TELLING, ProbeMaterial
from longbeam.generators.probes.stated_facts import StatedFacts
from longbeam.generators.tuning import PROBING
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import AMOUNT_KINDS, EvidencePart, MessageRole, ProbeDetails, Value, ValueKind
from longbeam.text import COMPANION, PLACE, QUANTITY, day_of, listed, recompute, role_of


def find_log_questions(material: ProbeMaterial) -> Iterator[Sketch]:
    """Yield questions on each log all of whose entries are told, and of which nothing else is told."""
    stories = material.stated.side_stories
    counted = [(name, [s for s in told if s is not None]) for name, told in stories.items()]
    for (name, own), is_open in zip(counted, _told_beside(material, counted), strict=True):
        roles = _by_role(own)
        is_told = len(own) == len(stories[name]) and not is_open
        if is_told and len(amounts := roles.get(QUANTITY, ())) >= PROBING.least_entries:
            log = f"{name.removeprefix('my ')}s" if name.startswith("my ") else name  # older plans name one of them
            # Where an entry has no place, it may have been at any.
            places = roles.get(PLACE, ()) if len(roles.get(PLACE, ())) == len(amounts) else ()
            yield from _totals(amounts, places, log)
            yield from _of_people(places, roles.get(COMPANION, ()), log)


def _told_beside(material: ProbeMaterial, counted: Sequence[tuple[str, Sequence[FactQuote]]]) -> list[bool]:
    """Return for each name, with what counts, whether a bullet tells of it and of none of the things that count.

    "Another roofer turned us down" may count where roofers are counted, and no fact says so.
    """
    groups = [
        (words_of(name), {s.bullet_id for s in own}, {words_of(w) for s in own for w in (s.subject, s.value.text)})
        for name, own in counted
    ]
    found = [False] * len(groups)
    for bullet in material.histories.bullets() if groups else ():
        if bullet.kind in TELLING:
            words = words_of(bullet.text)
            for i, (name, ids, things) in enumerate(groups):
                is_beside = name <= words and bullet.bullet_id not in ids
                found[i] |= is_beside and not any(thing <= words for thing in things if thing != name)
    return found


def _by_role(told: Sequence[FactQuote]) -> Mapping[str, Sequence[FactQuote]]:
    roles: dict[str, list[FactQuote]] = {}
    for said in sorted(told, key=lambda s: s.position):
        roles.setdefault(role_of(said.attribute), []).append(said)
    return roles


# --- people -------------------------------------------------------------------------------------------------------


def _of_people(places: Sequence[FactQuote], companions: Sequence[FactQuote], log: str) -> Iterator[Sketch]:
    """Yield who came along to two places, or to one and never to another, and how often somebody came along."""
    who = {day_of(s.attribute): s.value.text for s in companions}
    came: dict[str, list[str]] = {}
    for said in places:
        if person := who.get(day_of(said.attribute)):
            came.setdefault(said.value.text, []).append(person)
    for one, other in permutations(came, 2):
        both = [p for p in dict.fromkeys(came[one]) if p in came[other]]
        alone = [p for p in dict.fromkeys(came[one]) if p not in came[other]]
        if both and one < other:
            asked = f"who came along on {log} both {one} and {other}"
            yield _people((*places, *companions), QuestionKind.JOIN, asked, both, (one, other))
        if alone:
            asked = f"who came along on {log} {one} but never on those {other}"
            yield _people((*places, *companions), QuestionKind.SET_DIFFERENCE, asked, alone, (one, other))
    for person, times in Counter(who.values()).most_common():
        if times >= PROBING.least_tally:
            own = [s for s in companions if s.value.text == person]
            yield _tally(own, f"times that {person} came along on my {log}")


def _people(
    entries: Sequence[FactQuote],
    kind: QuestionKind,
    asked: str,
    people: Sequence[str],
    places: tuple[str, str],
) -> Sketch:
    said = sorted(entries, key=lambda s: s.position)
    answers = [next(s.value for s in said if s.value.text == person) for person in people]
    return Sketch.of(
        MULTI_SESSION_REASONING.name,
        cite(said),
        difficulty=difficulty_by_sessions(sessions_of(said)),
        variety=kind,
        topic=asked,
        summary=f"{asked}: {', '.join(people)}",
        answers=tuple(answers),
        payload=ItemsPayload(items=tuple(people)),
        details=ProbeDetails(variety=kind, items=tuple(people), computed_from=places),
    )


# --- counts and totals --------------------------------------------------------------------------------------------


def _tally(said: Sequence[FactQuote], asked: str) -> Sketch:
    return _computed(said, QuestionKind.TALLY, "tally", asked)


def _totals(amounts: Sequence[FactQuote], places: Sequence[FactQuote], log: str) -> Iterator[Sketch]:
    unit = amounts[0].value.unit
    yield _computed(amounts, QuestionKind.TOTAL, "sum", f"{unit} of all {log} together")
    yield _tally(amounts, log)
    for place, times in Counter(s.value.text for s in places).most_common():
        if times >= PROBING.least_tally:
            yield _tally([s for s in places if s.value.text == place], f"{log} {place}")


def _computed(said: Sequence[FactQuote], kind: QuestionKind, computation: str, asked: str) -> Sketch:
    values = [s.value for s in said]
    result = recompute(computation, values)
    return Sketch.of(
        MULTI_SESSION_REASONING.name,
        cite(said),
        difficulty=difficulty_by_sessions(sessions_of(said)),
        variety=kind,
        topic=asked,
        summary=f"the number of {asked}: {result.text}",
        answers=(result,),
        details=ProbeDetails(
            variety=kind,
            computed_from=tuple(v.text for v in values),
            computation=computation,
            computed_value=result.text,
        ),
    )


ABILITY = MULTI_SESSION_REASONING.name
COUNTABLE = frozenset({ValueKind.NAME, ValueKind.TEXT, ValueKind.VERSION})
Asked = tuple[str, Sequence[FactQuote]]
"""A computation, and the facts that it is over."""
_PER = "hour|day|night|morning|evening|week|weekend|month|year|session|visit|trip|person|head|piece|page|kilo|litre"
"""Units of rates."""
_BOUNDS = words_of("limit mark margin target goal aim minimum maximum width capacity length cap")
"""Words of attributes that set a bound to one thing: nobody adds those of two things up, or compares them."""
_TALLIES = words_of("points attempts records entries questions notes tickets columns")
"""Words of attributes that count what piles up around one thing: those of two things are no quantity together."""
_NO_TOTALS = words_of("score rating grade page pages age share percentage temperature rank speed size friendship")
"""Words of attributes of which nobody forms a total."""
_ANY_COUNT = words_of("number count amount quantity total")
"""Words of attributes that do not say what is counted: meters and zones have no number together."""
_SPANS = frozenset({"days", "weeks", "months", "years"})
"""Units of lengths of time that run side by side."""
_UNREAL = re.compile(
    r"\b(?:would(?:n['’]t)?|could|might|if|asks?|asked|asking|wants?|quoted?|offer(?:ed|s)?|estimate[ds]?|instead of|"
    r"too (?:dear|expensive|much)|turned (?:it )?down|declined)\b",
    re.IGNORECASE,
)
"""Words of prices that nobody has paid yet or ever will."""


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return sums, differences and counts; every one spans at least two sessions."""
    found: list[Asked] = []
    for family in _families(material.stated.current):
        found += [("sum", group) for group in _sums(family) if _is_askable("sum", group)]
        found += [("difference", pair) for pair in _pairs(family) if _is_askable("difference", pair)]
    counts = [group for group in _complete(material.stated) if _is_askable("count", group)]
    beside = _told_beside(material, [(group[0].attribute, group) for group in counts])
    found += [("count", group) for group, is_open in zip(counts, beside, strict=True) if not is_open]
    if len(found) < 14:
        pairs = _same_thing(material.stated.current)
        found += [("difference", pair) for pair in pairs if _is_askable("difference", pair)]
    changes = (*material.stated.changed, *material.advice.corrected)
    before = {_slot(values[-1]): values[:-1] for values in changes}
    sketch = partial(_sketch, before)
    own = thin_out(found, sketch, material.total_messages)
    pool = with_advice(own, filter(None, map(sketch, _of_assistant(material))), material.total_messages)
    sketches = list(find_log_questions(material))
    for kind in dict.fromkeys(s.fields["variety"] for s in sketches):
        pool = with_kind(pool, (s for s in sketches if s.fields["variety"] == kind), material.total_messages)
    return pool


def _of_assistant(material: ProbeMaterial) -> Iterator[Asked]:
    """Yield sums of money that the assistant set within one narrative, and of one attribute over both speakers.

    The user has to find them all.
    """
    given = sorted((*material.advice.settled, *(new for _, new in material.advice.corrected)), key=lambda s: s.position)
    money = [said for said in given if said.value.kind is ValueKind.MONEY]
    for narrative in dict.fromkeys(said.narrative for said in money):
        for family in _families([said for said in money if said.narrative == narrative]):
            yield from (("sum", group) for group in _sums(family) if _is_askable("sum", group))
    attributes = {said.attribute.casefold() for said in given}
    own = [said for said in material.stated.current if said.attribute.casefold() in attributes]
    for family in _families(sorted((*own, *given), key=lambda s: s.position)):
        both = (group for group in _sums(family) if len({said.speaker for said in group}) == 2)
        yield from (("sum", group) for group in both if _is_askable("sum", group))


def _families(facts: Sequence[FactQuote]) -> Iterator[list[FactQuote]]:
    """Facts of one attribute that can be added up."""
    families: dict[tuple[str, str, str], list[FactQuote]] = {}
    for said in facts:
        is_counted = said.value.unit or words_of(said.attribute) - _ANY_COUNT
        if said.value.kind in AMOUNT_KINDS and said.value.number is not None and is_counted:
            key = (said.attribute.casefold(), said.value.kind.value, said.value.unit)
            families.setdefault(key, []).append(said)
    yield from (family for family in families.values() if len(family) >= 2)


def _sums(family: Sequence[FactQuote]) -> list[tuple[FactQuote, ...]]:
    """Threes, fours and fives that stand far apart in the family, each starting somewhere else.

    The twos of a larger family are left to differences: one set of values serves one probe.
    """
    groups: dict[tuple[int, ...], None] = {}
    for size in (3, 4, 5) if len(family) > 2 else (2,):
        for start in range(len(family)):
            if size > len(family) or len(groups) >= PROBING.max_per_family:
                break
            step = max(len(family) // size, 1)
            chosen = sorted({(start + i * step) % len(family) for i in range(size)})
            if len(chosen) == size:
                groups[tuple(chosen)] = None
    return [tuple(family[i] for i in group) for group in groups]


def _pairs(family: Sequence[FactQuote]) -> list[tuple[FactQuote, FactQuote]]:
    like = Counter(said.value.number for said in family).values()
    unlike = comb(len(family), 2) - sum(comb(count, 2) for count in like)
    step = max(unlike // PROBING.max_per_family, 1)
    # A large family has more pairs than memory should hold.
    pairs = (p for p in combinations(family, 2) if p[0].value.number != p[1].value.number)
    return list(islice(pairs, 0, step * PROBING.max_per_family, step))


def _complete(told: StatedFacts) -> Iterator[list[FactQuote]]:
    """Families of 2 to 8 things with a name each, of which nothing is contested, updated or unsaid."""
    families: dict[str, list[FactQuote]] = {}
    for said in told.settled:
        if said.value.kind in COUNTABLE:
            families.setdefault(said.attribute.casefold(), []).append(said)
    for attribute, family in families.items():
        if 2 <= len(family) <= 8 and len(family) == told.with_attribute[attribute]:
            yield family


def _same_thing(facts: Sequence[FactQuote]) -> Iterator[tuple[FactQuote, FactQuote]]:
    """Two amounts of one thing and one unit, such as its budget and its price."""
    for first, second in combinations(facts, 2):
        same = first.subject.casefold() == second.subject.casefold()
        kinds = (first.value.kind, first.value.unit) == (second.value.kind, second.value.unit)
        if same and kinds and first.value.kind in AMOUNT_KINDS and first.value.number != second.value.number:
            yield first, second


def _is_askable(computation: str, group: Sequence[FactQuote]) -> bool:
    if sessions_of(group) < 2 or not _is_natural(computation, group):
        return False
    values = [s.value for s in sorted(group, key=lambda s: s.position)]
    result = recompute(computation, values)
    if computation == "count" and result.number == 1:
        return False  # "How many different firms?" expects several.
    # A total that one of the facts says by itself proves nothing of having added.
    return not any(v.means_same_as(result) for v in values)


def _is_natural(computation: str, group: Sequence[FactQuote]) -> bool:
    """Return whether anybody would want the total or the difference.

    Amounts for each night and amounts that were paid once do not belong together; the former make no total, and
    neither do scores, pages or prices of what was never bought. Bounds of two things, such as time limits, are neither
    added nor compared; only money that the assistant set aside is added.
    """
    if computation == "count":
        return True
    rates = {_rate_of(said) for said in group}
    if computation == "difference":
        return len(rates) == 1 and not any(words_of(said.attribute) & (_BOUNDS | _TALLIES) for said in group)
    # Weeks overlap: nobody waits for two terms one after the other.
    if any(said.value.kind is ValueKind.DURATION and said.value.unit in _SPANS for said in group):
        return False
    if all(said.speaker is MessageRole.ASSISTANT for said in group):
        return rates == {""}
    # The assistant's figures are suggestions, and the question calls them so.
    own = [said for said in group if said.speaker is MessageRole.USER]
    is_real = not any(said.value.kind is ValueKind.MONEY and _UNREAL.search(said.quote) for said in own)
    return (
        rates == {""}
        and is_real
        and not any(words_of(said.attribute) & (_BOUNDS | _TALLIES | _NO_TOTALS) for said in group)
    )


def _rate_of(said: FactQuote) -> str:
    """Return the unit for each of which an amount counts (`night`); empty for an amount as a whole."""
    beside = rf"{re.escape(said.value.text)}\s+(?:a|an|per|each|every)\s+({_PER})\b"
    if found := re.search(beside, said.quote, re.IGNORECASE):
        return found[1].casefold()
    found = re.search(rf"\b(?:per|each|every)\s+({_PER})\b", f"{said.attribute} {said.quote}", re.IGNORECASE)
    return found[1].casefold() if found else ""


def _slot(said: FactQuote) -> tuple[str, str]:
    return said.subject.casefold(), said.attribute.casefold()


def _sketch(before: Mapping[tuple[str, str], Sequence[FactQuote]], asked: Asked) -> Sketch | None:
    """Return a candidate, which cites what its values were before they changed too; None if no message says that."""
    computation, group = asked
    if any(said.past and _slot(said) not in before for said in group):
        return None
    superseded = [old for said in group for old in before.get(_slot(said), ())]
    evidence = cite(
        [*group, *superseded],
        [*(EvidencePart.SUPPORT for _ in group), *(EvidencePart.ORIGINAL for _ in superseded)],
    )
    ordered = sorted(group, key=lambda s: s.position)
    values = [s.value for s in ordered]
    result = recompute(computation, values)
    attribute, subjects = ordered[0].attribute, [s.subject for s in ordered]
    one_attribute = len({s.attribute.casefold() for s in ordered}) == 1
    names = f"{attribute} of {listed(subjects)}" if one_attribute else _two_attributes(ordered)
    return Sketch.of(
        ABILITY,
        evidence,
        difficulty=difficulty_by_sessions(sessions_of(ordered)),
        cited=tuple(i for i, (_, part) in enumerate(evidence.said) if part == EvidencePart.SUPPORT),
        variety=computation,
        topic=attribute if computation == "count" else f"{names}, by the last word" if superseded else names,
        summary=f"{computation} of the {names}: {', '.join(v.text for v in values)} give {result.text}",
        answers=(result, *_distinct(values)) if computation == "count" else (result,),
        context_values=() if computation == "count" else tuple(values),
        details=ProbeDetails(
            variety=computation,
            computed_from=tuple(v.text for v in values),
            computation=computation,
            computed_value=result.text,
        ),
    )


def _two_attributes(group: Sequence[FactQuote]) -> str:
    return f"{listed([s.attribute for s in group])} of {group[0].subject}"


def _distinct(values: Sequence[Value]) -> tuple[Value, ...]:
    return tuple({v.text.casefold(): v for v in values}.values())


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(candidate, reply, (check_form, check_voice, check_values, check_coverage))


GENERATOR = AbilityGenerator(find_candidates, check)
