"""Computed gold, computed again from its inputs: the quotes say each input, and the gold says the result.

Inputs mean what their words in the messages mean. The ledger is a second witness: a number there that contradicts the
words is an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product

from longbeam.schemas import Probe, Value, ValueKind
from longbeam.text import COMPUTATIONS, disagreement, number, parse_value, read_value, recompute, says
from longbeam.validation.base import ERROR, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

_OF_AMOUNTS = frozenset({"sum", "difference", "ratio_change"})


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield inputs that no quote says, results that do not follow from the inputs, and gold without the result."""
    details = probe.details
    if not details.computation:
        return
    if details.computation not in COMPUTATIONS:
        text = f"{details.computation!r} cannot be computed again; known are {', '.join(COMPUTATIONS)}"
        yield Problem("unknown", probe.probe_id, text)
        return
    quotes = index.quotes(probe.evidence)
    readings = [_readings(index, probe, i, text) for i, text in enumerate(details.computed_from)]
    for said, values in zip(details.computed_from, readings, strict=True):
        if not any(says(quotes, v) for v in values):
            yield Problem(
                "input_not_quoted", probe.probe_id, f"no quote says {said!r}, which the gold is computed from"
            )
    yield from _witness_problems(index, probe)
    yield from _result_problems(probe, readings)
    if details.computed_value and not _says_result(probe.gold_answer, parse_value(details.computed_value)):
        text = f"the gold answer does not say {details.computed_value!r}, the computed value"
        yield Problem("gold_lacks_result", probe.probe_id, text)


def _result_problems(probe: Probe, readings: Sequence[Sequence[Value]]) -> Iterator[Problem]:
    details = probe.details
    results: list[Value] = []
    reason = ""
    for values in product(*readings):
        try:
            results.append(recompute(details.computation, values))
        except ValueError as error:
            reason = str(error)
    inputs = ", ".join(details.computed_from)
    if not results:
        yield Problem("not_computable", probe.probe_id, f"{details.computation} of {inputs}: {reason}")
    elif not any(_says_result(details.computed_value, r) for r in results):
        text = f"{details.computation} of {inputs} is {results[0].text}, not {details.computed_value!r}"
        yield Problem("wrong_result", probe.probe_id, text, tuple(e.message_key for e in probe.evidence))


def _readings(index: ConversationIndex, probe: Probe, ordinal: int, text: str) -> tuple[Value, ...]:
    """Return the values that an input can mean: its text as it is read, a date without year in a nearby year.

    The ledger decides only what the text leaves open: the year of a date, and texts that name no typed value.
    """
    value = parse_value(text)
    recorded = next(_recorded(index, probe, text), None)
    if value.kind is not ValueKind.DATE or value.date is not None:
        if _is_read(value) or recorded is not None:
            return (value if recorded is None or _is_read(value) else _reread(text, recorded),)
        # `18 place settings`: a number of what has more than one word.
        return (_reread_as(text, ValueKind.NUMBER, value) if probe.details.computation in _OF_AMOUNTS else value,)
    if recorded is not None:
        return (recorded,)
    cited = [index.message(e.message_key) for e in probe.evidence]
    message = cited[ordinal] if ordinal < len(cited) else None
    if message is None or len(probe.details.computed_from) > CHECKING.year_guesses:
        return (value,)
    year = message.sent_at.year
    return tuple(parse_value(text, year=y) for y in (year, year - 1, year + 1))


def _recorded(index: ConversationIndex, probe: Probe, text: str) -> Iterator[Value]:
    """Yield the ledger's values of this text, for the facts of the probe."""
    values = (a.value for fact_id in probe.fact_ids for a in index.by_fact.of(fact_id))
    return (v for v in values if v is not None and v.text == text)


def _is_read(value: Value) -> bool:
    return value.number is not None or value.date is not None


def _reread(text: str, recorded: Value) -> Value:
    """Return a text read as the kind that the ledger says; the ledger's own value where it cannot be read so."""
    return _reread_as(text, recorded.kind, recorded)


def _reread_as(text: str, kind: ValueKind, otherwise: Value) -> Value:
    try:
        return read_value(text, kind)
    except ValueError:
        return otherwise


def _witness_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield inputs that the ledger has with another number or date than their text says."""
    recorded = (v for text in probe.details.computed_from for v in _recorded(index, probe, text) if _is_read(v))
    for value in recorded:
        with suppress(ValueError):  # a text that cannot be read contradicts nothing
            if reason := disagreement(value):
                yield Problem("ledger_disagrees", probe.probe_id, f"the ledger's {reason}")


def _says_result(text: str, result: Value) -> bool:
    if says(text, result):
        return True
    # A count has the noun of its question; a length of time may be given in weeks.
    if result.kind is ValueKind.NUMBER and result.number is not None:
        return says(text, number(result.number)) or parse_value(text).number == result.number
    is_whole_weeks = result.unit == "days" and result.number is not None and result.number % 7 == 0
    if is_whole_weeks and result.number is not None:
        weeks = Value(kind=ValueKind.DURATION, text=result.text, number=result.number // 7, unit="weeks")
        return says(text, weeks)
    return False


CHECK = Check(
    name="computation",
    doc="Computed gold is computed again from its inputs; the inputs are quoted and the gold says the result.",
    severities={
        "input_not_quoted": ERROR,
        "ledger_disagrees": ERROR,
        "wrong_result": ERROR,
        "not_computable": ERROR,
        "gold_lacks_result": ERROR,
        "unknown": WARNING,
    },
    english_only=dict.fromkeys(
        ("input_not_quoted", "ledger_disagrees", "wrong_result", "not_computable", "gold_lacks_result", "unknown"),
        "reads dates, amounts and lengths of time as English writes them",
    ),
    on_probe=find_problems,
)
