"""Planned and actual days: what counts as the end of a thing."""

from __future__ import annotations

from longbeam.schemas.plans import Stance
from longbeam.validation.run import check_conversation
from tests.builders import MemoryReader, good_conversation
from tests.validation.faults import planned_after_done


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
