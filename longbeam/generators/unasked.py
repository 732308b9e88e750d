"""Values and lists that the assistant's replies bring in and no plan holds, as advice of the plan.

A language model that speaks as the assistant answers first; what can be asked for is read out of its replies. Amounts,
days and lengths of time are read as out of somebody's own chats (`chat_ledger.py`), and code takes those that can be
asked for: the reply says the value with what it is of, no other message has it, and the assistant gives the thing no
other value of that kind. Numbered options and steps are taken where the user asked for them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from longbeam.generators.chat_ledger import ITEMS, LISTS, ChatStatement
from longbeam.generators.said_advice import advice_quote
from longbeam.keys import natural_order
from longbeam.prompts.calls import MOST_ITEM_WORDS
from longbeam.schemas import Advice, AdviceKind, Message, MessageRole, Plan, SubPlan, UserTurn, Value, ValueKind
from longbeam.text import Key, content_words, spell_out, value_keys, values_with_keys, without_code

GIVER = re.compile(r"^(?:suggested|proposed|recommended|estimated|advised)\s+", re.IGNORECASE)
"""First word of an attribute that only says who gives it."""
_ITEM = re.compile(r"^[ \t]*(?P<number>\d{1,2})[.)][ \t]+(?P<text>\S.*)$", re.MULTILINE)
_EMPHASISED = re.compile(r"(\*\*|__)(?P<text>.+?)[.:]?\1")
_CLAUSE = re.compile(r"[:;.?!](?=\s|\Z)|,\s| [–—-] ")


@dataclass(frozen=True)
class Unasked:
    """A piece of advice that no plan holds, and the reply that gives it."""

    message_key: str
    advice: Advice


def listed_advice(
    sub_plan: SubPlan, planned: Sequence[Advice], messages: Sequence[Message], turns: Iterable[UserTurn]
) -> Iterator[Unasked]:
    """Yield the options and steps that replies give to turns which ask for them, one list of a kind for each thing."""
    replies = {m.message_key: m.content for m in messages if m.role is MessageRole.ASSISTANT}
    bullets = {b.bullet_id: b for b in sub_plan.bullets}
    slots = {(advice.topic.casefold(), advice.attribute) for advice in planned}
    ordinal = sum(advice.sub_plan == sub_plan.key for advice in planned)
    for turn in turns:
        key = f"{turn.turn_id}.n1"
        host = next((bullets[i] for i in reversed(turn.bullet_ids) if i in bullets), None)
        if turn.wants not in LISTS or host is None or key not in replies:
            continue
        items, slot = items_in(replies[key]), (host.topic.casefold(), turn.wants.value)
        if not items or slot in slots:
            continue
        slots.add(slot)
        yield Unasked(
            key,
            Advice(
                advice_id=f"{sub_plan.key}.a{ordinal}",
                kind=turn.wants,
                bullet_id=host.bullet_id,
                narrative=host.narrative,
                topic=host.topic,
                attribute=turn.wants.value,
                text=f"{turn.wants.value} for {host.topic}: {'; '.join(items)}",
                items=items,
            ),
        )
        ordinal += 1


def items_in(reply: str) -> tuple[str, ...]:
    """Return the items of a reply's only numbered list, verbatim and in short; empty if there is not exactly one.

    An item is the beginning of its line, up to a colon or the end of its first clause, without marks of emphasis.
    """
    prose = without_code(reply)
    numbers = [int(m["number"]) for m in _ITEM.finditer(prose)]
    least, most = ITEMS
    items = tuple(_in_short(m["text"]) for m in _ITEM.finditer(prose))
    is_one_list = numbers == list(range(1, len(numbers) + 1)) and least <= len(numbers) <= most
    return items if is_one_list and all(items) and len({item.casefold() for item in items}) == len(items) else ()


def _in_short(line: str) -> str:
    emphasised = _EMPHASISED.match(line)
    text = emphasised["text"] if emphasised else _CLAUSE.split(line, maxsplit=1)[0]
    return " ".join(text.split(" ")[:MOST_ITEM_WORDS]).rstrip(" .,:;*_")


def unasked_advice(
    sub_plan: SubPlan, planned: Sequence[Advice], messages: Sequence[Message], statements: Iterable[ChatStatement]
) -> Iterator[Unasked]:
    """Yield the values that the replies of a sub-plan give beside known advice, in the order of the statements.

    Its ids continue those of what is known; they do not depend on what is left out later.
    """
    replies = {m.message_key: m for m in messages if m.role is MessageRole.ASSISTANT}
    asked = {after.message_key: before.content for before, after in pairwise(messages)}
    hosts = _hosts(messages)
    bullets = {b.bullet_id: b for b in sub_plan.bullets}
    taken = frozenset[Key]().union(*(_keys(advice.value) for advice in planned if advice.value))
    ordinal = sum(advice.sub_plan == sub_plan.key for advice in planned)
    for statement in statements:
        reply, value = replies.get(statement.message_key), statement.value
        host = bullets.get(hosts.get(statement.message_key, ""))
        if reply is None or host is None or value is None or statement.says != "fact" or not is_typed(value):
            continue
        advice = Advice(
            advice_id=f"{sub_plan.key}.a{ordinal}",
            kind=AdviceKind.DAY if value.kind is ValueKind.DATE else AdviceKind.FIGURE,
            bullet_id=host.bullet_id,
            narrative=host.narrative,
            topic=statement.subject,
            attribute=GIVER.sub("", statement.attribute),
            text=statement.quote,
            value=value,
        )
        is_named = content_words(advice.topic) <= content_words(f"{asked.get(reply.message_key, '')} {reply.content}")
        if (
            is_named
            and content_words(advice.topic)
            and taken.isdisjoint(_keys(value))
            and advice_quote(advice, reply.content)
        ):
            ordinal += 1
            yield Unasked(reply.message_key, advice)


def uncontested(
    given: Iterable[Unasked], statements: Iterable[ChatStatement], planned: Iterable[Advice]
) -> list[Unasked]:
    """Return the advice on things that the assistant gives one value of its kind, and no plan one of its name."""
    values: dict[tuple[str, ValueKind], set[str]] = {}
    for statement in statements:
        if statement.role is MessageRole.ASSISTANT and statement.value is not None:
            thing = statement.subject.casefold(), statement.value.kind
            values.setdefault(thing, set()).add(statement.value.text.casefold())
    slots = {(advice.topic.casefold(), advice.attribute.casefold()) for advice in planned}
    own = [g for g in given if (g.advice.topic.casefold(), g.advice.attribute.casefold()) not in slots]

    def is_alone(advice: Advice) -> bool:
        return advice.value is None or len(values[advice.topic.casefold(), advice.value.kind]) == 1

    return [g for g in own if is_alone(g.advice)]


def said_once(given: Sequence[Unasked], messages: Iterable[Message]) -> list[Unasked]:
    """Return the advice whose value no other message has, so that nothing repeats, gives away or changes it."""
    keys = {g.advice.advice_id: _keys(g.advice.value) for g in given if g.advice.value}
    wanted = frozenset[Key]().union(*keys.values())
    elsewhere: dict[Key, set[str]] = {key: set() for key in wanted}
    for message in messages if given else ():
        day = message.sent_at.date()
        for _, said in values_with_keys(spell_out(message.content, day), day):
            for key in said & wanted:
                elsewhere[key].add(message.message_key)
    return [g for g in given if all(elsewhere[key] <= {g.message_key} for key in keys.get(g.advice.advice_id, ()))]


def with_advice(plan: Plan, given: Iterable[Unasked]) -> Plan:
    """Return a plan with further advice, in the order of its stages."""
    every = sorted((*plan.advice, *(g.advice for g in given)), key=lambda advice: natural_order(advice.advice_id))
    return plan.model_copy(update={"advice": tuple(every)})


def _hosts(messages: Iterable[Message]) -> dict[str, str]:
    """Return the user's last bullet in front of each reply, by the reply's key."""
    hosts, last = dict[str, str](), ""
    for message in messages:
        if message.role is MessageRole.ASSISTANT:
            hosts[message.message_key] = last
        elif message.bullet_ids:
            last = message.bullet_ids[-1]
    return hosts


def is_typed(value: Value) -> bool:
    """Return whether a value is an amount, a length of time or a day, and not a name."""
    return value.number is not None or value.date is not None


def _keys(value: Value) -> frozenset[Key]:
    """Return the keys of a typed value that do not depend on its wording."""
    return frozenset(key for key in value_keys(value, value.date or dt.date.min) if key[0] != "text")
