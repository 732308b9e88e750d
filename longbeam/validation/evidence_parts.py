"""Parts of the evidence: each is said by the right speaker, an update after its original, a denial elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log

from longbeam.abilities import Trait, ability_of
from longbeam.schemas import EvidencePart, Message, MessageRole, Probe
from longbeam.text import SMALL_NUMBER, content_words, read_count
from longbeam.validation.base import ERROR, WARNING, Check, Problem, asks_assistant, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_COUNT = rf"\b(\d{{1,2}}|{SMALL_NUMBER})"
_ITEMS_ASKED = (
    re.compile(rf"{_COUNT} (?:items?|events?|things|steps|points)\b", re.IGNORECASE),
    re.compile(rf"{_COUNT} (?:[a-z]+ )?(?!(?:second|minute|hour|day|week|month|year|time)s\b)[a-z]+s\b", re.IGNORECASE),
)
"""Number of items that a question asks for; the first pattern that matches decides."""
_NUMBERED = re.compile(r"(?:^|(?<=[\s,;:]))\d{1,2}[.)]\s+")
"""Number in front of an item of a gold answer: `1) the lease, 2) the oven`."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield parts that are missing, of the wrong speaker, or in the wrong order."""
    ability = ability_of(probe.ability)
    parts = {e.part for e in probe.evidence}
    # Formats without parts, as LoCoMo, cite everything as support.
    knows_parts = not index.is_import or parts != {EvidencePart.SUPPORT}
    for part in ability.required_parts:
        if part not in parts and probe.evidence and knows_parts:
            kind = "import_missing" if index.is_import else "missing"
            yield Problem(kind, probe.probe_id, f"no evidence is the {part}")
    yield from _speaker_problems(index, probe)
    yield from _replies_problem(index, probe)
    if ability.has(Trait.ASKS_UPDATED_VALUE):
        yield from _update_problems(index, probe)
    for first, second in ability.parts_apart:
        yield from _shared_problems(probe, first, second)
    if ability.has(Trait.ORDERS_ITEMS):
        yield from _item_problems(index, probe)
        yield from _elsewhere_problems(index, probe)
        yield from _mention_problems(index, probe)
        yield from _asked_problems(probe)


def _speaker_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    said = ((e, m) for e in probe.evidence if (m := index.message(e.message_key)))
    asked = set(probe.bullet_ids)
    # By the user, or by a reply that brings in what the probe asks for.
    told = {n for e, m in said if m.role is MessageRole.USER or asked & set(m.bullet_ids) for n in e.nugget_ids}
    for evidence in probe.evidence:
        message = index.message(evidence.message_key)
        if message is None or message.role is MessageRole.USER:
            continue
        # Imports may ask what the assistant said; our facts and bullets are always the user's.
        if asked & set(message.bullet_ids):
            continue  # it brings in what the probe asks for
        if evidence.part == EvidencePart.SUPPORT and evidence.nugget_ids and set(evidence.nugget_ids) <= told:
            continue  # it says again what is told
        if not index.is_import and (probe.bullet_ids or probe.fact_ids or evidence.part != EvidencePart.SUPPORT):
            text = f"the {evidence.part} is what the user said, and {evidence.message_key} is the assistant's"
            yield Problem("speaker", probe.probe_id, text, (evidence.message_key,))


def _replies_problem(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    cited = index.cited(probe)
    ability = ability_of(probe.ability)
    if not index.is_import or ability.has(Trait.ABSTAINS) or any(index.speaks_as_user(m) for m in cited):
        return
    of_user = any(e.part in ability.user_parts for e in probe.evidence)
    if cited and (of_user or not asks_assistant(probe.question)):
        kind = "only_replies" if of_user or not ability.has(Trait.RETELLS_HISTORY) else "only_replies_retold"
        keys = tuple(m.message_key for m in cited)
        text = f"the question is about the user, and only replies are cited: {', '.join(keys)}"
        yield Problem(kind, probe.probe_id, text, keys)


def _places(index: ConversationIndex, probe: Probe, part: EvidencePart) -> list[int]:
    keys = (e.message_key for e in probe.evidence if e.part == part)
    return [index.position[k] for k in keys if k in index.position]


def _update_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    original = _places(index, probe, EvidencePart.ORIGINAL)
    updated = _places(index, probe, EvidencePart.UPDATED)
    if original and updated and max(original) > min(updated):
        keys = (index.messages[max(original)].message_key, index.messages[min(updated)].message_key)
        yield Problem(
            "update_order", probe.probe_id, f"the original, {keys[0]}, is not before the update, {keys[1]}", keys
        )


def _shared_problems(probe: Probe, first: str, second: str) -> Iterator[Problem]:
    sides = [{e.message_key for e in probe.evidence if e.part == part} for part in (first, second)]
    kind = "one_session" if first == EvidencePart.FIRST else "one_message"
    for key in sorted(sides[0] & sides[1]):
        yield Problem(kind, probe.probe_id, f"{key} is {first} and {second} at once", (key,))


def _asked_problems(probe: Probe) -> Iterator[Problem]:
    if any(item.casefold() in probe.question.casefold() for item in probe.details.items):
        # The question names the items, and the numbers in it are theirs.
        listed = probe.question.count(";") + 1
        if listed not in (1, len(probe.details.items)):
            text = f"the question lists {listed} items, and the gold has {len(probe.details.items)}"
            yield Problem("items_asked", probe.probe_id, text)
        return
    match = next(filter(None, (pattern.search(probe.question) for pattern in _ITEMS_ASKED)), None)
    if match is None:
        return
    asked = read_count(match[1])
    items = len(probe.details.items) or len(probe.rubric)
    if asked != items:
        yield Problem("items_asked", probe.probe_id, f"the question asks for {asked} items, and the gold has {items}")
    groups = len({e.message_key if e.group is None else e.group for e in probe.evidence})
    is_one_list = groups == 1 and asks_assistant(probe.question)
    if probe.evidence and groups < items and not is_one_list:
        text = f"{items} items rest on {groups} cited messages: some items share their evidence or have none"
        yield Problem("shared_items", probe.probe_id, text)


def _elsewhere_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield items that another item's evidence says completely and their own not at all: the gold is out of order."""
    said: dict[int, frozenset[str]] = {}
    for group, message, _ in _grouped(index, probe):
        said[group] = said.get(group, frozenset()) | index.words(message)
    if sorted(said) != list(range(len(probe.details.items))):
        return
    for place, item in enumerate(probe.details.items):
        words = content_words(item)
        elsewhere = [i for i, other in said.items() if i != place and words <= other]
        if words and not words & said[place] and elsewhere:
            text = f"item {place + 1}, {item!r}, is not in its own evidence, but in that of item {elsewhere[0] + 1}"
            yield Problem("item_elsewhere", probe.probe_id, text, tuple(e.message_key for e in probe.evidence))


def _mention_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield two items of an import whose cited messages stand the other way round.

    Imports cite messages in an order of their own, so the words decide: an item belongs to the cited message that has
    clearly most of its words; others are passed over.
    """
    if not index.is_import:
        return
    cited = [(m, index.words(m)) for m in index.cited(probe) if index.speaks_as_user(m)]
    items = [item.strip(" .,;") for item in _NUMBERED.split(probe.gold_answer)[1:]] or list(probe.details.items)
    places = [(item, _mention_of(content_words(item), cited)) for item in items]
    known = [(item, index.position[m.message_key], m.message_key) for item, m in places if m is not None]
    for (first, at, key), (second, then, other) in pairwise(known):
        if at > then:
            text = f"{shorten(second)!r} stands behind {shorten(first)!r}, and was mentioned before it: {other}, {key}"
            yield Problem("mentioned_before", probe.probe_id, text, (other, key))


def _mention_of(item: frozenset[str], cited: Sequence[tuple[Message, frozenset[str]]]) -> Message | None:
    """Return the message that has clearly most of an item's words, weighed by their rarity; None if none has.

    One word more than another message has, which may be rare by chance, leaves it open which of the two tells the item.
    """
    weights = {w: log((len(cited) + 1) / (sum(w in words for _, words in cited) + 0.5)) for w in sorted(item)}
    whole = sum(weights.values())
    shares = sorted(((sum(weights[w] for w in item & words), -i) for i, (_, words) in enumerate(cited)), reverse=True)
    if not shares or shares[0][0] < CHECKING.part_of_item * whole or not whole:
        return None
    best, *others = (cited[-place] for _, place in shares)
    is_clear = not others or shares[0][0] >= CHECKING.part_clearly * shares[1][0]
    most = max((len(item & words) for _, words in others), default=0)
    return best[0] if is_clear and (not most or len(item & best[1]) > most + 1) else None


def _item_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    first: dict[int, tuple[int, int]] = {}
    for group, message, quote in _grouped(index, probe):
        place = index.position[message.message_key], message.content.find(quote)
        first[group] = min(place, first.get(group, place))
    if not first:
        return
    items = len(probe.details.items)
    if sorted(first) != list(range(len(first))) or (items and items != len(first)):
        text = f"evidence has items {sorted(first)}; the probe has {items or len(probe.rubric)}, from 0"
        yield Problem("items", probe.probe_id, text)
    places = [first[group] for group in sorted(first)]
    if any(a > b for a, b in pairwise(places)):
        keys = tuple(index.messages[at].message_key for at, _ in places)
        yield Problem("item_order", probe.probe_id, f"items are not in the order of mention: {', '.join(keys)}", keys)


def _grouped(index: ConversationIndex, probe: Probe) -> Iterator[tuple[int, Message, str]]:
    """Yield item, message and quote of the evidence that belongs to an item."""
    for evidence in probe.evidence:
        message = index.message(evidence.message_key)
        if evidence.group is not None and message is not None:
            yield evidence.group, message, evidence.quote


CHECK = Check(
    name="evidence_parts",
    doc="Evidence has the parts its ability needs, of the right speaker, in the order that makes the answer true.",
    severities={
        "missing": ERROR,
        "import_missing": WARNING,
        "speaker": ERROR,
        "only_replies": ERROR,
        "only_replies_retold": WARNING,
        "update_order": ERROR,
        "one_message": ERROR,
        "one_session": WARNING,
        "items": ERROR,
        "item_order": ERROR,
        "item_elsewhere": ERROR,
        "items_asked": ERROR,
        "shared_items": WARNING,
        "mentioned_before": WARNING,
    },
    english_only={"mentioned_before": "compares English words"},
    on_probe=find_problems,
)
