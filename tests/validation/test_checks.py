from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.schemas import Severity
from longbeam.validation import CHECKS, Check, Scope, check_benchmark, check_conversation
from tests.builders import MemoryReader, good_conversation
from tests.validation.faults import FAULTS, Fault, append, counted

DOCS = Path(__file__).resolve().parents[2] / "docs" / "checks.md"


def test_the_good_conversation_is_good() -> None:
    assert check_conversation(good_conversation()) == []
    assert check_conversation(good_conversation(), asked={"knowledge_update": 1, "abstention": 1}) == []


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{i}-{f.check}" for i, f in enumerate(FAULTS)])
def test_a_planted_fault_is_found(fault: Fault) -> None:
    findings = check_conversation(fault.spoil(good_conversation()), asked=fault.asked)

    found = [f for f in findings if f.check == fault.check]
    check, kind = fault.check.split(".")
    assert {f.severity for f in found} == {severity_of(check, kind)}, [f.check for f in findings]
    if fault.subject:
        assert fault.subject in {f.subject for f in found}
    assert all(f.conversation_id == "c000" and f.message for f in found)


@pytest.mark.parametrize(
    ("said", "expected"),
    [(" I log my repair hours like my sleep.", True), (" The hours are long. One more repair would do.", False)],
)
def test_a_side_story_is_named_by_a_sentence(said: str, expected: bool) -> None:
    reader = append(12, said)(counted("2", story="repair hours")(good_conversation()))
    found = [f for f in check_conversation(reader) if f.check == "side_stories.elsewhere"]
    assert bool(found) == expected


def severity_of(name: str, kind: str) -> Severity:
    return next(c for c in CHECKS if c.name == name).severities[kind]


def other(**changes: object) -> MemoryReader:
    """A second conversation about another person, with other questions, changed."""
    reader = good_conversation("c001")
    profile = reader.head.profile.model_copy(
        update={"name": "Ada Lund", "first_name": "Ada", "age": 40, "city": "Hull"}
    )
    seed = reader.head.seed.model_copy(update={"title": "A bookshop"})
    asked = tuple(p.model_copy(update={"question": f"Ada: {p.question}"}) for p in reader.asked)
    return replace(reader, asked=asked).with_head(**{"profile": profile, "seed": seed, **changes})


def first_probe(reader: MemoryReader, **changes: object) -> MemoryReader:
    return replace(reader, asked=(reader.asked[0].model_copy(update=changes), *reader.asked[1:]))


GOOD = good_conversation()
QUESTION = GOOD.asked[0].question
BENCHMARK_FAULTS = (
    ("persona_uniqueness.same_persona", other(profile=GOOD.head.profile)),
    (
        "persona_uniqueness.same_name",
        other(profile=GOOD.head.profile.model_copy(update={"age": 50, "city": "Hull"})),
    ),
    (
        "persona_uniqueness.same_place_and_job",
        other(profile=GOOD.head.profile.model_copy(update={"age": 50, "name": "Ada Lund"})),
    ),
    ("persona_uniqueness.same_seed", other(seed=GOOD.head.seed)),
    ("probe_uniqueness.same_answer", first_probe(other(), question=QUESTION.upper())),
    ("probe_uniqueness.same_question", first_probe(other(), question=QUESTION, gold_answer="Unknown.")),
)


@pytest.mark.parametrize(("check", "second"), BENCHMARK_FAULTS, ids=[c for c, _ in BENCHMARK_FAULTS])
def test_a_fault_across_conversations_is_found(check: str, second: MemoryReader) -> None:
    found = check_benchmark([good_conversation(), second])

    assert [(f.check, f.conversation_id) for f in found] == [(check, "c001")]


def test_different_conversations_do_not_disturb_each_other() -> None:
    assert check_benchmark([good_conversation(), other()]) == []


def test_every_kind_of_finding_is_planted_somewhere() -> None:
    planted = {f.check for f in FAULTS} | {check for check, _ in BENCHMARK_FAULTS}
    declared = {f"{c.name}.{kind}" for c in CHECKS for kind in c.severities}

    assert planted == declared


def test_every_check_is_documented_as_it_is() -> None:
    rows = re.findall(r"^\| `(\w+)\.(\w+)` \| (\w+) \| (\w+) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    declared = [(c.name, k, c.scope.value, s.value) for c in CHECKS for k, s in c.severities.items()]

    assert rows == declared


def test_checks_have_unique_names_and_one_function() -> None:
    assert len({c.name for c in CHECKS}) == len(CHECKS)
    with pytest.raises(ValueError, match="exactly one function"):
        Check(name="nothing", doc="", severities={})
    assert {c.scope for c in CHECKS} == set(Scope)
