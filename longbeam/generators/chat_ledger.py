"""The ledger of somebody's own chats.

Statements that a model finds, with their typed values, verified by code, as a plan.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from longbeam.generators.probes.evidence import words_of
from longbeam.generators.said_advice import advice_quote
from longbeam.generators.tuning import CHAT_READING
from longbeam.keys import AdviceId, BulletId, FactId
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import ExtractFactsInputs, ExtractFactsReply, ReadMessage, Says, StatementDraft
from longbeam.schemas import (
    Advice,
    AdviceKind,
    Assertion,
    Bullet,
    BulletKind,
    Fact,
    Message,
    MessageRole,
    Narrative,
    PartKind,
    Plan,
    Record,
    Stance,
    SubPlan,
    Value,
    ValueKind,
    slot_key,
)
from longbeam.text import (
    DAY_WORD,
    NUMBER_WORDS,
    SEASONS,
    SIGNS,
    SMALL_NUMBER,
    TIME_UNITS,
    WEEKDAY,
    is_denied_at,
    is_supposed_at,
    name,
    named_value,
    nearest_day,
    number,
    parse_value,
    read_value,
    says,
    sentences,
    side_of_day,
    unit_name,
    values_in,
)

_FROM_TODAY = re.compile(
    rf"\b(?:{DAY_WORD}|ago|(?:next|last|this|coming|past) (?:{WEEKDAY}|week(?:end)?|month|year|{'|'.join(SEASONS)}))\b",
    re.IGNORECASE,
)
"""Days that are told from the day of the message: `next Friday` is no answer months later."""
_BOUND = re.compile(
    r"\b(?:(?:less|fewer|more|cheaper|longer|shorter) than|under|below|over|above|up to|at (?:the )?(?:least|most)|"
    r"max(?:imum)?(?: of)?|min(?:imum)?(?: of)?)\s*\Z",
    re.IGNORECASE,
)
"""End of the words in front of a number that bounds an amount and is none: `up to`, `less than`."""
_COUNT = rf"(?:[{SIGNS}]?\d[\d.,]*|{SMALL_NUMBER})"
_LENGTH = rf"{_COUNT}[\s-]?(?:{'|'.join(TIME_UNITS.values())})(?!\w)"
_COMES = r"(?:comes?|came|adds?|added|amounts?|amounted|goes|went|rises?|rose|falls?|fell)\b"
"""Verbs between a count and `to`, of which the value behind is no end of a range: `the six come to 840`."""
_RANGE_BEFORE = re.compile(
    rf"(?:(?P<old>\bfrom\s+)?(?<!\w){_COUNT}(?:\s?(?!{_COMES})[a-z]+)?\s+to\s+|\bbetween\s+|\d\s?[-–]\s?|\d\s+and\s+|[-−])\Z",
    re.IGNORECASE,
)
_RANGE_BEHIND = re.compile(rf"\s*(?:[-–]\s?|to\s+){_COUNT}", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\s+\Z", re.IGNORECASE), re.compile(r"\s+or\b", re.IGNORECASE)
_LENGTH_BEFORE = re.compile(rf"(?<!\w){_LENGTH}(?:\s+and)?\s+\Z", re.IGNORECASE)
_LENGTH_BEHIND = re.compile(rf"\s+(?:and\s+)?{_LENGTH}", re.IGNORECASE)
"""Words around a value that is a part of another one: `€80 to €85`, `3-5 May`, `-5 degrees`, `2 hours 5 minutes`."""


def claimed_value(text: str, quote: str, message: Message, *, is_dated: bool) -> Value | None:
    """Return the typed value of a text that the quote has and the message claims; None if there is none.

    `is_dated`: whether the time of the message is true, so that it gives the year to a day without one.
    """
    value = _value(text, quote, message.sent_at.date() if is_dated else None)
    return value if value is not None and _is_claimed(text, quote, message) else None


def standing(quote: str, content: str) -> str:
    """Return the words of the content that a quote repeats, other spaces allowed; empty if they do not stand there."""
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), content) if words else None
    return found.group() if found else ""


def _value(text: str, quote: str, today: dt.date | None) -> Value | None:
    """Return the typed value of a text that stands in the quote; words that are no typed value are taken as a name.

    A day without its year is that of its name nearest to `today`; None where that is unknown, or another year as near,
    or where the verb tells of the other side of `today`.
    """
    said = standing(text, quote).strip(" .,:;")
    if not said or len(said) > CHAT_READING.longest_name or _is_part(said, quote):
        return None
    value = _typed(said)
    if _FROM_TODAY.search(said):
        return None
    if value.kind is ValueKind.DATE and value.date is None:
        day = nearest_day(said, today) if today is not None else None
        if day is None or today is None or abs((day - today).days) > CHAT_READING.furthest_day:
            return None
        if (day - today).days * side_of_day(*quote.split(said, 1)) < 0:
            return None  # the year that is meant is further off
        value = value.model_copy(update={"date": day})
    if not says(quote, value):
        return None
    # A bound is no amount that can be added up.
    return name(said) if value.number is not None and _BOUND.search(quote.split(said, 1)[0]) else value


def _is_part(said: str, quote: str) -> bool:
    """Return whether a text is one end of a range, one of two choices, or a part of a longer value of the quote."""
    before, behind = quote.split(said, 1)
    before = before[-CHAT_READING.near :]
    if _CHOICE[0].search(before) or _CHOICE[1].match(behind):
        return True
    if not re.search(rf"\d|\b(?:{SMALL_NUMBER})\b", said, re.IGNORECASE):
        return False
    found = _RANGE_BEFORE.search(before)
    if _RANGE_BEHIND.match(behind) or (found and not found["old"]):  # `from €80 to €85` tells a change, to €85
        return True
    is_length = re.fullmatch(_LENGTH, said, re.IGNORECASE)
    return bool(is_length and (_LENGTH_BEFORE.search(before) or _LENGTH_BEHIND.match(behind)))


def _is_claimed(said: str, quote: str, message: Message) -> bool:
    """Return whether the sentence that says a value claims it: it is not denied there, nor does the user suppose it."""
    content = message.content
    start = content.find(quote)
    at = start + max(0, quote.find(standing(said, quote)))
    first, end = next((span for span in sentences(content) if span[0] <= at < span[1]), (start, start + len(quote)))
    sentence, place = content[first:end], at - first
    # The assistant advises so: "What if you set €300 aside?"
    is_supposed = message.role is MessageRole.USER and is_supposed_at(sentence, place)
    return not is_supposed and not is_denied_at(sentence, place)


def _typed(said: str) -> Value:
    value = _in_two_units(said) or parse_value(said)
    if value.kind is ValueKind.TEXT:
        value = number(NUMBER_WORDS.index(word)) if (word := said.casefold()) in NUMBER_WORDS else named_value(said)
    if value.kind is ValueKind.TEXT:
        return name(said)
    return value.model_copy(update={"text": said, "unit": unit_name(value.unit)})


def _in_two_units(said: str) -> Value | None:
    """Return a length of time in two units, `2 hours 5 minutes`; None for any other text."""
    found = values_in(said)
    rest = said.replace(found[0].text, "", 1).replace(found[1].text, "", 1) if len(found) == 2 else "-"
    if rest.strip(" ,") not in ("", "and") or any(v.kind is not ValueKind.DURATION for v in found):
        return None
    try:
        return read_value(said, ValueKind.DURATION)
    except ValueError:
        return None  # two lengths of time: `3 weeks and 2 days` can be added, `2 days, 3 days` cannot


EXTRACT_PROMPT = "extract_facts"
CHATS = Narrative(label="the chats", description="What was said in the chats.", sub_labels=("the chats",))

LISTS = (AdviceKind.OPTIONS, AdviceKind.STEPS)
ITEMS = (3, 7)
"""Fewest and most items of a list that is asked for: as many as somebody can be asked to name."""
_LIFTS = re.compile(
    r"\W*(?:it |the answer |answers )?(?:may|need not|needn['’]t|no longer|(?:does|do) not (?:have|need) to)\b",
    re.IGNORECASE,
)
"""Beginning of a requirement that demands nothing, of a wish that lifts an earlier one: `may be longer`."""
_KINDS = {"instruction": BulletKind.INSTRUCTION, "preference": BulletKind.PREFERENCE}
"""Bullets of the user's standing wishes."""


class ChatStatement(Record):
    """A verified statement of one message."""

    message_key: str
    role: MessageRole
    quote: str
    """Verbatim words of the message."""
    says: Says
    subject: str
    attribute: str = ""
    value: Value | None = None
    condition: str = ""
    requirement: str = ""
    items: tuple[str, ...] = ()
    """Options or steps that the assistant lists, verbatim."""

    @property
    def line(self) -> str:
        """The statement as later passages are shown it."""
        if self.items:
            return f"{self.role.value}: {self.subject}, {self.attribute}: {'; '.join(self.items)}"
        if self.value is None:
            return f"{self.role.value}, {self.says}: {self.subject}, {self.condition}: {self.requirement}"
        return f"{self.role.value}: {self.subject}, {self.attribute}: {self.value.text}"


def passages_of(messages: Iterable[Message]) -> Iterator[tuple[Message, ...]]:
    """Yield runs of messages of which `CHAT_READING.passage_characters` are read; a run has at least one message."""
    run: list[Message] = []
    size = 0
    for message in messages:
        length = min(len(message.content), CHAT_READING.message_characters)
        if run and size + length > CHAT_READING.passage_characters:
            yield tuple(run)
            run, size = [], 0
        run.append(message)
        size += length
    if run:
        yield tuple(run)


async def read_passage(
    asker: Asker,
    messages: Sequence[Message],
    known: Sequence[str],
    *,
    is_dated: bool = False,
    reads_lists: bool = False,
) -> list[ChatStatement]:
    """Return the statements of a passage that code can verify, each once.

    `is_dated`: whether the times of the messages are true, so that they give the year to a day without one.
    `reads_lists`: whether the assistant's options and steps are read, too.
    """
    read = (
        ReadMessage(number=i, role=m.role, said_on=m.sent_at.date(), content=_shortened(m.content))
        for i, m in enumerate(messages)
    )
    inputs = ExtractFactsInputs(
        messages=tuple(read), known=tuple(known[-CHAT_READING.most_known_statements :]), reads_lists=reads_lists
    )
    reply: ExtractFactsReply = await asker.structured(EXTRACT_PROMPT, inputs, accept=Acceptance(may_copy=True))
    found: dict[str, ChatStatement] = {}
    for draft in reply.statements:
        if (statement := verified(draft, messages, is_dated=is_dated)) is not None:
            found.setdefault(statement.digest, statement)
    return list(found.values())


def verified(draft: StatementDraft, messages: Sequence[Message], *, is_dated: bool = False) -> ChatStatement | None:
    """Return the statement of a draft; None if its message, its quote, its value or a name of it does not hold."""
    if not 0 <= draft.message < len(messages):
        return None
    message = messages[draft.message]
    is_wish = draft.says in _KINDS
    quote, attribute = standing(draft.quote, message.content), _named(draft.attribute)
    subject = _named(draft.subject, of_wish=is_wish)
    if not quote or not subject or not standing(quote, _own_words(message)):
        return None
    made = ChatStatement(
        message_key=message.message_key, role=message.role, quote=quote, says=draft.says, subject=subject
    )
    if is_wish:
        condition, requirement = draft.condition.strip(), draft.requirement.strip()
        is_whole = message.role is MessageRole.USER and condition and requirement
        return made.model_copy(update={"condition": condition, "requirement": requirement}) if is_whole else None
    if draft.says == "denial":
        return made if message.role is MessageRole.USER else None
    if draft.says == "list":
        return _listed(draft, made, message)
    value = claimed_value(draft.value, quote, message, is_dated=is_dated)
    if value is None or not attribute or says(subject, value) or says(attribute, value):
        return None
    return made.model_copy(update={"attribute": attribute, "value": value})


def _listed(draft: StatementDraft, made: ChatStatement, message: Message) -> ChatStatement | None:
    """Return a list of the assistant's; None unless its items stand in the message in their order, each once.

    The subject names none of them, as otherwise no question can keep it back.
    """
    items = tuple(" ".join(item.split()).strip(" .,:;*_") for item in draft.items)
    least, most = ITEMS
    names = {item.casefold() for item in items}
    is_list = message.role is MessageRole.ASSISTANT and least <= len(items) <= most and len(names) == len(items)
    is_named = draft.attribute in LISTS and not any(item in made.subject.casefold() for item in names)
    if not is_list or not is_named or not all(items) or max(map(len, items)) > CHAT_READING.longest_name:
        return None
    listed = made.model_copy(update={"attribute": draft.attribute, "items": items})
    return listed if advice_quote(_list_of(listed, str(BulletId(0, 0, 0))), _own_words(message)) else None


def _list_of(statement: ChatStatement, bullet_id: str) -> Advice:
    """Return a list as advice that the reply itself voices."""
    return Advice(
        advice_id=str(AdviceId(*BulletId.parse(bullet_id))),
        kind=AdviceKind(statement.attribute),
        bullet_id=bullet_id,
        narrative=CHATS.label,
        topic=statement.subject,
        attribute=statement.attribute,
        text=f"{statement.attribute} for {statement.subject}: {'; '.join(statement.items)}",
        items=statement.items,
    )


def without_echoes(messages: Iterable[Message], statements: Sequence[ChatStatement]) -> list[ChatStatement]:
    """Return the statements without the assistant's first ones on a thing whose value the user gave before them.

    The user gave it in the message that the reply answers, or in a statement on a thing with a word of its name.
    """
    answered, before = dict[str, str](), ""
    for message in messages:
        answered[message.message_key] = before
        before = message.content if message.role is MessageRole.USER else before
    told: list[ChatStatement] = []
    given: set[str] = set()
    kept: list[ChatStatement] = []
    for statement in statements:
        if statement.role is MessageRole.USER:
            told.append(statement)
        elif statement.value is not None:
            slot = slot_key(statement.subject, statement.attribute)
            if slot not in given and _is_echo(statement, answered.get(statement.message_key, ""), told):
                continue
            given.add(slot)
        kept.append(statement)
    return kept


def _is_echo(statement: ChatStatement, answered: str, told: Iterable[ChatStatement]) -> bool:
    value = statement.value
    assert value is not None
    is_named = value.number is None and value.date is None  # a name may be the one that is recommended of several
    if not is_named and says(answered, value):
        return True
    subject = words_of(statement.subject)
    return any(s.value is not None and s.value.means_same_as(value) and words_of(s.subject) & subject for s in told)


def _own_words(message: Message) -> str:
    """Return what the speaker says in a message: not what a tool was asked or answered, and not what was thought."""
    return "\n\n".join(p.text for p in message.parts if p.kind is PartKind.TEXT) if message.parts else message.content


def _shortened(content: str) -> str:
    half = CHAT_READING.message_characters // 2
    return content if len(content) <= CHAT_READING.message_characters else f"{content[:half]}\n[...]\n{content[-half:]}"


def _named(text: str, *, of_wish: bool = False) -> str:
    """Return a name in one line; empty if it is too long or names nothing. Many wishes are on "answers" as such."""
    line = " ".join(text.split()).strip(" .,:;")
    names = of_wish or words_of(line) or line.casefold() in ("me", "i")
    return line if len(line) <= CHAT_READING.longest_name and names else ""


# --- the plan ---------------------------------------------------------------------------------------------


@dataclass
class _Ledger:
    """Facts and assertions while statements are added in the order of the messages."""

    denied: Mapping[str, str]
    """Statements that contradict an earlier one, which they name; by digest."""
    facts: dict[tuple[MessageRole, str], Fact] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    last: dict[str, tuple[Value, str]] = field(default_factory=dict)
    """Value of each fact, and the bullet that gave it."""
    given: dict[str, Assertion] = field(default_factory=dict)
    """Assertion of each statement, by digest."""

    def add(self, statement: ChatStatement, bullet_id: str) -> tuple[BulletKind, str | None]:
        """Add a fact's statement; returns the kind of its bullet, and the bullet that it updates or contradicts."""
        value = statement.value
        if (against := self.given.get(self.denied.get(statement.digest, ""))) is not None:
            self._assert(statement, bullet_id, against.fact_id, Stance.DENIES, value)
            return BulletKind.CONTRADICTION, against.bullet_id
        assert value is not None
        new = Fact(
            fact_id=str(FactId(0, len(self.facts))),
            subject=statement.subject,
            attribute=statement.attribute,
            kind=value.kind,
        )
        fact_id = self.facts.setdefault((statement.role, slot_key(statement.subject, statement.attribute)), new).fact_id
        before = self.last.get(fact_id)
        if before is not None:
            value = _counted_as(before[0], value)
        is_update = before is not None and statement.says == "change" and not value.means_same_as(before[0])
        stance = Stance.SETS if before is None else Stance.UPDATES if is_update else Stance.MENTIONS
        self._assert(statement, bullet_id, fact_id, stance, value)
        if before is None or is_update:
            self.last[fact_id] = value, bullet_id
        return (BulletKind.UPDATE, before[1]) if before is not None and is_update else (BulletKind.EVENT, None)

    def _assert(
        self, statement: ChatStatement, bullet_id: str, fact_id: str, stance: Stance, value: Value | None
    ) -> None:
        made = Assertion(bullet_id=bullet_id, fact_id=fact_id, stance=stance, value=value)
        self.assertions.append(made)
        self.given[statement.digest] = made


def _counted_as(before: Value, value: Value) -> Value:
    """Return a value of a thing with the unit of the value before it, where one of them is a bare number."""
    is_count = value.kind is before.kind is ValueKind.NUMBER
    return value.model_copy(update={"unit": before.unit}) if is_count and not (value.unit and before.unit) else value


def plan_of(
    messages: Sequence[Message], statements: Sequence[ChatStatement], denied: Mapping[str, str] | None = None
) -> tuple[Plan, dict[str, tuple[str, ...]]]:
    """Return the plan of the statements, a sub-plan for each session, and the bullets that each message voices.

    Lists are advice of the plan.

    `denied`: the statements that contradict an earlier one, which they name; by digest. Other denials are left out.
    """
    by_message: dict[str, list[ChatStatement]] = {}
    for statement in _askable(statements, denied or {}):
        by_message.setdefault(statement.message_key, []).append(statement)
    ledger, voiced = _Ledger(denied or {}), dict[str, tuple[str, ...]]()
    sessions: dict[int, list[Bullet]] = {}
    lists: list[Advice] = []
    anchors = {message.session: message.sent_at.date() for message in reversed(messages)}
    for message in messages:
        bullets = sessions.setdefault(message.session, [])
        first = len(bullets)
        for statement in by_message.get(message.message_key, ()):
            bullets.append(_bullet(statement, message, len(bullets), ledger))
            lists += [_list_of(statement, bullets[-1].bullet_id)] if statement.items else []
        if bullets[first:]:
            voiced[message.message_key] = tuple(b.bullet_id for b in bullets[first:])
    sub_plans = tuple(
        SubPlan(plan_index=0, sub_plan_index=session, anchor=anchors[session], bullets=tuple(bullets))
        for session, bullets in sorted(sessions.items())
    )
    facts, assertions = tuple(ledger.facts.values()), tuple(ledger.assertions)
    plan = Plan(plan_index=0, sub_plans=sub_plans, facts=facts, assertions=assertions, advice=tuple(lists))
    return plan, voiced


def _askable(statements: Sequence[ChatStatement], denied: Mapping[str, str]) -> Iterator[ChatStatement]:
    """Yield the statements without denials that contradict nothing, and without what else was told of a denied thing.

    Who has "never been to Trieste" leaves the stay there in doubt, with all that was told of it. Wishes that are lifted
    are left out with those that lift them.
    """
    by_digest = {s.digest: s for s in statements}
    doubted = [by_digest[denied[s.digest]] for s in statements if s.says == "denial" and s.digest in denied]
    subjects = {s.subject.casefold() for s in doubted}
    remarks = {(s.message_key, s.quote) for s in doubted}
    lifted = _lifted(statements)
    for s in statements:
        is_doubted = s.value is not None and (s.subject.casefold() in subjects or (s.message_key, s.quote) in remarks)
        is_idle = s.says == "denial" and s.digest not in denied
        if not is_idle and s.digest not in lifted and (s in doubted or not is_doubted):
            yield s


def _lifted(statements: Iterable[ChatStatement]) -> set[str]:
    """Return the digests of wishes that a later one on the same matter lifts, and of those that lift them."""
    wishes: dict[tuple[str, str], list[str]] = {}
    lifted: set[str] = set()
    for wish in (s for s in statements if s.says in _KINDS):
        told = wishes.setdefault((wish.subject.casefold(), wish.condition.casefold()), [])
        told.append(wish.digest)
        if _LIFTS.match(wish.requirement):
            lifted.update(told)
    return lifted


def _bullet(statement: ChatStatement, message: Message, ordinal: int, ledger: _Ledger) -> Bullet:
    bullet_id = str(BulletId(0, message.session, ordinal))
    kind, target = _KINDS.get(statement.says, BulletKind.EVENT), None
    if statement.says not in _KINDS and not statement.items:
        kind, target = ledger.add(statement, bullet_id)
    return Bullet(
        bullet_id=bullet_id,
        kind=kind,
        narrative=CHATS.label,
        topic=statement.subject,
        text=statement.quote,
        happens_on=message.sent_at.date(),
        target_bullet_id=target,
        condition=statement.condition,
        requirement=statement.requirement,
        variety="" if kind is not BulletKind.CONTRADICTION else "other_value" if statement.value else "never_statement",
    )
