"""Role-play of one sub-plan: user, assistant, question detector, and a token budget.

Each planned turn is asked; while the assistant asks back (at most twice) the user answers; then they may ask on or
object (at most twice) or accept, at measured rates. The sub-plan's share of tokens decides how long replies are asked
to be, which turns that only elaborate are left out, and when more turns are asked for. Nothing crosses the border of a
sub-plan but its context, which is computed from the plan; so all sub-plans may run at the same time.

`turn_loop.py` says what comes next, `dialogue_wording.py` asks for the words, `transcript.py` keeps what was said.

Source: BEAM, algorithm 3 (delta_1 = delta_2 = 2). A model there judges whether the user asks on; here code draws it,
because no model keeps a rate, and a dialogue waits for one call less a turn.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field

from longbeam.errors import ProviderError, is_final, reason_of
from longbeam.generators.budget import Budget, Waiting
from longbeam.generators.demand import demand_of
from longbeam.generators.dialogue_material import SubPlanMaterial, fill_until
from longbeam.generators.dialogue_wording import DialogueWriter, SaidExchange, WordingMoment
from longbeam.generators.reply_excerpt import asks
from longbeam.generators.transcript import SaidSoFar, TranscriptLine
from longbeam.generators.tuning import DIALOGUE
from longbeam.generators.turn_loop import (
    Ask,
    DetectQuestion,
    DrawReaction,
    MoreTurns,
    QueuedTurn,
    React,
    Reply,
    Step,
    Steps,
    dialogue_steps,
    filling_steps,
    turn_steps,
    waiting_of,
)
from longbeam.generators.user_turns import FurtherTurns, write_more_turns
from longbeam.models import Asker, Tokenizer
from longbeam.prompts.calls import Reaction
from longbeam.schemas import CLOSING, BulletKind, Incident, IncidentKind, Message, MessageKind, MessageRole, UserTurn

ACCEPTED = (DIALOGUE.yes + DIALOGUE.quick) / 2
"""Demand of a message that accepts a reply: a sentence or two."""


async def talk(asker: Asker, tokenizer: Tokenizer, material: SubPlanMaterial) -> tuple[Message, ...]:
    """Return the messages of one sub-plan, within one exchange of its share; ids are given at sealing.

    Turns that end the story come last, behind what the budget adds.
    """
    talk_ = Talk(asker, tokenizer, material)
    await talk_.follow(dialogue_steps([talk_.queued(t) for t in material.turns], talk_.budget))
    return talk_.messages()


async def extend(
    asker: Asker, tokenizer: Tokenizer, material: SubPlanMaterial, said: Sequence[Message]
) -> tuple[Message, ...]:
    """Return a sub-plan's messages with further exchanges at its end, until `material.share` is used."""
    talk_ = Talk(asker, tokenizer, material, said)
    await talk_.follow(filling_steps(talk_.budget))
    return talk_.messages()


@dataclass
class OpenTurn:
    """The turn that is being asked, and the newest messages of it."""

    moment: WordingMoment
    is_planned: bool
    """Whether the turn was planned. Planned turns are parts of the text, so a lost one is a missing part."""
    reaction: Reaction = Reaction.ANSWER
    """The user's newest reaction."""


@dataclass
class Talk:
    """Drives one sub-plan's dialogue: carries out one step after the other, and counts its tokens."""

    asker: Asker
    tokenizer: Tokenizer
    material: SubPlanMaterial
    before: Sequence[Message] = ()
    """Messages that the sub-plan has already."""
    problem: str = ""
    """The reason why a message is written again; empty for a message that is written for the first time."""
    taken: frozenset[str] = frozenset()
    """Texts that no new message may repeat, besides the user's messages in this sub-plan."""
    reply: str = ""
    """Newest reply of the assistant."""
    open: OpenTurn | None = None
    said: SaidSoFar = field(init=False)
    writer: DialogueWriter = field(init=False)
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.said = SaidSoFar(self.asker, self.material, self.before)
        self.writer = DialogueWriter(self.asker, self.material, self.said, problem=self.problem, taken=self.taken)
        self.budget = Budget(self.material.share, sum(m.tokens for m in self.before))
        self._turns_asked = list(self.material.turns)
        self._turn_tokens: dict[str, int] = {}

    # --- the budget ---------------------------------------------------------------------------------------

    def queued(self, turn: UserTurn) -> QueuedTurn[UserTurn]:
        """Return the turn with what the budget has to know of it."""
        told = [self.material.ledger.bullet[i] for i in turn.bullet_ids]
        ends_story = any(b.variety == CLOSING for b in told)
        demand = DIALOGUE.yes if turn.wants_yes else demand_of(turn.text)
        if told and all(b.kind is BulletKind.SIDE for b in told):
            demand = min(demand, DIALOGUE.quick)  # news from the user's life, on which nobody wants a treatise
        return QueuedTurn(turn, self._tokens_of(turn), turn.is_required, ends_story, demand)

    def _tokens_of(self, turn: UserTurn) -> int:
        if turn.text not in self._turn_tokens:
            self._turn_tokens[turn.text] = self.tokenizer.count(turn.text)
        return self._turn_tokens[turn.text]

    def _reply_length(self, waiting: Waiting, due: SaidExchange) -> int:
        """Return the tokens to ask for: by how much the newest message asks, varied a little by turn."""
        turn = due.moment.turn
        key = f"{self.asker.spec.seed}/{turn.turn_id}/{due.ordinal}/length"
        demand = demand_of(self.said.transcript.last_text)
        if due.kind is MessageKind.QUESTION:
            demand = self.queued(turn).demand
        elif due.reaction is Reaction.ACCEPTS:
            demand = ACCEPTED
        else:
            demand = max(demand, DIALOGUE.reacted)
        return self.budget.reply_length(waiting, random.Random(key).uniform(*DIALOGUE.length_variation) * demand)

    # --- one turn -------------------------------------------------------------------------------------------

    async def run(self, turn: UserTurn) -> None:
        """Ask one turn, behind which none waits, and what comes of it."""
        await self.follow(turn_steps(self.queued(turn), waiting_of(()), self.budget))

    async def follow(self, steps: Steps[UserTurn]) -> None:
        """Carry out one step after the other."""
        outcome: object = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration:
                return
            outcome = await self.carry_out(step)

    async def carry_out(self, step: Step[UserTurn]) -> object:
        """Carry a step out and return its outcome: a verdict, further turns, or None."""
        match step:
            case Ask(queued, is_planned, is_behind):
                await self._ask(queued.turn, is_planned=is_planned, is_behind=is_behind)
                return None
            case MoreTurns(count):
                return [self.queued(turn) for turn in await self._more_turns(count)]
        assert self.open is not None  # every other step is one of a turn that was asked
        now = self.open
        match step:
            case Reply(kind, exchange, waiting):
                reply = self._reply(SaidExchange(now.moment, kind, exchange, now.reaction), waiting)
                return await self._is_lost(reply, "assistant_reply", now, replies_to=kind)
            case DetectQuestion(answers):
                return await self.writer.asks_user(now.moment.turn, self.reply, answers)
            case DrawReaction(reactions):
                return self.writer.reaction(now.moment.turn, reactions)
            case React(reaction, ordinal):
                now.reaction = reaction
                due = SaidExchange(now.moment, step.kind, ordinal, reaction)
                return await self._is_lost(self._react(due), due.prompt_id, now)

    async def _ask(self, turn: UserTurn, *, is_planned: bool, is_behind: bool) -> None:
        self.said.turn_index += 1
        day = self._day_of(turn, is_behind)
        self.said.appeared.hear(turn.text)
        turn = await self.writer.word(turn, day, self.reply)
        self.open = OpenTurn(self.writer.moment(turn, day), is_planned)
        self.said.slips[turn.bullet_ids] = turn.slip
        question = MessageRole.USER, MessageKind.QUESTION
        self._add(
            TranscriptLine(*question, self.said.turn_index, day, self._tokens_of(turn), turn.bullet_ids, turn.text)
        )

    async def _reply(self, due: SaidExchange, waiting: Waiting) -> None:
        tokens = self._reply_length(waiting, due)
        day = self.said.transcript.lines[-1].day
        may_ask = self.budget.can_afford(waiting, tokens)
        text, advice_ids = await self.writer.reply(due, tokens, may_ask=may_ask)
        self._say(MessageRole.ASSISTANT, MessageKind.REPLY, text, day, advice_ids)
        self.reply = text

    async def _react(self, due: SaidExchange) -> None:
        text = await self.writer.user(due, self.reply)
        self._say(MessageRole.USER, due.kind, text, due.moment.day)

    async def say_anew(self, message: Message, turn: UserTurn) -> None:
        """Say a reply, an answer or a follow-up of a turn in place of this one; what came before it is said."""
        own = self.said.transcript.turn(self.said.turn_index)
        moment = self.writer.moment(turn, message.sent_at.date())
        exchange = sum(m.role is MessageRole.ASSISTANT for m in own)
        self.reply = own[-1].text
        if message.role is MessageRole.ASSISTANT:
            await self._reply(SaidExchange(moment, own[-1].kind, exchange), waiting_of(()))
            return
        reaction = Reaction.ASKS_ON
        if message.kind is MessageKind.ANSWER:
            reaction = Reaction.ANSWER if asks(self.reply) else Reaction.ACCEPTS
        await self._react(SaidExchange(moment, message.kind, exchange - 1, reaction))

    async def _is_lost(
        self, writing: Awaitable[object], prompt_id: str, now: OpenTurn, *, replies_to: MessageKind | None = None
    ) -> bool:
        """Return whether a message could not be written; then what it would have replied to is taken back."""
        try:
            await writing
        except ProviderError as exc:
            if not is_final(exc):
                raise
            if replies_to is not None:
                self.budget.used -= self.said.take_back().tokens
            is_turn = replies_to is MessageKind.QUESTION
            kind = IncidentKind.SKIPPED if is_turn and now.is_planned else IncidentKind.ENDED
            turn = now.moment.turn
            unsaid = f"; unsaid: {', '.join(turn.bullet_ids)}" if is_turn and turn.bullet_ids else ""
            detail = f"{reason_of(exc)}{unsaid}"
            self.asker.note(Incident(kind=kind, prompt_id=prompt_id, place=turn.turn_id, detail=detail))
            return True
        return False

    # --- more turns than were planned -----------------------------------------------------------------------

    async def _more_turns(self, count: int) -> tuple[UserTurn, ...]:
        own = {b.bullet_id for b in self.material.sub_plan.bullets}
        heard = [b for b in self.said.heard if b.bullet_id in own]
        if not heard:
            return ()  # further questions are about what was told
        place = f"more{len(self._turns_asked)}"
        wanted = FurtherTurns(count, heard, self._turns_asked, self.said.world)
        try:
            more = await write_more_turns(self.asker.within(place), self.material.scene, wanted)
        except ProviderError as exc:
            if not is_final(exc):
                raise
            # Nothing is lost but length: other sub-plans settle what is left, and the length check has the last word.
            self.asker.note(
                Incident(kind=IncidentKind.ENDED, prompt_id="more_turns", place=place, detail=reason_of(exc))
            )
            return ()
        self._turns_asked += more
        return more

    # --- helpers --------------------------------------------------------------------------------------------

    def messages(self) -> tuple[Message, ...]:
        """All messages so far, with their times."""
        return self.said.transcript.messages(f"{self.asker.spec.seed}/{self.asker.unit_key.conversation_id}")

    def _say(
        self, speaker: MessageRole, kind: MessageKind, text: str, day: dt.date, advice_ids: tuple[str, ...] = ()
    ) -> None:
        """Say a message that voices no bullet of the user's, but perhaps brings some advice in."""
        self._add(
            TranscriptLine(speaker, kind, self.said.turn_index, day, self.tokenizer.count(text), advice_ids, text)
        )

    def _add(self, line: TranscriptLine) -> None:
        self.said.add(line)
        self.budget.used += line.tokens

    def _day_of(self, turn: UserTurn, is_behind: bool) -> dt.date:
        told = [self.material.ledger.bullet[i].happens_on for i in turn.bullet_ids]
        lines = self.said.transcript.lines
        before = lines[-1].day if lines else self.material.stage.first_day
        if not told and is_behind:
            # Turns behind the planned ones go on into the days that the stage has left.
            last = fill_until(self.material)
            before = max(before, min(last, before + dt.timedelta(days=self.said.turn_index % 2)))
        return max([before, *told])
