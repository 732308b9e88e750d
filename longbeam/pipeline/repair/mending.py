"""Turns said anew: units of the stage `repair` that lie over the dialogue stage's, which stay as they are.

So a repaired turn changes nothing that other units hang on: later sub-plans, the token budget and probe candidates keep
their fingerprints, and nothing of them is paid for again. A unit counts while the turn it replaces is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from longbeam.generators.dialogue import DIALOGUE_PROMPTS, SubPlanMaterial
from longbeam.generators.mending import Place, mend_turn, turn_key, voice_bullet
from longbeam.generators.user_turns import USER_TURNS_PROMPTS
from longbeam.keys import BulletId, MessageKey, SubPlanKey, TurnKey, natural_order
from longbeam.models.asking import Asker
from longbeam.pipeline.repair.probes import REPAIR
from longbeam.pipeline.run.conversation import Conversation, PlanWork
from longbeam.pipeline.run.planning import plan_stage
from longbeam.pipeline.run.talking import materials_of, user_turns_stage
from longbeam.pipeline.run.unit_spec import UnitSpec
from longbeam.pipeline.run.units import Blocked, all_of
from longbeam.schemas.dialogue import Message
from longbeam.store.units import Failure, UnitStatus

MENDED_TURN = UnitSpec(REPAIR, Message, unversioned_prompts=(*USER_TURNS_PROMPTS, *DIALOGUE_PROMPTS))
"""A turn that was said anew counts for as long as the turn that it replaces is the same, whatever prompts become."""
MOST_TRIES = 3
"""Generations of one turn."""


@dataclass
class TurnFault:
    """What is wrong with a turn of a sealed conversation."""

    sealed: tuple[Message, ...] = ()
    """The turn as it is sealed; empty where one is to be found or added."""
    problems: dict[str, str] = field(default_factory=dict)
    """Message key to reason."""
    bullet_id: str = ""
    """The bullet that a turn is to say, in place of one that says nothing new."""

    @property
    def sub_plan_key(self) -> str:
        """`p0.s2`."""
        if self.bullet_id:
            return str(BulletId.parse(self.bullet_id).sub_plan)
        return str(MessageKey.parse(self.sealed[0].message_key).sub_plan)


def take_up_mended(c: Conversation) -> None:
    """Lay the turns that were said anew over the dialogues, as far as they replace what is there now."""
    turns: dict[str, list[Message]] = {}
    for message in c.units.log.units.records(REPAIR, Message):
        turns.setdefault(turn_key(message), []).append(message)
    c.mended = {}
    for key in sorted(turns, key=natural_order):
        unit = c.units.log.units.find(REPAIR, key)
        if unit is not None and unit.fingerprint == c.units.fingerprint(MENDED_TURN, _replaced(c, key)):
            c.mended[key] = tuple(turns[key])


async def mend_turns(c: Conversation, faults: Sequence[TurnFault]) -> list[str]:
    """Have turns said anew, each as a unit; return one line for each that could not be.

    Sub-plans are worked on at the same time, the turns of one after another, because each hears those before it.
    """
    take_up_mended(c)
    by_sub_plan: dict[str, list[TurnFault]] = {}
    for fault in faults:
        by_sub_plan.setdefault(fault.sub_plan_key, []).append(fault)
    materials = {
        m.sub_plan.key: (work, m)
        for work in c.plans
        if any(SubPlanKey.parse(key).plan_index == work.plan_index for key in by_sub_plan)
        for m in await _materials(c, work)
    }
    results = await all_of([_mend_sub_plan(c, *materials[key], faults) for key, faults in by_sub_plan.items()])
    take_up_mended(c)
    return [line for lines in results for line in lines]


async def _materials(c: Conversation, work: PlanWork) -> list[SubPlanMaterial]:
    """Out of the work log: what the dialogues of a plan were made from was let go with them."""
    await plan_stage(c, work.plan_index)
    await user_turns_stage(c, work.plan_index)
    materials = materials_of(c, work)
    work.let_go()
    return materials


async def _mend_sub_plan(
    c: Conversation, work: PlanWork, material: SubPlanMaterial, faults: Sequence[TurnFault]
) -> list[str]:
    failures = []
    taken = {turn_key(fault.sealed[0]) for fault in faults if fault.sealed}
    for fault in sorted(faults, key=_order):
        messages = c.messages_of(work.said[material.sub_plan.key])
        if fault.bullet_id and any(fault.bullet_id in m.bullet_ids for m in messages):
            continue  # said by now, and only not sealed yet
        if fault.bullet_id:
            fault = replace(fault, sealed=_spare_turn(material, messages, fault.bullet_id, taken))
        key = turn_key(fault.sealed[0]) if fault.sealed else _next_turn(messages, material.sub_plan.key)
        if (problem := await _mend(c, material, messages, key, fault)) is not None:
            failures.append(f"{fault.bullet_id or key}: {problem}")
    return failures


def _order(fault: TurnFault) -> tuple[bool, object]:
    return not fault.sealed, natural_order(fault.sealed[0].message_key if fault.sealed else fault.bullet_id)


def _spare_turn(
    material: SubPlanMaterial, messages: Sequence[Message], bullet_id: str, taken: set[str]
) -> tuple[Message, ...]:
    """The first turn that voices nothing, behind the bullets before this one and not before its day; or none."""
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


def _next_turn(messages: Iterable[Message], sub_plan_key: str) -> str:
    return str(SubPlanKey.parse(sub_plan_key).turn(max((m.turn_index or 0 for m in messages), default=-1) + 1))


async def _mend(
    c: Conversation, material: SubPlanMaterial, messages: Sequence[Message], key: str, fault: TurnFault
) -> str | None:
    log = c.units.log
    unit = log.units.find(REPAIR, key)
    made = c.mended.get(key)
    if unit is not None and unit.status is UnitStatus.DONE and made is not None:
        if _texts(made) != _texts(fault.sealed):
            return None  # it was said anew and is only not sealed yet: the run that made it was stopped
        if unit.generation + 1 >= MOST_TRIES:
            return f"said anew {MOST_TRIES} times, and the checks refused each"
        log.units.fail(
            REPAIR,
            key,
            Failure(
                fingerprint=unit.fingerprint,
                error_kind="refused",
                error="; ".join(fault.problems.values()),
                attempts=1,
            ),
        )
    elif unit is not None and unit.generation >= MOST_TRIES:
        return unit.error
    before = tuple(m for m in messages if natural_order(turn_key(m)) < natural_order(key))
    place = Place(material, before, frozenset(m.content for m in (*messages, *fault.sealed)))

    async def say(asker: Asker, _: object) -> Sequence[Message]:
        if not fault.bullet_id:
            return await mend_turn(asker, c.tokenizer, place, fault.sealed, fault.problems)
        (reason,) = fault.problems.values()
        return await voice_bullet(asker, c.tokenizer, place, fault.bullet_id, reason, fault.sealed)

    try:
        c.mended[key] = await c.units.run(MENDED_TURN, key, _replaced(c, key), work=say)
    except Blocked:
        failed = log.units.find(REPAIR, key)
        return failed.error if failed is not None else "it could not be said anew"
    return None


def _replaced(c: Conversation, key: str) -> list[Message] | str:
    """Return the turn that a unit replaces, as its dialogue left it; for a new turn, the digest of its dialogue."""
    sub_plan = TurnKey.parse(key).sub_plan
    said = c.plans[sub_plan.plan_index].said[str(sub_plan)]
    turn = [m for m in c.first_said(said) if turn_key(m) == key]
    return turn or said.digest


def _texts(turn: Iterable[Message]) -> list[str]:
    return [m.content for m in turn]
