"""Lists as people and models write them."""

from __future__ import annotations

import pytest

from longbeam.evaluation import items_of


@pytest.mark.parametrize(
    "answer",
    [
        "1. map view\n2. import screen\n3. list view",
        "You brought them up in this order:\n\n- **map view**\n- import screen;\n- list view.\n\nAnything else?",
        "You brought them up in this order: 1) map view, 2) import screen, 3) list view.",
        "map view\nimport screen\nlist view",
        "First: map view; import screen; list view",
        "map view, then import screen, and then list view",
        "map view, import screen, and list view",
    ],
)
def test_items_of_a_list(answer: str) -> None:
    assert items_of(answer) == ["map view", "import screen", "list view"]


def test_and_without_a_comma_stays_in_its_item() -> None:
    # No rule can tell it from a name such as "calendar slots and double booking".
    assert items_of("map view, slots and double booking") == ["map view", "slots and double booking"]


def test_a_comma_within_a_number_divides_nothing() -> None:
    answer = "the $39,900 repayment, the light bill of $31,400, and 12,000 coins"
    assert items_of(answer) == ["the $39,900 repayment", "the light bill of $31,400", "12,000 coins"]


def test_no_answer_has_no_items() -> None:
    assert items_of("") == []
    assert items_of(" \n ") == []
