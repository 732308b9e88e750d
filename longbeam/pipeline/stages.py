"""The stages of one conversation, each a set of units: persona, plan, user turns, dialogue, probes, seal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from longbeam.errors import StoreError
from longbeam.generators.asking import Asker
from longbeam.generators.augmentation import (
    AUGMENT_PROMPTS,
    Augmented,
    Targets,
    augmented_plan,
    choose_targets,
    write_special_bullets,
)
from longbeam.generators.dialogue import DIALOGUE_PROMPTS, SubPlanMaterial, extend, talk, turns_asked
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
    USER_TURNS_PROMPTS,
    Batch,
    batches_of,
    ordered_turns,
    without_repeats,
    write_user_turns,
)
from longbeam.models.tokens import Tokenizer
from longbeam.pipeline.probing import write_probe_pool
from longbeam.pipeline.units import Units, all_of, both
from longbeam.schemas.base import Record, digest_of
from longbeam.schemas.calls import Stage
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message, UserTurn
from longbeam.schemas.people import Profile
from longbeam.schemas.plans import Narrative, Plan, SubPlan
from longbeam.schemas.probes import Probe
from longbeam.schemas.seeds import Seed
from longbeam.schemas.spec import Role
from longbeam.store.artifacts import SealedConversation, seal_conversation

SETTLE_ROUNDS = 3
"""Passes over the sub-plans that use up what their dialogues left of the budget."""
TOLERANCE = 0.004
"""Share of the target below which nothing more is settled; the promise is 2 %."""


DIALOGUE_ROLES = (Role.ASSISTANT, Role.USER, Role.DETECTOR, Role.WRITER)


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
            user_turns=tuple(
                t for s in self.the_plan.sub_plans for t in turns_asked(self.turns[s.key], self.dialogue[s.key])
            ),
            target_tokens=self.units.spec.length,
            tokenizer=self.units.spec.tokenizer,
        )


async def persona_stage(c: Conversation) -> None:
    """Timeline, profile, relationships by code; personality and narratives by a model."""
    spec, seed = c.units.spec, c.seed
    timeline = seed.timeline or draw_timeline(spec.seed, c.index, seed, c.layout.sub_plans)
    seed = seed.model_copy(update={"timeline": timeline})
    drawn = draw_profile(spec.seed, c.index)

    async def personality(asker: Asker) -> Sequence[Profile]:
        return (await write_personality(asker, drawn, MBTI_TRAITS),)

    async def narratives(asker: Asker) -> Sequence[Narrative]:
        return await write_narratives(asker, seed)

    personas = c.units.run(
        "persona",
        "personality",
        record=Profile,
        needs=[drawn],
        prompts=PERSONALITY_PROMPTS,
        roles=[Role.WRITER],
        work=personality,
    )
    threads = c.units.run(
        "persona",
        "narratives",
        record=Narrative,
        needs=[seed],
        prompts=NARRATIVE_PROMPTS,
        roles=[Role.WRITER],
        work=narratives,
    )
    profiles, found = await both(personas, threads)
    c.frame = Frame(
        seed=seed,
        profile=profiles[0],
        relationships=draw_relationships(spec.seed, c.index, drawn),
        narratives=found,
    )
    c.stages = stages_of(timeline, c.layout.sub_plans)


async def plan_stage(c: Conversation) -> None:
    """Outline, then sub-plan after sub-plan, then the special bullets of all of them at once."""
    frame, undated = c.the_frame, c.stages

    async def outline(asker: Asker) -> Sequence[Stage]:
        return await write_outline(asker, frame, undated)

    c.stages = await c.units.run(
        "plan",
        "p0.outline",
        record=Stage,
        needs=[frame, undated],
        prompts=OUTLINE_PROMPTS,
        roles=[Role.PLANNER],
        work=outline,
    )
    drafted: list[Drafted] = []
    for stage in c.stages:
        drafted.append(await _sub_plan(c, stage, tuple(drafted)))
    base = plan_of(drafted)
    targets = choose_targets(base, c.layout.special_per_kind, c.rng_key)
    augmented = await all_of([_special_bullets(c, base, t) for t in targets])
    c.plan = augmented_plan(base, augmented, c.rng_key)


async def _sub_plan(c: Conversation, stage: Stage, earlier: tuple[Drafted, ...]) -> Drafted:
    async def work(asker: Asker) -> Sequence[Drafted]:
        return (await write_sub_plan(asker, c.the_frame, c.layout, c.stages, earlier),)

    records = await c.units.run(
        "plan",
        f"p0.s{stage.stage_index}",
        record=Drafted,
        needs=[c.the_frame, c.stages, earlier, c.layout],
        prompts=SUB_PLAN_PROMPTS,
        roles=[Role.PLANNER],
        work=work,
    )
    return records[0]


async def _special_bullets(c: Conversation, base: Plan, targets: Targets) -> Augmented:
    stage, per_kind = c.stages[targets.stage_index], c.layout.special_per_kind

    async def work(asker: Asker) -> Sequence[Augmented]:
        return (await write_special_bullets(asker, c.the_frame, base, stage, targets, instructions=per_kind),)

    records = await c.units.run(
        "plan",
        f"p0.s{targets.stage_index}.special",
        record=Augmented,
        needs=[c.the_frame, base, stage, targets, per_kind],
        prompts=AUGMENT_PROMPTS,
        roles=[Role.PLANNER],
        work=work,
    )
    return records[0]


async def user_turns_stage(c: Conversation) -> None:
    """All batches of all sub-plans at once: they need the plan only."""
    ledger = Ledger.of(c.the_plan)
    batches = [(s, b) for s in c.the_plan.sub_plans for b in batches_of(s, c.layout)]
    written = await all_of([_batch(c, ledger, sub_plan, batch) for sub_plan, batch in batches])
    asked: set[str] = set()
    for sub_plan in c.the_plan.sub_plans:
        turns = [t for (s, _), group in zip(batches, written, strict=True) if s is sub_plan for t in group]
        c.turns[sub_plan.key] = ordered_turns(sub_plan, without_repeats(turns, asked))


async def _batch(c: Conversation, ledger: Ledger, sub_plan: SubPlan, batch: Batch) -> tuple[UserTurn, ...]:
    async def work(asker: Asker) -> Sequence[UserTurn]:
        stage = c.stages[sub_plan.sub_plan_index]
        return await write_user_turns(asker, c.the_frame, ledger, stage, sub_plan, batch)

    return await c.units.run(
        "user_turns",
        f"{sub_plan.key}.b{batch.batch_index}",
        record=UserTurn,
        needs=[c.the_frame, c.the_plan, batch],
        prompts=USER_TURNS_PROMPTS,
        roles=[Role.WRITER],
        work=work,
    )


async def dialogue_stage(c: Conversation) -> None:
    """All sub-plans' dialogues at once; then what is left of the budget is settled in the plan's order."""
    ledger = Ledger.of(c.the_plan)
    shares = shares_of({s.key: len(c.turns[s.key]) for s in c.the_plan.sub_plans}, c.units.spec.length)
    materials = [
        SubPlanMaterial(c.the_frame, ledger, c.stages[s.sub_plan_index], s, c.turns[s.key], shares[s.key])
        for s in c.the_plan.sub_plans
    ]
    said = await all_of([_dialogue(c, m) for m in materials])
    c.dialogue = dict(zip(shares, said, strict=True))
    await _settle(c, materials)


async def _dialogue(c: Conversation, material: SubPlanMaterial) -> tuple[Message, ...]:
    async def work(asker: Asker) -> Sequence[Message]:
        return await talk(asker, c.tokenizer, material)

    return await c.units.run(
        "dialogue",
        material.sub_plan.key,
        record=Message,
        needs=[c.the_frame, c.the_plan, c.stages, material.turns, material.share, c.tokenizer.name],
        prompts=DIALOGUE_PROMPTS,
        roles=DIALOGUE_ROLES,
        work=work,
    )


async def _settle(c: Conversation, materials: Sequence[SubPlanMaterial]) -> None:
    target = c.units.spec.length
    for round_ in range(SETTLE_ROUNDS):
        for i, material in enumerate(materials):
            short = target - c.tokens
            if short <= TOLERANCE * target:
                return
            key = material.sub_plan.key
            # The first pass shares what is left among the sub-plans to come, later ones give it to the first.
            part = -(-short // (len(materials) - i)) if round_ == 0 else short
            share = sum(m.tokens for m in c.dialogue[key]) + part
            c.dialogue[key] = await _extension(c, replace(material, share=share), c.dialogue[key], round_)


async def _extension(
    c: Conversation, material: SubPlanMaterial, said: tuple[Message, ...], round_: int
) -> tuple[Message, ...]:
    async def work(asker: Asker) -> Sequence[Message]:
        return await extend(asker, c.tokenizer, material, said)

    return await c.units.run(
        "dialogue",
        f"{material.sub_plan.key}.settle{round_}",
        record=Message,
        needs=[said, material.share],
        prompts=DIALOGUE_PROMPTS,
        roles=DIALOGUE_ROLES,
        work=work,
    )


def shares_of(turns: Mapping[str, int], target: int) -> dict[str, int]:
    """Divide a target over sub-plans in proportion to their turns, to the token."""
    total = sum(turns.values())
    shares, given, seen = {}, 0, 0
    for key, count in turns.items():
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

    if not _is_sealed(c.sealed_path):
        c.units.log.remove_units("seal", keep=())
    await c.units.run("seal", "conversation", record=Sealed, needs=needs, work=work)


def _is_sealed(path: Path) -> bool:
    try:
        SealedConversation(path).close()
    except StoreError:
        return False  # not there, or damaged: it is made again from the work log
    return True


STAGE_WORK: dict[str, Callable[[Conversation], Awaitable[None]]] = {
    "persona": persona_stage,
    "plan": plan_stage,
    "user_turns": user_turns_stage,
    "dialogue": dialogue_stage,
    "probes": probes_stage,
    "seal": seal_stage,
}
