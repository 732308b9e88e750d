"""Later evidence: which passages of a conversation may change an answer, and why."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

import pytest

from longbeam.schemas import Message
from longbeam.text import READING, LaterPassage, Sign, Subject, find_evidence, passages_of
from tests.memory.test_systems import messages

QUESTION, GOLD = "When is the kiln delivered?", "The kiln is delivered on May 3."
TALK = [("The garden needs water.", "Water it early."), ("I like tea.", "Which kinds?")]


def conversation(*told: str) -> tuple[Message, ...]:
    """A conversation whose first message of the user is the evidence, and in which the others follow."""
    first = ("The kiln is delivered on May 3.", "Good to know.")
    return messages((first, *TALK, *((text, "I see.") for text in told)))


def evidence_on(said: Iterable[Message], subject: Subject, cited: Collection[str] = ()) -> list[LaterPassage]:
    kept = tuple(said)
    return find_evidence(lambda: kept, {"": subject}, {"": cited}, read=sys.maxsize)[""]


def best_of(*told: str, aliases: tuple[str, ...] = ()) -> list[tuple[str, frozenset[Sign]]]:
    said = conversation(*told)
    found = evidence_on(said, Subject.of(QUESTION, GOLD, aliases=aliases), {said[0].message_key})
    return [(p.text, frozenset(p.signs)) for p in found]


@pytest.mark.parametrize(
    ("told", "sign"),
    [
        ("They moved the kiln to May 10.", Sign.OTHER_VALUE),
        ("They moved the kiln to May 10.", Sign.CHANGE),
        ("They moved the kiln to May 10.", Sign.LATER),
        ("The kiln is never delivered at all.", Sign.NEGATION),
        ("So the kiln comes on May 3.", Sign.SAME_VALUE),
    ],
)
def test_a_passage_carries_the_signs_of_what_it_says(told: str, sign: Sign) -> None:
    (text, signs), *_ = best_of(told)
    assert text == told
    assert sign in signs


def test_a_change_of_the_value_stands_before_a_mention() -> None:
    found = best_of("The kiln is heavy.", "They moved the kiln to May 10.")
    assert [text for text, _ in found] == ["They moved the kiln to May 10.", "The kiln is heavy."]


def test_what_the_answer_is_built_on_and_what_shares_no_word_are_left_out() -> None:
    assert best_of("Tea again.") == []


def test_the_assistant_is_searched_too() -> None:
    said = messages((("The kiln is delivered on May 3.", "Fine."), *TALK, ("What now?", "The kiln comes on May 10.")))
    found = evidence_on(said, Subject.of(QUESTION, GOLD), {said[0].message_key})
    assert [p.text for p in found] == ["The kiln comes on May 10."]
    assert Sign.OTHER_VALUE in found[0].signs


def test_an_alias_finds_a_passage_without_a_word_of_the_question() -> None:
    told = "The big oven is coming on May 10."
    assert best_of(told) == []
    ((text, signs),) = best_of(told, aliases=("big oven",))
    assert text == told
    assert {Sign.SAME_NAME, Sign.OTHER_VALUE} <= signs


def test_what_stands_before_the_evidence_is_found_and_is_not_later() -> None:
    said = messages((("Maybe the kiln comes on May 1.", "I see."), *TALK, ("The kiln is delivered on May 3.", "Good.")))
    (found,) = evidence_on(said, Subject.of(QUESTION, GOLD), {said[-2].message_key})
    assert found.place == 0
    assert Sign.LATER not in found.signs


def test_several_subjects_are_searched_at_once_as_each_alone() -> None:
    said = conversation("They moved the kiln to May 10.", "The tea is from Assam now, not from Ceylon.")
    subjects = {"kiln": Subject.of(QUESTION, GOLD), "tea": Subject.of("Which tea do I like?", "Tea from Ceylon.")}
    cited = {"kiln": {said[0].message_key}, "tea": set[str]()}
    together = find_evidence(lambda: said, subjects, cited)
    assert together == {name: evidence_on(said, subjects[name], cited[name]) for name in subjects}
    assert together["tea"][0].text.startswith("The tea is from Assam")


def test_passages_are_whole_sentences_in_their_order() -> None:
    text = " ".join(f"Sentence number {i} tells of the pond and of what grows beside it." for i in range(40))
    (said,) = messages(((text, ""),))[:1]
    found = [text[slice(*span)] for _, _, span in passages_of([said])]
    assert " ".join(found) == text
    assert all(part.endswith("beside it.") and len(part) <= READING.passage_characters for part in found)
