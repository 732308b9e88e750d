"""The reply to the last message of a story: a look back and good wishes instead of advice."""

from __future__ import annotations

import random
from collections.abc import Iterator

from longbeam.offline.language import phrases, shuffled
from longbeam.offline.telling import COST_SLOT
from longbeam.prompts.calls import BulletBrief

_BACK = phrases("farewell", "back")
_COST = phrases("farewell", "cost")
_KEPT = phrases("farewell", "kept")
_THANKS = phrases("farewell", "thanks")
_GOOD_BYE = phrases("farewell", "good_bye")
KEPT = 3


def farewell_blocks(brief: BulletBrief, rng: random.Random) -> Iterator[str]:
    """Yield a look back (with the sum that the user has named), habits to keep, thanks to helpers, and a good-bye."""
    total = next((line.value.text for line in brief.facts if line.value and line.attribute == COST_SLOT), "")
    yield " ".join([rng.choice(_BACK), *([rng.choice(_COST).format(total=total)] if total else [])])
    yield "\n".join(f"- {text}" for text in shuffled(_KEPT, rng)[:KEPT])
    yield rng.choice(_THANKS)
    yield rng.choice(_GOOD_BYE)
