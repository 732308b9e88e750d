"""Event ordering: in which order topics were first brought up.

The order is that of *mention*, not of the days on which things happened. A question names only what was said: a thing
or a person, after which it asks for those that came up next for the first time; or an attribute that several things
have. The evidence of an item is the message that mentions it first, under the name that the question wants; a search
of the whole conversation finds earlier mentions and further items. Of many items the first five, seven or ten are asked
for; where one message brings up two items, those before it. The level depends on the number of items.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, permutations
from typing import NamedTuple

from longbeam.abilities import EVENT_ORDERING
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ProbeCandidate,
    Sketch,
    cite,
    difficulty_by_items,
    sessions_of,
    thin_out,
    with_advice,
)
from longbeam.generators.probes.checks import check_form, check_voice, neutral, run_checks, shown
from longbeam.generators.probes.evidence import FactQuote, Quote, coverage, find_words, words_of
from longbeam.generators.probes.given_advice import GivenList
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import ENGLISH, AdviceKind, BulletKind, ProbeDetails, ValueKind
from longbeam.text import ORDINAL_WORDS, sentences, values_in

ABILITY = EVENT_ORDERING.name
MIN_ITEMS, MAX_ITEMS = 3, 10
NAMED = 0.5
"""Share of a topic's words that the words of its first message must have."""
LENGTHS_AFTER = (4, 5, 7, 10)
"""Numbers of items that are asked for after a thing."""
END = 2**62
"""A position behind every message."""
_WORDS_OF_THE_QUESTION = frozenset(
    ("conversation", "conversations", "topic", "topics", "order", "item", "items", "thing", "people")
)
"""Every question has these words, so it would seem to give away a thing of such a name."""
_OF_MANY_ATTRIBUTES = words_of("amount count date day number share tally time")
"""Stems that say little of an attribute: `finished share` is told as "54% is finished"."""
_TOLD = (BulletKind.EVENT, BulletKind.RELATIONSHIP, BulletKind.UPDATE)
_OF_NOUN = re.compile(r"(?<=\w) (?:of|for|in|with|to|from|at|on|about) .+$")
"""What follows the noun of a thing's name: `the price of the roof`."""
_PLACES = tuple(rf"\b(?:{word}|{i}(?:st|nd|rd|th)?)\b" for i, word in enumerate(ORDINAL_WORDS, 1))
"""Patterns of the ways to say an item's place."""
ENOUGH = 2
"""Other lists, with which no steps are asked for that a wish turns round; a short story has none."""
_WISH_FOR_STEPS = re.compile(r"\bin which order\b|\bsteps\b|\bbackwards\b|\breverse order\b", re.IGNORECASE)
_NUMBERS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")


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
    """`all` of the theme, its `first`, or those that came up `next`."""
    attribute: str = ""
    """What was told of each item; empty where it only came up."""


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return one candidate per theme, or thing that others come after, and length."""
    found = [series for attribute, items in _attributes(material).items() for series in _of_attribute(attribute, items)]
    found += _after_each(*_first_mentions(material))
    own = thin_out(found, partial(_sketch, material), material.total_messages)
    is_left_out = len(own) >= ENOUGH and _is_turned_by_a_wish(material)
    lists = () if is_left_out else material.advice.lists_of(AdviceKind.STEPS)
    plans = (_steps(given) for given in lists if not _is_given_again(material, given))
    return with_advice(own, plans, material.total_messages)


def _attributes(material: ProbeMaterial) -> dict[str, list[Item]]:
    """Return the things that have an attribute, by attribute, in the order of mention; complete lists only.

    A list with a thing that its message does not name is left out: nobody could ask for it under that name. So is that
    of an attribute of which another one is a kind: who is asked for a price may answer with an agreed price.
    """
    themes: dict[str, list[Item]] = {}
    unnamed = set(material.stated.unsaid) | _wider(material.stated.first)
    for said in material.stated.first:
        # Wherever the attribute is stated again, the thing is known without its first message.
        again = None if said.is_stated_once else said.position + 1
        themes.setdefault(said.attribute, []).append(Item(said.subject, said, again))
        if coverage(said.subject, said.quote) < NAMED:
            unnamed.add(said.attribute)
    return {
        attribute: _distinct(sorted(items, key=lambda i: i.said.position))
        for attribute, items in themes.items()
        if attribute not in unnamed
    }


def _wider(facts: Iterable[FactQuote]) -> set[str]:
    """Return the attributes whose words are all in another attribute of values of the same kind."""
    words = {(f.value.kind, f.attribute): _telling_words(f.attribute) for f in facts}
    pairs = permutations(words.items(), 2)
    return {wide for ((kind, wide), its), ((of, _), other) in pairs if kind is of and its <= other}


def _telling_words(attribute: str) -> frozenset[str]:
    """Return the words of an attribute by which a sentence shows that it tells it."""
    words = words_of(attribute)
    return (words - _OF_MANY_ATTRIBUTES) or words


def _first_mentions(material: ProbeMaterial) -> tuple[list[Item], list[int]]:
    """Return each topic with the message that voices it first, in the order of the conversation, and doubtful places.

    At a doubtful place a message voices a topic that nobody has named before, without words that show it, or brings in
    somebody or something by name as a thing's value: the firm for the roof has come up as well.
    """
    first: dict[str, tuple[tuple[int, int, int], Quote]] = {}
    places: dict[str, list[int]] = {}
    voiced: dict[str, int] = {}
    for i, bullet in enumerate(material.histories.bullets()):
        places.setdefault(bullet.topic, []).extend(p for p, _ in material.voices.of_bullet(bullet.bullet_id))
        # A contested statement still brings its topic up, so it counts here.
        said = find_words(material.voices, bullet) if bullet.kind in _TOLD else None
        if bullet.kind in _TOLD and places[bullet.topic]:
            voiced[bullet.topic] = min(places[bullet.topic])
        # A question cannot ask for a thing under a name that no message has.
        if said is not None and coverage(bullet.topic, said.quote) >= NAMED:
            place = said.position, _TOLD.index(bullet.kind), i
            if said.topic not in first or place < first[said.topic][0]:
                first[said.topic] = place, said

    def again(s: Quote) -> int | None:
        return min((p for p in places[s.topic] if p > s.position), default=None)

    items = [Item(s.topic, s, again(s)) for _, s in sorted(first.values(), key=lambda found: found[0])]
    doubtful = [at for topic, at in voiced.items() if topic not in first or at < first[topic][1].position]
    names = [f.position for f in material.stated.first if f.value.kind is ValueKind.NAME]
    return _distinct(items), sorted([*doubtful, *names])


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


def _after_each(items: Sequence[Item], doubtful: Sequence[int]) -> Iterator[Series]:
    """Yield the items that come up next after each item, over two sessions or more, with no doubtful place."""
    for i, anchor in enumerate(items):
        for length in LENGTHS_AFTER:
            chosen = items[i + 1 : i + 1 + length]
            places = [item.said.position for item in items[i : i + 2 + length]]
            # Two topics of one message have no order, and neither has the last one with the next.
            is_ordered = len(set(places)) == len(places)
            is_ordered &= bisect_left(doubtful, places[0]) == bisect_right(doubtful, places[-1])
            if len(chosen) == length and is_ordered and sessions_of(c.said for c in chosen) > 1 and _are_free(chosen):
                yield Series(anchor.topic, chosen, "next")


def _are_free(items: Sequence[Item]) -> bool:
    """Return whether no item has a name that every question has in its own words."""
    return not any(neutral(item.topic).casefold() in _WORDS_OF_THE_QUESTION for item in items)


def _of_attribute(attribute: str, items: Sequence[Item]) -> Iterator[Series]:
    """Yield all things of which an attribute was told, the first few where there are more, and those with an order."""
    for length in dict.fromkeys((len(items), MAX_ITEMS, 7, 5, _ordered(items))):
        if not MIN_ITEMS <= length <= min(MAX_ITEMS, len(items)):
            continue
        chosen = items[:length]
        places = [item.said.position for item in items[: length + 1]]
        if not _are_free(chosen) or len(set(places)) < len(places) or sessions_of(i.said for i in chosen) < 2:
            continue
        variety = "all" if length == len(items) else "first"
        yield Series(f"the {attribute} of different things", chosen, variety, attribute)


def _ordered(items: Sequence[Item]) -> int:
    """Return the number of first items that have an order: all, or those before two of one message."""
    pairs = enumerate(pairwise(item.said.position for item in items))
    return next((i for i, (place, following) in pairs if place == following), len(items))


def _is_proved(material: ProbeMaterial, series: Series) -> bool:
    """Return whether the user brings no item up earlier, and tells the attribute of nothing else in between.

    The ledger knows what was planned; a message may name several things at once, or things that nobody planned.
    """
    if not series.attribute:
        return not any(_is_named_before(material, item) for item in series.items)
    end = material.total_messages if series.variety == "all" else series.items[-1].said.position
    wanted = _telling_words(series.attribute)
    told = (message for word in sorted(wanted) for _, message in material.search.by_user([word], end))
    kind = series.items[0].said.value.kind if series.items[0].said.value is not None else None
    things = [item.topic for item in series.items]
    return not any(_tells_of_another(message.content, wanted, kind, things) for message in told)


def _is_named_before(material: ProbeMaterial, item: Item) -> bool:
    words = sorted(words_of(item.topic))
    return any(
        any(coverage(item.topic, message.content[a:b]) == 1 for a, b in sentences(message.content))
        for _, message in material.search.by_user(words, item.said.position)
    )


def _tells_of_another(text: str, wanted: frozenset[str], kind: ValueKind | None, things: Sequence[str]) -> bool:
    """Return whether a message that names none of the things gives the attribute, by half of its words, of something.

    A sentence names the front porch by "the porch", and not by "the front".
    """
    if any(coverage(thing, text) == 1 for thing in things):
        return False
    said = (text[a:b] for a, b in sentences(text))
    telling = (s for s in said if len(wanted & words_of(s)) >= NAMED * len(wanted))
    unnamed = (s for s in telling if not any(_names(s, thing) for thing in things))
    return any(v.kind is kind for s in unnamed for v in values_in(s))


def _names(text: str, thing: str) -> bool:
    """Return whether a text has half of the words of a thing's name, the noun among them."""
    noun = _OF_NOUN.sub("", thing).split()[-1]
    return coverage(thing, text) >= NAMED and coverage(noun, text) == 1


def _sketch(material: ProbeMaterial, series: Series) -> Sketch:
    theme, items, variety, _ = series
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
        summary=f"{variety} {len(items)}, {theme}: {', then '.join(names)}",
        items=names,
        details=ProbeDetails(variety=variety, items=names),
    )._replace(is_proved=partial(_is_proved, material, series))


def _is_given_again(material: ProbeMaterial, given: GivenList) -> bool:
    """Return whether another message of the same day numbers half of the steps: it may have them in another order."""
    items = given.advice.items
    return any(
        2 * sum(_is_numbered(item, message.content) for item in items) >= len(items)
        for message in material.search.with_half_of(items)
        if message.sent_at.date() == given.whole.said_on and message.message_key != given.whole.message_key
    )


def _is_turned_by_a_wish(material: ProbeMaterial) -> bool:
    """Return whether a standing wish has lists of steps in an order of their own, or in another form.

    A reply that follows it would not give the steps from the first to the last.
    """
    kinds = (BulletKind.INSTRUCTION, BulletKind.PREFERENCE)
    wishes = (wish for kind in kinds for wish, _ in material.histories.standing(kind))
    return any(_WISH_FOR_STEPS.search(f"{wish.condition} {wish.requirement}") for wish in wishes)


def _is_numbered(item: str, text: str) -> bool:
    lines = (line.strip() for line in text.splitlines())
    return any(line[:1].isdigit() and item.casefold() in line.casefold() for line in lines)


def _steps(given: GivenList) -> Sketch:
    """Return the question for the steps of a plan that the assistant drew up."""
    advice = given.advice
    return Sketch.of(
        ABILITY,
        cite(given.items, grouped=True),
        difficulty=difficulty_by_items(len(advice.items)),
        variety="steps",
        topic=advice.topic,
        summary=f"the {len(advice.items)} steps for {advice.topic}: {', then '.join(advice.items)}",
        items=advice.items,
        details=ProbeDetails(variety="steps", items=advice.items),
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
            point = f"point {i + 1} ({shown(nugget.text)})"
            return f"{point} must be about {item!r}, and name excerpt {i} alone"
        if candidate.language == ENGLISH and not re.search(_PLACES[i], nugget.text, re.IGNORECASE):
            return f"point {i + 1} ({shown(nugget.text)}) must say that {item!r} is number {i + 1}"
    return None


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(candidate, reply, (check_form, check_voice, check_items))


GENERATOR = AbilityGenerator(find_candidates, check)
