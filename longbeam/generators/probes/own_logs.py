"""Questions on a log of the user's own: joins, set differences, counts and totals over all of its entries.

A gold answer is true only if every entry was told, so a log with an entry that no message states gives no candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from longbeam.abilities import MULTI_SESSION_REASONING, QuestionKind
from longbeam.generators.probes.candidates import Sketch, cite, difficulty_by_sessions, sessions_of
from longbeam.generators.probes.evidence import FactQuote
from longbeam.generators.probes.stated_facts import StatedFacts
from longbeam.schemas import ProbeDetails
from longbeam.text import BY_NAME, COMPANION, PLACE, QUANTITY, OwnLog, day_of, recompute, role_of

LEAST_ENTRIES = 4
"""Entries that a counted or joined log has at least."""
LEAST_TALLY = 2


def find_log_questions(stated: StatedFacts) -> Iterator[Sketch]:
    """Yield questions on each log all of whose entries are told."""
    for name, told in stated.side_stories.items():
        known = [s for s in told if s is not None]
        texts = BY_NAME.get(name)
        if texts is None or len(known) < len(told):
            continue
        roles = _by_role(known)
        if min(map(len, roles.values())) >= LEAST_ENTRIES:
            yield from _totals(roles, texts)
            yield from _of_people(roles, texts)


def _by_role(told: Sequence[FactQuote]) -> Mapping[str, Sequence[FactQuote]]:
    roles: dict[str, list[FactQuote]] = {}
    for said in sorted(told, key=lambda s: s.position):
        roles.setdefault(role_of(said.attribute), []).append(said)
    return roles


# --- people -------------------------------------------------------------------------------------------------------


def _of_people(roles: Mapping[str, Sequence[FactQuote]], texts: OwnLog) -> Iterator[Sketch]:
    """Yield who came along to two places, or to one and never to another, and how often somebody came along."""
    who = {day_of(s.attribute): s.value.text for s in roles.get(COMPANION, ())}
    came: dict[str, list[str]] = {}
    for said in roles[PLACE]:
        if person := who.get(day_of(said.attribute)):
            came.setdefault(said.value.text, []).append(person)
    for one, other in permutations(came, 2):
        both = [p for p in dict.fromkeys(came[one]) if p in came[other]]
        alone = [p for p in dict.fromkeys(came[one]) if p not in came[other]]
        if both and one < other:
            asked = f"who came along on {texts.plural} both {one} and {other}"
            yield _people(roles, QuestionKind.JOIN, asked, both, (one, other))
        if alone:
            asked = f"who came along on {texts.plural} {one} but never on those {other}"
            yield _people(roles, QuestionKind.SET_DIFFERENCE, asked, alone, (one, other))
    for person, times in Counter(who.values()).most_common():
        if times >= LEAST_TALLY:
            own = [s for s in roles[COMPANION] if s.value.text == person]
            yield _tally(own, f"times that {person} came along on {texts.name}")


def _people(
    roles: Mapping[str, Sequence[FactQuote]],
    kind: QuestionKind,
    asked: str,
    people: Sequence[str],
    places: tuple[str, str],
) -> Sketch:
    said = sorted([*roles[PLACE], *roles[COMPANION]], key=lambda s: s.position)
    answers = [next(s.value for s in said if s.value.text == person) for person in people]
    return Sketch.of(
        MULTI_SESSION_REASONING.name,
        cite(said),
        difficulty=difficulty_by_sessions(sessions_of(said)),
        variety=kind,
        topic=asked,
        summary=f"{asked}: {', '.join(people)}",
        answers=tuple(answers),
        items=tuple(people),
        details=ProbeDetails(variety=kind, items=tuple(people), computed_from=places),
    )


# --- counts and totals --------------------------------------------------------------------------------------------


def _tally(said: Sequence[FactQuote], asked: str) -> Sketch:
    return _computed(said, QuestionKind.TALLY, "tally", asked)


def _totals(roles: Mapping[str, Sequence[FactQuote]], texts: OwnLog) -> Iterator[Sketch]:
    amounts, places = roles[QUANTITY], roles[PLACE]
    yield _computed(amounts, QuestionKind.TOTAL, "sum", f"{texts.unit_plural} of all {texts.plural} together")
    yield _tally(amounts, texts.plural)
    for place, times in Counter(s.value.text for s in places).most_common():
        if times >= LEAST_TALLY:
            yield _tally([s for s in places if s.value.text == place], f"{texts.plural} {place}")


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
