"""Computed gold where the ledger misreads its own texts."""

from __future__ import annotations

from longbeam.schemas import Plan, Value
from longbeam.validation import check_conversation
from tests.builders import MemoryReader, good_conversation
from tests.validation.faults import both, details, on_probe


def _misread(plan: Plan, text: str, number: float) -> Plan:
    def changed(value: Value | None) -> Value | None:
        return value.model_copy(update={"number": number}) if value and value.text == text else value

    assertions = tuple(a.model_copy(update={"value": changed(a.value)}) for a in plan.assertions)
    return plan.model_copy(update={"assertions": assertions})


def _with_misread_price(reader: MemoryReader) -> MemoryReader:
    plans = tuple(_misread(plan, "$900", 58) for plan in reader.head.plans)
    return MemoryReader(reader.head.model_copy(update={"plans": plans}), reader.said, tuple(reader.probes()))


def test_a_sum_of_misread_numbers_is_wrong_whatever_the_ledger_says() -> None:
    """Found 1: a sum of $85 and $40 became $98, and the check trusted the ledger's values."""
    # $900 and $7,400 are $8,300; with 58 for the first, the sum was $7,458.
    wrong = both(
        details("multi_session_reasoning", computed_value="$7,458"),
        on_probe("multi_session_reasoning", gold_answer="$7,458 in all, $900 and $7,400."),
    )
    found = {f.check for f in check_conversation(wrong(_with_misread_price(good_conversation())))}
    assert {"computation.wrong_result", "computation.ledger_disagrees", "ledger.value_unlike_text"} <= found


def test_the_sum_of_what_the_messages_say_is_right_although_the_ledger_misreads() -> None:
    found = {f.check for f in check_conversation(_with_misread_price(good_conversation()))}
    assert "computation.wrong_result" not in found
    assert "computation.ledger_disagrees" in found


def test_numbers_of_what_has_two_words_are_added_up() -> None:
    def found(total: str) -> set[str]:
        values = {"computed_from": ("18 place settings", "11 place settings"), "computed_value": total}
        wrong = both(
            details("multi_session_reasoning", **values),
            on_probe("multi_session_reasoning", gold_answer=f"{total} in all, 18 and 11."),
        )
        return {f.check for f in check_conversation(wrong(good_conversation()))}

    assert not found("29 place settings") & {"computation.not_computable", "computation.wrong_result"}
    assert "computation.wrong_result" in found("31 place settings")
