"""Cards of the user's messages: what each one tells, how long it is, how it begins, and what people put in besides.

Code draws the cards, seeded by the batch, so that no prompt has to state a rate: a model cannot count one message in
ten. The rates were measured on the 1,051 main questions of BEAM's ten 100K conversations and on the 1,451 messages of
LoCoMo's three (docs/dialogue.md). Language models wrote both; where the two differ, the card lies between them.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from longbeam.generators.tuning import DIALOGUE
from longbeam.prompts.calls import BulletBrief, Opening, Paste, Reaction, SpokenDay, TakeUp, ToldOn, TurnCard, Typo
from longbeam.schemas import (
    AMOUNT_KINDS,
    CLOSING,
    OUTCOME,
    SPECIAL_KINDS,
    Advice,
    AdviceKind,
    Bullet,
    BulletKind,
    Category,
    MessageKind,
    TurnLengths,
    Value,
)
from longbeam.text import spoken, values

DECILES: Mapping[TurnLengths, tuple[int, ...]] = {
    TurnLengths.BEAM: (22, 28, 31, 34, 36, 39, 42, 46, 53, 77, 100),
    TurnLengths.CHAT: (8, 10, 13, 16, 19, 22, 25, 28, 33, 41, 47),
}
"""Words of a message without its code: 5 %, the nine deciles, 95 %. BEAM's main questions, and LoCoMo's messages."""
OPENINGS: Mapping[Opening, int] = {
    Opening.NEWS: 66,
    Opening.QUESTION: 10,
    Opening.GREETING: 3,
    Opening.ASIDE: 8,
    Opening.THOUGHT: 11,
}
"""Percent of the messages that do not begin with the last answer: the mean of BEAM (88 % of all begin with I or we, 7 %
with a question) and LoCoMo (8 %), but for greetings (9 % there), which are odd within one long conversation. A batch is
written before the answers are, so no card speaks of one."""
TAKE_UPS: Mapping[TakeUp, int] = {TakeUp.OUTCOME: 8, TakeUp.POINT: 7, TakeUp.DOUBT: 6, TakeUp.THANKS: 6}
"""Percent of the messages worded in the dialogue that begin with the last answer: 27, the mean of BEAM (0) and LoCoMo
(55). The parts are chosen: people thank an assistant less often than they go on."""
REACTIONS: Mapping[Reaction, float] = {Reaction.ACCEPTS: 0.11, Reaction.ASKS_ON: 0.06, Reaction.OBJECTS: 0.04}
"""... and shares of the other reactions to a turn's last reply. BEAM's ten 100K conversations have .22 answers and .10
follow-ups a turn (45 % and 30 % of them second ones); of the answers 62 % accept the reply and 44 % thank for it.
Wishes and endings, a quarter of our turns, have neither, so the shares are higher by a third."""
WANTS: Mapping[AdviceKind, float] = {AdviceKind.FIGURE: 0.18, AdviceKind.STEPS: 0.09, AdviceKind.OPTIONS: 0.09}
"""Shares of the messages on an event or a change that ask for something which can be asked for later: a third of them,
so that each stage has four to seven. What the reply says to it is read out of it (`generators/unasked.py`)."""
CROWDED, NEAR_DAYS = 1.5, 2
"""Cards for each question of a batch beyond which bullets of one narrative share a message, and days between two that
share one otherwise: what is told later than that has lost its moment."""
PASTES: Mapping[Category, Mapping[Paste, float]] = {
    Category.GENERAL: {Paste.TEXT: 0.03},
    Category.CODING: {Paste.CODE: 0.3, Paste.LOG: 0.1},
    Category.MATH: {Paste.WORK: 0.4},
}
"""Shares of messages with pasted material: 6 % of BEAM's have code, all in its coding chats, 3 % a quotation."""
FEELINGS = ("worried", "impatient", "tired", "curious", "unsure", "nervous", "hopeful", "sceptical")
"""Feelings that go with good news and with bad."""
_WORDS = re.compile(r"\S+")


@dataclass(frozen=True)
class Deck:
    """Everything that the cards of a batch are drawn from, beside its bullets."""

    lengths: TurnLengths
    category: Category
    rng_key: str
    advised: Sequence[Advice] = ()
    """Advice that the plan's replies give before the batch."""
    due: Collection[str] = ()
    """Bullets whose reply is to bring something in."""
    follows: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Bullets whose events lead to the event of each bullet."""
    apart: Collection[str] = ()
    """Bullets right behind which something is said in a message of its own, before the next one."""


def draw_cards(briefs: Sequence[BulletBrief], questions: int, deck: Deck) -> tuple[TurnCard, ...]:
    """Return a card for each of the questions of a batch, in the order of the bullets; the last ones tell nothing new.

    A message tells one bullet. Where there are more bullets than questions, neighbours that belong together share one,
    and those whose reply brings something in last of all. Two matters, or days far apart, are two messages while
    there are not many more cards than questions.
    """
    groups: list[list[BulletBrief]] = [[b] for b in briefs]
    while len(groups) > max(questions, 1):
        is_full = len(groups) > CROWDED * questions
        pairs = [
            i
            for i in range(len(groups) - 1)
            if groups[i][-1].bullet.bullet_id not in deck.apart
            and _belong_together(groups[i], groups[i + 1], deck.follows, is_full=is_full)
        ]
        if not pairs:
            break
        pair = max(pairs, key=lambda i: (_kinship(groups[i], groups[i + 1], deck.due), -i))
        groups[pair : pair + 2] = [groups[pair] + groups[pair + 1]]
    groups += [[] for _ in range(questions - len(groups))]
    return tuple(_card(group, deck, i) for i, group in enumerate(groups))


def _belong_together(
    one: Sequence[BulletBrief], other: Sequence[BulletBrief], follows: Mapping[str, Collection[str]], *, is_full: bool
) -> bool:
    """Return whether two groups of bullets are about one thing, or one leads to the other, within days.

    `is_full`: one narrative is enough. News stands alone.
    """
    bullets = [b.bullet for b in (*one, *other)]
    if any(b.kind is BulletKind.SIDE for b in bullets):
        return False
    before = {b.bullet.bullet_id for b in one}
    leads = any(before & set(follows.get(b.bullet.bullet_id, ())) for b in other)
    if is_full:
        return leads or len({b.narrative for b in bullets}) == 1
    is_near = (other[0].bullet.happens_on - one[-1].bullet.happens_on).days <= NEAR_DAYS
    return is_near and (leads or len({(b.narrative, b.topic) for b in bullets}) == 1)


def _kinship(one: Sequence[BulletBrief], other: Sequence[BulletBrief], due: Collection[str]) -> tuple[int, ...]:
    """Return how well two groups of bullets go into one message: few of them, of one day, topic and aspect.

    A reply that brings something in on one thing answers no question on another.
    """
    bullets = [b.bullet for b in (*one, *other)]
    is_on_one_thing = len({b.topic for b in bullets}) == 1
    brought_in = 0 if is_on_one_thing else sum(b.bullet_id in due for b in bullets)
    last, first = one[-1].bullet, other[0].bullet
    same = last.happens_on == first.happens_on, last.topic == first.topic, last.narrative == first.narrative
    return (-len(bullets), -brought_in, *map(int, same))


def _card(briefs: Sequence[BulletBrief], deck: Deck, number: int) -> TurnCard:
    rng = random.Random(f"{deck.rng_key}/{number}")
    bullets = [b.bullet for b in briefs]
    words = _length(deck.lengths, rng)
    needed = sum(len(_WORDS.findall(b.text)) for b in bullets) + DIALOGUE.beside_bullet * len(bullets)
    opening, feeling = _opening(bullets, rng), rng.choice(FEELINGS) if rng.random() < DIALOGUE.feeling_share else ""
    callback, aside, slips = (
        rng.random() < share for share in (DIALOGUE.callback_share, DIALOGUE.aside_share, DIALOGUE.typo_share)
    )
    is_plain = not any(b.kind in SPECIAL_KINDS or b.variety == CLOSING for b in bullets)
    # Several bullets fill a message; more beside them would make it a list.
    is_free = is_plain and len(bullets) <= 1
    days = _days_of(briefs, max((b.happens_on for b in bullets), default=dt.date.min))
    advised = [f"the {a.attribute} for {a.topic}" for a in deck.advised]
    paste, confirms = _paste(deck.category, rng), rng.random() < DIALOGUE.confirmed_share
    room = needed + DIALOGUE.question_words if bullets else 0
    if any(b.kind is BulletKind.SIDE for b in bullets):
        words = min(words, room)  # there is nothing else in the message
    return TurnCard(
        bullet_ids=tuple(b.bullet_id for b in bullets),
        asks_about=_asks_about(bullets, deck.due),
        least_words=max(round(words * (1 - DIALOGUE.card_slack)), needed if bullets else 0),
        most_words=max(round(words * (1 + DIALOGUE.card_slack)), round(room * (1 + DIALOGUE.card_slack))),
        opening=opening,
        feeling=feeling if len(bullets) <= 1 else "",
        paste=paste if is_free else Paste.NOTHING,
        slip=_slip(briefs, rng) if slips and is_free else None,
        callback=rng.choice(advised) if callback and advised and is_free else "",
        has_aside=aside and is_free,
        wants=_wants(bullets, deck.rng_key, number),
        asks_to_confirm=confirms and len(bullets) == 1 if has_wish(bullets) else None,
        days=_days(days, rng),
        told_on=_told_on(days),
    )


def draw_take_up(rng_key: str, *, same_day: bool, has_advice: bool) -> TakeUp:
    """Return how a message that is worded in the dialogue takes up the last answer; mostly it does not.

    Nothing has come of an answer of the same day yet, and nobody talks the assistant out of planned advice.
    """
    rng = random.Random(rng_key)
    weights = [*TAKE_UPS.values(), 100 - sum(TAKE_UPS.values())]
    drawn = rng.choices([*TAKE_UPS, TakeUp.NOTHING], weights)[0]
    is_off = (same_day and drawn is TakeUp.OUTCOME) or (has_advice and drawn is TakeUp.DOUBT)
    return TakeUp.POINT if is_off else drawn


def draw_asks_back(rng_key: str, told: Iterable[Bullet], replies_to: MessageKind, exchange: int) -> bool:
    """Return whether a reply is to ask the user something; none does behind a wish, an ending or a follow-up."""
    bullets = list(told)
    if has_wish(bullets) or any(b.variety == CLOSING for b in bullets):
        return False
    first = DIALOGUE.asks_back if replies_to is MessageKind.QUESTION else 0.0
    again = DIALOGUE.asks_again if replies_to is MessageKind.ANSWER and exchange == 1 else 0.0
    return random.Random(f"{rng_key}/asks").random() < first + again


def draw_reaction(rng_key: str, told: Iterable[Bullet], reactions: int) -> Reaction | None:
    """Return how the user reacts to the reply of a turn: mostly, and always behind a wish or an ending, not at all."""
    bullets = list(told)
    if has_wish(bullets) or any(b.variety == CLOSING for b in bullets):
        return None
    return reaction_at(random.Random(f"{rng_key}/reaction{reactions}"), reactions)


def reaction_at(rng: random.Random, reactions: int) -> Reaction | None:
    """Return a reaction at its rate: the first of a turn, or one behind others."""
    if not reactions:
        return next(iter(rng.choices([*REACTIONS, None], [*REACTIONS.values(), 1 - sum(REACTIONS.values())])))
    return rng.choice([Reaction.ASKS_ON, Reaction.OBJECTS]) if rng.random() < DIALOGUE.reacts_again else None


def _length(lengths: TurnLengths, rng: random.Random) -> float:
    """Return a length drawn from the measured distribution, between two of its quantiles in a straight line."""
    points = DECILES[lengths]
    place = rng.random() * (len(points) - 1)
    low = int(place)
    return points[low] + (points[low + 1] - points[low]) * (place - low)


def _opening(bullets: Sequence[Bullet], rng: random.Random) -> Opening:
    """Return how a message begins: an introduction with who writes, several bullets with news or the question.

    No wish begins with a question, which comes under it.
    """
    drawn = rng.choices(list(OPENINGS), list(OPENINGS.values()))[0]
    is_introduction = any(b.kind is BulletKind.INTRODUCTION for b in bullets)
    if is_introduction or (len(bullets) > 1 and drawn is not Opening.QUESTION):
        return Opening.NEWS
    return Opening.NEWS if drawn is Opening.QUESTION and has_wish(bullets) else drawn


def _paste(category: Category, rng: random.Random) -> Paste:
    chance = rng.random()
    for paste, share in PASTES[category].items():
        if chance < share:
            return paste
        chance -= share
    return Paste.NOTHING


def has_wish(bullets: Iterable[Bullet]) -> bool:
    """Return whether one of the bullets is an instruction or a preference."""
    return any(b.kind in (BulletKind.INSTRUCTION, BulletKind.PREFERENCE) for b in bullets)


def _wants(bullets: Sequence[Bullet], rng_key: str, number: int) -> AdviceKind | None:
    """Return what a message asks for; news, wishes, endings and messages that tell nothing ask as it comes."""
    hosts = [b for b in bullets if b.kind in (BulletKind.EVENT, BulletKind.UPDATE) and b.variety != CLOSING]
    if not bullets or len(hosts) < len(bullets):
        return None
    rng = random.Random(f"{rng_key}/{number}/wants")
    return next(iter(rng.choices([*WANTS, None], [*WANTS.values(), 1 - sum(WANTS.values())])))


def _asks_about(bullets: Sequence[Bullet], due: Collection[str]) -> str:
    """Return the last of several bullets whose reply brings something in; the question beside a wish is the wish's."""
    if len(bullets) <= 1 or has_wish(bullets):
        return ""
    return next((b.bullet_id for b in reversed(bullets) if b.bullet_id in due), "")


def _slip(briefs: Sequence[BulletBrief], rng: random.Random) -> Typo | None:
    """Return a wrong amount that the writer corrects at once; None where the bullets set no amount."""
    amounts = [f.value for b in briefs for f in b.facts if f.value is not None and f.value.kind in AMOUNT_KINDS]
    if not amounts:
        return None
    meant = rng.choice(amounts)
    wrong = _wrong(meant, rng)
    return Typo(said=wrong, meant=meant) if wrong is not None else None


def _wrong(value: Value, rng: random.Random) -> Value | None:
    """Return the amount of another digit: what somebody types who looks at the wrong line."""
    if value.number is None or value.number < 2:
        return None
    other = float(round(value.number * rng.choice((0.8, 0.9, 1.1, 1.2))))
    if other == value.number:
        other += 1
    return values.amount_like(value, other) if value.unit else None


@dataclass(frozen=True)
class _Days:
    """The days of a card: those of its values, by text, and its bullets that are told some days later."""

    today: dt.date
    of_values: Mapping[str, dt.date]
    late: Sequence[Bullet]

    def said(self, date: dt.date, *, is_short: bool) -> str:
        """Return how the message says a day; no weekday stands for two days of one card."""
        others = {*self.of_values.values(), *(b.happens_on for b in self.late)} - {date}
        has_own_weekday = all(day.weekday() != date.weekday() for day in others)
        return spoken(date, self.today, is_short=is_short and has_own_weekday)


def _days_of(briefs: Sequence[BulletBrief], today: dt.date) -> _Days:
    """Return the days of a card; a wish has no day, and a bullet that names or tells of one needs no other."""
    dates = {b.bullet.bullet_id: [f.value for f in b.facts if f.value is not None and f.value.date] for b in briefs}
    late = [b.bullet for b in briefs if b.bullet.happens_on < today and not dates[b.bullet.bullet_id]]
    return _Days(
        today,
        {value.text: value.date for own in dates.values() for value in own if value.date},
        [bullet for bullet in late if bullet.kind is not BulletKind.PREFERENCE and bullet.variety != OUTCOME],
    )


def _days(days: _Days, rng: random.Random) -> tuple[SpokenDay, ...]:
    """Return how a message says the days of its bullets, where the shorter form is unique."""
    said = {t: days.said(date, is_short=rng.random() < DIALOGUE.short_day_share) for t, date in days.of_values.items()}
    return tuple(SpokenDay(text=text, said=short) for text, short in said.items() if short != text)


def _told_on(days: _Days) -> tuple[ToldOn, ...]:
    """Return the days of the bullets that a message tells some days later."""
    return tuple(
        ToldOn(bullet_id=b.bullet_id, day=b.happens_on, said=days.said(b.happens_on, is_short=True)) for b in days.late
    )
