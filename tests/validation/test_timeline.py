"""Planned and actual days: what counts as the end of a thing."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.schemas import Stance
from longbeam.validation import check_conversation
from tests.builders import MemoryReader, good_conversation
from tests.validation.faults import no_outcome, planned_after_done


def _found(reader: MemoryReader) -> list[str]:
    return [f.check for f in check_conversation(reader) if f.check == "timeline.planned_after_done"]


def test_a_planned_day_that_went_by_is_no_end() -> None:
    reader = planned_after_done(good_conversation())
    told = tuple(
        a.model_copy(update={"stance": Stance.MENTIONS}) if a.bullet_id == "p0.s0.b1" else a
        for a in reader.head.plans[0].assertions
    )
    assert _found(reader)
    assert not _found(reader.with_plan(assertions=told))


@pytest.mark.parametrize(("planned", "is_found"), [("target day", False), ("delivery deadline", True)])
def test_a_delivery_ends_only_what_is_planned_as_a_delivery(planned: str, is_found: bool) -> None:
    reader = planned_after_done(good_conversation())
    attributes = {"signing date": "day", "completion date": "delivery date", "target date": planned}
    facts = tuple(
        f.model_copy(update={"attribute": attributes.get(f.attribute, f.attribute)}) for f in reader.head.plans[0].facts
    )
    assert bool(_found(reader.with_plan(facts=facts))) is is_found


@pytest.mark.parametrize(("day", "expected"), [(dt.date(2024, 3, 15), False), (dt.date(2024, 3, 20), True)])
def test_what_the_narrative_tells_on_the_announced_day_is_its_outcome(day: dt.date, expected: bool) -> None:
    found = check_conversation(no_outcome(good_conversation(), day))
    assert any(f.check == "timeline.no_outcome" for f in found) == expected
