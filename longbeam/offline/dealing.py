"""The offline writer's wording of a card: how a message begins, its length, and what it has besides its news."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from longbeam.offline.language import lower_first, upper_first
from longbeam.prompts.calls import Opening, Paste, SpokenDay, TurnCard

_OPENERS = {
    Opening.GREETING: (
        "Hi again. ", "Hello. ", "Hello, me again. ", "Me again. ", "Hey, back again. ", "Hi there. ",
    ),
    Opening.ASIDE: (
        "One more thing. ", "Something else: ", "Oh, and ", "Different matter: ", "Before I forget: ", "Also, ",
        "While I'm here: ", "Quick update: ", "Bit of news. ", "By the way, ", "Next point. ",
    ),
    Opening.THOUGHT: (
        "Hm. ", "So, ", "Okay, so ", "Let me think. ", "Right. ", "Well, ", "Where was I? ", "Anyway, ", "Ah, yes: ",
    ),
}  # fmt: skip
_DATED = ("Still from {day}: ", "This is from {day}: ", "Left over from {day}: ", "I still owe you this from {day}: ")
"""Openers of a bullet that is told some days later, together with a newer one."""
_FEELINGS = (
    " I'm a bit {feeling} about it, I admit.", " Honestly, I'm {feeling}.", " It leaves me {feeling}, to be honest.",
    " And yes, I'm {feeling}.", " I feel {feeling} about that.",
)  # fmt: skip
_SLIPS = (
    " I first typed {said}, sorry; {meant} is right.", " Not {said}, as I nearly wrote: {meant}.",
    " Wait, did I put {said} somewhere? It's {meant}.",
)  # fmt: skip
_ASIDES = (
    " It's pouring outside, by the way.", " (The neighbour is drilling again, so excuse the typos.)",
    " My coffee has gone cold over this.", " The cat is asleep on my notes, as always.",
    " I'm writing this on the bus, so be kind.", " Somebody is practising the trumpet next door.",
)  # fmt: skip
_CALLBACKS = (
    "I went back to {it} you gave me. ", "Going by {it} from you: ", "I have {it} from you in front of me. ",
    "I still go by {it} you gave me. ",
)  # fmt: skip
_PASTED = {
    Paste.TEXT: (
        "The note I got says: \"Please reply in writing, as we cannot take calls about open requests at the moment.\"",
        "What I was sent: \"Thank you for your message. We will look into it and come back to you as soon as we can.\"",
        "It says here: \"Kindly make sure that all documents are complete, since incomplete files are returned.\"",
        "The answer was: \"We understand your point, but the decision is not ours alone, so please be patient.\"",
    ),
}  # fmt: skip
_LOWERED = frozenset(
    (
        "We've", "There's", "That's", "Here's", "They've", "It'll",
        "The", "A", "An", "My", "Our", "On", "For", "When", "Since", "There", "After", "In", "It's", "It", "At", "With",
        "Looking", "From", "Because", "We", "They", "This", "That", "As", "By", "To", "If", "Until", "Now", "Before",
        "While", "Last", "Next", "Every", "Each", "Two", "Three", "Both", "Nobody", "Somebody", "Without", "During",
        "Over", "About",
    )
)  # fmt: skip
"""First words that lose their capital behind an opener; names keep theirs."""


def dealt(said: str, question: str, card: TurnCard, rng: random.Random) -> str:
    """Return a statement and its question as a card has them."""
    if card.callback:
        opener = rng.choice(_CALLBACKS).format(it=card.callback)
    else:
        opener = rng.choice(_OPENERS.get(card.opening, ("",)))
    if card.feeling:
        said += rng.choice(_FEELINGS).format(feeling=card.feeling)
    if card.slip is not None:
        said += rng.choice(_SLIPS).format(said=card.slip.said.text, meant=card.slip.meant.text)
    if card.opening is Opening.QUESTION and not card.callback:
        text = f"{question} {said}"
    else:
        text = f"{joined_to(opener, said)} {question}"
    return text + rng.choice(_ASIDES) if card.has_aside else text


def said_shortly(text: str, days: Iterable[SpokenDay]) -> str:
    """Return a text with its days as people say them."""
    for day in days:
        begins = re.compile(rf"(^|[.!?]\s){re.escape(day.text)}")
        text = begins.sub(lambda found, said=day.said: found[1] + upper_first(said), text)  # type: ignore[misc]
        text = text.replace(day.text, day.said)
    return text


def dated(text: str, bullet_id: str, card: TurnCard, rng: random.Random) -> str:
    """Return a bullet's text with its day in front, where the card tells the bullet some days later."""
    said = next((told.said for told in card.told_on if told.bullet_id == bullet_id), "")
    return joined_to(rng.choice(_DATED).format(day=said), text) if said else text


def joined_to(opener: str, said: str) -> str:
    """Return an opener with a statement behind it, whose first word loses its capital within a sentence."""
    if not opener.rstrip().endswith((",", ":", "so", "and")):
        return opener + said
    first = said.partition(" ")[0]
    return opener + (lower_first(said) if first in _LOWERED or first.endswith("ing") else said)


def pasted(paste: Paste, rng: random.Random) -> str:
    """Return pasted material for the end of a message; empty where the writer has none of the kind."""
    return f"\n\n{rng.choice(_PASTED[paste])}" if paste in _PASTED else ""
