"""Inputs and replies of the prompts that write the user's planned turns."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from pydantic import Field

from longbeam.prompts.calls.plans import LedgerLine, Stage
from longbeam.schemas import (
    CLOSING,
    CONFIDED,
    TELLING_KINDS,
    AdviceKind,
    Bullet,
    BulletKind,
    KeptJson,
    Person,
    Profile,
    PromptInputs,
    Record,
    ReplyModel,
    Seed,
    Value,
)

_SPARE = TELLING_KINDS | {BulletKind.UPDATE, BulletKind.CONTRADICTION, BulletKind.SIDE}


def most_unsaid(bullets: int) -> int:
    """Return how many bullets of a call may be left unsaid: one of three, and one of a few."""
    return -(-bullets // 3)


class BulletBrief(Record):
    """A bullet with its assertions, as the writers of turns and replies see it."""

    bullet: Bullet
    facts: tuple[LedgerLine, ...] = ()
    """Facts that the bullet sets, updates or denies; `value` is the asserted value."""
    old_values: tuple[Value | None, ...] = ()
    """Previous value of each fact, or None."""
    is_outdated: bool = False
    """Whether a value that the bullet's text states has changed since; `facts` then hold the present values."""

    @property
    def may_be_unsaid(self) -> bool:
        """Whether a story can do without the bullet: it neither begins nor ends it, and no wish rests on it."""
        return self.bullet.kind in _SPARE and self.bullet.variety not in (CLOSING, CONFIDED)


class Opening(StrEnum):
    """How a message begins."""

    NEWS = "news"
    """With what happened or what the user is about to do."""
    QUESTION = "question"
    """With the question; what it rests on follows."""
    GREETING = "greeting"
    ASIDE = "aside"
    """With a few words that lead over, as in `one more thing`."""
    THOUGHT = "thought"
    """In the middle of a thought, as one talks to oneself."""


class Paste(StrEnum):
    """Material that a message shows."""

    NOTHING = ""
    TEXT = "text"
    """Words of somebody else, quoted."""
    LOG = "log"
    CODE = "code"
    WORK = "work"
    """Steps of a solution."""


LONGEST_WITH_MATERIAL, CHARS_PER_WORD = 6_000, 12
"""Characters of a message with pasted material, and for each word of one without."""


class Typo(Record):
    """A wrong value that the writer corrects in the same message; no fact has it."""

    said: Value
    meant: Value


class SpokenDay(Record):
    """A day as the plan writes it, and as the message says it."""

    text: str
    said: str


class ToldOn(Record):
    """The day of a bullet that a message tells some days later, together with a newer one."""

    bullet_id: str
    day: dt.date
    said: str
    """The day as people say it on the day of the message."""


class TurnCard(Record):
    """Card that code draws for one message: the bullets that it tells, its length, and what people put in besides."""

    bullet_ids: tuple[str, ...] = ()
    """Bullets that the message tells; empty for one that only asks on."""
    asks_about: str = ""
    """The one of several bullets that its question is about, as the reply brings something in on it; empty: any."""
    least_words: int
    most_words: int
    opening: Opening = Opening.NEWS
    feeling: str = ""
    """Feeling that the message lets through; empty: none."""
    paste: Paste = Paste.NOTHING
    slip: Typo | None = None
    callback: str = ""
    """Advice that the message comes back to: `the steps for the roof`; empty: none."""
    has_aside: bool = False
    """Whether it has a remark on something else."""
    wants: AdviceKind | None = None
    """Whether its question asks for a figure to go by, for the options, or for the steps; None: as it comes."""
    asks_to_confirm: bool | None = None
    """Whether a wish is to be acknowledged, and nothing else asked; None for a message without a wish."""
    days: tuple[SpokenDay, ...] = ()
    told_on: tuple[ToldOn, ...] = ()


def longest_message(cards: Sequence[TurnCard]) -> int:
    """Return the characters that a message may have in a reply to these cards: twice the words of the longest."""
    if not cards or any(card.paste for card in cards):
        return LONGEST_WITH_MATERIAL
    return CHARS_PER_WORD * max(card.most_words for card in cards)


def in_full(text: str, days: Iterable[SpokenDay]) -> str:
    """Return a message with the days that its card lets it say shortly, as the plan writes them.

    A short day may begin a sentence: `Last Wednesday`. The `Friday` of a card is not in `last Friday`.
    """
    for day in days:
        if day.text not in text:
            short = re.escape(day.said[1:])
            text = re.sub(rf"(?<![Ll]ast )\b[{day.said[0].lower()}{day.said[0].upper()}]{short}\b", day.text, text)
    return text


class PastedFile(Record):
    """Code of a named file, as a message of the user's pasted it last."""

    name: str
    code: str
    is_cut: bool = False
    """Whether the code went on where it was too long to be shown."""


class TurnsSoFar(KeptJson):
    """Position of a call's turns in their sub-plan; no prompt shows it."""

    first_ordinal: int
    """Ordinal of the first of the turns."""
    asked: tuple[str, ...] = ()
    """Earlier messages of the sub-plan beside those in `asked_before`, which has the newest alone."""


class UserTurnsInputs(PromptInputs):
    """Write the user's questions for one batch of bullets."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    voice: tuple[str, ...] = ()
    """How the user writes."""
    stage: Stage
    batch: tuple[BulletBrief, ...]
    """Bullets to voice, each exactly once; empty if the call asks for further questions only."""
    about: tuple[BulletBrief, ...] = ()
    """Bullets already voiced, for further questions."""
    context: tuple[Bullet, ...] = ()
    """Bullets before the batch, newest last."""
    questions: int
    """Number of turns."""
    cards: tuple[TurnCard, ...] = ()
    """A card for each turn, in order."""
    asked_before: tuple[str, ...] = ()
    """The last questions, which the reply must not repeat."""
    files: tuple[PastedFile, ...] = ()
    """Files that earlier messages of the sub-plan pasted; empty where no card pastes code."""


class UserTurnDraft(ReplyModel):
    """One question; `voices` are the bullets that it states, `asks_about` those that it only asks about."""

    text: str
    voices: list[str] = Field(default_factory=list)
    asks_about: list[str] = Field(default_factory=list)


class MoreTurnsReply(ReplyModel):
    """The turns, in order."""

    turns: list[UserTurnDraft]


class UserTurnsReply(MoreTurnsReply):
    """The turns of a batch."""

    unsaid: list[str] = Field(default_factory=list)
    """Bullets that are better left unsaid: nobody would tell an assistant of them."""
