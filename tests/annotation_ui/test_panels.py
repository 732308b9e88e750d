"""Panels over the hand-written conversation of the checks."""

from __future__ import annotations

from pathlib import Path

from longbeam.annotation_ui import ItemPlace, PanelView, panel_view
from longbeam.review import OpenConversation
from longbeam.store import seal_conversation
from tests.builders import good_conversation


def test_panels_tell_the_history_of_a_value_and_what_covers_a_nugget(tmp_path: Path) -> None:
    story = good_conversation()
    seal_conversation(tmp_path / "c000.duckdb", story.head, story.messages(), story.probes())
    sealed = OpenConversation(tmp_path / "c000.duckdb")
    probes = {p.ability: p for p in sealed.probes.values()}

    def panel_of(ability: str) -> PanelView:
        return panel_view(ItemPlace(sealed, f"c000/{probes[ability].probe_id}"), probes[ability])

    update = panel_of("knowledge_update")
    assert [(v.stance, v.value, v.is_current) for v in update.values] == [
        ("sets", "$18,000", False),
        ("updates", "$21,500", True),
    ]
    assert all(v.messages for v in update.values)
    order = panel_of("event_ordering")
    assert [side.item for side in order.sides] == ["the lease", "the painting", "the deck oven"]
    assert [side.mention_rank for side in order.sides] == [0, 1, 2]
    computed = panel_of("multi_session_reasoning")
    assert {m.value: len(m.evidence_ids) for m in computed.matches} == {"$8,300": 0, "$900": 1, "$7,400": 1}
    assert computed.single == ()
