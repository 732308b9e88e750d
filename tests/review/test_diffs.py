from __future__ import annotations

from longbeam.review import shown_value, word_diff


def parts(before: str, after: str) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in word_diff(before, after)]


def test_a_changed_word_stands_between_what_stays() -> None:
    assert parts("You stay in Hotel Fjord until May.", "You stay in Hotel Alp until May.") == [
        ("same", "You stay in Hotel "),
        ("removed", "Fjord"),
        ("added", "Alp"),
        ("same", " until May."),
    ]


def test_texts_that_share_small_words_only_are_shown_as_replaced() -> None:
    (gone, come) = parts("It was a red car and the dog", "Once a man and his hat")
    assert gone == ("removed", "It was a red car and the dog")
    assert come == ("added", "Once a man and his hat")


def test_both_texts_can_be_read_from_the_parts() -> None:
    before, after = "Costs are 15 euros, all told.", "All costs are 18 euros."
    found = parts(before, after)
    assert "".join(text for kind, text in found if kind != "added") == before
    assert "".join(text for kind, text in found if kind != "removed") == after


def test_values_of_the_log_are_text_for_people() -> None:
    assert shown_value({"verdict": "accept"}) == "accept"
    assert shown_value(["first", "second"]) == "1. first\n2. second"
    assert shown_value({"message_ids": [1], "query": "hotel"}) == "hotel"
    assert shown_value(None) == ""
