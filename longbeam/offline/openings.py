"""Beginnings and ends of replies: a response to the user's statement, compliance with wishes, a last line.

The templates here fit any domain; the packs have the texts on the subject.
"""

from __future__ import annotations

import datetime as dt
import random
import re

from longbeam.offline.language import fill, phrases, upper_first
from longbeam.offline.packs import Pack, fields_of, wishes
from longbeam.prompts.calls import BulletBrief, LedgerLine
from longbeam.schemas import Bullet, BulletKind, ValueKind
from longbeam.text import times

_UPDATE = phrases("openings", "update")
_WISH = phrases("openings", "wish")
_INTRODUCTION = phrases("openings", "introduction")
_DENIAL = phrases("openings", "denial")
_TOLD_OTHERWISE = phrases("openings", "told_otherwise")
"""Responses to another value: nobody who is nearly through with a thing begins from nothing."""
_PASTED = phrases("openings", "pasted")
"""Responses to a document of somebody else's that the user asks to have reworded."""
_DATE = phrases("openings", "date")
_PAST = phrases("openings", "past")
_AMOUNT = phrases("openings", "amount")
_NAMED = phrases("openings", "named")
_PEOPLE = phrases("openings", "people")
_OCCASIONS = {
    "next visit date": "the visit", "call date": "the call", "date of the family talk": "the talk",
    "length of the friendship": "your friendship", "loan": "the loan", "offered help": "the help on offer",
    "meeting place": "the meetings", "starting gift": "the present",
}  # fmt: skip
"""Occasion by attribute of a person. Counts of repetition mask the names of people, but not occasions."""


def occasion_of(brief: BulletBrief | None) -> str:
    """Return the current occasion with a person: `the visit`."""
    for line in brief.facts if brief else ():
        if line.attribute in _OCCASIONS:
            return _OCCASIONS[line.attribute]
    return "all this"


def opening(brief: BulletBrief | None, thing: str, user_text: str, today: dt.date, rng: random.Random) -> str:
    """Return one or two sentences in response to the user's statement; empty if there is nothing to respond to."""
    if brief is None:
        return ""
    kind = brief.bullet.kind
    if kind is BulletKind.INTRODUCTION:
        name = next((f.value.text for f in brief.facts if f.attribute == "full name" and f.value), "")
        return rng.choice(_INTRODUCTION).format(name=name.split(" ")[0] or "and welcome")
    if kind in {BulletKind.INSTRUCTION, BulletKind.PREFERENCE}:
        return rng.choice(_WISH)
    if kind is BulletKind.CONTRADICTION:
        return fill(rng.choice(_TOLD_OTHERWISE if brief.bullet.variety == "other_value" else _DENIAL), {"it": thing})
    if kind is BulletKind.PASTED:
        return fill(rng.choice(_PASTED), {"it": thing})
    # A fact about the user, such as an age, is no value of the thing.
    lines = [line for line in brief.facts if line.value is not None and line.subject != "me"]
    if not lines:
        return ""
    named = [line for line in lines if line.value is not None and line.value.text in user_text]
    line = rng.choice(named or lines)
    if kind is BulletKind.RELATIONSHIP:
        return upper_first(fill(rng.choice(_PEOPLE), {"it": thing, "about": occasion_of(brief)}))
    if kind is BulletKind.UPDATE and line.value is not None:
        fields = {"it": thing, "attribute": line.attribute, "new": line.value.text}
        return upper_first(fill(rng.choice(_UPDATE), fields))
    return about_value(line, thing, today, rng)


_ROOM = (
    ("enough room", "plenty of time", "a good deal of time"),
    ("room for the essentials", "time for the main things", "a fair amount of time"),
    ("not much slack", "little time", "a tight schedule"),
)
"""Phrases for the days left: many, some, few."""


def about_value(line: LedgerLine, thing: str, today: dt.date, rng: random.Random) -> str:
    """Return a sentence that uses one of the user's values."""
    value = line.value
    assert value is not None
    fields = {"it": thing, "attribute": line.attribute, "value": value.text}
    if value.kind is ValueKind.DATE and value.date is not None:
        days = (value.date - today).days
        if days > 0:
            fields |= {
                "days": f"{days} days" if days != 1 else "one day",
                "distance": f"{days} days away" if days != 1 else "tomorrow",
                "room": rng.choice(_ROOM[0 if days > 20 else 1 if days > 9 else 2]),
            }
            return upper_first(fill(rng.choice(_DATE), fields))
        if days > -2:
            return ""
        fields["days"] = f"{-days} days"
        return upper_first(fill(rng.choice(_PAST), fields))
    pool = _NAMED if value.number is None else _AMOUNT
    return upper_first(fill(rng.choice(pool), fields))


_AFTER_ANSWER = phrases("openings", "after_answer")


_TAKEN_UP = phrases("openings", "taken_up")
LONGEST_QUOTE = 90
"""Characters of an answer that a reply quotes at most; more would be an echo."""


def after_answer(thing: str, user_text: str, rng: random.Random) -> str:
    """Return a response to the user's answer, often with a sentence of it."""
    sentences = (s.strip() for s in re.split(r"(?<=[.!?])\s+", user_text))
    said = next((s.rstrip(".!") for s in sentences if len(s.split()) > 4), "")
    if said and len(said) <= LONGEST_QUOTE and '"' not in said and "?" not in said and rng.random() < 0.6:
        return fill(rng.choice(_TAKEN_UP), {"it": thing, "said": said})
    return fill(rng.choice(_AFTER_ANSWER), {"it": thing})


_IDLE_WORDS = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "when whenever about ask asks asked asking talk talking come comes ever something anything with what where "
        "which whether why how who for the and that this may can could should would does done doing someone somebody "
        "others certain way ways thing things you your from into over them they have has are was were will not all any "
        "put job matter say look take see get run mean means try new far left name stand reach start begin work works "
        "next wrong good together"
    ).split()
)
"""Words of a condition that do not name its subject."""


def concerns(condition: str, text: str) -> bool:
    """Whether a text is about a condition's subject: it has both of its telling words, or half of more than two."""
    words = {w[:6] for w in re.findall(r"[a-z]{3,}", condition.casefold()) if w not in _IDLE_WORDS}
    found = words & {w[:6] for w in re.findall(r"[a-z]{3,}", text.casefold())}
    return bool(found) and (found == words or len(words) > 2) and 2 * len(found) >= len(words)


def honour_of(pack: Pack, bullet: Bullet, thing: str, rng: random.Random) -> str:
    """Return the pack's sentence that complies with an instruction or preference; empty if it has none.

    Without a thing it is one that names none.
    """
    known = wishes(pack)
    later = [p.later for p in known.preferences if p.later]
    for wish in (*known.instructions, *known.preferences, *later):
        if wish.requirement == bullet.requirement and wish.condition == bullet.condition:
            fitting = [text for text in wish.honour if thing or not fields_of(text)]
            return fill(rng.choice(fitting), {"it": thing}) if fitting else ""
    return ""


_CLOSINGS = phrases("openings", "closings")


def closing(thing: str, today: dt.date, rng: random.Random) -> str:
    """Return a last line that is no question."""
    soon = times.weekday(today + dt.timedelta(days=rng.randint(2, 5)))
    return fill(rng.choice(_CLOSINGS), {"it": thing, "weekday": soon})
