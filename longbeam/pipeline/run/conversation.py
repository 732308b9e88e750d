"""One conversation on its way: what its stages have made so far, plan by plan.

Who holds what, so that memory hardly grows with the number of plans:

- Messages are not kept: once a sub-plan has been talked, only the key of its unit, its tokens, its digest and its
  questions stay, these as compressed JSON. Whoever needs the messages streams them from the work log.
- Planned turns wait as JSON for their dialogue to begin. Plans lie in a temporary file, where later plans and the gold
  look them up (`generators/plan_history.py`). What else a plan's stages made is let go once it has been talked; who
  needs it again, as `repair` does, runs those stages again: their units are done.
- The head has no user turns; they are streamed into the sealed file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from longbeam.generators.dialogue import turns_asked
from longbeam.generators.layout import Layout, plan_lengths
from longbeam.generators.ledger import Ledger
from longbeam.generators.mending import turn_key
from longbeam.generators.plan_history import PlanHistory
from longbeam.generators.plans import Frame
from longbeam.keys import natural_order
from longbeam.models.tokens import Tokenizer
from longbeam.pipeline.run.scheduling import Schedule
from longbeam.pipeline.run.units import Units
from longbeam.prompts.calls.plans import Stage
from longbeam.schemas.base import digest_of
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message, UserTurn
from longbeam.schemas.people import Person, Profile, RelationshipGraph
from longbeam.schemas.plans import Narrative, Plan, PlanSeed
from longbeam.schemas.probes import Probe
from longbeam.schemas.seeds import Seed
from longbeam.schemas.spec import Strategy
from longbeam.store.spill import SpilledBytes

T = TypeVar("T")
_TURNS = TypeAdapter(tuple[UserTurn, ...])


@dataclass(frozen=True)
class PackedTurns:
    """The user's turns of a sub-plan as compressed JSON in a temporary file."""

    count: int
    file: SpilledBytes
    ordinal: int
    """Of their piece of the file."""

    @classmethod
    def of(cls, turns: Sequence[UserTurn], file: SpilledBytes) -> PackedTurns:
        """Pack them."""
        file.append(zlib.compress(_TURNS.dump_json(tuple(turns)), level=1))
        return cls(len(turns), file, len(file) - 1)

    @property
    def json(self) -> bytes:
        """As JSON."""
        return zlib.decompress(self.file.between(self.ordinal, self.ordinal + 1))

    def unpacked(self) -> tuple[UserTurn, ...]:
        """The records, made anew."""
        return _TURNS.validate_json(self.json)


@dataclass(frozen=True)
class Said:
    """A sub-plan's dialogue, as it lies in the work log."""

    unit_key: str
    tokens: int
    messages: int
    digest: str
    turns: PackedTurns
    """As the dialogue left them."""

    @classmethod
    def of(cls, unit_key: str, planned: Sequence[UserTurn], messages: Sequence[Message], file: SpilledBytes) -> Said:
        """What stays of a dialogue; its turns are put into the file."""
        tokens, turns = sum(m.tokens for m in messages), PackedTurns.of(turns_asked(planned, messages), file)
        return cls(unit_key, tokens, len(messages), digest_of(list(messages)), turns)

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
    """The augmented plan, until its dialogues are done; `Conversation.history` keeps it."""
    ledger: Ledger | None = None
    """Of the plan and what it comes back to, once its text has been begun."""
    narratives: tuple[Narrative, ...] = ()
    first_session: int = 0
    earlier_plans: str = ""
    """Summary of the plans before this one."""
    turns: dict[str, PackedTurns] = field(default_factory=dict)
    """As they were planned, by sub-plan."""
    said: dict[str, Said] = field(default_factory=dict)
    """By sub-plan."""

    def let_go(self) -> None:
        """Forget what only its dialogues needed; its stages give it again, out of the work log."""
        self.layout = self.frame = self.plan = self.ledger = None
        self.stages, self.turns, self.earlier_plans = (), {}, ""

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
    history: PlanHistory = field(default_factory=PlanHistory)
    """The plans that have been made."""
    turns_file: SpilledBytes = field(default_factory=SpilledBytes)
    """The user's turns, as they were planned and as the dialogues left them."""
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

    def ledger_of(self, work: PlanWork) -> Ledger:
        """The ledger of a plan that is being talked, with what it comes back to of those before it."""
        if work.ledger is None:
            work.ledger = self.history.relevant(work.the_plan)
        return work.ledger

    def messages(self) -> Iterator[Message]:
        """Yield all messages in the order of the story; a sub-plan's are in memory at a time. Sealing numbers them."""
        for said in self._in_order():
            yield from self.messages_of(said)

    def messages_of(self, said: Said) -> tuple[Message, ...]:
        """Read a sub-plan's messages from the work log, with the turns that were said anew in their places."""
        anew = self._said_anew(said)
        return with_turns(self.first_said(said), anew) if anew else self.first_said(said)

    def _said_anew(self, said: Said) -> dict[str, tuple[Message, ...]]:
        prefix = said.sub_plan_key + "."
        return {key: turn for key, turn in self.mended.items() if key.startswith(prefix)}

    def first_said(self, said: Said) -> tuple[Message, ...]:
        """Read a sub-plan's messages as its dialogue left them."""
        return tuple(self.units.log.units.records("dialogue", Message, unit_keys=[said.unit_key]))

    def said(self) -> list[str]:
        """Digests of all that the dialogues said, in order; of what was said anew nothing."""
        return [said.digest for said in self._in_order()]

    def user_turns(self) -> Iterator[UserTurn]:
        """Yield the user's turns in the order of the story; a sub-plan's are in memory at a time."""
        for said in self._in_order():
            turns = said.turns.unpacked()
            yield from turns_asked(turns, self.messages_of(said)) if self._said_anew(said) else turns

    def turns_digest(self) -> str:
        """Digest of the turns as the dialogues left them."""
        return sha256(b"\n".join(said.turns.json for said in self._in_order())).hexdigest()

    def _in_order(self) -> Iterator[Said]:
        return (said for work in self.plans for said in work.said.values())

    def head(self) -> ConversationHead:
        """All but messages, probes and user turns."""
        labels: dict[str, Narrative] = {}
        for work in self.plans:
            for narrative in work.narratives:
                labels.setdefault(narrative.label, narrative)
        return ConversationHead(
            conversation_id=self.conversation_id,
            seed=self.seed,
            profile=self.the_profile,
            relationships=self.the_relationships,
            narratives=tuple(labels.values()),
            plans=self.history.plans,
            plan_seeds=self.plan_seeds,
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
