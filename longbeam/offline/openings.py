"""Beginnings and ends of replies: a response to the user's statement, compliance with wishes, a last line.

The templates here fit any domain; the packs have the texts on the subject.
"""

from __future__ import annotations

import datetime as dt
import random
import re

from longbeam.offline.language import fill, upper_first
from longbeam.offline.packs import Pack, fields_of, wishes
from longbeam.prompts.calls import BulletBrief, LedgerLine
from longbeam.schemas import Bullet, BulletKind, ValueKind
from longbeam.text import times

_UPDATE = (
    "Noted: the {attribute} for {it} is {new}.",
    "Then we work with {new} as the {attribute} for {it}.",
    "{new} it is, then, for the {attribute} of {it}.",
    "All right, {new} replaces what we had as the {attribute} for {it}.",
    "Thanks for telling me. From here on I take the {attribute} of {it} to be {new}.",
)
_WISH = (
    "Understood, and I will keep to it.",
    "That is easy to do, and I will.",
    "Good to know; I will hold on to that.",
    "Fine, that is how we do it from here on.",
    "Thank you for saying so. I will stick to it.",
    "Agreed, and remind me if I ever slip.",
    "Yes, that is how I will do it from this message on.",
    "I have noted it and will answer that way.",
    "Gladly, it makes my answers more useful to you.",
    "That is a clear wish, and I will follow it.",
    "Consider it settled.",
)
_INTRODUCTION = (
    "Nice to meet you, {name}. That is a good deal to start from.",
    "Welcome, {name}, and thank you for the background; it helps me to be specific.",
    "Good to meet you, {name}. Let me take your question first and the rest as it comes.",
)
_DENIAL = (
    "Then let us take {it} from the beginning.",
    "In that case, here is how I would approach {it}.",
    "All right. For {it}, the first steps matter more than the clever ones.",
    "Let us look at {it} with fresh eyes, then.",
    "Good to know, and it keeps things simple: {it} starts from zero.",
    "Then nothing about {it} has to be undone, and we can begin.",
)
_TOLD_OTHERWISE = (
    "All right, let us look at {it} from there.", "Then I take {it} as you describe it now.",
    "Good that you say where {it} stands.", "I see; with {it}, the next step counts now.",
)  # fmt: skip
"""Responses to another value: nobody who is nearly through with a thing begins from nothing."""
_PASTED = (
    "Shorter, and without the figure, which nobody has checked: “{it} keeps the family busy.”",
    "In one line: “There is news of {it}.” I would leave the figure out until you have checked it.",
    "Less would do: “{it}: much has happened.” The figure is not yours, so it does not belong in there.",
)
"""Responses to a document of somebody else's that the user asks to have reworded."""
_DATE = (
    "{value} is {distance}, so there is {room} for {it}.",
    "Counting from today, {value} leaves {it} {days}, which is {room}.",
    "You have {days} until {value}; for {it} that is {room}.",
    "Between now and {value} lie {days}, which decides the order of things on {it}.",
    "With {value} as the {attribute}, {days} remain for {it}, and that is {room}.",
    "From today to {value} I count {days} for {it}, and {room}.",
    "{value} gives {it} {room}: {days}, to be exact.",
    "With {it}, everything has to fit in before {value}, and that is {days} from now.",
    "The {attribute} of {it}, {value}, is {distance}: {room}.",
    "As the {attribute} for {it} is {value}, I have planned with {days} and {room}.",
    "{days} are left until {value}, so {it} has {room}.",
)
_PAST = (
    "That was {days} ago, so {it} is still fresh enough to learn from.",
    "Since {value}, {days} have gone by; that is long enough to see what holds with {it}.",
    "With {it}, {value} now lies {days} back.", "As for {it}, {days} have gone by since {value}.",
    "{value} was {days} ago, so {it} has had some time.", "Since {value}, {it} has had {days}.",
    "We are {days} past {value} with {it}.", "{value} is {days} past, and {it} has moved on since.",
    "Counting from {value}, {it} has had {days} to settle.", "{days} after {value} one can judge {it} calmly.",
    "The {attribute} of {it} was {value}, {days} ago, and I start from there.",
)  # fmt: skip
_AMOUNT = (
    "I take {value} as the {attribute} of {it} and start from there.",
    "{value} as the {attribute} of {it}: that is something to work with.",
    "So the {attribute} of {it} is {value}, and what follows fits that.",
    "Let us take {value} as given for the {attribute} of {it}.",
    "Good to have the figure: {value} for the {attribute} of {it}.",
    "With {value} as the {attribute}, {it} is easier to judge.",
    "Then {it} goes with {value} as the {attribute}.",
    "{value} for the {attribute}, then; that helps with {it}.",
    "At {value}, the {attribute} of {it} is the figure to keep an eye on.",
    "With the {attribute} of {it} at {value}, I would go about it like this.",
    "{value} is what I have noted as the {attribute} of {it}.",
    "Knowing that the {attribute} of {it} is {value}, I can be definite.",
)
_NAMED = (
    "{value} as the {attribute} settles one question about {it} at least.",
    "So the {attribute} is {value}, which narrows things down for {it}.",
    "Good, with {value} as the {attribute} I can be more specific about {it}.",
    "With {value} as the {attribute}, {it} takes shape.",
    "I will keep {value} in mind as the {attribute} of {it}.",
    "{it} with {value} as the {attribute}: that I can picture.",
    "As the {attribute} of {it} is {value}, some of the usual advice falls away.",
    "What I suggest for {it} builds on {value} as the {attribute}.",
    "Since you have {value} as the {attribute} for {it}, I start there.",
)
_PEOPLE = (
    "With {about}, {it} is part of this now, which changes the tone.",
    "It is good to have {it} in this, and {about} is a fine occasion for it.",
    "{it} seems to take an interest, as {about} shows.",
    "You and {it} have {about} to build on.",
    "{about} says something about {it}.",
    "With {it} it pays to be clear from the start, and all the more with {about}.",
    "I would not leave {about} to chance; {it} will notice the difference.",
    "People like {it} are easily taken for granted, and {about} is a reason not to.",
    "Good that you tell me about {it} and {about}.",
    "{it} will remember how you go about {about}.",
    "Let us think of {about} from the side of {it} as well.",
    "{about} can do more for you and {it} than any plan of mine.",
    "A little care over {about} goes a long way with {it}.",
    "With {about} in view, it helps to know what you want from {it}.",
)
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


_AFTER_ANSWER = (
    "Thanks, that tells me what to leave out for {it}.", "That helps; it changes the order a little for {it}.",
    "Good, then we can be more definite about {it}.", "All right, with that I would put {it} like this.",
    "Thank you, {it} looks simpler than I feared then.", "In that case I would shift the weight with {it} a little.",
    "That is what I needed to know about {it}.", "Okay, here is the version of {it} that fits you.",
    "Then {it} needs less than I thought.", "Fair enough, {it} can start from there.",
    "I see, and that puts {it} in another light.", "Good to know before we go on with {it}.",
    "That settles one thing about {it}.", "Then let us not lose time on that part of {it}.",
    "Understood; for {it} that means a different first step.", "Thank you, {it} makes more sense to me now.",
)  # fmt: skip


_TAKEN_UP = (
    '"{said}": that is what I needed to know about {it}.',
    'You say "{said}", and with {it} that decides the order.',
    '"{said}" tells me where to begin with {it}.',
    'If it is like that ("{said}"), I would go about {it} as follows.',
    'I take "{said}" as the starting point for {it}.',
    'With {it}, "{said}" is more useful to me than any figure.',
    'You write "{said}". For {it} that makes one step more important than the others.',
)
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


_CLOSINGS = (
    "Tell me how {it} went once you have tried it.", "If something about {it} does not fit, say so and we change it.",
    "Come back with the result, and we will take {it} from there.", "Start {it} with the smallest of these today.",
    "I would do no more than that on {it} for the moment.", "Leave a note for yourself where you stopped with {it}.",
    "By next {weekday} you will know more about {it}.", "Do the first of these for {it}, and let the rest wait.",
    "You know {it} better than I do, so leave out what does not fit.", "Give {it} two tries before you judge it.",
    "Somebody else should look at {it} before you call it done.", "Sleep on {it} before you call it done.",
    "If you get stuck on {it} before {weekday}, write to me.", "Pick one of these for {it} and do it before {weekday}.",
    "Write down in a line what has come of {it}.", "Send me two lines on {it} when you have tried the first step.",
)  # fmt: skip


def closing(thing: str, today: dt.date, rng: random.Random) -> str:
    """Return a last line that is no question."""
    soon = times.weekday(today + dt.timedelta(days=rng.randint(2, 5)))
    return fill(rng.choice(_CLOSINGS), {"it": thing, "weekday": soon})
