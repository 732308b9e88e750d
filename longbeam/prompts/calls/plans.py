"""Inputs and replies of the planning prompts: summaries, outlines, events, sub-plans."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from itertools import groupby
from typing import Annotated

from pydantic import BeforeValidator, Field

from longbeam.schemas import (
    Bullet,
    BulletKind,
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
    open_matters: tuple[str, ...] = ()
    """What the previous plan opened and did not close."""

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


class ProjectName(Record):
    """The one name of a thing that several messages speak of; fixed by the outline for the whole plan."""

    name: str
    what: str
    stage: int
    """Number of the first stage that knows it, from 1."""


class Stage(Record):
    """One stage of a story; code sets its days, the outline the rest."""

    stage_index: int
    first_day: dt.date
    last_day: dt.date
    cast: tuple[str, ...] = ()
    """First names of the people who have a part in it."""
    narratives: tuple[str, ...] = ()
    """Labels of the narratives that move in it."""
    turns: tuple[str, ...] = ()
    """Labels of those of the narratives whose turning point the stage tells."""
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
    """Stages with their days alone."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


class StageDraft(ReplyModel):
    """One stage: what happens in it, what moves, and who has a part in it."""

    title: str
    summary: str
    narratives: list[str] = Field(default_factory=list)
    """Labels of the narratives that move in the stage."""
    people: list[str] = Field(default_factory=list)
    """First names of those who have a part in it."""
    wants: list[str] = Field(default_factory=list)
    """What these people want, in their order."""
    turns: list[str] = Field(default_factory=list)
    """Labels of the narratives whose turning point lies in the stage."""


class NameDraft(ReplyModel):
    """The name of a thing."""

    name: str
    what: str
    stage: int = 1


class OutlineReply(ReplyModel):
    """One draft for each stage, in order, and the names of the story's things."""

    stages: list[StageDraft]
    names: list[NameDraft] = Field(default_factory=list)


class Link(Record):
    """An earlier event that an event follows, and the days between the two."""

    event: str
    least: int = 0
    most: int | None = None
    """None: any number of days may pass."""


SIDE_NARRATIVE = "On the Side"
"""Narrative of what goes on beside the story."""


class OpenOn(StrEnum):
    """Days of the week on which an event can happen."""

    ANY = "any day"
    WORKDAY = "workday"
    """Monday to Friday, and no holiday of the place."""
    WEEKEND = "weekend"
    SUNDAY = "Sunday"


class Weight(StrEnum):
    """How well people remember an event."""

    TRIFLE = "trifle"
    """Small enough that its doer may forget to have done it."""
    USUAL = "usual"
    UNFORGETTABLE = "unforgettable"
    """Nobody forgets it, or gets anything about it wrong."""


class Figure(StrEnum):
    """Whether a person who tells of an event would name a value: an amount, a count, a length of time, a name."""

    NONE = "none"
    STAYS = "stays"
    """One that is paid, measured or counted with it."""
    MAY_CHANGE = "may change"
    """One that may well be another one some weeks later."""


class StoryEvent(Record):
    """One event of a story. The writer says what happens and what comes before it; code gives it its day."""

    event_id: str
    """`e12`: ordinal in the plan, from 1."""
    narrative: str
    thing: str
    """Short noun phrase for what it is about (`the lantern play`): topic of its bullet, subject of its facts."""
    what: str
    """One sentence: what happens, and why."""
    people: tuple[str, ...] = ()
    """First names of those who take part."""
    kind: BulletKind = BulletKind.EVENT
    """An introduction, an event, or a relationship: what one of the people did, said or promised."""
    part: str = ""
    """`opening` for the first event of a plan, `closing` for those that end it, `side` for those beside the story."""
    after: tuple[Link, ...] = ()
    on: dt.date | None = None
    """Day that the story itself fixes; None for most."""
    open_on: OpenOn = OpenOn.ANY
    opens: tuple[str, ...] = ()
    """Matters that begin here and have an end, such as `the offer`."""
    closes: tuple[str, ...] = ()
    is_turn: bool = False
    """Whether it is the turning point of its narrative."""
    weight: Weight = Weight.USUAL
    figure: Figure = Figure.MAY_CHANGE
    day: dt.date | None = None
    """Day on which the user tells it; None until code has given it one."""


class LogEntry(ReplyModel):
    """One time that the user did what they do again and again, with the amount of that time."""

    event: str
    """Event right after which it is told, on its day."""
    amount: str
    """Words of the text: `6 km`."""
    place: str = ""
    companion: str = ""
    """First name of somebody who was there; empty for nobody."""
    text: str


class Confidence(ReplyModel):
    """Something private that the user tells once, and the later request to keep its figure quiet."""

    thing: str
    event: str
    text: str
    """What the user tells right after the event, with the figure."""
    open: str
    """Words of the text that may be said."""
    figure: str
    """Words of the text that are to stay unsaid."""
    asked_at: str
    """Later event right after which the user asks for silence."""
    keep_from: str = ""
    """First name of who is not to learn the figure; empty: the assistant is to forget it."""
    request: str


class StageStory(Record):
    """The events of one stage, in the order of their days, and what the user tells beside them."""

    stage_index: int
    events: tuple[StoryEvent, ...]
    stays_open: tuple[str, ...] = ()
    """Opened matters that are said to have no end in this plan."""
    log: str = ""
    """What the user does again and again, in the plural: `evening runs`."""
    entries: tuple[LogEntry, ...] = ()
    confidences: tuple[Confidence, ...] = ()


class StoryGraph(KeptJson):
    """The events of a plan."""

    stages: tuple[StageStory, ...]
    counts: tuple[int, ...] = ()
    """Events that each stage was to tell; a stage may lack some, or all."""
    endings: int = 0
    """Events that were to end the plan."""
    side: tuple[int, ...] = ()
    """Ordinals of the events that were to tell side stories."""

    def events(self) -> tuple[StoryEvent, ...]:
        """Return all events in the order of the story."""
        return tuple(e for stage in self.stages for e in stage.events)

    def open_matters(self) -> tuple[str, ...]:
        """Return the matters that were opened and not closed, in the order in which they were opened."""
        still: dict[str, None] = {}
        for event in self.events():
            still |= dict.fromkeys(event.opens)
            for matter in event.closes:
                still.pop(matter, None)
        return tuple(still)


class EventsInputs(PromptInputs):
    """Tell the events of one stage, and what must come before what."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    stage_index: int
    earlier: tuple[StoryEvent, ...]
    """Events of earlier stages that this one may follow: the newest, and those that opened what is open."""
    open_matters: tuple[str, ...]
    """Opened before this stage and not closed yet."""
    numbers: tuple[int, ...]
    """Ordinals of the events to tell."""
    side: tuple[int, ...]
    """Ordinals of all events of the plan that tell side stories."""
    side_things: tuple[str, ...] = ()
    """Things of the side stories told before."""
    counts: tuple[int, ...]
    """Events of each stage of the plan."""
    endings: int
    """Events at the end of the plan that tell how things came out."""
    going_on_until: dt.date
    """Last day of the stage's events, but for those that tell how things came out, ..."""
    closing_from: dt.date
    """... and the first day of these."""
    log: str = ""
    """The user's log as earlier stages name it."""
    logged: tuple[LogEntry, ...] = ()
    """Its entries in earlier stages."""
    entries: int = 0
    """Entries that the stage may add to it."""
    confidences: int = 0
    """Confidences that it may tell."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""

    @property
    def own_numbers(self) -> range:
        """Ordinals of all events of the stage, those told already included."""
        first = 1 + sum(self.counts[: self.stage_index])
        return range(first, first + self.counts[self.stage_index])

    @property
    def closing(self) -> int:
        """Events of the stage that tell how things came out; 0 before the last stage."""
        return self.endings if self.stage_index == len(self.stages) - 1 else 0


class LinkDraft(ReplyModel):
    """An event that comes before, with the least and the most days between; null where any number may pass."""

    event: str
    least_days: int = 0
    most_days: int | None = None


class EventDraft(ReplyModel):
    """One event."""

    event: str
    narrative: str
    thing: str
    what: str
    people: list[str] = Field(default_factory=list)
    of_a_person: bool = False
    """Whether it is what one of the people did, said or promised."""
    after: list[LinkDraft] = Field(default_factory=list)
    on: str = ""
    """`2022-04-16` for a day that the story fixes; mostly empty."""
    open_on: OpenOn = OpenOn.ANY
    opens: list[str] = Field(default_factory=list)
    closes: list[str] = Field(default_factory=list)
    turning_point: bool = False
    weight: Weight = Weight.USUAL
    figure: Figure = Figure.MAY_CHANGE


class EventsReply(ReplyModel):
    """The events asked for, the opened matters that have no end in this plan, and what is told beside the events."""

    events: list[EventDraft]
    stays_open: list[str] = Field(default_factory=list)
    log: str = ""
    entries: list[LogEntry] = Field(default_factory=list)
    confidences: list[Confidence] = Field(default_factory=list)


ONCE = "once"
"""Mark of a new slot that holds what happened once: `money, once`."""


class NewSlot(Record):
    """A slot that a bullet sets."""

    kind: ValueKind
    is_fixed: bool
    """Whether it holds what happened once, and cannot change."""

    @property
    def code(self) -> str:
        """The slot in a reply: `money`, or `money, once`."""
        return f"{self.kind.value}, {ONCE}" if self.is_fixed else self.kind.value


class Quota(Record):
    """Values that a group of events is asked for, where a person would name them."""

    least: int
    wording: str
    """`days`, `amounts in USD that can be compared with the hall rent of the lantern play`."""


class SubPlanInputs(PromptInputs):
    """Word some events of one stage, which follow those before them."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    stage_index: int
    earlier_bullets: tuple[Bullet, ...]
    """All bullets before, in order."""
    events: tuple[StoryEvent, ...]
    """The events to word."""
    following: tuple[StoryEvent, ...] = ()
    """The next events, which others word, and later ones that follow from these."""
    slots: tuple[LedgerLine, ...] = ()
    """Values of the matters that these events are about, as they stand."""
    quotas: tuple[Quota, ...] = ()
    """Menu for all events together."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


class FactDraft(ReplyModel):
    """A value that a drafted bullet gives a slot; code reads number, unit, currency and day out of its text."""

    slot: str
    """Id of a fact, or the code of a new slot (`NewSlot.code`)."""
    name: str
    """Attribute of a new slot; the bullet's topic is its subject."""
    value: str
    day: str = ""
    """`2024-03-05` of a date in another language than English, of which code reads no days."""


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
    """The words of one event."""

    event: str
    text: str
    facts: Annotated[list[FactDraft], BeforeValidator(_filled)] = Field(default_factory=list)


class SubPlanReply(ReplyModel):
    """The events that were asked for, in order."""

    bullets: list[BulletDraft]
