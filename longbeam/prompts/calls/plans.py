"""Inputs and replies of the planning prompts: plan seeds, summaries, outlines, sub-plans, augmentation."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from itertools import groupby
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from longbeam.schemas import (
    CLOSING,
    Bullet,
    BulletKind,
    Domain,
    KeptJson,
    Narrative,
    Person,
    PlanSeed,
    Profile,
    PromptInputs,
    Record,
    ReplyModel,
    Seed,
    Strategy,
    Timeline,
    Value,
    ValueKind,
)
from longbeam.text import MONTHS


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


class Span(StrEnum):
    """Part of a stage in which a narrative moves."""

    WHOLE = "whole"
    EARLY = "early"
    """Its matter comes to an end halfway."""
    LATE = "late"
    """Its matter begins halfway."""


class ProjectName(Record):
    """The one name of a thing that several messages speak of; fixed by the outline for the whole plan."""

    name: str
    what: str
    stage: int
    """Number of the first stage that knows it, from 1."""


class Stage(Record):
    """One stage of a story; code sets its days, its people and its narratives, the outline the rest."""

    stage_index: int
    first_day: dt.date
    last_day: dt.date
    cast: tuple[str, ...] = ()
    """First names of the people who play a part in it."""
    narratives: tuple[str, ...] = ()
    """Labels of the narratives that move in it."""
    spans: tuple[Span, ...] = ()
    """Part of the stage in which each of the narratives moves; empty where the outline does not say."""
    title: str = ""
    summary: str = ""
    wants: tuple[str, ...] = ()
    """Wishes of the cast in these weeks, in the order of the cast."""
    names: tuple[ProjectName, ...] = ()
    """Names of the plan's things, the same for all its stages."""

    @property
    def names_known(self) -> tuple[ProjectName, ...]:
        """Names of the things that exist in this stage."""
        return tuple(thing for thing in self.names if thing.stage <= self.stage_index + 1)

    @property
    def mondays(self) -> str:
        """The Mondays of the stage, a short calendar: `October 18, 25; November 1, 8`."""
        first = self.first_day + dt.timedelta(days=-self.first_day.weekday() % 7)
        days = (first + dt.timedelta(days=n) for n in range(0, (self.last_day - first).days + 1, 7))
        months = groupby(days, key=lambda day: MONTHS[day.month - 1])
        return "; ".join(f"{month} {', '.join(str(d.day) for d in group)}" for month, group in months)


class OutlineInputs(PromptInputs):
    """Write the development of the story from stage to stage."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    """Stages without title, summary and wants."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


class StageDraft(ReplyModel):
    """Title and summary of one stage, and what its people want, in the order in which they were given."""

    title: str
    summary: str
    wants: list[str] = Field(default_factory=list)
    spans: list[Span] = Field(default_factory=list)
    """Part of the stage in which each of its narratives moves, in the order given."""


class NameDraft(ReplyModel):
    """The name of a thing."""

    name: str
    what: str
    stage: int = 1


class OutlineReply(ReplyModel):
    """One draft for each stage, in order, and the names of the story's things."""

    stages: list[StageDraft]
    names: list[NameDraft] = Field(default_factory=list)


ONCE = "once"
"""Mark of a new slot that holds what happened once: `money, once`."""


class NewSlot(Record):
    """A slot that a bullet sets."""

    kind: ValueKind
    is_fixed: bool
    """Whether it holds what happened once, and cannot change."""
    day: dt.date | None = None
    """Dates: the day."""
    like: str = ""
    """Attribute of an earlier slot of another thing, whose name this one takes; empty for a name of its own."""

    @property
    def code(self) -> str:
        """The slot in a reply: `money`, or `money, once`."""
        return f"{self.kind.value}, {ONCE}" if self.is_fixed else self.kind.value

    @property
    def wording(self) -> str:
        """The slot as the sheet describes it: `an amount of money`."""
        if self.kind is ValueKind.NAME and not self.is_fixed:
            return "the name of what was chosen and could be chosen anew (a firm, a place, a make)"
        return _WORDINGS[self.kind]


_WORDINGS = {
    ValueKind.DATE: "a day",
    ValueKind.DURATION: "a length of time",
    ValueKind.MONEY: "an amount of money",
    ValueKind.NUMBER: "a number of something",
    ValueKind.RATIO: "a share in per cent",
    ValueKind.VERSION: "a version number",
    ValueKind.NAME: "the name of a thing",
    ValueKind.EXPRESSION: "a formula or an error message",
    ValueKind.TEXT: "a detail in words",
}


class SheetLine(Record):
    """One bullet as code draws it, before a model words it."""

    line: int
    """Place in the stage, from 1."""
    kind: BulletKind
    day: dt.date
    """Day on which the user tells it."""
    narrative: str
    person: str = ""
    """First name of the person who takes part; empty for nobody in particular."""
    part: str = ""
    """`opening` for the first line of a plan, `closing` for those that end it."""
    is_last: bool = False
    """Whether the line is the last one about its narrative, before the story itself ends."""
    sets: tuple[NewSlot, ...] = ()
    changes: LedgerLine | None = None
    """The slot that gets another value, as it stands before."""
    recalls: LedgerLine | None = None
    """The slot that the bullet comes back to without its value; the announced day where it tells an outcome."""
    outcome_of: Bullet | None = None
    """The bullet that announced a day which has passed since: this one tells how it went."""
    evolves: Bullet | None = None
    """The preference that this one replaces."""
    form: str = ""
    """Form of a preference's sentence; empty for any."""

    @property
    def ends_narrative(self) -> bool:
        """Whether nothing more is told of the line's narrative."""
        return self.is_last or self.part == CLOSING

    @property
    def topic(self) -> str:
        """The bullet's topic where code knows it; empty where the writer finds it."""
        slot = self.changes or (self.recalls if self.outcome_of else None)
        return slot.subject if slot else self.evolves.topic if self.evolves else ""

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots that the bullet gives a value, as a reply names them."""
        changed = (self.changes.fact_id,) if self.changes else ()
        return (*changed, *(slot.code for slot in self.sets))


class PlanSheet(KeptJson):
    """The sheet of a whole plan, for models that answer by rule."""

    stages: tuple[tuple[SheetLine, ...], ...]
    """Lines of each stage."""


class SubPlanInputs(PromptInputs):
    """Write some bullets of one stage, which follow those before them."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    stage_index: int
    earlier_bullets: tuple[Bullet, ...]
    """All bullets before, in order."""
    lines: tuple[SheetLine, ...]
    """The bullets to write."""
    lines_left: int = 0
    """Bullets of the stage behind these."""
    last_day: dt.date | None = None
    """Day of the last of them."""
    awaited: tuple[LedgerLine, ...] = ()
    """Announced days of which a later line tells how they went."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


class FactDraft(ReplyModel):
    """A value that a drafted bullet gives a slot; code reads number, unit, currency and day out of its text."""

    slot: str
    """Id of a fact, or the code of a new slot (`NewSlot.code`)."""
    name: str
    """Attribute of a new slot; the bullet's topic is its subject."""
    value: str


def _words_of(value: object) -> object:
    """Return the words of a value; replies to earlier versions of the prompt have them beside number, unit and day."""
    return value.get("text") or "" if isinstance(value, dict) else value or ""


DraftedValue = Annotated[str, BeforeValidator(_words_of)]
"""Words of a value; code reads number, unit, currency and day out of them."""


def _filled(drafts: object) -> object:
    """Return the drafts that have a value; a draft with a blank value says nothing on its fact."""
    if not isinstance(drafts, list):
        return drafts
    return [d for d in drafts if not (isinstance(d, dict) and not str(_words_of(d.get("value"))).strip())]


LONGEST_TEXT = 480
"""Characters of a line's text that its form has room for."""


class BulletDraft(ReplyModel):
    """The words of one line of the sheet."""

    line: int
    topic: str = ""
    """Empty for a line whose topic code knows."""
    text: str
    facts: Annotated[list[FactDraft], BeforeValidator(_filled)] = Field(default_factory=list)
    condition: str = ""
    requirement: str = ""
    narrative: str = ""
    """Label of another narrative than the sheet's, where the bullet belongs to it; mostly empty."""


class SubPlanReply(ReplyModel):
    """The lines that were asked for, in order."""

    bullets: list[BulletDraft]


class Slip(StrEnum):
    """Kind of statement that people misremember, so that a contradiction of it is a slip and no loss of memory."""

    DAY = "day"
    LENGTH = "length of time"
    """How long something took, or how old it was."""
    COUNT = "count"
    """How many there were, or how often it was done."""
    PRICE = "price"
    SHARE = "share"
    NAME = "name"
    """Who did it, or which one it was."""
    ONCE = "tried once"
    """Whether something small was done at all."""
    HABIT = "small habit"

    @property
    def variety(self) -> str:
        """Variety of the contradiction: `never_statement` or `other_value`."""
        return "never_statement" if self in {Slip.ONCE, Slip.HABIT} else "other_value"


class Place(Record):
    """Place of a special bullet, drawn before it is worded."""

    after: str
    """Id of the bullet of the plan that it follows."""
    day: dt.date
    """Day on which it is told."""


class Dependent(Record):
    """A later bullet that is no longer right when an earlier value changes."""

    bullet: Bullet
    reason: str
    """How it depends on the value: `35% is a share of it`."""
    stale: tuple[LedgerLine, ...] = ()
    """Facts of the bullet that the change makes wrong."""
    kept: tuple[LedgerLine, ...] = ()
    """Its other facts."""


class UpdateTarget(Record):
    """A fact to change in this stage, and the bullet that set it."""

    target_id: str
    """`u0`, `u1`, ...: name of the target in the reply."""
    fact: LedgerLine
    bullet: Bullet
    place: Place
    dependents: tuple[Dependent, ...] = ()
    """Later bullets to be reworded without what the change makes wrong."""
    related: tuple[Bullet, ...] = ()
    """Other bullets about the same thing, outside of the stage."""


class ContradictionTarget(Record):
    """A statement that the user misremembers in this stage."""

    target_id: str
    slip: Slip
    fact: LedgerLine | None
    bullet: Bullet
    place: Place
    related: tuple[Bullet, ...] = ()
    """Other bullets about the same thing, outside of the stage."""

    @property
    def variety(self) -> str:
        """`never_statement` or `other_value`."""
        return self.slip.variety


class InstructionTarget(Record):
    """A standing instruction to write."""

    target_id: str
    area: str
    """Label of the narrative that it grows out of."""
    place: Place
    form: str = ""
    """Form of its sentence; empty for any."""


class StoryLine(Record):
    """A bullet of the stage as the writer of its special bullets sees it."""

    bullet: Bullet
    then: tuple[str, ...] = ()
    """Ids of the targets that are said right after it."""


class AugmentInputs(PromptInputs):
    """Write the wording of the special bullets of one stage, whose subjects and places code has chosen."""

    seed: Seed
    profile: Profile
    stage: Stage
    people: tuple[Person, ...]
    """The cast of the stage."""
    changed: tuple[LedgerLine, ...]
    """Values that were changed before the stage, as they are now."""
    lines: tuple[StoryLine, ...]
    """The bullets of the stage, in order."""
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]
    instructions: tuple[InstructionTarget, ...]
    taken_conditions: tuple[str, ...] = ()
    """Conditions of the user's other wishes: preferences of all stages, and the instructions so far."""


class UpdateDraft(ReplyModel):
    """A changed value and the user's statement of it."""

    target_id: str
    value: DraftedValue
    text: str


class ContradictionDraft(ReplyModel):
    """A statement that contradicts its target; `value` only for `other_value`, empty for the others."""

    target_id: str
    text: str
    value: DraftedValue = ""


class InstructionDraft(ReplyModel):
    """A standing instruction; replies to earlier versions of the prompt name no target."""

    target_id: str = ""
    condition: str
    requirement: str
    text: str
    topic: str


class RevisionDraft(ReplyModel):
    """A dependent bullet, worded without what a change makes wrong."""

    bullet_id: str
    text: str


class AugmentReply(ReplyModel):
    """One draft for each target and for each dependent bullet."""

    updates: list[UpdateDraft]
    contradictions: list[ContradictionDraft]
    instructions: list[InstructionDraft]
    revisions: list[RevisionDraft] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _with_every_list(cls, reply: object) -> object:
        """Add the lists that a reply lacks: it broke off before them, or nothing was asked for there."""
        lists: dict[str, object] = {"updates": [], "contradictions": [], "instructions": []}
        return {**lists, **reply} if isinstance(reply, dict) else reply
