"""Contradictions as slips: which statements people misremember, and how far from them a slip is told.

"I have never telephoned Chloe" three days after a meal cooked with her on the telephone is no slip: an assistant that
says nothing looks foolish, and so does the user. A slip is about one of the kinds of `Slip`, and stands at least
APART_MESSAGES messages and APART_DAYS days from its statement and from every scene that makes it absurd.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.layout import Layout
from longbeam.generators.ledger import Ledger
from longbeam.generators.mentions import DECIDED, Mentions
from longbeam.prompts.calls import Place, Slip
from longbeam.schemas import CLOSING, Assertion, Bullet, BulletKind, Fact, Plan, Value, ValueKind
from longbeam.text import says

APART_MESSAGES, APART_DAYS = 20, 14
"""Least distance between a slip and its statement, and between a slip and every scene that makes it absurd.

Both hold at every length. A conversation of 16K has some 60 messages, so its slips all stand in the second stage and
are about the first; a plan that has too few such places gets fewer contradictions.
"""
DENIABLE = {
    ValueKind.DATE: Slip.DAY,
    ValueKind.DURATION: Slip.LENGTH,
    ValueKind.NUMBER: Slip.COUNT,
    ValueKind.MONEY: Slip.PRICE,
    ValueKind.RATIO: Slip.SHARE,
    ValueKind.NAME: Slip.NAME,
    ValueKind.VERSION: Slip.NAME,
}
"""Slips about a value that was told once and for all."""
REPEATED, LEAST_REPEATED = 0.4, 2
"""Share of the words of a statement, beside its topic's, that a bullet has which tells it again; and their least number
where the bullet may be about something else."""
_HABIT = re.compile(
    r"\b(?:usually|mostly|as a rule|always|(?:every|each|most) (?:single )?(?:day|week|weekend|month|morning|evening|"
    r"night|time|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?|(?:once|twice) a (?:day|week|month)|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
"""Words of a habit."""
_DAILY = re.compile(
    r"\b(?:(?:every|each|most) (?:single )?(?:day|morning|evening|night|time)s?|daily|always|all the time)\b",
    re.IGNORECASE,
)
"""Words of daily use, which nobody forgets."""


_DONE = re.compile(
    r"\bI(?:['’]ve| have| had)? (?:(?:just|finally|now) )?(?:\w+ed|"
    r"bought|built|drew|found|gave|given|got|made|met|paid|put|"
    r"ran|sent|set|sold|taken|took|tried|went|written|wrote)\b"
)
"""Words that tell something as done."""


_SPENT = re.compile(
    r"\b(?:paid|spent|bought|laid out|came to|cost (?:me|us)|has cost|went into|receipts?|charged me|invoiced)\b",
    re.IGNORECASE,
)
"""Words of money that is gone."""


def slips_of(bullet: Bullet, fact: Fact) -> tuple[Slip, ...]:
    """Return the slips by which a user may contradict a bullet; none for what nobody gets wrong.

    The end of a story is never contradicted: nothing comes after it.
    """
    if bullet.variety == CLOSING:
        return ()
    found = [DENIABLE[fact.kind]] if fact.is_fixed and fact.kind in DENIABLE else []
    if _HABIT.search(bullet.text) or _DAILY.search(bullet.text):
        found += [] if _DAILY.search(bullet.text) else [Slip.HABIT]
    elif bullet.kind is BulletKind.EVENT and _DONE.search(bullet.text) and not _is_choice(bullet, fact):
        found.append(Slip.ONCE)  # what others did is not the user's to deny
    return tuple(found)


def _is_choice(bullet: Bullet, fact: Fact) -> bool:
    """Return whether a bullet tells what somebody chose, which nobody has never done."""
    return fact.kind is ValueKind.NAME or bool(DECIDED.search(bullet.text))


def is_settled(ledger: Ledger, bullet: Bullet, assertion: Assertion, place: Place) -> bool:
    """Return whether a value that its slot lets change can no longer do so at a place, so that another one is a slip.

    That is a day that has passed, money that is spent, and what was said of a thing all of whose days have passed.
    """
    fact, value = ledger.fact[assertion.fact_id], assertion.value
    if fact.is_fixed or value is None or fact.kind not in DENIABLE or fact.kind is ValueKind.DURATION:
        return False
    if value.date is not None:
        return value.date < place.day
    if fact.kind is ValueKind.MONEY and _SPENT.search(bullet.text):
        return True
    latest = latest_day(ledger, bullet)
    return latest is not None and latest < place.day


def latest_day(ledger: Ledger, bullet: Bullet) -> dt.date | None:
    """Return the latest of the days that were said of a bullet's thing; None if no day was."""
    told = (a for b in ledger.by_topic.get(bullet.topic, ()) for a in ledger.by_bullet.get(b.bullet_id, ()))
    return max((a.value.date for a in told if a.value is not None and a.value.date is not None), default=None)


def scenes_against(slip: Slip, bullet: Bullet, assertion: Assertion, mentions: Mentions) -> tuple[Bullet, ...]:
    """Return the bullets beside which a slip would be absurd, its statement included.

    Whether something was done at all is absurd beside every scene of the thing; another value is beside those that
    say the right one.
    """
    scenes = mentions.of(bullet.topic)
    if slip is Slip.NAME and assertion.value is not None:
        scenes = mentions.of(assertion.value.text)
    elif slip.variety == "other_value":
        scenes = tuple(b for b in scenes if _tells(mentions.ledger, b, assertion.fact_id, assertion.value))
    return (bullet, *(b for b in scenes if b.bullet_id != bullet.bullet_id))


def aftermath(bullet: Bullet, assertion: Assertion, mentions: Mentions) -> tuple[Bullet, ...]:
    """Return the bullets that may tell how a day went which a bullet announced: a slip about it is not near them."""
    day = assertion.value.date if assertion.value is not None else None
    if day is None or day < bullet.happens_on:
        return ()
    return tuple(b for b in mentions.of(bullet.topic) if b.happens_on >= day and b.bullet_id != bullet.bullet_id)


def is_told_again(slip: Slip, bullet: Bullet, scenes: Sequence[Bullet], mentions: Mentions) -> bool:
    """Return whether another of its scenes tells what a slip is about: nobody gets wrong what they have told twice.

    Nobody denies a thing altogether to which anything comes back later, in whatever words.
    """
    position = mentions.ledger.position
    others = [b for b in scenes if b.bullet_id != bullet.bullet_id]
    if slip.variety == "other_value":
        return bool(others)
    told = position[bullet.bullet_id]
    return any(position[b.bullet_id] > told or _repeats(b, bullet, mentions, least=1) for b in others)


def is_fresh(bullet: Bullet, just_told: Iterable[Bullet], mentions: Mentions) -> bool:
    """Return whether one of the bullets told just before repeats much of a statement, so that it is no slip there."""
    return any(_repeats(b, bullet, mentions, least=LEAST_REPEATED) for b in just_told)


def _repeats(other: Bullet, bullet: Bullet, mentions: Mentions, *, least: int) -> bool:
    own = mentions.own_words[bullet.bullet_id]
    return len(own & mentions.words[other.bullet_id]) >= max(REPEATED * len(own), least)


def _tells(ledger: Ledger, bullet: Bullet, fact_id: str, value: Value | None) -> bool:
    asserted = any(a.fact_id == fact_id for a in ledger.by_bullet.get(bullet.bullet_id, ()))
    return asserted or (value is not None and says(bullet.text, value))


@dataclass(frozen=True)
class Pace:
    """Number of messages between the bullets of a plan, known before its dialogues are.

    Answers and follow-ups are left out: they only add messages.
    """

    plan: Plan
    layout: Layout

    @cached_property
    def _message_of(self) -> dict[str, float]:
        """Messages up to each bullet."""
        found: dict[str, float] = {}
        passed = 0.0
        for i, sub_plan in enumerate(self.plan.sub_plans):
            own = len(sub_plan.bullets)
            # Each special bullet has a message of its own; an ordinary message may voice several bullets.
            turns = min(self.layout.batches * self.layout.questions, own) + 3 * self.layout.specials_in(i)
            for bullet in sub_plan.bullets:
                passed += 2 * turns / own
                found[bullet.bullet_id] = passed
        return found

    def messages_between(self, one: str, other: str) -> float:
        """Return the least number of messages between two bullets; those of other plans are infinitely far away."""
        if one not in self._message_of or other not in self._message_of:
            return float("inf")
        return abs(self._message_of[one] - self._message_of[other])

    def is_apart(self, place: Place, scenes: Iterable[Bullet]) -> bool:
        """Return whether a place is far enough from all scenes, before and behind it."""
        return all(self.is_far(place, bullet.bullet_id, Place(after="", day=bullet.happens_on)) for bullet in scenes)

    def is_far(self, place: Place, bullet_id: str, told: Place) -> bool:
        """Return whether a place is APART_MESSAGES messages and APART_DAYS days from a bullet told on a day."""
        days = abs((place.day - told.day).days)
        return days >= APART_DAYS and self.messages_between(place.after, bullet_id) >= APART_MESSAGES
