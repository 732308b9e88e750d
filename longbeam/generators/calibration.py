"""Calibration of the role `checker`: a model that judges at chance must not refuse anything.

Before the first objection of a judge counts, the judge gives verdicts on claims whose truth is known, made by code from
the benchmark's seed: whether a message says them, and, before it marks answers, whether an answer meets them. A model
may do the one and not the other. The calls have one key a conversation, so the journal answers all but the first of
them. A judge below `[checks] least_accuracy` refuses nothing: its objections are incidents. Rules refuse all the same.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from longbeam.errors import ReplyError
from longbeam.generators.tuning import PROBING
from longbeam.keys import UnitKey
from longbeam.models import Asker, answers_by_rule
from longbeam.prompts.calls import EntailmentInputs, EntailmentReply, JudgeInputs, JudgeReply
from longbeam.schemas import Role

CALIBRATION_PROMPT, MARKING_PROMPT = "check_entailment", "judge_nugget"
_THINGS = ("the workshop", "the second flat", "the canoe", "the printer", "the greenhouse", "the piano", "the old van")
_NAMES = ("Ines", "Bruno", "Magda", "Oleg", "Priya", "Tomas", "Wanda")
_DAYS = ("March 3", "April 17", "June 9", "August 22", "October 5", "November 28")


@dataclass(frozen=True)
class Item:
    """A message with claims, and whether the message says each of them."""

    message: str
    claims: tuple[str, ...]
    are_said: tuple[bool, ...]


@dataclass(frozen=True)
class Fitness:
    """Verdicts of a judge on the calibration items."""

    right: int
    asked: int
    least: float
    """Share of right verdicts that is asked for; 0: the judge is not calibrated."""

    @property
    def is_fit(self) -> bool:
        """Whether the judge may refuse."""
        return self.right >= self.least * self.asked

    def __str__(self) -> str:
        return f"unfit checker ({self.right} of {self.asked} calibration items right, {self.least:.0%} are needed)"


def calibration_items(seed: int) -> tuple[Item, ...]:
    """Return the items of a benchmark, the same for all of its judges."""
    rng = random.Random(f"{seed}/calibration")
    return tuple(_item(rng) for _ in range(PROBING.calibrated_messages))


def _item(rng: random.Random) -> Item:
    thing, other = rng.sample(_THINGS, 2)
    name, absent = rng.sample(_NAMES, 2)
    day, wrong_day = rng.sample(_DAYS, 2)
    price = rng.randrange(120, 980, 10)
    message = (
        f"What would you check first? {name} has offered me {thing} for ${price}, and I said yes on {day}. I have not"
        f" paid for {other} yet, so money is short."
    )
    said = (f"{name} offers {thing} for ${price}.", f"I agreed on {day} to take {thing}.", f"{other} is not paid for.")
    unsaid = (
        f"{absent} has offered me {thing}.",
        f"{other} costs ${price}.",
        f"I turned down {thing}.",
        f"I said yes to {thing} on {wrong_day}.",
        f"I have paid for {other}.",
    )
    pairs = [*((c, True) for c in rng.sample(said, 2)), *((c, False) for c in rng.sample(unsaid, 2))]
    rng.shuffle(pairs)
    return Item(message, tuple(c[0].upper() + c[1:] for c, _ in pairs), tuple(is_said for _, is_said in pairs))


async def fitness_of(judge: Asker, *, marks: bool = False) -> Fitness:
    """Return how fit a judge is; one that answers by rule, or that the spec does not calibrate, is not asked.

    `marks`: whether it is to mark answers, and not to say what a message says.
    """
    if not judge.spec.checks.least_accuracy or answers_by_rule(judge.spec, judge.spec.model_for(_role_of(judge))):
        return Fitness(0, 0, 0.0)
    return await measured_fitness(judge, marks=marks)


async def measured_fitness(judge: Asker, *, marks: bool = False) -> Fitness:
    """Return how many calibration items a judge has right; an item without a usable reply is wrong."""
    role = _role_of(judge)
    unit = UnitKey(judge.unit_key.conversation_id, "checks", "calibration", role.value)
    # Neither generation nor incidents of the unit that happens to ask first: the calls are those of every unit.
    asker = replace(judge.acting_as(role), unit_key=unit, generation=0, incidents=[])
    items = calibration_items(judge.spec.seed)[: PROBING.calibrated_marks if marks else PROBING.calibrated_messages]
    count_right = _marked_right if marks else _right
    right = [await count_right(asker.within(f"m{i}"), item) for i, item in enumerate(items)]
    return Fitness(sum(right), sum(len(item.claims) for item in items), judge.spec.checks.least_accuracy)


def _role_of(judge: Asker) -> Role:
    return judge.acting or Role.CHECKER


async def _right(asker: Asker, item: Item) -> int:
    inputs = EntailmentInputs(message=item.message, claims=item.claims)
    try:
        reply: EntailmentReply = await asker.structured(CALIBRATION_PROMPT, inputs)
    except ReplyError:
        return 0
    return _count_right(reply, item.are_said)


def _count_right(reply: EntailmentReply, are_said: Sequence[bool]) -> int:
    found = {verdict.claim: verdict.is_said for verdict in reply.verdicts}
    return sum(found.get(number) is is_said for number, is_said in enumerate(are_said, 1))


async def _marked_right(asker: Asker, item: Item) -> int:
    verdicts = [await _is_met(asker.within(f"mark{i}"), item, claim) for i, claim in enumerate(item.claims)]
    return sum(is_met is said for is_met, said in zip(verdicts, item.are_said, strict=True))


async def _is_met(asker: Asker, item: Item, claim: str) -> bool | None:
    """Return whether a judge finds a claim in a message that is given as an answer; None without a usable reply."""
    answer = item.message.partition("? ")[2]
    inputs = JudgeInputs(
        question="What did I tell you about the things that I was offered?", nugget=claim, answer=answer
    )
    try:
        reply: JudgeReply = await asker.structured(MARKING_PROMPT, inputs)
    except ReplyError:
        return None
    return reply.verdict == "met"
