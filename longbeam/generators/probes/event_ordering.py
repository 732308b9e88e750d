"""Event ordering: in which order topics were first brought up.

The order is that of *mention*, not of the days on which things happened. An item is a topic of a narrative (or
of two, where narratives are small), or a thing with a stated attribute; its evidence is the message that mentions it
first. A theme with many items is asked for its first five, seven or ten. The level depends on the number of items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from longbeam.abilities.beam import EVENT_ORDERING
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_items,
    sessions_of,
    thin_out,
)
from longbeam.generators.probes.checks import check_form, check_voice, neutral, run_checks
from longbeam.generators.probes.evidence import Quote, coverage, find_words, words_of
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.prompts.calls.probes import ProbeReply
from longbeam.schemas.plans import BulletKind
from longbeam.schemas.probes import ProbeDetails
from longbeam.schemas.spec import ENGLISH

ABILITY = EVENT_ORDERING.name
MIN_ITEMS, MAX_ITEMS = 4, 10
ENOUGH = 14
END = 2**62
"""A position behind every message."""
_WORDS_OF_THE_QUESTION = frozenset(("conversation", "conversations", "topic", "topics", "order", "item", "items"))
"""Every question has these words, so it would seem to give away a thing of such a name."""
_TOLD = (BulletKind.EVENT, BulletKind.RELATIONSHIP, BulletKind.UPDATE)
_NUMBERS = ("four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Item:
    """A topic, and the message that mentions it first."""

    topic: str
    said: Quote
    again: int | None = None
    """Position of the next message that mentions the topic; None if there is none."""


class Series(NamedTuple):
    """Items that a question may ask for in their order."""

    theme: str
    items: Sequence[Item]
    variety: str
    """`all` of the theme, or its `first`."""


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate per theme and length."""
    by_narrative: dict[str, list[Item]] = {}
    for item in _first_mentions(material):
        by_narrative.setdefault(item.said.narrative, []).append(item)
    themes = {**by_narrative, **_attributes(material)}
    found = [series for theme, items in themes.items() for series in _of_theme(theme, items)]
    if len(found) < ENOUGH:
        for (one, first), (other, second) in combinations(by_narrative.items(), 2):
            merged = sorted([*first, *second], key=lambda item: item.said.position)
            found += _of_theme(f"{one} and {other}", merged, (MAX_ITEMS, 8, 7, 6, 5, 4))
            if len(found) >= 3 * ENOUGH:
                break
    return thin_out(found, _sketch, material.total_messages)


def _attributes(material: ProbeMaterial) -> dict[str, list[Item]]:
    """Return the things that have an attribute, by attribute, in the order of mention; complete lists only."""
    themes: dict[str, list[Item]] = {}
    for said in material.stated.first:
        if said.attribute not in material.stated.unsaid:
            # Wherever the attribute is stated again, the thing is known without its first message.
            again = None if said.is_stated_once else said.position + 1
            theme = f"the {said.attribute} of different things"
            themes.setdefault(theme, []).append(Item(said.subject, said, again))
    return {t: _distinct(sorted(items, key=lambda i: i.said.position)) for t, items in themes.items()}


def _first_mentions(material: ProbeMaterial) -> list[Item]:
    """Return each topic with the message that voices it first, in the order of the conversation."""
    first: dict[str, tuple[tuple[int, int, int], Quote]] = {}
    places: dict[str, list[int]] = {}
    for i, bullet in enumerate(material.histories.bullets()):
        places.setdefault(bullet.topic, []).extend(p for p, _ in material.voices.of_bullet(bullet.bullet_id))
        # A contested statement still brings its topic up, so it counts here.
        said = find_words(material.voices, bullet) if bullet.kind in _TOLD else None
        if said is not None:
            place = said.position, _TOLD.index(bullet.kind), i
            if said.topic not in first or place < first[said.topic][0]:
                first[said.topic] = place, said

    def again(s: Quote) -> int | None:
        return min((p for p in places[s.topic] if p > s.position), default=None)

    return _distinct([Item(s.topic, s, again(s)) for _, s in sorted(first.values(), key=lambda found: found[0])])


def _distinct(items: Sequence[Item]) -> list[Item]:
    """Return the first item of each topic.

    One whose words are all in another's ("the kitchen", "the inspection of the kitchen") is the same topic.
    """
    known: dict[frozenset[str], Item] = {}
    for item in items:
        words = words_of(item.topic)
        if words and words not in known and not any(words <= other or other <= words for other in known):
            known[words] = item
    return list(known.values())


def _of_theme(theme: str, items: Sequence[Item], lengths: Sequence[int] = (MAX_ITEMS, 7, 5)) -> Iterator[Series]:
    """Yield all items of a theme, and its first few where there are more."""
    for length in dict.fromkeys((len(items), *lengths)):
        if not MIN_ITEMS <= length <= min(MAX_ITEMS, len(items)):
            continue
        chosen = items[:length]
        places = [item.said.position for item in items[: length + 1]]
        if any(neutral(item.topic).casefold() in _WORDS_OF_THE_QUESTION for item in chosen):
            continue
        # Two topics of one message have no order, and neither has the last one with the next.
        if len(set(places)) < len(places) or sessions_of(i.said for i in chosen) < 2:
            continue
        yield Series(theme, chosen, "all" if length == len(items) else "first")


def _sketch(series: Series) -> Sketch:
    theme, items, variety = series
    names = tuple(neutral(item.topic) for item in items)
    following = [*(item.said.position for item in items[1:]), END]
    return Sketch.of(
        ABILITY,
        cite([item.said for item in items], grouped=True),
        # An item that is mentioned again before the next one keeps its place without its first message.
        can_spare=any(i.again is not None and i.again < place for i, place in zip(items, following, strict=True)),
        difficulty=difficulty_by_items(len(items)),
        variety=variety,
        topic=theme,
        summary=f"{variety} {len(items)} topics of {theme}: {', then '.join(names)}",
        items=names,
        details=ProbeDetails(variety=variety, items=names),
    )


def check_items(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The question gives the number and no item; gold and nuggets give every item, in order."""
    count = len(candidate.items)
    question = reply.question.casefold()
    if candidate.language == ENGLISH and not re.search(rf"\b(?:{count}|{_NUMBERS[count - MIN_ITEMS]})\b", question):
        return f"the question does not say that {count} items are asked for"
    for item in candidate.items:
        if item.casefold() in question and item.casefold() not in candidate.topic.casefold():
            return f"the question gives the item {item!r} away; name only the theme"
    gold, at = reply.gold_answer.casefold(), 0
    for item in candidate.items:
        found = gold.find(item.casefold(), at)
        if found < 0:
            return f"gold_answer does not name {item!r} in its place; keep the items' wording and order"
        at = found + len(item)
    if len(reply.nuggets) != count:
        return f"{len(reply.nuggets)} nuggets; one per item, {count}, are needed"
    for i, (item, nugget) in enumerate(zip(candidate.items, reply.nuggets, strict=True)):
        if nugget.excerpts != [i] or coverage(item, nugget.text) < 0.5:
            return f"nugget {i} must be about {item!r} and name excerpt {i} alone"
    return None


def check(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """Return what is wrong with a worded probe, or None."""
    return run_checks(candidate, reply, (check_form, check_voice, check_items))


GENERATOR = AbilityGenerator(find_candidates, check)
