"""The stages of one conversation, each a set of units: persona, plan, user turns, dialogue, probes, seal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longbeam.generators.augmentation import (
    AUGMENT_PROMPTS,
    Augmented,
    augmented_plan,
    choose_targets,
    write_special_bullets,
)
from longbeam.generators.dialogue import DIALOGUE_PROMPTS, SubPlanMaterial, extend, talk
from longbeam.generators.layout import Layout
from longbeam.generators.ledger import Ledger
from longbeam.generators.persona import (
    NARRATIVE_PROMPTS,
    PERSONALITY_PROMPTS,
    write_narratives,
    write_personality,
)
from longbeam.generators.plans import (
    OUTLINE_PROMPTS,
    SUB_PLAN_PROMPTS,
    Drafted,
    Frame,
    plan_of,
    stages_of,
    write_outline,
    write_sub_plan,
)
from longbeam.generators.profiles import MBTI_TRAITS, draw_profile
from longbeam.generators.relationships import draw_relationships
from longbeam.generators.seeds import draw_timeline
from longbeam.generators.user_turns import (
    MORE_TURNS_PROMPTS,
    USER_TURNS_PROMPTS,
    batches_of,
    ordered_turns,
    write_user_turns,
)
from longbeam.models.tokens import Tokenizer
from longbeam.pipeline.probing import write_probe_pool
from longbeam.pipeline.units import Units, all_of
from longbeam.schemas.base import Record, digest_of
from longbeam.schemas.calls import Stage
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message, UserTurn
from longbeam.schemas.plans import Narrative, Plan
from longbeam.schemas.probes import Probe
from longbeam.schemas.seeds import Seed
from longbeam.schemas.spec import Role
from longbeam.store.artifacts import seal_conversation

SETTLE_ROUNDS = 3
"""Passes over the sub-plans that use up what their dialogues left of the budget."""
TOLERANCE = 0.004
"""Share of the target below which nothing more is settled; the promise is 2 %."""


class Sealed(Record):
    """That a conversation was sealed, and how large it is."""

    messages: int
    tokens: int
    probes: int


@dataclass
class Conversation:
    """One conversation on its way; each stage fills in what the next ones read."""

    conversation_id: str
    index: int
    seed: Seed
    layout: Layout
    units: Units
    tokenizer: Tokenizer
    sealed_path: Path
    frame: Frame | None = None
    stages: tuple[Stage, ...] = ()
    plan: Plan | None = None
    turns: dict[str, tuple[UserTurn, ...]] = field(default_factory=dict)
    dialogue: dict[str, tuple[Message, ...]] = field(default_factory=dict)
    probes: tuple[Probe, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of the messages so far."""
        return sum(m.tokens for messages in self.dialogue.values() for m in messages)

    @property
    def rng_key(self) -> str:
        """Where randomness of code comes from."""
        return f"{self.units.spec.seed}/{self.conversation_id}"

    def messages(self) -> tuple[Message, ...]:
        """All messages in the order of the story, numbered."""
        ordered = (m for s in self.the_plan.sub_plans for m in self.dialogue[s.key])
        return tuple(m.model_copy(update={"message_id": i}) for i, m in enumerate(ordered))

    @property
    def the_frame(self) -> Frame:
        """The frame; an error in the order of stages if it is not there."""
        if self.frame is None:
            raise RuntimeError("the persona stage has not run")
        return self.frame

    @property
    def the_plan(self) -> Plan:
        """The augmented plan; an error in the order of stages if it is not there."""
        if self.plan is None:
            raise RuntimeError("the plan stage has not run")
        return self.plan

    def head(self) -> ConversationHead:
        """All but messages and probes."""
        frame = self.the_frame
        return ConversationHead(
            conversation_id=self.conversation_id,
            seed=frame.seed,
            profile=frame.profile,
            relationships=frame.relationships,
            narratives=frame.narratives,
            plans=(self.the_plan,),
            user_turns=tuple(t for s in self.the_plan.sub_plans for t in self.turns[s.key]),
            target_tokens=self.units.spec.length,
            tokenizer=self.units.spec.tokenizer,
        )


async def persona_stage(c: Conversation) -> None:
    """Timeline, profile, relationships by code; personality and narratives by a model."""
    spec = c.units.spec
    seed = c.seed
    if seed.timeline is None:
        seed = seed.model_copy(update={"timeline": draw_timeline(spec.seed, c.index, seed, c.layout.sub_plans)})
        seed.__dict__.pop("digest", None)
    drawn = draw_profile(spec.seed, c.index)
    personality = c.units.run(
        "persona",
        "personality",
        record=type(drawn),
        needs=[drawn],
        prompts=PERSONALITY_PROMPTS,
        roles=[Role.WRITER],
        work=lambda asker: _one(write_personality(asker, drawn, MBTI_TRAITS)),
    )
    narratives = c.units.run(
        "persona",
        "narratives",
        record=Narrative,
        needs=[seed],
        prompts=NARRATIVE_PROMPTS,
        roles=[Role.WRITER],
        work=lambda asker: write_narratives(asker, seed),
    )
    profiles, found = await asyncio.gather(personality, narratives)
    c.frame = Frame(
        seed=seed,
        profile=profiles[0],
        relationships=draw_relationships(spec.seed, c.index, drawn),
        narratives=found,
    )
    assert seed.timeline is not None
    c.stages = stages_of(seed.timeline, c.layout.sub_plans)


async def _one(work: Awaitable[Record]) -> Sequence[Record]:
    return (await work,)


async def plan_stage(c: Conversation) -> None:
    """Outline, then sub-plan after sub-plan, then the special bullets of all of them at once."""
    frame, stages = c.the_frame, c.stages
    c.stages = stages = await c.units.run(
        "plan",
        "p0.outline",
        record=Stage,
        needs=[frame, list(stages)],
        prompts=OUTLINE_PROMPTS,
        roles=[Role.PLANNER],
        work=lambda asker: write_outline(asker, frame, stages),
    )
    drafted: list[Drafted] = []
    for stage in stages:
        earlier = tuple(drafted)
        drafted += await c.units.run(
            "plan",
            f"p0.s{stage.stage_index}",
            record=Drafted,
            needs=[frame, list(stages), list(earlier), c.layout],
            prompts=SUB_PLAN_PROMPTS,
            roles=[Role.PLANNER],
            work=lambda asker, earlier=earlier: _one(write_sub_plan(asker, frame, c.layout, stages, earlier)),
        )
    base = plan_of(drafted)
    per_kind = c.layout.special_per_kind
    augmented = await all_of(
        [
            c.units.run(
                "plan",
                f"p0.s{targets.stage_index}.special",
                record=Augmented,
                needs=[frame, base, stages[targets.stage_index], targets, per_kind],
                prompts=AUGMENT_PROMPTS,
                roles=[Role.PLANNER],
                work=lambda asker, targets=targets: _one(
                    write_special_bullets(
                        asker, frame, base, stages[targets.stage_index], targets, instructions=per_kind
                    )
                ),
            )
            for targets in choose_targets(base, per_kind, c.rng_key)
        ]
    )
    c.plan = augmented_plan(base, [a for group in augmented for a in group], c.rng_key)


async def user_turns_stage(c: Conversation) -> None:
    """All batches of all sub-plans at once: they need the plan only."""
    frame, plan = c.the_frame, c.the_plan
    ledger = Ledger.of(plan)
    batches = [(s, b) for s in plan.sub_plans for b in batches_of(s, c.layout)]
    written = await all_of(
        [
            c.units.run(
                "user_turns",
                f"{sub_plan.key}.b{batch.batch_index}",
                record=UserTurn,
                needs=[frame, plan, batch],
                prompts=USER_TURNS_PROMPTS,
                roles=[Role.WRITER],
                work=lambda asker, sub_plan=sub_plan, batch=batch: write_user_turns(
                    asker, frame, ledger, c.stages[sub_plan.sub_plan_index], sub_plan, batch
                ),
            )
            for sub_plan, batch in batches
        ]
    )
    for sub_plan in plan.sub_plans:
        turns = [t for (s, _), group in zip(batches, written, strict=True) if s is sub_plan for t in group]
        c.turns[sub_plan.key] = ordered_turns(sub_plan, turns)


async def dialogue_stage(c: Conversation) -> None:
    """All sub-plans' dialogues at once; then what is left of the budget is settled in the plan's order."""
    frame, plan = c.the_frame, c.the_plan
    ledger = Ledger.of(plan)
    shares = _shares(c)

    def material(key: str, share: int) -> SubPlanMaterial:
        sub_plan = next(s for s in plan.sub_plans if s.key == key)
        stage = c.stages[sub_plan.sub_plan_index]
        return SubPlanMaterial(frame, ledger, stage, sub_plan, c.turns[key], share)

    said = await all_of(
        [
            c.units.run(
                "dialogue",
                key,
                record=Message,
                needs=[frame, plan, list(c.stages), list(c.turns[key]), share, c.units.spec.tokenizer],
                prompts=DIALOGUE_PROMPTS,
                roles=[Role.ASSISTANT, Role.USER, Role.DETECTOR, Role.WRITER],
                work=lambda asker, key=key, share=share: talk(asker, c.tokenizer, material(key, share)),
            )
            for key, share in shares.items()
        ]
    )
    c.dialogue = dict(zip(shares, said, strict=True))
    await _settle(c, material)


async def _settle(c: Conversation, material: Callable[[str, int], SubPlanMaterial]) -> None:
    target = c.units.spec.length
    for round_ in range(SETTLE_ROUNDS):
        for key in c.dialogue:
            short = target - c.tokens
            if short <= TOLERANCE * target:
                return
            said = c.dialogue[key]
            share = sum(m.tokens for m in said) + -(-short // (len(c.dialogue) if round_ == 0 else 1))
            c.dialogue[key] = await c.units.run(
                "dialogue",
                f"{key}.settle{round_}",
                record=Message,
                needs=[list(said), share],
                prompts=(*DIALOGUE_PROMPTS, *MORE_TURNS_PROMPTS),
                roles=[Role.ASSISTANT, Role.USER, Role.DETECTOR, Role.WRITER],
                work=lambda asker, key=key, share=share, said=said: extend(
                    asker, c.tokenizer, material(key, share), said
                ),
            )


def _shares(c: Conversation) -> dict[str, int]:
    """The target divided over sub-plans in proportion to their turns, to the token."""
    counts = {s.key: len(c.turns[s.key]) for s in c.the_plan.sub_plans}
    total, target = sum(counts.values()), c.units.spec.length
    shares, given, seen = {}, 0, 0
    for key, count in counts.items():
        seen += count
        shares[key] = target * seen // total - given
        given += shares[key]
    return shares


async def probes_stage(c: Conversation) -> None:
    """A checked pool per ability, and the selection."""
    c.probes = await write_probe_pool(c.units, c.head(), c.messages())


async def seal_stage(c: Conversation) -> None:
    """Write the sealed file, unless it is there and holds exactly this."""
    head, messages = c.head(), c.messages()
    needs = [head, digest_of(list(messages)), digest_of(list(c.probes))]

    async def work(_: object) -> Sequence[Sealed]:
        seal_conversation(c.sealed_path, head, messages, c.probes)
        return (Sealed(messages=len(messages), tokens=c.tokens, probes=len(c.probes)),)

    if not c.sealed_path.exists():
        c.units.log.remove_units("seal", keep=())
    await c.units.run("seal", "conversation", record=Sealed, needs=needs, work=work)


STAGE_WORK: dict[str, Callable[[Conversation], Awaitable[None]]] = {
    "persona": persona_stage,
    "plan": plan_stage,
    "user_turns": user_turns_stage,
    "dialogue": dialogue_stage,
    "probes": probes_stage,
    "seal": seal_stage,
}
