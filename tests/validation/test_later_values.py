"""Drift of a fact that the ledger knows: a later message changes the value, and no bullet does."""

from __future__ import annotations

from longbeam.validation.run import check_conversation
from tests.builders import MemoryReader, good_conversation
from tests.validation.faults import append


def _found(reader: MemoryReader) -> list[tuple[str, str]]:
    found = check_conversation(reader)
    return [(f.check, f.subject) for f in found if f.check.startswith("later_values.")]


def _asking_for_paint(reader: MemoryReader) -> MemoryReader:
    return reader.with_probe("information_extraction", question="What does painting the shop front cost?")


def test_a_change_that_no_bullet_has_is_an_error_although_the_ledger_knows_the_fact() -> None:
    reader = _asking_for_paint(good_conversation())
    drifted = append(16, " Tom paints again, and now the shop front costs $1,150.")(reader)
    assert reader.probe("information_extraction").fact_ids
    assert ("later_values.changed_later", reader.probe("information_extraction").probe_id) in _found(drifted)


def test_a_value_that_a_bullet_asserts_is_left_to_stale_gold() -> None:
    reader = _asking_for_paint(good_conversation())
    told = append(16, " Tom paints again, and now the shop front costs $7,400, like the oven.")(reader)
    assert _found(told) == []
