"""Plants faults and controls so that none touches another: a probe or a message bears one of them at most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.seeded_defects import controls, evidence_faults, message_faults, probe_faults
from benchmarks.seeded_defects.changes import Change, Planter, Site
from benchmarks.seeded_defects.tables import Chat, Row

_e, _p, _m, _c = evidence_faults, probe_faults, message_faults, controls

FAULTS: dict[str, tuple[tuple[Planter, int], ...]] = {
    "denial_missing": ((_e.leave_the_denial_out, 5), (_e.affirm_instead_of_denying, 5)),
    "no_contradiction": ((_e.deny_something_else, 5), (_e.deny_what_does_not_contradict, 5)),
    "update_without_change": (
        (_e.update_to_the_same_value_in_other_writing, 5),
        (_e.update_to_the_same_value, 5),
    ),
    "third_value": ((_e.say_a_third_value, 5), (_e.say_a_third_value_loosely, 5)),
    "stale_gold": ((_e.swap_the_sides_of_an_update, 5), (_e.move_the_value_later, 5)),
    "one_message_for_both_sides": ((_e.cite_one_update_twice, 5), (_e.cite_one_statement_twice, 5)),
    "abstention_answered": ((_p.state_the_answer, 5), (_p.state_the_answer_in_other_words, 5)),
    "wrong_order": ((_e.swap_two_items, 5), (_e.swap_two_items_of_the_gold, 5)),
    "items_not_listed": ((_e.leave_an_item_out, 5), (_e.ask_for_another_number_of_items, 5)),
    "wrong_arithmetic": (
        (_p.miscount_days, 3),
        (_p.miscount_days_in_words, 2),
        (_p.miscompute_total, 3),
        (_p.miscompute_total_in_words, 2),
    ),
    "value_not_said": ((_e.name_an_unsaid_value, 5), (_e.name_an_unsaid_value_in_other_writing, 5)),
    "evidence_elsewhere": ((_e.cite_another_message, 6), (_e.cite_another_message_for_a_wish, 4)),
    "evidence_of_the_assistant": ((_e.cite_replies, 10),),
    "question_gives_the_answer": (
        (_p.ask_with_the_answer, 4),
        (_p.ask_with_the_answer_in_other_writing, 3),
        (_p.ask_with_the_instruction, 3),
    ),
    "near_duplicate": ((_p.ask_the_same_again, 5), (_p.ask_the_same_in_other_words, 5)),
    "rubric_from_elsewhere": (
        (_p.paste_a_nugget, 5),
        (_p.contradict_the_gold, 3),
        (_p.contradict_the_gold_in_words, 2),
    ),
    "nugget_not_atomic": ((_p.join_nuggets, 4), (_p.join_nuggets_loosely, 3), (_p.lean_on_the_question, 3)),
    "leak_in_a_message": (
        (_m.leave_a_plan_marker, 3),
        (_m.speak_of_the_prompt, 4),
        (_m.leave_a_placeholder, 3),
    ),
    "degenerate_text": (
        (_m.degenerate_reply, 4),
        (_m.cut_reply, 1),
        (_m.say_the_same_again, 3),
        (_m.say_nearly_the_same_again, 2),
    ),
    "time_going_back": ((_m.go_back_hours, 5), (_m.go_back_days, 5)),
}
"""Twenty kinds, ten of each; those with the fewest probes to choose from come first."""

CONTROLS: tuple[tuple[Planter, int], ...] = (
    (_c.recall_the_old_value, 5),
    (_c.give_a_value_of_something_else, 5),
    (_c.miss_the_abstention, 10),
    (_c.write_the_gold_otherwise, 8),
    (_c.write_the_nuggets_day_otherwise, 6),
    (_c.write_the_nuggets_number_otherwise, 25),
    (_c.word_the_nuggets_otherwise, 15),
    (_c.ask_more_politely, 20),
    (_c.chat_a_little, 15),
    (_c.repeat_a_heading, 15),
    (_c.leave_as_it_is, 76),
)
"""Two hundred."""
CONTROL = "control"
Wanted = Iterable[tuple[str, Planter, int]]
"""Kind, planter and how many."""
ALL: tuple[tuple[str, Planter, int], ...] = (
    *((kind, *pair) for kind, pairs in FAULTS.items() for pair in pairs),
    *((CONTROL, *pair) for pair in CONTROLS),
)


@dataclass(frozen=True)
class Planted:
    """One fault or control, and what names it."""

    kind: str
    """One of FAULTS, or `control`."""
    variety: str
    """Name of the planter."""
    conversation_id: str
    names: frozenset[str]
    """Ids of probes and messages; a finding about one of them is about this."""
    excused: frozenset[str]
    """Probes that are wrong with it; what is found on them is neither right nor wrong."""
    shown: str
    """The change for people to read: the text before and after it."""


@dataclass
class _Bed:
    """A conversation that is planted in; `taken` are the ids that bear something."""

    chat: Chat
    probes: list[Row]
    messages: list[Row]
    taken: set[str] = field(default_factory=set)
    excused: set[str] = field(default_factory=set)


def plant(chats: Sequence[Chat], seed: int, wanted: Wanted = ALL) -> tuple[list[Chat], list[Planted]]:
    """Return the conversations with the faults and controls in them, and the list of these.

    Fewer are planted of a kind where the conversations do not have enough probes that lend themselves to it.
    """
    beds = [_Bed(chat, list(chat.probes), list(chat.messages)) for chat in chats]
    planted: list[Planted] = []
    for kind, planter, count in wanted:
        planted += _plant_some(beds, kind, planter, count, Random(f"{seed}/{planter.__name__}"))
    return [Chat(bed.chat.head, bed.messages, bed.probes) for bed in beds], planted


def _plant_some(beds: list[_Bed], kind: str, planter: Planter, count: int, rng: Random) -> list[Planted]:
    planted: list[Planted] = []
    places = [(bed, number) for bed in beds for number in range(len(bed.chat.probes))]
    rng.shuffle(places)
    for bed, number in places:
        if len(planted) == count:
            break
        others = tuple(other.chat for other in beds if other is not bed)
        # Planters see the text as it was: what is planted beside it is none of their business.
        site = Site(bed.chat, bed.chat.probes[number], others, rng)
        change = planter(site)
        if change is not None and (found := _put(bed, kind, planter.__name__, site, change)):
            planted.append(found)
    return planted


def _put(bed: _Bed, kind: str, variety: str, site: Site, change: Change) -> Planted | None:
    """Put the rows in place, unless something is there already that they would touch."""
    own = [change.probe["probe_id"]] if change.probe else []
    names = frozenset([*own, *(m["message_key"] for m in change.messages), *change.twins])
    excused = _excused(bed.chat, site.probe, change) - names
    cited = {e["message_key"] for p in bed.probes if p["probe_id"] in names for e in p["evidence"]}
    if names & (bed.taken | bed.excused) or excused & bed.taken or (cited - names) & _said_otherwise(bed):
        return None
    shown = []
    if change.probe:
        number = bed.chat.probes.index(site.probe)
        shown.append(_difference(bed.probes[number], change.probe))
        bed.probes[number] = change.probe
    for message in change.messages:
        place = bed.chat.places[message["message_key"]]
        shown.append(_difference(bed.messages[place], message))
        bed.messages[place] = message
    bed.taken |= names
    bed.excused |= excused
    return Planted(kind, variety, bed.chat.conversation_id, names, excused, "; ".join(shown))


def _said_otherwise(bed: _Bed) -> set[str]:
    pairs = zip(bed.chat.messages, bed.messages, strict=True)
    return {after["message_key"] for before, after in pairs if before is not after}


def _excused(chat: Chat, probe: Row, change: Change) -> frozenset[str]:
    """Other probes about the same facts, and those that cite a message that has changed."""
    keys = {m["message_key"] for m in change.messages}
    facts = set(probe["fact_ids"]) if change.touches_facts else set()
    return frozenset(
        p["probe_id"]
        for p in chat.probes
        if facts & set(p["fact_ids"]) or keys & {e["message_key"] for e in p["evidence"]}
    )


def _difference(before: Any, after: Any, where: str = "") -> str:
    """Return the change for people to read: `rubric.0.text: "..." -> "..."`."""
    if isinstance(before, dict) and isinstance(after, dict):
        parts = [_difference(before[k], after[k], f"{where}.{k}") for k in before if before[k] != after.get(k)]
        return "; ".join(parts)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return "; ".join(_difference(b, a, f"{where}.{i}") for i, (b, a) in pairs if b != a)
    return f"{where.lstrip('.')}: {_short(before)} -> {_short(after)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-90:]}"
