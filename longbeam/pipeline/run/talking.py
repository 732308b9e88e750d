"""The text of one plan: its user turns, its dialogues, and what is left of its budget settled in the plan's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from longbeam.generators import (
    DETECTOR_PROMPTS,
    SPEAKING_PROMPTS,
    USER_TURNS_PROMPTS,
    WORDING_PROMPTS,
    SubPlanMaterial,
    TurnBatch,
    TurnScene,
    batches_of,
    extend,
    last_questions,
    ordered_turns,
    talk,
    without_repeats,
    write_user_turns,
)
from longbeam.keys import DialogueKey, SubPlanKey, UnitKey
from longbeam.models import Asker, Tokenizer
from longbeam.pipeline.run.conversation import (
    Conversation,
    PackedTurns,
    PlannedTurns,
    PlanResult,
    SubPlanDialogue,
    SubPlanPlace,
    TalkedPlan,
    first_said,
)
from longbeam.pipeline.run.gaps import Gap
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import DIALOGUE, Blocked, all_of
from longbeam.pipeline.tuning import RUNNING
from longbeam.schemas import CLOSING, Message, SubPlan, TurnWriting, UserTurn

USER_TURNS = UnitSpec("user_turns", UserTurn, USER_TURNS_PROMPTS, version=2, tries=2)
TALK = UnitSpec(DIALOGUE, Message, SPEAKING_PROMPTS, unversioned_prompts=DETECTOR_PROMPTS, tries=1)
"""A detector decides how a dialogue goes on, and nothing about the gold: finished dialogues outlive a new detector."""
WORDED_TALK = TALK.asking(*WORDING_PROMPTS)
"""A dialogue that words the planned turns; a checker judges the wordings."""


async def user_turns_stage(c: Conversation, made: PlanResult) -> PlannedTurns:
    """Have the turns of all sub-plans of a plan written at once: they need the plan only."""
    plan = made.plan
    written = await all_of([_turns(c, made, sub_plan) for sub_plan in plan.sub_plans])
    turns, before, texts = {}, {}, set[str]()
    asked: tuple[str, ...] = ()
    for sub_plan, own in zip(plan.sub_plans, written, strict=True):
        c.units.gaps.expect(f"turns of {sub_plan.key}", len(own))
        ordered = ordered_turns(sub_plan, without_repeats(own, texts))
        turns[sub_plan.key], before[sub_plan.key] = PackedTurns.of(ordered, c.turns_file), asked
        asked = last_questions(asked, ordered)
    return PlannedTurns(made, turns, before)


async def _turns(c: Conversation, made: PlanResult, sub_plan: SubPlan) -> list[UserTurn]:
    """Return the turns of a sub-plan, batch after batch: each is shown what those before it ask and paste."""
    turns: list[UserTurn] = []
    names = made.stages[sub_plan.sub_plan_index].names_known
    for batch in batches_of(sub_plan, made.layout, c.units.spec.turn_lengths):
        turns += await _batch(c, made, sub_plan, batch.behind(sub_plan, turns, names))
    return turns


async def _batch(c: Conversation, made: PlanResult, sub_plan: SubPlan, batch: TurnBatch) -> tuple[UserTurn, ...]:
    stage, key = made.stages[sub_plan.sub_plan_index], f"{sub_plan.key}.b{batch.batch_index}"
    follows = {b.bullet_id: made.follows[b.bullet_id] for b in sub_plan.bullets if made.follows.get(b.bullet_id)}
    scene = TurnScene(made.frame, made.ledger, stage, sub_plan, made.plan.advice, follows)
    left_out = Gap[UserTurn](parts=batch.questions)
    return await c.units.run_or(USER_TURNS, key, scene, batch, work=write_user_turns, otherwise=left_out)


async def dialogue_stage(c: Conversation, planned: PlannedTurns) -> TalkedPlan:
    """Have all sub-plans' dialogues at once; then settle what is left of the plan's budget in its order."""
    made, shares = planned.plan, _shares(planned)
    sub_plans = made.plan.sub_plans
    found = await all_of([_dialogue(c, planned, s, shares[s.key]) for s in sub_plans])
    dialogues = {s.key: dialogue for s, dialogue in zip(sub_plans, found, strict=True)}
    await _settle(c, made.target, materials_of(planned), dialogues)
    return TalkedPlan(made.plan_index, made.target, made.frame.narratives, dialogues)


def materials_of(planned: PlannedTurns) -> list[SubPlanMaterial]:
    """Return what the dialogue of each sub-plan is made from."""
    shares = _shares(planned)
    return [_material(planned, s, shares[s.key]) for s in planned.plan.plan.sub_plans]


def _shares(planned: PlannedTurns) -> dict[str, int]:
    made = planned.plan
    return shares_of({s.key: planned.turns[s.key].count for s in made.plan.sub_plans}, made.target)


def _material(planned: PlannedTurns, sub_plan: SubPlan, share: int) -> SubPlanMaterial:
    made = planned.plan
    return SubPlanMaterial(
        frame=made.frame,
        ledger=made.ledger,
        stage=made.stages[sub_plan.sub_plan_index],
        sub_plan=sub_plan,
        turns=planned.turns[sub_plan.key].unpacked(),
        share=share,
        first_session=made.first_session,
        earlier_plans=made.earlier_plans,
        advice=made.plan.advice,
        asked=planned.asked[sub_plan.key],
    )


async def _dialogue(c: Conversation, planned: PlannedTurns, sub_plan: SubPlan, share: int) -> SubPlanDialogue:
    key = sub_plan.key
    if not planned.turns[key].count:  # nothing of the sub-plan could be written
        return SubPlanDialogue.of(key, (), (), SubPlanPlace(sub_plan, c.turns_file))
    async with c.schedule.dialogue(UnitKey(c.conversation_id, DIALOGUE, key), share):
        # Unpacked once it may go: the turns of dialogues that wait stay packed.
        material = _material(planned, sub_plan, share)
        messages = await c.units.run_or(
            _talk_unit(c), key, _tokenizer(c), material, work=_talk, otherwise=Gap[Message]()
        )
    return SubPlanDialogue.of(key, material.turns, messages, SubPlanPlace(sub_plan, c.turns_file))


async def _settle(
    c: Conversation, target: int, materials: Sequence[SubPlanMaterial], dialogues: dict[str, SubPlanDialogue]
) -> None:
    """Extend dialogues, in place, until the plan has its target."""
    materials = [m for m in materials if dialogues[m.sub_plan.key].messages]
    # Nothing is said behind the end of the story, as long as there is another place for it.
    open_ended = [m for m in materials if m.sub_plan.bullets[-1].variety != CLOSING] or materials
    for round_ in range(RUNNING.settle_rounds):
        for i, material in enumerate(open_ended):
            short = target - sum(dialogue.tokens for dialogue in dialogues.values())
            if short <= RUNNING.settled_share * target:
                return
            key = material.sub_plan.key
            # The first pass shares what is left among the sub-plans to come, later ones give it to the first.
            part = -(-short // (len(open_ended) - i)) if round_ == 0 else short
            first = dialogues[key]
            dialogues[key] = await _extension(c, replace(material, share=first.tokens + part), first, round_)


async def _extension(
    c: Conversation, material: SubPlanMaterial, first: SubPlanDialogue, round_: int
) -> SubPlanDialogue:
    # Read by the work and not before: an extension that is done needs no messages.
    read: Digested[Callable[[], Sequence[Message]]] = Digested(partial(first_said, c, first), first.digest)
    key = str(DialogueKey(SubPlanKey.parse(material.sub_plan.key), round_))
    try:
        messages = await c.units.run(_talk_unit(c), key, _tokenizer(c), material, read, work=_extend)
    except Blocked as exc:
        if not exc.is_gap:
            raise
        return first  # the dialogue stays as long as it is
    return SubPlanDialogue.of(key, material.turns, messages, SubPlanPlace(material.sub_plan, c.turns_file))


async def _extend(
    asker: Asker,
    tokenizer: Digested[Tokenizer],
    material: SubPlanMaterial,
    first: Digested[Callable[[], Sequence[Message]]],
) -> Sequence[Message]:
    return await extend(asker, tokenizer.value, material, first.value())


def _talk_unit(c: Conversation) -> UnitSpec[Message]:
    return WORDED_TALK if c.units.spec.turns is TurnWriting.IN_DIALOGUE else TALK


def _tokenizer(c: Conversation) -> Digested[Tokenizer]:
    return Digested(c.tokenizer, c.tokenizer.name)


async def _talk(asker: Asker, tokenizer: Digested[Tokenizer], material: SubPlanMaterial) -> Sequence[Message]:
    return await talk(asker, tokenizer.value, material)


def shares_of(turns: Mapping[str, int], target: int) -> dict[str, int]:
    """Divide a plan's target over its sub-plans in proportion to their turns, to the token."""
    total = max(sum(turns.values()), 1)
    shares, given, seen = {}, 0, 0
    for key, count in turns.items():
        seen += count
        shares[key] = target * seen // total - given
        given += shares[key]
    return shares
