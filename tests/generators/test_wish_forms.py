"""Forms of wishes: all come once before any comes again."""

from __future__ import annotations

from longbeam.generators import FORMS, wish_forms


def test_each_form_comes_once_before_any_comes_again() -> None:
    drawn = wish_forms("7/c000", 2 * len(FORMS) - 1)
    assert sorted(drawn[: len(FORMS)]) == sorted(FORMS)
    assert len(set(drawn[len(FORMS) :])) == len(FORMS) - 1
    assert drawn == wish_forms("7/c000", 2 * len(FORMS) - 1)
    assert drawn != wish_forms("8/c000", 2 * len(FORMS) - 1)


def test_no_form_brings_in_somebody_who_reads_along() -> None:
    assert not [form for form in FORMS if "reads" in form]
