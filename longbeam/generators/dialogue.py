"""Role-play of one sub-plan: assistant, question detector, follow-up detector, and a token budget.

Each planned turn is asked; while the assistant asks back (at most twice) the user answers; while a user would ask
on (at most twice) they do. The sub-plan's share of tokens decides how long replies are asked to be, which
turns that only elaborate are left out, and when more turns are asked for. Nothing crosses the border of a
sub-plan but its context, which is computed from the plan; so all sub-plans may run at the same time.

Source: BEAM, algorithm 3 (delta_1 = delta_2 = 2).
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cache, cached_property, partial

from longbeam.errors import ReplyError
from longbeam.generators.budget import Budget, Waiting
from longbeam.generators.ledger import Ledger, standing_bullets
from longbeam.generators.plans import Frame
from longbeam.generators.reply_excerpt import asking_part
from longbeam.generators.transcript import Line, Transcript
from longbeam.generators.turn_loop import (
    Answer,
    Ask,
    DetectFollowUp,
    DetectQuestion,
    FollowUp,
    MoreTurns,
    QueuedTurn,
    Reply,
    Step,
    Steps,
    dialogue_steps,
    filling_steps,
    turn_steps,
    waiting_of,
)
from longbeam.generators.user_turns import write_more_turns
from longbeam.keys import MessageKey, plan_index_of
from longbeam.models.asking import Asker
from longbeam.models.tokens import Tokenizer
from longbeam.prompts.calls.dialogue import (
    AssistantReplyInputs,
    CompactInputs,
    DialogueContext,
    FollowUpDetectorInputs,
    QuestionDetectorInputs,
    TurnState,
    UserReplyInputs,
)
from longbeam.prompts.calls.plans import Stage
from longbeam.prompts.calls.user_turns import BulletBrief
from longbeam.schemas.base import digest_of
from longbeam.schemas.calls import ChatMessage
from longbeam.schemas.dialogue import Message, MessageKind, MessageRole, UserTurn
from longbeam.schemas.plans import CLOSING, Bullet, SubPlan
from longbeam.text.traces import trace_problem

DIALOGUE_PROMPTS = (
    "assistant_reply",
    "question_detector",
    "user_answer",
    "follow_up_detector",
    "user_follow_up",
    "compact_memory",
    "more_turns",
)
SAID_BEFORE = "you said exactly this before; say something else"
HISTORY_TOKENS = 9_000
"""Dialogue kept as it is; when it grows beyond, the older part is folded into a summary, down to KEPT_TOKENS."""
KEPT_TOKENS = 1_800
SUMMARY_TOKENS = 600
CARRIED_WISHES = 60
"""Instructions and preferences that a dialogue is shown, the newest; a plan of 1M has some fifteen of its own."""
USER_MESSAGES = 4
"""Newest messages that the user's side sees, at least: the present turn, or two exchanges."""


@dataclass(frozen=True)
class SubPlanMaterial:
    """Inputs of one sub-plan's dialogue."""

    frame: Frame
    ledger: Ledger
    stage: Stage
    sub_plan: SubPlan
    turns: tuple[UserTurn, ...]
    share: int
    """Tokens that the dialogue of this sub-plan should have."""
    first_session: int = 0
    """Session of the plan's first sub-plan."""
    earlier_plans: str = ""
    """Summary of the plans before this one."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of everything that the dialogue is made from."""
        story = self.frame, self.ledger.digest, self.stage, self.sub_plan
        return digest_of(*story, self.turns, self.share, self.first_session, self.earlier_plans)


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


def turns_asked(planned: Sequence[UserTurn], messages: Sequence[Message]) -> tuple[UserTurn, ...]:
    """Return the turns of a sub-plan as the user finally asked them, numbered like their messages."""
    about = {t.text: t.about_bullet_ids for t in planned}
    return tuple(
        UserTurn(
            turn_id=str(MessageKey.parse(m.message_key).turn),
            text=m.content,
            bullet_ids=m.bullet_ids,
            about_bullet_ids=about.get(m.content, ()),
        )
        for m in messages
        if m.kind is MessageKind.QUESTION
    )


def context_of(material: SubPlanMaterial) -> DialogueContext:
    """Return the part of the prompts that is the same in all turns of a sub-plan.

    It has the earlier bullets of the plan, the bullets of the sub-plan, and the state of the facts before them.
    """
    ledger, sub_plan = material.ledger, material.sub_plan
    first = sub_plan.bullets[0].bullet_id
    before = ledger.bullets[: ledger.position[first]]
    own = f"p{sub_plan.plan_index}."
    earlier = [b for b in before if b.bullet_id.startswith(own)]
    chapter = material.frame.chapter
    return DialogueContext(
        seed=material.frame.seed,
        profile=material.frame.profile,
        people=material.frame.relationships.people,
        stage=material.stage,
        earlier_bullets=tuple(b.text for b in earlier),
        current_bullets=tuple(b.text for b in sub_plan.bullets),
        state=ledger.changed_lines(before=first),
        instructions=tuple(b.text for b in _carried([*(chapter.standing if chapter else ()), *earlier])),
        earlier_plans=material.earlier_plans,
    )


def _carried(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return the instructions in force of the newest plans: a prompt must not grow with the number of plans."""
    by_plan = sorted(standing_bullets(bullets), key=lambda b: plan_index_of(b.bullet_id))
    return tuple(by_plan[-CARRIED_WISHES:])


def _as_it_is(text: str) -> str:
    """Return a text unchanged after three refused attempts; the checks for leaks and duplicates will find it."""
    return text


@dataclass(frozen=True)
class Moment:
    """A turn of the user's on its day, and the state of the dialogue when it began."""

    turn: UserTurn
    day: dt.date
    state: Callable[[], TurnState]
    """Computes the state when it is first called."""

    def state_of(self, kind: MessageKind, ordinal: int, previous_reply: str = "") -> TurnState:
        """Return the state for a message: an answer to one of this kind, or one of this kind itself."""
        update = {"kind": kind.value, "ordinal": ordinal, "previous_reply": previous_reply}
        return self.state().model_copy(update=update)


@dataclass
class Talk:
    """The state of one sub-plan's dialogue while it is driven."""

    asker: Asker
    tokenizer: Tokenizer
    material: SubPlanMaterial
    before: InitVar[Sequence[Message]] = ()
    """Messages that the sub-plan has already."""
    history: list[ChatMessage] = field(default_factory=list)
    summary: str = ""
    folds: int = 0
    turn_tokens: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    """The reason why a message is written again; empty for a message that is written for the first time."""
    taken: frozenset[str] = frozenset()
    """Texts that no new message may repeat, besides the user's messages in this sub-plan."""
    moment: Moment = field(init=False)
    """Turn that is being asked, and its day."""
    question: str = ""
    """Newest question of the turn: its own, or a follow-up."""
    reply: str = ""
    """Newest reply of the assistant."""
    turn_index: int = -1
    """Index of the current turn. Turns are numbered in the order asked, which may differ from the planned order."""

    def __post_init__(self, before: Sequence[Message]) -> None:
        sub_plan = self.material.sub_plan
        self.said = Transcript(sub_plan, self.material.first_session + sub_plan.sub_plan_index, before)
        self.context = context_of(self.material)
        self.bullets = self.material.ledger.bullet
        self.turns_asked = list(self.material.turns)
        self.budget = Budget(self.material.share, sum(m.tokens for m in before))
        self.heard = [self.bullets[i] for m in before for i in m.bullet_ids]
        self.history += (ChatMessage(role=m.role.value, content=m.content) for m in before)
        self.sizes = [m.tokens for m in before]
        self.fill_until = _fill_until(self.material)
        self.turn_index = max((m.turn_index or 0 for m in before), default=-1)

    # --- the budget ---------------------------------------------------------------------------------------

    def queued(self, turn: UserTurn) -> QueuedTurn[UserTurn]:
        """Return the turn with what the budget has to know of it."""
        ends_story = any(self.bullets[i].variety == CLOSING for i in turn.bullet_ids)
        return QueuedTurn(turn, self._tokens_of(turn), turn.is_required, ends_story)

    def _tokens_of(self, turn: UserTurn) -> int:
        if turn.text not in self.turn_tokens:
            self.turn_tokens[turn.text] = self.tokenizer.count(turn.text)
        return self.turn_tokens[turn.text]

    def reply_length(self, waiting: Waiting, turn_id: str, exchange: int) -> int:
        """Tokens to ask for, varied by turn so that replies are not of one length."""
        variation = random.Random(f"{self.asker.spec.seed}/{turn_id}/{exchange}/length").uniform(0.6, 1.4)
        return self.budget.reply_length(waiting, variation)

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
                # A moment refers back to the dialogue: this cycle would keep it in memory until a full collection.
                if hasattr(self, "moment"):
                    del self.moment
                return
            outcome = await self.carry_out(step)

    async def carry_out(self, step: Step[UserTurn]) -> object:
        """Carry a step out and return its outcome: a verdict, further turns, or None."""
        match step:
            case Ask(queued, is_filling):
                self.moment = self._asked(queued.turn, is_filling)
                self.question = queued.turn.text
            case Reply(kind, exchange, waiting):
                self.reply = await self._reply(self.moment, kind, waiting, exchange)
            case DetectQuestion(answers):
                return await self._asks_user(answers)
            case Answer(ordinal):
                text = await self._user(self.moment, MessageKind.ANSWER, ordinal, self.reply)
                self._say(MessageRole.USER, MessageKind.ANSWER, text, self.moment.day, ())
            case DetectFollowUp(follow_ups):
                return await self._asks_on(follow_ups)
            case FollowUp(ordinal):
                self.question = await self._user(self.moment, MessageKind.FOLLOW_UP, ordinal, self.reply)
                self._say(MessageRole.USER, MessageKind.FOLLOW_UP, self.question, self.moment.day, ())
            case MoreTurns(count):
                return [self.queued(turn) for turn in await self._more_turns(count)]
        return None

    def _asked(self, turn: UserTurn, is_filling: bool) -> Moment:
        self.turn_index += 1
        day = self._day_of(turn, is_filling)
        moment = self._moment(turn, day)
        self._say(MessageRole.USER, MessageKind.QUESTION, turn.text, day, turn.bullet_ids, self._tokens_of(turn))
        self.heard += [self.bullets[i] for i in turn.bullet_ids]
        return moment

    async def _asks_user(self, answers: int) -> bool:
        inputs = QuestionDetectorInputs(reply=asking_part(self.reply))
        place = f"{self.moment.turn.turn_id}/asks{answers}"
        verdict = await self.asker.structured("question_detector", inputs, place=place)
        return bool(verdict.asks_user)

    async def _asks_on(self, follow_ups: int) -> bool:
        inputs = FollowUpDetectorInputs(
            title=self.context.seed.title, question=self.question, reply=self.reply, follow_ups=follow_ups
        )
        place = f"{self.moment.turn.turn_id}/on{follow_ups}"
        verdict = await self.asker.structured("follow_up_detector", inputs, place=place, state=self.moment.state)
        return bool(verdict.asks_on)

    async def say_anew(self, message: Message, turn: UserTurn) -> None:
        """Say a reply, an answer or a follow-up of a turn in place of this one; what came before it is said."""
        own = self.said.turn(self.turn_index)
        moment = self._moment(turn, message.sent_at.date())
        if message.role is MessageRole.ASSISTANT:
            exchange = sum(m.role is MessageRole.ASSISTANT for m in own)
            await self._reply(moment, own[-1].kind, waiting_of(()), exchange)
            return
        ordinal = sum(m.kind is message.kind for m in own)
        text = await self._user(moment, message.kind, ordinal, self.said.last_text)
        self._say(MessageRole.USER, message.kind, text, moment.day, ())

    def _moment(self, turn: UserTurn, day: dt.date) -> Moment:
        # Computed when a call wants it, from what had been heard when the turn began.
        return Moment(turn, day, cache(partial(self._state, turn, day, len(self.heard))))

    def _state(self, turn: UserTurn, day: dt.date, heard_before: int) -> TurnState:
        heard = self.heard[:heard_before]
        now = self._now(turn, heard)
        briefs = self._briefs(turn, now)
        return TurnState(
            turn_id=turn.turn_id,
            today=day,
            bullets=briefs,
            standing=standing_bullets(heard),
            known=self.material.ledger.known_about(briefs[-1].bullet.topic, now) if briefs else (),
        )

    async def _reply(self, moment: Moment, kind: MessageKind, waiting: Waiting, exchange: int) -> str:
        await self._fold()
        inputs = AssistantReplyInputs(
            context=self.context,
            summary=self.summary,
            history=tuple(self.history),
            target_tokens=self.reply_length(waiting, moment.turn.turn_id, exchange),
            today=moment.day,
            feedback=self.problem,
        )
        text = await self.asker.prose(
            "assistant_reply",
            inputs,
            place=f"{moment.turn.turn_id}/reply{kind.value}{exchange}",
            check=lambda text: SAID_BEFORE if text in self.taken else self._trace(text, MessageRole.ASSISTANT),
            mend=_as_it_is,
            state=lambda: moment.state_of(kind, exchange),
        )
        self._say(MessageRole.ASSISTANT, MessageKind.REPLY, text, self.said.lines[-1].day, ())
        return text

    async def _user(self, moment: Moment, kind: MessageKind, ordinal: int, reply: str) -> str:
        inputs = UserReplyInputs(
            context=self.context,
            summary=self.summary,
            history=self._exchanged_end(),
            today=moment.day,
            told=self._told(),
            feedback=self.problem,
        )
        return await self.asker.prose(
            "user_answer" if kind is MessageKind.ANSWER else "user_follow_up",
            inputs,
            place=f"{moment.turn.turn_id}/{kind.value}{ordinal}",
            check=lambda text: (
                SAID_BEFORE if text in self.taken or self.said.has(text) else self._trace(text, MessageRole.USER)
            ),
            mend=_as_it_is,
            state=lambda: moment.state_of(kind, ordinal, reply),
        )

    def _trace(self, text: str, speaker: MessageRole) -> str | None:
        return trace_problem(text, speaker, self.context.seed.category, self.asker.spec.language)

    # --- more turns than were planned -----------------------------------------------------------------------

    async def _more_turns(self, count: int) -> tuple[UserTurn, ...]:
        own = {b.bullet_id for b in self.material.sub_plan.bullets}
        try:
            more = await write_more_turns(
                self.asker.within(f"more{len(self.turns_asked)}"),
                self.material.frame,
                self.material.ledger,
                self.material.stage,
                self.material.sub_plan,
                [b for b in self.heard if b.bullet_id in own],
                self.turns_asked,
                count,
            )
        except ReplyError:
            # Nothing is lost but length: other sub-plans settle what is left, and the length check has the last word.
            return ()
        self.turns_asked += more
        return more

    def messages(self) -> tuple[Message, ...]:
        """All messages so far, with their times."""
        conversation_id = self.asker.unit_key.conversation_id
        return self.said.messages(f"{self.asker.spec.seed}/{conversation_id}")

    # --- memory -----------------------------------------------------------------------------------------------

    async def _fold(self) -> None:
        if sum(self.sizes) <= HISTORY_TOKENS:
            return
        keep = self._kept_from()
        inputs = CompactInputs(
            context=self.context,
            summary=self.summary,
            messages=tuple(self.history[:keep]),
            max_tokens=SUMMARY_TOKENS,
        )
        self.summary = await self.asker.prose("compact_memory", inputs, place=f"fold{self.folds}", mend=_as_it_is)
        self.folds += 1
        del self.history[:keep], self.sizes[:keep]

    def _kept_from(self) -> int:
        keep = len(self.sizes)
        kept = 0
        while keep > 1 and kept + self.sizes[keep - 1] <= KEPT_TOKENS:
            keep -= 1
            kept += self.sizes[keep]
        if self.history[keep].role == "assistant" and keep + 1 < len(self.history):
            keep += 1  # what is kept begins with the user, as chat templates want it
        return keep

    def forget(self) -> None:
        """Leave the newest messages alone in a long history, without the summary that would have to be paid for."""
        if sum(self.sizes) > HISTORY_TOKENS:
            keep = self._kept_from()
            del self.history[:keep], self.sizes[:keep]

    def _exchanged_end(self) -> tuple[ChatMessage, ...]:
        """The newest messages with the roles exchanged; the user knows the rest from the plan.

        They are rarely asked, so no cache would hold a whole dialogue with the roles exchanged for them.
        """
        own = len(self.said.turn(self.turn_index))
        return tuple(_exchanged(m) for m in self.history[-max(own, USER_MESSAGES) :])

    def _told(self) -> tuple[int, ...]:
        """Numbers, from 1, of this sub-plan's bullets that were told."""
        heard = {b.bullet_id for b in self.heard}
        return tuple(i for i, b in enumerate(self.material.sub_plan.bullets, 1) if b.bullet_id in heard)

    # --- helpers --------------------------------------------------------------------------------------------

    def _say(
        self,
        speaker: MessageRole,
        kind: MessageKind,
        text: str,
        day: dt.date,
        bullet_ids: tuple[str, ...],
        tokens: int | None = None,
    ) -> None:
        if tokens is None:
            tokens = self.tokenizer.count(text)
        self.said.add(Line(speaker, kind, self.turn_index, day, tokens, bullet_ids, text))
        self.budget.used += tokens
        self.history.append(ChatMessage(role=speaker.value, content=text))
        self.sizes.append(tokens)

    def _day_of(self, turn: UserTurn, is_filling: bool) -> dt.date:
        told = [self.bullets[i].happens_on for i in turn.bullet_ids]
        stage = self.material.stage
        before = self.said.lines[-1].day if self.said.lines else stage.first_day
        if not told and is_filling:
            # Turns behind the planned ones go on into the days that the stage has left.
            before = max(before, min(self.fill_until, before + dt.timedelta(days=self.turn_index % 2)))
        return max([before, *told])

    def _now(self, turn: UserTurn, heard: Sequence[Bullet]) -> str:
        """The latest bullet said so far, this turn's included: facts have the values they have after it."""
        position = self.material.ledger.position
        candidates = [*(b.bullet_id for b in heard), *turn.bullet_ids]
        if not candidates:
            return self.material.sub_plan.bullets[0].bullet_id
        return max(candidates, key=lambda i: position[i])

    def _briefs(self, turn: UserTurn, now: str) -> tuple[BulletBrief, ...]:
        ledger = self.material.ledger
        voiced = ledger.briefs(self.bullets[i] for i in turn.bullet_ids)
        about = tuple(ledger.current_brief(self.bullets[i], now) for i in turn.about_bullet_ids if i in self.bullets)
        return (*voiced, *about)


def _fill_until(material: SubPlanMaterial) -> dt.date:
    """The last day for turns that are put in behind the planned ones; before an ending days are left free."""
    bullets = material.sub_plan.bullets
    ending = next((b.happens_on for b in bullets if b.variety == CLOSING), None)
    told = [b.happens_on for b in bullets if b.variety != CLOSING]
    if ending is None or not told:
        return material.stage.last_day
    return told[-1] + (ending - told[-1]) / 5


def _exchanged(message: ChatMessage) -> ChatMessage:
    return ChatMessage(role="user" if message.role == "assistant" else "assistant", content=message.content)
