"""How the user of a conversation writes: one line for each habit, drawn from the profile.

Without it every user writes as the model does, in the same well-made sentences as the assistant. Code draws the sheet,
so that all sub-plans, which are written side by side, have one voice.
"""

from __future__ import annotations

import random

from longbeam.schemas import Profile

HABITS = (
    (
        "sentences: short and mostly plain; often two or three in a row without a joining word",
        "sentences: one long sentence that runs on with commas and 'and', then a very short one",
        "sentences: of middling length, the matter first and the reason behind it",
        'sentences: fragments where others write sentences ("Done. No luck, again.")',
    ),
    (
        "typing: small letters where a sentence begins, few commas; names, days and months keep their capitals",
        "typing: careful, with capitals and full stops",
        "typing: quick, a capital or an apostrophe missing here and there",
        "typing: careful at the start of a message, looser towards its end",
    ),
    (
        "typos: none that stay",
        "typos: about one message in four has a doubled, missing or swapped letter that stays, in an ordinary word and "
        "never in a name, number or day",
        "typos: rare, one that stays in ten messages, never in a name, number or day",
    ),
    (
        "certainty: says things flatly, also where they are doubtful",
        'certainty: hedges what is an opinion ("I think", "probably", "kind of")',
        'certainty: thinks aloud and corrects the direction in mid-message ("or no, rather")',
    ),
    (
        "humour: dry, at their own expense, rarely",
        "humour: none in writing",
        "humour: grumbles, and laughs about it afterwards",
        "humour: an exclamation mark or a smiley where something went well, never more than one",
    ),
    (
        'thanks: in a word in passing ("thx", "cheers"), and not each time',
        "thanks: rarely, and then for one thing by its name",
        "thanks: polite and brief, at the end of a message",
        "thanks: does not say the word; says that it helped",
    ),
    (
        'objections: straight out ("no, that won\'t work here"), with the reason',
        'objections: as a question ("isn\'t that a bit much?")',
        'objections: gives in first and comes back to it ("ok, but still")',
    ),
)
"""Habits, each with the forms of which a user has one."""


def voice_of(profile: Profile) -> tuple[str, ...]:
    """Return the habits of a user's writing, the same whenever they are asked for."""
    rng = random.Random(f"voice/{profile.name}/{profile.personality}")
    return tuple(rng.choice(forms) for forms in HABITS)
