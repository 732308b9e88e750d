"""One turn of a finished dialogue said anew: what a check refused, and no more than that.

A message that is refused is asked for again with what came before it and with the reason; the messages behind it stay.
A refused question takes its whole turn with it, because what follows answers it. Keys stay: the first message of turn
5 is `p0.s2.t5.n0` before and after.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longbeam.errors import ReplyError
from longbeam.generators.budget import Budget
from longbeam.generators.dialogue import Talk
from longbeam.generators.dialogue_material import SubPlanMaterial
from longbeam.generators.tuning import DIALOGUE
from longbeam.generators.user_turns import FurtherTurns, TurnBatch, write_more_turns, write_user_turns
from longbeam.models import Asker, Tokenizer
from longbeam.schemas import Message, UserTurn

GAP = dt.timedelta(seconds=40)
"""Between messages that were not there before."""


@dataclass(frozen=True)
class TurnPlace:
    """The place in a dialogue where messages are written again."""

    material: SubPlanMaterial
    tokenizer: Tokenizer
    before: tuple[Message, ...]
    """All messages of the sub-plan in front of the turn."""
    taken: frozenset[str]
    """Texts that no new message may repeat: they stand elsewhere in the conversation, or were refused."""


async def mend_turn(
    asker: Asker, place: TurnPlace, turn: Sequence[Message], problems: Mapping[str, str]
) -> tuple[Message, ...]:
    """Return the turn's messages, those anew whose keys `problems` has a reason for.

    Raises ReplyError when a model's replies do not fit.
    """
    if (reason := problems.get(turn[0].message_key)) is not None:
        question = await _question(asker, place, turn[0], reason)
        return await _asked(asker, place, question, turn)
    said = list(turn)
    asked = _turn_of(place.material, turn[0])
    for i, message in enumerate(turn):
        if (reason := problems.get(message.message_key)) is not None:
            talk = _talk(asker, place, [*place.before, *said[:i]], message.tokens, reason)
            await talk.say_anew(message, asked)
            anew = talk.said.transcript.lines[-1]
            update = {"content": talk.said.transcript.last_text, "tokens": anew.tokens, "bullet_ids": anew.bullet_ids}
            said[i] = message.model_copy(update=update)
    return tuple(said)


async def voice_bullet(
    asker: Asker, place: TurnPlace, bullet_id: str, problem: str, instead: Sequence[Message]
) -> tuple[Message, ...]:
    """Return a turn that says a bullet that nobody says, in place of one that may go, else behind all others."""
    (question,) = await _voicing(asker, place.material, (bullet_id,), problem)
    return await _asked(asker, place, question, instead)


async def _question(asker: Asker, place: TurnPlace, message: Message, problem: str) -> UserTurn:
    m = place.material
    if message.bullet_ids:  # a question: nothing else of the user's voices a bullet
        (turn,) = await _voicing(asker, m, message.bullet_ids, problem)
        return turn
    bullets = {b.bullet_id: b for b in m.sub_plan.bullets}
    heard = [bullets[i] for said in place.before for i in said.bullet_ids if i in bullets]
    elsewhere = [t for t in m.turns if t.text != message.content]
    asked = [*elsewhere, UserTurn(turn_id=turn_key(message), text=message.content, bullet_ids=())]
    more = await write_more_turns(asker, m.scene, FurtherTurns(1, heard, asked, problem=problem))
    if not more:
        raise ReplyError(f"{asker.unit_key}: every new question was asked before", reason="it was asked before")
    return more[0]


async def _voicing(asker: Asker, m: SubPlanMaterial, bullet_ids: tuple[str, ...], problem: str) -> tuple[UserTurn, ...]:
    batch = TurnBatch(batch_index=0, bullet_ids=bullet_ids, questions=1)
    return await write_user_turns(asker, m.scene, batch, problem)


async def _asked(asker: Asker, place: TurnPlace, question: UserTurn, old: Sequence[Message]) -> tuple[Message, ...]:
    """Ask a question and what comes of it, in about as many tokens as the old turn had."""
    room = sum(m.tokens for m in old) or place.tokenizer.count(question.text) + DIALOGUE.reply_to_new_turn
    talk = _talk(asker, place, place.before, room, "")
    if old:
        talk.said.turn_index = (old[0].turn_index or 0) - 1
    key = f"{place.material.sub_plan.key}.t{talk.said.turn_index + 1}"
    await talk.run(question.model_copy(update={"turn_id": key}))
    new = talk.messages()[len(place.before) :]
    if not new:
        raise ReplyError(f"{asker.unit_key}: no reply to the turn could be used", reason="no reply could be used")
    return _timed(new, old, place.before)


def _talk(asker: Asker, place: TurnPlace, said: Sequence[Message], room: int, problem: str) -> Talk:
    talk = Talk(asker, place.tokenizer, place.material, said, problem=problem, taken=place.taken)
    talk.budget = Budget(talk.budget.used + room, talk.budget.used)
    talk.said.history.forget()
    return talk


def _turn_of(material: SubPlanMaterial, question: Message) -> UserTurn:
    """The turn that a message asked, as it was planned if it was."""
    key = turn_key(question)
    for turn in material.turns:
        if turn.text == question.content:
            return turn.model_copy(update={"turn_id": key})
    return UserTurn(turn_id=key, text=question.content, bullet_ids=question.bullet_ids)


def turn_key(message: Message) -> str:
    """`p0.s2.t5` of `p0.s2.t5.n1`."""
    return message.message_key.rpartition(".")[0]


def _timed(new: Sequence[Message], old: Sequence[Message], before: Sequence[Message]) -> tuple[Message, ...]:
    """Send each message when the one in its place was sent, and what is more shortly after, on the same day."""
    times = [m.sent_at for m in old]
    while len(times) < len(new):
        last = times[-1] if times else before[-1].sent_at
        midnight = dt.datetime.combine(last.date(), dt.time.max).replace(microsecond=0)
        times.append(min(last + GAP, midnight) if not old else last)
    return tuple(m.model_copy(update={"sent_at": t}) for m, t in zip(new, times, strict=False))
