"""The scaffold of a conversation: narratives, plans, and the ledger of facts they assert.

A `Fact` is a timeless slot; an `Assertion` is a bullet's statement on it. Contradictions and stale gold answers are
found by queries on the two.
"""

from __future__ import annotations

import datetime as dt
import re
from enum import StrEnum

from pydantic import Field

from longbeam.keys import SubPlanKey
from longbeam.schemas.base import Record
from longbeam.schemas.seeds import DomainName, MaybeDomain, Timeline


class Narrative(Record):
    """One evolving aspect of the story; bullets name it by `label`."""

    label: str
    description: str
    sub_labels: tuple[str, ...] = Field(min_length=1, max_length=6)


class PlanSeed(Record):
    """Topic and time bounds of one plan of a conversation of many plans."""

    plan_index: int
    domain: DomainName
    touches: MaybeDomain = None
    """Second domain that this part of the story touches."""
    topic: str
    theme: str
    subtopics: tuple[str, ...] = Field(min_length=1)
    timeline: Timeline
    """The plan's own part of the story's timeline; plans follow each other day on day."""
    phase: str = ""
    """Stage of life, or phase of the storyline, in a few words."""
    tense: str = ""
    """Past, present and future at the beginning of the plan, in one sentence."""
    can_mention: tuple[str, ...] = ()
    """Subjects that this plan alone introduces; later plans may come back to them."""
    cannot_mention: tuple[str, ...] = ()
    """Subjects reserved for other plans."""


class BulletKind(StrEnum):
    """Purpose of a bullet; the last five kinds are added to the plan's own."""

    INTRODUCTION = "introduction"
    EVENT = "event"
    RELATIONSHIP = "relationship"
    PREFERENCE = "preference"
    UPDATE = "update"
    INSTRUCTION = "instruction"
    CONTRADICTION = "contradiction"
    SIDE = "side"
    """What goes on beside the story: an entry of a series that the user keeps telling, or a confidence."""
    PASTED = "pasted"
    """A document of somebody else that the user pastes: its claims are no statements of the user's, and no facts."""


SPECIAL_KINDS = frozenset(
    {BulletKind.UPDATE, BulletKind.INSTRUCTION, BulletKind.CONTRADICTION, BulletKind.SIDE, BulletKind.PASTED}
)
TELLING_KINDS = frozenset({BulletKind.EVENT, BulletKind.RELATIONSHIP})
"""Kinds of a plan's own bullets that set facts; special bullets change or contradict these."""


class ValueKind(StrEnum):
    """Type of a value; comparable types have a `number` or a `date` beside their text."""

    DATE = "date"
    DURATION = "duration"
    NUMBER = "number"
    MONEY = "money"
    RATIO = "ratio"
    VERSION = "version"
    NAME = "name"
    EXPRESSION = "expression"
    TEXT = "text"


AMOUNT_KINDS = frozenset({ValueKind.NUMBER, ValueKind.MONEY, ValueKind.DURATION})
"""Kinds of values that count or measure something in a unit, so that two of one unit can be added; a ratio is none."""
SECONDS_PER_UNIT = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}
"""Seconds of the units of exact length, in which lengths of two units are added and compared."""
MONTHS_PER_UNIT = {"months": 1, "quarters": 3, "years": 12}
"""Months of the units without an exact length."""
_LOOSE = re.compile(r"[\s.,'’\"-]+")
"""Characters of a name that people write or leave out: `Dr. Weber`, `7 p.m.`."""


class Value(Record):
    """A typed value: `text` is its wording; `number`, `unit` and `date` are its meaning."""

    kind: ValueKind
    text: str = Field(min_length=1)
    number: float | None = None
    """Amount for duration, number, money, ratio (a share: 0.35 for 35 %)."""
    unit: str = ""
    """`days`, `USD`, `users`, ...; empty for none."""
    date: dt.date | None = None

    def means_same_as(self, other: Value) -> bool:
        """Whether two values are equal as typed values, whatever their wording."""
        return self.meaning == other.meaning

    @property
    def meaning(self) -> tuple[object, ...]:
        """Key that is equal for values that mean the same: `2 weeks` and `14 days`, `Dr. Weber` and `dr weber`.

        A day or an amount that could not be read is compared by its wording.
        """
        if self.date is not None:
            return self.kind, self.date
        if self.number is not None:
            return self.kind, *self._amount
        text = _LOOSE.sub("", self.text) if self.kind is ValueKind.NAME else self.text
        return self.kind, text.casefold()

    @property
    def _amount(self) -> tuple[float | None, str]:
        """Number and unit; lengths of time in the unit that all of their kind have in common."""
        if self.kind is ValueKind.DURATION and self.number is not None:
            for unit, factors in (("seconds", SECONDS_PER_UNIT), ("months", MONTHS_PER_UNIT)):
                if self.unit in factors:
                    return self.number * factors[self.unit], unit
        return self.number, self.unit


class Stance(StrEnum):
    """Effect of a bullet on a fact."""

    SETS = "sets"
    UPDATES = "updates"
    DENIES = "denies"
    MENTIONS = "mentions"


class Fact(Record):
    """A timeless slot, such as (the login page, target date); values are in the assertions."""

    fact_id: str
    """`p0.f12`: plan index and ordinal within the plan."""
    subject: str
    attribute: str
    kind: ValueKind
    is_fixed: bool = False
    """True for an event or a measurement, which can be denied or misremembered, never updated."""
    side_story: str = ""
    """Name of the side story that the fact belongs to; questions on single facts leave such facts alone."""

    @property
    def slot(self) -> str:
        """Name of the slot in a question."""
        return slot_key(self.subject, self.attribute)


def slot_key(subject: str, attribute: str) -> str:
    """Return a subject and attribute as one key, folded."""
    return f"{subject}\n{attribute}".casefold()


class Assertion(Record):
    """Statement of a bullet on a fact."""

    bullet_id: str
    fact_id: str
    stance: Stance
    value: Value | None = None
    """None only for a denial of the whole fact."""


CONFIDED = "confided"
"""Variety of what the user tells in confidence: the request to keep it quiet rests on it."""
CLOSING = "closing"
"""Variety of the events that end the story; nothing follows them."""


class Bullet(Record):
    """One statement of the story in a sub-plan."""

    bullet_id: str
    """`p0.s2.b7`: plan, sub-plan, ordinal in the sub-plan."""
    kind: BulletKind
    narrative: str
    """Label of one of the conversation's narratives."""
    topic: str
    """Subject of the bullet, a short noun phrase (`the login page`)."""
    text: str
    """The statement, in the first person, with its values."""
    happens_on: dt.date
    """Day on which the user tells it; never before the sub-plan's anchor or the previous bullet."""
    target_bullet_id: str | None = None
    """The bullet that an update supersedes or a contradiction contradicts."""
    condition: str = ""
    """Instructions and preferences: their condition (`when I ask about costs`)."""
    requirement: str = ""
    """Instructions and preferences: a checkable claim about a compliant answer."""
    variety: str = ""
    """Contradictions: `never_statement`, `other_value`, `not_yet`. Preferences: `evolved` for a changed one.
    Instructions: `forget` and `keep_from` for what is to stay unsaid. Events: `closing` for those that end the story,
    `taken` for the choice of one of the assistant's options, `outcome` for how an announced day went."""


TAKEN = "taken"
"""Variety of the events by which the user says which of the assistant's options they took."""
OUTCOME = "outcome"
"""Variety of the events that tell how an announced day went: that day, and not the day of telling, is theirs."""


class AdviceKind(StrEnum):
    """Kind of advice that the assistant gives."""

    FIGURE = "figure"
    """An amount that it works out from one of the user's."""
    DAY = "day"
    """A day that it sets."""
    OPTIONS = "options"
    """A list to choose from; the user may say later which of them they took."""
    STEPS = "steps"
    """A plan: what to do, in its order."""
    USE = "use"
    """An amount of money to set aside, and what it is for."""
    CORRECTION = "correction"
    """A figure or a day in place of one that it gave before."""


class Advice(Record):
    """Something that the assistant brings in, and that nobody else says; code decides where it stands and its value."""

    advice_id: str
    """`p0.s2.a1`: plan, sub-plan, ordinal in the sub-plan."""
    kind: AdviceKind
    bullet_id: str
    """The user's bullet whose message the reply answers; in imported chats the bullet that the reply itself voices."""
    narrative: str
    topic: str
    """Subject of the advice, a short noun phrase."""
    attribute: str
    """Attribute of the subject that the advice gives: `safety margin`, `options`, `steps`, `use of the money`."""
    text: str
    """The statement, as the assistant would say it, with its value and items."""
    value: Value | None = None
    """Value of a figure, a day or a correction, and the amount of a use."""
    items: tuple[str, ...] = ()
    """The options or steps, in their order, or the one thing that the amount of a use is for."""
    corrects: str = ""
    """Id of the advice that a correction replaces."""
    taken: int = 0
    """Ordinal, from 1, of the option that the user took; 0: they do not say."""
    taken_in: str = ""
    """Id of the bullet that says so."""

    @property
    def sub_plan(self) -> str:
        """`p0.s2`."""
        return self.advice_id.rpartition(".")[0]

    @property
    def given(self) -> str:
        """Value and items, which a reply has to say."""
        return "; ".join([*([self.value.text] if self.value else []), *self.items])


class SubPlan(Record):
    """One stage of the story."""

    plan_index: int
    sub_plan_index: int
    anchor: dt.date
    """First day of the stage; strictly increasing over sub-plans."""
    bullets: tuple[Bullet, ...]

    @property
    def key(self) -> str:
        """`p0.s2`."""
        return str(SubPlanKey(self.plan_index, self.sub_plan_index))


class Plan(Record):
    """A plan and its ledger. Augmentation returns a new plan; records are never edited."""

    plan_index: int
    sub_plans: tuple[SubPlan, ...]
    facts: tuple[Fact, ...]
    assertions: tuple[Assertion, ...]
    """In the order of the bullets that make them."""
    advice: tuple[Advice, ...] = ()
    """Advice that the assistant gives, in the order of the story."""

    def bullets(self) -> tuple[Bullet, ...]:
        """All bullets in the order of the story."""
        return tuple(b for s in self.sub_plans for b in s.bullets)
