from __future__ import annotations

from tests.script_types import READ, script_types


def test_the_types_of_the_scripts_are_those_of_the_records() -> None:
    made = script_types()
    assert all(f"export interface {record.__name__} {{" in made for record in READ)
    assert "is_saved: boolean;" in made
    assert "message_id: number | null;" in made
