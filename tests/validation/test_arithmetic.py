"""Lengths of time and counts that a gold states without naming a computation."""

from __future__ import annotations

import pytest

from tests.validation.told import asks, imported, names

SAID = (
    "I finish the prototype on March 11, 2024.",
    "Good.",
    "The testing period starts on April 1, 2024 and I have 3 weeks of practice behind me.",
    "Good luck!",
)


def of_length(gold: str, *nuggets: str) -> list[str]:
    cited = {0: "first", 2: "second"}
    question = "How many days are there between the prototype and the testing period?"
    return names(imported(SAID, asks("temporal_reasoning", question, gold, cited, *nuggets)), "arithmetic")


@pytest.mark.parametrize(
    "gold",
    [
        "There are 21 days between March 11, 2024 and April 1, 2024, the start of the two-week testing period.",
        "21 days: from March 11, 2024, with 3 weeks of practice behind you, to April 1, 2024.",
        "0 days left: the prototype of March 11, 2024 came before April 1, 2024, and no day remained.",
        "21 days, although you practised every 2 days between March 11, 2024 and April 1, 2024.",
        "3 weeks lie between March 11, 2024 and April 1, 2024.",
        "21 days (3 weeks) lie between March 11, 2024 and April 1, 2024, for a 14-day trial.",
        "You had 2 weeks and 7 days between March 11, 2024 and April 1, 2024.",
    ],
)
def test_a_length_that_is_no_time_between_the_days_is_no_fault(gold: str) -> None:
    assert of_length(gold) == []


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        ("There are 25 days between March 11, 2024 and April 1, 2024.", "arithmetic.wrong_duration"),
        ("From March 11, 2024 to April 1, 2024 you had been testing for 23 days.", "arithmetic.wrong_duration"),
        ("There are 22 days between March 11, 2024 and April 1, 2024.", "arithmetic.both_ends"),
        ("4 weeks and 6 days lie between March 11, 2024 and April 1, 2024.", "arithmetic.wrong_duration"),
    ],
)
def test_a_wrong_length_is_named(gold: str, kind: str) -> None:
    assert of_length(gold) == [kind]


def test_a_nugget_states_a_length_of_its_own() -> None:
    gold = "There are 21 days between March 11, 2024 and April 1, 2024."
    assert of_length(gold, "States that 26 days lie in between") == ["arithmetic.wrong_duration"]


def of_count(gold: str) -> list[str]:
    question = "Which things did I name, and what do they come to together?"
    return names(imported(SAID, asks("multi_session_reasoning", question, gold, {0: "support"})), "arithmetic")


@pytest.mark.parametrize(
    "gold",
    [
        "Together they come to 21 reports: the number of reports of the date bug is 11 reports and the number of "
        "reports of the total bug is 10 reports.",
        "Four features: user registration and login, expense tracking and charts.",
        "You named two goals: finishing the course, which you began in May, and finding a job, which is harder.",
        "You tried two recipes: the bread with rye, wheat and spelt, and the cake with nuts.",
        "Three things: a desk, a lamp and a chair.",
    ],
)
def test_a_count_before_a_sum_or_a_list_of_clauses_is_no_fault(gold: str) -> None:
    assert of_count(gold) == []


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        ("You bought four things: a desk, a lamp, a chair.", "arithmetic.wrong_count"),
        ("The total is 21 reports: 11 reports and 9 reports.", "arithmetic.wrong_sum"),
    ],
)
def test_a_wrong_count_and_a_wrong_sum_are_named(gold: str, kind: str) -> None:
    assert of_count(gold) == [kind]


def of_total(gold: str, question: str, *said: str, by: int = 0) -> list[str]:
    """Findings on a total of amounts that the messages of one speaker give: 0 the user, 1 the assistant."""
    talk = [text for one in said for text in ((one, "I see.") if by == 0 else ("And?", one))]
    cited = {2 * i + by: "support" for i in range(len(said))}
    return names(imported(talk, asks("multi_session_reasoning", question, gold, cited)), "gold_values")


SWUM = ("I swam 35 lengths.", "It was 20 lengths today, in the 50-metre pool.", "I swam 35 lengths again.")
KEPT = ("Keep back $4 of the $44.", "Take $5 as the margin, of $32.", "Keep back $6 for it, of $51.")


@pytest.mark.parametrize(
    ("total", "kinds"),
    [
        ("90 lengths", []),  # 35 + 20 + 35
        ("70 lengths", []),  # 35 + 35, two of them
        ("55 lengths", []),  # 35 + 20, the different ones
        ("91 lengths", ["gold_values.nowhere"]),
    ],
)
def test_a_total_counts_equal_amounts_of_several_messages(total: str, kinds: list[str]) -> None:
    assert of_total(f"All your swims come to {total}.", "How many lengths is that?", *SWUM) == kinds


@pytest.mark.parametrize(
    ("gold", "kinds"),
    [
        ("Together they come to $15: $4, $5 and $6.", []),
        ("Together they come to $16: $4, $5 and $7.", ["gold_values.nowhere"]),  # no reply says $7
    ],
)
def test_a_sum_of_the_assistants_amounts_is_computed_where_the_question_asks_for_them(
    gold: str, kinds: list[str]
) -> None:
    asked = "How much did you tell me to keep back?"
    assert of_total(gold, asked, *KEPT, by=1) == kinds


@pytest.mark.parametrize(("count", "kinds"), [(3, []), (4, ["gold_values.nowhere"])])
def test_a_count_of_occasions_is_that_of_the_cited_messages(count: int, kinds: list[str]) -> None:
    told = ("Card evening at Ann's.", "Card evening again, at Bo's.", "At the card evening Cy paid.")
    assert of_total(f"You told me of {count} card evenings.", "How many card evenings were there?", *told) == kinds


def test_the_assistants_amounts_compute_nothing_where_the_question_asks_for_the_users() -> None:
    gold = "Together they come to $15: $4, $5 and $6."
    assert "gold_values.nowhere" in of_total(gold, "How much do I keep back?", *KEPT, by=1)
