"""Questions on side stories: joins, set differences, counts and totals over all of their entries.

A gold answer is true only if every entry was told, so a story with an entry that no message states gives no candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from longbeam.abilities import MULTI_SESSION_REASONING, QuestionKind
from longbeam.generators.probes.candidates import Sketch, cite, difficulty_by_sessions, sessions_of
from longbeam.generators.probes.evidence import FactQuote
from longbeam.generators.probes.stated_facts import StatedFacts
from longbeam.schemas import ProbeDetails
from longbeam.text import BY_NAME, LATE, PAID, PLACE, Evenings, OwnLog, recompute, role_of
from longbeam.text.side_texts import AMOUNT

LEAST_ENTRIES = 4
"""Entries that a counted or joined story has at least."""
LEAST_TALLY = 2


class _SideStory(NamedTuple):
    """The entries of a side story."""

    texts: Evenings | OwnLog
    roles: Mapping[str, Sequence[FactQuote]]
    """Quotes by role, in the order of the conversation."""


def find_side_questions(stated: StatedFacts) -> Iterator[Sketch]:
    """Yield questions on each side story all of whose entries are told."""
    for name, told in stated.side_stories.items():
        known = [s for s in told if s is not None]
        texts = BY_NAME.get(name)
        if texts is None or len(known) < len(told):
            continue
        story = _SideStory(texts, _by_role(known))
        if min(map(len, story.roles.values())) >= LEAST_ENTRIES:
            yield from _of_evenings(story) if isinstance(texts, Evenings) else _of_log(story, texts)


def _by_role(told: Sequence[FactQuote]) -> Mapping[str, Sequence[FactQuote]]:
    roles: dict[str, list[FactQuote]] = {}
    for said in sorted(told, key=lambda s: s.position):
        roles.setdefault(role_of(said.attribute), []).append(said)
    return roles


# --- rounds of people ---------------------------------------------------------------------------------------------


def _of_evenings(story: _SideStory) -> Iterator[Sketch]:
    it = story.texts.name
    late, paid = story.roles[LATE], story.roles[PAID]
    came, gave = (dict.fromkeys(s.value.text for s in said) for said in (late, paid))
    join, difference = QuestionKind.JOIN, QuestionKind.SET_DIFFERENCE
    for kind, asked, people in (
        (join, f"who came late to {it} and also paid for everybody there", [p for p in came if p in gave]),
        (difference, f"who came late to {it} but never paid for everybody there", [p for p in came if p not in gave]),
        (difference, f"who paid for everybody at {it} but never came late to it", [p for p in gave if p not in came]),
    ):
        if people:
            yield _people(story, kind, asked, people)
    yield _tally(late, story.texts.plural)
    for said, did in ((late, f"came late to {it}"), (paid, f"paid for everybody at {it}")):
        for person, times in Counter(s.value.text for s in said).most_common():
            if LEAST_TALLY <= times < len(said):
                yield _tally([s for s in said if s.value.text == person], f"times that {person} {did}")


def _people(story: _SideStory, kind: QuestionKind, asked: str, people: Sequence[str]) -> Sketch:
    said = sorted([*story.roles[LATE], *story.roles[PAID]], key=lambda s: s.position)
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
        details=ProbeDetails(variety=kind, items=tuple(people)),
    )


# --- counts and totals --------------------------------------------------------------------------------------------


def _tally(said: Sequence[FactQuote], asked: str) -> Sketch:
    return _computed(said, QuestionKind.TALLY, "tally", asked)


def _of_log(story: _SideStory, texts: OwnLog) -> Iterator[Sketch]:
    amounts, places = story.roles[AMOUNT], story.roles[PLACE]
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
