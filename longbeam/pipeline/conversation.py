"""One conversation on its way: what its stages have made so far, plan by plan.

Messages are not kept: once a sub-plan has been talked, only the key of its unit, its questions, its tokens and its
digest stay, and whoever needs the messages streams them from the work log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from longbeam.generators.dialogue import turns_asked
from longbeam.generators.layout import Layout, plan_lengths
from longbeam.generators.mending import turn_key
from longbeam.generators.plans import Frame
from longbeam.models.tokens import Tokenizer
from longbeam.pipeline.scheduling import Schedule
from longbeam.pipeline.units import Units
from longbeam.schemas.calls import Stage
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message, UserTurn
from longbeam.schemas.people import Person, Profile, RelationshipGraph
from longbeam.schemas.plans import Narrative, Plan, PlanSeed
from longbeam.schemas.probes import Probe
from longbeam.schemas.seeds import Seed
from longbeam.schemas.spec import Strategy
from longbeam.store.worklog import natural_order

T = TypeVar("T")


@dataclass(frozen=True)
class Said:
    """A sub-plan's dialogue, as it lies in the work log."""

    unit_key: str
    tokens: int
    messages: int
    digest: str
    turns: tuple[UserTurn, ...]
    """As the dialogue left them."""

    @property
    def sub_plan_key(self) -> str:
        """`p0.s2`, also of `p0.s2.settle1`."""
        return self.unit_key.partition(".settle")[0]


@dataclass
class PlanWork:
    """One plan on its way; each stage fills in what the next ones read."""

    plan_index: int
    target: int
    """Tokens it is to have."""
    layout: Layout | None = None
    frame: Frame | None = None
    stages: tuple[Stage, ...] = ()
    plan: Plan | None = None
    first_session: int = 0
    earlier_plans: str = ""
    """Summary of the plans before this one."""
    turns: dict[str, tuple[UserTurn, ...]] = field(default_factory=dict)
    """By sub-plan."""
    said: dict[str, Said] = field(default_factory=dict)
    """By sub-plan."""

    @property
    def tokens(self) -> int:
        """Tokens of its messages so far."""
        return sum(s.tokens for s in self.said.values())

    @property
    def the_layout(self) -> Layout:
        """The layout; an error in the order of stages if it is not there."""
        return _there(self.layout, "plan")

    @property
    def the_frame(self) -> Frame:
        """The frame; an error in the order of stages if it is not there."""
        return _there(self.frame, "plan")

    @property
    def the_plan(self) -> Plan:
        """The augmented plan; an error in the order of stages if it is not there."""
        return _there(self.plan, "plan")


@dataclass
class Conversation:
    """One conversation on its way."""

    conversation_id: str
    index: int
    seed: Seed
    units: Units
    tokenizer: Tokenizer
    sealed_path: Path
    schedule: Schedule
    profile: Profile | None = None
    relationships: RelationshipGraph | None = None
    circles: tuple[tuple[Person, ...], ...] = ()
    """Friends and acquaintances that come in plan by plan."""
    narratives: tuple[Narrative, ...] = ()
    """Of the persona stage: those of a conversation of one plan."""
    plan_seeds: tuple[PlanSeed, ...] = ()
    """Empty in a conversation of one plan."""
    summaries: dict[int, str] = field(default_factory=dict)
    """Of the plans up to each."""
    probes: tuple[Probe, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    """Why a worded probe is not to be used, by probe_id."""
    mended: dict[str, tuple[Message, ...]] = field(default_factory=dict)
    """Turns that `repair` had said anew, by their keys (`p0.s2.t5`); the dialogue stage's own stay as they are."""

    def __post_init__(self) -> None:
        """Divide the length over the plans."""
        lengths = plan_lengths(self.units.spec.length)
        self.plans = [PlanWork(i, target) for i, target in enumerate(lengths)]

    @property
    def is_single(self) -> bool:
        """Whether it has one plan, without a seed of its own."""
        return len(self.plans) == 1

    @property
    def strategy(self) -> Strategy:
        """How its plans belong together."""
        return self.units.spec.strategy or (Strategy(self.seed.mode) if self.seed.mode else Strategy.SEQUENTIAL)

    @property
    def tokens(self) -> int:
        """Tokens of the messages so far."""
        return sum(plan.tokens for plan in self.plans)

    @property
    def rng_key(self) -> str:
        """Where randomness of code comes from."""
        return f"{self.units.spec.seed}/{self.conversation_id}"

    @property
    def the_profile(self) -> Profile:
        """The user on the first day; an error in the order of stages if it is not there."""
        return _there(self.profile, "persona")

    @property
    def the_relationships(self) -> RelationshipGraph:
        """All people, on the first day; an error in the order of stages if they are not there."""
        return _there(self.relationships, "persona")

    def messages(self) -> Iterator[Message]:
        """Yield all messages in the order of the story, numbered; a sub-plan's are in memory at a time."""
        message_id = 0
        for work in self.plans:
            for sub_plan in work.the_plan.sub_plans:
                for message in self.messages_of(work.said[sub_plan.key]):
                    yield message.model_copy(update={"message_id": message_id})
                    message_id += 1

    def messages_of(self, said: Said) -> tuple[Message, ...]:
        """Read a sub-plan's messages from the work log, with the turns that were said anew in their places."""
        anew = self._said_anew(said)
        return with_turns(self.first_said(said), anew) if anew else self.first_said(said)

    def _said_anew(self, said: Said) -> dict[str, tuple[Message, ...]]:
        prefix = said.sub_plan_key + "."
        return {key: turn for key, turn in self.mended.items() if key.startswith(prefix)}

    def first_said(self, said: Said) -> tuple[Message, ...]:
        """Read a sub-plan's messages as its dialogue left them."""
        return tuple(self.units.log.records("dialogue", Message, unit_keys=[said.unit_key]))

    def said(self) -> list[str]:
        """Digests of all that the dialogues said, in order; of what was said anew nothing."""
        return [work.said[s.key].digest for work in self.plans for s in work.the_plan.sub_plans]

    def head(self, *, mended: bool = True) -> ConversationHead:
        """All but messages and probes; `mended=False`: as the dialogues left it, which is what candidates hang on."""

        def asked(work: PlanWork, said: Said) -> tuple[UserTurn, ...]:
            if not (mended and self._said_anew(said)):
                return said.turns
            return turns_asked(work.turns[said.sub_plan_key], self.messages_of(said))

        labels: dict[str, Narrative] = {}
        for work in self.plans:
            for narrative in work.the_frame.narratives:
                labels.setdefault(narrative.label, narrative)
        return ConversationHead(
            conversation_id=self.conversation_id,
            seed=self.seed,
            profile=self.the_profile,
            relationships=self.the_relationships,
            narratives=tuple(labels.values()),
            plans=tuple(work.the_plan for work in self.plans),
            plan_seeds=self.plan_seeds,
            user_turns=tuple(
                turn for work in self.plans for s in work.the_plan.sub_plans for turn in asked(work, work.said[s.key])
            ),
            target_tokens=sum(work.target for work in self.plans),
            tokenizer=self.units.spec.tokenizer,
        )


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


def _there(part: T | None, stage: str) -> T:
    if part is None:
        raise RuntimeError(f"the {stage} stage has not run")
    return part
