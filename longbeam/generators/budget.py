"""The token budget of one sub-plan's dialogue: the rule that decides reply lengths and numbers of turns.

It deals in counts alone, so that an estimate can be made by the same rule as the dialogue itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from longbeam.generators.tuning import DIALOGUE

LEAST_EXCHANGE = DIALOGUE.min_reply + 60
"""Tokens below which no further exchange is begun."""


@dataclass(frozen=True)
class Waiting:
    """The planned turns that are still to be asked, and their tokens."""

    turns: int
    tokens: int
    required: int
    """Turns that voice a bullet."""
    required_tokens: int
    demand: float
    """Sum of what the turns ask for (`demand.py`); a turn that asks for the usual counts 1."""


@dataclass
class Budget:
    """Tokens of one sub-plan: its share of the conversation, and the tokens used so far."""

    share: int
    used: int = 0
    kept: int = 0
    """Part of the share that is reserved for the turns that end the sub-plan."""

    @property
    def left(self) -> int:
        """Tokens of the share that are not used yet."""
        return self.share - self.used

    @property
    def is_open(self) -> bool:
        """Whether there is room for another exchange."""
        return self.left - self.kept > LEAST_EXCHANGE

    def must_save(self, waiting: Waiting) -> bool:
        """Whether a turn that only elaborates has to be left out, so that the required ones get their tokens."""
        return self.left < waiting.required_tokens + (waiting.required + 1) * (DIALOGUE.min_reply * 2)

    def can_afford(self, waiting: Waiting, reply: int = 0) -> bool:
        """Whether a turn may continue with an answer or a follow-up, behind a reply of so many tokens."""
        behind = Budget(self.share, self.used + reply)
        return behind.left > DIALOGUE.min_reply * 2 and not behind.must_save(waiting)

    def reply_length(self, waiting: Waiting, demand: float = 1.0) -> int:
        """Tokens to ask a reply for: of what is left, the part that its message asks for beside the waiting turns.

        Who asks for little gets little, whatever is left: further turns use the rest.
        """
        part = demand / (demand + waiting.demand * DIALOGUE.exchanges_per_turn)
        most = DIALOGUE.max_reply * min(demand, DIALOGUE.most_demand)
        least = min(DIALOGUE.min_reply, most)
        return int(min(max((self.left - waiting.tokens) * part, least), most))

    def turns_to_catch_up(self, planned: int, waiting: int) -> int:
        """Further turns to ask now, where replies were too short; else they would all come at the end."""
        short = int(self.share * (planned - waiting) / planned) - self.used
        is_late = waiting and short > DIALOGUE.catch_up
        return min(DIALOGUE.more_at_once, short // (DIALOGUE.catch_up // 2)) if is_late else 0

    def turns_to_fill(self) -> int:
        """Further turns to ask for at the end, at a time."""
        turn_tokens = DIALOGUE.typical_exchange * DIALOGUE.exchanges_per_turn
        return max(1, min(DIALOGUE.more_at_once, round((self.left - self.kept) / turn_tokens)))
