"""Special tokens and blanks: which are traces of the machinery, and which people write."""

from __future__ import annotations

import pytest

from longbeam.schemas import Domain
from tests.validation.faults import in_domain
from tests.validation.told import imported, names

CODE = """Here is how I build the training text for GPT-2:
```python
text = "<|startoftext|>" + poem + "<|endoftext|>"
```
Is that right?"""


@pytest.mark.parametrize(
    ("asked", "replied"),
    [
        (CODE, "Yes: `<|startoftext|>` opens a poem."),
        ("I put <|startoftext|> in front of every poem and <|endoftext|> behind it. Is that right?", "Yes."),
        ("In ChatML, what does `<|im_start|>` stand for?", "It opens a message."),
    ],
)
def test_special_tokens_of_code_and_of_talk_about_it_are_no_leak(asked: str, replied: str) -> None:
    assert names(in_domain(Domain.CODING)(imported((asked, replied))), "leaks") == []


@pytest.mark.parametrize(
    ("asked", "replied"),
    [
        ("What now?", "Then we go on.<|im_end|>"),
        ("What now?", "Then we go on.<|endoftext|>"),
        ("What now?<|eot_id|>", "Then we go on."),
    ],
)
def test_a_token_that_ends_a_message_is_a_leak(asked: str, replied: str) -> None:
    assert names(imported((asked, replied)), "leaks") == ["leaks.marker"]


@pytest.mark.parametrize(
    ("asked", "replied"),
    [
        ("Sure, here is a question that fits the criteria:\nHow is the pantry kept dry?", "With lime."),
        ("Certainly! Here's my follow-up to that:\nAnd in winter?", "The same."),
        ("What now?", "The last reply could not be used. Please give me a question."),
        ("What now?", "We go on.\n\n[Today is 2021-03-03 (Wednesday). Try it."),
        ("What now?", "We go on. Length of the answer: 114 to 171 words."),
        ("What now?", "[The conversation goes on here.] We go on."),
    ],
)
def test_words_about_the_task_are_a_leak(asked: str, replied: str) -> None:
    assert names(imported((asked, replied)), "leaks") == ["leaks.plan_word"]


@pytest.mark.parametrize(
    "asked", ["Sure, here is the message that she sent me:\nCome at five.", "Here is my question: why?"]
)
def test_what_people_show_and_ask_is_no_leak(asked: str) -> None:
    assert names(imported((asked, "Fine.")), "leaks") == []


def test_another_special_token_is_for_a_person_to_look_at() -> None:
    assert names(imported(("What now?", "Then <|tool_sep|> we go on.")), "leaks") == ["leaks.maybe_marker"]


@pytest.mark.parametrize(
    "reply",
    [
        "Here is a template for the post:\n\nI've been promoted at [Company Name]!",
        "#### Work Experience\n**Producer**\n[Company Name], [Dates]\n- Led a team. This example shows numbers.",
        "### Event\n- **Date**: [Insert Date]\n- **Link**: [Insert Zoom Link Here]",
        "Say it like this: \"I confirm the budget of [amount] for the shoot.\"",
    ],
)  # fmt: skip
def test_a_blank_of_a_template_is_for_the_user_to_fill(reply: str) -> None:
    assert set(names(imported(("Can you write it?", reply)), "leaks")) == {"leaks.drafted_blank"}


@pytest.mark.parametrize(
    "reply",
    [
        "As you told me, your meeting is on [insert date], for example in the morning.",
        "Good to hear from you, [User's Name]. Shall we go on?",
        "The rent was [amount] last year.",
    ],
)
def test_a_blank_in_what_is_told_is_a_warning(reply: str) -> None:
    assert names(imported(("What do you know?", reply)), "leaks") == ["leaks.maybe_placeholder"]


@pytest.mark.parametrize(
    "reply",
    [
        "| day | task |\n|---|---|\n| Monday | mow |\n\n(insert example here)",
        "A small example: three heaps in the hall.\n\n(insert example here)",
    ],
)
def test_a_note_to_the_writer_is_a_warning_below_a_table_and_beside_examples_too(reply: str) -> None:
    assert names(imported(("What do you know?", reply)), "leaks") == ["leaks.maybe_placeholder"]


def test_three_capital_x_of_the_user_are_a_blank_and_a_number_of_a_resume_is_none() -> None:
    assert names(imported(("I am asking because of XXX.", "Fine.")), "leaks") == ["leaks.maybe_placeholder"]
    assert names(imported(("I wear XXXL.", "Phone: XXX-XXX-XXXX")), "leaks") == []


def test_a_direction_for_the_user_is_a_warning() -> None:
    reply = "Take the train.\n\n(The user will now ask for the price.)"
    assert names(imported(("How do I get there?", reply)), "leaks") == ["leaks.maybe_plan_word"]
