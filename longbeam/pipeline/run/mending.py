"""Regenerated turns: units of the stage `repair` that replace turns of the dialogue stage when messages are read.

The units of the dialogue stage stay unchanged. So the units that depend on them (later sub-plans, the token budget,
probe candidates) keep their fingerprints and are not paid for again. A unit counts while the turn that it replaces is
the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from longbeam.generators import (
    DIALOGUE_PROMPTS,
    USER_TURNS_PROMPTS,
    SubPlanMaterial,
    TurnPlace,
    mend_turn,
    turn_key,
    voice_bullet,
)
from longbeam.keys import REPAIR, BulletId, MessageKey, SubPlanKey, TurnKey, natural_order
from longbeam.models import Asker
from longbeam.pipeline.run.conversation import TalkedConversation
from longbeam.pipeline.run.planning import plan_stage
from longbeam.pipeline.run.talking import materials_of, user_turns_stage
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, all_of
from longbeam.pipeline.tuning import RUNNING
from longbeam.schemas import Message
from longbeam.store import Failure, UnitStatus, WorkLog

MENDED_TURN = UnitSpec(REPAIR, Message, unversioned_prompts=(*USER_TURNS_PROMPTS, *DIALOGUE_PROMPTS))
"""A regenerated turn counts while the turn that it replaces is the same, even if the prompts change."""


@dataclass
class TurnFault:
    """The problems of a turn of a sealed conversation, or of a bullet that no turn voices."""

    sealed: tuple[Message, ...] = ()
    """The turn's sealed messages; empty for a bullet whose turn is still to be chosen or added."""
    problems: dict[str, str] = field(default_factory=dict)
    """Reasons by message key, or by bullet id."""
    bullet_id: str = ""
    """The bullet to voice in place of a turn that voices none; empty for a fault of a turn."""

    @property
    def sub_plan(self) -> SubPlanKey:
        """Key of the sub-plan of the turn or the bullet."""
        if self.bullet_id:
            return BulletId.parse(self.bullet_id).sub_plan
        return MessageKey.parse(self.sealed[0].message_key).sub_plan


def with_mended_turns(talked: TalkedConversation) -> TalkedConversation:
    """Return the conversation with its regenerated turns, without those whose original turn has changed since."""
    units = talked.conversation.units
    turns: dict[str, list[Message]] = {}
    for message in units.log.units.records(REPAIR, Message):
        turns.setdefault(turn_key(message), []).append(message)
    mended = {}
    for key in sorted(turns, key=natural_order):
        unit = units.log.units.find(REPAIR, key)
        if unit is not None and unit.fingerprint == units.fingerprint(MENDED_TURN, _replaced(talked, key)):
            mended[key] = tuple(turns[key])
    return replace(talked, mended=mended)


async def mend_turns(talked: TalkedConversation, faults: Sequence[TurnFault]) -> tuple[TalkedConversation, list[str]]:
    """Regenerate turns, each as a unit; return the conversation with them, and a line for each failure.

    Sub-plans run at the same time. The turns of one run in order, because each prompt contains the turns before.
    """
    talked = with_mended_turns(talked)
    by_sub_plan: dict[SubPlanKey, list[TurnFault]] = {}
    for fault in faults:
        by_sub_plan.setdefault(fault.sub_plan, []).append(fault)
    materials = {
        m.sub_plan.key: m
        for plan_index in sorted({sub_plan.plan_index for sub_plan in by_sub_plan})
        for m in await _materials(talked, plan_index)
    }
    results = await all_of(
        [_mend_sub_plan(talked, materials[str(sub_plan)], faults) for sub_plan, faults in by_sub_plan.items()]
    )
    return with_mended_turns(talked), [line for lines in results for line in lines]


async def _materials(talked: TalkedConversation, plan_index: int) -> list[SubPlanMaterial]:
    """Return what the dialogues of a plan were made from, by running its stages again: their units are done."""
    c = talked.conversation
    return materials_of(await user_turns_stage(c, await plan_stage(c, talked.planning, plan_index)))


async def _mend_sub_plan(
    talked: TalkedConversation, material: SubPlanMaterial, faults: Sequence[TurnFault]
) -> list[str]:
    failures = []
    taken = {turn_key(fault.sealed[0]) for fault in faults if fault.sealed}
    dialogue = talked.plans[material.sub_plan.plan_index].dialogues[material.sub_plan.key]
    for fault in sorted(faults, key=_order):
        messages = talked.messages_of(dialogue)
        if fault.bullet_id and not messages:
            failures.append(f"{fault.bullet_id}: its sub-plan has no dialogue that could say it")
            continue
        if fault.bullet_id and any(fault.bullet_id in m.bullet_ids for m in messages):
            continue  # an earlier repair voiced it, and the conversation is not sealed again yet
        if fault.bullet_id:
            fault = replace(fault, sealed=_spare_turn(material, messages, fault.bullet_id, taken))
        key = turn_key(fault.sealed[0]) if fault.sealed else _next_turn(messages, fault.sub_plan)
        try:
            anew = await _mend(talked, material, messages, key, fault)
        except _NotMended as exc:
            failures.append(f"{fault.bullet_id or key}: {exc}")
        else:
            talked = replace(talked, mended={**talked.mended, key: anew})
    return failures


def _order(fault: TurnFault) -> tuple[bool, object]:
    return not fault.sealed, natural_order(fault.sealed[0].message_key if fault.sealed else fault.bullet_id)


def _spare_turn(
    material: SubPlanMaterial, messages: Sequence[Message], bullet_id: str, taken: set[str]
) -> tuple[Message, ...]:
    """Return the first turn that voices no bullet, after all earlier bullets and not before this one's day; or ()."""
    place = {b.bullet_id: i for i, b in enumerate(material.sub_plan.bullets)}
    day = material.sub_plan.bullets[place[bullet_id]].happens_on
    turns = [list(turn) for _, turn in groupby(messages, key=turn_key)]
    behind = 0
    for i, turn in enumerate(turns):
        if any(place.get(b, len(place)) < place[bullet_id] for b in turn[0].bullet_ids):
            behind = i + 1
    for turn in turns[behind:]:
        first = turn[0]
        if not first.bullet_ids and first.sent_at.date() >= day and turn_key(first) not in taken:
            return tuple(turn)
    return ()


def _next_turn(messages: Iterable[Message], sub_plan: SubPlanKey) -> str:
    return str(sub_plan.turn(max((m.turn_index or 0 for m in messages), default=-1) + 1))


class _NotMended(Exception):
    """A turn could not be regenerated."""


async def _mend(
    talked: TalkedConversation, material: SubPlanMaterial, messages: Sequence[Message], key: str, fault: TurnFault
) -> tuple[Message, ...]:
    """Return the regenerated turn; raises _NotMended with the reason."""
    c = talked.conversation
    if (made := _already_mended(c.units.log, key, talked.mended.get(key), fault)) is not None:
        return made
    before = tuple(m for m in messages if natural_order(turn_key(m)) < natural_order(key))
    place = TurnPlace(material, c.tokenizer, before, frozenset(m.content for m in (*messages, *fault.sealed)))

    anew = Digested(_SayAnew(place, fault), _replaced(talked, key))
    try:
        return await c.units.run(MENDED_TURN, key, anew, work=_say_anew)
    except Blocked as exc:
        failed = c.units.log.units.find(REPAIR, key)
        raise _NotMended(failed.error if failed is not None else "it could not be said anew") from exc


@dataclass(frozen=True)
class _SayAnew:
    """A turn to regenerate. Only the turn that it replaces is in the unit's fingerprint."""

    place: TurnPlace
    fault: TurnFault


async def _say_anew(asker: Asker, task: Digested[_SayAnew]) -> Sequence[Message]:
    place, fault = task.value.place, task.value.fault
    if not fault.bullet_id:
        return await mend_turn(asker, place, fault.sealed, fault.problems)
    (reason,) = fault.problems.values()
    return await voice_bullet(asker, place, fault.bullet_id, reason, fault.sealed)


def _already_mended(
    log: WorkLog, key: str, made: tuple[Message, ...] | None, fault: TurnFault
) -> tuple[Message, ...] | None:
    """Return the turn if it was regenerated and is not sealed yet; else open its unit for another try.

    Raises _NotMended when the unit has no try left.
    """
    unit = log.units.find(REPAIR, key)
    if unit is None:
        return None
    if unit.status is UnitStatus.DONE and made is not None:
        if _texts(made) != _texts(fault.sealed):
            return made  # the run that made it was stopped
        if unit.generation + 1 >= RUNNING.turn_tries:
            raise _NotMended(f"said anew {RUNNING.turn_tries} times, and the checks refused each")
        problems = "; ".join(fault.problems.values())
        failure = Failure(fingerprint=unit.fingerprint, error_kind="refused", error=problems, attempts=1)
        log.units.fail(REPAIR, key, failure)
    elif unit.generation >= RUNNING.turn_tries:
        raise _NotMended(unit.error)
    return None


def _replaced(talked: TalkedConversation, key: str) -> list[Message] | str:
    """Return the turn that a unit replaces, as its dialogue left it; for a new turn, the digest of its dialogue."""
    sub_plan = TurnKey.parse(key).sub_plan
    dialogue = talked.plans[sub_plan.plan_index].dialogues[str(sub_plan)]
    turn = [m for m in talked.first_said(dialogue) if turn_key(m) == key]
    return turn or dialogue.digest


def _texts(turn: Iterable[Message]) -> list[str]:
    return [m.content for m in turn]
