"""A conversation in the making: its context, and the results that its stages hand on to one another.

The order of the stages is in the types: each stage takes the result of the one before. Memory hardly grows with the
number of plans:

- Messages are not kept. After a sub-plan's dialogue, only the key of its unit, its tokens, its digest and its questions
  stay, these as compressed JSON. A reader of messages streams them from the work log.
- Planned turns wait as JSON for their dialogue to begin. Plans lie in a temporary file, where later plans and the gold
  look them up (`generators/plan_history.py`).
- What else a plan's stages made is freed with their results once the plan has been talked. `repair` runs these stages
  again, which reads their units from the work log.
- The head has no user turns; they are streamed into the sealed file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter

from longbeam.generators import (
    Frame,
    Layout,
    Ledger,
    PlanHistory,
    Storyline,
    Unasked,
    said_plans,
    turn_key,
    turns_asked,
    with_advice,
)
from longbeam.keys import DialogueKey, MessageKey, natural_order, plan_index_of
from longbeam.models import Tokenizer
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.pipeline.run.units import DIALOGUE, Units
from longbeam.prompts.calls import Stage
from longbeam.schemas import (
    ConversationHead,
    Incident,
    Message,
    Narrative,
    Person,
    Plan,
    PlanSeed,
    Profile,
    RelationshipGraph,
    Seed,
    Strategy,
    SubPlan,
    UserTurn,
    digest_of,
)
from longbeam.store import SpilledBytes, SpilledSequence

_TURNS = TypeAdapter(tuple[UserTurn, ...])


@dataclass(frozen=True)
class Conversation:
    """The context of a conversation's stages."""

    conversation_id: str
    index: int
    seed: Seed
    """The seed as it was given; the persona stage draws a timeline if it has none."""
    units: Units
    tokenizer: Tokenizer
    sealed_path: Path
    schedule: Schedule
    plan_targets: tuple[int, ...]
    """Tokens that each plan is to have."""
    turns_file: SpilledBytes = field(default_factory=SpilledBytes)
    """Temporary file of the user's turns, as they were planned and as the dialogues left them."""

    @property
    def is_single(self) -> bool:
        """Whether the conversation has one plan, without a seed of its own."""
        return len(self.plan_targets) == 1

    @property
    def strategy(self) -> Strategy:
        """How the plans belong together."""
        return self.units.spec.strategy or (Strategy(self.seed.mode) if self.seed.mode else Strategy.SEQUENTIAL)

    @property
    def rng_key(self) -> str:
        """Key of the randomness that code draws."""
        return f"{self.units.spec.seed}/{self.conversation_id}"


@dataclass(frozen=True)
class PersonaResult:
    """Result of the persona stage: the user and their people on the first day."""

    seed: Seed
    """With its timeline."""
    profile: Profile
    relationships: RelationshipGraph
    circles: tuple[tuple[Person, ...], ...]
    """Friends and acquaintances that come in plan by plan."""
    narratives: tuple[Narrative, ...]
    """Narratives of a conversation of one plan."""


@dataclass
class PlanningState:
    """State that the next plan builds on. Only the plan stage changes it, one plan after the other."""

    persona: PersonaResult
    history: PlanHistory
    """The plans so far."""
    plan_seeds: tuple[PlanSeed, ...] = ()
    """Empty in a conversation of one plan."""
    summaries: dict[int, str] = field(default_factory=dict)
    """Summary of all plans up to each."""
    open_matters: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """What each plan opened and did not close."""

    def storyline(self, strategy: Strategy) -> Storyline:
        """Return what all plans have in common."""
        return Storyline(self.persona.seed, strategy, self.plan_seeds)


@dataclass(frozen=True)
class PlanResult:
    """Result of the plan stage."""

    plan_index: int
    target: int
    """Tokens that the plan is to have."""
    frame: Frame
    layout: Layout
    stages: tuple[Stage, ...]
    plan: Plan
    """The augmented plan."""
    ledger: Ledger
    """Facts of the plan, and of earlier plans what it comes back to."""
    first_session: int
    """Session of the first sub-plan."""
    earlier_plans: str
    """Summary of the plans before this one."""
    follows: Mapping[str, tuple[str, ...]]
    """Bullets whose events lead to the event of each bullet."""


@dataclass(frozen=True)
class PlannedTurns:
    """Result of the user-turns stage: a plan with its turns."""

    plan: PlanResult
    turns: Mapping[str, PackedTurns]
    """Turns as they were planned, by sub-plan."""
    asked: Mapping[str, tuple[str, ...]]
    """The last questions before each sub-plan, in short."""


@dataclass(frozen=True)
class PackedTurns:
    """The user's turns of a sub-plan as compressed JSON in a temporary file."""

    count: int
    file: SpilledBytes
    ordinal: int
    """Ordinal of the turns in the file."""

    @classmethod
    def of(cls, turns: Sequence[UserTurn], file: SpilledBytes) -> PackedTurns:
        """Append the turns to the file."""
        file.append(zlib.compress(_TURNS.dump_json(tuple(turns)), level=1))
        return cls(len(turns), file, len(file) - 1)

    @property
    def json(self) -> bytes:
        """The turns as JSON."""
        return zlib.decompress(self.file.between(self.ordinal, self.ordinal + 1))

    def unpacked(self) -> tuple[UserTurn, ...]:
        """Return the turns, read anew."""
        return _TURNS.validate_json(self.json)


@dataclass(frozen=True)
class SubPlanPlace:
    """The sub-plan of a dialogue, and the file that its turns go to."""

    sub_plan: SubPlan
    file: SpilledBytes


@dataclass(frozen=True)
class SubPlanDialogue:
    """A sub-plan's dialogue, as it lies in the work log."""

    unit_key: str
    tokens: int
    messages: int
    digest: str
    """SHA-256 (hex) of the messages."""
    turns: PackedTurns
    """Turns as the dialogue left them."""
    unsaid: tuple[str, ...]
    """Bullets of the sub-plan that no message voices."""

    @classmethod
    def of(
        cls, unit_key: str, planned: Sequence[UserTurn], messages: Sequence[Message], place: SubPlanPlace
    ) -> SubPlanDialogue:
        """Return the dialogue of these messages; its turns are appended to the place's file."""
        tokens, turns = sum(m.tokens for m in messages), PackedTurns.of(turns_asked(planned, messages), place.file)
        said = {bullet_id for m in messages for bullet_id in m.bullet_ids}
        unsaid = tuple(b.bullet_id for b in place.sub_plan.bullets if b.bullet_id not in said)
        return cls(unit_key, tokens, len(messages), digest_of(list(messages)), turns, unsaid)

    @property
    def sub_plan_key(self) -> str:
        """`p0.s2`, also of `p0.s2.settle1`."""
        return str(DialogueKey.parse(self.unit_key).sub_plan)


@dataclass(frozen=True)
class TalkedPlan:
    """Result of the dialogue stage: what stays of a plan once it has been talked."""

    plan_index: int
    target: int
    narratives: tuple[Narrative, ...]
    dialogues: Mapping[str, SubPlanDialogue]
    """By sub-plan, in the plan's order."""


@dataclass(frozen=True)
class SaidPlans:
    """The plans of a conversation as they were said."""

    plans: Sequence[Plan]
    lost: tuple[Incident, ...]
    """An incident for each bullet that no message voices."""


@dataclass(frozen=True)
class TalkedConversation:
    """A conversation whose dialogues are done: its messages, its user turns and its head."""

    conversation: Conversation
    planning: PlanningState
    plans: tuple[TalkedPlan, ...]
    mended: Mapping[str, tuple[Message, ...]] = field(default_factory=dict)
    """Turns that `repair` regenerated, by key (`p0.s2.t5`); the units of the dialogue stage stay unchanged."""
    unasked: tuple[Unasked, ...] = ()
    """Advice that replies give and no plan holds."""

    def without_indexes(self) -> TalkedConversation:
        """Return the same conversation without the indexes of its plans, which no further plan needs."""
        return replace(self, planning=replace(self.planning, history=self.planning.history.without_indexes()))

    def messages(self) -> Iterator[Message]:
        """Yield all messages in the order of the story; a sub-plan's are in memory at a time. Sealing numbers them."""
        for dialogue in self._in_order():
            yield from self.messages_of(dialogue)

    def messages_of(self, dialogue: SubPlanDialogue) -> tuple[Message, ...]:
        """Read a sub-plan's messages from the work log, with regenerated turns in place of the originals."""
        anew, first = self._said_anew(dialogue), self.first_said(dialogue)
        said = with_turns(first, anew) if anew else first
        return tuple(map(self._with_unasked, said)) if self.unasked else said

    def _with_unasked(self, message: Message) -> Message:
        given = self._unasked_in.get(message.message_key, ())
        return message.model_copy(update={"bullet_ids": (*message.bullet_ids, *given)}) if given else message

    @cached_property
    def _unasked_in(self) -> dict[str, list[str]]:
        """Ids of unasked advice, by the message that gives it."""
        found: dict[str, list[str]] = {}
        for given in self.unasked:
            found.setdefault(given.message_key, []).append(given.advice.advice_id)
        return found

    def _said_anew(self, dialogue: SubPlanDialogue) -> dict[str, tuple[Message, ...]]:
        sub_plan = dialogue.sub_plan_key
        return {
            key: turn
            for key, turn in self.mended.items()
            if str(MessageKey.parse(turn[0].message_key).sub_plan) == sub_plan
        }

    def first_said(self, dialogue: SubPlanDialogue) -> tuple[Message, ...]:
        """Read a sub-plan's messages as its dialogue left them."""
        return first_said(self.conversation, dialogue)

    def digests(self) -> list[str]:
        """Return the digests of all dialogues in order, without regenerated turns."""
        return [dialogue.digest for dialogue in self._in_order()]

    def user_turns(self) -> Iterator[UserTurn]:
        """Yield the user's turns in the order of the story; a sub-plan's are in memory at a time."""
        for dialogue in self._in_order():
            turns = dialogue.turns.unpacked()
            yield from turns_asked(turns, self.messages_of(dialogue)) if self._said_anew(dialogue) else turns

    def turns_digest(self) -> str:
        """Return the digest of the turns as the dialogues left them."""
        return sha256(b"\n".join(dialogue.turns.json for dialogue in self._in_order())).hexdigest()

    def _in_order(self) -> Iterator[SubPlanDialogue]:
        return (dialogue for plan in self.plans for dialogue in plan.dialogues.values())

    @cached_property
    def said(self) -> SaidPlans:
        """The plans as they were said; the plans themselves where every bullet was voiced."""
        plans = self.planning.history.plans
        if not (unsaid := frozenset(i for dialogue in self._in_order() for i in self._unsaid(dialogue))):
            return SaidPlans(plans, ())
        lost: list[Incident] = []

        def told() -> Iterator[Plan]:
            for plan, incidents in said_plans(plans, unsaid):
                lost.extend(incidents)
                yield plan

        return SaidPlans(SpilledSequence(told(), block=1, held=1, kept=1), tuple(lost))

    def _unsaid(self, dialogue: SubPlanDialogue) -> Iterable[str]:
        """Return the bullets of a sub-plan that no message voices, regenerated turns included."""
        if not self._said_anew(dialogue):
            return dialogue.unsaid
        before = {i for m in self.first_said(dialogue) for i in m.bullet_ids}
        now = {i for m in self.messages_of(dialogue) for i in m.bullet_ids}
        return ({*dialogue.unsaid} | before) - now

    @cached_property
    def _plans(self) -> Sequence[Plan]:
        """The plans as they were said, with the advice that none of them held."""
        if not self.unasked:
            return self.said.plans
        of_plan: dict[int, list[Unasked]] = {}
        for given in self.unasked:
            of_plan.setdefault(plan_index_of(given.advice.advice_id), []).append(given)
        told = (with_advice(plan, of_plan.get(plan.plan_index, ())) for plan in self.said.plans)
        return SpilledSequence(told, block=1, held=1, kept=1)

    def head(self) -> ConversationHead:
        """Return everything but messages, probes and user turns; the plans are those that were said."""
        labels: dict[str, Narrative] = {}
        for plan in self.plans:
            for narrative in plan.narratives:
                labels.setdefault(narrative.label, narrative)
        persona = self.planning.persona
        return ConversationHead(
            conversation_id=self.conversation.conversation_id,
            seed=persona.seed,
            profile=persona.profile,
            relationships=persona.relationships,
            narratives=tuple(labels.values()),
            plans=self._plans,
            plan_seeds=self.planning.plan_seeds,
            target_tokens=sum(plan.target for plan in self.plans),
            tokenizer=self.conversation.units.spec.tokenizer,
        )


def first_said(c: Conversation, dialogue: SubPlanDialogue) -> tuple[Message, ...]:
    """Read a sub-plan's messages from the work log as its dialogue left them."""
    return tuple(c.units.log.units.records(DIALOGUE, Message, unit_keys=[dialogue.unit_key]))


def with_turns(messages: Sequence[Message], anew: Mapping[str, Sequence[Message]]) -> tuple[Message, ...]:
    """Return a sub-plan's messages with these turns in the places of theirs; turns of their own come last."""
    result: list[Message] = []
    left = dict(anew)
    replaced: set[str] = set()
    for message in messages:
        key = turn_key(message)
        if key in left:
            result += left.pop(key)
            replaced.add(key)
        elif key not in replaced:
            result.append(message)
    return (*result, *(m for key in sorted(left, key=natural_order) for m in left[key]))
