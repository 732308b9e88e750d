from __future__ import annotations

import asyncio
from typing import cast

import pytest

from longbeam.flows import STOPPED_AT_END, WAITING_AT_END
from longbeam.flows.runner import _tell_that_it_has_ended
from longbeam.pipeline.run import Progress, RunSummary


class Told:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def waiting(self, text: str) -> None:
        self.lines.append(text)


@pytest.mark.parametrize(
    ("outcome", "lines"),
    [
        (RunSummary(2, 2, (), 9, 0), [WAITING_AT_END]),
        (RunSummary(2, 1, (), 9, 0), [STOPPED_AT_END]),
        (RunSummary(1, 0, (), 1, 0, stopped="openai:m: 401 Unauthorized"), [STOPPED_AT_END]),
        (ValueError("broken"), []),
    ],
)
async def test_a_run_that_ends_before_the_server_starts_says_what_it_waits_for(
    outcome: RunSummary | Exception, lines: list[str]
) -> None:
    async def ended() -> RunSummary:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    told = Told()
    run = asyncio.create_task(ended())
    await asyncio.wait([run])
    _tell_that_it_has_ended(cast(Progress, told), run)
    assert told.lines == lines
