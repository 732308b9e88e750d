"""The reply to the last message of a story: a look back and good wishes instead of advice."""

from __future__ import annotations

import random
from collections.abc import Iterator

from longbeam.offline.language import shuffled
from longbeam.offline.telling import COST_SLOT
from longbeam.prompts.calls import BulletBrief

_BACK = (
    "Thank you for telling me how it came out. That is a good place to stop, and you got there yourself.",
    "What a good end to hear of. You began with questions and end with answers of your own.",
    "Then it is done, and well done. It was good to follow you through it.",
    "I am glad that you came back to say so. Many stop writing when it gets better.",
    "That has come a long way since your first message, detours included.",
)
_COST = (
    "{total} is what it took of your own, and from what you write it was not wasted.",
    "For {total} you have more to show than a receipt.",
    "As to the {total}: write it next to what you got for it, and keep the page.",
)
_KEPT = (
    "Keep the habit of writing a date beside each intention; it is what moved things when nothing else did.",
    "Remember how small the steps were that worked, because the next plan will want to be large again.",
    "Remember that asking somebody cost you a minute each time and saved you evenings.",
    "Keep the notes, even the wrong ones: they show what you believed before you knew.",
    "When you begin something new, decide first what you will not do. That was the turning point more than once.",
    "Take along that a plan may change without being a failure.",
    "Leave some room in the next calendar; the days that were too full are the ones you told me of with a sigh.",
    "Write down three sentences on how it went while it is fresh, one of them about a mistake.",
    "And celebrate a little, since the end of a thing passes more quickly than its middle.",
)
_THANKS = (
    "The people you name will be glad to hear the end of it from you and not from others.",
    "Tell those who helped what exactly their help has changed; it is the best thanks there is.",
    "A short note to each of those you thank, with one thing that they did in it, closes the circle.",
)
_GOOD_BYE = (
    "All the best for what comes next.", "Take care, and enjoy the quiet.", "I wish you a good rest from it.",
    "May the next thing begin as well as this one ended.", "Come back when there is something new.",
)  # fmt: skip
KEPT = 3


def farewell_blocks(brief: BulletBrief, rng: random.Random) -> Iterator[str]:
    """Yield a look back (with the sum that the user has named), habits to keep, thanks to helpers, and a good-bye."""
    total = next((line.value.text for line in brief.facts if line.value and line.attribute == COST_SLOT), "")
    yield " ".join([rng.choice(_BACK), *([rng.choice(_COST).format(total=total)] if total else [])])
    yield "\n".join(f"- {text}" for text in shuffled(_KEPT, rng)[:KEPT])
    yield rng.choice(_THANKS)
    yield rng.choice(_GOOD_BYE)
