"""The offline writer's wording of a card: how a message begins, its length, and what it has besides its news."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from longbeam.offline.language import lower_first, phrase_groups, phrases, upper_first
from longbeam.prompts.calls import Opening, Paste, SpokenDay, TurnCard

_OPENERS = phrase_groups("dealing", "openers")
_DATED = ("Still from {day}: ", "This is from {day}: ", "Left over from {day}: ", "I still owe you this from {day}: ")
"""Openers of a bullet that is told some days later, together with a newer one."""
_FEELINGS = phrases("dealing", "feelings")
_SLIPS = phrases("dealing", "slips")
_ASIDES = phrases("dealing", "asides")
_CALLBACKS = phrases("dealing", "callbacks")
_PASTED = phrase_groups("dealing", "pasted")
_COLOURS = phrases("dealing", "colours")
NEWS_WORDS = range(28, 60)
"""Words of a message with an event of a story: the middle half of 32K in six domains."""
_CLAUSES = phrases("dealing", "clauses")
SHORT = 16
"""Words below which a statement is shorter than nine of ten statements of a story."""
CLAUSE_SHARE = 0.3
"""Share of the other statements with such a clause, so that it stands with every kind."""
COLOUR_SHARE = 0.5
"""Share of these sentences that come from one list for all stages; the others are shared out among the stages."""
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
    said = drawn_out(said, rng)
    if card.feeling:
        said += rng.choice(_FEELINGS).format(feeling=card.feeling)
    if card.slip is not None:
        said += rng.choice(_SLIPS).format(said=card.slip.said.text, meant=card.slip.meant.text)
    if card.opening is Opening.QUESTION and not card.callback:
        text = f"{question} {said}"
    else:
        text = f"{joined_to(opener, said)} {question}"
    return text + rng.choice(_ASIDES) if card.has_aside else text


def drawn_out(said: str, rng: random.Random) -> str:
    """Return a statement with a clause behind it that tells nothing: a short one always, others now and then."""
    is_short = len(said.split()) < SHORT
    if not said.endswith(".") or rng.random() >= (1.0 if is_short else CLAUSE_SHARE):
        return said
    return f"{said[:-1]}{rng.choice(_CLAUSES)}."


def filled_up(text: str, limits: Sequence[str], rng: random.Random) -> str:
    """Return a message with sentences that tell nothing, until it is as long as news usually is.

    So length does not give away what matters. They have no values: a message may say none that its plan does not know.
    """
    least, added = rng.choice(NEWS_WORDS), [*limits]
    rng.shuffle(added)
    while len(text.split()) < least and added:
        text += rng.choice(_COLOURS) if rng.random() < COLOUR_SHARE else added.pop()
    return text


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
