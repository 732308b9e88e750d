"""Contradictions in somebody's own chats: two statements of the user's on one thing that cannot both be true.

Rules pair statements of the ledger, and the role `checker` confirms each pair. Only a thing of which the user gives
exactly two values is paired: a value that is given again or changed settles the matter, and three values are a series.
What else settles it, such as a reply or a message without a value, the model check `counter_evidence` finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from longbeam.generators.chat_ledger import Statement
from longbeam.generators.entailment_judge import exclude_each_other
from longbeam.generators.probes.evidence import coverage, with_subject, words_of
from longbeam.models.asking import Asker
from longbeam.prompts.calls.checks import ToldRemark
from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.plans import ValueKind
from longbeam.schemas.probes import CONTRADICTION_MESSAGES_APART
from longbeam.text.matching import says
from longbeam.text.plans import is_planned

NAMED = 0.5
"""Share of the words of a thing's name that a remark must have to be about the thing."""


class Opposed(Record):
    """Two statements of the user's that give one thing two values."""

    earlier: Statement
    later: Statement
    remarks: tuple[ToldRemark, ToldRemark]
    """The words of both, as the checker reads them."""


def opposed_pairs(messages: Sequence[Message], statements: Iterable[Statement]) -> list[Opposed]:
    """Return the pairs of statements that may contradict each other, in the order of the earlier one.

    Both are the user's, at least CONTRADICTION_MESSAGES_APART messages apart, and no third one gives the thing a value.
    """
    places = {message.message_key: i for i, message in enumerate(messages)}
    told = [s for s in statements if s.role is MessageRole.USER and s.value is not None]
    told.sort(key=lambda s: places[s.message_key])
    pairs = []
    for earlier, later in _of_one_thing(told):
        first, second = places[earlier.message_key], places[later.message_key]
        remarks = _remark(messages[first], earlier), _remark(messages[second], later)
        if second - first >= CONTRADICTION_MESSAGES_APART and _may_exclude(earlier, later, remarks):
            pairs.append(Opposed(earlier=earlier, later=later, remarks=remarks))
    return pairs


async def confirmed(asker: Asker, pair: Opposed) -> tuple[Opposed, ...]:
    """Return the pair if the checkers find that its statements cannot both be true."""
    return (pair,) if await exclude_each_other(asker, "pair", *pair.remarks) else ()


def _of_one_thing(told: Sequence[Statement]) -> Iterator[tuple[Statement, Statement]]:
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


def _is_one_thing(one: Statement, other: Statement) -> bool:
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


def _may_exclude(earlier: Statement, later: Statement, remarks: tuple[ToldRemark, ToldRemark]) -> bool:
    assert earlier.value is not None
    assert later.value is not None
    if "change" in (earlier.says, later.says) or earlier.value.means_same_as(later.value):
        return False
    first, second = (remark.text for remark in remarks)
    if says(first, later.value) or says(second, earlier.value):
        return False  # who tells both values says how they come about
    is_named = all(coverage(s.subject, text) >= NAMED for s, text in ((earlier, first), (later, second)))
    # A plan and what came of it are no contradiction.
    return is_named and is_planned(first) == is_planned(second)


def _remark(message: Message, statement: Statement) -> ToldRemark:
    text = with_subject(message.content, statement.quote, statement.subject)
    return ToldRemark(text=text, day=message.sent_at.date())
