"""The text of one plan: its user turns, its dialogues, and what is left of its budget settled in the plan's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from longbeam.generators.dialogue import DIALOGUE_PROMPTS, SubPlanMaterial, extend, talk
from longbeam.generators.ledger import Ledger
from longbeam.generators.user_turns import (
    USER_TURNS_PROMPTS,
    Batch,
    batches_of,
    ordered_turns,
    without_repeats,
    write_user_turns,
)
from longbeam.keys import DialogueKey, SubPlanKey
from longbeam.models.asking import Asker
from longbeam.models.tokens import Tokenizer
from longbeam.pipeline.run.conversation import Conversation, PackedTurns, PlanWork, Said
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import DIALOGUE, all_of
from longbeam.schemas.dialogue import Message, UserTurn
from longbeam.schemas.plans import CLOSING, SubPlan

SETTLE_ROUNDS = 3
"""Passes over the sub-plans that use up what their dialogues left of the budget."""
TOLERANCE = 0.004
"""Share of the target below which nothing more is settled; the promise is 2 %."""
USER_TURNS = UnitSpec("user_turns", UserTurn, USER_TURNS_PROMPTS)
TALK = UnitSpec(DIALOGUE, Message, DIALOGUE_PROMPTS)


async def user_turns_stage(c: Conversation, plan_index: int) -> None:
    """All batches of all sub-plans of a plan at once: they need the plan only."""
    work = c.plans[plan_index]
    plan, ledger = work.the_plan, c.ledger_of(work)
    batches = [(s, b) for s in plan.sub_plans for b in batches_of(s, work.the_layout)]
    written = await all_of([_batch(c, work, ledger, sub_plan, batch) for sub_plan, batch in batches])
    asked: set[str] = set()
    for sub_plan in plan.sub_plans:
        turns = [t for (s, _), group in zip(batches, written, strict=True) if s is sub_plan for t in group]
        work.turns[sub_plan.key] = PackedTurns.of(ordered_turns(sub_plan, without_repeats(turns, asked)), c.turns_file)


async def _batch(
    c: Conversation, work: PlanWork, ledger: Ledger, sub_plan: SubPlan, batch: Batch
) -> tuple[UserTurn, ...]:
    frame, stage = work.the_frame, work.stages[sub_plan.sub_plan_index]
    key = f"{sub_plan.key}.b{batch.batch_index}"
    return await c.units.run(USER_TURNS, key, frame, ledger, stage, sub_plan, batch, work=write_user_turns)


async def dialogue_stage(c: Conversation, plan_index: int) -> None:
    """All sub-plans' dialogues at once; then what is left of the plan's budget is settled in its order."""
    work = c.plans[plan_index]
    ledger, shares = c.ledger_of(work), _shares(work)
    sub_plans = work.the_plan.sub_plans
    said = await all_of([_dialogue(c, work, ledger, s, shares[s.key]) for s in sub_plans])
    work.said = {s.key: what for s, what in zip(sub_plans, said, strict=True)}
    await _settle(c, work, materials_of(c, work))
    work.let_go()


def materials_of(c: Conversation, work: PlanWork) -> list[SubPlanMaterial]:
    """What the dialogue of each sub-plan is made from."""
    ledger, shares = c.ledger_of(work), _shares(work)
    return [_material(work, ledger, s, shares[s.key]) for s in work.the_plan.sub_plans]


def _shares(work: PlanWork) -> dict[str, int]:
    return shares_of({s.key: work.turns[s.key].count for s in work.the_plan.sub_plans}, work.target)


def _material(work: PlanWork, ledger: Ledger, sub_plan: SubPlan, share: int) -> SubPlanMaterial:
    return SubPlanMaterial(
        frame=work.the_frame,
        ledger=ledger,
        stage=work.stages[sub_plan.sub_plan_index],
        sub_plan=sub_plan,
        turns=work.turns[sub_plan.key].unpacked(),
        share=share,
        first_session=work.first_session,
        earlier_plans=work.earlier_plans,
    )


async def _dialogue(c: Conversation, work: PlanWork, ledger: Ledger, sub_plan: SubPlan, share: int) -> Said:
    key = sub_plan.key
    async with c.schedule.dialogue(f"{c.conversation_id}/dialogue/{key}", share):
        material = _material(work, ledger, sub_plan, share)
        messages = await c.units.run(TALK, key, _tokenizer(c), material, work=_talk)
    return Said.of(key, material.turns, messages, c.turns_file)


async def _settle(c: Conversation, work: PlanWork, materials: Sequence[SubPlanMaterial]) -> None:
    target = work.target
    # Nothing is said behind the end of the story, as long as there is another place for it.
    open_ended = [m for m in materials if m.sub_plan.bullets[-1].variety != CLOSING] or materials
    for round_ in range(SETTLE_ROUNDS):
        for i, material in enumerate(open_ended):
            short = target - work.tokens
            if short <= TOLERANCE * target:
                return
            key = material.sub_plan.key
            # The first pass shares what is left among the sub-plans to come, later ones give it to the first.
            part = -(-short // (len(open_ended) - i)) if round_ == 0 else short
            said = work.said[key]
            work.said[key] = await _extension(c, replace(material, share=said.tokens + part), said, round_)


async def _extension(c: Conversation, material: SubPlanMaterial, said: Said, round_: int) -> Said:
    async def write(
        asker: Asker, tokenizer: Digested[Tokenizer], material: SubPlanMaterial, said: Said
    ) -> Sequence[Message]:
        # Read from the work log here and not before: an extension that is done needs no messages.
        return await extend(asker, tokenizer.value, material, c.first_said(said))

    key = str(DialogueKey(SubPlanKey.parse(material.sub_plan.key), round_))
    messages = await c.units.run(TALK, key, _tokenizer(c), material, said, work=write)
    return Said.of(key, material.turns, messages, c.turns_file)


def _tokenizer(c: Conversation) -> Digested[Tokenizer]:
    return Digested(c.tokenizer, c.tokenizer.name)


async def _talk(asker: Asker, tokenizer: Digested[Tokenizer], material: SubPlanMaterial) -> Sequence[Message]:
    return await talk(asker, tokenizer.value, material)


def shares_of(turns: Mapping[str, int], target: int) -> dict[str, int]:
    """Divide a plan's target over its sub-plans in proportion to their turns, to the token."""
    total = sum(turns.values())
    shares, given, seen = {}, 0, 0
    for key, count in turns.items():
        seen += count
        shares[key] = target * seen // total - given
        given += shares[key]
    return shares
