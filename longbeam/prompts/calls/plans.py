"""Inputs and replies of the planning prompts: plan seeds, summaries, outlines, sub-plans, augmentation."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from pydantic import BeforeValidator, Field

from longbeam.schemas.base import Record
from longbeam.schemas.calls import PromptInputs, ReplyModel
from longbeam.schemas.people import Person, Profile
from longbeam.schemas.plans import Bullet, BulletKind, Narrative, PlanSeed, Stance, Value, ValueKind
from longbeam.schemas.seeds import Domain, Seed, Timeline
from longbeam.schemas.spec import Strategy


class LedgerLine(Record):
    """The state of one fact at some point of the story."""

    fact_id: str
    subject: str
    attribute: str
    kind: ValueKind
    is_fixed: bool
    value: Value | None
    """None when the last assertion denied it."""


class PlanSeedsInputs(PromptInputs):
    """What each plan of a conversation of many plans is about, and what it may and may not tell of."""

    seed: Seed
    """The conversation's own, with the timeline of the whole."""
    profile: Profile
    people: tuple[Person, ...]
    strategy: Strategy
    spans: tuple[Timeline, ...]
    """The days of each plan."""
    ideas: tuple[Seed, ...]
    """As many subjects as there are plans, the conversation's own first: the reply may use them or better ones."""


class PlanSeedDraft(ReplyModel):
    """One plan; its days are given by code."""

    domain: Domain
    touches: Domain | None = None
    topic: str
    theme: str
    subtopics: list[str] = Field(min_length=3)
    phase: str
    tense: str
    can_mention: list[str] = Field(min_length=1)
    cannot_mention: list[str] = Field(default_factory=list)


class PlanSeedsReply(ReplyModel):
    """One draft per plan, in the order of time."""

    plans: list[PlanSeedDraft]


class Chapter(Record):
    """Where a plan stands among the plans of its conversation, and what it is to know of those before it."""

    strategy: Strategy
    main: Seed
    """The conversation's own seed."""
    plan_seeds: tuple[PlanSeed, ...]
    """Of all plans, also of those to come."""
    plan_index: int
    summary: str
    """Of the plans before the previous one; empty for the first two."""
    previous: tuple[str, ...]
    """Texts of the previous plan's bullets, special ones included."""
    introduced: tuple[str, ...]
    """First names of the people who come in with this plan."""
    facts: tuple[LedgerLine, ...]
    """Facts of earlier plans that this one may come back to, with their values at its beginning."""
    standing: tuple[Bullet, ...]
    """Instructions and preferences of earlier plans that are in force."""

    @property
    def plan_seed(self) -> PlanSeed:
        """The plan's own bounds."""
        return self.plan_seeds[self.plan_index]


class PlanSummaryInputs(PromptInputs):
    """Fold one more plan into the summary of those before it."""

    summary: str
    """Of the plans before; empty for the first."""
    plan_seed: PlanSeed
    bullets: tuple[str, ...]
    """Texts of the plan's bullets, in order."""
    state: tuple[LedgerLine, ...]
    """Values of its facts at its end."""
    max_tokens: int


class Stage(Record):
    """One stage of a story as the outline has it; dates are given by code."""

    stage_index: int
    first_day: dt.date
    last_day: dt.date
    title: str = ""
    summary: str = ""


class OutlineInputs(PromptInputs):
    """What changes from stage to stage."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    """Without title and summary."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


class StageDraft(ReplyModel):
    """Title and summary of one stage."""

    title: str
    summary: str


class OutlineReply(ReplyModel):
    """One draft per stage, in order."""

    stages: list[StageDraft]


class SubPlanInputs(PromptInputs):
    """The bullets of one stage, after those of the stages before it."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    stage_index: int
    counts: dict[str, int]
    """Bullets asked for by kind: introduction, event, relationship, preference."""
    ledger: tuple[LedgerLine, ...]
    """Facts so far, with their current values."""
    earlier_bullets: tuple[Bullet, ...]
    """All bullets of the earlier stages, in order."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


MAX_AMOUNT = 1e15
"""More than anybody counts, and little enough for exact sums of cents."""


def _without_the_impossible(value: object) -> object:
    """A value without a date that no calendar has, or an amount that nobody means: no grammar refuses these.

    The rest is usable, and the generators' checks ask for what is missing.
    """
    if not isinstance(value, dict):
        return value
    date, amount = value.get("date"), value.get("number")
    if isinstance(date, str):
        try:
            dt.date.fromisoformat(date)
        except ValueError:
            value = {**value, "date": None}
    if isinstance(amount, int | float) and not abs(amount) <= MAX_AMOUNT:
        value = {**value, "number": None}
    return value


def _is_blank(value: object) -> bool:
    return isinstance(value, dict) and not str(value.get("text") or "").strip()


def _with_values(drafts: object) -> object:
    """The drafts that say a value: one with a blank value says nothing about its fact."""
    if not isinstance(drafts, list):
        return drafts
    return [d for d in drafts if not (isinstance(d, dict) and _is_blank(d.get("value")))]


DraftedValue = Annotated[Value, BeforeValidator(_without_the_impossible)]


class FactDraft(ReplyModel):
    """What a drafted bullet does to a fact."""

    fact_id: str = ""
    """Of the ledger; empty for a new fact."""
    subject: str
    attribute: str
    stance: Stance = Stance.SETS
    value: DraftedValue
    is_fixed: bool = False


class BulletDraft(ReplyModel):
    """One bullet as a model drafts it; code gives it its id."""

    kind: BulletKind
    narrative: str
    topic: str
    text: str
    happens_on: dt.date
    facts: Annotated[list[FactDraft], BeforeValidator(_with_values)] = Field(default_factory=list)
    condition: str = ""
    requirement: str = ""
    variety: str = ""


class SubPlanReply(ReplyModel):
    """The bullets of one stage, in order."""

    bullets: list[BulletDraft]


class UpdateTarget(Record):
    """A fact that this stage is to change, and the bullet that set it."""

    target_id: str
    """`u0`, `u1`, ...: how the reply refers to it."""
    fact: LedgerLine
    bullet: Bullet


class ContradictionTarget(Record):
    """A statement that this stage is to contradict, and how."""

    target_id: str
    variety: str
    """`never_statement`, `other_value` or `not_yet`."""
    fact: LedgerLine | None
    bullet: Bullet


class AugmentInputs(PromptInputs):
    """Wording for the special bullets of one stage; what they are about was chosen by code."""

    seed: Seed
    profile: Profile
    stage: Stage
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]
    instructions: int
    """How many standing instructions to write."""
    areas: tuple[str, ...] = ()
    """One narrative's label for each instruction: stages are written side by side and must not wish the same."""
    taken_conditions: tuple[str, ...] = ()
    """Of the user's preferences, in all stages."""


class UpdateDraft(ReplyModel):
    """A changed value and how the user says so."""

    target_id: str
    value: DraftedValue
    text: str


class ContradictionDraft(ReplyModel):
    """A statement that cannot be true beside its target; `value` only for `other_value`."""

    target_id: str
    text: str
    value: Annotated[DraftedValue | None, BeforeValidator(lambda v: None if _is_blank(v) else v)] = None
    variety: str = ""
    """Set when another variety than the target's suits the statement better."""


class InstructionDraft(ReplyModel):
    """A standing instruction."""

    condition: str
    requirement: str
    text: str
    topic: str


class AugmentReply(ReplyModel):
    """One draft per target, and the instructions asked for."""

    updates: Annotated[list[UpdateDraft], BeforeValidator(_with_values)]
    contradictions: list[ContradictionDraft]
    instructions: list[InstructionDraft]
