"""Contradictions in somebody's own chats: two statements of the user's on one thing that cannot both be true.

Rules pair statements of the ledger, and the role `checker` confirms each pair. Only a thing of which the user gives
exactly two values is paired: a value that is given again or changed settles the matter, and three values are a series.
A denial ("I have never met Goran") is paired with the earlier statements that have most of its words. What else settles
a matter, such as a reply or a message without a value, the gate of probes finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from longbeam.generators.chat_ledger import ChatStatement
from longbeam.generators.entailment_judge import exclude_each_other
from longbeam.generators.probes.evidence import coverage, words_of
from longbeam.generators.tuning import CHAT_READING
from longbeam.models import Asker
from longbeam.prompts.calls import ToldRemark
from longbeam.schemas import CONTRADICTION_MESSAGES_APART, Message, MessageRole, Record, ValueKind
from longbeam.text import content_words, is_planned, says, sentences, taken_back, words_of_denials


class Opposed(Record):
    """Two statements of the user's that give one thing two values, or of which the later denies the earlier."""

    earlier: ChatStatement
    later: ChatStatement
    remarks: tuple[ToldRemark, ToldRemark]
    """The words of both, as the checker reads them."""


def opposed_pairs(messages: Sequence[Message], statements: Iterable[ChatStatement]) -> list[Opposed]:
    """Return the pairs of statements that may contradict each other.

    Both are the user's, at least CONTRADICTION_MESSAGES_APART messages apart. They give one thing two values, and no
    third statement gives it one; or the later one is a denial.
    """
    statements = list(statements)
    places = {message.message_key: i for i, message in enumerate(messages)}
    told = [s for s in statements if s.role is MessageRole.USER and s.value is not None]
    told.sort(key=lambda s: places[s.message_key])

    def pair(earlier: ChatStatement, later: ChatStatement) -> Opposed:
        first, second = (_remark(messages[places[s.message_key]], s) for s in (earlier, later))
        return Opposed(earlier=earlier, later=later, remarks=(first, second))

    def is_far(earlier: ChatStatement, later: ChatStatement) -> bool:
        return places[later.message_key] - places[earlier.message_key] >= CONTRADICTION_MESSAGES_APART

    pairs = [pair(*both) for both in _of_one_thing(told) if is_far(*both)]
    found = [one for one in pairs if _may_exclude(one)]
    for denial in (s for s in statements if s.says == "denial"):
        found += _closest([pair(s, denial) for s in told if is_far(s, denial)])
    return found


async def confirmed(asker: Asker, pair: Opposed) -> tuple[Opposed, ...]:
    """Return the pair if the checkers find that its statements cannot both be true."""
    return (pair,) if await exclude_each_other(asker, "pair", *pair.remarks) else ()


def _of_one_thing(told: Sequence[ChatStatement]) -> Iterator[tuple[ChatStatement, ChatStatement]]:
    """Yield the statements on things that have exactly two, in their order."""
    by_word: dict[str, list[int]] = {}
    for i, statement in enumerate(told):
        for word in _words(statement.subject):
            by_word.setdefault(word, []).append(i)
    others = [
        {j for word in _words(one.subject) for j in by_word[word] if j != i and _is_one_thing(one, told[j])}
        for i, one in enumerate(told)
    ]
    for i, found in enumerate(others):
        for j in found:
            if i < j and found == {j} and others[j] == {i}:
                yield told[i], told[j]


def _is_one_thing(one: ChatStatement, other: ChatStatement) -> bool:
    """Return whether two statements may give the same attribute of the same thing, under names that differ a little."""
    assert one.value is not None
    assert other.value is not None
    units = {one.value.unit, other.value.unit}
    has_one_unit = len(units) == 1 or one.value.kind is ValueKind.DURATION or units > {""}
    return (
        one.value.kind is other.value.kind
        and has_one_unit
        and all(
            a <= b or b <= a
            for a, b in (
                (_words(one.subject), _words(other.subject)),
                (_words(one.attribute), _words(other.attribute)),
            )
        )
    )


def _words(name: str) -> frozenset[str]:
    """Return the content words of a name; the name itself where it has none ("me")."""
    return words_of(name) or frozenset({name.casefold()})


def _may_exclude(pair: Opposed) -> bool:
    """Return whether two values of one thing may contradict each other."""
    earlier, later = pair.earlier, pair.later
    assert earlier.value is not None
    assert later.value is not None
    if "change" in (earlier.says, later.says) or earlier.value.means_same_as(later.value):
        return False
    first, second = (remark.text for remark in pair.remarks)
    if says(first, later.value) or says(second, earlier.value) or taken_back(second):
        return False  # who tells both values, or takes one back, says how they come about
    is_named = all(
        coverage(s.subject, text) >= CHAT_READING.conflict_named for s, text in ((earlier, first), (later, second))
    )
    # A plan and what came of it are no contradiction.
    return is_named and is_planned(earlier.quote) == is_planned(later.quote)


def _closest(denied: Sequence[Opposed]) -> list[Opposed]:
    """Return the pairs of a denial with the remarks that have most of its words; those on things of its name first."""
    most = max(map(_closeness, denied), default=0.0)
    if most <= CHAT_READING.denied:
        return []
    close = [one for one in denied if _closeness(one) == most]
    close.sort(key=lambda one: -coverage(one.later.subject, f"{one.earlier.subject} {one.earlier.attribute}"))
    by_quote: dict[str, Opposed] = {}
    for one in close:
        by_quote.setdefault(one.earlier.quote, one)
    return list(by_quote.values())[: CHAT_READING.most_denied]


def _closeness(pair: Opposed) -> float:
    """Return the share of the words that a denial denies which the statement before it has; 0 for a plan."""
    first, second = (remark.text for remark in pair.remarks)
    if (
        coverage(pair.later.subject, first) < CHAT_READING.conflict_named
        or is_planned(pair.earlier.quote)
        or taken_back(second)
    ):
        return 0.0
    denied = _denied_of(pair.later) or content_words(pair.later.quote)
    return len(denied & content_words(pair.earlier.quote)) / max(1, len(denied))


def _denied_of(denial: ChatStatement) -> frozenset[str]:
    """Return the words that a denial denies of its subject; of anything where no negator stands before its subject."""
    every = words_of_denials(denial.quote)
    own = [words for words in every if words & content_words(denial.subject)]
    return frozenset[str]().union(*(own or every))


def _remark(message: Message, statement: ChatStatement) -> ToldRemark:
    """Return the words of a statement with the sentences around them, which may say how it is meant."""
    content, quote = message.content, statement.quote
    start = content.find(quote)
    spans = sentences(content)
    own = [i for i, (first, end) in enumerate(spans) if first < start + len(quote) and start < end]
    text = content[spans[max(0, own[0] - 1)][0] : spans[min(len(spans) - 1, own[-1] + 1)][1]] if own else quote
    return ToldRemark(text=text, day=message.sent_at.date())
