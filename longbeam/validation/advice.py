"""Checks of what a plan adds to the story: advice of the assistant, what amounts are for, and side stories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from longbeam.abilities import QuestionKind
from longbeam.schemas import Advice, AdviceKind, BulletKind, Fact, Message, MessageRole, Probe, Value
from longbeam.text import COMPANION, PLACE, content_words, day_of, role_of, says, sentences, use_quote
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex


def find_in_advice(index: ConversationIndex) -> Iterator[Problem]:
    """Yield advice that no reply gives, that its reply lacks, and choices whose message names the option."""
    given = {advice_id: m for m in index.messages for advice_id in m.bullet_ids if advice_id in index.advice}
    for advice_id, advice in index.advice.items():
        message = given.get(advice_id)
        if message is None:
            yield Problem("not_given", advice_id, f"no reply gives: {shorten(advice.text)}")
        elif message.role is not MessageRole.ASSISTANT:
            text = f"{message.message_key} is the user's, and only the assistant gives {advice_id}"
            yield Problem("speaker", advice_id, text, (message.message_key,))
        elif missing := _missing(advice, message):
            text = f"{message.message_key} does not say {shorten(missing)!r}"
            yield Problem("value_not_said", advice_id, text, (message.message_key,))
        if advice.taken:
            yield from _choice_problems(index, advice)


def _missing(advice: Advice, message: Message) -> str:
    """Return the value or the item that a reply lacks; empty if it has all."""
    if advice.value is not None and not says(message.content, advice.value):
        return advice.value.text
    if advice.kind is AdviceKind.USE and advice.value is not None:
        is_said = use_quote(message.content, advice.value, advice.items[0]) is not None
        return "" if is_said else f"{advice.value.text} for {advice.items[0]}"
    folded = message.content.casefold()
    return next((item for item in advice.items if item.casefold() not in folded), "")


def _choice_problems(index: ConversationIndex, advice: Advice) -> Iterator[Problem]:
    item = advice.items[advice.taken - 1]
    for message in index.voicing(advice.taken_in):
        if item.casefold() in message.content.casefold():
            text = f"{message.message_key} names the option that it should only number: {shorten(item)!r}"
            yield Problem("option_named", advice.advice_id, text, (message.message_key,))


ADVICE = Check(
    name="advice",
    doc="What the assistant brings in is said by the reply that is to bring it in, with its value or items.",
    severities={"not_given": INFO, "speaker": ERROR, "value_not_said": ERROR, "option_named": WARNING},
    on_conversation=find_in_advice,
)


_SET_ASIDE = re.compile(
    r"\b(?:aside|on the side|keep|kept|hold|held|put|reserved?|earmark(?:ed)?|meant|used|goes|plan(?:ned)? for|"
    r"(?:is|was) for)\b",
    re.IGNORECASE,
)
"""Words that give an amount a use; others only compute with it."""
_WORD = re.compile(r"[^\W_]+")
_FOR = re.compile(r"\bfor\b(?P<use>.*?)(?=\bfor\b|[.,;:!?\n]|\Z)", re.IGNORECASE | re.DOTALL)
_IDLE = content_words("aside ready side mind later now moment time being again something anything")
"""Stems of words behind "for" that are no use."""


def find_in_uses(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield sentences by which the amount of the question is for something else."""
    if probe.details.variety != AdviceKind.USE:
        return
    for advice in (index.advice.get(bullet_id) for bullet_id in probe.bullet_ids):
        if advice is not None and advice.value is not None:
            yield from _other_uses(index, probe, advice, advice.value)


def _other_uses(index: ConversationIndex, probe: Probe, advice: Advice, amount: Value) -> Iterator[Problem]:
    named = content_words(advice.topic)
    spelled = [word for word in _WORD.findall(advice.topic.casefold()) if content_words(word)]
    for place, _ in index.holding(spelled):
        message = index.messages[place]
        for start, end in sentences(message.content):
            sentence = message.content[start:end]
            if says(sentence, amount) and named <= content_words(sentence) and _has_other_use(sentence, advice):
                text = f"{message.message_key} has another use of {amount.text}: {shorten(sentence)}"
                yield Problem("other_use", probe.probe_id, text, (message.message_key,))


def _has_other_use(sentence: str, advice: Advice) -> bool:
    """Return whether a sentence with the amount says what it is for, in no word of what it is for by the advice."""
    if not _SET_ASIDE.search(sentence) or content_words(sentence) & content_words(advice.items[0]):
        return False
    known = content_words(advice.topic) | _IDLE
    return any(content_words(match["use"]) - known for match in _FOR.finditer(sentence))


USES = Check(
    name="uses",
    doc="Where a question asks what an amount is for, no other sentence gives this amount of the thing another use.",
    severities={"other_use": ERROR},
    english_only={"other_use": "reads English words"},
    on_probe=find_in_uses,
)


_KINDS = frozenset({QuestionKind.JOIN, QuestionKind.SET_DIFFERENCE, QuestionKind.TALLY, QuestionKind.TOTAL})
_Entries = dict[str, list[tuple[Fact, str]]]
"""Facts with their values, by role."""


def find_in_side_stories(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield entries that are left out, a wrong result, and other messages that may count."""
    facts = [f for i in probe.fact_ids if (f := index.facts.get(i)) is not None and f.side_story]
    if probe.details.variety not in _KINDS or not facts:
        return
    story = facts[0].side_story
    entries = _entries(index, story)
    counted = _counted(probe, facts, entries)
    if left_out := sorted({f.fact_id for f in counted} - set(probe.fact_ids)):
        yield Problem("entry_left_out", probe.probe_id, f"{', '.join(left_out)} of {story} count, and are not cited")
    if fault := _wrong(probe, entries, len(counted)):
        yield Problem("wrong_result", probe.probe_id, fault)
    yield from _elsewhere(index, probe, story)


def _entries(index: ConversationIndex, story: str) -> _Entries:
    entries: _Entries = {}
    for fact_id in index.facts_in_order():
        fact = index.facts.get(fact_id)
        if fact is not None and fact.side_story == story:
            value = next((a.value.text for a in index.by_fact.of(fact_id) if a.value is not None), "")
            entries.setdefault(role_of(fact.attribute), []).append((fact, value))
    return entries


def _counted(probe: Probe, facts: list[Fact], entries: _Entries) -> list[Fact]:
    """Return the facts that count for the question: of its roles and, where only one value counts, of this value."""
    roles = {role_of(f.attribute) for f in facts}
    values = set(probe.details.computed_from)
    is_one = probe.details.variety == QuestionKind.TALLY and len(values) == 1
    told = [pair for role in roles for pair in entries.get(role, ())]
    return [fact for fact, value in told if not is_one or value in values]


def _wrong(probe: Probe, entries: _Entries, counted: int) -> str:
    """Return what is wrong with the gold of a question for people or for a number; empty if nothing is."""
    kind, details = probe.details.variety, probe.details
    if kind == QuestionKind.TALLY and details.computed_value != str(counted):
        return f"{counted} entries count, and the gold says {details.computed_value}"
    if kind not in (QuestionKind.JOIN, QuestionKind.SET_DIFFERENCE):
        return ""
    if len(details.computed_from) < 2:
        return "it names no two entries that are compared"
    who = {day_of(fact.attribute): value for fact, value in entries.get(COMPANION, ())}
    came = [(value, who.get(day_of(fact.attribute))) for fact, value in entries.get(PLACE, ())]
    one, other = ({person for at, person in came if at == place and person} for place in details.computed_from[:2])
    right = one & other if kind == QuestionKind.JOIN else one - other
    return "" if set(details.items) == right else f"{sorted(details.items)} is not what the entries give"


def _elsewhere(index: ConversationIndex, probe: Probe, story: str) -> Iterator[Problem]:
    """Yield messages of the user with a sentence that names the story, and that voice none of its bullets."""
    words = content_words(story)
    for place, _ in index.holding(sorted(words)) if words else ():
        message = index.messages[place]
        if not any(words <= content_words(message.content[start:end]) for start, end in sentences(message.content)):
            continue
        told = (index.bullets.get(i) for i in message.bullet_ids)
        if index.speaks_as_user(message) and not any(b is not None and b.kind is BulletKind.SIDE for b in told):
            text = f"{message.message_key} speaks of {story}, too, and tells none of its entries"
            yield Problem("elsewhere", probe.probe_id, text, (message.message_key,))


SIDE_STORIES = Check(
    name="side_stories",
    doc="Questions over a series cite every entry that counts, give what the entries give, and nothing else counts.",
    severities={"entry_left_out": ERROR, "wrong_result": ERROR, "elsewhere": WARNING},
    on_probe=find_in_side_stories,
)
