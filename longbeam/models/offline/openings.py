"""How a reply begins and ends: taking up what the user has said, honouring wishes, a last line.

Templates here are for any domain; what is said about the subject comes from the packs.
"""

from __future__ import annotations

import datetime as dt
import random
import re

from longbeam.models.offline.language import fill, upper_first
from longbeam.models.offline.packs import Pack, Standing
from longbeam.schemas import values
from longbeam.schemas.calls import BulletBrief, LedgerLine
from longbeam.schemas.plans import Bullet, BulletKind, ValueKind

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
    "Agreed. Remind me if I ever slip.",
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
)
_DATE = (
    "{value} is {distance}, so there is {room} for {it}.",
    "Counting from today, {value} leaves {it} {days}.",
    "You have {days} until {value}; for {it} that is {room}.",
    "Between now and {value} lie {days}, which decides the order of things on {it}.",
    "With {it} due on {value}, {days} remain, and that is {room}.",
    "{days} from now, on {value}, {it} has to stand; there is {room}.",
    "From today to {value} I count {days} for {it}.",
    "{value} gives {it} {room}: {days}, to be exact.",
)
_PAST = (
    "That was {days} ago, so {it} is still fresh enough to learn from.",
    "Since {value}, {days} have gone by; that is long enough to see what holds with {it}.",
    "With {it}, {value} now lies {days} back.", "{value} is {days} past, and {it} has moved on since.",
    "Counting from {value}, {it} has had {days} to settle.", "{days} after {value} one can judge {it} calmly.",
)  # fmt: skip
_AMOUNT = (
    "I note {value} as the {attribute} of {it}.",
    "{value} as the {attribute}: noted for {it}.",
    "So the {attribute} of {it} is {value}.",
    "Let us take {value} as given for the {attribute} of {it}.",
    "Good to have the figure: {value} for the {attribute} of {it}.",
    "With {value} as the {attribute}, {it} is easier to judge.",
    "Then {it} goes with {value} as the {attribute}.",
    "{value} for the {attribute}, then; that helps with {it}.",
)
_NAMED = (
    "{value} as the {attribute} settles one question about {it} at least.",
    "So the {attribute} is {value}, which narrows things down for {it}.",
    "{value} is a sensible {attribute} for {it}.",
    "Good, with {value} as the {attribute} I can be more specific about {it}.",
    "With {value} as the {attribute}, {it} takes shape.",
    "I will keep {value} in mind as the {attribute} of {it}.",
    "{it} with {value} as the {attribute}: that I can picture.",
)
_PLAIN = (
    "That is a fair question about {it}.",
    "The short answer for {it}: yes, it can be done, in small steps.",
    "Let us sort out {it} one thing at a time.",
    "With {it}, the order matters more than the effort.",
    "I would look at {it} from the end: what must be true when it is done?",
    "It sounds as if {it} takes up more of your mind than of your time.",
    "There are two or three things about {it} that make all the difference.",
    "{it} is one of those matters where a bit of method saves a lot of worry.",
    "Happy to go through {it} with you.",
    "Here is what I would do about {it} in your place.",
    "You are asking about {it} at the right moment.",
    "Most people make {it} harder than it needs to be.",
)


_PEOPLE = (
    "It is good to have {it} in this.", "{it} seems to take an interest, and that is worth a lot.",
    "That says something about {it}.", "Then {it} is part of it now, which changes the tone.",
    "With {it} it pays to be clear from the start.", "Having {it} there makes a difference.",
    "People like {it} are easily taken for granted.", "Good that you tell me about {it}.",
    "I would not underestimate what {it} can do here.", "{it} will remember how you go about this.",
)  # fmt: skip


def opening(brief: BulletBrief | None, thing: str, today: dt.date, rng: random.Random) -> str:
    """One or two sentences that take up what the user has said."""
    if brief is None:
        return fill(rng.choice(_PLAIN), {"it": thing})
    kind = brief.bullet.kind
    if kind is BulletKind.INTRODUCTION:
        name = next((f.value.text for f in brief.facts if f.attribute == "full name" and f.value), "")
        return rng.choice(_INTRODUCTION).format(name=name.split(" ")[0] or "and welcome")
    if kind in {BulletKind.INSTRUCTION, BulletKind.PREFERENCE}:
        return rng.choice(_WISH)
    if kind is BulletKind.CONTRADICTION:
        return fill(rng.choice(_DENIAL), {"it": thing})
    lines = [line for line in brief.facts if line.value is not None]
    if not lines:
        return fill(rng.choice(_PLAIN), {"it": thing})
    line = rng.choice(lines)
    if kind is BulletKind.RELATIONSHIP:
        return fill(rng.choice(_PEOPLE), {"it": thing})
    if kind is BulletKind.UPDATE and line.value is not None:
        fields = {"it": thing, "attribute": line.attribute, "new": line.value.text}
        return upper_first(fill(rng.choice(_UPDATE), fields))
    return about_value(line, thing, today, rng)


def about_value(line: LedgerLine, thing: str, today: dt.date, rng: random.Random) -> str:
    """A sentence that does something with one of the user's values."""
    value = line.value
    assert value is not None
    fields = {"it": thing, "attribute": line.attribute, "value": value.text}
    if value.kind is ValueKind.DATE and value.date is not None:
        days = (value.date - today).days
        if days > 0:
            fields |= {
                "days": f"{days} days" if days != 1 else "one day",
                "distance": f"{days} days away" if days != 1 else "tomorrow",
                "room": "enough room" if days > 20 else "room for the essentials" if days > 9 else "not much slack",
            }
            return upper_first(fill(rng.choice(_DATE), fields))
        if days > -2:
            return fill(rng.choice(_PLAIN), {"it": thing})
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


def after_answer(thing: str, rng: random.Random) -> str:
    """What an assistant says once it has been told."""
    return fill(rng.choice(_AFTER_ANSWER), {"it": thing})


_IDLE_WORDS = frozenset(
    ("when", "whenever", "about", "asks", "talk", "talking", "come", "comes", "ever", "something", "anything", "with")
)


def concerns(condition: str, text: str) -> bool:
    """Whether a text is about what a condition names: they share half the words that say something."""
    words = {w[:6] for w in re.findall(r"[a-z]{4,}", condition.casefold()) if w not in _IDLE_WORDS}
    found = words & {w[:6] for w in re.findall(r"[a-z]{4,}", text.casefold())}
    return bool(found) and 2 * len(found) >= len(words)


def honour_of(pack: Pack, bullet: Bullet, thing: str, rng: random.Random) -> str:
    """A sentence that honours an instruction or preference, from the pack."""
    wishes: list[Standing] = [*pack.instructions, *pack.preferences]
    wishes += [p.later for p in pack.preferences if p.later]
    for wish in wishes:
        if wish.requirement == bullet.requirement and wish.condition == bullet.condition:
            return fill(rng.choice(wish.honour), {"it": thing})
    return ""


_CLOSINGS = (
    "Tell me how {it} went once you have tried it.", "One step at a time; {it} will not run away.",
    "If something about {it} does not fit, say so and we change it.",
    "Come back with the result, and we will take {it} from there.", "That should carry {it} through the week.",
    "Write down what you decide about {it}; it is easily forgotten.",
    "Start {it} with the smallest of these today.",
    "I would do no more than that on {it} for the moment.",
    "You will see the difference on {it} sooner than you think.",
    "And leave a note for yourself where you stopped with {it}.", "Keep {it} small until it works.",
    "{it} deserves a fresh head, so stop when you are tired.", "By next {weekday} you will know more about {it}.",
    "Do the first of these for {it}, and let the rest wait.", "I am curious what {it} looks like afterwards.",
    "Be kind to yourself with {it}; it is a lot.", "There is no prize for finishing {it} in one go.",
    "When in doubt about {it}, take the simpler way.", "Give {it} two tries before you judge it.",
    "You know {it} better than I do, so leave out what does not fit.", "{it} will look different by {weekday}.",
    "Set a limit for {it} and keep it.", "Enough on {it} for one day, I think.",
    "Somebody else should look at {it} before you call it done.",
)  # fmt: skip


def closing(thing: str, today: dt.date, rng: random.Random) -> str:
    """A last line that is no question."""
    soon = values.weekday(today + dt.timedelta(days=rng.randint(2, 5)))
    return fill(rng.choice(_CLOSINGS), {"it": thing, "weekday": soon})
