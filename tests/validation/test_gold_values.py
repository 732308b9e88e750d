"""Values of a gold that its evidence does not prove: years, days that are only meant, and ids of messages."""

from __future__ import annotations

import pytest

from tests.validation.told import asks, found, imported, names

# The second turn is sent on March 11, 2024.
SAID = ("Hello!", "Hello.", "I signed the lease on March 5, and I first saw the shop six months ago.", "Good.")


def of_day(gold: str, said: str = SAID[2]) -> list[str]:
    asked = asks("information_extraction", "When did I sign the lease and see the shop?", gold, {2: "support"})
    return names(imported((*SAID[:2], said, SAID[3]), asked), "gold_values")


@pytest.mark.parametrize("gold", ["On March 5, 2023.", "On March 5, 2025."])
def test_a_day_in_a_year_in_which_nobody_can_have_meant_it_has_a_wrong_year(gold: str) -> None:
    assert of_day(gold) == ["gold_values.wrong_year"]


def test_a_written_year_decides() -> None:
    said = "I signed the lease on March 5, 2022."
    assert of_day("On March 5, 2022.", said) == []
    assert of_day("On March 5, 2024.", said) == ["gold_values.wrong_year"]


@pytest.mark.parametrize("gold", ["On March 5, 2024.", "On March 5."])
def test_the_year_of_the_message_is_right(gold: str) -> None:
    assert of_day(gold) == []


@pytest.mark.parametrize(
    ("said", "gold", "expected"),
    [
        ("I signed the lease on the 8th. The key comes by March 20.", "On March 8, 2024.", []),
        ("The key comes by March 20, and the lease was signed on the 8th.", "On March 8, 2024.", []),
        ("The key comes on March 20. I sign on Friday.", "On March 15, 2024.", []),
        ("The key comes on March 20. I signed on the 8th.", "On March 9, 2024.", ["gold_values.nowhere"]),
        ("The key comes on March 20. I sign on Friday.", "On March 8, 2024.", ["gold_values.nowhere"]),
        ("The key comes on March 20. The 8th batch is lost.", "On March 8, 2024.", ["gold_values.nowhere"]),
    ],
)
def test_a_day_told_by_its_number_beside_a_written_date_is_the_day_it_spells_out(
    said: str, gold: str, expected: list[str]
) -> None:
    assert of_day(gold, said) == expected


def test_a_day_of_the_next_january_is_right_in_december() -> None:
    asked = asks("information_extraction", "When do I move?", "You move on January 8, 2025.", {2: "support"})
    reader = imported(("Hello!", "Hello.", "I move on January 8.", "Good."), asked, days_apart=290)
    assert names(reader, "gold_values") == []


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("You first saw the shop on September 10, 2023.", "I first saw the shop six months ago."),
        ("You saw the shop on March 4, 2024.", "I saw the shop last week."),
    ],
)
def test_an_exact_day_taken_from_a_vague_phrase_is_named(gold: str, said: str) -> None:
    assert of_day(gold, said) == ["gold_values.vague_day"]


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("You saw the shop on March 10, 2024.", "I saw the shop yesterday."),
        ("You saw the shop on March 8, 2024.", "I saw the shop last Friday."),
        ("You saw the shop on March 8, 2024.", "I saw the shop three days ago."),
        ("You saw it in the week before March 11, 2024.", "I saw the shop last week."),
    ],
)
def test_a_phrase_that_names_the_day_proves_it(gold: str, said: str) -> None:
    assert of_day(gold, said) == []


def test_ids_of_messages_in_a_gold_are_one_finding() -> None:
    gold = "You spoke of the lease (chat_id: 48, 50, 52, 54, 56, 58, 60, 62, 64) in messages 70, 72, 74 and 76."
    asked = asks("summarization", "Can you sum up the lease?", gold, {2: "support"}, "Names [48, 50, 52, 54]")
    assert names(imported(SAID, asked), "gold_values") == ["gold_values.chat_ids"]


def test_a_number_of_a_list_is_no_id_of_a_message() -> None:
    order = "1. the bill 2. the night of repeated messages 3. the new lock"
    asked = asks("event_ordering", "In which order?", order, {0: "item", 2: "item"}, "Names the bill as told first")
    assert "gold_values.chat_ids" not in names(imported(SAID, asked), "gold_values")


def test_values_with_one_fault_are_one_finding() -> None:
    gold = "You paid $310, $320, $330, $340, $350 and $360 for it."
    (only,) = found(imported(SAID, asks("information_extraction", "What?", gold, {2: "support"})), "gold_values")
    assert only.check == "gold_values.nowhere"
    assert "'$310', '$320', '$330', '$340' and 2 more" in only.message


def test_an_amount_to_keep_from_somebody_is_proved_by_the_cited_message_that_tells_it() -> None:
    said = ("The loan is from the bank, $7,400 in all.", "Good.", "Kathleen is not to learn the amount.", "I see.")
    nugget = "Says of the loan where it is from: the bank, without giving the amount of $7,400"
    question, gold = "Kathleen reads along. What of the loan?", "It is from the bank."
    both = asks("instruction_following", question, gold, {0: "support", 2: "instruction"}, nugget)
    assert names(imported(said, both), "gold_values") == []
    wish_only = asks("instruction_following", question, gold, {2: "instruction"}, nugget)
    assert names(imported(said, wish_only), "gold_values") == ["gold_values.not_in_guidance"]
