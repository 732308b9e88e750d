"""Failed units as `generate` and `status` show them: those of a stage that failed alike share a line."""

from __future__ import annotations

from longbeam.pipeline import describe_failures
from longbeam.store import Unit, UnitStatus


def _failed(stage: str, key: str, error: str, kind: str = "schema") -> Unit:
    return Unit(
        stage=stage,
        unit_key=key,
        status=UnitStatus.FAILED,
        fingerprint="f",
        generation=1,
        error_kind=kind,
        error=error,
        attempts=3,
    )


def test_units_that_failed_alike_are_one_line_with_their_number() -> None:
    def misfit(n: int) -> Unit:
        return _failed("probes", f"summarization.{n}", f"c000/probes/summarization.{n}: no verdict {n} of 3")

    lines = describe_failures([*map(misfit, range(40)), _failed("plan", "p0", "HTTP 400: filtered", "content_filter")])
    assert lines == [
        "probes summarization.0 failed after 3 attempts: schema: c000/probes/summarization.0: no verdict 0 of 3;"
        " 39 more units of probes failed alike",
        "plan p0 failed after 3 attempts: content_filter: HTTP 400: filtered",
    ]
