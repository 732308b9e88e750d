"""Event ordering: in which order the user first told several things of one matter, or the assistant brought them in.

The question lists the things, out of their order, and asks for the order in which they were first told. So it names
what was said, no list can be incomplete, and no heading of the plan is needed. Things are of different days and of
different messages: two of one message or of one day have no order. A search of the whole conversation drops a thing
that an earlier message tells, too. The number of things grows with the length of the conversation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from longbeam.abilities import EVENT_ORDERING
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    OrderPayload,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_items,
    thin_out,
)
from longbeam.generators.probes.checks import check_form, check_voice, run_checks, shown
from longbeam.generators.probes.evidence import FactQuote, Quote, coverage, find_words, words_of
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.tuning import PROBING
from longbeam.prompts.calls import OrderReply, ProbeReply
from longbeam.schemas import BulletKind, ProbeDetails
from longbeam.text import ORDINAL_WORDS

ABILITY = EVENT_ORDERING.name
_OF_AN_ORDER = words_of(
    "names states says tells mentions lists places gives told tell said brought up came given mentioned number place "
    f"position item order list user assistant {' '.join(ORDINAL_WORDS)}"
)
_PLACES = tuple(rf"\b(?:{word}|{i}(?:st|nd|rd|th)?)\b" for i, word in enumerate(ORDINAL_WORDS, 1))
"""Patterns of the ways to say an item's place."""


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return lists of things that were told one after the other, of one narrative; where these are few, shorter ones.

    Lists of several narratives come last: they are nobody's one matter. What the assistant brought in is no list:
    nobody asks in which order they were given review days.
    """
    total = material.total_messages
    told = sorted(_tellings(material), key=lambda said: said.position)
    if len(told) <= PROBING.proved_at_once:
        told = [said for said in told if _is_first(material, said)]
    strands: dict[str, list[Quote]] = {}
    for said in told:
        strands.setdefault(said.narrative, []).append(said)
    wanted = lengths_for(total)
    shorter = tuple(range(wanted[0] - 1, PROBING.min_items - 1, -1))
    sketch = partial(_sketch, material)
    found = thin_out((g for own in strands.values() for g in _groups(own, wanted)), sketch, total)
    further = chain([list(strands.values())] * len(shorter), [[told]])
    for strand, lengths in zip(further, [*((n,) for n in shorter), wanted], strict=True):
        if len(found) < PROBING.fewest_orders:
            groups = (g for own in strand for g in _groups(own, lengths))
            found += thin_out(groups, sketch, total, PROBING.fewest_orders - len(found), len(found))
    return found


def _tellings(material: ProbeMaterial) -> Iterator[Quote]:
    """Yield the user's uncontested statements: facts of one value, and events without a fact that name their topic."""
    yield from (said for said in material.stated.settled if said.subject != "me")
    histories = material.histories
    telling = {bullet.bullet_id for life in histories.lives() for bullet, _ in life.made} | histories.contested_bullets
    for bullet in histories.bullets():
        if bullet.kind is BulletKind.EVENT and bullet.bullet_id not in telling:
            said = find_words(material.voices, bullet)
            if said is not None and coverage(bullet.topic, said.quote) >= PROBING.order_named:
                yield said


def lengths_for(total_messages: int) -> tuple[int, ...]:
    """Return the numbers of things to ask for: about 4 in 200 messages, 6 in 400, 9 in 1,200, 10 from 1,600 on.

    BEAM's event orderings cite 5.8 messages at 128K tokens, 12.9 at 500K and 26.6 at a million, several for a thing,
    and ask for ten things at most.
    """
    middle = round(6 + 2 * math.log2(max(total_messages, 1) / 400))
    around = (middle - 1, middle, middle + 1)
    return tuple(sorted({min(max(n, PROBING.likely_items), PROBING.max_items) for n in around}))


def _groups(told: Sequence[Quote], lengths: Sequence[int]) -> Iterator[tuple[Quote, ...]]:
    """Yield lists of things of different days, which stand well apart in the matter."""
    ordered: list[Quote] = []
    known: set[frozenset[str]] = set()
    for said in told:
        name = words_of(_name(said))
        # Of one day, and under names of which one is a part of the other, things cannot be told apart.
        if name and not any(name <= other or other <= name for other in known) and _is_later(said, ordered):
            ordered.append(said)
            known.add(name)
    for length in lengths:
        step = max(len(ordered) // length, 1)
        starts = range(len(ordered) - (length - 1) * step)
        stride = max(len(starts) // PROBING.most_groups, 1)
        for start in starts[: PROBING.most_groups * stride : stride]:
            yield tuple(ordered[start : start + (length - 1) * step + 1 : step])


def _name(said: Quote) -> str:
    return f"{said.attribute} {said.subject}" if said.attribute else said.topic


def _is_later(said: Quote, before: Sequence[Quote]) -> bool:
    return not before or (said.said_on > before[-1].said_on and said.position > before[-1].position)


def _is_first(material: ProbeMaterial, said: Quote) -> bool:
    """Return whether no earlier message of the user's has the thing's words, and its value, close together."""
    terms = [said.subject, said.value.text] if isinstance(said, FactQuote) else [said.topic]
    words = [word for term in terms for word in sorted(words_of(term))]
    return next(material.search.by_user(words, said.position), None) is None


def _sketch(material: ProbeMaterial, group: tuple[Quote, ...]) -> Sketch:
    names = [_name(said) for said in group]
    return Sketch.of(
        ABILITY,
        cite(group, grouped=True),
        can_spare=not all(said.is_stated_once for said in group if isinstance(said, FactQuote)),
        difficulty=difficulty_by_items(len(group)),
        variety="told",
        topic=group[0].narrative,
        summary=f"the order of {len(group)}: {', then '.join(names)}",
        payload=OrderPayload(listed_as=_out_of_order(len(group))),
        details=ProbeDetails(variety="told"),
    )._replace(is_proved=lambda: all(_is_first(material, said) for said in group))


def _out_of_order(count: int) -> tuple[int, ...]:
    """Return the places of things in the question: every second one from the last, then the others from the last.

    Who repeats the question has most pairs the wrong way round, and nothing is read off its beginning or end.
    """
    backwards = list(range(count))[::-1]
    return (*backwards[1::2], *backwards[::2])


def check_items(candidate: ProbeCandidate, reply: ProbeReply) -> Iterator[str]:
    """The question names every item, out of order; gold and nuggets give them in order, each with its place."""
    if not isinstance(reply, OrderReply):
        yield "`items` are missing"
        return
    count, items = len(candidate.excerpts), reply.items
    if len(items) != count or len({item.casefold().strip() for item in items}) < count or len(reply.nuggets) != count:
        yield f"{len(items)} items and {len(reply.nuggets)} points; one of each is needed for each of {count} excerpts"
        return
    for item, excerpt in zip(items, candidate.excerpts, strict=True):
        if not item.strip() or len(item.split()) > PROBING.max_item_words:
            yield f"the item {shown(item)} must have 1 to {PROBING.max_item_words} words"
        elif candidate.language.reads_words and not coverage(
            item, f"{excerpt.quote} {excerpt.subject} {excerpt.attribute}"
        ):
            yield f"the item {shown(item)} has no word of excerpt {excerpt.ordinal}; name what that excerpt tells"
        if coverage(item, reply.question) < 1:
            yield f"the question does not name {shown(item)}; list the items as they are in `items`"
    asked = [reply.question.casefold().find(item.casefold()) for item in items]
    if min(asked) >= 0 and asked == sorted(asked):
        listed_as = list(candidate.given(OrderPayload).listed_as)
        yield f"the question lists the items in their order; list them as {listed_as}"
    yield from _check_places(candidate, reply, items)


def _check_places(candidate: ProbeCandidate, reply: ProbeReply, items: Sequence[str]) -> Iterator[str]:
    gold, at = reply.gold_answer.casefold(), 0
    for i, (item, nugget) in enumerate(zip(items, reply.nuggets, strict=True)):
        found = gold.find(item.casefold(), at)
        if found < 0:
            yield f"gold_answer does not name {shown(item)} in its place; keep the items' wording and order"
            return
        at = found + len(item)
        point = f"point {i + 1} ({shown(nugget.text)})"
        if nugget.excerpts != [i] or coverage(item, nugget.text) < 0.5:
            yield f"{point} must be about {shown(item)}, and name excerpt {i} alone"
        beyond = words_of(nugget.text) - words_of(item) - _OF_AN_ORDER
        if candidate.language.reads_words and len(beyond) > PROBING.most_beside:
            yield f"{point} says more than {shown(item)} and its place: {', '.join(sorted(beyond))}; leave that out"
        if candidate.language.reads_words and not re.search(_PLACES[i], nugget.text, re.IGNORECASE):
            yield f"{point} must say that {shown(item)} is number {i + 1}"


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return (*run_checks(candidate, reply, (check_form, check_voice)), *check_items(candidate, reply))


GENERATOR = AbilityGenerator(find_candidates, check)
