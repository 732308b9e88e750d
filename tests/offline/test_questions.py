"""How a person asks for a value: every slot of every pack has a clause of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longbeam.offline import (
    ATTRIBUTES,
    Pack,
    Slot,
    Thread,
    clause_for,
    day_named,
    load_pack,
    of_user,
    pack_paths,
    people_thread,
    question_clauses,
)
from longbeam.schemas import ValueKind

_ASKS = re.compile(r"(?:(?:what|which|who|when|where|how|under|through|at|in|on|by|down|for|to) .*)")


def _slots(threads: tuple[Thread, ...]) -> list[tuple[str, Slot]]:
    return [(thing, slot) for t in threads for slot in t.slots.values() for thing in (t.things or ("a subtopic",))[:1]]


@pytest.mark.parametrize("path", pack_paths(), ids=lambda p: Path(p).stem)
def test_every_slot_of_a_pack_is_asked_for_as_a_person_asks(path: Path) -> None:
    pack: Pack = load_pack(path)
    for thing, slot in _slots((*pack.threads, people_thread())):
        clause = clause_for(slot.attribute, thing)
        assert clause.count("{it}") == 1, slot.attribute
        assert _ASKS.fullmatch(clause), clause
        if slot.type is ValueKind.DATE:
            assert re.match(r"when |what day I (?:gave (?:as|for)|had down for) ", clause), clause


def test_every_figure_of_the_assistants_is_asked_for_as_a_person_asks() -> None:
    clauses = [clause_for(attribute, "x", is_of_assistant=True) for attribute in ATTRIBUTES]
    assert all(re.search(r"\byou (?:told|gave) me\b", clause) for clause in clauses)


def test_no_clause_is_without_a_slot() -> None:
    threads = (*(t for path in pack_paths() for t in load_pack(path).threads), people_thread())
    known = {slot.attribute for _, slot in _slots(threads)} | set(ATTRIBUTES)
    assert {key.partition(" @ ")[0] for key in question_clauses()} <= known


def test_a_clause_is_told_of_the_user_in_the_third_person() -> None:
    wrong = re.compile(
        r"(?<!and )the user (?:have|do|go|want|need|use|keep|get|buy|like|pay|see|work|hope|am|allow|plan|turn)\b"
    )
    assert not [told for c in question_clauses().values() if wrong.search(told := of_user(c))]


def test_what_was_planned_is_asked_for_as_what_was_said_because_it_may_be_over() -> None:
    ahead = re.compile(r"\b(?:is|are|has|have|want|hope)\b")
    days = [clause for clause in question_clauses().values() if clause.startswith(("when ", "what day "))]
    assert not [clause for clause in days if ahead.search(clause)]


def test_a_thread_may_ask_for_its_things_in_other_words() -> None:
    assert clause_for("test date", "the mock exam") == "what day I had down for {it} to take place"
    assert clause_for("test date", "anything") == "what day I had down for the test of {it}"


def test_a_day_has_a_name() -> None:
    assert day_named("when the deadline for the call was") == "the deadline for the call"
    assert day_named("what day I had down for it") == "the day I had down for it"
    assert day_named("when I first used it") == "the day I first used it"
    assert day_named("what day you gave me for it") == "the day you gave me for it"
