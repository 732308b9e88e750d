from __future__ import annotations

import pytest

from longbeam.text import normalize_values


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("sixty-one days", "61 days"),
        ("one hundred and four days", "104 days"),
        ("seven hundred and fifteen applicants", "715 applicants"),
        ("twenty-six thousand six hundred dollars", "26600 dollars"),
        ("forty-nine dollars a month", "49 dollars a month"),
        ("two or three of sixty", "two or three of 60"),
        ("two million five hundred thousand", "2500000"),
        ("fifteen hundred people", "1500 people"),
        ("by the twenty-first of March", "by the 21st of March"),
        ("USD 600 and EUR 1,250.50", "$600 and €1,250.50"),
        ("one of the party of plenty", "one of the party of plenty"),
        ("a seventeenth-century house", "a seventeenth-century house"),
        ("on May 10, 12, and 15, 2024, with", "on May 10, 2024, May 12, 2024, May 15, 2024, with"),
        ("the weekend of April 6-7 and", "the weekend of April 6, April 7 and"),
        ("from March 5 to 7.", "from March 5, March 7."),
        ("On March 5, 12 people came", "On March 5, 12 people came"),
        ("On May 5 and 12 people", "On May 5 and 12 people"),
    ],
)
def test_numbers_in_words_are_read_as_figures(text: str, figures: str) -> None:
    assert normalize_values(text) == figures
