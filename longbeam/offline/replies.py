"""The offline writer as the assistant: replies composed from a thread's knowledge and the user's own values.

A reply joins blocks until it has the requested length: first a response to the user's statement, then the card of
the question, then related material. The form (list, table, prose, checklist, worked code or problem) is drawn for each
message, so that neighbouring replies differ in structure.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from longbeam.offline import blocks, openings, tables
from longbeam.offline.advising import led_over, placed
from longbeam.offline.arithmetic import CHOICE
from longbeam.offline.language import is_new, phrases, shuffled, within_sentence
from longbeam.offline.packs import Card, Pack, Thread, pack_for
from longbeam.offline.phrasing import in_short, piece_of
from longbeam.offline.planning import thread_of
from longbeam.offline.story import people_thread
from longbeam.offline.telling import COST_SLOT, WHOLE
from longbeam.offline.turns import (
    WISHES,
    Reading,
    ask_back_for,
    asked_card,
    follow_up_kind,
    problem_in,
    read,
    snippet_in,
)
from longbeam.prompts.calls import (
    AssistantReplyInputs,
    BulletBrief,
    CompactInputs,
    DialogueContext,
    LedgerLine,
    TurnState,
)
from longbeam.schemas import CLOSING, AdviceKind, Bullet, BulletKind, MessageKind, OnContradiction

T = TypeVar("T")

CHARACTERS_PER_TOKEN = 4.45
"""Characters of a token of these replies in o200k_base, measured on a 500K conversation; code has fewer."""
CLOSING_SHARE = 0.2
"""Share of replies with a last line that is no advice; more would be noticeable."""
IN_SHORT_SHARE = 0.35
"""Share of replies with a one-sentence answer in front, among those that respond to a value of the user's."""
ILLUSTRATION_SHARE = 0.3
"""Share of replies that may show code without being asked."""
PRACTICE_SHARE = 0.14
"""The same share for worked problems, of which a pack has only some thirty."""
PLAIN_PRACTICE_SHARE = 0.02
"""The same share for problems that draw no words and so read alike each time."""
HONOUR_SHARE = 0.6
"""Share of replies that mention a standing wish, among those it applies to; always would sound servile."""
SMALLEST_BLOCK = 160
"""Characters; a reply with less room left ends."""
REMEMBERED = 2
"""Number of earlier replies that a reply does not repeat; people forget older ones, and ask again."""


@dataclass(frozen=True)
class Situation:
    """Everything that a reply depends on."""

    pack: Pack
    thread: Thread
    thing: str
    card: Card
    reading: Reading | None
    brief: BulletBrief | None
    wish: BulletBrief | None
    """A wish said in passing, after a question."""
    user_text: str
    kind: str
    today: dt.date
    standing: tuple[Bullet, ...]
    known: tuple[LedgerLine, ...]
    """The user's current values of the thing."""
    others: tuple[tuple[Thread, str], ...]
    """Other things that the user has told of, each with its thread."""
    said: str
    """The assistant's recent messages, which the reply does not repeat."""
    rng: random.Random
    has_options: bool = False
    """Whether the assistant lists options for the thing once, and so compares none here."""
    gives_steps: bool = False
    """Whether this reply has to give a plan in steps; `said` has them, so that they come in no other order."""
    spoken: list[str] = field(default_factory=list)
    """The blocks of this reply so far."""

    @property
    def heard(self) -> str:
        """The assistant's recent messages and this reply so far."""
        return "\n".join((self.said, *self.spoken))

    @property
    def is_wish(self) -> bool:
        """Whether the user states an instruction or a preference, and nothing else to answer."""
        return self.brief is not None and self.brief.bullet.kind in {BulletKind.INSTRUCTION, BulletKind.PREFERENCE}

    @property
    def is_person(self) -> bool:
        """Whether the reply is about a person."""
        return self.thread is people_thread()

    @property
    def fields(self) -> dict[str, str]:
        """Fields for the thread's texts; `matter` of a person is the occasion, such as a visit."""
        matter = openings.occasion_of(self.brief) if self.is_person else self.thing
        return {"it": self.thing, "matter": matter}

    def frame(self, said: str, heading: str = blocks.HEADINGS[0]) -> blocks.ReplyFrame:
        """Return the setting of a block that does not repeat `said`."""
        return blocks.ReplyFrame(self.fields, said, self.rng, heading)


def assistant_reply(inputs: AssistantReplyInputs, state: TurnState, rng: random.Random) -> str:
    """Return a reply of about `target_tokens`; a farewell has its own length."""
    situation = situation_of(inputs, state, rng)
    if situation.brief is not None and situation.brief.bullet.topic == WHOLE:
        return "\n\n".join(farewell_blocks(situation.brief, rng))
    room = int(inputs.target_tokens * CHARACTERS_PER_TOKEN)
    ending = _ending(situation, inputs, state)
    spoken_of = f"{situation.thing}\n{situation.user_text}".casefold()
    due = state.due if state.kind == MessageKind.QUESTION else ()
    advice = [one.text for one in due if one.topic.casefold() in spoken_of]
    apart = [led_over(one, rng) for one in due if one.topic.casefold() not in spoken_of]
    room -= sum(len(text) + 2 for text in (*advice, *apart))
    text = placed(assemble(_recorded(_blocks(situation), situation.spoken), room - len(ending)), advice, apart)
    if not ending and text.endswith("?"):
        # A question within the advice is rhetorical; as the last line it would read as one to the user.
        ending = openings.closing(situation.thing, situation.today, situation.rng)
    return f"{text}\n\n{ending}" if ending else text


def assemble(parts: Iterator[str], room: int) -> str:
    """Join blocks until `room` characters are used.

    A block that is too long is cut at a line or sentence, never within one, or left out for a shorter one.
    """
    chosen: list[str] = []
    used = 0
    for part in parts:
        if room - used < SMALLEST_BLOCK and chosen:
            break
        fitting = part if used + len(part) <= room else blocks.shortened(part, room - used)
        if not fitting and not chosen:
            fitting = blocks.shortened(part, 10_000) or part
        if fitting:
            chosen.append(fitting)
            used += len(fitting) + 2
    return "\n\n".join(chosen)


def situation_of(inputs: AssistantReplyInputs, state: TurnState, rng: random.Random) -> Situation:
    """Return the situation of a reply: thread, thing and card of the user's last message, and the context."""
    pack = pack_for(inputs.context.seed)
    asked = [m.content for m in reversed(inputs.history) if m.role == "user"][:4]
    brief = state.bullets[-1] if state.bullets else None
    reading = read(pack, brief) if brief else None
    if reading is not None:
        thread, thing = reading.thread, reading.thing
        fields = {**reading.fields, "it": thing}
        cards = (asked_card(thread, text, fields) for text in asked)
        card = next((c for c in cards if c is not None), None)
    else:
        # A bullet without a thread keeps one subject for the whole turn: one of the things that were told of.
        of_turn = random.Random(f"{inputs.context.seed.title}/{state.turn_id}")
        found = next((f for text in asked if (f := _introductory_card(pack, text)) is not None), None)
        thread, thing = of_turn.choice(_others(pack, inputs.context, "") or [(of_turn.choice(pack.threads), "")])
        thread, card = found or (thread, None)
        if thing not in thread.things:
            thing = (
                of_turn.choice(thread.things) if thread.things else within_sentence(inputs.context.seed.subtopics[0])
            )
        if brief is not None and brief.bullet.kind is BulletKind.PASTED:
            thread, card, thing = thread_of(pack, brief.bullet) or thread, None, brief.bullet.topic
        card = card or of_turn.choice(thread.cards)
    due = state.due if state.kind == MessageKind.QUESTION else ()
    steps = [one.text for one in due if one.kind is AdviceKind.STEPS]
    return Situation(
        pack=pack,
        thread=thread,
        thing=thing,
        card=card or rng.choice(thread.cards),
        reading=reading,
        brief=brief,
        wish=next((b for b in state.bullets[:-1] if b.bullet.kind in WISHES), None),
        user_text=asked[0] if asked else "",
        kind=state.kind,
        today=state.today,
        standing=state.standing,
        known=state.known if reading is not None else (),
        others=_others(pack, inputs.context, thing),
        said="\n".join([*[m.content for m in inputs.history if m.role == "assistant"][-REMEMBERED:], *steps]),
        rng=rng,
        has_options=thing in state.listed,
        gives_steps=bool(steps),
    )


def _others(pack: Pack, context: DialogueContext, thing: str) -> tuple[tuple[Thread, str], ...]:
    subjects = {line.subject for line in context.state} - {thing}
    return tuple((thread, other) for thread in pack.threads for other in thread.things if other in subjects)


def _introductory_card(pack: Pack, text: str) -> tuple[Thread, Card] | None:
    for ask in pack.intro_ask:
        if ask.q in text:
            name, _, card = ask.card.partition("/")
            thread = pack.thread(name)
            return thread, next(c for c in thread.cards if c.card == card)
    return None


def _recorded(parts: Iterator[str], spoken: list[str]) -> Iterator[str]:
    for part in parts:
        spoken.append(part)
        yield part


def _blocks(s: Situation) -> Iterator[str]:
    """Yield the blocks of a reply, the most important first; more than any length needs."""
    heading = s.rng.choice(blocks.HEADINGS)
    if s.kind == "follow_up":
        yield blocks.follow_up_answer(
            follow_up_kind(s.user_text, s.thing) or "example", s.card, s.thread, s.fields, s.rng
        )
    elif s.kind == "answer":
        yield openings.after_answer(s.thing, s.user_text, s.rng)
    else:
        yield from _opening(s)
        if s.is_wish:
            return
    shown = snippet_in(s.pack, s.user_text, s.thing)
    if shown is not None:
        yield from blocks.code_answer(shown, s.thing, s.rng)
    problem = problem_in(s.pack, s.user_text)
    if problem is not None:
        yield from blocks.worked_problem(*problem, s.thing, s.rng)
    yield from _body(s, heading)


def _opening(s: Situation) -> Iterator[str]:
    taken_up = openings.opening(s.brief, s.thing, s.user_text, s.today, s.rng)
    if not s.is_wish and (not taken_up or s.rng.random() < IN_SHORT_SHARE):
        taken_up = f"{taken_up} {_in_short(s)}".strip()
    if s.wish is not None:
        taken_up = f"{openings.opening(s.wish, s.thing, s.user_text, s.today, s.rng)} {taken_up}".strip()
    yield taken_up
    if s.is_wish and s.brief is not None:
        # The wish has just been said, and of no thing in particular.
        honour = openings.honour_of(s.pack, s.brief.bullet, "", s.rng)
        if honour:
            yield honour
        return
    fitting = [w for w in s.standing if openings.concerns(w.condition, s.user_text)]
    if fitting and s.rng.random() < HONOUR_SHARE:
        honour = openings.honour_of(s.pack, fitting[-1], s.thing, s.rng)
        if honour:
            yield honour


def _in_short(s: Situation) -> str:
    points = blocks.new_points(s.card, s.fields, s.said)
    if len(points) < 2 and s.gives_steps:
        return ""
    first, second = s.rng.sample(points if len(points) > 1 else list(s.card.points), 2)
    return in_short(piece_of(first, s.fields), piece_of(second, s.fields), s.fields["matter"], s.rng)


def _body(s: Situation, heading: str) -> Iterator[str]:
    """Yield the card asked for, then related blocks that were not said recently."""
    own, rng = s.card, s.rng
    others = [c for c in shuffled(s.thread.cards, rng) if c is not own]
    shown, warned = _figures(s), _warnings(s, [own, *others[:1]], heading)
    # The question is answered even if the answer was given recently.
    frame = s.frame(s.said, heading)
    yield blocks.points_block(own, frame) or ("" if s.gives_steps else blocks.reminder(own, s.fields, rng))
    order = [shown, warned, None, shown, None, shown, warned, *(None for _ in others), shown, warned]
    for makers in [*_mostly_in_order(order[:4], rng), *order[4:]]:
        text = ""
        if makers is not None:
            text = next((t for maker in makers if (t := maker())), "")
        elif others:
            card, at_most = others.pop(), rng.choice((2, 3, 3, 4, 5))
            text = blocks.points_block(card, frame, also=True, at_most=at_most)
        if text:
            yield text
    yield from (text for maker in shown if (text := maker()))
    if s.kind == "question" and not s.is_person and s.others:
        thread, thing = rng.choice(s.others)
        fields = {"it": thing, "matter": thing}
        if text := blocks.neighbour_block(rng.choice(thread.cards), replace(frame, fields=fields)):
            yield text


Makers = Iterator[Callable[[], str]]


def _warnings(s: Situation, cards: Sequence[Card], heading: str) -> Makers:
    """Yield makers of common mistakes and signs of success, in a random order for each card."""
    for card in cards:
        for block in shuffled((blocks.watch_block, blocks.check_block), s.rng):
            # The frame is made here and not before, so that it holds the blocks of this reply so far.
            yield partial(block, card, s.frame(s.heard, heading))


def _figures(s: Situation) -> Makers:
    """Return makers of tables, sums, drafts, code and problems: the drawn ones first, then the other tables."""
    rng, it = s.rng, s.thing
    is_denied = s.brief is not None and s.brief.bullet.kind is BulletKind.CONTRADICTION
    due = None if is_denied else tables.next_date((*(s.brief.facts if s.brief else ()), *s.known), s.today)
    makers: list[tuple[float, Callable[[], str]]] = [
        (0.5, partial(tables.schedule_block, s.card, s.frame(s.said), s.today, due)),
        (0.4, lambda: tables.milestones(s.thread, s.frame(s.heard), s.today, due)),
        (0.6, partial(tables.recap_table, s.thread, s.fields, s.said, rng)),
        (0.6, partial(blocks.message_draft, s.thread, s.fields, s.brief, s.today, rng)),
        (0.6, partial(tables.numbers_block, s.brief, it, rng)),
    ]
    if not s.has_options:
        makers.insert(0, (0.55, partial(tables.options_table, s.thread, s.fields, s.said, rng)))
    if not s.is_person:
        makers.extend(_illustrations(s))
        if not is_denied:
            makers.append((0.7, partial(tables.known_table, s.known, it, s.today, s.said, rng)))
    drawn = [maker for share, maker in makers if rng.random() < share]
    tables_left = [maker for share, maker in makers if maker not in drawn and share > ILLUSTRATION_SHARE]
    if s.brief is not None and s.brief.bullet.kind is BulletKind.UPDATE:
        drawn.insert(0, partial(tables.change_table, s.brief, it, rng))
        return iter([*drawn[:1], *shuffled(drawn[1:], rng), *shuffled(tables_left, rng)])
    return iter([*shuffled(drawn, rng), *shuffled(tables_left, rng)])


def _mostly_in_order(items: Sequence[T], rng: random.Random) -> list[T]:
    keyed = [(i + rng.uniform(0, 2.5), i) for i in range(len(items))]
    return [items[i] for _, i in sorted(keyed)]


def _illustrations(s: Situation) -> list[tuple[float, Callable[[], str]]]:
    """Return at most one maker of code or a worked problem that was not shown recently, with its share of replies."""
    makers: list[tuple[float, Callable[[], str]]] = [
        (ILLUSTRATION_SHARE, partial(blocks.code_example, snippet, s.thing, s.rng))
        for snippet in s.pack.snippets
        if snippet.thread in ("", s.thread.thread) and is_new(blocks.code_of(snippet, s.thing), s.said)
    ]
    problems = [p for p in s.pack.problems if p.thread in ("", s.thread.thread)]
    for problem in problems:
        has_words = any(CHOICE in rule for rule in problem.let.values())
        share = PRACTICE_SHARE if has_words else PLAIN_PRACTICE_SHARE
        makers.append((share, partial(blocks.practice_problem, problem, s.thing, s.rng)))
    return shuffled(makers, s.rng)[:1]


def _ending(s: Situation, inputs: AssistantReplyInputs, state: TurnState) -> str:
    ends = s.brief is not None and s.brief.bullet.variety == CLOSING
    if _asks_about_contradiction(s, inputs):
        return f"Before this, you told me otherwise about {s.thing}. Which of the two is right?"
    asks = s.kind == "question" and not s.is_wish and not ends
    again = s.kind == "answer" and state.ordinal == 1
    if inputs.asks_back and (asks or again) and s.brief is not None:
        # A second question of the same turn is the next stage's, because the user has just answered this stage's.
        question = ask_back_for(s.thread, s.thing, inputs.context.stage.stage_index + again, state.asked)
        if question:
            return question
    if not s.is_person and not s.is_wish and not ends and s.rng.random() < CLOSING_SHARE:
        return openings.closing(s.thing, s.today, s.rng)
    return ""


def _asks_about_contradiction(s: Situation, inputs: AssistantReplyInputs) -> bool:
    is_told = s.kind == "question" and s.brief is not None and s.brief.bullet.kind is BulletKind.CONTRADICTION
    return is_told and inputs.context.on_contradiction is OnContradiction.ASK


def compact(inputs: CompactInputs) -> str:
    """Return the first sentences of the user's messages, newest last, in place of a model's summary."""
    lines = [inputs.summary] if inputs.summary else []
    for message in inputs.messages:
        if message.role == "user":
            lines.append("- " + message.content.split("\n", 1)[0][:160])
    room = int(inputs.max_tokens * CHARACTERS_PER_TOKEN)
    text = "\n".join(lines)
    return text if len(text) <= room else text[-room:].partition("\n")[2]


_BACK = phrases("farewell", "back")
_COST = phrases("farewell", "cost")
_KEPT = phrases("farewell", "kept")
_THANKS = phrases("farewell", "thanks")
_GOOD_BYE = phrases("farewell", "good_bye")
KEPT = 3


def farewell_blocks(brief: BulletBrief, rng: random.Random) -> Iterator[str]:
    """Yield a look back (with the sum that the user has named), habits to keep, thanks to helpers, and a good-bye."""
    total = next((line.value.text for line in brief.facts if line.value and line.attribute == COST_SLOT), "")
    yield " ".join([rng.choice(_BACK), *([rng.choice(_COST).format(total=total)] if total else [])])
    yield "\n".join(f"- {text}" for text in shuffled(_KEPT, rng)[:KEPT])
    yield rng.choice(_THANKS)
    yield rng.choice(_GOOD_BYE)
