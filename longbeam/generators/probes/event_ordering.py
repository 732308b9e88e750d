"""Event ordering: in which order topics were first brought up.

The order is that of *mention*, not of the days on which things happened. An item is a topic of a narrative (or
of two, where narratives are small); its evidence is the message that brings it up first. A theme with more
topics than can be asked for is asked for its first ten. Difficulty is the number of items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    difficulty_by_items,
    make_candidate,
    sessions_of,
    thin_out,
)
from longbeam.generators.probes.checks import check_form, check_voice, neutral, run_checks
from longbeam.generators.probes.evidence import Said, coverage, find_words, words_of
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.schemas.calls import ProbeReply
from longbeam.schemas.plans import BulletKind
from longbeam.schemas.probes import ProbeDetails

ABILITY = "event_ordering"
MIN_ITEMS, MAX_ITEMS = 4, 10
ENOUGH = 14
_TOLD = (BulletKind.EVENT, BulletKind.RELATIONSHIP, BulletKind.INTRODUCTION, BulletKind.UPDATE)
_NUMBERS = ("four", "five", "six", "seven", "eight", "nine", "ten")


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate per theme and length."""
    by_narrative: dict[str, list[Said]] = {}
    for said in _first_mentions(material):
        by_narrative.setdefault(said.bullet.narrative, []).append(said)
    found = [c for theme, mentions in by_narrative.items() for c in _of_theme(theme, mentions)]
    if len(found) < ENOUGH:
        for (one, first), (other, second) in combinations(by_narrative.items(), 2):
            merged = sorted([*first, *second], key=lambda s: s.position)
            found += list(_of_theme(f"{one} and {other}", merged))[:1]
            if len(found) >= 3 * ENOUGH:
                break
    return thin_out(found, material.total_messages)


def _first_mentions(material: ProbeMaterial) -> list[Said]:
    """Return each topic where it is first voiced, in the order of the conversation.

    A topic whose words are all in another's ("the kitchen", "the inspection of the kitchen") is the same topic.
    """
    # A contested statement still brings its topic up, so it counts here.
    said = (find_words(material, b) for kind in _TOLD for b in material.histories.of_kind(kind))
    mentions: dict[frozenset[str], Said] = {}
    for mention in sorted((s for s in said if s is not None), key=lambda s: s.position):
        topic = words_of(mention.bullet.topic)
        if topic and not any(topic <= known or known <= topic for known in mentions):
            mentions[topic] = mention
    return list(mentions.values())


def _of_theme(theme: str, mentions: Sequence[Said]) -> Iterator[ProbeCandidate]:
    """Yield a candidate of all topics, and one of the first few where there are many."""
    apart: list[Said] = []
    for said in mentions:
        # Two topics of one message have no order.
        if not apart or said.position > apart[-1].position:
            apart.append(said)
    if len(apart) < MIN_ITEMS or len(apart) < len(mentions) // 2:
        return
    is_whole = len(apart) == len(mentions)
    lengths = [len(apart)] if is_whole and len(apart) <= MAX_ITEMS else []
    lengths += [n for n in (MAX_ITEMS, 7, 5) if n < len(apart)]
    for length in lengths:
        items = apart[:length]
        # What follows the last item must be later; what shares a message with an item would make it ambiguous.
        same = {s.position for s in mentions if s not in items and s.position <= items[-1].position}
        if not same and sessions_of(items) >= 2:
            yield _candidate(theme, items, "all" if length == len(mentions) else "first")


def _candidate(theme: str, items: Sequence[Said], variety: str) -> ProbeCandidate:
    names = tuple(neutral(s.bullet.topic) for s in items)
    return make_candidate(
        ABILITY,
        items,
        difficulty=difficulty_by_items(len(items)),
        variety=variety,
        topic=theme,
        summary=f"{variety} {len(items)} topics of {theme}: {', then '.join(names)}",
        grouped=True,
        items=names,
        details=ProbeDetails(variety=variety, items=names, computation="order_of_mention"),
    )


def check_items(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    """The question gives the number and no item; gold and nuggets give every item, in order."""
    count = len(candidate.items)
    question = reply.question.casefold()
    if not re.search(rf"\b(?:{count}|{_NUMBERS[count - MIN_ITEMS]})\b", question):
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


GENERATOR = AbilityGenerator(ABILITY, "probe_event_ordering", find_candidates, check)
