"""Counter-evidence, dates, what-if and panels over the hand-written conversation of the checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.counter import counter_evidence
from longbeam.annotation_ui.dates import dates_view
from longbeam.annotation_ui.panel import panel_view
from longbeam.annotation_ui.whatif import what_if
from longbeam.schemas.probes import Probe
from longbeam.store.artifacts import seal_conversation
from tests.builders import good_conversation


@pytest.fixture
def sealed(tmp_path: Path) -> OpenConversation:
    story = good_conversation()
    path = tmp_path / "c000.duckdb"
    seal_conversation(path, story.head, story.messages(), story.probes())
    return OpenConversation(path)


def probe_of(sealed: OpenConversation, ability: str) -> Probe:
    return next(p for p in sealed.probes.values() if p.ability == ability)


def test_the_other_side_of_an_update_is_the_first_counter_evidence(sealed: OpenConversation) -> None:
    update = probe_of(sealed, "knowledge_update")
    stale = update.model_copy(
        update={"gold_answer": "$18,000 are set aside for the renovation.", "evidence": update.evidence[:1]}
    )
    found = counter_evidence(sealed, "c000", stale)
    assert found.candidates[0].message_key == update.evidence[1].message_key
    assert {"other_value", "later"} <= set(found.candidates[0].signs)
    assert update.evidence[0].message_key not in {c.message_key for c in found.candidates}


def test_days_are_counted_without_and_with_the_first_and_held_against_the_gold(sealed: OpenConversation) -> None:
    temporal = probe_of(sealed, "temporal_reasoning")
    view = dates_view(sealed, temporal)
    span = next(s for s in view.spans if str(s.first) == "2024-03-06" and str(s.second) == "2024-04-17")
    assert (span.days, span.days_inclusive, span.weeks) == (42, 43, 6.0)
    assert {length.verdict for length in view.lengths if length.text == "42 days"} == {"right"}
    both_ends = temporal.model_copy(update={"gold_answer": temporal.gold_answer.replace("42", "43")})
    assert [x.verdict for x in dates_view(sealed, both_ends).lengths if x.text == "43 days"] == ["both_ends"]


def test_a_rubric_that_gives_marks_for_nothing_is_not_sound(sealed: OpenConversation) -> None:
    probe = probe_of(sealed, "information_extraction")
    sound = what_if(probe, sealed.probes.values())
    assert {row.answer_kind: row.is_as_expected for row in sound.rows}["gold"]
    assert sound.is_sound
    weak = probe.model_copy(
        update={"rubric": tuple(n.model_copy(update={"text": f"Mentions {probe.question}"}) for n in probe.rubric)}
    )
    assert "echo" in [row.answer_kind for row in what_if(weak).rows if not row.is_as_expected]


def test_two_nuggets_that_ask_for_the_same_are_named(sealed: OpenConversation) -> None:
    probe = probe_of(sealed, "information_extraction")
    (nugget,) = probe.rubric
    twin = nugget.model_copy(update={"nugget_id": f"{probe.probe_id}.n1"})
    (lint,) = what_if(probe.model_copy(update={"rubric": (nugget, twin)})).lint
    assert lint.nugget_ids == (nugget.nugget_id, twin.nugget_id)


def test_panels_tell_the_history_of_a_value_and_what_covers_a_nugget(sealed: OpenConversation) -> None:
    update = panel_view(sealed, "c000", probe_of(sealed, "knowledge_update"))
    assert [(v.stance, v.value, v.is_current) for v in update.values] == [
        ("sets", "$18,000", False),
        ("updates", "$21,500", True),
    ]
    assert all(v.messages for v in update.values)
    order = panel_view(sealed, "c000", probe_of(sealed, "event_ordering"))
    assert [side.item for side in order.sides] == ["the lease", "the painting", "the deck oven"]
    assert [side.mention_rank for side in order.sides] == [0, 1, 2]
    computed = panel_view(sealed, "c000", probe_of(sealed, "multi_session_reasoning"))
    assert {m.value: len(m.evidence_ids) for m in computed.matches} == {"$8,300": 0, "$900": 1, "$7,400": 1}
    assert computed.single == ()


def test_a_length_in_words_is_read_whole(sealed: OpenConversation) -> None:
    gold = "There are fifty-seven days between August 19, 2025 and October 15, 2025."
    probe = probe_of(sealed, "temporal_reasoning").model_copy(update={"gold_answer": gold})
    (length,) = (found for found in dates_view(sealed, probe).lengths if found.where == "gold_answer")
    assert (length.verdict, length.span and length.span.days) == ("right", 57)
