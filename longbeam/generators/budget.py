"""The token budget of one sub-plan's dialogue: the rule that decides reply lengths and numbers of turns.

It deals in counts alone, so that an estimate can be made by the same rule as the dialogue itself.
"""

from __future__ import annotations

from dataclasses import dataclass

MIN_REPLY, MAX_REPLY = 90, 1_150
"""Reply lengths asked for; BEAM's replies are 800 to 1,050 tokens on average."""
MOST_DEMAND = 1.3
"""Part of the longest reply to a question that a reply to a piece of work (a plan, a draft) may have."""
LEAST_EXCHANGE = MIN_REPLY + 60
"""Tokens below which no further exchange is begun."""
TYPICAL_EXCHANGE = 900
CATCH_UP = 4_000
"""Tokens by which a dialogue may lag behind its share before turns are put in between: four long exchanges. Below, the
next replies are asked to be longer, as BEAM's are."""
MORE_AT_ONCE = 8
ENDING_REPLY = 380
"""Tokens kept for the reply to each turn that ends the story."""
MORE_ROUNDS = 40
"""Times that further turns are asked for at the end of a sub-plan, at most."""
EXCHANGES_PER_TURN = 1.15
"""Full replies that a turn takes on average. BEAM has 1.32 (.22 answers and .10 follow-ups a turn); here the replies to
acceptances, .10 a turn, are a sentence, and those to answers and objections are shorter than to questions."""


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
        return self.left < waiting.required_tokens + (waiting.required + 1) * (MIN_REPLY * 2)

    def can_afford(self, waiting: Waiting, reply: int = 0) -> bool:
        """Whether a turn may continue with an answer or a follow-up, behind a reply of so many tokens."""
        behind = Budget(self.share, self.used + reply)
        return behind.left > MIN_REPLY * 2 and not behind.must_save(waiting)

    def reply_length(self, waiting: Waiting, demand: float = 1.0) -> int:
        """Tokens to ask a reply for: of what is left, the part that its message asks for beside the waiting turns.

        Who asks for little gets little, whatever is left: further turns use the rest.
        """
        part = demand / (demand + waiting.demand * EXCHANGES_PER_TURN)
        most = MAX_REPLY * min(demand, MOST_DEMAND)
        least = min(MIN_REPLY, most)
        return int(min(max((self.left - waiting.tokens) * part, least), most))

    def turns_to_catch_up(self, planned: int, waiting: int) -> int:
        """Further turns to ask now, where replies were too short; else they would all come at the end."""
        short = int(self.share * (planned - waiting) / planned) - self.used
        return min(MORE_AT_ONCE, short // (CATCH_UP // 2)) if waiting and short > CATCH_UP else 0

    def turns_to_fill(self) -> int:
        """Further turns to ask for at the end, at a time."""
        return max(1, min(MORE_AT_ONCE, round((self.left - self.kept) / (TYPICAL_EXCHANGE * EXCHANGES_PER_TURN))))
