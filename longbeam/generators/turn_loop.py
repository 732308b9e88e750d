"""The order of a dialogue: what is said next, decided by the token budget alone.

The functions yield one step at a time and are sent its outcome: a detector's verdict, further turns, or whether a
message had to be left out, which ends the exchange. Who
drives them carries the step out and adds the tokens of what was said to the budget before it goes on. The dialogue
drives them with a model's replies.

Source: BEAM, algorithm 3 (delta_1 = delta_2 = 2).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from longbeam.generators.budget import Budget, Waiting
from longbeam.generators.tuning import DIALOGUE
from longbeam.prompts.calls import Reaction
from longbeam.schemas import MessageKind

T = TypeVar("T")


@dataclass(frozen=True)
class QueuedTurn(Generic[T]):
    """A turn that is to be asked."""

    turn: T
    tokens: int
    is_required: bool
    """Whether the turn voices a bullet; others may be left out."""
    ends_story: bool = False
    """Whether the turn tells how the story came out; such turns come last."""
    demand: float = 1.0
    """How much the turn asks for, where 1 is the usual."""


@dataclass(frozen=True)
class Ask(Generic[T]):
    """The user asks a turn."""

    queued: QueuedTurn[T]
    is_planned: bool
    """Whether the turn was planned; others are put in to use the budget."""
    is_behind: bool
    """Whether the turn stands behind the planned ones."""


@dataclass(frozen=True)
class Reply:
    """The assistant replies to a message of this kind.

    The outcome is whether the reply had to be left out, and with it the message that it replies to.
    """

    kind: MessageKind
    exchange: int
    waiting: Waiting
    """Turns that are still to be asked."""


@dataclass(frozen=True)
class DetectQuestion:
    """Find out whether the assistant asks the user something; the outcome is the verdict."""

    answers: int


@dataclass(frozen=True)
class DrawReaction:
    """Draw how the user reacts to the reply; the outcome is the reaction, or None where they leave it at that."""

    reactions: int


@dataclass(frozen=True)
class React:
    """The user answers, asks on, objects or accepts; the outcome is whether the message had to be left out."""

    reaction: Reaction
    ordinal: int
    """Exchanges of the turn so far, from 0: no two messages of a turn share it."""

    @property
    def kind(self) -> MessageKind:
        """Kind of the message: BEAM, too, counts as an answer what accepts a reply."""
        return MessageKind.ANSWER if self.reaction in (Reaction.ANSWER, Reaction.ACCEPTS) else MessageKind.FOLLOW_UP


@dataclass(frozen=True)
class MoreTurns:
    """Further turns are asked for; the outcome is a sequence of them, empty if there are none."""

    count: int


Step = Ask[T] | Reply | DetectQuestion | DrawReaction | React | MoreTurns
Steps = Generator[Step[T], Any, None]
"""Any: each step has an outcome of its own type."""


def waiting_of(queue: Sequence[QueuedTurn[T]]) -> Waiting:
    """Return the numbers of the turns that are still to be asked."""
    required = [queued.tokens for queued in queue if queued.is_required]
    tokens, demand = sum(queued.tokens for queued in queue), sum(queued.demand for queued in queue)
    return Waiting(len(queue), tokens, len(required), sum(required), demand)


def dialogue_steps(turns: Sequence[QueuedTurn[T]], budget: Budget) -> Steps[T]:
    """Yield the steps of a sub-plan's dialogue. Turns that end the story come last, behind what the budget adds."""
    queue, ending = list(turns), list[QueuedTurn[T]]()
    while queue and queue[-1].ends_story:
        ending.insert(0, queue.pop())
    while queue:
        queued = queue.pop(0)
        waiting = waiting_of([*queue, *ending])
        if queued.is_required or not budget.must_save(waiting):
            yield from turn_steps(queued, waiting, budget)
            # Where replies are shorter than their share, all further turns would else come at the end.
            if count := budget.turns_to_catch_up(len(turns), waiting.turns):
                for more in (yield MoreTurns(count)):
                    yield from turn_steps(more, waiting, budget, is_planned=False)
    yield from filling_steps(budget, ending)
    while ending:
        queued = ending.pop(0)
        yield from turn_steps(queued, waiting_of(ending), budget)


def filling_steps(budget: Budget, ending: Sequence[QueuedTurn[T]] = ()) -> Steps[T]:
    """Yield steps until the share is used to within a short exchange; the last reply is asked to fit.

    Tokens are kept for the turns in `ending`, which are still to come.
    """
    rounds = 0
    budget.kept = sum(queued.tokens + DIALOGUE.ending_reply for queued in ending)
    while budget.is_open and rounds < DIALOGUE.more_rounds:
        more: Sequence[QueuedTurn[T]] = yield MoreTurns(budget.turns_to_fill())
        if not more:
            break
        rounds += 1
        for i, queued in enumerate(more):
            if budget.is_open:
                waiting = waiting_of([*more[i + 1 :], *ending])
                yield from turn_steps(queued, waiting, budget, is_planned=False, is_behind=True)
    budget.kept = 0


def turn_steps(
    queued: QueuedTurn[T], waiting: Waiting, budget: Budget, *, is_planned: bool = True, is_behind: bool = False
) -> Steps[T]:
    """Yield the steps of one turn: the question, the reply, then answers and further reactions that the budget affords.

    Nobody reacts to the reply to an acceptance.
    """
    yield Ask(queued, is_planned, is_behind)
    if (yield Reply(MessageKind.QUESTION, 0, waiting)):
        return
    answers = reactions = 0
    while answers < DIALOGUE.max_answers and budget.can_afford(waiting) and (yield DetectQuestion(answers)):
        answers += 1
        if (yield from _exchange(React(Reaction.ANSWER, answers - 1), waiting)):
            return
    reaction: Reaction | None = None
    while reactions < DIALOGUE.max_follow_ups and reaction is not Reaction.ACCEPTS and budget.can_afford(waiting):
        reaction = yield DrawReaction(reactions)
        if reaction is None:
            return
        if (yield from _exchange(React(reaction, answers + reactions), waiting)):
            return
        reactions += 1


def _exchange(react: React, waiting: Waiting) -> Generator[Step[T], Any, bool]:
    """Yield a reaction and the reply to it; return whether one of the two had to be left out."""
    if (yield react):
        return True
    return bool((yield Reply(react.kind, react.ordinal + 1, waiting)))
