"""Temporal reasoning: the number of days between two dates that different messages state.

Code computes the days; the question names the two events and no date. Difficulty is the distance between the
messages, in sessions. The further kinds ask what held on a day, and by how much a day was missed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from longbeam.abilities import TEMPORAL_REASONING, QuestionKind
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    MomentPayload,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_gap,
    thin_out,
    with_advice,
    with_kind,
)
from longbeam.generators.probes.checks import (
    Check,
    check_coverage,
    check_form,
    check_no_dates,
    check_values,
    check_voice,
    english_only,
    run_checks,
)
from longbeam.generators.probes.evidence import FactQuote, find_event_day, has_one_reading
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.probes.stated_facts import StatedFacts
from longbeam.generators.tuning import PROBING
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import BulletKind, EvidencePart, ProbeDetails, Value, ValueKind
from longbeam.text import format_date, recompute, says

_PLANNED = re.compile(r"\b(?:target|planned|deadline|due|goal|intended|finishing)\b", re.IGNORECASE)
_ACTUAL = re.compile(
    r"\b(?:complet\w+|finished|done|actual|submission|submitted|filing|it took place|sign-off)\b", re.IGNORECASE
)
"""Words of attributes that name a planned day, and the day on which the same thing came about."""


def find_as_of(stated: StatedFacts) -> Iterator[Sketch]:
    """Yield questions for a value on a day on which it still held."""
    for values in stated.changed:
        for old, new in pairwise(values):
            if (day := _day_between(old, new)) is not None:
                yield _as_of(old, new, day)


def _day_between(old: FactQuote, new: FactQuote) -> dt.date | None:
    """Return the day in the middle between two messages; None where they are near, or the day gives the answer."""
    days = (new.said_on - old.said_on).days
    day = old.said_on + dt.timedelta(days=days // 2)
    is_told = any(says(format_date(day), s.value) for s in (old, new))
    return None if days < PROBING.least_days_between or old.position >= new.position or is_told else day


def _as_of(old: FactQuote, new: FactQuote, day: dt.date) -> Sketch:
    moment = format_date(day)
    return Sketch.of(
        TEMPORAL_REASONING.name,
        cite([old, new], [EvidencePart.FIRST, EvidencePart.SECOND]),
        difficulty=difficulty_by_gap(old, new),
        variety=QuestionKind.AS_OF,
        topic=f"the {old.attribute} of {old.subject}",
        summary=f"the {old.attribute} of {old.subject} on {moment}: {old.value.text}, and later {new.value.text}",
        can_spare=not old.is_stated_once,
        payload=MomentPayload(condition=moment),
        answers=(old.value,),
        stale=(new.value,),
        details=ProbeDetails(variety=QuestionKind.AS_OF, old_value=old.value.text),
    )


def find_misses(stated: StatedFacts) -> Iterator[Sketch]:
    """Yield questions for the days between the day last planned for a thing and the day on which it came about."""
    days = [s for s in stated.current if s.value.kind is ValueKind.DATE]
    for actual in days:
        for planned in days:
            if planned.subject.casefold() == actual.subject.casefold() and _is_miss(planned, actual):
                yield _miss(planned, actual)


def _is_miss(planned: FactQuote, actual: FactQuote) -> bool:
    set_for, came = planned.value.date, actual.value.date
    if set_for is None or came is None or set_for == came or planned.position >= actual.position:
        return False
    was_ahead = set_for > planned.said_on and came <= actual.said_on and came > planned.said_on
    is_plan = _PLANNED.search(planned.attribute) and not _ACTUAL.search(planned.attribute)
    return was_ahead and bool(is_plan) and bool(_ACTUAL.search(actual.attribute))


def _miss(planned: FactQuote, actual: FactQuote) -> Sketch:
    days = recompute("days_between", [planned.value, actual.value])
    side = "before" if _date(actual.value) < _date(planned.value) else "after"
    return Sketch.of(
        TEMPORAL_REASONING.name,
        cite([planned, actual], [EvidencePart.FIRST, EvidencePart.SECOND]),
        difficulty=difficulty_by_gap(planned, actual),
        variety=QuestionKind.PLANNED_ACTUAL,
        topic=planned.subject,
        summary=f"{planned.subject}: {actual.attribute} {actual.value.text}, {days.text} {side} {planned.value.text}",
        can_spare=not all(s.is_stated_once for s in (planned, actual)),
        payload=MomentPayload(condition=side),
        answers=(days,),
        context_values=(planned.value, actual.value),
        details=ProbeDetails(
            variety=QuestionKind.PLANNED_ACTUAL,
            computed_from=tuple(format_date(_date(v)) for v in (planned.value, actual.value)),
            computation="days_between",
            computed_value=days.text,
        ),
    )


def _date(value: Value) -> dt.date:
    assert value.date is not None  # days of facts have dates here
    return value.date


ABILITY = TEMPORAL_REASONING.name
Pair = tuple[FactQuote, FactQuote]


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return pairs of dates: of one thing, else of one narrative, else of different ones.

    Nobody asks for the days between two things that have nothing to do with each other. Days of events are used only
    where the dates of settled facts give too few pairs.
    """
    facts = [s for s in material.stated.settled if s.value.kind is ValueKind.DATE and s.value.date is not None]
    pairs = _of_one_thing(facts)
    if len(pairs) < PROBING.least_pairs:
        # "The day of the move" may be any of its days where the move has another one.
        known = _by_thing(facts)
        events = [e for e in _event_days(material) if e.subject.casefold() not in known and has_one_reading(e)]
        pairs = _pairs(sorted([*facts, *events], key=lambda s: s.position))
    own = thin_out(pairs, _sketch, material.total_messages)
    days = [s for s in material.advice.settled if s.value.kind is ValueKind.DATE]
    found = with_advice(own, map(_sketch, _with_advice(days, facts)), material.total_messages)
    for find in (find_as_of, find_misses):
        found = with_kind(found, find(material.stated), material.total_messages)
    return found


def _with_advice(days: Sequence[FactQuote], facts: Sequence[FactQuote]) -> Iterator[Pair]:
    """Yield each day that the assistant set, with the dates that the user gave of the same thing.

    The message that the reply answers is no distance away, so they are of different sessions.
    """
    dated = _by_thing(facts)
    for day in days:
        others = [s for s in dated.get(day.subject.casefold(), ()) if s.session != day.session]
        for other in [s for s in others if _leads_to(s, day)][: PROBING.max_uses]:
            yield (day, other) if day.position < other.position else (other, day)


def _leads_to(dated: FactQuote, day: FactQuote) -> bool:
    """Return whether a person would count the days from a date to the day that the assistant set."""
    if dated.value.date is None or day.value.date is None:
        return False
    return 0 < (day.value.date - dated.value.date).days <= PROBING.longest_wait_days


def _by_thing(dated: Sequence[FactQuote]) -> dict[str, list[FactQuote]]:
    things: dict[str, list[FactQuote]] = {}
    for said in dated:
        things.setdefault(said.subject.casefold(), []).append(said)
    return things


def _of_one_thing(dated: Sequence[FactQuote]) -> list[Pair]:
    pairs = (pair for group in _by_thing(dated).values() for pair in combinations(group, 2))
    return [(a, b) for a, b in pairs if a.position != b.position and a.value.date != b.value.date]


def _pairs(dated: list[FactQuote]) -> list[Pair]:
    """Return pairs, those that belong together first; the others only as long as there are too few."""
    uses: Counter[str] = Counter()
    found: list[Pair] = []
    nearest = 0
    for apart, first, second in _by_distance(dated):
        pair = first, second
        keys = [s.fact_id or s.bullet_id for s in pair]
        if apart > nearest and len(found) >= PROBING.least_pairs:
            break
        nearest = apart
        if first.position == second.position or first.value.date == second.value.date:
            continue
        if max(uses[key] for key in keys) >= PROBING.max_uses:
            continue
        uses.update(keys)
        found.append(pair)
    return found


def _event_days(material: ProbeMaterial) -> list[FactQuote]:
    histories = material.histories
    told = {bullet.bullet_id for life in histories.lives() for bullet, _ in life.made} | histories.contested_bullets
    bullets = (b for b in histories.bullets() if b.kind is BulletKind.EVENT and b.bullet_id not in told)
    found = (find_event_day(material.voices, b) for b in bullets)
    return [event for event in found if event is not None]


def _by_distance(dated: list[FactQuote]) -> Iterator[tuple[int, FactQuote, FactQuote]]:
    """Yield all pairs with 0 for those of one thing and strand, 1 for one of these, 2 for others; in this order."""
    things = [s.subject.casefold() for s in dated]
    strands = [s.narrative for s in dated]
    places = [s.position for s in dated]
    pairs = [
        ((things[i] != things[j]) + (strands[i] != strands[j]), places[i], places[j], i, j)
        for i, j in combinations(range(len(dated)), 2)
    ]
    return ((apart, dated[i], dated[j]) for apart, _, _, i, j in sorted(pairs))


def _sketch(pair: Pair) -> Sketch:
    first, second = pair
    days = recompute("days_between", [first.value, second.value])
    names = [f"the {s.attribute} of {s.subject}" for s in (first, second)]
    details = ProbeDetails(
        variety="duration",
        computed_from=tuple(format_date(v.date) for v in (first.value, second.value) if v.date),
        computation="days_between",
        computed_value=days.text,
    )
    return Sketch.of(
        ABILITY,
        cite([first, second], [EvidencePart.FIRST, EvidencePart.SECOND]),
        difficulty=difficulty_by_gap(first, second),
        variety="duration",
        topic=f"{names[0]} and {names[1]}",
        summary=f"{days.text} between {names[0]} ({first.value.text}) and {names[1]} ({second.value.text})",
        can_spare=not all(s.is_stated_once for s in (first, second)),
        answers=(days,),
        context_values=(first.value, second.value),
        details=details,
    )


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    checks: tuple[Check, ...] = (check_form, check_voice, check_values, check_coverage)
    # Only a question for what held on a day names that day.
    checks += (_check_moment if candidate.variety == QuestionKind.AS_OF else check_no_dates,)
    return run_checks(candidate, reply, checks)


@english_only
def _check_moment(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The question names the day, and the answer does not: no message says it."""
    day = candidate.given(MomentPayload).condition
    if day not in reply.question:
        return f"the question must name the day, {day}"
    said = (reply.gold_answer, *(n.text for n in reply.nuggets))
    if any(day in text for text in said):
        return f"answer and points must not repeat {day}; write 'at that time'"
    return None


GENERATOR = AbilityGenerator(find_candidates, check)
