from __future__ import annotations

from longbeam.text import exact, format_amount, number_word, read_amount


def test_an_amount_reads_back_as_it_is_written() -> None:
    assert [format_amount(n) for n in (1200, 0.1 + 0.2, 2.50)] == ["1,200", "0.3", "2.5"]
    assert read_amount("1,200.5") == 1200.5
    assert str(exact(0.1 + 0.2)) == "0.300000"


def test_small_whole_numbers_have_words() -> None:
    assert [number_word(n) for n in (1, 12, 20, 0, 21, 2.5)] == ["one", "twelve", "twenty", "", "", ""]
