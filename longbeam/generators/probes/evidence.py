"""Quotes that make an answer true: verbatim words of a user message for a value or a bullet.

The functions return None where no message says it, and then no candidate is made. Where several messages voice a
bullet, the first one that says what is needed is cited.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from sys import intern
from typing import Any

from longbeam.generators.probes.histories import HistoryStep, Life
from longbeam.generators.probes.voices import Voices
from longbeam.generators.tuning import PROBING
from longbeam.prompts.calls import Excerpt
from longbeam.schemas import Bullet, EvidencePart, Message, MessageRole, Value
from longbeam.text import date_value, is_planned, quotable, quote_for, says, sentences, values_in

_STOP_WORDS = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "a about after again all also am an and any are as at be because been before being but by can could did do "
        "does doing done down each few for from further get give given gives go going had has have having he her "
        "here hers him his how i if in include includes into is it its just know let like made make makes me mention "
        "mentions more most much my need no not now of off on once one only or other our out over own please really "
        "said same say says she should so some such tell than thank thanks that the their them then there these they "
        "thing things this those through to too under until up us use user uses very want was we well were what when "
        "where whether which while who whom why will with would yes you your yours always never every whenever ask "
        "asks asked asking reply replies response answer answers show shows myself yourself himself herself itself "
        "ourselves yourselves themselves themself"
    ).split()
)


# Thai, kana and Chinese characters are words by themselves: nothing divides the words of these languages.
_UNDIVIDED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNDIVIDED}]|[^\W_{_UNDIVIDED}]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of a message, and the bullet, advice or fact that they are evidence for.

    A long conversation has thousands of quotes. Holding the message, bullet and fact themselves would take ten times
    the memory, so a quote holds only the fields that probes need.
    """

    message_key: str
    position: int
    """Ordinal of the message in the conversation."""
    session: int
    said_on: dt.date
    speaker: MessageRole = MessageRole.USER
    quote: str
    bullet_id: str
    topic: str
    narrative: str
    fact_id: str = ""
    subject: str = ""
    attribute: str = ""
    value: Value | None = None
    past: tuple[Value, ...] = ()
    """Superseded values of the fact, oldest first."""

    def excerpt(self, ordinal: int, part: str = EvidencePart.SUPPORT, group: int | None = None) -> Excerpt:
        """Return the quote as the prompt shows it."""
        return Excerpt(
            ordinal=ordinal,
            said_on=self.said_on,
            quote=self.quote,
            speaker=self.speaker,
            part=part,
            group=group,
            topic=self.topic,
            subject=self.subject,
            attribute=self.attribute,
            value=self.value,
            past=tuple(value.text for value in self.past),
            is_plan=is_planned(self.quote),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuote(Quote):
    """Words of a message that give a fact a value; what the assistant brings in has no `fact_id`."""

    value: Value
    is_stated_once: bool = True
    """Whether only this bullet gives the value, so that its message cannot be spared."""


def _of(bullet: Bullet, position: int, message: Message) -> dict[str, Any]:  # Any: fields of Quote
    """Return the fields that say where a bullet is voiced and what it is about."""
    return {
        "message_key": message.message_key,
        "position": position,
        "session": message.session,
        "said_on": message.sent_at.date(),
        "speaker": message.role,
        "bullet_id": bullet.bullet_id,
        "topic": intern(bullet.topic),
        "narrative": intern(bullet.narrative),
    }


def _voicing(voices: Voices, bullet: Bullet, role: MessageRole = MessageRole.USER) -> Iterator[tuple[int, Message]]:
    """Yield the messages of one speaker that voice a bullet: in imported chats the assistant voices some, too."""
    return ((position, m) for position, m in voices.of_bullet(bullet.bullet_id) if m.role is role)


@lru_cache(maxsize=2_048)
def words_of(text: str) -> frozenset[str]:
    """Return a text's content words, case-folded, without plural and other short endings, so that forms are equal."""
    words = _WORD.findall(text.casefold().replace("'s ", " ").replace("’s ", " "))
    return frozenset(_stem(w) for w in words if w not in _STOP_WORDS and (len(w) > 1 or w.isdigit() or w > "\u0e00"))


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def coverage(wanted: str, text: str) -> float:
    """Return the share of the content words of `wanted` that `text` has, 0 to 1; 1 if `wanted` has none."""
    return _share(words_of(wanted), words_of(text))


def _share(needed: frozenset[str], words: frozenset[str]) -> float:
    return len(needed & words) / len(needed) if needed else 1.0


_FRAME = words_of("states state says that the user said told mentions mentioned statement asked answer")
"""Words by which a point or an answer reports what somebody said, and which the words reported lack."""


def restates(text: str, quote: str) -> bool:
    """Return whether a text says what a quote says, or a part of it.

    A quote is whole sentences and a point is short. So most of the point's own words must stand in the quote, and few
    words of the quote need to stand in the point. A text with many words of the quote passes with words of its own.
    """
    own, said = words_of(text) - _FRAME, words_of(quote)
    return bool(own) and (_share(own, said) >= PROBING.restated or _share(said, own) >= PROBING.quoted_back)


def find_value(voices: Voices, life: Life, step: HistoryStep, role: MessageRole = MessageRole.USER) -> FactQuote | None:
    """Return the quote in which a message of this role that voices the step's bullet says its value, or None."""
    fact = life.fact
    for position, message in _voicing(voices, step.bullet, role):
        quote = _telling(message, step.value, fact.subject, step.bullet.text)
        if quote is not None:
            return FactQuote(
                **_of(step.bullet, position, message),
                quote=with_subject(message.content, quote, fact.subject),
                fact_id=fact.fact_id,
                subject=intern(fact.subject),
                attribute=intern(fact.attribute),
                value=step.value,
                past=tuple(s.value for s in takewhile(lambda s: s != step, life.steps)),
                is_stated_once=not life.is_stated_again(step.bullet.bullet_id),
            )
    return None


def _telling(message: Message, value: Value, subject: str, text: str) -> str | None:
    """Return the words that tell a value: a statement, before a question.

    At best it names the subject; else it is the one with most words of the bullet's text: a day may stand in two.
    """
    content, today = message.content, message.sent_at.date()
    told = [s for a, b in quotable(content) if not (s := content[a:b].strip()).endswith("?") and says(s, value, today)]
    named = (s for s in told if coverage(subject, s) >= 0.5)
    if (own := next(named, None)) is not None:
        return own
    return max(told, key=lambda s: coverage(text, s)) if told else quote_for(content, [value], today)


def with_subject(content: str, quote: str, subject: str) -> str:
    """Return a quote, with the sentence before it where only that sentence names the subject ("It will cost $80.")."""
    start = content.find(quote)
    if coverage(subject, quote) >= 0.5 or not start:
        return quote
    earlier = [span for span in sentences(content) if span[1] <= start]
    if not earlier or content[earlier[-1][1] : start].strip():
        return quote
    if coverage(subject, content[slice(*earlier[-1])]) < 0.5:
        return quote
    return content[earlier[-1][0] : start + len(quote)]


def find_words(voices: Voices, bullet: Bullet, *, values: Sequence[Value] = ()) -> Quote | None:
    """Return the quote of a user message that is closest to a bullet's text, or None.

    The quote must have at least a third of the bullet's content words, and say each of `values`.
    """
    for position, message in _voicing(voices, bullet):
        quote = closest(message.content, bullet.text)
        today = message.sent_at.date()
        if quote is not None and not all(says(quote, v, today) for v in values):
            quote = quote_for(message.content, values, today)
        if quote is not None:
            return Quote(**_of(bullet, position, message), quote=quote)
    return None


def closest(content: str, text: str) -> str | None:
    """Return the sentence that has most of a text's words, or two neighbours that have clearly more.

    Returns None if the share of words is under a third.
    """
    needed = words_of(text)
    said = [(span, words_of(content[slice(*span)])) for span in quotable(content)]
    single = [(_share(needed, words), span) for span, words in said]
    # Neighbours are joined only across white space: code between them is no part of a quote.
    double = [
        (_share(needed, first | second) - 0.2, (a, d))
        for ((a, b), first), ((c, d), second) in pairwise(said)
        if not content[b:c].strip()
    ]
    share, span = max(single + double, key=lambda scored: scored[0], default=(0.0, (0, 0)))
    return content[slice(*span)] if share >= PROBING.min_coverage else None


def find_event_day(voices: Voices, bullet: Bullet) -> FactQuote | None:
    """Return the quote in which the user says the exact day of an event, or None.

    The day is returned as a fact without an id, because no ledger has it: its subject is the event's topic.
    """
    value = date_value(bullet.happens_on)
    for position, message in _voicing(voices, bullet):
        quote = quote_for(message.content, [value])
        if quote is not None:
            return FactQuote(
                **_of(bullet, position, message), quote=quote, subject=bullet.topic, attribute="day", value=value
            )
    return None


_LAST_WEEKDAY = re.compile(r"\b(?:last|past) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)


def has_one_reading(said: FactQuote) -> bool:
    """Return whether a day rests on words with one reading, or on two sayings.

    "Last Wednesday" said on a Friday is two or nine days ago: people mean either. Said again, the day is certain.
    """
    if said.value.date is None or not said.is_stated_once or not _LAST_WEEKDAY.search(said.quote):
        return True
    return any(v.date == said.value.date for v in values_in(said.quote))
