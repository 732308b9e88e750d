from __future__ import annotations

import pytest

from longbeam.text import Redaction, render_found


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Write to ana.b+x@mail.example.org.", "Write to [email 1]."),
        ("Call +49 170 1234567 or 0170/1234567.", "Call [phone 1] or [phone 2]."),
        ("Call (212) 555-0187 or 212-555-0187.", "Call [phone 1] or [phone 2]."),
        ("IBAN DE89 3704 0044 0532 0130 00, card 4111 1111 1111 1111", "IBAN [iban 1], card [card 1]"),
        ("key sk-proj-abcdefghij0123456789 and AKIAABCDEFGHIJKLMNOP", "key [key 1] and [key 2]"),
        ("password: hunter2hunter", "password: [key 1]"),
        ("I met Jennifer Walker. Jennifer's car", "I met Person 1. Person 1's car"),
        ("Grace Walker will come; Mark it. Will it rain in May?", "Person 1 will come; Mark it. Will it rain in May?"),
    ],
)
def test_private_texts_get_placeholders(text: str, redacted: str) -> None:
    assert Redaction().redacted(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "It cost $1,200.50 on 2024-03-05 at 10:30, order 12345.",
        "Version 2.3.1 has 1,234,567 users; 100 200 300 units.",
        "Will Monday do? Grace is a virtue. Rose bushes in June.",
    ],
)
def test_values_and_words_stay(text: str) -> None:
    assert Redaction().redacted(text) == text


def test_given_names_are_replaced_everywhere_by_one_placeholder() -> None:
    redaction = Redaction(["Zvjezdana Kovač"])
    assert (
        redaction.redacted("Zvjezdana Kovač called. Then Zvjezdana Kovač left.")
        == "Person 1 called. Then Person 1 left."
    )
    assert render_found(redaction.found()) == "Person 1     2  Zvjezdana Kovač\n"


def test_placeholders_of_an_earlier_redaction_are_not_given_to_others() -> None:
    redaction = Redaction(names=("Zyx",))
    redaction.pass_over("Person 2 wrote to [email 7], and Person 1 did not.")
    assert redaction.redacted("Zyx wrote to a@b.org.") == "Person 3 wrote to [email 8]."
