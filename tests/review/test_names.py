from __future__ import annotations

import pytest

from longbeam.review import act_name, field_name, item_name
from longbeam.schemas import EventKind
from tests.tiny import tiny_conversation


@pytest.mark.parametrize(
    ("item_id", "name"),
    [
        ("c000/contradiction_resolution.2", "Contradiction resolution 2, conversation c000"),
        ("c001/abstention.h0", "Abstention h0, written by hand, conversation c001"),
        ("c001/q17", "q17, conversation c001"),  # an imported probe keeps its own name
        ("c000", "conversation c000"),
        ("", "the review"),
    ],
)
def test_items_have_names_for_people(item_id: str, name: str) -> None:
    assert item_name(item_id) == name


def test_a_nugget_is_named_by_its_place_in_the_rubric() -> None:
    probe = next(p for p in tiny_conversation().asked if len(p.rubric) > 1)
    assert field_name(probe, f"nugget/{probe.rubric[1].nugget_id}") == "nugget 2"
    assert field_name(None, "nugget/contradiction_resolution.2.n0") == "nugget 1"
    assert field_name(probe, "gold_answer") == "the gold answer"


@pytest.mark.parametrize("kind", list(EventKind))
def test_every_act_has_a_name_without_internal_words(kind: EventKind) -> None:
    name = act_name(kind, "item")
    assert name
    assert "_" not in name
    assert "judged item" not in name
