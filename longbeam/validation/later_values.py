"""Gold that is out of date: a later bullet or a later message changes the value that it says.

Two readings of the conversation. `stale_gold` reads the ledger, where there is one. `later_values` reads the messages
alone, with the change words and the word index of the ranker of later evidence (`text/later_evidence.py`). It follows a
value by three namings of its thing: the clause of the gold, or the question, that says it; its slot, the thing behind
the last `of` or `for` with an attribute; and the user's own clause in the cited message. A value that a bullet of the
message asserts is left to `stale_gold`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from longbeam.abilities import QuestionKind, Trait
from longbeam.schemas import Message, Probe, Stance, Value, ValueKind
from longbeam.text import (
    ASKING_WORDS,
    CHANGE,
    CHANGE_VERBS,
    CHANGED_TO,
    MOVED,
    content_words,
    distinct_values,
    is_day_named,
    is_recalled,
    normalize_values,
    parse_value,
    says,
    says_equivalent,
    sentences,
    spell_out,
    value_keys,
    values_in,
)
from longbeam.validation.base import (
    ERROR,
    INFO,
    WARNING,
    Check,
    Problem,
    answer_text,
    asks_for_past,
    has_trait,
    shorten,
)
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_VERB_OF_CHANGE = re.compile(rf"^(?:{CHANGE_VERBS})")
_TYPES = content_words("date number total amount value")
"""Stems of words that name a value of any thing."""
_AIMS, _TIMES = content_words("target figure"), content_words("day time")
"""Stems that name a value only beside others: a slot may be a target, and a thing a day."""
_CLAUSE = re.compile(r"[.;!?\n]\s|,\s(?=(?:and|but|so|can)\b)|\b(?:and|but|or|before|after|until|between)\b")
_PARTS = re.compile(r"[.;!?\n]\s|,\s(?!\d{4}\b)")
"""Ends of the clauses of a message; no comma within a date."""
_CORRECTS = re.compile(r"\b(?:correction|misspoke|correct (?:myself|what I said)|(?:date|day) wrong)\b", re.IGNORECASE)
"""Words that announce a correction; with them, `CHECKING.later_words` are enough."""
_SPANS = content_words("day week month year")
_KINDS = frozenset({ValueKind.DATE, ValueKind.MONEY, ValueKind.RATIO, ValueKind.NUMBER, ValueKind.DURATION})
_BEGIN = content_words("start begin began begun kick opening launch")
_END = content_words("finish complete completion end close final deadline due deliver done")
_PLANNED = content_words("goal target aim budget limit hope estimate expect allowance")
"""Stems that tell one attribute of a thing from another: its first day from its last, an aim from a result."""
_WRITTEN_DOWN = re.compile(r"\b(?:have|has|had|having)(?: \w+){0,3}? down (?:for|as)\b", re.IGNORECASE)
"""Words of a plan that the stems do not tell: `the day you had down for having the tests done`."""
_NO_LONGER = (
    re.compile(r"\b(?:no longer|not|n['’]t)\W+(?:\w+\W+){0,2}\Z", re.IGNORECASE),
    re.compile(r"\W*(?:any ?more|no longer)\b", re.IGNORECASE),
)
"""Words in front of and behind a value that is given up: `now April 14 and no longer April 5`."""
_THING = re.compile(r"^.*\b(?:of|for)\s+(.*)$", re.DOTALL)


# --- the ledger -------------------------------------------------------------------------------------------------


def find_stale(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield facts of the probe whose gold is superseded or contradicted."""
    if has_trait(probe, Trait.ABSTAINS, Trait.RESOLVES_CONTRADICTION):
        return
    # Without a ledger, `first` may as well name a thing (`the first sprint`), so `asks_for_past` does not count it.
    wants_old_value = asks_for_past(probe.question) or _FIRST.search(probe.question) is not None
    day = next((v.date for v in values_in(probe.question) if v.date is not None), None)
    for fact_id in dict.fromkeys(probe.fact_ids):
        if probe.details.variety == QuestionKind.AS_OF and day is not None:
            yield from _not_of_that_day(index, probe, fact_id, day)
        if not wants_old_value:
            yield from _superseded(index, probe, fact_id)
        yield from _contradicted(index, probe, fact_id)


def _not_of_that_day(index: ConversationIndex, probe: Probe, fact_id: str, day: dt.date) -> Iterator[Problem]:
    """Yield gold or a rubric without the value that was told last before the day that the question names."""
    before = (
        a.value
        for a in reversed(index.values_over_time(fact_id))
        if any(m.sent_at.date() <= day for m in index.voicing(a.bullet_id))
    )
    held = next(before, None)
    wanted = (probe.gold_answer, "\n".join(n.text for n in probe.rubric))
    if held is not None and not all(says_equivalent(text, held) for text in wanted):
        text = (
            f"the value told last before {day:%B %-d, %Y} is {shorten(held.text)!r}, which gold or rubric does not say"
        )
        yield Problem("not_of_that_day", probe.probe_id, text)


def _superseded(index: ConversationIndex, probe: Probe, fact_id: str) -> Iterator[Problem]:
    changes = index.values_over_time(fact_id)
    answer = "\n".join((answer_text(probe), *probe.details.computed_from))
    current = changes[-1].value if changes else None
    if current is None or says(answer, current):
        return
    fact = index.facts.get(fact_id)
    name = f"{fact.attribute} of {fact.subject}" if fact else fact_id
    last = changes[-1].bullet_id
    # In gold that retells a story an old value may have its place.
    kind = "superseded_in_story" if has_trait(probe, Trait.RETELLS_HISTORY) else "superseded"
    for value in _old_values(index, probe, fact_id):
        if not _is_same(value, current) and says(answer, value):
            text = f"the gold says {shorten(value.text)!r} for the {name}; {last} makes it {shorten(current.text)!r}"
            yield Problem(kind, probe.probe_id, text, tuple(m.message_key for m in index.voicing(last)))


def _old_values(index: ConversationIndex, probe: Probe, fact_id: str) -> Iterator[Value]:
    """Yield the values that a fact had before its current one, as far as the probe cites them."""
    cited = {*probe.bullet_ids, *(b for m in index.cited(probe) for b in m.bullet_ids)}
    for change in index.values_over_time(fact_id)[:-1]:
        if change.value is not None and change.bullet_id in cited:
            yield change.value


def _is_same(one: Value, other: Value) -> bool:
    return one.means_same_as(other) or one.text.casefold() == other.text.casefold()


def _contradicted(index: ConversationIndex, probe: Probe, fact_id: str) -> Iterator[Problem]:
    denial = next((a for a in index.by_fact.of(fact_id) if a.stance is Stance.DENIES), None)
    if denial is not None and not has_trait(probe, Trait.RETELLS_HISTORY):
        text = f"{denial.bullet_id} denies {fact_id}, which the gold rests on: there is no one answer"
        keys = tuple(m.message_key for m in index.voicing(denial.bullet_id))
        yield Problem("contradicted", probe.probe_id, text, keys)


# --- the messages: words beside the value -----------------------------------------------------------------------


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield values of the gold to which a later message gives another one."""
    if not has_trait(probe, Trait.RECALLS) or _wants_old_value(probe):
        return
    cited = [m for m in index.cited(probe) if index.speaks_as_user(m)]
    for value in distinct_values(probe.gold_answer):
        saying = [m for m in cited if says_equivalent(m.content, value) or is_day_named(m, value)]
        if value.kind in _KINDS and saying and (found := _change_of(index, probe, value, saying[-1])) is not None:
            yield found


def _wants_old_value(probe: Probe) -> bool:
    """Return whether the question asks for what was before, and the gold does not say the newest value."""
    newest = probe.details.new_value
    is_newest = bool(newest) and says(probe.gold_answer, parse_value(newest))
    return not is_newest and asks_for_past(probe.question)


def _change_of(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later message that changes a value; None if none does."""
    found = _changed(index, probe, value, cited)
    if found is not None and found.kind != "other_later":
        return found
    # Where values are added up or compared, the gold names the thing of each too briefly to track a slot.
    tracked = _tracked(index, probe, value, cited) if has_trait(probe, Trait.ASKS_NEWEST_VALUE) else None
    is_day = value.kind is ValueKind.DATE  # a share or a price that rose from this value may be another thing's
    given_up = _given_up(index, probe, value, cited) if is_day else None
    return tracked or _retold(index, probe, value, cited) or given_up or found


def _changed(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later message with another value beside most of the words that name this one."""
    words = _words_of_value(probe, value)
    if len(words) < CHECKING.later_words:
        return None
    # Other values that the probe itself says are parts of its answer, not changes.
    answer = answer_text(probe)
    after = index.position[cited.message_key]
    for place, message in index.user_messages_with(dict.fromkeys(words, 1.0), _least(words)):
        if place <= after:
            continue
        other = _other_value(message.content, value, words, answer)
        if other is not None and not _is_recorded(index, message, other):
            kind = _kind_of_change(probe, words, message.content, other)
            text = f"{message.message_key} says {other.text!r} of {_named(words)}, and the gold {value.text!r}"
            return Problem(kind, probe.probe_id, text, (cited.message_key, message.message_key))
    return None


def _retold(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later message that tells the cited clause again, with another day, as changed.

    The gold may name the thing in other words than the user: here the user's own words are looked for.
    """
    clause = next((c for c in _PARTS.split(_spelled(cited)) if says_equivalent(c, value)), "")
    words = (
        _without_changes(content_words(clause)) - content_words(" ".join(v.text for v in values_in(clause))) - _SPANS
    )
    if value.kind is not ValueKind.DATE or len(words) < CHECKING.later_words:
        return None
    answer, after = answer_text(probe), index.position[cited.message_key]
    for place, message in index.user_messages_with(dict.fromkeys(words, 1.0), CHECKING.later_words):
        if place <= after or not MOVED.search(message.content):
            continue
        told, key = _spelled(message), message.message_key
        for other in values_in(told):
            if other.kind is not ValueKind.DATE or says(answer, other) or _is_recorded(index, message, other):
                continue
            near = _around(told, other)
            said = content_words(near)
            least = max(
                CHECKING.later_words if _CORRECTS.search(near) else CHECKING.retold_words,
                CHECKING.retold_share * len(words),
            )
            is_retold = len(said & words) >= least and not _is_other_end(words, said)
            if is_retold and MOVED.search(near) and not is_recalled(near, other):
                text = f"{key} says {other.text!r} of {_named(words)}, and the gold {value.text!r}"
                return Problem("maybe_changed", probe.probe_id, text, (cited.message_key, key))
    return None


def _given_up(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later sentence of the user that says a value as an old one, beside a new one.

    The old value stands for the thing, which may have another name here: one word of the probe's is enough.
    """
    named = content_words(f"{probe.question} {probe.gold_answer}") - content_words(value.text) - _SPANS
    day = [
        w for w in re.findall(r"\w+", value.text.casefold()) if not re.fullmatch(r"\d{4}", w)
    ]  # a year may be left out
    own = index.position[cited.message_key]
    for place, _ in index.holding(day):
        if place <= own or not index.speaks_as_user(message := index.messages[place]):
            continue
        for start, end in sentences(message.content):
            sentence = message.content[start:end]
            others = [v for v in values_in(sentence) if v.kind is value.kind and not says_equivalent(v.text, value)]
            old = next((v for v in values_in(sentence) if says_equivalent(v.text, value)), None)
            if old is None or not others or not content_words(sentence) & named or not _is_given_up(sentence, old):
                continue
            key = message.message_key
            text = f"{key} says {others[0].text!r} in place of the gold's {old.text!r}: {shorten(sentence, 120)}"
            return Problem("maybe_changed", probe.probe_id, text, (cited.message_key, key))
    return None


def _is_given_up(sentence: str, old: Value) -> bool:
    """Return whether a sentence says that a value does not hold any more."""
    before, _, behind = sentence.partition(old.text)
    return bool(_NO_LONGER[0].search(before) or _NO_LONGER[1].match(behind)) or is_recalled(sentence, old)


def _spelled(message: Message) -> str:
    """Return the text of a message with days as dates: `the 12th` is a value, too."""
    return spell_out(message.content, message.sent_at.date())


def _kind_of_change(probe: Probe, words: frozenset[str], text: str, other: Value) -> str:
    """Return how sure it is that a message changes the value that these words name to another one."""
    sentence = next((s for a, b in sentences(text) if other.text in (s := text[a:b])), text)
    if _is_other_end(words, content_words(sentence)):
        return "other_later"
    if CHANGED_TO.search(_before(text, other)):
        return "third_value" if has_trait(probe, Trait.ASKS_UPDATED_VALUE) else "changed_later"
    at = sentence.find(other.text)
    near = sentence[max(at - CHECKING.later_window, 0) : at + len(other.text) + CHECKING.later_window]
    is_cued = MOVED.search(near) is not None and not is_recalled(sentence, other)
    is_named = len(content_words(sentence) & words) >= _least(words)
    return "maybe_changed" if other.kind is ValueKind.DATE and is_cued and is_named else "other_later"


def _is_recorded(index: ConversationIndex, message: Message, other: Value) -> bool:
    """Return whether a bullet of a message asserts a value, or whether the value is the day of the message.

    `stale_gold` knows changes in the ledger.
    """
    day = message.sent_at.date()
    told = (a.value for bullet_id in message.bullet_ids for a in index.by_bullet.of(bullet_id) if a.value is not None)
    recorded = {("date", day), *(key for value in told for key in value_keys(value, day))}
    return other.date == day or not recorded.isdisjoint(value_keys(other, day))


def _tracked(index: ConversationIndex, probe: Probe, value: Value, cited: Message) -> Problem | None:
    """Return the problem of the first later sentence that gives the slot of this value another value."""
    slot = _slot_of(index, probe, value, _clause(probe, value))
    if slot is None:
        return None
    for mention in _later_mentions(index, slot, index.position[cited.message_key]):
        if _is_recorded(index, mention.message, mention.value):
            continue
        key = mention.message.message_key
        text = f"{key} says {mention.value.text!r} of {_named(frozenset(slot.core))}, and the gold {value.text!r}"
        return Problem("maybe_changed", probe.probe_id, text, (cited.message_key, key))
    return None


def _clause(probe: Probe, value: Value) -> str:
    """Return the part of the gold that says a value."""
    return next((c for c in _CLAUSE.split(probe.gold_answer) if says_equivalent(c, value)), "")


def _words_of_value(probe: Probe, value: Value) -> frozenset[str]:
    """Return the stems that name the thing whose value this is: those of its clause in the gold, or the question's."""
    clauses = [c for c in _CLAUSE.split(probe.gold_answer) if says(c, value)]
    near = content_words(clauses[0].replace(value.text, " ")) if clauses else frozenset()
    near, asked = (
        _without_changes(words) - content_words(value.text) for words in (near, content_words(probe.question))
    )
    return near if len(near) >= CHECKING.later_words else asked


def _without_changes(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if not _VERB_OF_CHANGE.match(w) and w not in _TYPES | _AIMS)


def _least(words: frozenset[str]) -> float:
    """Return how many of these words must stand in a message, and near its value."""
    return max(CHECKING.later_words, CHECKING.later_shared * len(words))


def _other_value(text: str, value: Value, words: frozenset[str], answer: str) -> Value | None:
    """Return the first value of a text near most of these words that is neither this one nor in the answer."""
    if says(text, value):
        return None
    for other in values_in(text):
        if other.kind is not value.kind or not _is_comparable(value, other) or says(answer, other):
            continue
        if len(content_words(_around(text, other)) & words) >= _least(words):
            return other
    return None


def _is_comparable(value: Value, other: Value) -> bool:
    if value.kind is ValueKind.NUMBER:
        return bool(value.unit) and value.unit == other.unit
    return value.kind is not ValueKind.DURATION or value.unit == other.unit


def _around(text: str, value: Value) -> str:
    at = text.find(value.text)
    return text[max(at - CHECKING.later_window, 0) : at + len(value.text) + CHECKING.later_window]


def _before(text: str, value: Value) -> str:
    at = text.find(value.text)
    return text[max(at - 2 * CHECKING.later_window, 0) : at]


def _named(slot: frozenset[str]) -> str:
    return shorten(repr(" ".join(sorted(slot))), 60)


# --- the messages: the slot of the value ------------------------------------------------------------------------


@dataclass(frozen=True)
class _ValueSlot:
    """The thing and the attribute that a value belongs to."""

    value: Value
    core: dict[str, float]
    """Stems that name the thing, with their weights."""
    attribute: frozenset[str]
    """Stems that name the attribute."""
    is_planned: bool
    """Whether the value is an aim or an estimate, and no result."""
    known: str
    """Texts whose values are not new: gold, rubric, old value, cited messages."""


@dataclass(frozen=True)
class _Mention:
    """A later sentence that gives the slot another value."""

    message: Message
    value: Value
    sentence: str


def _slot_of(index: ConversationIndex, probe: Probe, value: Value, clause: str) -> _ValueSlot | None:
    """Return the slot of a value of the gold; None where too little names it."""
    cited = [m for m in index.cited(probe) if index.speaks_as_user(m)]
    said = frozenset().union(*(index.words(m) for m in cited))
    own = content_words(value.text) | ASKING_WORDS | _TYPES | _TIMES
    # The clause of the gold that says the value names its thing best; a bare value leaves that to the question.
    for text in (clause, probe.question):
        thing = _THING.search(text)
        for named in (thing[1] if thing else "", text):
            words = content_words(named) - own
            # Words that the user says all the time tell nothing of the slot.
            core = {
                w: index.said_by_user.rarity(w)
                for w in sorted(words & said)
                if index.said_by_user.share(w) < CHECKING.later_common
            }
            if core:
                known = (probe.gold_answer, probe.details.old_value, *(n.text for n in probe.rubric))
                attribute = content_words(text) - own - core.keys()
                told = "\n".join((*known, *(m.content for m in cited)))
                is_planned = _is_planned(f"{clause}\n{probe.question}")
                return _ValueSlot(value, core, attribute, is_planned, told)
    return None


def _is_planned(text: str) -> bool:
    return bool(content_words(text) & _PLANNED) or _WRITTEN_DOWN.search(text) is not None


def _is_other_end(words: frozenset[str], said: frozenset[str]) -> bool:
    """Return whether a text speaks of the end of a thing where others name its beginning, or the other way round."""
    if words & _BEGIN:
        return not said & _BEGIN
    return bool(words & _END and said & _BEGIN and not said & _END)


def _later_mentions(index: ConversationIndex, slot: _ValueSlot, after: int) -> Iterator[_Mention]:
    """Yield sentences of the user, after a message, that give the slot a value that nobody gave it before."""
    has_one_attribute = True
    for place, message in index.user_messages_with(slot.core, _least_of_core(slot)):
        for sentence, others in _other_values(slot, message.content):
            words = content_words(sentence)
            is_of_plan = _is_planned(sentence) or (slot.is_planned and CHANGE.search(sentence) is not None)
            if is_of_plan != slot.is_planned:
                continue
            names_attribute = bool(slot.attribute & words)
            if place <= after:
                # A second value without a word of the attribute shows that the thing has two attributes.
                has_one_attribute &= names_attribute
            elif names_attribute or (has_one_attribute and (_has_unit(slot.value) or CHANGE.search(sentence))):
                for other in others:
                    if not is_recalled(sentence, other):
                        yield _Mention(message, other, sentence)


def _other_values(slot: _ValueSlot, text: str) -> Iterator[tuple[str, list[Value]]]:
    """Yield the sentences of a text that hold the slot's core, with the new values that they say."""
    for start, end in sentences(text):
        sentence = normalize_values(text[start:end])
        others = [v for v in values_in(sentence) if _is_new(slot, v)]
        if others and _holds_core(slot, content_words(sentence)):
            yield sentence, others


def _holds_core(slot: _ValueSlot, words: Iterable[str]) -> bool:
    return sum(slot.core.get(w, 0.0) for w in words) >= _least_of_core(slot)


def _least_of_core(slot: _ValueSlot) -> float:
    """Return the weight of the core's words that must stand together."""
    # Less than by the letter, as sums of fractions depend on their order.
    return CHECKING.core_share * sum(slot.core.values()) - 1e-9


def _has_unit(value: Value) -> bool:
    """Return whether the unit tells one attribute of a thing from another."""
    return value.kind in (ValueKind.NUMBER, ValueKind.DURATION) and bool(value.unit)


def _is_new(slot: _ValueSlot, other: Value) -> bool:
    """Return whether a value is comparable with the slot's and known from no text of the probe."""
    value = slot.value
    if (
        other.kind is not value.kind
        or content_words(other.unit) != content_words(value.unit)
        or says_equivalent(other.text, value)
    ):
        return False
    return not says_equivalent(slot.known, other)


STALE_GOLD = Check(
    name="stale_gold",
    doc="No gold says a value that a later bullet changes, or rests on a fact that another bullet denies.",
    severities={"superseded": ERROR, "superseded_in_story": WARNING, "contradicted": WARNING, "not_of_that_day": ERROR},
    on_probe=find_stale,
)
CHECK = Check(
    name="later_values",
    doc="No later message of the user gives what the gold says a value that no bullet has; read from the messages.",
    severities={"changed_later": ERROR, "third_value": ERROR, "maybe_changed": WARNING, "other_later": INFO},
    english_only=dict.fromkeys(
        ("changed_later", "third_value", "maybe_changed", "other_later"), "reads English dates, amounts and words"
    ),
    on_probe=find_problems,
)
