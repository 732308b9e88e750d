from __future__ import annotations

from longbeam.annotation_ui import READ, TYPES, script_types


def test_the_types_of_the_scripts_are_those_of_the_records() -> None:
    made = script_types()
    assert TYPES.read_text(encoding="utf-8") == made, "run `python -m longbeam.annotation_ui.script_types`"
    assert all(f"export interface {record.__name__} {{" in made for record in READ)
    assert "is_saved: boolean;" in made
    assert "message_id: number | null;" in made
