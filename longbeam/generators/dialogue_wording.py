"""Wording of a dialogue's messages: what each prompt is given, and what its reply must fulfil.

`DialogueWriter` asks for one message at a time and adds nothing to the dialogue; `dialogue.py` decides what comes next.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from longbeam.errors import ProviderError, is_final, reason_of
from longbeam.generators.closed_world import report
from longbeam.generators.dialogue_material import SubPlanMaterial, context_of, turn_state
from longbeam.generators.entailment_judge import ENTAILMENT_PROMPTS, Voicing, fault_in
from longbeam.generators.reply_excerpt import asking_part, asks, ends_asking
from longbeam.generators.said_advice import said_advice
from longbeam.generators.transcript import SaidSoFar
from longbeam.generators.turn_cards import draw_asks_back, draw_reaction, draw_take_up, has_wish
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import (
    AssistantReplyInputs,
    BulletBrief,
    QuestionDetectorInputs,
    QuestionDetectorReply,
    Reaction,
    TakeUp,
    TurnState,
    UserReplyInputs,
    UserSideInputs,
    WordTurnInputs,
)
from longbeam.schemas import (
    BulletKind,
    Incident,
    IncidentKind,
    MessageKind,
    MessageRole,
    TurnWriting,
    UserTurn,
)
from longbeam.text import content_words, is_of_machinery, spell_out, trace_problem

SPEAKING_PROMPTS = ("assistant_reply", "user_answer", "user_follow_up", "word_turn", "compact_memory", "more_turns")
DETECTOR_PROMPTS = ("question_detector",)
"""Prompts whose verdicts decide how a dialogue goes on."""
DIALOGUE_PROMPTS = (*SPEAKING_PROMPTS, *DETECTOR_PROMPTS)
WORDING_PROMPTS = ENTAILMENT_PROMPTS
"""Prompts that are asked besides where turns are worded in the dialogue."""
_NO_QUESTION = QuestionDetectorReply(reason="no verdict could be read", asks_user=False)
_FENCE = "```"
SAID_BEFORE = "you said exactly this before; say something else"


@dataclass(frozen=True)
class WordingMoment:
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


@dataclass(frozen=True)
class SaidExchange:
    """The message that is due in a turn: a reply to a message of this kind, or a message of this kind."""

    moment: WordingMoment
    kind: MessageKind
    ordinal: int
    reaction: Reaction = Reaction.ANSWER
    """How the user reacts in it, unless it is a question."""

    @property
    def prompt_id(self) -> str:
        """Prompt that words the user's message."""
        return "user_answer" if self.reaction is Reaction.ANSWER else "user_follow_up"

    @property
    def place(self) -> str:
        """Place of the message in its unit: `p0.s2.t5/answer0`."""
        return f"{self.moment.turn.turn_id}/{self.kind.value}{self.ordinal}"


class DialogueWriter:
    """Asks models for the messages of one sub-plan, and for the verdicts between them."""

    def __init__(
        self, asker: Asker, material: SubPlanMaterial, said: SaidSoFar, *, problem: str, taken: frozenset[str]
    ) -> None:
        """Write behind what was said.

        `problem` says why a message is written again; it is empty for one that is written for the first time. `taken`
        are texts that no new message may repeat, besides the user's messages in this sub-plan.
        """
        self._asker, self._material, self._said = asker, material, said
        self._problem, self._taken = problem, taken
        self._bullets = material.ledger.bullet
        self.context = context_of(material, asker.spec.on_contradiction)
        self._rng_key = f"{asker.spec.seed}/{asker.unit_key.conversation_id}"
        self._asked_back = False  # whether the newest reply was to ask the user something
        self._last_reaction: Reaction | None = None

    def moment(self, turn: UserTurn, day: dt.date) -> WordingMoment:
        """Return a turn on its day; its state is computed when a call wants it, from what has been heard by now."""
        material, heard, before = self._material, self._said.heard, len(self._said.heard)
        return WordingMoment(turn, day, cache(lambda: turn_state(material, turn, day, heard[:before])))

    # --- planned messages that are worded when they are due ---------------------------------------------------

    async def word(self, turn: UserTurn, day: dt.date, reply: str) -> UserTurn:
        """Return a turn as it is worded when it is due; as its batch has it where nothing was said before.

        Pasted material stays as it is, and with it the message around it. A message that takes nothing up is written
        already, where the newest reply cannot have answered it.
        """
        if self._asker.spec.turns is TurnWriting.BATCHED or not reply or _FENCE in turn.text:
            return turn
        takes_up = self._take_up(turn, day)
        if takes_up is TakeUp.NOTHING and not self._may_be_answered(turn, reply):
            return turn
        inputs = self._user_inputs(WordTurnInputs, day, draft=turn.text, takes_up=takes_up)
        briefs = self._material.ledger.briefs(self._bullets[i] for i in turn.bullet_ids)
        place = f"{turn.turn_id}/word"
        voicing = Voicing(self._asker.within(place), briefs)
        accept = Acceptance(
            check=lambda text: self._wording_faults(text, turn, day, briefs),
            confirm=lambda text: voicing.judge([(spell_out(text, day), turn.bullet_ids)]),
            mend=lambda _: turn.text,
        )
        try:
            text = await self._asker.prose("word_turn", inputs, place=place, accept=accept)
        except ProviderError as exc:
            if not is_final(exc):
                raise
            detail = f"the message stays as its batch has it: {reason_of(exc)}"
            self._asker.note(
                Incident(kind=IncidentKind.DEFAULTED, prompt_id="word_turn", place=turn.turn_id, detail=detail)
            )
            return turn
        return turn.model_copy(update={"text": text.strip()})

    def _take_up(self, turn: UserTurn, day: dt.date) -> TakeUp:
        if any(self._bullets[i].kind is BulletKind.SIDE for i in turn.bullet_ids):
            return TakeUp.NOTHING  # the undertaking does not come up in it
        if self._said.heard and self._said.heard[-1].kind is BulletKind.SIDE:
            return TakeUp.NOTHING  # nobody comes back to news of another kind to speak of the undertaking
        last = self._said.transcript.lines[-1]
        key = f"{self._rng_key}/{turn.turn_id}/take_up"
        return draw_take_up(key, same_day=last.day == day, has_advice=bool(last.bullet_ids))

    def _may_be_answered(self, turn: UserTurn, reply: str) -> bool:
        """Return whether the newest reply may have answered what a turn asks: it has a word of the turn's things.

        A turn without a bullet asks on about what was said, and beside a wish a question may be about anything.
        """
        if not asks(turn.text):
            return False
        told = [self._bullets[i] for i in turn.bullet_ids]
        if not told or not self._asker.language.reads_words or has_wish(told):
            return True
        return any(not content_words(b.topic).isdisjoint(content_words(reply)) for b in told)

    def _wording_faults(self, text: str, turn: UserTurn, day: dt.date, briefs: Sequence[BulletBrief]) -> Iterator[str]:
        world = self._said.world
        if self._said.transcript.has(text):
            yield SAID_BEFORE
        if trace := self._trace_in(text, MessageRole.USER):
            yield trace
        if world is not None:
            told = (b.bullet.text for b in briefs)
            yield from world.faults(text, day, near=[spell_out(turn.text, day), *told])
        yield from filter(None, (fault_in(spell_out(text, day), brief) for brief in briefs))

    # --- replies, answers and follow-ups ------------------------------------------------------------------------

    async def reply(self, due: SaidExchange, target_tokens: int, *, may_ask: bool) -> tuple[str, tuple[str, ...]]:
        """Return the assistant's reply to a message, and the ids of the advice that it gives.

        `may_ask`: whether there is room for an answer to a question of the assistant's; nobody answers another one.
        """
        said, turn, day = self._said, due.moment.turn, self._said.transcript.lines[-1].day
        await said.history.fold(self._asker, self.context)
        is_first = due.kind is MessageKind.QUESTION
        advice = tuple(a for a in self._material.advice if is_first and a.bullet_id in turn.bullet_ids)
        place = f"{turn.turn_id}/reply{due.kind.value}{due.ordinal}"
        told = [self._bullets[i] for i in turn.bullet_ids]
        asks_back = draw_asks_back(f"{self._rng_key}/{place}", told, due.kind, due.ordinal)
        self._asked_back = may_ask and asks_back and due.reaction is Reaction.ANSWER
        inputs = AssistantReplyInputs(
            context=self.context,
            summary=said.history.summary,
            history=tuple(said.history.messages),
            target_tokens=target_tokens,
            today=due.moment.day,
            feedback=self._problem,
            changed=said.changed(),
            wishes=said.wishes(),
            replaced=said.replaced(),
            asks_back=self._asked_back,
        )
        text = await self._asker.prose(
            "assistant_reply",
            inputs,
            place=place,
            accept=Acceptance(
                check=lambda text: self._faults(text, MessageRole.ASSISTANT, day, is_repeat=text in self._taken),
                mend=lambda text: self._as_it_is(text, MessageRole.ASSISTANT, "assistant_reply", place, day),
            ),
            state=lambda: due.moment.state_of(due.kind, due.ordinal, asked=said.transcript.asked),
        )
        return text, said_advice(advice, text)

    async def user(self, due: SaidExchange, reply: str) -> str:
        """Return the user's reaction to the newest reply."""
        day, has = due.moment.day, self._said.transcript.has
        inputs = self._user_inputs(UserReplyInputs, day, reaction=due.reaction)
        return await self._asker.prose(
            due.prompt_id,
            inputs,
            place=due.place,
            accept=Acceptance(
                check=lambda text: self._faults(
                    text, MessageRole.USER, day, is_repeat=text in self._taken or has(text)
                ),
                mend=lambda text: self._as_it_is(text, MessageRole.USER, due.prompt_id, due.place, day),
            ),
            state=lambda: due.moment.state_of(due.kind, due.ordinal, reply),
        )

    def _user_inputs(self, kind: type[UserSideInputs], day: dt.date, **more: Any) -> UserSideInputs:  # Any: its fields
        said = self._said
        return kind(
            context=self.context,
            summary=said.history.summary,
            history=said.newest_exchanged(),
            today=day,
            told=said.told(),
            changed=said.changed(),
            people=said.appeared.people,
            names=said.appeared.names,
            feedback=self._problem,
            **more,
        )

    def _as_it_is(self, text: str, speaker: MessageRole, prompt_id: str, place: str, day: dt.date) -> str:
        """Return a text unchanged after three refused attempts, and note its values that nothing gives.

        The checks for leaks and duplicates will find what else is wrong. Raises ValueError for a text of the machinery,
        which is no message of anybody's.
        """
        if is_of_machinery(text, speaker, self.context.seed.category):
            raise ValueError(self._trace_in(text, speaker))
        report(self._asker, prompt_id, self._new_values(text, speaker, day), place)
        return text

    def _trace_in(self, text: str, speaker: MessageRole) -> str | None:
        return trace_problem(text, speaker, self.context.seed.category, self._asker.language)

    def _faults(self, text: str, speaker: MessageRole, day: dt.date, *, is_repeat: bool) -> Iterator[str]:
        if is_repeat:
            yield SAID_BEFORE
        if trace := self._trace_in(text, speaker):
            yield trace
        yield from self._new_values(text, speaker, day)

    def _new_values(self, text: str, speaker: MessageRole, day: dt.date) -> Iterator[str]:
        """Yield what is wrong with the values that a message of this turn states, or ascribes to the user."""
        world = self._said.world
        if world is None:
            return
        if speaker is MessageRole.ASSISTANT:
            yield from world.claim_faults(text, day)
        else:
            yield from world.faults(text, day, near=self._said.exchange())

    # --- verdicts -----------------------------------------------------------------------------------------------

    async def asks_user(self, turn: UserTurn, reply: str, answers: int) -> bool:
        """Return whether a reply asks the user for something, as a detector reads it where the reply has a question.

        A reply that was to ask back and ends with a question does.
        """
        if not asks(reply):
            return False
        if self._asked_back and ends_asking(reply):
            return True
        verdict = await self._asker.structured(
            "question_detector",
            QuestionDetectorInputs(reply=asking_part(reply)),
            place=f"{turn.turn_id}/asks{answers}",
            accept=Acceptance(default=_NO_QUESTION),
        )
        return bool(verdict.asks_user)

    def reaction(self, turn: UserTurn, reactions: int) -> Reaction | None:
        """Return how the user reacts to the newest reply; None where they leave it at that."""
        told = [self._bullets[i] for i in turn.bullet_ids]
        drawn = draw_reaction(f"{self._rng_key}/{turn.turn_id}", told, reactions)
        if drawn is self._last_reaction is Reaction.OBJECTS:
            drawn = Reaction.ASKS_ON  # nobody objects twice in a row
        self._last_reaction = drawn or self._last_reaction
        return drawn
