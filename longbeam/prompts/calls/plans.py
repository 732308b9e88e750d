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
    """None if the last assertion denied the fact."""


class PlanSeedsInputs(PromptInputs):
    """Write the subject and the bounds of each plan of a conversation of many plans."""

    seed: Seed
    """Seed of the conversation, with its whole timeline."""
    profile: Profile
    people: tuple[Person, ...]
    strategy: Strategy
    spans: tuple[Timeline, ...]
    """Timeline of each plan."""
    ideas: tuple[Seed, ...]
    """One subject for each plan, the conversation's own first; the reply may use them or better ones."""


class PlanSeedDraft(ReplyModel):
    """One plan; code sets its days."""

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
    """One draft for each plan, in the order of time."""

    plans: list[PlanSeedDraft]


class Chapter(Record):
    """Position of a plan in its conversation, and its knowledge of the earlier plans."""

    strategy: Strategy
    main: Seed
    """Seed of the conversation."""
    plan_seeds: tuple[PlanSeed, ...]
    """Seeds of all plans, later ones included."""
    plan_index: int
    summary: str
    """Summary of the plans before the previous one; empty for the first two."""
    previous: tuple[str, ...]
    """Texts of the previous plan's bullets, special ones included."""
    introduced: tuple[str, ...]
    """First names of the people whom this plan introduces."""
    facts: tuple[LedgerLine, ...]
    """Facts of earlier plans that this plan may come back to, with their values at its beginning."""
    standing: tuple[Bullet, ...]
    """Instructions and preferences of earlier plans that are in force."""

    @property
    def plan_seed(self) -> PlanSeed:
        """Seed of this plan."""
        return self.plan_seeds[self.plan_index]


class PlanSummaryInputs(PromptInputs):
    """Fold one more plan into the summary of those before it."""

    summary: str
    """Summary of the plans before; empty for the first."""
    plan_seed: PlanSeed
    bullets: tuple[str, ...]
    """Texts of the plan's bullets, in order."""
    state: tuple[LedgerLine, ...]
    """Values of the plan's facts at its end."""
    max_tokens: int


class Stage(Record):
    """One stage of a story in the outline; code sets its dates."""

    stage_index: int
    first_day: dt.date
    last_day: dt.date
    title: str = ""
    summary: str = ""


class OutlineInputs(PromptInputs):
    """Write the development of the story from stage to stage."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    """Stages without title and summary."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


class StageDraft(ReplyModel):
    """Title and summary of one stage."""

    title: str
    summary: str


class OutlineReply(ReplyModel):
    """One draft for each stage, in order."""

    stages: list[StageDraft]


class SubPlanInputs(PromptInputs):
    """Write the bullets of one stage, which follow those of the earlier stages."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    stage_index: int
    counts: dict[str, int]
    """Number of bullets by kind: introduction, event, relationship, preference."""
    ledger: tuple[LedgerLine, ...]
    """Facts so far, with their current values."""
    earlier_bullets: tuple[Bullet, ...]
    """All bullets of the earlier stages, in order."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


MAX_AMOUNT = 1e15
"""Largest amount; sums of cents are exact below it."""


def _without_the_impossible(value: object) -> object:
    """Return a value without impossible dates and amounts, which no grammar refuses.

    The rest of the value stays usable, and the generators' checks ask for the missing part.
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
    """Return the drafts that have a value; a draft with a blank value says nothing on its fact."""
    if not isinstance(drafts, list):
        return drafts
    return [d for d in drafts if not (isinstance(d, dict) and _is_blank(d.get("value")))]


DraftedValue = Annotated[Value, BeforeValidator(_without_the_impossible)]


class FactDraft(ReplyModel):
    """Effect of a drafted bullet on a fact."""

    fact_id: str = ""
    """Id in the ledger; empty for a new fact."""
    subject: str
    attribute: str
    stance: Stance = Stance.SETS
    value: DraftedValue
    is_fixed: bool = False


class BulletDraft(ReplyModel):
    """One bullet as a model drafts it; code sets its id."""

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
    """A fact to change in this stage, and the bullet that set it."""

    target_id: str
    """`u0`, `u1`, ...: name of the target in the reply."""
    fact: LedgerLine
    bullet: Bullet


class ContradictionTarget(Record):
    """A statement to contradict in this stage, and the variety of the contradiction."""

    target_id: str
    variety: str
    """`never_statement`, `other_value` or `not_yet`."""
    fact: LedgerLine | None
    bullet: Bullet


class AugmentInputs(PromptInputs):
    """Write the wording of the special bullets of one stage, whose subjects code has chosen."""

    seed: Seed
    profile: Profile
    stage: Stage
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]
    instructions: int
    """Number of standing instructions to write."""
    areas: tuple[str, ...] = ()
    """Label of a narrative for each instruction, because stages are written concurrently and must differ."""
    taken_conditions: tuple[str, ...] = ()
    """Conditions of the user's preferences, in all stages."""


class UpdateDraft(ReplyModel):
    """A changed value and the user's statement of it."""

    target_id: str
    value: DraftedValue
    text: str


class ContradictionDraft(ReplyModel):
    """A statement that contradicts its target; `value` only for `other_value`."""

    target_id: str
    text: str
    value: Annotated[DraftedValue | None, BeforeValidator(lambda v: None if _is_blank(v) else v)] = None
    variety: str = ""
    """Set if another variety than the target's fits the statement better."""


class InstructionDraft(ReplyModel):
    """A standing instruction."""

    condition: str
    requirement: str
    text: str
    topic: str


class AugmentReply(ReplyModel):
    """One draft for each target, and the requested instructions."""

    updates: Annotated[list[UpdateDraft], BeforeValidator(_with_values)]
    contradictions: list[ContradictionDraft]
    instructions: list[InstructionDraft]
