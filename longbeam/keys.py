"""Keys and ids of records: parse, format and order them. No other module takes a key apart.

A key is stored and exported as text, and read here where one of its parts is needed. Keys are named tuples, so they
compare part by part: `p0.s2` comes before `p0.s10`. `parse` raises ValueError for text that is no such key.

| key | text | names |
|---|---|---|
| `SubPlanKey` | `p0.s2` | plan, sub-plan |
| `TurnKey` | `p0.s2.t5` | a user's turn of a sub-plan |
| `MessageKey` | `p0.s2.t5.n0` | a message of a turn |
| `BulletId` | `p0.s2.b7` | a bullet of a sub-plan |
| `AdviceId` | `p0.s2.a1` | something that the assistant brings in, in a sub-plan |
| `FactId` | `p0.f12` | a fact of a plan |
| `DialogueKey` | `p0.s2`, `p0.s2.settle1` | a dialogue unit: a sub-plan's dialogue, or an extension of it |
| `ProbeId` | `knowledge_update.3` | ability and rank |
| `NuggetId` | `knowledge_update.3.n0` | a nugget of a probe's rubric |
| `ItemId` | `c000/knowledge_update.3` | a probe of a conversation, as the review names it |
| `UnitKey` | `c000/dialogue/p0.s2/t5.n1` | conversation, stage, unit, and a call's place in the unit |

Probe ids of imports and of probes written by hand have other forms: `ProbeId.parse` takes what stands before the last
dot for the ability, and `ItemId` takes any probe id.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

TEXT_STAGES = ("persona", "plan", "user_turns", "dialogue")
"""Stages that make the text; their failed units are gaps."""
PROBES = "probes"
STAGES = (*TEXT_STAGES, PROBES, "seal")
"""Stages of units, as work logs and `status` name them. `plan`, `user_turns` and `dialogue` are run plan by plan."""
REPAIR = "repair"
"""Stage of the work log that holds what repair made and decided."""
_SETTLE = ".settle"
_NUMBERS = re.compile(r"([0-9]+)")


def natural_order(key: str) -> tuple[list[str | int], str]:
    """Return a sort key for text with numbers in it: `p0.s2` sorts before `p0.s10`."""
    parts = _NUMBERS.split(key)
    # Text and numbers alternate, text first, so two keys never compare a number with text.
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], key


def plan_index_of(key: str) -> int:
    """Return the plan of any key that begins with one: `p3.f12`, `p3.s2`, `p3.s2.b7`, `p3.s2.t5.n0`."""
    return int(_numbers(key.partition(".")[0], "p")[0])


def _numbers(text: str, letters: str) -> list[int]:
    """Return the numbers of `p0.s2.t5` for the letters `pst`."""
    parts = text.split(".")
    if len(parts) == len(letters) and all(
        part[:1] == letter and part[1:].isdecimal() and part.isascii()
        for part, letter in zip(parts, letters, strict=True)
    ):
        return [int(part[1:]) for part in parts]
    form = ".".join(f"{letter}0" for letter in letters)
    raise ValueError(f"{text!r} is no key of the form {form}")


class SubPlanKey(NamedTuple):
    """`p0.s2`: a sub-plan of a plan."""

    plan_index: int
    sub_plan_index: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key that `text` writes."""
        return cls(*_numbers(text, "ps"))

    def __str__(self) -> str:
        return f"p{self.plan_index}.s{self.sub_plan_index}"

    def turn(self, turn_index: int) -> TurnKey:
        """Return the key of a turn of this sub-plan."""
        return TurnKey(*self, turn_index)

    def advice(self, ordinal: int) -> AdviceId:
        """Return the id of something that the assistant brings in, in this sub-plan."""
        return AdviceId(*self, ordinal)

    def bullet(self, ordinal: int) -> BulletId:
        """Return the id of a bullet of this sub-plan."""
        return BulletId(*self, ordinal)


class TurnKey(NamedTuple):
    """`p0.s2.t5`: a turn of the user's in a sub-plan."""

    plan_index: int
    sub_plan_index: int
    turn_index: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key that `text` writes."""
        return cls(*_numbers(text, "pst"))

    def __str__(self) -> str:
        return f"{self.sub_plan}.t{self.turn_index}"

    @property
    def sub_plan(self) -> SubPlanKey:
        """Key of the turn's sub-plan."""
        return SubPlanKey(self.plan_index, self.sub_plan_index)

    def message(self, ordinal: int) -> MessageKey:
        """Return the key of a message of this turn."""
        return MessageKey(*self, ordinal)


class MessageKey(NamedTuple):
    """`p0.s2.t5.n0`: a message of a turn; stable through repair and resume."""

    plan_index: int
    sub_plan_index: int
    turn_index: int
    ordinal: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key that `text` writes."""
        return cls(*_numbers(text, "pstn"))

    def __str__(self) -> str:
        return f"{self.turn}.n{self.ordinal}"

    @property
    def turn(self) -> TurnKey:
        """Key of the message's turn."""
        return TurnKey(self.plan_index, self.sub_plan_index, self.turn_index)

    @property
    def sub_plan(self) -> SubPlanKey:
        """Key of the message's sub-plan."""
        return SubPlanKey(self.plan_index, self.sub_plan_index)


class BulletId(NamedTuple):
    """`p0.s2.b7`: a bullet of a sub-plan."""

    plan_index: int
    sub_plan_index: int
    ordinal: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the id that `text` writes."""
        return cls(*_numbers(text, "psb"))

    def __str__(self) -> str:
        return f"{self.sub_plan}.b{self.ordinal}"

    @property
    def sub_plan(self) -> SubPlanKey:
        """Key of the bullet's sub-plan."""
        return SubPlanKey(self.plan_index, self.sub_plan_index)


class AdviceId(NamedTuple):
    """`p0.s2.a1`: something that the assistant brings in, in a sub-plan."""

    plan_index: int
    sub_plan_index: int
    ordinal: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the id that `text` writes."""
        return cls(*_numbers(text, "psa"))

    def __str__(self) -> str:
        return f"{SubPlanKey(self.plan_index, self.sub_plan_index)}.a{self.ordinal}"

    @classmethod
    def names(cls, text: str) -> bool:
        """Return whether a text is such an id, and not that of a bullet."""
        return text.rpartition(".")[2].startswith("a")


class FactId(NamedTuple):
    """`p0.f12`: a fact of a plan."""

    plan_index: int
    ordinal: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the id that `text` writes."""
        return cls(*_numbers(text, "pf"))

    def __str__(self) -> str:
        return f"p{self.plan_index}.f{self.ordinal}"


class DialogueKey(NamedTuple):
    """`p0.s2` or `p0.s2.settle1`: a unit of the dialogue stage.

    `round` counts the extensions that use up what is left of the budget; None is the dialogue itself.
    """

    sub_plan: SubPlanKey
    round: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key that `text` writes."""
        sub_plan, settle, round_ = text.partition(_SETTLE)
        if settle and not (round_.isascii() and round_.isdecimal()):
            raise ValueError(f"{text!r} is no key of the form p0.s0.settle0")
        return cls(SubPlanKey.parse(sub_plan), int(round_) if settle else None)

    def __str__(self) -> str:
        return str(self.sub_plan) if self.round is None else f"{self.sub_plan}{_SETTLE}{self.round}"


class ProbeId(NamedTuple):
    """`knowledge_update.3`: the ability and the rank of a generated probe among those of its ability."""

    ability: str
    rank: str
    """A number for generated probes; imports and probes written by hand may have other text."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the id that `text` writes; the ability is empty where there is no dot."""
        ability, _, rank = text.rpartition(".")
        return cls(ability, rank)

    def __str__(self) -> str:
        return f"{self.ability}.{self.rank}"


class NuggetId(NamedTuple):
    """`knowledge_update.3.n0`: a nugget of a probe's rubric."""

    probe_id: str
    ordinal: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the id that `text` writes."""
        probe_id, n, ordinal = text.rpartition(".n")
        if not n or not (ordinal.isascii() and ordinal.isdecimal()):
            raise ValueError(f"{text!r} is no key of the form PROBE.n0")
        return cls(probe_id, int(ordinal))

    def __str__(self) -> str:
        return f"{self.probe_id}.n{self.ordinal}"


class ItemId(NamedTuple):
    """`c000/knowledge_update.3`: a probe of a conversation, as the review names it."""

    conversation_id: str
    probe_id: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the id that `text` writes; a probe id may hold further slashes."""
        conversation_id, slash, probe_id = text.partition("/")
        if not slash:
            raise ValueError(f"{text!r} is no item; an item is CONVERSATION/PROBE")
        return cls(conversation_id, probe_id)

    def __str__(self) -> str:
        return f"{self.conversation_id}/{self.probe_id}"


def conversation_of(subject_id: str) -> str:
    """Return the conversation of a subject of the review: an item (`c000/abstention.0`) or a conversation (`c000`)."""
    return subject_id.partition("/")[0]


class UnitKey(NamedTuple):
    """`c000/dialogue/p0.s2/t5.n1`: who asks a model: conversation, stage, unit, and the call's place in the unit."""

    conversation_id: str
    stage: str
    unit: str = ""
    place: str = ""
    """Empty for the unit itself; may hold further slashes."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key that `text` writes. Raises ValueError if it names no stage."""
        parts = text.split("/", 3)
        if len(parts) < 2 or not parts[1]:
            raise ValueError(f"unit key {text!r} names no stage; it is conversation/stage/unit/place")
        return cls(*parts)

    def __str__(self) -> str:
        parts = [self.conversation_id, self.stage, self.unit, self.place]
        while len(parts) > 2 and not parts[-1]:
            parts.pop()
        return "/".join(parts)

    @property
    def without_place(self) -> UnitKey:
        """The key of the unit, without the place of a call in it."""
        return self._replace(place="")

    def at(self, place: str) -> UnitKey:
        """Return the key of a call at a place in this unit, or within the place that this key names."""
        return self._replace(place=f"{self.place}/{place}" if self.place else place)
