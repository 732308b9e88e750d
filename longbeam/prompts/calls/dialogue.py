"""Inputs and replies of the dialogue prompts: replies, detectors, answers, follow-ups, compaction."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum

from longbeam.prompts.calls.plans import LedgerLine, ProjectName, Stage
from longbeam.prompts.calls.user_turns import BulletBrief
from longbeam.schemas import (
    Advice,
    Bullet,
    ChatMessage,
    KeptJson,
    OnContradiction,
    Person,
    Profile,
    PromptInputs,
    ReplyModel,
    Seed,
)


class DialogueContext(KeptJson):
    """Context that is fixed for one sub-plan; the assistant's and the user's prompts show different parts of it."""

    seed: Seed
    profile: Profile
    stage: Stage
    earlier_bullets: tuple[str, ...]
    """Texts of the bullets of the plan's earlier sub-plans, oldest first."""
    state: tuple[LedgerLine, ...]
    """Facts that have changed before the sub-plan, with their values at its beginning. The earlier bullets state the
    other facts; repeating those would double the size of every call."""
    instructions: tuple[str, ...]
    """The newest standing instructions and preferences voiced in earlier sub-plans, also of earlier plans."""
    slips: tuple[str, ...] = ()
    """Earlier bullets that contradict another one: the assistant heard them, but they are not true."""
    replaced: tuple[str, ...] = ()
    """Earlier bullets that state a wish which a later one has replaced."""
    earlier_plans: str = ""
    """Summary of the plans before this one; empty in the first."""
    asked: tuple[str, ...] = ()
    """The last questions of the plan's earlier sub-plans, in short: the assistant has answered each of them."""
    voice: tuple[str, ...] = ()
    """How the user writes."""
    names: tuple[ProjectName, ...] = ()
    """Names that the assistant may use: those told before, and those in code that nobody is still to tell."""
    on_contradiction: OnContradiction = OnContradiction.IGNORE
    """Reaction of the assistant to a contradiction of the user's."""


class TurnState(KeptJson):
    """The state of a dialogue in which a message of a turn is written or judged; no prompt shows it."""

    turn_id: str
    today: dt.date
    bullets: tuple[BulletBrief, ...]
    """Bullets that the turn voices or asks about."""
    standing: tuple[Bullet, ...] = ()
    """Instructions and preferences in force, oldest first."""
    known: tuple[LedgerLine, ...] = ()
    """Facts told so far on the subject of the last bullet, with current values, oldest first."""
    ordinal: int = 0
    """Number of messages so far in this turn."""
    kind: str = "question"
    """Kind of the user message that the call answers or writes."""
    previous_reply: str = ""
    asked: tuple[str, ...] = ()
    """Questions that the assistant's earlier replies of the sub-plan end with, also those behind the history."""
    due: tuple[Advice, ...] = ()
    """Advice that a rule-based assistant brings in behind the turn's question."""
    listed: tuple[str, ...] = ()
    """Topics for which the assistant lists options once in the plan, so that it lists none for them elsewhere."""


class AssistantReplyInputs(PromptInputs):
    """The assistant's next message."""

    context: DialogueContext
    summary: str
    """Summary of the older part of the sub-plan's dialogue; empty while all of it is in `history`."""
    history: tuple[ChatMessage, ...]
    """Recent messages, ending with the user's."""
    target_tokens: int
    today: dt.date
    changed: tuple[LedgerLine, ...] = ()
    """Facts that this sub-plan's messages have changed so far, with their present values."""
    wishes: tuple[str, ...] = ()
    """Standing wishes that this sub-plan's messages have told so far and that still hold."""
    replaced: tuple[str, ...] = ()
    """Wishes that they have replaced."""
    asks_back: bool = False
    """Whether the reply may end with a question to the user; code draws it, so that no prompt has to state a rate."""

    @property
    def asked_tokens(self) -> int:
        """Tokens that the reply should have."""
        return self.target_tokens


class QuestionDetectorInputs(PromptInputs):
    """Does this reply ask the user for something?"""

    reply: str


class QuestionDetectorReply(ReplyModel):
    """Reason and verdict."""

    reason: str
    asks_user: bool


class Reaction(StrEnum):
    """How the user reacts to a reply within its turn; code draws it, so that no prompt has to state a rate."""

    ANSWER = ""
    """They answer a question of the assistant's."""
    ASKS_ON = "asks on"
    OBJECTS = "objects"
    """They doubt a point, or say why it does not fit them."""
    ACCEPTS = "accepts"
    """They say what they will do with it, and ask nothing."""


class UserSideInputs(PromptInputs):
    """Knowledge of the user in the dialogue; `history` has the roles exchanged."""

    context: DialogueContext
    summary: str
    history: tuple[ChatMessage, ...]
    """The newest messages; the user knows the rest from the plan."""
    today: dt.date
    told: tuple[str, ...]
    """Texts of this sub-plan's bullets that have been told so far, without contradictions: they are not true."""
    changed: tuple[LedgerLine, ...] = ()
    """Facts that this sub-plan's messages have changed so far, with their present values."""
    people: tuple[Person, ...] = ()
    """People whom the messages so far name."""
    names: tuple[ProjectName, ...] = ()
    """Names of things that the messages so far have."""


class UserReplyInputs(UserSideInputs):
    """The user's answer to the assistant's question, or another reaction to its reply."""

    usual_tokens = 150
    reaction: Reaction = Reaction.ANSWER


class TakeUp(StrEnum):
    """How a message takes up the last answer; code draws it, so that no prompt has to state a rate."""

    NOTHING = ""
    THANKS = "thanks"
    DOUBT = "doubt"
    """It doubts one point, or objects."""
    OUTCOME = "outcome"
    """It says what came of the advice."""
    POINT = "point"
    """It names one point that stayed with the user."""


class WordTurnInputs(UserSideInputs):
    """A planned message of the user's, worded when it is due."""

    draft: str
    """The message as its batch has it."""
    takes_up: TakeUp = TakeUp.NOTHING


class CompactInputs(PromptInputs):
    """Fold the older messages of a sub-plan into its summary; the request begins like the assistant's calls."""

    context: DialogueContext
    summary: str
    messages: tuple[ChatMessage, ...]
    """The oldest messages of the assistant's history, which are about to be dropped."""
    max_tokens: int
