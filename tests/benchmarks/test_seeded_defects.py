"""The planting tool itself: what it plants is what it says. How many the checks find is measured, not asserted."""

from __future__ import annotations

import copy
import datetime as dt
from pathlib import Path
from random import Random
from typing import Any

import pytest

import longbeam
from benchmarks.seeded_defects.planting import ALL, CONTROL, FAULTS, Planted, plant
from benchmarks.seeded_defects.scoring import Finding, render, score
from benchmarks.seeded_defects.tables import Chat, read_export, write_export
from benchmarks.seeded_defects.wording import in_words, other_writings, wrong_value
from longbeam.formats import import_jsonl
from longbeam.schemas import Domain
from tests.formats.sources import read

GOLD = {"gold_answer", "rubric", "details"}
CHANGED: dict[str, tuple[set[str], set[str]]] = {
    "leave_the_denial_out": ({"evidence"}, {"content"}),
    "affirm_instead_of_denying": ({"evidence"}, {"content"}),
    "deny_something_else": ({"gold_answer", "rubric", "evidence"}, {"content"}),
    "deny_what_does_not_contradict": ({"gold_answer", "rubric", "evidence"}, {"content"}),
    "update_to_the_same_value": (GOLD | {"evidence"}, {"content"}),
    "update_to_the_same_value_in_other_writing": (GOLD | {"evidence"}, {"content"}),
    "swap_the_sides_of_an_update": (GOLD, set()),
    "cite_one_update_twice": ({"evidence"}, set()),
    "cite_one_statement_twice": ({"evidence"}, set()),
    "swap_two_items": (GOLD | {"evidence"}, set()),
    "swap_two_items_of_the_gold": ({"gold_answer", "details"}, set()),
    "leave_an_item_out": (GOLD | {"evidence"}, set()),
    "ask_for_another_number_of_items": ({"question"}, set()),
    "miscount_days": (GOLD, set()),
    "miscount_days_in_words": (GOLD, set()),
    "miscompute_total": (GOLD, set()),
    "miscompute_total_in_words": (GOLD, set()),
    "name_an_unsaid_value": ({"gold_answer", "rubric"}, set()),
    "name_an_unsaid_value_in_other_writing": ({"gold_answer", "rubric"}, set()),
    "cite_another_message": ({"evidence"}, set()),
    "cite_another_message_for_a_wish": ({"evidence"}, set()),
    "cite_replies": ({"evidence"}, set()),
    "ask_with_the_answer": ({"question"}, set()),
    "ask_with_the_answer_in_other_writing": ({"question"}, set()),
    "ask_with_the_instruction": ({"question"}, set()),
    "paste_a_nugget": ({"rubric"}, set()),
    "contradict_the_gold": ({"rubric"}, set()),
    "contradict_the_gold_in_words": ({"rubric"}, set()),
    "join_nuggets": ({"rubric", "evidence"}, set()),
    "join_nuggets_loosely": ({"rubric", "evidence"}, set()),
    "lean_on_the_question": ({"rubric"}, set()),
    "go_back_hours": (set(), {"sent_at"}),
    "go_back_days": (set(), {"sent_at"}),
    "write_the_nuggets_day_otherwise": ({"rubric"}, set()),
    "write_the_nuggets_number_otherwise": ({"rubric"}, set()),
    "write_the_gold_otherwise": ({"gold_answer"}, set()),
    "word_the_nuggets_otherwise": ({"rubric"}, set()),
    "ask_more_politely": ({"question"}, set()),
    "leave_as_it_is": (set(), set()),
}
"""Fields of the probe and of the message that a planter changes; the others change the text of a message."""
COPIES = ("ask_the_same_again", "ask_the_same_in_other_words")


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three small conversations of our own; the domains are those in which every planter finds a place."""
    folder = tmp_path_factory.mktemp("ours")
    domains = (Domain.CODING, Domain.HEALTH, Domain.TRIP)
    spec = longbeam.BenchmarkSpec(
        name="ours", seed=1, length=48_000, conversations=3, domains=domains, probes_per_ability=8
    )
    made = longbeam.run(longbeam.generate(spec, folder))
    longbeam.run(longbeam.export(made, folder / "export"))
    return folder / "export"


@pytest.fixture
def chats(export: Path) -> list[Chat]:
    return read_export(export)


def differences(before: list[Chat], after: list[Chat]) -> dict[tuple[str, str], set[str]]:
    """Fields that differ, by conversation and id of the probe or message."""
    found: dict[tuple[str, str], set[str]] = {}
    for old, new in zip(before, after, strict=True):
        assert old.head == new.head
        for id_name, rows in (("message_key", (old.messages, new.messages)), ("probe_id", (old.probes, new.probes))):
            for a, b in zip(*rows, strict=True):
                if a != b:
                    assert a[id_name] == b[id_name]
                    found[old.conversation_id, a[id_name]] = {name for name in a if a[name] != b[name]}
    return found


@pytest.mark.parametrize(("kind", "planter"), [(kind, p) for kind, p, _ in ALL], ids=[p.__name__ for _, p, _ in ALL])
def test_a_planter_changes_exactly_what_it_says(chats: list[Chat], kind: str, planter: Any) -> None:
    before = copy.deepcopy(chats)

    after, [planted] = plant(chats, 1, [(kind, planter, 1)])

    assert chats == before  # the export itself is left as it was
    probe_fields, message_fields = CHANGED.get(planter.__name__, (set(), {"content"}))
    probes = {p["probe_id"] for c in chats for p in c.probes}
    for (conversation_id, name), fields in differences(before, after).items():
        assert conversation_id == planted.conversation_id
        assert name in planted.names
        if planter.__name__ not in COPIES:
            assert fields == (probe_fields if name in probes else message_fields)
    assert bool(differences(before, after)) == (planter.__name__ != "leave_as_it_is")


def test_the_same_seed_plants_the_same_and_another_seed_something_else(chats: list[Chat]) -> None:
    wanted = [(kind, planter, 1) for kind, planter, _ in ALL[::4]]

    first, again, other = (plant(chats, seed, wanted) for seed in (1, 1, 2))

    assert first == again
    assert [p.names for p in first[1]] != [p.names for p in other[1]]


def test_no_two_touch_the_same(chats: list[Chat]) -> None:
    _, planted = plant(chats, 1, [(kind, planter, 1) for kind, planter, _ in ALL[::2]])

    names = [(p.conversation_id, name) for p in planted for name in p.names]
    excused = {(p.conversation_id, name) for p in planted for name in p.excused}
    assert len(names) == len(set(names))
    assert not excused & set(names)


def test_there_are_twenty_kinds_of_ten_faults_and_two_hundred_controls() -> None:
    assert [sum(count for _, count in pairs) for pairs in FAULTS.values()] == [10] * 20
    assert sum(count for kind, _, count in ALL if kind == CONTROL) == 200


def test_too_few_probes_bear_fewer_faults(chats: list[Chat]) -> None:
    _, planted = plant(chats, 1, [("wrong_order", next(p for p, _ in FAULTS["wrong_order"]), 99)])
    assert 0 < len(planted) < 99


def test_what_is_written_comes_back_without_the_ledger(chats: list[Chat], export: Path, tmp_path: Path) -> None:
    write_export(chats, tmp_path / "out", export / "manifest.json")

    readers = read(import_jsonl, tmp_path / "out")

    assert [m.content for r in readers for m in r.said] == [m["content"] for c in chats for m in c.messages]
    assert [m.tokens for r in readers for m in r.said] == [m["tokens"] for c in chats for m in c.messages]
    assert not any(r.head.plans or any(m.bullet_ids for m in r.said) for r in readers)
    assert not any(p.fact_ids or p.bullet_ids for r in readers for p in r.asked)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (21, "twenty-one"),
        (104, "one hundred and four"),
        (1_887, "one thousand eight hundred and eighty-seven"),
    ],
)
def test_numbers_in_words(number: int, words: str) -> None:
    assert in_words(number) == words


def test_a_value_has_other_writings_and_wrong_values_of_its_kind() -> None:
    assert other_writings("March 3, 2024") == ["3 March 2024", "2024-03-03", "the 3rd of March 2024"]
    assert other_writings("14 days") == ["fourteen days", "two weeks"]
    assert other_writings("$1,800")[0] == "1,800 dollars"
    assert other_writings("a cigar box") == []
    assert dt.datetime.strptime(wrong_value("March 3, 2024", Random(1)), "%B %d, %Y") != dt.datetime(2024, 3, 3)
    assert wrong_value("93%", Random(1)) not in {"93%", ""}
    assert wrong_value("Hotel Fjord", Random(1)) == ""


def planted(kind: str, *names: str, excused: tuple[str, ...] = ()) -> Planted:
    return Planted(kind, "by_hand", "c000", frozenset(names), frozenset(excused), "this -> that")


def finding(subject: str, severity: str = "error", check: str = "a.b") -> Finding:
    return {"check": check, "severity": severity, "conversation_id": "c000", "subject": subject, "message": "wrong"}


def test_scores_count_what_is_named() -> None:
    items = [
        planted("third_value", "ku.0", "m1", excused=("ie.3",)),
        planted("third_value", "ku.1"),
        planted(CONTROL, "ie.0"),
    ]
    found = [finding("m1"), finding("ku.1", "info"), finding("ie.0", "warning"), finding("ie.3"), finding("profile")]

    result = score(items, [finding("profile")], found)

    # One of two faults (a remark does not count); true: m1; false: the control, and what the clean export has too.
    assert (result.recall, result.precision, result.excused) == (1 / 2, 1 / 3, 1)
    assert result.misses == [items[1]]
    assert "| third_value |  | 2 | 1 | 50% |  |" in render(result)


def test_a_finding_that_the_clean_export_has_too_finds_nothing() -> None:
    result = score([planted("third_value", "ku.0")], [finding("ku.0")], [finding("ku.0")])

    assert (result.recall, len(result.false)) == (0, 1)
