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
from functools import partial

from longbeam.models.offline import blocks, figures, openings
from longbeam.models.offline.language import fill, is_new, shuffled, within_sentence
from longbeam.models.offline.packs import Card, Pack, Thread, pack_for
from longbeam.models.offline.story import people_thread
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
HONOUR_SHARE = 0.6
"""Share of the replies a standing wish applies to in which it is named; naming it each time sounds servile."""
REMEMBERED = 5
"""Replies back within which nothing is said again; further back people have forgotten, and ask again."""
NEIGHBOURS = 3
"""Bound (exclusive) of other threads a reply looks at; one that has no more to say is shorter than asked."""


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
    said: str
    """The assistant's recent messages, so that it does not repeat itself."""
    rng: random.Random

    @property
    def is_wish(self) -> bool:
        """Whether the user states an instruction or a preference: there is nothing to answer but that."""
        return self.brief is not None and self.brief.bullet.kind in {BulletKind.INSTRUCTION, BulletKind.PREFERENCE}

    @property
    def is_person(self) -> bool:
        """Whether the reply is about somebody."""
        return self.thread is people_thread()

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
    if not ending and text.endswith("?"):
        # A question among the advice is rhetorical; as the last line it would be taken for one to the user.
        ending = openings.closing(situation.thing, situation.today, situation.rng)
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
    asked = [m.content for m in reversed(inputs.history) if m.role == "user"][:4]
    brief = inputs.hints.bullets[-1] if inputs.hints.bullets else None
    reading = read(pack, brief) if brief else None
    if reading is not None:
        thread, thing = reading.thread, reading.thing
        fields = {**reading.fields, "it": thing}
        cards = (asked_card(thread, text, fields) for text in asked)
        card = next((c for c in cards if c is not None), None)
    else:
        # What belongs to no thread stays with one subject for the whole turn.
        of_turn = random.Random(f"{inputs.context.seed.title}/{inputs.hints.turn_id}")
        found = next((f for text in asked if (f := _introductory_card(pack, text)) is not None), None)
        thread, card = found or (of_turn.choice(pack.threads), None)
        thing = of_turn.choice(thread.things) if thread.things else within_sentence(inputs.context.seed.subtopics[0])
        card = card or of_turn.choice(thread.cards)
    return Situation(
        pack=pack,
        thread=thread,
        thing=thing,
        card=card or rng.choice(thread.cards),
        reading=reading,
        brief=brief,
        user_text=asked[0] if asked else "",
        kind=inputs.hints.kind,
        today=inputs.hints.today,
        standing=inputs.hints.standing,
        said="\n".join([m.content for m in inputs.history if m.role == "assistant"][-REMEMBERED:]),
        rng=rng,
    )


def _introductory_card(pack: Pack, text: str) -> tuple[Thread, Card] | None:
    for ask in pack.intro_ask:
        if ask.q in text:
            name, _, card = ask.card.partition("/")
            thread = pack.thread(name)
            return thread, next(c for c in thread.cards if c.card == card)
    return None


def _blocks(s: Situation) -> Iterator[str]:
    """The blocks of a reply, most needed first; more than any length needs."""
    if s.kind == "follow_up":
        yield from _follow_up_blocks(s)
        return
    if s.is_wish and s.kind == "question":
        yield from _opening(s)
        return
    if s.kind == "answer":
        yield openings.after_answer(s.thing, s.rng)
    else:
        yield from _opening(s)
    shown = snippet_in(s.pack, s.user_text, s.thing)
    if shown is not None:
        yield from figures.code_answer(shown, s.thing, s.rng)
    problem = problem_in(s.pack, s.user_text)
    if problem is not None:
        yield from figures.worked_problem(*problem, s.rng)
    yield from _body(s)


def _opening(s: Situation) -> Iterator[str]:
    yield openings.opening(s.brief, s.thing, s.today, s.rng)
    if s.is_wish and s.brief is not None:
        honour = openings.honour_of(s.pack, s.brief.bullet, s.thing, s.rng)
        if honour:
            yield honour
        return
    fitting = [w for w in s.standing if openings.concerns(w.condition, s.user_text)]
    if fitting and s.rng.random() < HONOUR_SHARE:
        honour = openings.honour_of(s.pack, fitting[-1], s.thing, s.rng)
        if honour:
            yield honour


def _body(s: Situation) -> Iterator[str]:
    """The card asked for, then what belongs to it; nothing that was said a short while ago."""
    own, illustrations = s.card, _illustrations(s)
    head: list[Callable[[], str]] = [
        lambda: blocks.watch_block(own, s.fields, s.said, s.rng, is_person=s.is_person),
        lambda: blocks.check_block(own, s.fields, s.said, s.rng, is_person=s.is_person),
        *illustrations[:1],
    ]
    # What was asked for is answered even if it was said before.
    yield blocks.points_block(own, s.fields, s.said, s.rng) or blocks.reminder(own, s.fields, s.rng)
    for maker in shuffled(head, s.rng):
        if text := maker():
            yield text
    extras: list[Callable[[], str]] = [
        lambda: figures.options_table(s.thread, s.fields, s.said, s.rng),
        lambda: figures.schedule_block(own, s.fields, s.today, s.brief, s.said, s.rng),
        lambda: figures.message_draft(s.thread, s.fields, s.brief, s.today, s.rng),
        lambda: figures.numbers_block(s.brief, s.thing, s.rng),
    ]
    later: list[Callable[[], str]] = [*shuffled(extras, s.rng)[: s.rng.randint(1, 2)], *illustrations[1:]]
    for card in shuffled([c for c in s.thread.cards if c is not own], s.rng):
        later.append(partial(blocks.points_block, card, s.fields, s.said, s.rng, lead=True))
        if s.rng.random() < 0.4:
            later.append(partial(blocks.watch_block, card, s.fields, s.said, s.rng, is_person=s.is_person))
    for maker in _mostly_in_order(later, s.rng):
        if text := maker():
            yield text
    for thread in shuffled([t for t in s.pack.threads if t is not s.thread], s.rng)[: s.rng.randrange(NEIGHBOURS)]:
        yield blocks.neighbour_block(thread, s.rng.choice(thread.cards), s.rng)


def _mostly_in_order(makers: list[Callable[[], str]], rng: random.Random) -> list[Callable[[], str]]:
    keyed = [(i + rng.uniform(0, 2.5), maker) for i, maker in enumerate(makers)]
    return [maker for _, maker in sorted(keyed, key=lambda entry: entry[0])]


def _illustrations(s: Situation) -> list[Callable[[], str]]:
    """Code of this thread, or worked problems, that were not shown a short while ago."""
    if s.is_person:
        return []
    makers: list[Callable[[], str]] = [
        partial(figures.code_example, snippet, s.thing, s.rng)
        for snippet in s.pack.snippets
        if snippet.thread in ("", s.thread.thread) and is_new(figures.code_of(snippet, s.thing), s.said)
    ]
    problems = [p for p in s.pack.problems if p.thread in ("", s.thread.thread)]
    makers.extend(partial(figures.practice_problem, problem, s.thing, s.rng) for problem in problems)
    return shuffled(makers, s.rng)[:2]


def _follow_up_blocks(s: Situation) -> Iterator[str]:
    kind = follow_up_kind(s.user_text, s.thing) or "example"
    yield blocks.follow_up_answer(kind, s.card, s.thread, s.fields, s.rng)
    others = shuffled([c for c in s.thread.cards if c is not s.card], s.rng)
    makers: list[Callable[[], str]] = [
        *_illustrations(s)[:1],
        lambda: blocks.points_block(s.card, s.fields, s.said, s.rng) or blocks.reminder(s.card, s.fields, s.rng),
        partial(figures.numbers_block, s.brief, s.thing, s.rng),
        *(partial(blocks.points_block, card, s.fields, s.said, s.rng, lead=True) for card in others),
    ]
    for maker in makers:
        if text := maker():
            yield text


def _ending(s: Situation, inputs: AssistantReplyInputs) -> str:
    share = ASK_BACK_SHARE / 2 if s.is_person else ASK_BACK_SHARE
    wants = s.kind == "question" and not s.is_wish and s.rng.random() < share and inputs.target_tokens > 150
    again = s.kind == "answer" and inputs.hints.ordinal == 1 and s.rng.random() < 0.3
    if (wants or again) and s.brief is not None:
        asked = " ".join(m.content for m in inputs.history[-6:])
        questions = [fill(back.q, s.fields) for back in s.thread.ask_back]
        # Each stage begins with another of the thread's questions, so that they are not asked over and over.
        turned = inputs.context.stage.stage_index % len(questions)
        fresh = [q for q in questions[turned:] + questions[:turned] if q not in asked]
        if fresh:
            return fresh[0]
    if not s.is_person and not s.is_wish and s.rng.random() < 0.45:
        return openings.closing(s.thing, s.today, s.rng)
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
