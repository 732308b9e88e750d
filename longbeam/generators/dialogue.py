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
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cache

from longbeam.errors import ProviderError, is_final, reason_of
from longbeam.generators.budget import Budget, Waiting
from longbeam.generators.closed_world import report, world_of
from longbeam.generators.demand import demand_of
from longbeam.generators.dialogue_history import DialogueHistory, history_tokens
from longbeam.generators.dialogue_material import (
    Appeared,
    SubPlanMaterial,
    carried_wishes,
    context_of,
    fill_until,
    turn_state,
)
from longbeam.generators.entailment_judge import ENTAILMENT_PROMPTS, Voicing, fault_in
from longbeam.generators.ledger import replaced_wishes, standing_bullets
from longbeam.generators.reply_excerpt import asking_part, may_ask
from longbeam.generators.said_advice import advice_faults, said_advice
from longbeam.generators.transcript import Line, Transcript
from longbeam.generators.turn_cards import draw_asks_back, draw_take_up, has_wish
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
from longbeam.generators.user_turns import FurtherTurns, write_more_turns
from longbeam.models.asking import Acceptance, Asker
from longbeam.models.tokens import Tokenizer
from longbeam.prompts.calls.dialogue import (
    AssistantReplyInputs,
    FollowUpDetectorInputs,
    FollowUpDetectorReply,
    QuestionDetectorInputs,
    QuestionDetectorReply,
    TakeUp,
    TurnState,
    UserReplyInputs,
    WordTurnInputs,
)
from longbeam.prompts.calls.user_turns import BulletBrief
from longbeam.schemas.calls import ChatMessage
from longbeam.schemas.dialogue import Message, MessageKind, MessageRole, UserTurn
from longbeam.schemas.incidents import Incident, IncidentKind
from longbeam.schemas.plans import CLOSING, Advice, BulletKind
from longbeam.schemas.spec import ENGLISH, TurnWriting
from longbeam.text.spoken_days import spell_out
from longbeam.text.traces import is_of_machinery, trace_problem
from longbeam.text.words import content_words

SPEAKING_PROMPTS = ("assistant_reply", "user_answer", "user_follow_up", "word_turn", "compact_memory", "more_turns")
DETECTOR_PROMPTS = ("question_detector", "follow_up_detector")
"""Prompts whose verdicts decide how a dialogue goes on."""
DIALOGUE_PROMPTS = (*SPEAKING_PROMPTS, *DETECTOR_PROMPTS)
WORDING_PROMPTS = ENTAILMENT_PROMPTS
"""Prompts that are asked besides where turns are worded in the dialogue."""
_NO_QUESTION = QuestionDetectorReply(reason="no verdict could be read", asks_user=False)
_NO_FOLLOW_UP = FollowUpDetectorReply(reason="no verdict could be read", asks_on=False)
_FENCE = "```"
SAID_BEFORE = "you said exactly this before; say something else"
LENGTH_VARIATION = (0.85, 1.15)
"""Factor by which the length of a reply varies beside what its message asks for."""


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


@dataclass(frozen=True)
class Moment:
    """A turn of the user's on its day, and the state of the dialogue when it began."""

    turn: UserTurn
    day: dt.date
    state: Callable[[], TurnState]
    """Computes the state when it is first called."""

    def state_of(
        self, kind: MessageKind, ordinal: int, previous_reply: str = "", asked: tuple[str, ...] = ()
    ) -> TurnState:
        """Return the state for a message: an answer to one of this kind, or one of this kind itself."""
        update = {"kind": kind.value, "ordinal": ordinal, "previous_reply": previous_reply, "asked": asked}
        return self.state().model_copy(update=update)


@dataclass
class Talk:
    """The state of one sub-plan's dialogue while it is driven."""

    asker: Asker
    tokenizer: Tokenizer
    material: SubPlanMaterial
    before: InitVar[Sequence[Message]] = ()
    """Messages that the sub-plan has already."""
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
    reason: str = ""
    """The detector's reason why the user asks on about the newest reply."""
    is_planned: bool = True
    """Whether the turn was planned. Planned turns are parts of the text, so a lost one is a missing part."""
    turn_index: int = -1
    """Index of the current turn. Turns are numbered in the order asked, which may differ from the planned order."""

    def __post_init__(self, before: Sequence[Message]) -> None:
        sub_plan = self.material.sub_plan
        self.said = Transcript(sub_plan, self.material.first_session + sub_plan.sub_plan_index, before)
        self.context = context_of(self.material, self.asker.spec.on_contradiction)
        self.appeared = Appeared(self.material)
        self.carried = carried_wishes(self.material)
        self.history = DialogueHistory(history_tokens(self.asker.spec))
        self.bullets = self.material.ledger.bullet
        self.turns_asked = list(self.material.turns)
        self.budget = Budget(self.material.share, sum(m.tokens for m in before))
        self.heard = [self.bullets[i] for m in before if m.role is MessageRole.USER for i in m.bullet_ids]
        self.fill_until = fill_until(self.material)
        self.turn_index = max((m.turn_index or 0 for m in before), default=-1)
        m = self.material
        self.world = world_of(self.asker, "user_answer", m.frame, m.ledger, m.earlier_plans)
        self.slips = {turn.bullet_ids: turn.slip for turn in m.turns if turn.slip}
        for said in before:
            self.history.add(said.role, said.content, said.tokens)
            self.appeared.hear(said.content)
            self._hear(said.role, said.content, said.sent_at.date(), said.bullet_ids)

    # --- the budget ---------------------------------------------------------------------------------------

    def queued(self, turn: UserTurn) -> QueuedTurn[UserTurn]:
        """Return the turn with what the budget has to know of it."""
        ends_story = any(self.bullets[i].variety == CLOSING for i in turn.bullet_ids)
        return QueuedTurn(turn, self._tokens_of(turn), turn.is_required, ends_story, demand_of(turn.text))

    def _tokens_of(self, turn: UserTurn) -> int:
        if turn.text not in self.turn_tokens:
            self.turn_tokens[turn.text] = self.tokenizer.count(turn.text)
        return self.turn_tokens[turn.text]

    def reply_length(self, waiting: Waiting, turn_id: str, exchange: int) -> int:
        """Return the tokens to ask for: by how much the newest message asks, varied a little by turn."""
        variation = random.Random(f"{self.asker.spec.seed}/{turn_id}/{exchange}/length").uniform(*LENGTH_VARIATION)
        return self.budget.reply_length(waiting, variation * demand_of(self.said.last_text))

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
            case Ask(queued, is_planned, is_behind):
                self.is_planned = is_planned
                self.turn_index += 1
                day = self._day_of(queued.turn, is_behind)
                self.appeared.hear(queued.turn.text)
                turn = await self._worded(queued.turn, day)
                self.moment = self._asked(turn, day)
                self.question = turn.text
            case Reply(kind, exchange, waiting):
                reply = self._reply(self.moment, kind, waiting, exchange)
                return await self._is_lost(reply, "assistant_reply", replies_to=kind)
            case DetectQuestion(answers):
                return await self._asks_user(answers)
            case Answer(ordinal):
                return await self._is_lost(self._answer(MessageKind.ANSWER, ordinal), "user_answer")
            case DetectFollowUp(follow_ups):
                return await self._asks_on(follow_ups)
            case FollowUp(ordinal):
                return await self._is_lost(self._answer(MessageKind.FOLLOW_UP, ordinal), "user_follow_up")
            case MoreTurns(count):
                return [self.queued(turn) for turn in await self._more_turns(count)]
        return None

    async def _answer(self, kind: MessageKind, ordinal: int) -> None:
        text = await self._user(self.moment, kind, ordinal, self.reply)
        if kind is MessageKind.FOLLOW_UP:
            self.question = text
        self._say(MessageRole.USER, kind, text, self.moment.day)

    async def _is_lost(
        self, writing: Awaitable[object], prompt_id: str, *, replies_to: MessageKind | None = None
    ) -> bool:
        """Return whether a message could not be written; then what it would have replied to is taken back."""
        try:
            await writing
        except ProviderError as exc:
            if not is_final(exc):
                raise
            if replies_to is not None:
                self._take_back()
            is_turn = replies_to is MessageKind.QUESTION
            kind = IncidentKind.SKIPPED if is_turn and self.is_planned else IncidentKind.ENDED
            turn = self.moment.turn
            unsaid = f"; unsaid: {', '.join(turn.bullet_ids)}" if is_turn and turn.bullet_ids else ""
            detail = f"{reason_of(exc)}{unsaid}"
            self.asker.note(Incident(kind=kind, prompt_id=prompt_id, place=turn.turn_id, detail=detail))
            return True
        return False

    def _take_back(self) -> None:
        """Take the last message back, which nobody replies to; a question with the bullets that it voices."""
        line = self.said.take_back()
        self.budget.used -= line.tokens
        self.history.take_back()
        if line.kind is MessageKind.QUESTION:
            self.turn_index -= 1
            del self.heard[len(self.heard) - len(line.bullet_ids) :]

    async def _worded(self, turn: UserTurn, day: dt.date) -> UserTurn:
        """Return a turn as it is worded when it is due; as its batch has it where nothing was said before.

        Pasted material stays as it is, and with it the message around it. A message that takes nothing up is written
        already, where the newest reply cannot have answered it.
        """
        if self.asker.spec.turns is TurnWriting.BATCHED or not self.reply or _FENCE in turn.text:
            return turn
        takes_up = self._take_up(turn, day)
        if takes_up is TakeUp.NOTHING and not self._may_be_answered(turn):
            return turn
        inputs = WordTurnInputs(
            context=self.context,
            summary=self.history.summary,
            history=self._newest_exchanged(),
            today=day,
            told=self._told(),
            changed=self.material.ledger.lines_updated_by(self.heard),
            people=self.appeared.people,
            names=self.appeared.names,
            draft=turn.text,
            takes_up=takes_up,
            feedback=self.problem,
        )
        briefs = self.material.ledger.briefs(self.bullets[i] for i in turn.bullet_ids)
        voicing = Voicing(self.asker.within(f"{turn.turn_id}/word"), briefs)
        accept = Acceptance(
            check=lambda text: self._wording_faults(text, turn, day, briefs),
            confirm=lambda text: voicing.judge([(spell_out(text, day), turn.bullet_ids)]),
            mend=lambda _: turn.text,
        )
        try:
            text = await self.asker.prose("word_turn", inputs, place=f"{turn.turn_id}/word", accept=accept)
        except ProviderError as exc:
            if not is_final(exc):
                raise
            detail = f"the message stays as its batch has it: {reason_of(exc)}"
            self.asker.note(
                Incident(kind=IncidentKind.DEFAULTED, prompt_id="word_turn", place=turn.turn_id, detail=detail)
            )
            return turn
        return turn.model_copy(update={"text": text.strip()})

    def _take_up(self, turn: UserTurn, day: dt.date) -> TakeUp:
        key = f"{self.asker.spec.seed}/{self.asker.unit_key.conversation_id}/{turn.turn_id}/take_up"
        if any(self.bullets[i].kind is BulletKind.SIDE for i in turn.bullet_ids):
            return TakeUp.NOTHING  # the undertaking does not come up in it
        last = self.said.lines[-1]
        return draw_take_up(key, same_day=last.day == day, has_advice=bool(last.bullet_ids))

    def _may_be_answered(self, turn: UserTurn) -> bool:
        """Return whether the newest reply may have answered what a turn asks: it has a word of the turn's things.

        A turn without a bullet asks on about what was said, and beside a wish a question may be about anything.
        """
        language = self.asker.spec.language
        if not may_ask(turn.text, language):
            return False
        told = [self.bullets[i] for i in turn.bullet_ids]
        if not told or language != ENGLISH or has_wish(told):
            return True
        return any(not content_words(b.topic).isdisjoint(content_words(self.reply)) for b in told)

    def _wording_faults(self, text: str, turn: UserTurn, day: dt.date, briefs: Sequence[BulletBrief]) -> Iterator[str]:
        language = self.asker.spec.language
        if self.said.has(text):
            yield SAID_BEFORE
        if trace := self._trace_in(text, MessageRole.USER):
            yield trace
        if self.world is not None:
            told = (b.bullet.text for b in briefs)
            yield from self.world.faults(text, day, near=[spell_out(turn.text, day), *told])
        yield from filter(None, (fault_in(spell_out(text, day), brief, language) for brief in briefs))

    def _asked(self, turn: UserTurn, day: dt.date) -> Moment:
        moment = self._moment(turn, day)
        question = MessageRole.USER, MessageKind.QUESTION
        self.slips[turn.bullet_ids] = turn.slip
        self._add(Line(*question, self.turn_index, day, self._tokens_of(turn), turn.bullet_ids, turn.text))
        self.heard += [self.bullets[i] for i in turn.bullet_ids]
        return moment

    async def _asks_user(self, answers: int) -> bool:
        if not may_ask(self.reply, self.asker.spec.language):
            return False
        inputs = QuestionDetectorInputs(reply=asking_part(self.reply))
        place = f"{self.moment.turn.turn_id}/asks{answers}"
        verdict = await self.asker.structured(
            "question_detector", inputs, place=place, accept=Acceptance(default=_NO_QUESTION)
        )
        return bool(verdict.asks_user)

    async def _asks_on(self, follow_ups: int) -> bool:
        inputs = FollowUpDetectorInputs(
            title=self.context.seed.title, question=self.question, reply=self.reply, follow_ups=follow_ups
        )
        place = f"{self.moment.turn.turn_id}/on{follow_ups}"
        state = self.moment.state
        verdict = await self.asker.structured(
            "follow_up_detector", inputs, place=place, accept=Acceptance(default=_NO_FOLLOW_UP), state=state
        )
        self.reason = verdict.reason
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
        self._say(MessageRole.USER, message.kind, text, moment.day)

    def _moment(self, turn: UserTurn, day: dt.date) -> Moment:
        # Computed when a call wants it, from what had been heard when the turn began.
        before = len(self.heard)
        return Moment(turn, day, cache(lambda: turn_state(self.material, turn, day, self.heard[:before])))

    async def _reply(self, moment: Moment, kind: MessageKind, waiting: Waiting, exchange: int) -> None:
        await self.history.fold(self.asker, self.context)
        due = self._due(moment.turn) if kind is MessageKind.QUESTION else ()
        place = f"{moment.turn.turn_id}/reply{kind.value}{exchange}"
        inputs = AssistantReplyInputs(
            context=self.context,
            summary=self.history.summary,
            history=tuple(self.history.messages),
            target_tokens=self.reply_length(waiting, moment.turn.turn_id, exchange),
            today=moment.day,
            feedback=self.problem,
            changed=self.material.ledger.lines_updated_by(self.heard),
            wishes=tuple(b.text for b in standing_bullets(self.heard)),
            replaced=tuple(b.text for b in replaced_wishes([*self.carried, *self.heard])),
            advice=due,
            asks_back=draw_asks_back(
                f"{self.asker.spec.seed}/{self.asker.unit_key.conversation_id}/{place}",
                [self.bullets[i] for i in moment.turn.bullet_ids],
                kind,
                exchange,
            ),
        )
        day = self.said.lines[-1].day
        text = await self.asker.prose(
            "assistant_reply",
            inputs,
            place=place,
            accept=Acceptance(
                check=lambda text: (
                    *self._faults(text, MessageRole.ASSISTANT, day, is_repeat=text in self.taken),
                    *advice_faults(due, text),
                ),
                mend=lambda text: self._as_it_is(text, MessageRole.ASSISTANT, "assistant_reply", place, day),
            ),
            state=lambda: moment.state_of(kind, exchange, asked=self.said.asked),
        )
        self._say(MessageRole.ASSISTANT, MessageKind.REPLY, text, day, said_advice(due, text))
        self.reply = text

    def _due(self, turn: UserTurn) -> tuple[Advice, ...]:
        """Return what the reply to a turn has to bring in."""
        return tuple(a for a in self.material.advice if a.bullet_id in turn.bullet_ids)

    async def _user(self, moment: Moment, kind: MessageKind, ordinal: int, reply: str) -> str:
        inputs = UserReplyInputs(
            context=self.context,
            summary=self.history.summary,
            history=self._newest_exchanged(),
            today=moment.day,
            told=self._told(),
            changed=self.material.ledger.lines_updated_by(self.heard),
            people=self.appeared.people,
            names=self.appeared.names,
            reason=self.reason if kind is MessageKind.FOLLOW_UP else "",
            feedback=self.problem,
        )
        prompt_id = "user_answer" if kind is MessageKind.ANSWER else "user_follow_up"
        place = f"{moment.turn.turn_id}/{kind.value}{ordinal}"
        return await self.asker.prose(
            prompt_id,
            inputs,
            place=place,
            accept=Acceptance(
                check=lambda text: self._faults(
                    text, MessageRole.USER, moment.day, is_repeat=text in self.taken or self.said.has(text)
                ),
                mend=lambda text: self._as_it_is(text, MessageRole.USER, prompt_id, place, moment.day),
            ),
            state=lambda: moment.state_of(kind, ordinal, reply),
        )

    def _as_it_is(self, text: str, speaker: MessageRole, prompt_id: str, place: str, day: dt.date) -> str:
        """Return a text unchanged after three refused attempts, and note its values that nothing gives.

        The checks for leaks and duplicates will find what else is wrong. Raises ValueError for a text of the machinery,
        which is no message of anybody's.
        """
        if is_of_machinery(text, speaker, self.context.seed.category):
            raise ValueError(self._trace_in(text, speaker))
        report(self.asker, prompt_id, self._new_values(text, speaker, day), place)
        return text

    def _trace_in(self, text: str, speaker: MessageRole) -> str | None:
        return trace_problem(text, speaker, self.context.seed.category, self.asker.spec.language)

    def _faults(self, text: str, speaker: MessageRole, day: dt.date, *, is_repeat: bool) -> Iterator[str]:
        if is_repeat:
            yield SAID_BEFORE
        if trace := self._trace_in(text, speaker):
            yield trace
        yield from self._new_values(text, speaker, day)

    def _new_values(self, text: str, speaker: MessageRole, day: dt.date) -> Iterator[str]:
        """Yield what is wrong with the values that a message of this turn states, or ascribes to the user."""
        if self.world is None:
            return
        if speaker is MessageRole.ASSISTANT:
            yield from self.world.claim_faults(text, day)
        else:
            exchange = self.history.messages[-len(self.said.turn(self.turn_index)) :]
            yield from self.world.faults(text, day, near=[m.content for m in exchange])

    # --- more turns than were planned -----------------------------------------------------------------------

    async def _more_turns(self, count: int) -> tuple[UserTurn, ...]:
        own = {b.bullet_id for b in self.material.sub_plan.bullets}
        heard = [b for b in self.heard if b.bullet_id in own]
        if not heard:
            return ()  # further questions are about what was told
        try:
            more = await write_more_turns(
                self.asker.within(f"more{len(self.turns_asked)}"),
                self.material.scene,
                FurtherTurns(count, heard, self.turns_asked, self.world),
            )
        except ProviderError as exc:
            if not is_final(exc):
                raise
            # Nothing is lost but length: other sub-plans settle what is left, and the length check has the last word.
            place = f"more{len(self.turns_asked)}"
            self.asker.note(
                Incident(kind=IncidentKind.ENDED, prompt_id="more_turns", place=place, detail=reason_of(exc))
            )
            return ()
        self.turns_asked += more
        return more

    def messages(self) -> tuple[Message, ...]:
        """All messages so far, with their times."""
        conversation_id = self.asker.unit_key.conversation_id
        return self.said.messages(f"{self.asker.spec.seed}/{conversation_id}")

    def _told(self) -> tuple[str, ...]:
        """Texts of this sub-plan's bullets that were told and are true."""
        heard = {b.bullet_id for b in self.heard}
        bullets = self.material.sub_plan.bullets
        return tuple(b.text for b in bullets if b.bullet_id in heard and b.kind is not BulletKind.CONTRADICTION)

    # --- helpers --------------------------------------------------------------------------------------------

    def _newest_exchanged(self) -> tuple[ChatMessage, ...]:
        return self.history.exchanged_end(len(self.said.turn(self.turn_index)))

    def _say(
        self, speaker: MessageRole, kind: MessageKind, text: str, day: dt.date, advice_ids: tuple[str, ...] = ()
    ) -> None:
        """Say a message that voices no bullet of the user's, but perhaps brings some advice in."""
        self._add(Line(speaker, kind, self.turn_index, day, self.tokenizer.count(text), advice_ids, text))

    def _add(self, line: Line) -> None:
        self._hear(line.role, line.text, line.day, line.bullet_ids)
        self.said.add(line)
        self.budget.used += line.tokens
        self.history.add(line.role, line.text, line.tokens)

    def _hear(self, speaker: MessageRole, text: str, day: dt.date, bullet_ids: tuple[str, ...]) -> None:
        """Let later messages take up the values of a message, but not those of a slip or of a pasted document."""
        if self.world is None:
            return
        told = [self.bullets[i] for i in bullet_ids] if speaker is MessageRole.USER else []
        pasted = (b.text for b in told if b.kind is BulletKind.PASTED)
        slip = self.slips.get(bullet_ids, "") if told else ""
        self.world.hear(text, day, speaker, untrue=" ".join([slip, *pasted]))

    def _day_of(self, turn: UserTurn, is_behind: bool) -> dt.date:
        told = [self.bullets[i].happens_on for i in turn.bullet_ids]
        stage = self.material.stage
        before = self.said.lines[-1].day if self.said.lines else stage.first_day
        if not told and is_behind:
            # Turns behind the planned ones go on into the days that the stage has left.
            before = max(before, min(self.fill_until, before + dt.timedelta(days=self.turn_index % 2)))
        return max([before, *told])
