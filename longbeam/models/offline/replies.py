"""The offline writer as the assistant: replies composed from a thread's knowledge and the user's own values.

A reply is a list of blocks put together until the length asked for is reached: what the user said comes first,
then the question's card, then what belongs to it. The form (list, table, prose, checklist, worked code or
problem) is drawn per message, so that neighbouring replies do not share a skeleton.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from longbeam.models.offline import blocks
from longbeam.models.offline.language import fill, shuffled
from longbeam.models.offline.packs import Card, Pack, Thread, pack_for
from longbeam.models.offline.turns import (
    Reading,
    asked_card,
    follow_up_kind,
    problem_in,
    read,
    snippet_in,
)
from longbeam.schemas.calls import AssistantReplyInputs, BulletBrief, CompactInputs
from longbeam.schemas.plans import Bullet, BulletKind

CHARACTERS_PER_TOKEN = 4.6
"""Of this writer's prose in o200k_base, measured on 128K conversations; code and tables have fewer."""
ASK_BACK_SHARE = 0.22
"""Share of first replies that end with a question (BEAM at 128K: 20 % of turns have an answer)."""


@dataclass(frozen=True)
class Situation:
    """What a reply has to go on."""

    pack: Pack
    thread: Thread
    thing: str
    card: Card
    reading: Reading | None
    brief: BulletBrief | None
    user_text: str
    kind: str
    today: dt.date
    standing: tuple[Bullet, ...]
    rng: random.Random

    @property
    def fields(self) -> dict[str, str]:
        """Fields for the thread's texts."""
        return {"it": self.thing}


def assistant_reply(inputs: AssistantReplyInputs, rng: random.Random) -> str:
    """A reply of about `target_tokens`."""
    situation = situation_of(inputs, rng)
    room = int(inputs.target_tokens * CHARACTERS_PER_TOKEN)
    ending = _ending(situation, inputs)
    text = assemble(_blocks(situation), room - len(ending))
    return f"{text}\n\n{ending}" if ending else text


def assemble(parts: Iterator[str], room: int) -> str:
    """Join blocks until `room` characters are used; the last is cut at a line or sentence, never within one."""
    chosen: list[str] = []
    used = 0
    for part in parts:
        if used + len(part) > room:
            cut = blocks.shortened(part, room - used)
            if cut:
                chosen.append(cut)
            elif not chosen:
                chosen.append(blocks.shortened(part, 10_000) or part)
            break
        chosen.append(part)
        used += len(part) + 2
    return "\n\n".join(chosen)


def situation_of(inputs: AssistantReplyInputs, rng: random.Random) -> Situation:
    """Work out what the user's last message is about."""
    pack = pack_for(inputs.context.seed)
    user_text = inputs.history[-1].content if inputs.history else ""
    question = next((m.content for m in reversed(inputs.history) if m.role == "user" and "?" in m.content), user_text)
    brief = inputs.hints.bullets[-1] if inputs.hints.bullets else None
    reading = read(pack, brief) if brief else None
    if reading is not None:
        thread, thing = reading.thread, reading.thing
        card = asked_card(thread, question, {**reading.fields, "it": thing})
    else:
        thread = rng.choice(pack.threads)
        thing = rng.choice(thread.things) if thread.things else inputs.context.seed.subtopics[0].lower()
        card = _introductory_card(pack, user_text)
        if card is not None:
            thread = next(t for t in pack.threads if card in t.cards)
            thing = thread.things[0] if thread.things else thing
    return Situation(
        pack=pack,
        thread=thread,
        thing=thing,
        card=card or rng.choice(thread.cards),
        reading=reading,
        brief=brief,
        user_text=user_text,
        kind=inputs.hints.kind,
        today=brief.bullet.happens_on if brief else inputs.context.stage.first_day,
        standing=inputs.hints.standing,
        rng=rng,
    )


def _introductory_card(pack: Pack, text: str) -> Card | None:
    for ask in pack.intro_ask:
        if ask.q in text:
            thread, _, card = ask.card.partition("/")
            return next((c for c in pack.thread(thread).cards if c.card == card), None)
    return None


def _blocks(s: Situation) -> Iterator[str]:
    """The blocks of a reply, most needed first; more than any length needs."""
    if s.kind == "follow_up":
        yield from _follow_up_blocks(s)
        return
    if s.kind == "answer":
        yield blocks.after_answer(s.user_text, s.thing, s.rng)
    else:
        yield from _opening(s)
    shown = snippet_in(s.pack, s.user_text, s.thing)
    if shown is not None:
        yield from blocks.code_answer(shown, s.thing, s.rng)
    problem = problem_in(s.pack, s.user_text)
    if problem is not None:
        yield from blocks.worked_problem(*problem, s.rng)
    yield from _body(s)


def _opening(s: Situation) -> Iterator[str]:
    kind = s.brief.bullet.kind if s.brief else BulletKind.EVENT
    yield blocks.opening(s.brief, s.thing, s.today, s.rng)
    if kind in {BulletKind.INSTRUCTION, BulletKind.PREFERENCE} and s.brief is not None:
        honour = blocks.honour_of(s.pack, s.brief.bullet, s.thing, s.rng)
        if honour:
            yield honour
    elif s.standing:
        wish = s.rng.choice(s.standing)
        honour = blocks.honour_of(s.pack, wish, s.thing, s.rng)
        if honour and s.rng.random() < 0.5:
            yield honour


def _body(s: Situation) -> Iterator[str]:
    own = s.card
    others = shuffled([c for c in s.thread.cards if c is not own], s.rng)
    makers: list[Callable[[], str]] = [
        lambda: blocks.points_block(own, s.fields, s.rng),
        lambda: blocks.watch_block(own, s.fields, s.rng),
        lambda: blocks.check_block(own, s.fields, s.rng),
    ]
    extras: list[Callable[[], str]] = [
        lambda: blocks.options_table(s.thread, s.fields, s.rng),
        lambda: blocks.schedule_block(own, s.fields, s.today, s.brief, s.rng),
        lambda: blocks.message_draft(s.thread, s.fields, s.brief, s.today, s.rng),
        lambda: blocks.numbers_block(s.brief, s.today, s.rng),
    ]
    s.rng.shuffle(extras)
    head = makers[:1] + shuffled([*makers[1:], extras[0]], s.rng)
    for maker in (*head, *extras[1:2]):
        if text := maker():
            yield text
    for card in others:
        yield blocks.points_block(card, s.fields, s.rng, lead=True)
        if s.rng.random() < 0.5:
            yield blocks.watch_block(card, s.fields, s.rng)
    for maker in extras[2:]:
        if text := maker():
            yield text
    for snippet in shuffled([x for x in s.pack.snippets if x.fixed], s.rng)[:6]:
        yield blocks.code_example(snippet, s.thing, s.rng)
    for problem in shuffled(list(s.pack.problems), s.rng)[:6]:
        yield from blocks.practice_problem(problem, s.rng)
    for thread in shuffled([t for t in s.pack.threads if t is not s.thread], s.rng)[:4]:
        card = s.rng.choice(thread.cards)
        yield blocks.neighbour_block(thread, card, s.rng)


def _follow_up_blocks(s: Situation) -> Iterator[str]:
    kind = follow_up_kind(s.user_text, s.thing)
    yield blocks.follow_up_answer(kind or "example", s.card, s.thread, s.fields, s.rng)
    yield blocks.points_block(s.card, s.fields, s.rng)
    for card in shuffled([c for c in s.thread.cards if c is not s.card], s.rng):
        yield blocks.points_block(card, s.fields, s.rng, lead=True)


def _ending(s: Situation, inputs: AssistantReplyInputs) -> str:
    wants = s.kind == "question" and s.rng.random() < ASK_BACK_SHARE and inputs.target_tokens > 150
    again = s.kind == "answer" and inputs.hints.ordinal == 1 and s.rng.random() < 0.3
    if (wants or again) and s.brief is not None:
        asked = " ".join(m.content for m in inputs.history[-6:])
        questions = [fill(back.q, s.fields) for back in s.thread.ask_back]
        fresh = [q for q in questions if q not in asked]
        if fresh:
            return s.rng.choice(fresh)
    if s.rng.random() < 0.45:
        return blocks.closing(s.thing, s.today, s.brief, s.rng)
    return ""


def compact(inputs: CompactInputs) -> str:
    """The first sentences of the user's messages, newest last: what was talked about, not a model's summary."""
    lines = [inputs.summary] if inputs.summary else []
    for message in inputs.messages:
        if message.role == "user":
            lines.append("- " + message.content.split("\n", 1)[0][:160])
    room = int(inputs.max_tokens * CHARACTERS_PER_TOKEN)
    text = "\n".join(lines)
    return text if len(text) <= room else text[-room:].partition("\n")[2]
