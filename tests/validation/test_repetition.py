from __future__ import annotations

import pytest

from longbeam.schemas import REPETITION_MEASURES, Message
from longbeam.text import Mask
from longbeam.validation import mask_of, measure_repetition, prose_sentences
from tests.tiny import message, tiny_conversation


def replies(*contents: str) -> list[Message]:
    return [message(0, f"p0.s0.t{i}.n0", "reply", c, 5) for i, c in enumerate(contents)]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("It costs $1,200.50. Fine.", "It costs _. Fine."),
        ("We meet on March 5, 2024, at 10:30!", "We meet on _, at _!"),
        ("the 5th of march or Monday", "the _ or _"),
        ("between 2024-03-05 and 5-7, or 35%", "between _ and _, or _"),
        ("Ask Ida, Idaho is far.", "Ask _, Idaho is far."),
        ("MARA LIND and Mara's list", "_ and _'s list"),
        ("the Blue Hotel Annex, the blue hotel, the bluest", "the _, the _, the bluest"),
        ("c++ and c+ it is", "_ and c+ it is"),
    ],
)
def test_mask(text: str, masked: str) -> None:
    mask = Mask(("Ida", "Mara", "Mara Lind"), ("blue hotel", "Blue Hotel Annex", "C++"))
    assert mask.apply(text) == masked


def test_mask_leaves_code_and_the_layout_of_lists() -> None:
    text = "1. Day 3\n   12) more\n```\n1. x = 5\n```\nand 7"
    assert Mask(()).apply(text) == "- Day _\n   - more\n```\n1. x = 5\n```\nand _"


def test_mask_survives_letters_that_grow_when_lowered() -> None:
    assert Mask(("Ida",)).apply("İzmir, İstanbul: 5 days") == "İzmir, İstanbul: _ days"


def test_mask_of_a_conversation_knows_its_people_and_its_ledger() -> None:
    # tests/tiny.py: Mara Lind, her friend Ida, a budget of 900 euros
    mask = mask_of(tiny_conversation().head)
    assert mask.apply("Ida says to Mara that 900 Euros will do, not 800 euros.") == (
        "_ says to _ that _ will do, not _ euros."
    )


def test_many_values_are_found_as_if_each_were_sought_alone() -> None:
    values = [f"{a}{b}{c}" for a in ("red", "re", "blue ") for b in ("", "x", "xy") for c in ("one", "on", " two")]
    mask = Mask((), values)
    assert {value: mask.apply(f"a {value} b") for value in values} == dict.fromkeys(values, "a _ b")
    assert mask.apply("a redone. redonee") == "a _. redonee"


def test_sentences_leave_out_headings_tables_and_code() -> None:
    text = (
        "# First. Part\n\nTake the last tram. It is very\ncheap!\n\n| a | b |\n| --- | --- |\n\n**Costs:**\n\n"
        "- **Food**\n- **Food**: eat well at noon\n\n```\nx. y\n```\n"
    )
    assert list(prose_sentences(text)) == ["take the last tram.", "it is very cheap!", "**food**: eat well at noon"]


@pytest.mark.parametrize("text", ["Agreed, thank you.", "Chance: 3 of 8, about 37.5%.", "= 24 × 5 and not 25."])
def test_labels_formulas_and_interjections_are_no_sentences(text: str) -> None:
    # fewer than four words: 3, 3 (chance, of, about) and 2
    assert list(prose_sentences(text)) == []


def test_figures_count_messages_and_sentences() -> None:
    plan = "On {} we walk to the old harbour with {} friends and eat two of those warm rolls at the market"
    said = replies(
        plan.format("Monday", 3),
        plan.format("May 7", "11"),
        plan.format("Monday", 3),
        "Thanks. Have a very good day.",
        "Have a very good day.",
    )
    found = measure_repetition(said, Mask(()))

    # Masked, the first three are equal. Two sentences stand in three and two of five replies; `Thanks.` is none.
    assert tuple(found.figures) == REPETITION_MEASURES
    assert found.figures == {
        "user_duplicates": 0,
        "user_near_share": 0,
        "user_masked_share": 0,
        "reply_duplicates": 1,
        "reply_near_share": 0.2,
        "reply_masked_share": 0.4,
        "distinct_sentences": 2,
        "most_frequent_share": 0.6,
        "frequent_sentences": 2,
    }
    assert [(w.replies, w.share) for w in found.worst] == [(3, 0.6), (2, 0.4)]
    assert found.worst[1].text == "have a very good day."


def test_a_sentence_counts_once_per_reply_and_is_frequent_above_the_limit_only() -> None:
    different = [f"This is reply {'x' * i}y." for i in range(398)]
    # 2 of 400 replies are 0.5 %, no more; 3 of 401 are.
    at_limit = measure_repetition(replies(*different, "It is the same. It is the same.", "It is the same."), Mask(()))
    above = measure_repetition(
        replies(*different, "It is the same. It is the same.", "It is the same.", "It is the same."), Mask(())
    )

    assert (at_limit.worst[0].replies, at_limit.figures["frequent_sentences"]) == (2, 0)
    assert (above.worst[0].replies, above.figures["frequent_sentences"]) == (3, 1)


def test_of_sentences_said_equally_often_the_first_by_the_alphabet_are_shown() -> None:
    twice = [f"The {letter} is in the box." for letter in "gfedcba"]
    found = measure_repetition(replies("We keep it here. We keep it here.", *twice, *twice[::-1]), Mask(()))

    # What stands twice in one reply is said by one.
    assert [w.text for w in found.worst] == [f"the {letter} is in the box." for letter in "abcde"]
    assert {w.replies for w in found.worst} == {2}
    assert found.figures["distinct_sentences"] == 8


def test_user_messages_are_kept_apart_from_replies() -> None:
    said = [message(i, f"p0.s0.t{i}.n0", "question", f"Is day {i} free?", 5) for i in range(2)]
    found = measure_repetition(said, Mask(()))

    assert (found.figures["user_masked_share"], found.figures["reply_masked_share"]) == (0.5, 0)
    assert found.figures["distinct_sentences"] == 0
